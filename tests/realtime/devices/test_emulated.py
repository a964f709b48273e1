"""Emulated devices in lockstep: cycles, late answers, stops, faults of the wire and of the sensor, and that seeds repeat."""

import math
from itertools import pairwise

import numpy as np
import pytest
from codec_cases import raw_settings
from rsi_robots import emulated_rsi

from dockdyn.realtime.devices.device import BadPacket, PacketError, ToolCommand, ToolPose
from dockdyn.realtime.devices.egm import EGM
from dockdyn.realtime.devices.emulated.cycle import CycleSettings
from dockdyn.realtime.devices.emulated.netft import EmulatedNetFT
from dockdyn.realtime.devices.emulated.robot import Convergence, emulate_egm, emulate_raw_robot
from dockdyn.realtime.devices.emulated.sensor import SensorErrors, SensorSettings
from dockdyn.realtime.devices.emulated.streaming import StreamingSensor
from dockdyn.realtime.devices.emulated.wire import NetworkWire, WireSettings
from dockdyn.realtime.devices.netft import SATURATED, NetFT, NetFTSettings, RequestCommand
from dockdyn.realtime.devices.raw_udp import RawUDP, RawUDPSettings
from dockdyn.realtime.devices.rsi import RSI, RSISettings

START = ToolPose((0.5, 0.0, 0.9), (0.0, 0.0, 0.1))
RAW = RawUDPSettings(  # what the robot and the sensor send, and what the robot is sent
    raw_settings(False, "angles", "f64", "u32").received, raw_settings(True, "vector", "f64", "u16").received
)


def command(cycle):
    return ToolCommand((0.5 + 1e-4 * cycle, 0.0, 0.9), (0.0, 0.0, 0.1))


class RSIServer:
    """What answers a robot: the codec alone."""

    def __init__(self, settings):
        self.codec = RSI(settings)

    def answer(self, packet, wanted):
        self.codec.decode_robot(packet)
        return self.codec.encode_answer(wanted)


class RawServer:
    def __init__(self):
        self.codec, self.sent = RawUDP(RAW), 0

    def answer(self, packet, wanted):
        self.codec.decode_pose(packet)
        self.sent += 1
        return self.codec.encode_command(wanted, self.sent)


class EGMServer:
    def __init__(self):
        self.codec = EGM()

    def answer(self, packet, wanted):
        self.codec.decode_robot(packet)
        return self.codec.encode_command(wanted)


WIDE = {  # a robot that lets corrections pass as they are, and tells where it is with all decimals
    "in_a_row": False,
    "precision": 6,
    "correction_limit": 1.0,
    "correction_turn_limit": 3.0,
    "monitor_limit": 2.0,
    "monitor_turn_limit": 3.0,
}


def rsi_pair(relative=False, late_limit=5, **robot):
    settings = RSISettings(relative=relative)
    return emulated_rsi(settings, START, **WIDE | {"timeout": late_limit} | robot), RSIServer(settings)


def raw_pair(late_limit=5, **cycle):
    return emulate_raw_robot(RAW, CycleSettings(0.004, late_limit, **cycle), START), RawServer()


def egm_pair(late_limit=5, **cycle):
    return emulate_egm(CycleSettings(0.004, late_limit, **cycle), START, Convergence(time=60.0)), EGMServer()


PAIRS = [rsi_pair, lambda **options: rsi_pair(relative=True, **options), raw_pair, egm_pair]


def run(robot, server, cycles, answered=lambda cycle: True, reached=None):
    """Lockstep: the setpoints of the cycles; the robot is where it was to be in the cycle before."""
    for cycle in range(cycles):
        actual = ToolPose(robot.cycle.setpoint.position, robot.cycle.setpoint.rotation_vector)
        told = robot.tick(0.004 * cycle, actual)
        if reached is not None:
            reached.append(robot.cycle.setpoint.position[0])
        for packet in told:
            answer = server.answer(packet, command(cycle + 1))
            if answered(cycle):
                robot.receive(0.004 * cycle + 0.001, answer)
    return robot.cycle


@pytest.mark.parametrize("pair", PAIRS)
@pytest.mark.parametrize("after", [1, 2, 4])
def test_a_command_applies_the_stated_number_of_cycles_later(pair, after):
    """The answer to cycle k, 0.5 + 1e-4 (k + 1), is the setpoint of cycle k + `after`, to the resolution of the wire."""
    reached = []
    cycle = run(*pair(applies_after=after), 50, reached=reached)
    assert cycle.late == 0 and not cycle.stopped
    expected = [0.5] * after + [0.5 + 1e-4 * k for k in range(1, 51 - after)]
    np.testing.assert_allclose(reached, expected, atol=1e-9)


@pytest.mark.parametrize("pair", PAIRS)
def test_late_answers_stop_the_robot_where_it_is(pair):
    """Five in all; the last answer holds until then, and a robot that stopped is silent and takes nothing."""
    reached = []
    robot, server = pair()
    cycle = run(robot, server, 60, lambda cycle: cycle % 10 != 9, reached)
    assert cycle.stopped == "late answers" and cycle.late == 5
    assert reached[51:] == reached[50:-1]
    assert max(np.diff(reached)) < 2.1e-4  # it held, it did not jump
    assert robot.receive(1.0, b"") == [] and robot.ignored["stopped"] == 1
    robot.reconnect(1.0, START)
    assert not robot.cycle.stopped and robot.tick(0.999, START) == [] and len(robot.tick(1.0, START)) == 1


@pytest.mark.parametrize("pair", PAIRS)
def test_late_answers_in_a_row(pair):
    robot, server = pair(in_a_row=True)
    assert not run(robot, server, 60, lambda cycle: cycle % 5 == 0).stopped
    robot, server = pair(in_a_row=True)
    assert run(robot, server, 60, lambda cycle: cycle < 20).stopped == "late answers"


def test_an_answer_with_the_wrong_ipoc_is_late():
    robot, server = rsi_pair()
    (packet,) = robot.tick(0.0, START)
    answer = server.answer(packet, command(1))
    robot.tick(0.004, START)
    robot.receive(0.005, answer)
    assert robot.ignored == {"wrong IPOC": 1}
    (told,) = robot.tick(0.008, START)
    assert server.codec.decode_robot(told).status == 1 + 1  # neither of the two cycles was answered


def test_without_hold_a_cycle_without_an_answer_leads_back_to_the_start():
    reached = []
    run(*rsi_pair(hold=False), 10, lambda cycle: cycle != 5, reached)
    assert reached[6] == pytest.approx(0.5, abs=1e-9) and reached[5] == pytest.approx(0.5005) == reached[7] - 2e-4


def test_a_correction_that_is_too_large_stops_the_robot():
    robot, server = rsi_pair(monitor_limit=2e-3)
    cycle = run(robot, server, 60)
    assert cycle.stopped == "correction too large" and cycle.setpoint.position[0] <= 0.502 + 1e-9
    robot.cycle.stop("emergency stop")
    assert cycle.stopped == "correction too large"  # the first cause stays


@pytest.mark.parametrize("pair", PAIRS)
def test_an_emergency_stop_silences_the_robot(pair):
    robot, server = pair()
    run(robot, server, 5)
    robot.cycle.stop("emergency stop")
    assert robot.tick(0.1, START) == [] and robot.cycle.stopped == "emergency stop"


@pytest.mark.parametrize("pair", PAIRS)
def test_bad_answers_are_counted_by_their_names(pair):
    robot, server = pair()
    (packet,) = robot.tick(0.0, START)
    answer = server.answer(packet, command(1))
    robot.receive(0.001, answer[:-1])
    robot.receive(0.001, b"")
    robot.receive(0.002, answer)
    assert sum(robot.ignored.values()) == 2 and set(robot.ignored) <= {"malformed", "wrong-length"}
    robot.tick(0.004, START)
    assert robot.cycle.late == 0


def test_the_states_of_an_abb_robot_are_bits_of_its_status():
    robot, server = egm_pair()
    for cycle, bits in enumerate((0, 1, 2, 4, 7)):
        robot.status = bits
        assert server.codec.decode_robot(robot.tick(0.004 * cycle, START)[0]).status == bits


def streaming(settings=None, errors=None, **options):
    sensor = EmulatedNetFT(settings, errors, **options)
    client = NetFT(settings or NetFTSettings())
    return sensor, client


def test_a_sensor_streams_once_asked_to_and_until_told_to_stop():
    sensor, client = streaming()
    assert sensor.tick(0.0, (1.0, 0, 0), (0, 0, 0)) == []
    sensor.receive(0.0, client.encode_request(RequestCommand.REAL_TIME))
    told = [packet for step in range(100) for packet in sensor.tick(1e-3 * step, (0.001 * step, 0, 0), (0, 0, 0))]
    readings = [client.decode_record(packet) for packet in told]
    assert [each.sequence for each in readings] == list(range(1, 101))
    np.testing.assert_allclose([each.force[0] for each in readings], 1e-3 * np.arange(100), atol=0.5e-6)
    sensor.receive(0.1, client.encode_request(RequestCommand.STOP))
    assert sensor.tick(0.2, (0, 0, 0), (0, 0, 0)) == []
    sensor.receive(0.3, client.encode_request(RequestCommand.REAL_TIME, 2))
    assert [
        client.decode_record(p).sequence for t in (0.3, 0.301, 0.302) for p in sensor.tick(t, (0,) * 3, (0,) * 3)
    ] == [1, 2]
    sensor.receive(0.4, b"\x12\x34")
    assert sensor.codec.counts.bad[PacketError.WRONG_LENGTH] == 1


def test_buffered_records_come_together():
    sensor, client = streaming(buffered=5)
    sensor.receive(0.0, client.encode_request(RequestCommand.BUFFERED))
    told = [packet for step in range(20) for packet in sensor.tick(1e-3 * step, (0,) * 3, (0,) * 3)]
    assert [len(packet) for packet in told] == [180] * 4
    assert [client.decode_record(packet).sequence for packet in told] == [5, 10, 15, 20] and client.counts.lost == 0


def test_bias_drift_and_the_bias_request():
    sensor, client = streaming(errors=SensorErrors(SensorSettings(force_bias=(2.0, 0, 0), force_drift=(0, 0.5, 0))))
    sensor.receive(0.0, client.encode_request(RequestCommand.REAL_TIME))
    assert client.decode_record(sensor.tick(0.0, (1, 1, 1), (0, 0, 0))[0]).force == pytest.approx((3, 1, 1))
    sensor.receive(0.0, client.encode_request(RequestCommand.BIAS))
    told = sensor.tick(1.0, (2, 1, 1), (0, 0, 0))
    assert client.decode_record(told[-1]).force == pytest.approx((1, 0.5, 0))


def test_saturation_sets_the_bits_of_the_status():
    sensor, client = streaming(errors=SensorErrors(SensorSettings(largest_force=5.0)))
    sensor.receive(0.0, client.encode_request(RequestCommand.REAL_TIME))
    reading = client.decode_record(sensor.tick(0.0, (9.0, 0, 0), (0, 0, 0))[0])
    assert reading.force[0] == 5.0 and reading.status == 0x80020000 and reading.status & SATURATED
    assert client.decode_record(sensor.tick(0.001, (4.0, 0, 0), (0, 0, 0))[0]).status == 0
    far = client.decode_record(sensor.tick(0.002, (0, 1e7, 0), (0, 0, 1e9))[0])
    assert far.status & SATURATED and math.isfinite(far.torque[2])


def test_a_frozen_sensor_goes_on_counting_and_nan_is_told_where_the_wire_has_it():
    errors = SensorSettings(frozen=(0.01, 0.02), not_a_number=(0.03, 0.04), force_noise=0.1)
    sensor, client = StreamingSensor(RawUDP(RAW.other_side).encode_reading, SensorErrors(errors, seed=4)), RawUDP(RAW)
    told = []
    for step in range(50):
        for packet in sensor.tick(1e-3 * step, (1.0, 0, 0), (0, 0, 0)):
            try:
                told.append(client.decode_reading(packet).force[0])
            except BadPacket as bad:
                told.append(bad.error)
    assert len(set(told[9:20])) == 1 and len(set(told[:9])) == 9 and len(set(told[20:30])) == 10
    assert told[30:40] == [PacketError.NOT_A_NUMBER] * 10 and client.counts.lost == 10


def test_steps_of_a_sensor():
    errors = SensorErrors(SensorSettings(force_step=0.25, torque_step=0.1))
    force, torque = errors.measure(0.0, (0.3, -0.4, 10.0), (0.04, 0.06, 0.0))
    assert force == (0.25, -0.5, 10.0) and torque == (0.0, 0.1, 0.0)


@pytest.mark.parametrize("seed", [1, 2])
def test_a_wire_has_the_stated_shares_and_repeats_with_its_seed(seed):
    """Of n packets the share lost is within four standard deviations, √(p (1 − p)/n), of p."""
    settings = WireSettings(0.002, 0.001, loss=0.1, duplicates=0.05, reordering=0.02, overtaken_by=0.003)

    def passed():
        wire, arrivals = NetworkWire(settings, seed), []
        for number in range(4000):
            wire.send(0.001 * number, number.to_bytes(4))
            arrivals += [(number, int.from_bytes(each)) for each in wire.deliver(0.001 * number)]
        return wire, arrivals

    wire, arrivals = passed()
    assert passed()[1] == arrivals
    for found, share in ((wire.lost, 0.1), (wire.duplicated / 0.9, 0.05), (wire.overtaken / 0.9, 0.02)):
        assert abs(found / 4000 - share) < 4 * math.sqrt(share * (1 - share) / 3600)
    delays = np.array([taken - sent for taken, sent in arrivals])
    assert delays.min() >= 2 and np.percentile(delays, 90) <= 4 and delays.max() <= 8
    order = [sent for _, sent in arrivals]
    assert any(b < a for a, b in pairwise(order))


def test_without_reordering_jitter_keeps_the_order():
    wire = NetworkWire(WireSettings(0.001, 0.02), 3)
    for number in range(500):
        wire.send(0.001 * number, number.to_bytes(2))
    assert [int.from_bytes(each) for each in wire.deliver(10.0)] == list(range(500))


@pytest.mark.full_cases("<lambda>", "rsi_pair")
@pytest.mark.parametrize("pair", PAIRS)
def test_a_loop_over_bad_wires_counts_every_packet(pair):
    """What was sent is good, refused by name, or lost; what was lost is what the sequence says; no setpoint is a wrong one."""
    robot, server = pair(late_limit=10_000)
    there = NetworkWire(WireSettings(0.0005, 0.001, 0.05, 0.05, 0.05, 0.004), 1)
    back = NetworkWire(WireSettings(0.0005, 0.001, 0.05, 0.05, 0.05, 0.004), 2)
    sent, sequences = 0, []
    for step in range(8000):
        time = 0.0005 * step
        for packet in robot.tick(time, START):
            sent += 1
            there.send(time, packet)
        for packet in there.deliver(time):
            try:
                answer = server.answer(packet, ToolCommand(START.position, START.rotation_vector))
            except BadPacket:
                continue
            sequences.append(server.codec.counts.good)
            back.send(time, answer)
        for packet in back.deliver(time):
            robot.receive(time, packet)
        assert math.dist(robot.cycle.setpoint.position, START.position) < 1e-6
    counts = server.codec.counts
    assert sent == 1000 and counts.good == len(sequences) and there.lost and there.duplicated and there.overtaken
    assert counts.good + counts.bad[PacketError.STALE] + there.lost == sent + there.duplicated
    assert counts.lost == sent - counts.good
    assert 30 < robot.cycle.late < 300 and not robot.cycle.stopped
    assert set(robot.ignored) <= {"stale", "wrong IPOC"} and sum(robot.ignored.values()) > 10
