"""What callers in Python hand over: a name or file where a scenario or result is wanted, units; else one clear line."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr

import dockdyn
from dockdyn.results.store import write_result

SCENARIOS = ("simulate", "stepper", "margins", "resting_state", "compare")
RESULTS = ("summarise", "report_html", "replay_html", "plot", "campaign_answers")
LOGS = ("read_bounce", "read_robot_log", "identify_contact", "identify_robot")
STRANGE = (3, None, [], (), xr.DataArray(1.0))
SCENARIO = "scenario: must be a dockdyn.Scenario, a scenario file or the name of a preset; is of type "
RESULT = "result: must be a dataset of dockdyn's, or a file or folder with one; is of type "


def refusal(call, *given, **named) -> str:
    """The one line that a call is refused with."""
    with pytest.raises(dockdyn.ScenarioError) as refused:
        call(*given, **named)
    assert "\n" not in str(refused.value)
    return str(refused.value)


@pytest.mark.parametrize("given", STRANGE, ids=lambda given: type(given).__name__)
def test_what_is_none_is_refused_in_one_line(given):
    kind = type(given).__name__
    for name in SCENARIOS:
        assert refusal(getattr(dockdyn, name), given) == SCENARIO + kind
    assert refusal(dockdyn.sensitivity, given, "peak_force_N") == SCENARIO + kind
    assert refusal(dockdyn.envelope, given, {}) == SCENARIO + kind
    assert refusal(dockdyn.campaign, given, "cases") == SCENARIO + kind
    for name in RESULTS:
        assert refusal(getattr(dockdyn, name), given) == RESULT + kind
    for name in LOGS:
        assert refusal(getattr(dockdyn, name), given) == f"log: must be a path; is of type {kind}"
    assert refusal(dockdyn.load, given).startswith("scenario: must be a scenario file or the name of a preset")
    assert refusal(dockdyn.open_result, given) == f"result: must be the file or folder of a result; is of type {kind}"


def test_a_dataset_of_others_is_no_result():
    for name in RESULTS:
        assert "its attributes lack" in refusal(getattr(dockdyn, name), xr.Dataset())


@pytest.mark.parametrize(
    ("name", "given", "named", "words"),
    [
        ("load", ("probe-cone", ["duration"]), {}, "overrides: must be a mapping from dotted keys to values"),
        ("load", ("probe-cone", {3: 4}), {}, "overrides: the key 3 is no text"),
        ("stepper", ("probe-cone",), {"period": "long"}, "probe-cone: period = 'long': must be a period in s"),
        ("stepper", ("probe-cone",), {"period": 0.5, "batch": "two"}, "probe-cone: batch = 'two': must be a whole"),
        ("sensitivity", ("probe-cone", 3), {}, "of: must be a name"),
        ("sensitivity", ("probe-cone", "peak_force_N", 3), {}, "to: must be a name or a list of names"),
        ("envelope", ("probe-cone-latch", ["approach.angle"]), {}, "over: must be a mapping"),
        ("envelope", ("probe-cone-latch", {"approach.angle": 3}), {}, "over: approach.angle = 3: must be two ends"),
        ("envelope", ("probe-cone-latch", {}), {"tolerance": "x"}, "tolerance = 'x': must be a share"),
        ("campaign", ("probe-cone-latch", None), {}, "folder: must be a path"),
        ("campaign", ("probe-cone-latch", "cases"), {"runs": 2.5}, "runs = 2.5: must be a whole number"),
        ("compare", ("sits-lgc",), {"laws": 3}, "laws: must be a name or a list of names"),
        ("compare", ("sits-lgc",), {"stiffnesses": ["soft"]}, "stiffnesses = 'soft': must be a stiffness"),
    ],
)
def test_other_arguments(name, given, named, words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert refusal(getattr(dockdyn, name), *given, **named).startswith(words)


def test_names_and_files_are_taken(shared_run, tmp_path):
    run = shared_run("paraskevas-latch")
    xr.testing.assert_identical(dockdyn.simulate("paraskevas-latch").drop_attrs(deep=False), run.drop_attrs(deep=False))
    assert dockdyn.margins("probe-cone") == dockdyn.margins(dockdyn.load("probe-cone"))
    write_result(run, tmp_path / "result.nc")
    for given in (tmp_path, str(tmp_path / "result.nc")):
        assert dockdyn.summarise(given) == dockdyn.summarise(run)
        assert len(dockdyn.plot(given, "latch_travel").axes) == 1
    assert "must be of a run; is of dockdyn" not in dockdyn.report_html(tmp_path)


def test_a_period_may_have_its_unit():
    sim, plain = (dockdyn.stepper("probe-cone", period=period) for period in ("500 ms", np.float64(0.5)))
    assert sim.period == plain.period == 0.5
    assert refusal(sim.step, 3) == "probe-cone: a command is a force and a torque"
    assert refusal(sim.step, ["push", "turn"]).startswith("probe-cone: force: must be finite numbers of shape (3,)")
    assert refusal(sim.reset, "mass").startswith("probe-cone: values: must be a mapping from dotted keys to values")


def test_a_tolerance_below_rounding_is_refused():
    """No step is short enough for it: the run would take millions of steps without being more exact."""
    preset = "probe-cone"
    told = refusal(dockdyn.load, preset, {"integrator.tolerance": 1e-25})
    assert told.startswith(f"{preset}: integrator.tolerance = 1e-25: must be ") and "at least" in told
    assert dockdyn.load(preset, {"integrator.tolerance": 1e-15}).content.integrator.tolerance == 1e-15
