"""Whole runs in machine code of dockdyn's own beside XLA's: the same events, the same motion to the steps' tolerance."""

import numpy as np
import pytest
import xarray as xr

import dockdyn
from dockdyn import backend, programs

RUNS = (  # one of each kind; XLA takes up to 2 min for each. Steps of others, variational ones too: test_steps
    "adapter-gripper",
    "cyril-plastic",
    "berthing-3d",
    "epos-like",
    "paraskevas-latch",
    "sits",
)
ROUND = 2  # corrections of Newton's method, between which the residual's derivative is taken once
CLOSE = 1e-6  # of the largest number of a variable: steps are 1e-11, and contacts make it more
BETWEEN = 1e-4  # that, of loads at ports: a cubic tells them between steps; a tolerance 1 % larger moves one by 4e-5
ROUNDING = 1e-12  # of what a number is a difference of, also where it is nothing else


@pytest.mark.full
@pytest.mark.parametrize("name", RUNS)
def test_a_preset_runs_alike(name, monkeypatch):
    scenario, found = dockdyn.load(name), {}
    for word in backend.BACKENDS:
        monkeypatch.setenv(backend.VARIABLE, word)
        found[word] = dockdyn.simulate(scenario)
    check_alike(found["native"], found["xla"])


def largest(values: np.ndarray) -> float:
    return np.abs(np.where(np.isfinite(values), values, 0)).max(initial=0.0)


def largest_moment(found: xr.Dataset) -> float:
    """The largest force by the largest distance (N m): a free joint's moment is a difference of such."""
    of = {
        unit: [largest(one.values) for one in found.values() if one.attrs.get("units") == unit] for unit in ("N", "m")
    }
    return max(of["N"], default=0.0) * max(of["m"], default=0.0)


def check_alike(one: xr.Dataset, other: xr.Dataset) -> None:
    sums = {"N m": largest_moment(other)}
    assert dict(one.sizes) == dict(other.sizes) and set(one.variables) == set(other.variables)
    for variable in one.variables:
        a, b = one[variable].values, other[variable].values
        if variable == "newton_iterations":  # whether a correction is a little above or below its bound is rounding
            assert np.abs(a - b).max() <= ROUND
        elif a.dtype.kind not in "fc":
            np.testing.assert_array_equal(a, b, err_msg=str(variable))
        else:
            close = BETWEEN if str(variable).startswith("interface_") else CLOSE
            rounding = ROUNDING * (1 + sums.get(one[variable].attrs.get("units"), 0.0))
            np.testing.assert_allclose(a, b, rtol=0, atol=close * largest(b) + rounding, err_msg=str(variable))


@pytest.fixture
def no_programs(monkeypatch):
    """Nothing is compiled yet."""
    monkeypatch.setattr(programs, "kept", type(programs.kept)())
    monkeypatch.setattr(programs, "refused", {})


def test_most_programs_are_machine_code_of_dockdyns_own(no_programs):
    """What a run of bodies in free flight needs is translated: nothing of it is left to XLA."""
    dockdyn.simulate(dockdyn.load("sazawal-spring-dashpot"))
    assert programs.refused == {}
    assert all(isinstance(one, programs.Translated) for one in programs.kept.values())


@pytest.mark.full
@pytest.mark.parametrize("name", ["detumble", "cyril-elastic", "canadarm-3d"])
def test_nothing_of_an_arm_is_left_to_xla(name, no_programs):
    dockdyn.simulate(dockdyn.load(name))
    assert programs.refused == {}


@pytest.mark.parametrize("name", ["probe-cone", pytest.param("sits", marks=pytest.mark.full)])
def test_margins_need_no_other_compiler(name, no_programs):
    assert dockdyn.margins(dockdyn.load(name))["sensitivities"]
    assert programs.refused == {}


def test_another_word_for_the_backend_is_refused(dock, monkeypatch):
    monkeypatch.setenv(backend.VARIABLE, "fast")
    ended = dock("presets")
    assert (ended.returncode, ended.stderr) == (2, "error: DOCKDYN_BACKEND = 'fast': must be native or xla\n")
