"""Recorded sessions with robots, made by rules of a second implementation, through the codecs in Python and in C."""

import numpy as np
import pytest
from c_codecs import GCC
from second_encoders import SESSIONS, place, read_session, target

from dockdyn.realtime.device_library import DeviceLibrary
from dockdyn.realtime.devices.device import BadPacket, PacketError, ToolCommand
from dockdyn.realtime.devices.fanuc import Fanuc, FanucSettings
from dockdyn.realtime.devices.rtde import PROTECTIVE_STOP, RTDE, RTDESettings
from dockdyn.realtime.exchange import Heard
from dockdyn.realtime.rig_devices import devices_of
from dockdyn.scenario.tables.rig.devices import DevicesSection

SINGLE, ANGLE = 2**-25 * 512 * 1e-3, 2**-25 * 64 * np.pi / 180  # m and rad: half of the last of 24 bits
LEFT_OUT = {"universal_robots.txt": 11, "stream_motion.txt": 6}


def wanted(step, name):
    last = 24 if name.startswith("universal") else 9
    return ToolCommand(*(tuple(part) for part in target(min(step, last))))


def steps(name):
    return [step for step in range(25 if name.startswith("universal") else 16) if step != LEFT_OUT[name]]


@pytest.mark.parametrize("name", SESSIONS)
def test_a_recorded_session_is_that_of_its_encoder(name):
    recorded, made = read_session(name), SESSIONS[name]()
    assert [each.content for each in recorded] == [each.content for each in made]
    assert [each.time for each in recorded] == pytest.approx([each.time for each in made], abs=1e-4)


def test_universal_robots_in_python():
    session, client = read_session("universal_robots.txt"), RTDE(RTDESettings(cycles=2))
    asked = [each.content for each in session if each.to_robot and each.way == "rtde"]
    assert client.encode_requests() == asked[:3]
    sent = iter([each.content for each in session if each.to_robot and each.way == "reverse"])
    found = []
    for packet in (each.content for each in session if not each.to_robot):
        if packet[2:3] in b"VOSP":
            client.decode_answer(packet)
        elif packet[2:3] == b"M":
            with pytest.raises(BadPacket, match="other-message"):
                client.decode_data(packet)
        else:
            pose, reading = client.decode_data(packet)
            step = steps("universal_robots.txt")[len(found)]
            np.testing.assert_array_equal([*pose.position, *pose.rotation_vector], np.concatenate(place(step)))
            assert reading.force == pytest.approx((1 + step, -2 - 2 * step, 3 + 3 * step))
            assert pose.status == (PROTECTIVE_STOP if step >= 23 else 0)
            found.append(pose.sequence)
            if step < 23:
                assert client.encode_command(wanted(step, "universal_robots.txt")) == next(sent)
    assert next(sent, None) is None and client.recipe == 7 and client.counts.lost == 1
    assert np.diff(found).tolist() == np.diff(steps("universal_robots.txt")).tolist()


def test_stream_motion_in_python():
    session, codec = read_session("stream_motion.txt"), Fanuc(FanucSettings(3, 8, lead=2))
    sent = iter([each.content for each in session if each.to_robot])
    for _ in range(3):
        assert codec.encode_next_request() == next(sent)
    number = 0
    for packet in (each.content for each in session if not each.to_robot):
        if len(packet) != 132:
            with pytest.raises(BadPacket, match="other-message"):
                codec.decode_robot(packet)
            continue
        step = steps("stream_motion.txt")[number]
        pose, (position, turn) = codec.decode_robot(packet), place(min(step, 10))
        np.testing.assert_allclose(pose.position, position, rtol=0, atol=SINGLE)
        np.testing.assert_allclose(pose.rotation_vector, turn, rtol=0, atol=4 * ANGLE)
        assert (pose.sequence, pose.status) == (4294967290 + step, 0)
        command = wanted(step, "stream_motion.txt")
        while fill := codec.encode_fill(command):
            same_command(fill, next(sent))
        same_command(codec.encode_command(command, last=step == 15), next(sent))
        number += 1
    assert codec.encode_request(2) == next(sent) and next(sent, None) is None and codec.counts.lost == 1


def same_command(ours, theirs):
    """Bytes of heads and extended axes; singles of mm and degrees to their last bit, which SciPy may round elsewhere."""
    assert ours[:28] == theirs[:28] and ours[52:] == theirs[52:]
    mine, other = (np.frombuffer(each[28:52], ">f4").astype(float) for each in (ours, theirs))
    np.testing.assert_allclose(mine, other, rtol=2**-23, atol=1e-12)


@pytest.mark.full
@pytest.mark.skipif(GCC is None, reason="no C compiler here")
@pytest.mark.parametrize(
    ("name", "robot"),
    [
        ("universal_robots.txt", {"kind": "ur-rtde"}),
        ("stream_motion.txt", {"kind": "fanuc-stream-motion", "version": 3, "lead": 2}),
    ],
)
def test_the_sessions_in_c(name, robot):
    period = 4e-3 if name.startswith("universal") else 8e-3
    devices = devices_of("bench", DevicesSection.model_validate({"robot": robot}), period)
    if name.startswith("universal"):
        devices = devices._replace(robot_settings=RTDESettings(cycles=2, recipe=7))
    library, session = DeviceLibrary(devices), read_session(name)
    way = "reverse" if name.startswith("universal") else "udp"
    sent = iter([each.content for each in session if each.to_robot and each.way == way])
    while asked := library.start_robot():
        assert asked == next(sent)
        if asked[3] == 0:
            break
    place_of, number = np.zeros(6), 0
    for packet in (each.content for each in session if not each.to_robot):
        told = library.decode_pose(packet)
        if not isinstance(told, Heard):
            assert told == PacketError.OTHER_MESSAGE or packet[2:3] in b"VOSP"
            continue
        step = steps(name)[number]
        place_of = np.concatenate(place(min(step, 10) if "stream" in name else step))
        np.testing.assert_allclose(told.values, place_of, rtol=0, atol=4 * ANGLE)
        number += 1
        if "universal" in name and step >= 23:
            continue
        command = wanted(step, name)
        last = "stream" in name and step == 15
        for ours in library.encode_commands(np.array([*command.position, *command.rotation_vector]), 0):
            theirs = next(sent)
            if "stream" in name:
                same_command(ours[:12] + bytes([last]) + ours[13:], theirs)
            else:
                assert ours == theirs
    assert number == len(steps(name))
