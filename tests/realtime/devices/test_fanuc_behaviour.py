"""A FANUC robot beside its bytes: queue, versions, cycles, extended axes, and what counts as not waiting for commands."""

import random
import struct
from itertools import pairwise

import numpy as np
import pytest

from dockdyn.realtime.devices.device import BadPacket, ToolCommand, ToolPose
from dockdyn.realtime.devices.emulated.fanuc import EmulatedFanuc
from dockdyn.realtime.devices.fanuc import (
    GRACE,
    NOT_READY,
    NOT_WAITING,
    Fanuc,
    FanucBehaviour,
    FanucRequest,
    FanucSettings,
    stop_distance,
)

START = ToolPose((0.5, 0.0, 0.9), (0.0, 0.0, 0.1))
PERIOD = 0.008  # s
SINGLE = 3.1e-8  # m: 500 mm times 2⁻²⁴


def command(cycle):
    return ToolCommand((0.5 + 1e-4 * cycle, 0.0, 0.9), (0.0, 0.0, 0.1))


def status(sequence, time=0, state=5, version=1, extended=(0.0, 0.0, 0.0)):
    """A message of a robot, by struct."""
    head = struct.pack(">III B B HHH I", 0, version, sequence, state, 0, 0, 0, 0, time)
    return head + struct.pack(">9f 9f 9f", 500.0, 0.0, 900.0, 0.0, 0.0, 5.0, *extended, *range(9), *range(9))


def sent(codec, wanted):
    """What goes out for a message: those before, then the command; each as (sequence, x, E1 to E3)."""
    packets = []
    while packet := codec.encode_fill(wanted):
        packets.append(packet)
    packets.append(codec.encode_command(wanted))
    return [
        (int.from_bytes(each[8:12]), *struct.unpack(">9f", each[28:])[::6], *struct.unpack(">3f", each[52:])[1:])
        for each in packets
    ]


def numbers(codec, wanted):
    return [number for number, *_ in sent(codec, wanted)]


def pair(settings=None, **behaviour):
    settings = settings or FanucSettings(cycle=8)
    robot, codec = EmulatedFanuc(settings, PERIOD, START, FanucBehaviour(**behaviour)), Fanuc(settings)
    for _ in range(settings.version):
        if request := codec.encode_next_request():
            for answer in robot.receive(0.0, request):
                with pytest.raises(BadPacket):
                    codec.decode_robot(answer)
    return robot, codec


def run(robot, codec, cycles, answered=lambda cycle: True, wanted=command):
    """Lockstep: the setpoints of the cycles and what the robot told."""
    reached, told = [], []
    for cycle in range(cycles):
        place = robot.cycle.setpoint
        packets = robot.tick(PERIOD * cycle, ToolPose(place.position, place.rotation_vector))
        reached.append(robot.cycle.setpoint.position[0])
        for packet in packets:
            told.append(codec.decode_robot(packet).status)
            if answered(cycle):
                before = []
                while fill := codec.encode_fill(wanted(cycle + 1)):
                    before.append(fill)
                for each in (*before, codec.encode_command(wanted(cycle + 1))):
                    robot.receive(PERIOD * cycle + 0.001, each)
    return np.array(reached), told


def test_a_command_moves_the_robot_one_cycle_later_and_none_is_late():
    robot, codec = pair()
    reached, _ = run(robot, codec, 50)
    np.testing.assert_allclose(reached, [0.5, *(0.5 + 1e-4 * k for k in range(1, 50))], atol=SINGLE)
    assert robot.cycle.late == 0 and not robot.cycle.stopped and not robot.ignored


def test_a_cycle_without_an_answer_stops_a_robot_with_nothing_in_its_queue():
    robot, codec = pair()
    reached, _ = run(robot, codec, 30, lambda cycle: cycle != 19)
    assert robot.cycle.stopped == "no command in the queue" and robot.cycle.late == 1
    assert (reached[20:] == reached[19]).all()


@pytest.mark.parametrize("lead", [1, 3, 8])
def test_what_is_sent_in_advance_is_how_many_cycles_may_be_missed(lead):
    """The path comes so many cycles later; a gap of that length is refilled and leaves no trace, one more stops the robot."""
    settings = FanucSettings(cycle=8, lead=lead)
    robot, codec = pair(settings)
    reached, _ = run(robot, codec, 60)
    expected = [0.5] + [0.5 + 1e-4] * (lead + 1) + [0.5 + 1e-4 * k for k in range(2, 60 - lead)]
    np.testing.assert_allclose(reached, expected, atol=SINGLE)
    robot, codec = pair(settings)
    reached, _ = run(robot, codec, 60, lambda cycle: not 20 <= cycle < 20 + lead)
    assert not robot.cycle.stopped and robot.cycle.late == 0
    assert np.abs(np.diff(reached)).max() < 1e-4 * (lead + 1) + SINGLE
    assert reached[-1] == pytest.approx(0.5 + 1e-4 * (59 - lead), abs=SINGLE)  # no delay is left over
    robot, codec = pair(settings)
    run(robot, codec, 60, lambda cycle: not 20 <= cycle < 21 + lead)
    assert robot.cycle.stopped == "no command in the queue"


@pytest.mark.parametrize("lead", [0, 2])
@pytest.mark.parametrize("coast", [0.0, 0.12])
def test_how_far_it_goes_on_once_commands_fail(lead, coast):
    """The command that it has, those in advance and at its last speed for a while: v (lead + 1) h + v c."""
    settings, speed = FanucSettings(cycle=8, lead=lead), 1e-4 / PERIOD
    robot, codec = pair(settings, coast=coast)
    reached, _ = run(robot, codec, 100, lambda cycle: cycle < 40)
    far, rounding = (
        reached[-1] - reached[39],
        SINGLE * (2 + coast / PERIOD),
    )  # that of the last step counts in each cycle
    assert far == pytest.approx(stop_distance(speed, settings, PERIOD, coast), abs=rounding)


@pytest.mark.parametrize("seed", range(30))
def test_there_is_a_command_for_every_message_however_many_are_missed(seed):
    """Sequences have no gap; behind each answer the last one is that of the message, and so many more as are in advance."""
    chance = random.Random(seed)
    lead, number = chance.randrange(0, 9), chance.choice((5, 2**32 - 20, 2**31 - 20))
    codec, gone, targets = Fanuc(FanucSettings(lead=lead)), [], []
    for answer in range(60):
        codec.decode_robot(status(number % 2**32))
        found = sent(codec, command(answer))
        gone += [each[0] for each in found]
        targets += [each[1] for each in found]
        assert gone[-1] == (number + lead) % 2**32 and len(found) <= 10
        number += chance.choice((1, 1, 1, 2, 5, 9))
    assert {(b - a) % 2**32 for a, b in pairwise(gone)} == {1}
    steps = np.diff(targets)
    assert (steps >= 0).all() and steps.max() <= 0.1001  # a fill is the last command again: mm


def test_after_a_long_silence_no_more_is_sent_than_a_queue_holds():
    codec = Fanuc()
    codec.decode_robot(status(10))
    assert numbers(codec, command(1)) == [10]
    codec.decode_robot(status(1000))
    assert numbers(codec, command(2)) == list(range(991, 1001))


def test_extended_axes_are_sent_where_they_were_before_the_first_command():
    """Not where they are told to be later: a servo's lag would make them creep. Zeros would move them."""
    codec = Fanuc()
    codec.decode_robot(status(1, extended=(120.5, -45.25, 7.0)))
    codec.decode_robot(status(2, extended=(120.0, -45.0, 8.0)))
    for number in range(3, 6):
        packet = codec.encode_command(command(number))
        assert struct.unpack(">3f", packet[52:]) == (120.0, -45.0, 8.0)
        codec.decode_robot(status(number, extended=(120.1, -45.1, 8.1)))
    robot, codec = pair(extended=(120.0, -45.0, 8.0))
    run(robot, codec, 20)
    assert not robot.cycle.stopped
    robot, codec = pair(extended=(120.0, -45.0, 8.0))
    codec.decode_robot(status(1))
    robot.receive(0.0, codec.encode_command(command(1)))
    assert robot.cycle.stopped == "a step of extended axes"


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), 1e30])
def test_extended_axes_that_are_no_number_are_refused(bad):
    with pytest.raises(BadPacket, match=r"not-a-number|out-of-range"):
        Fanuc().decode_robot(status(1, extended=(0.0, bad, 0.0)))


def test_a_rig_at_rest_does_not_stop_for_a_robot_that_waits_no_more():
    """The robot tells so while it does not move; it counts before the first command, and where motion does not follow."""
    robot, codec = pair()
    rests = lambda cycle: command(min(cycle, 20) + max(cycle - 60, 0))  # noqa: E731, a path in three parts
    reached, told = run(robot, codec, 120, wanted=rests)
    assert not robot.cycle.stopped and set(told) == {0}
    assert reached[-1] == pytest.approx(0.5 + 1e-4 * (20 + 59), abs=SINGLE)
    assert robot.tick(1.0, START)[0][12] & 1
    for cycle in range(5):
        robot.receive(1.0, codec.encode_command(rests(119)))
        (packet,) = robot.tick(1.0 + PERIOD * (cycle + 1), START)
    assert packet[12] == 0b0110  # received, ready; at rest it does not wait


def test_before_the_first_command_and_for_long_while_it_is_to_move_a_robot_must_wait_for_commands():
    codec = Fanuc()
    assert codec.decode_robot(status(1, state=4)).status == NOT_WAITING
    assert codec.decode_robot(status(2, state=5)).status == 0
    found = []
    for number in range(3, 20):
        codec.encode_command(command(number))
        found.append(codec.decode_robot(status(number, state=4)).status)
    assert found == [0] * (GRACE + 1) + [NOT_WAITING] * (16 - GRACE)
    assert codec.decode_robot(status(20, state=1)).status == NOT_READY


@pytest.mark.parametrize("told", [1, 2, 3])
@pytest.mark.parametrize("asked", [1, 2, 3])
def test_a_status_of_another_version_is_read(asked, told):
    assert Fanuc(FanucSettings(asked)).decode_robot(status(7, version=told)).sequence == 7


@pytest.mark.parametrize(("version", "asked"), [(1, [0]), (2, [6, 0]), (3, [6, 7, 0])])
def test_version_and_cycle_are_asked_for_where_the_version_has_an_answer(version, asked):
    codec = Fanuc(FanucSettings(version, 8))
    requests = [codec.encode_next_request() for _ in asked]
    assert [int.from_bytes(each[:4]) for each in requests] == asked
    assert [int.from_bytes(each[4:8]) for each in requests] == [version] * len(asked)
    assert [len(each) for each in requests] == [28 if each == 7 else 8 for each in asked]
    assert codec.encode_next_request() == requests[0]


@pytest.mark.parametrize(
    ("answer", "starts"),
    [
        (struct.pack(">II", 6, 3), True),
        (struct.pack(">II", 6, 2), False),
        (struct.pack(">III", 6, 3, 0), True),
        (struct.pack(">7I", 7, 3, 1, 8, 1, 3, 1), True),
        (struct.pack(">7I", 7, 3, 1, 4, 1, 3, 1), False),
    ],
)
def test_a_robot_that_has_not_the_version_or_the_cycle_is_not_started(answer, starts):
    codec = Fanuc(FanucSettings(3, 8))
    codec.encode_next_request()
    with pytest.raises(BadPacket) as bad:
        codec.decode_robot(answer)
    assert (str(bad.value) == "other-message") == starts
    codec.encode_next_request()
    assert bool(codec.encode_next_request()) == starts


@pytest.mark.parametrize("cycle", [2, 4, 8])
def test_time_stamps_must_be_those_of_the_rig_s_cycle(cycle):
    """Another cycle would make the rig faster or slower; messages that are lost, and the wrap at 32 bits, do not."""
    chance = random.Random(cycle)
    for real in (2, 4, 8):
        codec, number, time = Fanuc(FanucSettings(cycle=cycle)), 2**32 - 5, 2**32 - 20
        codec.decode_robot(status(number, time))
        for _ in range(20):
            step = chance.choice((1, 1, 1, 3))
            number, time = (number + step) % 2**32, (time + step * real) % 2**32
            if real == cycle:
                codec.decode_robot(status(number, time))
                continue
            with pytest.raises(BadPacket, match="out-of-range"):
                codec.decode_robot(status(number, time))
            break


def test_software_without_an_answer_speaks_version_1_alone():
    robot, _ = pair(FanucSettings(2, 8), newest_version=0)
    assert robot.tick(0.0, START) == [] and robot.ignored == {"wrong-header": 1}
    robot, _ = pair(FanucSettings(1, 8), newest_version=0)
    assert len(robot.tick(0.0, START)) == 1


def test_a_robot_takes_no_more_than_its_queue_holds_and_begins_with_so_many():
    robot, codec = pair(packet_stack=3, start_move=3)
    codec.decode_robot(robot.tick(0.0, START)[0])
    for number in range(2):
        robot.receive(0.001, codec.encode_command(command(number + 1)))
    robot.tick(PERIOD, START)
    assert robot.cycle.waiting and robot.cycle.setpoint.position == START.position
    for number in range(2, 5):
        robot.receive(PERIOD + 0.001, codec.encode_command(command(number + 1)))
    assert robot.ignored == {"queue full": 2}
    robot.tick(2 * PERIOD, START)
    assert robot.cycle.setpoint.position[0] == pytest.approx(0.5001, abs=SINGLE)


@pytest.mark.parametrize("refills", [False, True])
def test_a_number_that_is_lost_on_the_way_is_filled_where_the_controller_does_so(refills):
    robot, codec = pair(FanucSettings(cycle=8, lead=1), refills=refills)
    lost = lambda cycle: cycle % 10 != 5  # noqa: E731
    for cycle in range(40):
        (packet, *_) = robot.tick(PERIOD * cycle, START) or [b""]
        if robot.cycle.stopped:
            break
        codec.decode_robot(packet)
        while fill := codec.encode_fill(command(cycle)):
            robot.receive(PERIOD * cycle, fill)
        answer = codec.encode_command(command(cycle))
        if lost(cycle):
            robot.receive(PERIOD * cycle, answer)
    assert bool(robot.cycle.stopped) != refills


def test_it_waits_for_the_first_command_and_ends_with_the_last():
    robot, codec = pair()
    told = [packet for cycle in range(20) for packet in robot.tick(PERIOD * cycle, START)]
    assert len(told) == 20 and robot.cycle.late == 0
    for packet in told:
        codec.decode_robot(packet)
    robot.receive(0.159, codec.encode_command(command(1), last=True))
    assert [len(robot.tick(0.16 + PERIOD * cycle, START)) for cycle in range(20)] == [1] * 20
    assert not robot.cycle.stopped and robot.cycle.setpoint.position[0] == pytest.approx(0.5001, abs=SINGLE)
    robot.receive(0.4, codec.encode_request(FanucRequest.STOP))
    assert robot.tick(0.5, START) == []


@pytest.mark.parametrize("silent", [False, True])
def test_a_robot_that_has_stopped_goes_on_telling_unless_it_is_silent(silent):
    robot, codec = pair(silent_when_stopped=silent)
    run(robot, codec, 5)
    robot.stop("emergency stop")
    told = robot.tick(0.1, START)
    assert bool(told) != silent
    if told:
        assert codec.decode_robot(status(100, 800, told[0][12])).status & NOT_READY
    robot.receive(0.1, b"")
    assert robot.ignored["stopped"] == 1
    robot.reconnect(1.0, START)
    assert not robot.cycle.stopped and robot.tick(1.0, START) == []
    robot.receive(1.0, codec.encode_request(FanucRequest.START))
    assert len(robot.tick(1.0, START)) == 1


def test_bad_commands_are_counted_by_their_names():
    robot, codec = pair()
    codec.decode_robot(robot.tick(0.0, START)[0])
    answer = codec.encode_command(command(1))
    for packet in (answer[:-1], b"", answer, answer):
        robot.receive(0.001, packet)
    assert robot.ignored == {"wrong-length": 2, "stale": 1}
