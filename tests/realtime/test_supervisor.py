"""What stops a driven rig: every fault for its own reason, at once, on a path that keeps every limit."""

import numpy as np
import pytest
from driven_rigs import ALONG, CYCLE, IN_SPACE, driver, in_space, keeps_limits, needs_compiler, on_a_line

from dockdyn.hil.operation import OperationState, Request
from dockdyn.hil.supervisor import Cause
from dockdyn.realtime.exchange import pad_to_six_axes
from dockdyn.realtime.laboratory import LaboratoryInSteps
from dockdyn.realtime.lockstep import ComputerInSteps

pytestmark = needs_compiler
WATCHED = {
    "rig__limits__sensor_frozen": 20,
    "rig__limits__saturation": "900 N",
    "rig__limits__injected_energy": "0.05 J",
    "rig__limits__passivity": "0.05 J",
    "rig__limits__sensor_silence": "8 ms",
    "rig__limits__robot_silence": "4 ms",
    "rig__limits__late_cycles": 1,
    "rig__limits__acceleration": "2 m/s^2",
    "rig__limits__turning_acceleration": "2 rad/s^2",
    "loop__sensor__period": "4 ms",
    "loop__sensor__noise": "10 mN",
}
SCENARIO = in_space(duration="30 s", **WATCHED)


@pytest.fixture(scope="module")
def steps():
    """The two programs, made once."""
    made = driver(SCENARIO)
    return made.cycle(running=True), made.laboratory(following=True), made.axes


class Rig:
    """Computer and laboratory, whose messages can be tampered with."""

    def __init__(self, steps):
        cycle, laboratory, axes = steps
        self.computer, self.laboratory = ComputerInSteps(cycle, axes), LaboratoryInSteps(laboratory, axes)
        self.found = []

    def go_on(self, tamper=lambda reading, pose: (reading, pose), cycles=1, **asked):
        """So many cycles; what the computer puts out in the last."""
        for _ in range(cycles):
            found = self.computer.answer(*tamper(*self.laboratory.tell()), **asked)
            self.found.append(found)
            self.laboratory.take(pad_to_six_axes(found["command"]))
        return self.found[-1]


def with_load(reading, pose, axis, value):
    load = reading.values.copy()
    load[axis] = value
    return reading._replace(values=load), pose


def with_place(reading, pose, axis, value):
    place = pose.values.copy()
    place[axis] += value
    return reading, pose._replace(values=place)


FROZEN = np.array([1.0, 2.0, 3.0, 0.0, 0.0, 0.0])
FAULTS = {  # what happens, in how many cycles it counts
    Cause.SENSOR_INVALID: (lambda r, p: with_load(r, p, 1, np.nan), 1),
    Cause.SENSOR_STATUS: (lambda r, p: (r._replace(status=4), p), 1),
    Cause.SENSOR_STALE: (lambda r, p: (None, p), 3),
    Cause.SENSOR_SATURATED: (lambda r, p: with_load(r, p, 0, -950.0), 1),
    Cause.SENSOR_FROZEN: (lambda r, p: (r._replace(values=FROZEN), p), 22),
    Cause.ROBOT_INVALID: (lambda r, p: with_place(r, p, 4, np.inf), 1),
    Cause.ROBOT_STATUS: (lambda r, p: (r, p._replace(status=1)), 1),
    Cause.ROBOT_STALE: (lambda r, p: (r, None), 2),
    Cause.FORCE: (lambda r, p: (r._replace(values=np.array([600.0, 600.0, 600.0, 0.0, 0.0, 0.0])), p), 1),
    Cause.TORQUE: (lambda r, p: with_load(r, p, 3, 2e3), 1),
    Cause.POSITION: (lambda r, p: with_place(r, p, 0, 4.0), 1),
    Cause.TRACKING: (lambda r, p: with_place(r, p, 2, 0.2), 1),
}


@pytest.mark.full_cases("SENSOR_INVALID", "SENSOR_STATUS", "SENSOR_STALE")
@pytest.mark.parametrize("cause", FAULTS, ids=lambda cause: cause.name)
def test_a_fault_stops_the_rig_at_once_and_for_good(steps, cause):
    rig = Rig(steps)
    assert rig.go_on(cycles=300)["state"] == OperationState.RUNNING
    tamper, cycles = FAULTS[cause]
    assert cycles == 1 or rig.go_on(tamper, cycles=cycles - 1)["state"] == OperationState.RUNNING
    found = rig.go_on(tamper)
    assert (found["state"], found["cause"]) == (OperationState.STOPPING, cause)
    stays_at_rest(rig)


def stays_at_rest(rig, limits=IN_SPACE | {"acceleration": 2.0, "turning_acceleration": 2.0}):
    """Braking takes the cycles that follow from speed and acceleration, none for a robot that was not heard and so stands;
    then nothing moves, whatever is asked."""
    cause, tripped = rig.found[-1]["cause"], len(rig.found) - 1
    sent = np.array([one["command"] for one in rig.found[tripped - 2 :]])
    before = (sent[1] - sent[0]) / CYCLE
    sizes = [
        np.linalg.norm(before[:3]) / limits["acceleration"],
        np.linalg.norm(before[3:]) / limits["turning_acceleration"],
    ]
    needed = int(np.ceil(max(sizes) / CYCLE * (1 - 1e-9)))
    for request in (Request.NONE, Request.RUN, Request.HOME, Request.ARM, *[Request.RUN] * (needed + 3)):
        rig.go_on(request=request)
    sent = np.array([one["command"] for one in rig.found[tripped:]])
    np.testing.assert_array_equal(sent[max(needed - 1, 0) :], sent[-1:].repeat(len(sent) - max(needed - 1, 0), axis=0))
    assert rig.found[-1]["state"] == OperationState.FAULT
    assert rig.found[-1]["cause"] == cause


def test_the_first_cause_stays(steps):
    rig = Rig(steps)
    rig.go_on(cycles=10)
    rig.go_on(FAULTS[Cause.ROBOT_STATUS][0])
    for cause in (Cause.TRACKING, Cause.SENSOR_INVALID):
        assert rig.go_on(FAULTS[cause][0])["cause"] == Cause.ROBOT_STATUS


def test_late_cycles_and_hold_to_run(steps):
    for asked, cause in (({"late": 2}, Cause.LATE), ({"held": False}, Cause.RELEASED)):
        rig = Rig(steps)
        assert rig.go_on(late=1)["state"] == OperationState.RUNNING
        found = rig.go_on(**asked)
        assert (found["state"], found["cause"]) == (OperationState.STOPPING, cause)


def watched(**limits):
    """The same scenario with these limits; those of the energy and of a force that stays the same are out of reach."""
    far = {
        "rig__limits__injected_energy": "1 GJ",
        "rig__limits__passivity": "1 GJ",
        "rig__limits__sensor_frozen": 100_000,
    }
    return in_space(duration="30 s", **(WATCHED | far | limits))


def watching(**limits):
    """Its two programs: of the structure that all tests share."""
    made = driver(watched(**limits))
    return made.cycle(running=True), made.laboratory(following=True), made.axes


@pytest.mark.full
def test_a_force_that_gives_energy_stops_the_rig(steps):
    """A force of 20 N along the way of the model does work 20 N · 0.03 m/s · t: 0.05 J after 83 ms."""
    for limit, cause in (("passivity", Cause.PASSIVITY), ("injected_energy", Cause.INJECTED_ENERGY)):
        rig = Rig(watching(**{f"rig__limits__{limit}": WATCHED[f"rig__limits__{limit}"]}))
        rig.go_on(cycles=10)
        moves = np.diff([one["position"] for one in rig.found[-2:]], axis=0)[0] / CYCLE
        push = np.concatenate([20.0 * moves / np.linalg.norm(moves), np.zeros(3)])
        if limit == "passivity":
            count = 0
            while rig.go_on(lambda r, p, push=push: (r._replace(values=push), p))["state"] == OperationState.RUNNING:
                count += 1
            expected = 0.05 / (20.0 * np.linalg.norm(moves) * CYCLE)
            assert count == pytest.approx(expected, abs=3)
        else:  # the force changes with the model's way, of which the robot is late
            for cycle in range(2000):
                way = push * np.sin(0.05 * cycle) * 30
                if rig.go_on(lambda r, p, way=way: (r._replace(values=way), p))["state"] != OperationState.RUNNING:
                    break
        assert rig.found[-1]["cause"] == cause


@pytest.mark.full
def test_commands_beyond_the_limits_are_never_sent():
    """Speed, acceleration and the end of braking are checked before a command goes out."""
    push = np.array([-500.0, 0, 0, 0, 0, 0])
    cases = {
        Cause.ACCELERATION: {"rig__limits__acceleration": "0.2 m/s^2"},
        Cause.SPEED: {"rig__limits__speed": "0.2 m/s"},
        Cause.WORKSPACE: {"rig__limits__lowest": [2.9, -6.0, -6.0]},
    }
    for cause, limit in cases.items():
        limits = watched(rig__limits__tracking="2 m", **limit).content.rig.limits
        rig = Rig(watching(rig__limits__tracking="2 m", **limit))
        for _ in range(3000):
            if rig.go_on(lambda r, p: (r._replace(values=push), p))["state"] != OperationState.RUNNING:
                break
        assert rig.found[-1]["cause"] == cause
        rig.go_on(cycles=1000)
        sent = np.array([one["command"][:3] for one in rig.found])
        always = np.ones(len(sent), bool)
        keeps_limits(sent, always, limits.lowest, limits.highest, limits.speed, limits.acceleration)
        assert (sent[-1] == sent[-2]).all()


@pytest.mark.full
@pytest.mark.parametrize("runs", [300, pytest.param(10_000, marks=pytest.mark.full)])
def test_no_sequence_of_faults_exceeds_a_limit(runs):
    """Random loads, lost and broken messages, late cycles, requests: what is sent keeps all limits, before and after a trip."""
    limits = ALONG | {"acceleration": 1.0, "speed": 0.1, "lowest": [-0.3], "highest": [0.05]}
    scenario = on_a_line(duration="30 s", **{f"rig__limits__{name}": value for name, value in limits.items()})
    made = driver(scenario)
    cycle, laboratory = made.cycle(running=True), made.laboratory(following=True)
    rng = np.random.default_rng(1)
    causes = set()
    computer, bench = ComputerInSteps(cycle, made.axes), LaboratoryInSteps(laboratory, made.axes)
    images = computer.stepper.memory.copy(), bench.stepper.memory.copy()
    for _ in range(runs):
        computer.stepper.memory[:], bench.stepper.memory[:] = images
        bench.told, bench.cycle = laboratory.first, 0
        computer.stepper.inputs["load_count"] = computer.stepper.inputs["pose_count"] = -1
        sent, due, states = [], [], []
        force, often = rng.choice([0.0, 30.0, 3e3]), rng.choice([0.0, 0.01, 0.3])
        for _ in range(120):
            reading, pose = bench.tell()
            load = reading.values + np.array([rng.normal() * force, 0, 0, 0, 0, 0])
            load = load if rng.random() > often / 10 else load * np.nan
            reading = reading._replace(values=load, status=int(rng.random() < often / 10))
            messages = [None if rng.random() < often else heard for heard in (reading, pose)]
            late, asked = int(rng.random() < often / 10), Request(rng.integers(0, 4))
            found = computer.answer(*messages, request=asked, late=late, held=rng.random() > often / 10)
            bench.take(pad_to_six_axes(found["command"]))
            sent.append(found["command"].copy())
            due.append(messages[1] is not None)
            states.append(int(found["state"]))
        causes.add(int(found["cause"]))
        four = {name: limits[name] for name in ("lowest", "highest", "speed", "acceleration")}
        keeps_limits(np.array(sent), np.array(due), **four)
        if OperationState.FAULT in states:
            rest = np.array(sent[states.index(OperationState.FAULT) :])
            assert (rest == rest[0]).all()
            assert set(states[states.index(OperationState.FAULT) :]) == {OperationState.FAULT}
    assert len(causes) > 5
