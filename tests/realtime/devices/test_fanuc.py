"""FANUC Stream Motion: bytes by struct, W P R, sequences, and what is refused by which name."""

import struct

import pytest
from scipy.spatial.transform import Rotation

from dockdyn.realtime.devices.device import BadPacket, PacketError, ToolCommand, ToolPose
from dockdyn.realtime.devices.fanuc import Fanuc, FanucRequest


def status(sequence=5, state=0b0101, version=1, type=0, frame=(500.0, -250.0, 1500.0, 10.0, 20.0, 30.0)):
    """As the tables of the manual have it: head, sequence, state, an I/O of 7 bytes, time, frame, joints, currents."""
    head = struct.pack(">III B B HHH I", type, version, sequence, state, 2, 1, 3, 4, 1234)
    return head + struct.pack(">9f 9f 9f", *frame, 1, 2, 3, *(90.0, -45.0, 0.5, 0, 0, 0, 7, 8, 9), *range(9))


def test_a_status_by_hand():
    packet = status()
    assert len(packet) == 132
    pose = Fanuc().decode_robot(packet)
    assert pose.position == (0.5, -0.25, 1.5)
    turn = Rotation.from_euler("xyz", (10, 20, 30), degrees=True)  # about fixed axes, W first
    assert pose.rotation_vector == pytest.approx(tuple(turn.as_rotvec()), rel=1e-14)
    assert pose.joints[:3] == pytest.approx((1.5707963267948966, -0.7853981633974483, 0.008726646259971648))
    assert (pose.sequence, pose.status) == (5, 0)
    assert [Fanuc().decode_robot(status(state=each)).status for each in (4, 1, 0, 15)] == [1, 2, 3, 0]


def test_requests_and_a_command_by_hand():
    codec = Fanuc()
    assert codec.encode_request(FanucRequest.START) == bytes.fromhex("00000000 00000001")
    assert codec.encode_request(FanucRequest.STOP) == bytes.fromhex("00000002 00000001")
    codec.decode_robot(status(sequence=2**32 - 1))
    turn = Rotation.from_euler("xyz", (0, 0, 90), degrees=True).as_rotvec()
    head = struct.pack(">III B B HH B B HHH H", 1, 1, 2**32 - 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
    expected = head + struct.pack(">9f", 500.0, 0.0, -1.0, 0.0, 0.0, 90.0, 1.0, 2.0, 3.0)  # E1 to E3 as they were
    assert codec.encode_command(ToolCommand((0.5, 0.0, -0.001), tuple(turn))) == expected and len(expected) == 64
    codec.decode_robot(status(sequence=7))
    assert codec.encode_command(ToolCommand(), last=True)[8:13] == bytes.fromhex("00000000 01")


def test_commands_and_poses_come_back():
    """To 24 bits, in mm and degrees."""
    codec = Fanuc()
    pose = ToolPose((0.1, 0.2, -0.3), (0.3, -0.2, 2.0), (0.1, 0.2, 0.3, -0.4, 0.5, -0.6, 0.7, -0.8), 41, 3)
    told = codec.decode_robot(codec.encode_robot(pose, 8))
    assert told.position == pytest.approx(pose.position, rel=2**-24)
    assert told.rotation_vector == pytest.approx(pose.rotation_vector, abs=1e-6)
    assert told.joints == pytest.approx(pose.joints, rel=2**-24)
    assert (told.sequence, told.status) == (41, 3)
    command, last = Fanuc().decode_command(codec.encode_command(ToolCommand(pose.position, pose.rotation_vector)))
    assert command.position == told.position and command.rotation_vector == told.rotation_vector and not last


@pytest.mark.parametrize(
    ("packet", "error"),
    [
        (b"", "WRONG_LENGTH"),
        (status()[:-1], "WRONG_LENGTH"),
        (status(type=1), "WRONG_HEADER"),
        (status(version=0), "WRONG_HEADER"),
        (status(version=4), "WRONG_HEADER"),
        (status(frame=(float("nan"), 0, 0, 0, 0, 0)), "NOT_A_NUMBER"),
        (status(frame=(0, 0, 0, float("inf"), 0, 0)), "NOT_A_NUMBER"),
        (status(frame=(1e30, 0, 0, 0, 0, 0)), "OUT_OF_RANGE"),
    ],
)
def test_bad_messages_have_a_name(packet, error):
    codec = Fanuc()
    with pytest.raises(BadPacket, match=PacketError[error].words):
        codec.decode_robot(packet)
    assert codec.counts.bad[PacketError[error]] == 1


def test_commands_in_joints_and_commands_before_a_message_are_refused():
    codec = Fanuc()
    with pytest.raises(BadPacket, match="missing-field"):
        codec.encode_command(ToolCommand())
    codec.decode_robot(status())
    packet = bytearray(codec.encode_command(ToolCommand()))
    packet[18] = 1
    with pytest.raises(BadPacket, match="wrong-header"):
        Fanuc().decode_command(bytes(packet))
