"""Why a rig was stopped: value, limit, axis and time, as the computer found them, drawn over limits and devices' faults."""

import re

import numpy as np
import pytest
from driven_rigs import CYCLE, driver, in_space, needs_compiler

from dockdyn.hil.supervisor import Cause
from dockdyn.realtime.exchange import pad_to_six_axes
from dockdyn.realtime.lockstep import ComputerInSteps, LaboratoryInSteps
from dockdyn.realtime.ring import record_type
from dockdyn.realtime.stop_words import why_stopped
from dockdyn.realtime.wakeups import SECOND

pytestmark = needs_compiler
SHORT = {"approach__closing_speed": 0.05, "approach__distance": 0.2, "duration": 12.0}
DRAWN = {  # what trips: the range of the limit that does
    Cause.FORCE: ("force", 1.0, 20.0),
    Cause.TORQUE: ("torque", 0.1, 2.0),
    Cause.TRACKING: ("tracking", 0.02, 0.1),
    Cause.SPEED: ("speed", 0.06, 0.07),
    Cause.ACCELERATION: ("acceleration", 0.05, 0.1),
    Cause.INJECTED_ENERGY: ("injected_energy", 1e-6, 1e-5),
}
PUSHED = np.array([200.0, -700.0, 300.0, 0, 0, 0])  # N, N m, of a sensor from the 30th cycle on
OFF = np.array([0.01, 0.02, -0.3, 0, 0, 0])  # m, rad, of encoders
SPOILT = {
    Cause.TRACKING: lambda load, pose: (load, pose._replace(values=pose.values + OFF)),
    Cause.SPEED: lambda load, pose: (load._replace(values=PUSHED), pose),
    Cause.ACCELERATION: lambda load, pose: (load._replace(values=PUSHED), pose),
}
NUMBER = r"(-?[\d.]+(?:e[-+]\d+)?)"


def stopped(scenario, spoil=None):
    """The rows of a run up to the first that has a cause; `spoil` changes what is told in a cycle."""
    made = driver(scenario)
    step = made.cycle(running=True)
    computer, laboratory = (
        ComputerInSteps(step, made.axes),
        LaboratoryInSteps(made.laboratory(following=True), made.axes),
    )
    rows = []
    for cycle in range(4000):
        load, pose = laboratory.tell()
        if spoil is not None:
            load, pose = spoil(cycle, load, pose)
        found = computer.answer(load, pose)
        laboratory.take(pad_to_six_axes(found["command"]))
        row = np.zeros((), record_type(step))
        row["time"], row["inputs"], row["outputs"] = round(cycle * CYCLE * SECOND), computer.stepper.inputs, found
        rows.append(row[()])
        if found["cause"]:
            return rows
    raise AssertionError("nothing stopped it")


def size_of(cause, rows):
    """What a limit of lengths is about, in the last of some cycles, from what went in and out."""
    wanted = rows[-1]["outputs"]["wanted"][:3]
    sent = [row["outputs"]["command"][:3] for row in rows[-3:-1]]
    load = rows[-1]["inputs"]["load"]
    return {
        Cause.FORCE: lambda: load[:3],
        Cause.TORQUE: lambda: load[3:],
        Cause.TRACKING: lambda: rows[-1]["inputs"]["pose"][:3] - sent[1],
        Cause.SPEED: lambda: (wanted - sent[1]) / CYCLE,
        Cause.ACCELERATION: lambda: (wanted - 2 * sent[1] + sent[0]) / CYCLE**2,
        Cause.INJECTED_ENERGY: lambda: rows[-1]["outputs"]["injected_energy"],
    }[cause]()


@pytest.mark.full_cases("9", "14", "10", "12", "17")
@pytest.mark.parametrize("cause", DRAWN)
def test_a_stop_names_value_limit_axis_and_time(cause):
    rng = np.random.default_rng(int(cause))
    key, low, high = DRAWN[cause]
    limit = float(np.exp(rng.uniform(np.log(low), np.log(high))))
    scenario = in_space(**SHORT, **{f"rig__limits__{key}": limit})
    other = SPOILT.get(cause, lambda load, pose: (load, pose))
    rows = stopped(scenario, lambda cycle, *told: other(*told) if cycle >= 30 else told)
    assert rows[-1]["outputs"]["cause"] == cause
    said = why_stopped(cause, rows[-1], rows[:-1], scenario.content.rig.limits, CYCLE)
    name = cause.name.lower().replace("_", " ")
    assert (
        said.startswith(f"{name} at {(len(rows) - 1) * CYCLE:.3f} s: ") and f"rig.limits.{key} is {limit:.6g} " in said
    )
    value = size_of(cause, rows)
    assert float(np.linalg.norm(value)) > limit
    told = float(re.search(rf"{NUMBER} (?:N|m|J)", said)[1])
    assert told == pytest.approx(np.linalg.norm(value), rel=1e-3)
    if np.size(value) > 1:
        axis = ("rx", "ry", "rz")[np.abs(value).argmax()] if cause == Cause.TORQUE else "xyz"[np.abs(value).argmax()]
        assert f"most of it along {axis} ({value[np.abs(value).argmax()]:.4g})" in said


def test_a_place_outside_names_its_axis_and_range():
    """By the encoders, and where braking would end before the robot is there."""
    rng = np.random.default_rng(4)
    for cause, spoil in (
        (
            Cause.POSITION,
            lambda cycle, load, pose: (
                load,
                pose._replace(values=pose.values + np.array([0, 100, 0, 0, 0, 0]) * (cycle == 30)),
            ),
        ),
        (Cause.WORKSPACE, None),
    ):
        changes = {} if spoil else {"rig__limits__highest": [6.0, 6.0, 6.0], "rig__limits__lowest": [-6.0, -6.0, -6.0]}
        first = stopped(in_space(**SHORT)) if not spoil else None
        if first is not None:  # a wall within the way that the command takes
            way = np.array([row["outputs"]["command"][:3] for row in first])
            axis = int(np.ptp(way, axis=0).argmax())
            share = rng.uniform(0.3, 0.7)
            bound = float(way[0, axis] + share * (way[-1, axis] - way[0, axis]))
            rising = way[-1, axis] > way[0, axis]
            changes["rig__limits__highest" if rising else "rig__limits__lowest"][axis] = bound
        scenario = in_space(**SHORT, **changes)
        rows = stopped(scenario, spoil)
        said = why_stopped(cause, rows[-1], rows[:-1], scenario.content.rig.limits, CYCLE)
        assert rows[-1]["outputs"]["cause"] == cause, said
        limits = scenario.content.rig.limits
        found = re.search(
            rf"at {NUMBER} m on ([xyz]), rig\.limits\.lowest, highest allow {NUMBER} to {NUMBER} m$", said
        )
        at = "xyz".index(found[2])
        assert [float(found[3]), float(found[4])] == pytest.approx([limits.lowest[at], limits.highest[at]], rel=1e-4)
        assert not limits.lowest[at] <= float(found[1]) <= limits.highest[at]


FAULTS = {
    Cause.SENSOR_INVALID: (
        "load",
        {"values": np.array([0, np.nan, 0, 0, 0, 0])},
        "the sensor sent what is no number on y",
    ),
    Cause.ROBOT_INVALID: (
        "pose",
        {"values": np.array([0, 0, 0, 0, 0, np.inf])},
        "the robot sent what is no number on rz",
    ),
    Cause.SENSOR_STATUS: ("load", {"status": 3}, "the sensor reports status 3; 0 is well"),
    Cause.ROBOT_STATUS: ("pose", {"status": 5}, "the robot reports status 5; 0 is well"),
    Cause.SENSOR_STALE: ("load", {"sequence": 7}, "no new reading of the sensor for more than that time; "),
    Cause.ROBOT_STALE: ("pose", {"sequence": 7}, "no new pose of the robot for more than that time; "),
}


@pytest.mark.parametrize("cause", FAULTS)
def test_what_a_device_did_is_said(cause):
    which, changed, words = FAULTS[cause]

    def spoil(cycle, load, pose):
        if cycle < 20:
            return load, pose
        return (load._replace(**changed), pose) if which == "load" else (load, pose._replace(**changed))

    scenario = in_space(**SHORT)
    rows = stopped(scenario, spoil)
    assert rows[-1]["outputs"]["cause"] == cause
    assert words in why_stopped(cause, rows[-1], rows[:-1], scenario.content.rig.limits, CYCLE)
