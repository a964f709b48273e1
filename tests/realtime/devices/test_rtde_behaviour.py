"""A robot of Universal Robots beside its bytes: rates, texts, what it does without commands and with targets too far."""

import math
import random
import struct

import numpy as np
import pytest

from dockdyn.realtime.devices.device import BadPacket, Reading, ToolCommand, ToolPose
from dockdyn.realtime.devices.emulated.rtde import EmulatedUR
from dockdyn.realtime.devices.rtde import (
    CB3,
    E_SERIES,
    NO_PROGRAM,
    RTDE,
    RTDESettings,
    URBehaviour,
    stop_distance,
    write_text,
)

START = ToolPose((0.4, 0.1, 0.5), (0.0, 0.3, 0.0))
CYCLE = 0.002  # s


def data(time, recipe=1, safety=1):
    """A package of a robot at rest, by struct."""
    return struct.pack(">HBB", 164, 85, recipe) + struct.pack(">d18dII", time, *(0.1,) * 18, 3, safety)


@pytest.mark.parametrize("rate", [CB3, E_SERIES])
def test_each_rate_that_a_robot_sends_at_is_read_whole(rate):
    """For a frequency f it sends each ⌊rate/f⌋ cycles (the maker's guide); from any cycle on nothing is stale, nothing lost."""
    chance = random.Random(rate)
    for wanted in range(1, rate + 1):
        cycles = rate // wanted
        settings = RTDESettings(cycles=cycles, rate=rate)
        assert math.floor(rate / settings.frequency) == cycles
        assert math.floor(np.float32(rate) / np.float32(settings.frequency)) == cycles
        codec, began = RTDE(settings), chance.randrange(10**7)
        found = [codec.decode_data(data((began + cycles * k) / rate))[0].sequence for k in range(40)]
        assert np.diff(found).tolist() == [1] * 39 and codec.counts.lost == 0


@pytest.mark.parametrize("seed", range(20))
def test_no_package_is_taken_before_its_time(seed):
    """A robot that sends faster than agreed would make the rig faster: no more are taken than there are periods."""
    chance = random.Random(seed)
    cycles = chance.randrange(2, 20)
    codec, cycle, taken = RTDE(RTDESettings(cycles=cycles)), chance.randrange(10**6), []
    began = cycle
    for _ in range(500):
        try:
            codec.decode_data(data(cycle / E_SERIES))
            taken.append(cycle)
        except BadPacket as bad:
            assert str(bad) == "stale"
        cycle += chance.randrange(1, cycles)
    assert len(taken) <= (taken[-1] - began) / cycles + 1.5
    assert len(taken) + codec.counts.lost == pytest.approx((taken[-1] - began) / cycles + 1, abs=0.51)


@pytest.mark.parametrize("version", [1, 2])
def test_a_text_between_packages_is_no_bad_pose(version):
    settings = RTDESettings(version, cycles=4)
    codec = RTDE(settings)
    texts = {1: b"\x00\x08M\x02text", 2: b"\x00\x0eM\x04text\x04from\x02"}
    assert write_text(version, "text", "from") == texts[version]
    with pytest.raises(BadPacket, match="other-message"):
        codec.decode_data(texts[version])
    assert sum(codec.counts.bad.values()) == 1


@pytest.mark.parametrize("bit", range(12))
def test_each_bit_of_safety_but_normal_and_reduced_is_told(bit):
    """Bits 2 to 11; the last one says that an enabling device is active."""
    status = RTDE().decode_data(data(1.0, safety=1 << bit))[0].status
    assert status == (1 << bit if bit >= 2 else 0)


def connected(**behaviour):
    robot, client = EmulatedUR(START, URBehaviour(**behaviour)), RTDE(RTDESettings(timeout=20))
    for request in client.encode_requests():
        for answer in robot.receive(0.0, request):
            client.decode_answer(answer)
    return robot, client


def drive(robot, client, commands, cycles):
    """Where the robot was to be at the end of each cycle, and the status that it told; it gets a command in the first ones."""
    places, told = [], []
    for cycle in range(cycles):
        time = CYCLE * cycle
        packages = robot.tick(
            time, ToolPose(robot.cycle.setpoint.position, robot.cycle.setpoint.rotation_vector), Reading()
        )
        told.append(client.decode_data(packages[-1])[0].status)
        if cycle < len(commands):
            robot.receive_commands(time, client.encode_command(commands[cycle]))
        wanted = robot.cycle.wanted
        places.append([*wanted.position, *wanted.rotation_vector])
    return np.array(places), np.array(told)


def along(speed, turn, count):
    """Commands at a speed (m/s, rad/s) along x and about y."""
    steps = CYCLE * np.arange(1, count + 1)
    return [ToolCommand((0.4 + speed * t, 0.1, 0.5), (0.0, 0.3 + turn * t, 0.0)) for t in steps]


@pytest.mark.parametrize(
    ("speed", "turn", "lever"), [(0.1, 0.0, 0.5), (0.4, 0.02, 0.5), (0.0, 0.5, 0.5), (-0.2, 0.1, 1.3)]
)
def test_without_commands_it_goes_on_until_its_patience_ends_and_then_stops(speed, turn, lever):
    """At v for 20 ms, then at 4 rad/s² times the lever: v T + v²/(2 a), but for a cycle; then no program runs."""
    robot, client = connected(lever=lever)
    places, told = drive(robot, client, along(speed, turn, 50), 400)
    x, angle = places[:, 0], places[:, 4]
    np.testing.assert_allclose(np.diff(x)[49:58], speed * CYCLE, atol=1e-6)
    assert robot.cycle.stopped == "no commands" and told[-1] == NO_PROGRAM
    joint = max(abs(speed) / lever, abs(turn))
    overrun = np.array([x[-1] - x[49], angle[-1] - angle[49]])
    expected = [part * 0.02 + part * joint / (2 * 4.0) for part in (speed, turn)]
    np.testing.assert_allclose(overrun, expected, atol=1.1 * max(abs(speed), abs(turn)) * CYCLE)
    if not turn:
        assert abs(expected[0]) == pytest.approx(stop_distance(abs(speed), 0.02, lever))
    moving = np.flatnonzero(np.abs(np.diff(places, axis=0)).max(axis=1) > 1e-9)[-1] + 1
    assert moving * CYCLE == pytest.approx(49 * CYCLE + 0.02 + joint / 4.0, abs=2.1 * CYCLE)
    assert set(told[: moving + 1]) == {0}  # the program runs until the robot rests
    robot.receive_commands(1.0, client.encode_command(ToolCommand()))
    assert robot.ignored["stopped"] == 1


def test_a_command_that_is_late_for_some_cycles_is_followed_again():
    robot, client = connected()
    commands = along(0.1, 0.0, 100)
    places = []
    for cycle in range(100):
        robot.tick(CYCLE * cycle, START, Reading())
        if not 40 <= cycle < 48:
            robot.receive_commands(CYCLE * cycle, client.encode_command(commands[cycle]))
        places.append(robot.cycle.wanted.position[0])
    np.testing.assert_allclose(np.diff(places), 0.1 * CYCLE, atol=2.1e-6)  # as if none was missing
    assert not robot.cycle.stopped


def test_it_holds_where_it_does_not_extrapolate():
    robot, client = connected(extrapolates=False)
    places, _ = drive(robot, client, along(0.1, 0.0, 50), 58)
    assert (places[50:, 0] == places[49, 0]).all()


@pytest.mark.parametrize("rate", [CB3, E_SERIES])
@pytest.mark.parametrize(("shift", "turn"), [(1.0, 0.0), (0.0, 1.0)])
def test_a_target_too_far_for_a_cycle_is_dropped(rate, shift, turn):
    """20 rad/s: of the tool 10 m/s at a lever of 0.5 m. A dropped target renews the patience, and the robot holds."""
    for part, taken in ((0.99, True), (1.01, False)):
        robot, client = EmulatedUR(START, rate=rate), RTDE()
        robot.tick(0.0, START, Reading())
        far = part * 20.0 / rate
        wanted = ToolCommand((0.4 + shift * far * 0.5, 0.1, 0.5), (0.0, 0.3 + turn * far, 0.0))
        robot.receive_commands(0.0, client.encode_command(wanted))
        assert robot.ignored["joint speed"] == (not taken)
        reached = wanted if taken else ToolCommand(START.position, START.rotation_vector)
        np.testing.assert_allclose(robot.cycle.wanted.position, reached.position, atol=1e-6)
        robot.tick(0.016, START, Reading())
        assert not robot.cycle.stopped


def test_a_patience_of_zero_has_no_end():
    robot, _ = connected()
    robot.tick(0.0, START, Reading())
    robot.receive_commands(0.0, struct.pack(">8i", 0, 400000, 100000, 500000, 0, 300000, 0, 5))
    for cycle in range(1, 1000):
        robot.tick(CYCLE * cycle, START, Reading())
    assert not robot.cycle.stopped
