"""ABB EGM: bytes by hand, what the library of protocol buffers writes, and what is refused by which name."""

from __future__ import annotations

import struct

import pytest

from dockdyn.realtime.devices.device import BadPacket, Command, PacketError, Pose
from dockdyn.realtime.devices.egm import EGM

TURN = (1.0, 0.0, 0.0, 0.0)


def doubles(*values):
    """Fields 1, 2, … of doubles: the tag is 8 × number + 1."""
    return b"".join(struct.pack("<Bd", 8 * number + 1, value) for number, value in enumerate(values, 1))


def inner(number, content):
    """A delimited field shorter than 128 bytes: the tag is 8 × number + 2."""
    return bytes([8 * number + 2, len(content)]) + content


def message(sequence=b"\x08\x07", type=b"\x18\x02", position=(500.0, -250.0, 1500.0), turn=TURN, more=b""):
    pose = inner(1, doubles(*position)) + inner(2, doubles(*turn))
    joints = inner(1, b"".join(struct.pack("<Bd", 9, each) for each in (10.0, -90.0)))
    motion = joints + inner(2, pose)
    return inner(1, sequence + b"\x10\x90\x03" + type) + inner(2, motion) + more


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
    assert codec.encode_command(Command((0.5, 0.0, -0.001)), 400) == expected
    assert codec.decode_command(expected) == (Command((0.5, 0.0, -0.001), (0.0, 0.0, 0.0)), 1)
    assert codec.encode_command(Command(), 404)[2:4] == b"\x08\x02"


def test_a_robot_comes_back():
    pose = Pose((0.1, 0.2, -0.3), (0.3, -0.2, 2.0), (0.1, 0.2, 0.3, -0.4, 0.5, -0.6, 0.0, 0.0), 41, 5)
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
