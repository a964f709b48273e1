"""What a latch holds as the run begins: at its seat that is a capture, from afar it is refused before the run."""

import numpy as np
import pytest
from helpers.refusals import refused
from test_missed_latches import LATERAL, flight, flight_of

import dockdyn
from dockdyn.results.overlap import FAR
from dockdyn.studies.cases.batch import run_cases

HELD = "hook: would hold from t = 0 on what begins"
DEPTH = 0.25 / np.tan(np.radians(40))  # m, of the cone of probe-cone-latch, of whose sizes these are
ENTRY = "latch.capture.entry"


@pytest.mark.parametrize(
    ("begins", "latch"),
    [
        ([0.3, 0.0, 0.0], {"reach": 5.0}),  # m, as where millimetres were meant
        ([-0.3, 0.0, 0.0], {}),  # behind the seat, as where the axis points into it
        ([0.0, 0.3, 0.0], {"lateral": 20.0}),
        ([0.3, 0.0, 0.0], {"reach": 5.0, "grip": "pin", "stiffness": None}),
    ],
)
def test_what_is_held_from_afar_at_the_start_is_no_capture(begins, latch):
    with refused(HELD, "0.3 m from its seat", f"at most {FAR:g} m"):
        flight(begins, [0.0] * 3, **latch)


@pytest.mark.full
def test_what_begins_at_the_seat_or_out_of_reach_is_simulated():
    at_seat = dockdyn.summarise(flight([0.0] * 3, [0.0] * 3))
    assert at_seat["captured"] and at_seat["capture_time_s"] == 0
    assert not dockdyn.summarise(flight([0.3, 0.0, 0.0], [0.0] * 3))["captured"]
    assert not dockdyn.summarise(flight([-0.3, 0.0, 0.0], [0.0] * 3, closed=False))["captured"]


def test_each_of_several_strikers_is_looked_at():
    pairs = [[[0.0, place, 0.0], [0.5, 0.1 + place, -0.2]] for place in (0.0, LATERAL)]
    with refused(HELD, "0.3 m from its seat"):
        flight([-0.3, 0.0, 0.0], [0.0] * 3, anchor=None, anchors=pairs)


@pytest.mark.parametrize("entry", ["58.3 m", "583 mm", "299 mm"])
def test_a_ramp_that_begins_outside_of_its_cone_is_refused(entry):
    with refused(f"{ENTRY} = ", "must be within the cone, at most 0.2979 m"):
        dockdyn.load("probe-cone-latch", {ENTRY: entry})


def test_a_ramp_may_begin_at_the_mouth_of_its_cone():
    assert dockdyn.load("probe-cone-latch", {ENTRY: DEPTH}).content.latch[0].entry == DEPTH
    with refused("must be within the cone, at most 0.2 m"):
        dockdyn.load("probe-cone-latch", {ENTRY: DEPTH, "body.target.surface.cone.depth": "200 mm"})


def test_what_is_drawn_beyond_the_cone_is_refused_too():
    with refused(f"{ENTRY}.high = '300 mm'", "must be within the cone"):
        spread = {"distribution": "uniform", "low": "60 mm", "high": "300 mm"}
        dockdyn.load("probe-cone-latch", {ENTRY: spread})


def test_a_study_counts_a_case_that_is_caught_from_afar_as_failed():
    cases = run_cases(flight_of([0.3, 0.0, 0.0], [0.0] * 3), ["latch.hook.reach"], np.array([[0.01], [5.0]]))
    assert cases.reasons[0] == "" and "would hold from t = 0 on what begins 0.3 m" in cases.reasons[1]


def test_a_seat_without_an_axis_on_a_body_that_is_met_elsewhere_is_refused():
    """It would face x, and catch strikers from aside."""
    with pytest.raises(dockdyn.ScenarioError) as refusal:
        dockdyn.load("idss-soft-capture", {"body.target.port.port.axis": [0, 1, 0]})
    words = str(refusal.value)
    assert "latch.capture: no axis is stated" in words and "must state axis, as axis = [0.0, 1.0, 0.0]" in words
    dockdyn.load("idss-soft-capture", {"body.target.port.port.axis": [0, 1, 0], "latch.capture.axis": [0, 1, 0]})
