"""What a scenario says that an emulated robot does, `[rig.emulator.robot]`, through the bytes: it does so, and stops there."""

import math
import re

import numpy as np
import pytest
from driven_rigs import in_space, needs_compiler
from helpers.refusals import refused
from protocol_rigs import AHEAD, PROTOCOLS, Rigs, devices

import dockdyn
from dockdyn.hil.operation import OperationState
from dockdyn.hil.supervisor import Cause
from dockdyn.realtime.bench import wanted_of
from dockdyn.realtime.controller import make_checklists
from dockdyn.realtime.devices import fanuc, rtde
from dockdyn.realtime.devices.device import ToolPose
from dockdyn.realtime.devices.emulated.sensor import SensorErrors
from dockdyn.scenario.tables.emulator import EmulatorSection
from dockdyn.scenario.tables.rig.devices import DevicesSection

pytestmark = needs_compiler
CYCLE = 4e-3  # s
START = ToolPose((0.5, 0.0, 0.9))
BOUNDS = {  # wide, so that what is seen is the robot's own way
    "rig__limits__acceleration": 2.0,
    "rig__limits__turning_acceleration": 2.0,
    "rig__limits__robot_silence": "20 ms",
    "rig__limits__sensor_silence": "20 ms",
    "rig__limits__late_cycles": 5,
    "rig__limits__tracking": "1 m",
    "rig__limits__tracking_turn": "3 rad",
    "loop__sensor__period": "4 ms",
}
KEYS = {  # of each kind: a value that is not the default, of every key
    "kuka-rsi": {
        "in_a_row": False,
        "hold": False,
        "applies_after": 3,
        "told_corrected": True,
        "first_ipoc": 2**32 - 8,
        "clock_bits": 64,
    },
    "fanuc-stream-motion": {
        "packet_stack": 4,
        "start_move": 2,
        "coast": "121 ms",
        "refills": True,
        "newest_version": 1,
        "waits_at_rest": True,
        "silent_when_stopped": True,
        "extended": [100.0, 0.0, -20.0],
    },
    "ur-rtde": {
        "newest_version": 1,
        "applies_after": 2,
        "extrapolates": False,
        "stopping": "2 rad/s^2",
        "lever": "80 cm",
        "ignored_speed": "30 rad/s",
        "text_period": "0.5 s",
    },
}
KINDS = {"kuka-rsi": "KUKA", "fanuc-stream-motion": "FANUC", "ur-rtde": "UR"}


def emulated(protocol, **robot):
    """The options of the emulated robot of a table."""
    made = devices(protocol, CYCLE)
    trouble = EmulatorSection.model_validate({"robot": robot} if robot else {})
    found = made.emulate(START, SensorErrors(), connected=True, trouble=trouble)[1]
    return dict((found.robot if made.robot.kind == "ur-rtde" else found).behaviour)


@pytest.mark.parametrize(("kind", "key"), [(kind, key) for kind, keys in KEYS.items() for key in keys])
def test_each_key_sets_one_option_and_leaves_the_others_as_they_are(kind, key):
    as_it_comes = emulated(KINDS[kind])
    assert emulated(KINDS[kind], kind=kind) == as_it_comes
    changed = emulated(KINDS[kind], kind=kind, **{key: KEYS[kind][key]})
    assert len([name for name, value in changed.items() if value != as_it_comes[name]]) == 1


@pytest.mark.parametrize("kind", KEYS)
def test_every_option_of_an_emulated_robot_can_be_stated(kind):
    as_it_comes, changed = emulated(KINDS[kind]), emulated(KINDS[kind], kind=kind, **KEYS[kind])
    assert {name for name, value in changed.items() if value == as_it_comes[name]} == {"kind"}


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"robot": {"kind": "abb-egm"}}, "'abb-egm': must be 'kuka-rsi', that of rig.device.robot"),
        ({"robot": {"kind": "raw-udp"}}, "must name one of 'kuka-rsi', 'abb-egm', 'fanuc-stream-motion', 'ur-rtde'"),
        ({"robot": {"kind": "kuka-rsi", "holds": True}}, "rig.emulator.robot.holds: unknown key; did you mean 'hold'"),
        ({"robot": {"kind": "kuka-rsi", "first_ipoc": 2**32}}, "rig.emulator.robot.first_ipoc = 4294967296"),
        ({"sensor": {"measuring_rate": 0}}, "rig.emulator.sensor.measuring_rate = 0"),
    ],
)
def test_a_table_that_is_of_no_such_robot_is_refused_in_a_line(changes, words):
    with refused(match=words.replace("[", r"\[")):
        dockdyn.load("epos-like-driven", {f"rig.emulator.{name}": table for name, table in changes.items()})


def test_a_motion_that_cannot_begin_is_refused():
    changes = {"rig.device.robot": {"kind": "fanuc-stream-motion"}}
    robot = {"kind": "fanuc-stream-motion", "start_move": 5, "packet_stack": 4}
    with refused(match="start_move: 5: must be at most packet_stack, 4"):
        dockdyn.load("epos-like-driven", changes | {"rig.emulator.robot": robot})


@pytest.fixture(scope="module")
def rigs():
    return Rigs(in_space(duration="30 s", **BOUNDS))


def driven(rigs, protocol, cycles, **trouble):
    """Rows of the computer, where the robot was to be at the end of each cycle (m), and the wires."""
    computer, wire = rigs.begun(protocol, **trouble)
    rows, wanted = [], []
    for _ in range(cycles):
        rows.append(wire.cycle(computer))
        wanted.append(wanted_of(wire.bench.robot)[:3])
    return rows, np.array(wanted), wire


def way_after_deaf(rigs, protocol, **robot):
    """Speed (m/s) before commands are lost, how far the robot's reference goes then until it rests (m), the robot."""
    fault = {"deaf": {"kind": "robot-deaf", "at": "0.4 s"}}
    rows, wanted, wire = driven(rigs, protocol, 400, fault=fault, **({"robot": robot} if robot else {}))
    lost = next(cycle for cycle in range(400) if int(rows[cycle]["tick"]) and cycle * CYCLE >= wire.bench.moved + 0.4)
    speed = np.linalg.norm(wanted[lost - 1] - wanted[lost - 2]) / CYCLE
    assert speed > 0.02
    return speed, np.linalg.norm(wanted[-1] - wanted[lost - 1]), wire.bench.robot


@pytest.mark.full
@pytest.mark.parametrize("protocol", ["FANUC", pytest.param("FANUC ahead", marks=pytest.mark.full)])
@pytest.mark.parametrize("coast", [0.0, 0.121])
def test_a_robot_of_fanuc_goes_on_as_far_as_its_queue_and_its_coast_say(rigs, protocol, coast):
    """v (lead h + ⌊c/h⌋ h) behind the command that it has: `stop_distance`, whose first cycle is that command's own."""
    robot = {"kind": "fanuc-stream-motion", "coast": coast}
    speed, way, found = way_after_deaf(rigs, protocol, **robot)
    settings = fanuc.FanucSettings(cycle=4, lead=AHEAD if "ahead" in protocol else 0)
    derived = fanuc.stop_distance(speed, settings, CYCLE, math.floor(coast / CYCLE + 1e-9) * CYCLE) - speed * CYCLE
    assert found.cycle.stopped == "no command in the queue"
    single = 2.4e-7  # m, at 2 to 4 m; the rounding of a step counts in each cycle that repeats it
    assert way == pytest.approx(derived, abs=2 * single * (2 + coast / CYCLE))


@pytest.mark.full
def test_a_robot_of_fanuc_that_is_set_as_the_doctor_says_takes_every_command(rigs):
    """The smallest queue and the latest beginning of its checklist; with a queue of one less than is sent in advance the
    first commands do not fit."""
    section = DevicesSection.model_validate({"robot": PROTOCOLS["FANUC ahead"][1]})
    ((words, _),) = (each for each in make_checklists(section)[1].stated if each[1] == "lead")
    room, begins = (int(number) for number in re.findall(r" (\d+) or", words))
    for stack, start, sound in ((room, begins, True), (AHEAD - 1, 1, False)):
        robot = {"kind": "fanuc-stream-motion", "packet_stack": stack, "start_move": start}
        _, _, wire = driven(rigs, "FANUC ahead", 60, robot=robot)
        found = wire.bench.robot
        assert (not found.ignored and not found.cycle.stopped and found.cycle.late == 0) == sound


@pytest.mark.full
@pytest.mark.parametrize(
    ("stopping", "lever"), [(4.0, 0.5), pytest.param(0.5, 0.2, marks=pytest.mark.full), (0.25, 0.8)]
)
def test_a_robot_of_universal_robots_stops_as_its_joints_do(rigs, stopping, lever):
    """v T + v²/(2 α l), of which the cycle of the last command is over, and within the cycles that its steps take."""
    robot = {"kind": "ur-rtde", "stopping": stopping, "lever": lever}
    speed, way, found = way_after_deaf(rigs, "UR", **robot)
    assert found.cycle.stopped == "no commands"
    if stopping == rtde.STOPPING:
        assert rtde.stop_distance(speed, 0.02, lever) == speed * 0.02 + speed**2 / (2 * stopping * lever)
    derived = speed * 0.02 + speed**2 / (2 * stopping * lever)
    assert abs(way - derived) <= 1.5 * speed * CYCLE


def test_a_robot_that_does_not_extrapolate_stays_at_its_last_command(rigs):
    _, way, _ = way_after_deaf(rigs, "UR", kind="ur-rtde", extrapolates=False)
    assert way == 0


@pytest.mark.full
def test_a_command_that_comes_late_leaves_a_robot_of_abb_behind_for_good(rigs):
    """1.5 to 3.5 ms each way: each pose comes within its cycle of 4 ms, and so do most of the commands that answer it.

    Where the robot takes the next one, the path is in the end that of a sound network, whole, and as late as the latest
    command was; where it takes the newest, it stands in some cycles and leaves out a command in others.
    """
    _, sound, _ = driven(rigs, "ABB", 420)
    network = {"latency": "1.5 ms", "jitter": "2 ms"}
    paths = {}
    for takes in ("next", "newest"):
        rows, paths[takes], wire = driven(rigs, "ABB", 420, network=network, robot={"kind": "abb-egm", "takes": takes})
        assert {int(row["state"]) for row in rows} == {OperationState.RUNNING} and not wire.bench.robot.cycle.stopped
    late = [np.abs(paths["next"][-100:] - sound[-100 - n : len(sound) - n]).max() for n in range(3)]
    assert late[1] < 1e-9 and min(late[0], late[2]) > 1e-5
    steps = np.linalg.norm(np.diff(paths["newest"][-100:], axis=0), axis=1)
    assert (steps == 0).any() and steps.max() > 1.5 * np.median(steps[steps > 0])


@pytest.mark.full
def test_the_rate_at_which_a_sensor_measures_is_a_key(rigs):
    """Slower than its records come it tells a measurement twice, which is a fault; faster none is."""
    for rate, cause in (("488 Hz", Cause.SENSOR_STATUS), ("1953 Hz", Cause.NONE)):
        rows, _, _ = driven(rigs, "KUKA", 20, sensor={"measuring_rate": rate})
        assert Cause(int(rows[-1]["cause"])) == cause


def test_all_protocols_with_options_have_a_table():
    assert {robot["kind"] for _, robot in PROTOCOLS.values()} - {"raw-udp"} == {*KEYS, "abb-egm"}
