"""ABB EGM: bytes by hand, what the library of protocol buffers writes, and what is refused by which name."""

import random
import struct

import pytest

from dockdyn.realtime.devices.device import BadPacket, PacketError, ToolCommand, ToolPose
from dockdyn.realtime.devices.egm import EGM, NEW_SESSION

TURN = (1.0, 0.0, 0.0, 0.0)


def doubles(*values):
    """Fields 1, 2, … of doubles: the tag is 8 × number + 1."""
    return b"".join(struct.pack("<Bd", 8 * number + 1, value) for number, value in enumerate(values, 1))


def inner(number, content):
    """A delimited field shorter than 128 bytes: the tag is 8 × number + 2."""
    return bytes([8 * number + 2, len(content)]) + content


def message(
    sequence=b"\x08\x07", clock=b"\x90\x03", type=b"\x18\x02", position=(500.0, -250.0, 1500.0), turn=TURN, more=b""
):
    pose = inner(1, doubles(*position)) + inner(2, doubles(*turn))
    joints = inner(1, b"".join(struct.pack("<Bd", 9, each) for each in (10.0, -90.0)))
    motion = joints + inner(2, pose)
    return inner(1, sequence + b"\x10" + clock + type) + inner(2, motion) + more


STATES = inner(4, b"\x08\x01") + inner(5, b"\x08\x03") + inner(8, b"\x08\x02")


def test_a_message_by_hand():
    pose = EGM().decode_robot(message(more=STATES))
    assert pose.position == (0.5, -0.25, 1.5) and pose.rotation_vector == (0.0, 0.0, 0.0)
    assert (
        pose.joints[:2] == pytest.approx((0.17453292519943295, -1.5707963267948966)) and pose.joints[2:] == (0.0,) * 6
    )
    assert (pose.sequence, pose.status) == (7, 0)
    assert EGM().decode_robot(message()).status == 7  # it tells none of its states


def test_a_command_by_hand():
    expected = inner(1, b"\x08\x01\x10\x90\x03\x18\x03")
    expected += inner(2, inner(2, inner(1, doubles(500.0, 0.0, -1.0)) + inner(2, doubles(*TURN))))
    codec = EGM()
    assert codec.encode_command(ToolCommand((0.5, 0.0, -0.001)), 400) == expected
    assert codec.decode_command(expected) == (ToolCommand((0.5, 0.0, -0.001), (0.0, 0.0, 0.0)), 1)
    assert codec.encode_command(ToolCommand(), 404)[2:4] == b"\x08\x02"


def test_a_robot_comes_back():
    pose = ToolPose((0.1, 0.2, -0.3), (0.3, -0.2, 2.0), (0.1, 0.2, 0.3, -0.4, 0.5, -0.6, 0.0, 0.0), 41, 5)
    told = EGM().decode_robot(EGM().encode_robot(pose, 8))
    assert told.position == pytest.approx(pose.position, rel=1e-14)
    assert told.rotation_vector == pytest.approx(pose.rotation_vector, rel=1e-14)
    assert told.joints == pytest.approx(pose.joints, rel=1e-14)
    assert (told.sequence, told.status) == (41, 5)


@pytest.mark.parametrize(
    ("packet", "error"),
    [
        (b"", "WRONG_LENGTH"),
        (bytes(1473), "WRONG_LENGTH"),
        (b"<Rob>", "MALFORMED"),
        (message()[:-1], "MALFORMED"),
        (b"\x0b", "MALFORMED"),
        (message(sequence=b""), "MISSING_FIELD"),
        (message(type=b""), "WRONG_HEADER"),
        (message(type=b"\x18\x03"), "WRONG_HEADER"),
        (message(position=(1.0, 2.0)), "MISSING_FIELD"),
        (message(turn=()), "MISSING_FIELD"),
        (message(position=(1.0, float("nan"), 0.0)), "NOT_A_NUMBER"),
        (message(position=(1.0, 1e300, 0.0)), "OUT_OF_RANGE"),
        (message(turn=(0.5, 0.0, 0.0, 0.0)), "OUT_OF_RANGE"),
        (STATES, "MISSING_FIELD"),
    ],
)
def test_bad_messages_have_a_name(packet, error):
    codec = EGM()
    with pytest.raises(BadPacket, match=PacketError[error].words):
        codec.decode_robot(packet)
    assert codec.counts.bad[PacketError[error]] == 1


def test_a_message_twice_is_stale():
    codec = EGM()
    codec.decode_robot(message())
    with pytest.raises(BadPacket, match="stale"):
        codec.decode_robot(message())
    codec.decode_robot(message(sequence=b"\x08\x0a"))
    assert codec.counts.lost == 2
    codec.forget()
    assert codec.decode_robot(message()).sequence == 7


def varint(number):
    """Seven bits a byte, the lowest first; the highest bit says that more follow."""
    return bytes([number & 127 | 128]) + varint(number >> 7) if number > 127 else bytes([number])


def numbered(number, milliseconds=400, more=STATES):
    return message(sequence=b"\x08" + varint(number), clock=varint(milliseconds), more=more)


@pytest.mark.parametrize("seed", range(10))
def test_a_robot_that_counts_from_zero_again_has_begun_a_session(seed):
    """Told once, in the first pose of it, as a status that stops a rig; what follows is sound, and never stale. Messages of
    this session that come again are, the first one too."""
    chance = random.Random(seed)
    codec, before, again, milliseconds = EGM(), -1, 0, chance.randrange(2**32)
    for _ in range(5):
        begun, session = 0 if before < 0 else NEW_SESSION, []
        for number in range(chance.randrange(2, 40)):
            session.append(numbered(number, milliseconds % 2**32))
            pose = codec.decode_robot(session[-1])
            assert pose.status == (begun if number == 0 else 0) and pose.sequence > before
            before, milliseconds = pose.sequence, milliseconds + 4
            with pytest.raises(BadPacket, match="stale"):
                codec.decode_robot(chance.choice(session))
            again += 1
        with pytest.raises(BadPacket, match="stale"):
            codec.decode_robot(session[0])
        again, milliseconds = again + 1, milliseconds + chance.randrange(1, 10**6)
    assert codec.counts.lost == 0 and sum(codec.counts.bad.values()) == again


def test_a_counter_that_wraps_begins_no_session():
    """2³² messages are 198 days of 4 ms; a zero that is lost or comes twice is nothing else than any other number."""
    codec = EGM()
    told = [codec.decode_robot(numbered(number)) for number in (2**32 - 2, 2**32 - 1, 0, 1, 2)]
    assert [pose.status for pose in told] == [0] * 5
    assert [pose.sequence for pose in told] == [2**32 - 2 + step for step in range(5)]
    codec = EGM()
    codec.decode_robot(numbered(0))
    with pytest.raises(BadPacket, match="stale"):
        codec.decode_robot(numbered(0))


def external(*values):
    """More of the feedback: its field 3, joints of external axes."""
    return inner(2, inner(3, b"".join(struct.pack("<Bd", 9, each) for each in values)))


def test_the_joints_of_seven_axes_are_all_told():
    """The seventh comes as the first external one; what finds no place is refused, unless it says that nothing is there."""
    pose = EGM().decode_robot(message(more=external(30.0)))
    assert pose.joints[:4] == pytest.approx((0.17453292519943295, -1.5707963267948966, 0.5235987755982988, 0.0))
    robot = EGM().encode_robot(ToolPose(joints=(0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.0, 0.0)), 0)
    told = EGM().decode_robot(robot + external(57.29577951308232, 5.0, 0.0, 0.0, 0.0, 0.0)).joints
    assert told == pytest.approx((0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 1.0, 0.08726646259971647))
    for axes in ((1.0, 2.0, 3.0), (0.0, 0.0, 0.0, 0.0, 0.0, 1e-3)):
        with pytest.raises(BadPacket, match="out-of-range"):
            EGM().decode_robot(robot + external(*axes))
