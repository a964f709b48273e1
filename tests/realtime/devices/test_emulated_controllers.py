"""Emulated controllers as they come: what KUKA's objects, ABB's instructions and ATI's counters do when nothing is set."""

import math

import numpy as np
import pytest
from rsi_robots import emulated_rsi
from scipy.spatial.transform import Rotation

from dockdyn.realtime.devices.device import ToolCommand, ToolPose
from dockdyn.realtime.devices.egm import EGM, NEW_SESSION
from dockdyn.realtime.devices.emulated.cycle import CycleSettings
from dockdyn.realtime.devices.emulated.netft import EmulatedNetFT
from dockdyn.realtime.devices.emulated.robot import Convergence, emulate_egm
from dockdyn.realtime.devices.netft import FT_STALLED, NetFT, NetFTSettings, RequestCommand
from dockdyn.realtime.devices.rsi import RSI, RSISettings

START = ToolPose((0.5, 0.0, 0.9), (0.0, 0.0, 0.1))
PERIOD = 0.004  # s
NONE = (0.0, 0.0, 0.0)


class Answered:
    """A KUKA robot that is where it was to be in the cycle before, and what answers it."""

    def __init__(self, relative=False, **robot):
        settings = RSISettings(relative=relative)
        self.robot = emulated_rsi(settings, START, **robot)
        self.codec, self.cycle, self.told = RSI(settings), 0, []

    def go(self, wanted, cycles=1):
        for _ in range(cycles):
            setpoint = self.robot.cycle.setpoint
            for packet in self.robot.tick(PERIOD * self.cycle, ToolPose(setpoint.position, setpoint.rotation_vector)):
                self.told.append((self.codec.decode_robot(packet), packet))
                self.robot.receive(PERIOD * self.cycle + 0.001, self.codec.encode_answer(wanted))
            self.cycle += 1
        return self.robot.cycle.setpoint


def moved(shift, turn=NONE):
    turned = Rotation.from_rotvec(turn) * Rotation.from_rotvec(START.rotation_vector)
    return ToolCommand(tuple(np.add(START.position, shift)), tuple(turned.as_rotvec()))


def away(setpoint):
    """Shift (m) and turn (rad) from the start."""
    turned = Rotation.from_rotvec(setpoint.rotation_vector) * Rotation.from_rotvec(START.rotation_vector).inv()
    return np.subtract(setpoint.position, START.position), turned.magnitude()


@pytest.mark.parametrize("relative", [False, True])
@pytest.mark.parametrize("seed", range(8))
def test_kuka_cuts_long_corrections_off_and_says_nothing(relative, seed):
    """Each axis at 5 mm, the turn at 5° about its own axis; within them the robot goes where it is told."""
    chance = np.random.default_rng(seed)
    rig = Answered(relative, monitor_limit=1.0, monitor_turn_limit=3.0)
    for _ in range(20):
        shift = chance.uniform(-8e-3, 8e-3, 3) * chance.choice([0.3, 1.0])
        turn = chance.normal(size=3)
        turn *= math.radians(chance.uniform(0, 9)) / np.linalg.norm(turn)
        shifted, angle = away(rig.go(moved(shift, turn), 3))
        if not relative:  # added up, a correction that was cut off is missing from then on
            np.testing.assert_allclose(shifted, np.clip(shift, -5e-3, 5e-3), rtol=0, atol=0.051e-3)
            assert angle == pytest.approx(min(np.linalg.norm(turn), math.radians(5)), abs=1.6e-3)
        assert np.abs(shifted).max() <= 5e-3 + 1e-12 and angle <= math.radians(5) + 1e-9
    assert rig.robot.cut_off > 5 and not rig.robot.cycle.stopped and rig.robot.cycle.late == 0


def test_kuka_stops_at_its_monitor():
    """4.9 mm along each of three axes are 8.5 mm, beyond the monitor's 6 mm, though none is cut off."""
    rig = Answered()
    rig.go(moved((4.9e-3, 0.0, 0.0)), 3)
    assert not rig.robot.cycle.stopped
    rig.go(moved((4.9e-3, 4.9e-3, 4.9e-3)), 3)
    assert rig.robot.cycle.stopped == "correction too large" and rig.robot.cut_off == 0
    rig = Answered(correction_turn_limit=1.0)
    rig.go(moved(NONE, (0.0, 0.0, math.radians(5.9))), 3)
    assert not rig.robot.cycle.stopped
    rig.go(moved(NONE, (0.0, 0.0, math.radians(6.1))), 3)
    assert rig.robot.cycle.stopped == "correction too large"


def test_kuka_tells_tenths_and_the_programmed_pose():
    rig = Answered()
    rig.go(moved((1.234e-3, -4e-5, 0.0), (0.0, 0.0, math.radians(0.26))), 10)
    pose, packet = rig.told[-1]
    np.testing.assert_allclose(pose.position, (0.5012, 0.0, 0.9), rtol=0, atol=1e-12)
    assert b'<RIst X="501.2" Y="0.0" Z="900.0" A="6.0" B="0.0" C="0.0"/>' in packet  # 5.7296° + 0.26° = 5.99°
    assert all(b'<RSol X="500.0" Y="0.0" Z="900.0" A="5.7" B="0.0" C="0.0"/>' in each for _, each in rig.told)


def test_kuka_stops_after_ten_cycles_without_an_answer_and_its_clock_wraps():
    rig = Answered(first_ipoc=2**32 - 12)
    rig.go(moved(NONE), 20)
    assert len(rig.told) == 20 and rig.codec.counts.lost == 0
    assert [pose.sequence for pose, _ in rig.told] == [2**32 - 12 + 4 * step for step in range(20)]
    silent = [rig.robot.tick(PERIOD * (20 + cycle), START) for cycle in range(20)]
    assert [bool(each) for each in silent] == [True] * 10 + [False] * 10
    assert rig.robot.cycle.stopped == "late answers"


class Guided:
    """An ABB robot that lags `behind` (m) the reference of the cycle before along x."""

    def __init__(self, **changed):
        self.robot = emulate_egm(CycleSettings(PERIOD, 250, in_a_row=True), START, Convergence(**changed))
        self.codec, self.cycle, self.told = EGM(), 0, []

    def go(self, cycles, wanted, behind=0.0, answered=True):
        for _ in range(cycles):
            x, y, z = self.robot.cycle.setpoint.position
            for packet in self.robot.tick(PERIOD * self.cycle, ToolPose((x - behind, y, z), START.rotation_vector)):
                self.told.append(self.codec.decode_robot(packet))
                if answered:
                    self.robot.receive(PERIOD * self.cycle + 0.001, self.codec.encode_command(wanted(self.cycle)))
            self.cycle += 1


def test_abb_ends_a_motion_that_has_converged():
    """A robot less than 1 mm behind its reference for 1 s: also while it moves, here at 25 mm/s, 0.1 mm a cycle; farther
    behind it goes on."""

    def moving(cycle):
        return ToolCommand((0.5 + 1e-4 * cycle, 0.0, 0.9), START.rotation_vector)

    rig = Guided()
    rig.go(600, moving, behind=1.0e-3)
    assert not rig.robot.cycle.stopped
    rig.go(249, moving, behind=0.8e-3)
    assert not rig.robot.cycle.stopped
    rig.go(2, moving, behind=0.8e-3)
    assert rig.robot.cycle.stopped == "converged"
    rig = Guided(distance=1e-12)
    rig.go(1000, moving, behind=1e-6)
    assert not rig.robot.cycle.stopped


def test_abb_waits_a_second_for_a_message_and_counts_from_zero_in_each_session():
    """Until then it stands at its last reference, and tells where it is: its silence is no sign."""
    rig = Guided(time=60.0)
    rig.go(50, lambda cycle: ToolCommand((0.5 + 1e-4 * cycle, 0.0, 0.9), START.rotation_vector))
    last = rig.robot.cycle.wanted
    rig.go(249, None, answered=False)
    assert rig.robot.cycle.setpoint == last and len(rig.told) == 299
    rig.go(2, None, answered=False)
    assert rig.robot.cycle.stopped == "late answers"
    assert [pose.sequence for pose in rig.told[:3]] == [0, 1, 2]
    rig.robot.reconnect(PERIOD * rig.cycle, START)
    rig.go(3, lambda cycle: ToolCommand(START.position, START.rotation_vector))
    assert [pose.status for pose in rig.told[-3:]] == [NEW_SESSION, 0, 0]


@pytest.mark.parametrize("queued", [True, False])
@pytest.mark.parametrize("seed", range(6))
def test_abb_takes_one_of_the_commands_that_wait_in_each_cycle(seed, queued):
    """As many as come, here none to three: the next one, so that what came in excess of a cycle keeps all behind it late; or
    the newest, which leaves the others out."""
    chance = np.random.default_rng(seed)
    robot, codec = emulate_egm(CycleSettings(PERIOD, 1000), START, Convergence(time=60.0), queued), EGM()
    waiting, reference, sent, most = [], START.position[0], 0, 0
    for cycle in range(200):
        robot.tick(PERIOD * cycle, START)
        assert robot.cycle.setpoint.position[0] == pytest.approx(reference, abs=1e-12)
        for _ in range(chance.choice(4, p=[0.3, 0.45, 0.2, 0.05])):
            sent += 1
            robot.receive(PERIOD * cycle + 0.001, codec.encode_command(ToolCommand((0.5 + 1e-4 * sent, 0.0, 0.9))))
            waiting.append(0.5 + 1e-4 * sent)
        if not queued:
            del waiting[:-1]
        assert robot.cycle.queued == max(len(waiting) - 1, 0)
        most = max(most, robot.cycle.queued)
        if waiting:
            reference = waiting.pop(0)
    assert (most > 1) == queued


@pytest.mark.parametrize(("measured", "sound"), [(488.0, False), (976.0, False), (1953.0, True), (7912.0, True)])
def test_ati_tells_a_measurement_twice_where_it_measures_more_seldom_than_it_tells(measured, sound):
    """The rates of an Axia, records at 1 kHz: which measurement is the newest at each of them says who repeats one."""
    sensor, client = EmulatedNetFT(rate=1000.0, internal_rate=measured), NetFT(NetFTSettings())
    sensor.receive(0.0, client.encode_request(RequestCommand.REAL_TIME))
    found = [client.decode_record(each) for step in range(500) for each in sensor.tick(1e-3 * step, NONE, NONE)]
    assert ({reading.status for reading in found} == {0}) == sound


@pytest.mark.parametrize("rate", [250.0, 1000.0, 3500.0])
def test_ati_counts_what_it_measures(rate):
    """7000 a second from when its power is on, whatever is asked for; a stalled one repeats its last measurement."""
    sensor, client = EmulatedNetFT(rate=rate), NetFT(NetFTSettings())
    sensor.receive(2.0, client.encode_request(RequestCommand.REAL_TIME))
    told = [packet for step in range(20) for packet in sensor.tick(2.0 + step / rate, (float(step), 0.0, 0.0), NONE)]
    counted = [int.from_bytes(packet[4:8]) for packet in told]
    assert counted == [round(7000 * (2.0 + step / rate)) + 1 for step in range(20)]
    assert [client.decode_record(packet).status for packet in told] == [0] * 20
    sensor.stall(True)
    (packet,) = sensor.tick(2.0 + 20 / rate, (99.0, 0.0, 0.0), NONE)
    reading = client.decode_record(packet)
    assert reading.force[0] == 19.0 and reading.status == FT_STALLED
    sensor.stall(False)
    (packet,) = sensor.tick(2.0 + 21 / rate, (99.0, 0.0, 0.0), NONE)
    assert client.decode_record(packet).status == 0
    sensor.restart(3.0)
    sensor.receive(4.0, NetFT(NetFTSettings()).encode_request(RequestCommand.REAL_TIME))
    (packet,) = sensor.tick(4.0, NONE, NONE)
    assert int.from_bytes(packet[4:8]) == 7001
