"""Bodies that begin inside one another: refused by a run, counted by studies, in the same words."""

from __future__ import annotations

import numpy as np
import pytest

import dockdyn
from dockdyn.studies.cases.batch import run_cases, runs_in_batches

BALL = {
    "schema": 1,
    "kind": "assembly",
    "duration": 1.0,
    "body": [
        {
            "name": "probe",
            "mass": 100.0,
            "inertia": [10.0, 10.0, 10.0],
            "position": [-0.95, 0.0, 0.0],
            "velocity": [0.1, 0.0, 0.0],
            "feature": [{"name": "tip", "position": [0.9, 0.0, 0.0], "radius": 0.01}],
        },
        {
            "name": "wall",
            "mass": 1000.0,
            "inertia": [100.0, 100.0, 100.0],
            "surface": [{"name": "face", "shape": "plane", "point": [0.0, 0.0, 0.0], "normal": [-1.0, 0.0, 0.0]}],
        },
    ],
    "contact": [
        {
            "feature": "tip",
            "surface": "face",
            "normal": {"law": "hunt-crossley", "stiffness": 1e4, "exponent": 1, "damping": 1.0},
        }
    ],
    "requirements": {"peak_normal_force": "< 100 N"},
}
PLACE = "body.probe.position.0"
DEEP = ": contact 'tip – face': overlap at the start = 0.06 m; must be at most 0.01 m"


def test_every_case_of_a_study_is_looked_at(load):
    """A batch does not begin as a run does; what a run refuses is a case that failed, for the reason that the run gives."""
    scenario = load(BALL)
    assert runs_in_batches(scenario)
    places = np.array([[-0.95], [-0.85], [-0.905]])
    cases = run_cases(scenario, [PLACE], places)
    assert cases.reasons == ["", f"{scenario.name}{DEEP}", ""]
    assert list(np.isnan(cases.figures["peak_normal_force_N"])) == [False, True, False]
    for place, reason in zip(places[:, 0], cases.reasons, strict=True):
        case = load(BALL, {PLACE: float(place)})
        if reason:
            with pytest.raises(dockdyn.ScenarioError, match="overlap at the start") as refusal:
                dockdyn.simulate(case)
            assert str(refusal.value) == reason
        else:
            assert dockdyn.simulate(case).attrs["finished"]


def test_derivatives_of_a_case_that_cannot_begin_are_refused(load):
    with pytest.raises(dockdyn.ScenarioError) as refusal:
        dockdyn.sensitivity(load(BALL, {PLACE: -0.85}), "peak_normal_force_N")
    assert str(refusal.value).endswith(DEEP)


@pytest.mark.full
def test_an_envelope_leaves_out_what_cannot_begin(load):
    """Half of the range is inside the wall: of that nothing is known, as of other cases that fail."""
    found = dockdyn.envelope(load(BALL), {PLACE: (-0.93, -0.85)}, "peak_normal_force", tolerance=0.05)
    places, met = found.point_x.values, found.met.values
    assert np.isnan(met[places > -0.9 + 0.01]).all() and not np.isnan(met[places < -0.9]).any()
