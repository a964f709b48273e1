"""Cases of a batch: the same as run alone, whatever is beside them; and what fails among them."""

import math
import os
import threading

import numpy as np
import pytest
from small_campaign import COUNTS, LATE, ROUNDED, SCENARIO, docking_in

import dockdyn
from dockdyn.integrate.hybrid.located import TOLERANCE
from dockdyn.results.requirements import figures_of
from dockdyn.studies.campaign.conduct import compute_in_process, plan_campaign
from dockdyn.studies.cases import lanes
from dockdyn.studies.cases.batch import LEFT_OUT, figures_of_case, in_lanes, located_figures, run_cases
from dockdyn.studies.cases.sampling import sample


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    return docking_in(tmp_path_factory.mktemp("campaign"))


def differences(scenario):
    """Figures of three cases of a batch and of the same cases run alone: (name, in the batch, alone, summary alone)."""
    drawn = sample(scenario, 6, 7, "random")
    together = run_cases(scenario, drawn.keys, drawn.values)
    for row in range(3):
        alone = dockdyn.summarise(dockdyn.simulate(scenario.at(dict(zip(drawn.keys, drawn.values[row], strict=True)))))
        found = figures_of_case(alone)
        for name, values in together.figures.items():
            if name != "step_error":
                yield name, values[row], found[name], alone


STATED = '\n[integrator]\nstep = "5 ms"\n'
SWUNG_OUT = (
    "latch.grip_stored_energy_J"  # at the end the square of a small difference of places: exact beside energies only
)


@pytest.mark.full
@pytest.mark.parametrize("more", ["", LATE], ids=["", "friction and delay"])
def test_a_case_of_a_batch_with_stated_steps_is_the_case_run_alone(tmp_path, more):
    """To rounding, which may move an event across the end of a step."""
    file = tmp_path / "docking.toml"
    file.write_text(SCENARIO.replace("[latch.capture]", f"{more}[latch.capture]") + STATED)
    for name, value, expected, alone in differences(dockdyn.load(file)):
        if name == "steps":
            assert abs(value - expected) <= 1
        elif name in COUNTS:
            assert value == expected, name
        else:
            room = 1e-12 if "change" in name else 1e-13  # of a difference of energies
            if "dissipated" in name:  # a sum over the steps, each of which rounds
                room = max(room, alone["steps"] * np.finfo(float).eps)
            small = 1e-13 * alone["kinetic_energy_start_J"] if name == SWUNG_OUT else 0
            assert value == pytest.approx(expected, rel=room, abs=small, nan_ok=True), name


@pytest.mark.full
@pytest.mark.parametrize("more", ["", LATE], ids=["", "friction and delay"])
def test_a_case_of_a_batch_is_the_case_run_alone(tmp_path, more):
    """Steps that are chosen depend on rounding, so each run may err in its own way by the tolerance."""
    file = tmp_path / "docking.toml"
    file.write_text(SCENARIO.replace("[latch.capture]", f"{more}[latch.capture]"))
    for name, value, expected, alone in differences(dockdyn.load(file)):
        if name in COUNTS:
            assert value == expected, name
        elif name not in ROUNDED:
            room = TOLERANCE * alone["steps"]
            small = room * alone["kinetic_energy_start_J"] if name == SWUNG_OUT else 0
            assert value == pytest.approx(expected, rel=room, abs=small, nan_ok=True), name


def test_a_case_does_not_depend_on_its_batch(file):
    scenario = dockdyn.load(file)
    drawn = sample(scenario, 6, 7, "random")
    together = run_cases(scenario, drawn.keys, drawn.values)
    apart = run_cases(scenario, drawn.keys, drawn.values[3:5], threads=1)
    for name, values in apart.figures.items():
        assert np.array_equal(values, together.figures[name][3:5], equal_nan=True), name


FREE = ("atv-like", "idss-probe-cone", "probe-cone", "probe-cone-latch", "sazawal-compliance", "sazawal-spring-dashpot")
OTHERS = (
    "paraskevas-a",
    "paraskevas-latch",
    "sits",
    "epos-like",
    "berthing-3d",
    "canadarm-2d",
    "cyril-plastic",
    "detumble",
)
SMALL = (
    "linear_momentum_error",
    "angular_momentum_error",
    "work_energy_error",
    "energy_error",
)  # of rounding and the step


def offered(figures):
    """Names that a requirement may have, but for what differs between two runs of one case."""
    return {name.removesuffix(".least").removesuffix(".largest") for name in figures} - set(LEFT_OUT)


@pytest.mark.full
@pytest.mark.parametrize("preset", [*FREE, "small"])
def test_a_case_of_a_batch_has_the_figures_of_a_run(file, preset):
    scenario = dockdyn.load(file if preset == "small" else preset).at({})
    summary = figures_of(dockdyn.summarise(dockdyn.simulate(scenario)))
    found = in_lanes([scenario], 1, ["work_energy_error"]).figures
    told = {name for name, values in found.items() if name.split(".")[0] != "contact" or not np.isnan(values).all()}
    of_runs = {one.name for one in located_figures(scenario).figures if one.source == "run"}
    assert offered(told) <= offered(summary) <= offered(found) | of_runs
    room = TOLERANCE * summary["steps"]
    for name, expected in summary.items():
        if isinstance(expected, list):
            ends = np.array([found[f"{name}.least"][0], found[f"{name}.largest"][0]])
            there = [value for value in expected if value is not None]
            whole = [min(there), max(there)] if there and len(there) == len(expected) else [math.nan] * 2
            assert ends == pytest.approx(whole, rel=room, nan_ok=True), name
        elif name in SMALL:
            expected = math.nan if expected is None else expected
            assert found[name][0] == pytest.approx(expected, rel=1e-2, abs=1e-12, nan_ok=True), name
        elif name not in (*ROUNDED, *of_runs, "wall_time_s"):
            expected = math.nan if expected is None else float(expected)
            assert found[name][0] == pytest.approx(expected, rel=room, abs=0, nan_ok=True), name


@pytest.mark.full
@pytest.mark.parametrize("preset", OTHERS)
def test_a_case_of_another_kind_has_the_figures_of_a_run(preset):
    summary = dockdyn.summarise(dockdyn.simulate(dockdyn.load(preset)))
    assert offered(figures_of_case(summary)) == offered(figures_of(summary))


def test_a_case_that_fails_stops_nothing(file):
    scenario = dockdyn.load(file)
    keys = ("body.chaser.mass", "latch.capture.entry", "approach.closing_speed")
    rows = np.array([[600, 0.05, 0.03], [-3, 0.05, 0.03], [600, 0.001, 0.03], [650, 0.05, 0.04]])
    found = run_cases(scenario, keys, rows)
    assert [bool(reason) for reason in found.reasons] == [False, True, True, False]
    assert "body.chaser.mass" in found.reasons[1] and "latch.capture.entry" in found.reasons[2]
    assert np.isfinite(found.figures["peak_force_N"]).tolist() == [True, False, False, True]


@pytest.mark.full
def test_too_many_events_fail_with_their_reason(file):
    """A delay that feeds energy into a bounce, and a log too short: the reason of a run alone, which names the contact, too."""
    beside = {"loop.delay": "0.1 s", "approach.lateral_offset": [0.05, 0.0]}  # the cone is met beside the latch
    scenario = dockdyn.load(file, {"integrator.max_events": 3, **beside})
    speeds = np.array([[0.012], [0.05]])
    alone = [dockdyn.simulate(scenario.at({"approach.closing_speed": speed})).attrs["status"] for (speed,) in speeds]
    found = run_cases(scenario, ["approach.closing_speed"], speeds).reasons
    assert [reason.partition(";")[0] for reason in found] == [reason.partition(";")[0] for reason in alone]
    assert all("more than 3 events" in reason and "probe-cone has closed" in reason for reason in alone)


@pytest.mark.full
def test_lanes_side_by_side_give_the_same(file, monkeypatch):
    """As on a device other than a CPU: all lanes of a call in one vectorised program."""
    from dockdyn.studies.cases import lanes

    scenario = dockdyn.load(file)
    drawn = sample(scenario, 8, 7, "random")
    one_by_one = run_cases(scenario, drawn.keys, drawn.values)
    monkeypatch.setattr(lanes, "at_once", lambda: lanes.LANES)
    side_by_side = run_cases(scenario, drawn.keys, drawn.values)
    for name, values in one_by_one.figures.items():
        if name not in ROUNDED:
            np.testing.assert_allclose(side_by_side.figures[name], values, rtol=1e-9, err_msg=name)


@pytest.mark.full_cases("64")
@pytest.mark.parametrize("runs", [20, lanes.LANES])
def test_a_campaign_of_one_chunk_uses_all_cores(file, runs, monkeypatch):
    """Four calls must be at work at once before any of them goes on."""
    monkeypatch.setattr(os, "cpu_count", lambda: 4)
    together, filled, counts = threading.Barrier(4), lanes._run_filled, []

    def at_work(*given):
        counts.append(len(given[-1]))
        if len(counts) <= 4:
            together.wait(60)
        return filled(*given)

    monkeypatch.setattr(lanes, "_run_filled", at_work)
    campaign = plan_campaign(dockdyn.load(file), runs=runs)
    (done,) = compute_in_process(campaign, range(campaign.chunks))
    assert sum(counts) == runs and max(counts) <= -(-runs // 4)
    alone = run_cases(dockdyn.load(file), done[1].keys, done[1].values, threads=1)
    for name, values in done[2].figures.items():
        np.testing.assert_array_equal(values, alone.figures[name])
