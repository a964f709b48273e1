"""Universal Robots: bytes of the maker's own tests, packages by struct, streams in pieces, and a robot that is not there."""

import struct

import numpy as np
import pytest

from dockdyn.realtime.devices.device import BadPacket, PacketError, Reading, ToolCommand, ToolPose
from dockdyn.realtime.devices.emulated.rtde import EmulatedUR
from dockdyn.realtime.devices.rtde import (
    EMERGENCY_STOP,
    NO_PROGRAM,
    OUTPUTS,
    PAUSE,
    PROTECTIVE_STOP,
    RTDE,
    SETUP_OUTPUTS,
    START,
    RTDESettings,
    URBehaviour,
    open_package,
    split_packages,
    write_package,
)

START_POSE = ToolPose((0.4, 0.1, 0.5), (0.0, 3.0, 0.0), (0.0, -1.5, 1.5, 0.0, 1.5, 0.0, 0.0, 0.0))
NAMES = b"timestamp,actual_TCP_pose,actual_q,actual_TCP_force,robot_status_bits,safety_status_bits"
TYPES = b"DOUBLE,VECTOR6D,VECTOR6D,VECTOR6D,UINT32,UINT32"


def test_packages_of_the_maker_s_library():
    """Requests and a data package as the tests of its client library have them (docs/devices.md)."""
    asked = bytes.fromhex("001d4f 407f400000000000 61637475616c5f71 2c 61637475616c5f7164")
    assert write_package(SETUP_OUTPUTS, struct.pack(">d", 500.0) + b"actual_q,actual_qd") == asked
    assert write_package(SETUP_OUTPUTS, b"actual_q,actual_qd") == bytes.fromhex(
        "00154f 61637475616c5f71 2c 61637475616c5f7164"
    )
    assert write_package(ord("U"), bytes.fromhex("01 00000001")) == bytes.fromhex("0008550100000001")
    stamp = bytes.fromhex("40d0758c49ba5e35")  # which they read as 16854.1919 s within 0.1 ms
    told = RTDE(RTDESettings()).encode_data(16854.192, START_POSE, Reading())
    assert told[4:12] == stamp and RTDE().decode_data(told)[0].sequence == 8427096


def settings(version):
    """Of an e-Series that sends as fast as the version lets it."""
    return RTDESettings(version, 4 if version == 1 else 1)


@pytest.mark.parametrize("version", [1, 2])
def test_requests_by_hand(version):
    rate = b"" if version == 1 else struct.pack(">d", 500.0)
    asked = RTDE(settings(version)).encode_requests()
    assert asked[0] == bytes([0, 5, 86, 0, version]) and asked[2] == bytes([0, 3, 83])
    assert asked[1] == struct.pack(">HB", 3 + len(rate) + len(NAMES), 79) + rate + NAMES


@pytest.mark.parametrize("version", [1, 2])
def test_a_package_by_hand(version):
    values = (0.4, 0.1, 0.5, 0.0, 3.0, 0.0, 0.0, -1.5, 1.5, 0.0, 1.5, 0.0, 1.0, -2.0, 3.0, 0.1, 0.2, -0.3)
    head = struct.pack(">HB", 163, 85) if version == 1 else struct.pack(">HBB", 164, 85, 1)
    packet = head + struct.pack(">d18dII", 12.5, *values, 0b11, 0b1)
    codec = RTDE(settings(version))
    pose, reading = codec.decode_data(packet)
    assert pose.position == values[:3] and pose.rotation_vector == values[3:6] and pose.joints == (*values[6:12], 0, 0)
    assert reading.force == values[12:15] and reading.torque == values[15:]
    assert (pose.sequence, pose.status, reading.status) == (6250 if version == 2 else 1562, 0, 0)
    assert codec.encode_data(12.5, pose, reading) == packet
    stopped = packet[:-8] + struct.pack(">II", 0b01, 0b10000100)
    assert RTDE(settings(version)).decode_data(stopped)[0].status == 2 | PROTECTIVE_STOP | EMERGENCY_STOP


def test_a_command_by_hand():
    """Eight whole numbers of 32 bits: the time, a millionth of m and rad each, and the mode of poses, 5."""
    expected = struct.pack(">8i", 20, 400000, -100001, 1, 0, 3141593, -2, 5)
    command = ToolCommand((0.4, -0.100001, 1.2e-6), (0.0, 3.14159265, -1.6e-6))
    codec = RTDE()
    assert codec.encode_command(command) == expected
    assert codec.decode_command(expected) == (ToolCommand((0.4, -0.100001, 1e-6), (0.0, 3.141593, -2e-6)), 20)
    for far in (2148.0, -2148.0, float("nan")):
        with pytest.raises(BadPacket, match="out-of-range"):
            codec.encode_command(ToolCommand((far, 0.0, 0.0)))


def data(time=1.0, x=0.4, recipe=1, kind=85, size=164):
    return struct.pack(">HBB", size, kind, recipe) + struct.pack(">d18dII", time, x, *(0.0,) * 17, 3, 1)


@pytest.mark.parametrize(
    ("packet", "error"),
    [
        (data()[:-1], "WRONG_LENGTH"),
        (data(size=163), "WRONG_LENGTH"),
        (data(kind=83), "WRONG_HEADER"),
        (data(kind=77), "OTHER_MESSAGE"),
        (data(recipe=2), "WRONG_HEADER"),
        (data(x=float("nan")), "NOT_A_NUMBER"),
        (data(x=1e10), "OUT_OF_RANGE"),
        (data(time=-1.0), "OUT_OF_RANGE"),
    ],
)
def test_bad_packages_have_a_name(packet, error):
    codec = RTDE()
    with pytest.raises(BadPacket, match=PacketError[error].words):
        codec.decode_data(packet)
    assert codec.counts.bad[PacketError[error]] == 1


def test_packages_that_the_robot_left_out_are_counted():
    codec = RTDE()
    for time in (1.0, 1.002, 1.008):
        codec.decode_data(data(time))
    assert codec.counts.lost == 2
    with pytest.raises(BadPacket, match="stale"):
        codec.decode_data(data(1.008))


def test_a_stream_comes_in_pieces():
    stream = write_package(START) + write_package(SETUP_OUTPUTS, b"abc") + write_package(PAUSE)
    found, rest = [], b""
    for byte in stream:
        packages, rest = split_packages(rest + bytes([byte]))
        found += packages
    assert b"".join(found) == stream and len(found) == 3 and not rest
    with pytest.raises(BadPacket, match="wrong-length"):
        split_packages(b"\x00\x02\x55")


def connect(version=2, newest=2, **behaviour):
    robot, client = (
        EmulatedUR(START_POSE, URBehaviour(newest_version=newest, text_period=1e9, **behaviour)),
        RTDE(settings(version)),
    )
    for request in client.encode_requests():
        for answer in robot.receive(0.0, request):
            client.decode_answer(answer)
    return robot, client


@pytest.mark.parametrize(("version", "rate"), [(1, 125), (2, 500)])
def test_a_robot_tells_where_it_is_at_the_rate_of_the_version(version, rate):
    robot, client = connect(version)
    told = [packet for step in range(1000) for packet in robot.tick(0.001 * step, START_POSE, Reading((1.0, 2.0, 3.0)))]
    assert len(told) == rate
    poses = [client.decode_data(packet) for packet in told]
    assert client.counts.lost == 0 and poses[-1][1].force == (1.0, 2.0, 3.0)
    assert all(pose.position == START_POSE.position and pose.status == 0 for pose, _ in poses)
    robot.receive(1.0, write_package(PAUSE))
    assert robot.tick(1.0, START_POSE, Reading()) == []


def test_what_a_robot_has_not_is_refused():
    with pytest.raises(BadPacket, match="wrong-header"):
        connect(version=2, newest=1)
    robot, client = EmulatedUR(START_POSE), RTDE()
    robot.receive(0.0, client.encode_requests()[0])
    (answer,) = robot.receive(0.0, write_package(SETUP_OUTPUTS, struct.pack(">d", 500.0) + b"timestamp,actual_wish"))
    assert open_package(answer) == (SETUP_OUTPUTS, b"\x00DOUBLE,NOT_FOUND")
    with pytest.raises(BadPacket, match="missing-field"):
        client.decode_answer(answer)
    (answer,) = robot.receive(0.0, write_package(START))
    with pytest.raises(BadPacket, match="wrong-header"):
        client.decode_answer(answer)
    robot.receive(0.0, b"\x00\x01")
    assert robot.ignored == {"wrong-length": 1}
    assert list(OUTPUTS.values()) == TYPES.decode().split(",")


def test_commands_move_the_robot_and_their_absence_stops_it():
    """Commands of 20 ms in pieces of a stream; then none, and the end of the program, which the packages tell."""
    robot, client = connect(extrapolates=False, stopping=1e9)
    reached, stream = [], b""
    for step in range(100):
        wanted = ToolCommand((0.4 + 1e-4 * step, 0.1, 0.5), START_POSE.rotation_vector)
        stream += client.encode_command(wanted) if step < 50 else b""
        piece, stream = stream[:20], stream[20:]
        robot.receive_commands(0.002 * step, piece)
        for packet in robot.tick(0.002 * step, START_POSE, Reading()):
            reached.append((robot.cycle.setpoint.position[0], client.decode_data(packet)[0].status))
    where, status = np.transpose(reached)
    assert len(reached) == 100 and robot.cycle.stopped == "no commands"
    assert max(np.diff(where)) < 1.01e-4 and where[-1] == pytest.approx(0.4 + 49e-4, abs=1e-6)
    assert set(status[:60]) == {0} and status[-1] == NO_PROGRAM
    robot.receive_commands(0.3, client.encode_command(ToolCommand()))
    assert robot.ignored["stopped"] == 1
    robot.reconnect(1.0, START_POSE)
    assert not robot.cycle.stopped and robot.status == 0


def test_an_emergency_stop_is_told():
    robot, client = connect()
    robot.tick(0.0, START_POSE, Reading())
    robot.stop("emergency stop")
    robot.stop("another")
    (packet,) = robot.tick(0.01, START_POSE, Reading())
    assert client.decode_data(packet)[0].status == EMERGENCY_STOP and robot.cycle.stopped == "emergency stop"


def test_bad_commands_are_counted_by_their_names():
    robot, _ = connect()
    robot.receive_commands(0.0, struct.pack(">8i", 20, 0, 0, 0, 0, 0, 0, 1) + struct.pack(">8i", -1, *(0,) * 6, 5))
    assert robot.ignored == {"wrong-header": 1, "out-of-range": 1}
