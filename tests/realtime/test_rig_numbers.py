"""Numbers that no measurement has: a rig stops on them at once for a stated cause, and never commands what is no place."""

import struct

import numpy as np
import pytest
from driven_rigs import driver, in_space, needs_compiler
from protocol_rigs import Rigs

from dockdyn.hil.operation import OperationState, Request
from dockdyn.hil.supervisor import Cause
from dockdyn.programs import Program
from dockdyn.realtime.exchange import pad_to_six_axes
from dockdyn.realtime.laboratory import LaboratoryInSteps
from dockdyn.realtime.lockstep import ComputerInSteps
from dockdyn.rig.driven import limits_of
from dockdyn.rig.model.driven import Inputs, begin_driving, drive_cycle, driven_of

pytestmark = needs_compiler
CHANGES = {"duration": "30 s", "rig__limits__saturation": "900 N"}
NONE = (np.nan, np.inf, -np.inf)
ABSURD = (1e308, -1e308, 1e155, -1e30, 5e4)  # squares of some are beyond what a double holds
LOADS = {Cause.SENSOR_INVALID, Cause.SENSOR_SATURATED, Cause.FORCE, Cause.TORQUE}
POSES = {Cause.ROBOT_INVALID, Cause.POSITION}


@pytest.fixture(scope="module")
def made():
    return driver(in_space(**CHANGES))


def tampered(rng, values):
    """Numbers with some that cannot be, and whether one is none."""
    bad = values.copy()
    which = rng.integers(0, 6, rng.integers(1, 4))
    bad[which] = rng.choice([*NONE, *ABSURD], len(which))
    return bad, not np.isfinite(bad).all()


def computers(made):
    """The two computers of a rig: its cycle in C, and in Python."""
    rig, content = made.rig, made.scenario.content
    begun = Program(driven_of)(rig, limits_of(content.rig.limits, made.period), content.rig.settle, content.duration)
    return ComputerInSteps(made.cycle(), made.axes), Program(drive_cycle), begun, Program(begin_driving)(begun)


@pytest.mark.full
@pytest.mark.parametrize("runs", [8, pytest.param(300, marks=pytest.mark.full)])
def test_numbers_that_cannot_be_stop_the_rig_in_c_and_in_python_alike(made, runs):
    """In any state, in force, torque or pose: every command is a place, and stays within a cycle's way of the last one."""
    computer, python, driven, first = computers(made)
    laboratory = LaboratoryInSteps(made.laboratory(), made.axes)
    images = computer.stepper.memory.copy(), laboratory.stepper.memory.copy()
    told, causes = laboratory.told, set()
    limits = made.scenario.content.rig.limits
    for seed in range(runs):
        rng = np.random.default_rng(seed)
        computer.stepper.memory[:], laboratory.stepper.memory[:] = images
        laboratory.told, laboratory.cycle, state = told, 0, first
        computer.stepper.inputs["load_count"] = computer.stepper.inputs["pose_count"] = -1
        moment, of_load, sent = int(rng.integers(2, 60)), rng.random() < 0.6, []
        for cycle in range(moment + 20):
            load, pose = laboratory.tell()
            if cycle == moment:
                values, none = tampered(rng, (load if of_load else pose).values)
                load, pose = (load._replace(values=values), pose) if of_load else (load, pose._replace(values=values))
            before = int(computer.stepper.outputs["state"])
            request = (Request.HOME, Request.ARM, Request.RUN)[cycle % 3]
            found = computer.answer(load, pose, request)
            given = computer.stepper.inputs
            state, outputs = python(driven, state, Inputs(*(np.array(given[name]) for name in Inputs._fields)))
            for name in ("command", "send", "state", "cause"):
                np.testing.assert_array_equal(found[name], np.asarray(getattr(outputs, name)), err_msg=name)
            if cycle == moment and before == OperationState.IDLE:
                assert found["state"] == OperationState.IDLE
            elif cycle == moment:
                possible = {Cause.SENSOR_INVALID if of_load else Cause.ROBOT_INVALID} if none else LOADS | POSES
                assert found["state"] == OperationState.STOPPING and Cause(int(found["cause"])) in possible
                causes.add(Cause(int(found["cause"])))
            laboratory.take(pad_to_six_axes(found["command"]))
            sent.append(found["command"].copy())
        sent = np.array(sent)
        assert np.isfinite(sent).all()
        ways = np.linalg.norm(np.diff(sent[1:], axis=0)[:, :3], axis=1)
        assert ways.max() <= limits.speed * made.period * (1 + 1e-9)
    assert len(causes) > 3


def with_number(packet, number):
    """A plain packet whose first double is another."""
    return struct.pack("<d", number) + packet[8:]


@pytest.mark.full_cases("plain-0-1-nan", "plain-0-1-inf")
@pytest.mark.parametrize("number", [*NONE, 1e10, -1e300])
@pytest.mark.parametrize(("role", "cause"), [(0, Cause.SENSOR_INVALID), (1, Cause.ROBOT_INVALID)])
@pytest.mark.parametrize("protocol", ["plain", "plain by the clock"])
def test_a_packet_with_a_number_that_cannot_be_stops_the_rig_in_its_cycle(made, protocol, role, cause, number):
    computer, wire = Rigs(in_space(**CHANGES)).begun(protocol)
    deliver = wire.bench.deliver

    def tampering(time):
        found = deliver(time)
        found[role][:] = [with_number(packet, number) for packet in found[role]]
        return found

    for _ in range(50):
        assert wire.cycle(computer)["state"] == OperationState.RUNNING
    wire.bench.deliver = tampering
    found = wire.cycle(computer)
    assert (found["state"], Cause(int(found["cause"]))) == (OperationState.STOPPING, cause)
    wire.bench.deliver = deliver
    rest = [wire.cycle(computer) for _ in range(100)]
    assert rest[-1]["state"] == OperationState.FAULT and np.isfinite([row["command"] for row in rest]).all()
