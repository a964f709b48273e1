"""Every fault through the bytes of every protocol: stopped at once, for its own reason, at rest when it must be, for good."""

from pathlib import Path

import numpy as np
import pytest
from driven_rigs import in_space, keeps_limits, needs_compiler, on_a_line
from protocol_rigs import AHEAD, PROTOCOLS, SAMPLED, Rigs

from dockdyn.hil.operation import OperationState, Request
from dockdyn.hil.supervisor import Cause
from dockdyn.realtime.devices.fanuc import GRACE
from dockdyn.realtime.devices.rtde import STOPPING
from dockdyn.scenario.language.errors import ScenarioError

pytestmark = needs_compiler
CYCLE = 4e-3  # s
ACCELERATION = 2.0  # m/s² and rad/s²
SILENCE, ROBOT_SILENCE, FROZEN, UNANSWERED, PATIENCE = 2, 1, 20, 5, 5  # cycles; of an emulated robot the last two
WATCHED = {
    "rig__limits__sensor_frozen": FROZEN,
    "rig__limits__sensor_silence": f"{1e3 * SILENCE * CYCLE} ms",
    "rig__limits__robot_silence": f"{1e3 * ROBOT_SILENCE * CYCLE} ms",
    "rig__limits__acceleration": ACCELERATION,
    "rig__limits__turning_acceleration": ACCELERATION,
    "loop__sensor__period": "4 ms",
    "loop__sensor__noise": "10 mN",
}
# what is found, and in which cycle of the fault: the first is 1
STALE, NOT_ANSWERED = (Cause.ROBOT_STALE, ROBOT_SILENCE + 1), (Cause.ROBOT_STALE, UNANSWERED + ROBOT_SILENCE + 1)
FAULTS = {
    "sensor-silent": lambda protocol: (Cause.SENSOR_STALE, SILENCE + 1),
    "sensor-frozen": lambda protocol: (Cause.SENSOR_FROZEN, FROZEN + 1),
    # counts cannot tell NaN: the sensor says that it is saturated
    "sensor-nan": lambda protocol: (Cause.SENSOR_INVALID if "plain" in protocol else Cause.SENSOR_STATUS, 1),
    "sensor-status": lambda protocol: (Cause.SENSOR_STATUS, 1),
    "sensor-stalled": lambda protocol: (Cause.SENSOR_STATUS, 1),
    "sensor-restart": lambda protocol: (Cause.SENSOR_STALE, SILENCE + 1),
    "robot-silent": lambda protocol: STALE,
    # RSI tells of the answer that was late in the next cycle; the others stop by themselves: FANUC's in the next cycle, but
    # that it waits no more counts only when its queue could be filled; UR by its patience, and then it must come to rest
    "robot-deaf": lambda protocol: {
        "KUKA": (Cause.LATE, 2),
        "UR": (Cause.ROBOT_STATUS, PATIENCE),
        "FANUC": (Cause.ROBOT_STATUS, 1 + GRACE + 1),
        "FANUC ahead": (Cause.ROBOT_STATUS, 1 + AHEAD + GRACE + 1),
    }.get(protocol, NOT_ANSWERED),
    "robot-status": lambda protocol: (Cause.ROBOT_STATUS, 1),
    "robot-restart": lambda protocol: STALE,
    "emergency-stop": lambda protocol: (Cause.ROBOT_STATUS, 1) if protocol.startswith(("UR", "FANUC")) else STALE,
}


def has(fault, protocol):
    """Whether devices can have a fault: RSI tells no status, plain packets do not count measurements."""
    return (fault, protocol) != ("robot-status", "KUKA") and (fault != "sensor-stalled" or "plain" not in protocol)


CASES = [(fault, protocol) for fault in FAULTS for protocol in PROTOCOLS if has(fault, protocol)]


@pytest.fixture(scope="module")
def rigs():
    return Rigs(in_space(duration="30 s", **WATCHED))


@pytest.mark.full_cases(
    "robot-restart KUKA",
    "sensor-silent plain",
    "sensor-silent plain by the clock",
    "sensor-frozen UR",
    "robot-status plain",
    "sensor-nan FANUC ahead",
    "sensor-status FANUC",
    "robot-silent ABB",
    "robot-deaf KUKA",
    "robot-restart plain",
)
@pytest.mark.parametrize(
    ("fault", "protocol"),
    [
        pytest.param(*case, marks=[] if number % 6 == 0 else pytest.mark.full, id=" ".join(case))
        for number, case in enumerate(CASES)
    ],
)
def test_a_fault_stops_the_rig_at_once_for_its_reason_and_for_good(rigs, fault, protocol):
    computer, wire = rigs.begun(protocol, fault={fault: {"kind": fault, "at": "0.4 s", "lasts": "0.2 s"}})
    found, sent, active = [], [], []
    for cycle in range(240):
        request = [Request.NONE, Request.HOME, Request.ARM, Request.RUN][cycle % 4]
        row = wire.cycle(computer, request)
        found.append(row)
        sent.append(row["command"].copy())
        active.append(fault in wire.bench.active)
    states = np.array([int(row["state"]) for row in found])
    begun, tripped = active.index(True), int(np.argmax(states != OperationState.RUNNING))
    cause, cycles = FAULTS[fault](protocol)
    if (fault, protocol) == ("robot-deaf", "UR"):
        cycles += cycles_of_stopping(np.array(sent[begun - 2 : begun]))
    assert (Cause(int(found[tripped]["cause"])), tripped - begun + 1) == (cause, cycles)
    assert states[tripped] == OperationState.STOPPING
    needed = cycles_of_braking(np.array(sent[tripped - 2 : tripped])) if due_at(wire, cause) else 0
    rest = np.array(sent[tripped + max(needed - 1, 0) :])
    assert (rest == rest[0]).all(), "it moves on"
    assert (states[tripped + needed + 1 :] == OperationState.FAULT).all()
    assert {int(row["cause"]) for row in found[tripped:]} == {int(cause)}


def test_the_page_says_how_many_pairs_there_are():
    page = Path(__file__).parents[2] / "docs" / "rig-in-real-time.md"
    assert f" {len(CASES)} pairs of a fault and a protocol" in page.read_text()


def due_at(wire, cause):
    """Whether a command is due in the cycle of a trip: a robot that is not heard asks for none, unless a clock does."""
    return wire.by_clock or cause != Cause.ROBOT_STALE


def cycles_of_stopping(sent):
    """⌈q/(a h)⌉ of joints that are as fast as the tool in the two commands before: v over a lever of 0.5 m, or ω."""
    rate = np.linalg.norm((np.diff(sent, axis=0)[0] / CYCLE).reshape(2, 3), axis=1)
    return int(np.ceil(max(rate[0] / 0.5, rate[1]) / (STOPPING * CYCLE)))


def cycles_of_braking(sent):
    """⌈v/(a h)⌉ of the two commands before."""
    rate = np.diff(sent, axis=0)[0] / CYCLE
    return int(
        np.ceil(max(np.linalg.norm(part) for part in (rate[:3], rate[3:])) / (ACCELERATION * CYCLE) * (1 - 1e-9))
    )


def test_a_robot_that_tells_no_status_has_no_such_fault(rigs):
    with pytest.raises(ScenarioError, match="robot-status: kuka-rsi tells none"):
        rigs.begun("KUKA", fault={"robot-status": {"kind": "robot-status", "at": "0.4 s"}})


def test_plain_packets_do_not_count_measurements(rigs):
    with pytest.raises(ScenarioError, match="sensor-stalled: raw-udp does not count measurements"):
        rigs.begun("plain", fault={"sensor-stalled": {"kind": "sensor-stalled", "at": "0.4 s"}})


def motion(rigs, protocol, cycles=300, **trouble):
    computer, wire = rigs.begun(protocol, **trouble)
    rows = [wire.cycle(computer) for _ in range(cycles)]
    return np.array([row["command"] for row in rows]), rows, wire


def test_a_controller_of_kuka_as_it_comes_leaves_the_robot_behind_until_it_stops_it(rigs):
    """At 30 mm/s, with POSCORR's 5 mm of each axis, the robot stands while the command goes on; what stops it is that the
    other axes add up beyond POSCORRMON's 6 mm. Not one cycle is late."""
    commands, rows, wire = motion(rigs, "KUKA as it comes", 450)
    robot = wire.bench.robot
    assert robot.cycle.stopped == "correction too large" and robot.cycle.late == 0 and robot.cut_off > 100
    stopped = next(cycle for cycle, row in enumerate(rows) if row["state"] != OperationState.RUNNING)
    assert Cause(int(rows[stopped]["cause"])) == Cause.ROBOT_STALE
    reached = wire.bench.pose.values[:3]
    start = commands[0][:3]
    assert np.abs(reached - start).max() < 5.5e-3 < 25e-3 < np.linalg.norm(commands[stopped - 1][:3] - reached)


def test_a_controller_of_abb_as_it_comes_ends_a_slow_motion_after_a_second(rigs):
    """The robot is 0.8 mm behind 30 mm/s, within its 1 mm: silent from cycle 250 on, which counts after one cycle more."""
    _, rows, wire = motion(rigs, "ABB as it comes", 260)
    assert wire.bench.robot.cycle.stopped == "converged"
    stopped = next(cycle for cycle, row in enumerate(rows) if row["state"] != OperationState.RUNNING)
    assert (stopped, Cause(int(rows[stopped]["cause"]))) == (250 + ROBOT_SILENCE, Cause.ROBOT_STALE)


@pytest.mark.parametrize("protocol", SAMPLED)
def test_packets_that_are_late_within_the_cycle_or_come_twice_change_nothing(rigs, protocol):
    """To the last bit; the duplicates are refused as stale. A computer with its own clock reads what has come by then."""
    sound, _, _ = motion(rigs, protocol)
    network = {"latency": "0.5 ms", "jitter": "0.5 ms", "duplicates": 0.3}
    rough, _, wire = motion(rigs, protocol, network=network)
    assert wire.bench.to_robot.duplicated > 30 or protocol == "UR"
    np.testing.assert_array_equal(rough, sound)


def test_answers_later_than_the_cycle_are_told_by_rsi(rigs):
    """1.6 to 2.2 ms each way: some do not fit into 4 ms, and these are answers to another cycle's message."""
    _, rows, wire = motion(rigs, "KUKA", network={"latency": "1.6 ms", "jitter": "0.6 ms"})
    causes = {int(row["cause"]) for row in rows} - {Cause.NONE}
    assert causes == {Cause.LATE}
    assert wire.bench.robot.ignored["wrong IPOC"] > 0


def test_a_pose_that_is_lost_makes_virtual_time_stand_still(rigs):
    """Each command that is due moves it on by a cycle, nothing else does: the motion is that of a cycle less.

    But for the noise of 10 mN, which is that of the laboratory's cycles: six of it move the mass by F t²/(2 m) in 20 cycles.
    """
    _, rows, _ = motion(rigs, "plain")
    fault = {"kind": "robot-silent", "at": "0.4 s", "lasts": f"{CYCLE} s"}
    _, broken, _ = motion(rigs, "plain", fault={"silent": fault})
    assert {int(row["state"]) for row in broken} == {OperationState.RUNNING}
    assert int(broken[-1]["tick"]) == int(rows[-1]["tick"]) - 1
    flown = np.array([row["position"] for row in broken])
    free = np.array([row["position"] for row in rows])
    stood = int(np.argmax((np.diff(flown, axis=0) == 0).all(axis=1)))
    np.testing.assert_array_equal(flown[: stood + 1], free[: stood + 1])
    noise = 0.06 * (20 * CYCLE) ** 2 / 2 * (1 / 1800 + 1 / 3200)
    np.testing.assert_allclose(flown[stood + 1 : stood + 20], free[stood : stood + 19], rtol=0, atol=noise)


def test_bias_drift_and_resolution_are_added_to_what_is_measured(rigs):
    """In free flight nothing else is measured but the noise, 10 mN: F(t) = b + d t."""
    sensor = {"bias": [3.0, 0.0, -1.0], "drift": [0.0, "30 N/min", 0.0], "torque_bias": [0.0, 0.0, 0.2]}
    _, rows, _ = motion(rigs, "KUKA", sensor=sensor)
    load = np.array([row["load"] for row in rows])
    times = CYCLE * np.arange(len(load))
    np.testing.assert_allclose(load[:, 0], 3.0, atol=0.06)
    np.testing.assert_allclose(load[:, 1], 0.5 * times, atol=0.06)
    np.testing.assert_allclose(load[:, 5], 0.2, atol=0.06)
    _, rows, _ = motion(rigs, "KUKA", 50, sensor=sensor | {"resolution": "0.25 N"})
    load = np.array([row["load"] for row in rows])[:, :3]
    np.testing.assert_allclose(load, np.round(load / 0.25) * 0.25, rtol=0, atol=1e-9)


def test_a_saturated_sensor_stops_the_rig(rigs):
    for protocol in ("plain", "KUKA"):
        _, rows, _ = motion(rigs, protocol, 20, sensor={"bias": [6.0, 0.0, 0.0], "saturation": "5 N"})
        assert Cause(int(rows[-1]["cause"])) == Cause.SENSOR_STATUS


@pytest.mark.full_cases("plain-12", "KUKA-12")
@pytest.mark.parametrize("runs", [12, pytest.param(2_000, marks=pytest.mark.full)])
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_no_sequence_of_faults_exceeds_a_limit(protocol, runs, along):
    """Random networks, sensors, faults and requests: what is sent keeps all limits, before and after a trip, and nothing
    begins again."""
    rng = np.random.default_rng(len(protocol))
    causes = set()
    for number in range(runs):
        computer, wire = along.begun(protocol, **random_trouble(rng, number, protocol))
        sent, due, states = [], [], []
        for _ in range(60):
            found = wire.cycle(computer, Request(rng.integers(0, 4)))
            sent.append(found["command"].copy())
            due.append(bool(computer.stepper.inputs["due"]))
            states.append(int(found["state"]))
        causes.add(int(found["cause"]))
        keeps_limits(np.array(sent), np.array(due), **LINE_LIMITS)
        if OperationState.FAULT in states:
            at = states.index(OperationState.FAULT)
            assert set(states[at:]) == {OperationState.FAULT}
            assert (np.array(sent[at:]) == sent[at]).all()
    assert len(causes) > (2 if runs < 100 else 5)


LINE_LIMITS = {"lowest": [-0.3], "highest": [0.05], "speed": 0.1, "acceleration": 1.0}


@pytest.fixture(scope="module")
def along():
    limits = {f"rig__limits__{name}": value for name, value in LINE_LIMITS.items()}
    watched = {name: value for name, value in WATCHED.items() if "acceleration" not in name}
    return Rigs(on_a_line(duration="30 s", **watched | limits))


def random_trouble(rng, seed, protocol):
    """A table of what goes wrong."""
    kinds = [kind for kind in FAULTS if has(kind, protocol)]
    faults = {
        f"fault{number}": {
            "kind": str(rng.choice(kinds)),
            "at": float(rng.random() * 0.2),
            "lasts": float(rng.choice([0.004, 0.05, 0.15])),
        }
        for number in range(rng.integers(0, 3))
    }
    often = float(rng.choice([0.0, 0.01, 0.2], p=[0.5, 0.3, 0.2]))
    network = {
        "latency": float(rng.choice([0.0, 1e-3, 3e-3], p=[0.6, 0.3, 0.1])),
        "jitter": float(rng.choice([0.0, 1e-3, 5e-3], p=[0.6, 0.3, 0.1])),
        "loss": often,
        "duplicates": often,
        "reordering": often,
    }
    sensor = {
        "bias": [float(rng.normal() * rng.choice([0.0, 3.0, 30.0, 1e4], p=[0.5, 0.2, 0.2, 0.1])), 0.0, 0.0],
        "drift": [float(rng.normal() * rng.choice([0.0, 300.0])), 0.0, 0.0],
        "resolution": float(rng.choice([0.0, 1e-3])),
        "saturation": float(rng.choice([5.0, 1e5], p=[0.1, 0.9])),
    }
    return {"seed": seed, "network": network, "sensor": sensor, "fault": faults}
