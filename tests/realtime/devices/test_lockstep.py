"""C codecs behind their common protocol serve emulated devices in lockstep, through the real bytes."""

import ctypes
import subprocess

import numpy as np
import pytest
from c_codecs import FLAGS, GCC
from codec_cases import raw_settings
from rsi_robots import emulated_rsi

from dockdyn.realtime.devices.device import HERE, PacketError, ToolCommand, ToolPose, c_initialiser
from dockdyn.realtime.devices.egm import EGMSettings
from dockdyn.realtime.devices.emulated.cycle import CycleSettings
from dockdyn.realtime.devices.emulated.fanuc import EmulatedFanuc
from dockdyn.realtime.devices.emulated.netft import EmulatedNetFT
from dockdyn.realtime.devices.emulated.robot import Convergence, emulate_egm, emulate_raw_robot
from dockdyn.realtime.devices.emulated.rtde import URInPackets
from dockdyn.realtime.devices.emulated.streaming import StreamingSensor
from dockdyn.realtime.devices.fanuc import FanucSettings
from dockdyn.realtime.devices.netft import NetFTSettings
from dockdyn.realtime.devices.raw_udp import RawUDP
from dockdyn.realtime.devices.rsi import RSISettings
from dockdyn.realtime.devices.rtde import RTDESettings
from dockdyn.scenario.tables.rig.devices import ROBOTS, SENSORS

pytestmark = pytest.mark.skipif(GCC is None, reason="no C compiler here")
START = ToolPose((0.5, 0.1, 0.9), (0.1, 0.2, 0.3))
RAW = raw_settings(True, "quaternion", "f64", "u16")
CYCLE = CycleSettings(0.004, late_limit=3)
WIDE = {"precision": 6, "correction_limit": 1.0, "correction_turn_limit": 3.0, "monitor_limit": 2.0}
WIDE |= {"monitor_turn_limit": 3.0}
ROBOT_SETTINGS = {
    "kuka-rsi": RSISettings(),
    "raw-udp": RAW,
    "abb-egm": EGMSettings(),
    "fanuc-stream-motion": FanucSettings(),
    "ur-rtde": RTDESettings(cycles=2),
}
SENSOR_SETTINGS = {"ati-netft": NetFTSettings(), "raw-udp": RAW}


class CReading(ctypes.Structure):
    _fields_ = [("values", ctypes.c_double * 6), ("sequence", ctypes.c_uint64), ("status", ctypes.c_uint32)]


class CPose(ctypes.Structure):
    _fields_ = [("values", ctypes.c_double * 14), ("sequence", ctypes.c_uint64), ("status", ctypes.c_uint32)]


SERVER = """
#include "calls.h"
{includes}
{devices}
{functions}
const char *error_name(int error) {{ return dd_error_name(error); }}
"""
ROBOT = """
static struct {struct} {id} = {settings};
int {id}_decode(const uint8_t *packet, size_t size, dd_pose *pose) {{
    return {struct}_robot.decode(&{id}, packet, size, pose);
}}
size_t {id}_encode(const dd_command *command, uint64_t ms, uint8_t *out, size_t room) {{
    return {struct}_robot.encode(&{id}, command, ms, 0, out, room);
}}
size_t {id}_start(uint8_t *out, size_t room) {{ return {struct}_robot.start(&{id}, out, room); }}
size_t {id}_stop(uint8_t *out, size_t room) {{ return {struct}_robot.stop(&{id}, out, room); }}
uint64_t {id}_good(void) {{ return {struct}_robot.counts(&{id})->of[0]; }}
"""
SENSOR = """
static struct {struct} {id} = {settings};
int {id}_decode(const uint8_t *packet, size_t size, dd_reading *reading) {{
    return {struct}_sensor.decode(&{id}, packet, size, reading);
}}
size_t {id}_start(uint8_t *out, size_t room) {{ return {struct}_sensor.start(&{id}, out, room); }}
size_t {id}_stop(uint8_t *out, size_t room) {{ return {struct}_sensor.stop(&{id}, out, room); }}
uint64_t {id}_good(void) {{ return {struct}_sensor.counts(&{id})->of[0]; }}
"""


def identifier(device):
    return f"{device.role}_{device.struct}"


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """A library of all devices, as a loop in C has them."""
    folder = tmp_path_factory.mktemp("server")
    functions = []
    for devices, settings, text in ((ROBOTS, ROBOT_SETTINGS, ROBOT), (SENSORS, SENSOR_SETTINGS, SENSOR)):
        for name, device in devices.items():
            initialiser = c_initialiser(settings[name])
            functions.append(text.format(struct=device.struct, id=identifier(device), name=name, settings=initialiser))
    headers = sorted({f'#include "{device.struct}.h"' for device in (*ROBOTS.values(), *SENSORS.values())})
    text = SERVER.format(includes="\n".join(headers), devices="", functions="\n".join(functions))
    (folder / "server.c").write_text(text)
    command = [
        GCC,
        *FLAGS,
        "-shared",
        "-fPIC",
        f"-I{HERE}",
        "server.c",
        *map(str, sorted(HERE.glob("*.c"))),
        "-lm",
        "-o",
        "server.so",
    ]
    subprocess.run(command, cwd=folder, check=True)
    return ctypes.CDLL(folder / "server.so")


class Served:
    """A device as the C loop has it."""

    def __init__(self, library, device, result):
        self.library, self.id, self.result = library, identifier(device), result
        for name in ("start", "stop", "encode", "good"):
            if name != "encode" or device.role == "robot":
                getattr(library, f"{self.id}_{name}").restype = ctypes.c_size_t

    def written(self, name, *given):
        out = ctypes.create_string_buffer(2048)
        size = getattr(self.library, f"{self.id}_{name}")(*given, out, ctypes.c_size_t(2048))
        return out.raw[:size]

    def decode(self, packet):
        result = self.result()
        size = ctypes.c_size_t(len(packet))
        return getattr(self.library, f"{self.id}_decode")(packet, size, ctypes.byref(result)), result

    def answer(self, packet, command, time):
        error, pose = self.decode(packet)
        assert error == 0
        numbers = (ctypes.c_double * 6)(*command.position, *command.rotation_vector)
        return self.written("encode", numbers, ctypes.c_uint64(round(1000 * time))), pose

    @property
    def good(self):
        return getattr(self.library, f"{self.id}_good")()


EMULATED = {
    "kuka-rsi": lambda: emulated_rsi(RSISettings(), START, timeout=3, **WIDE),
    "raw-udp": lambda: emulate_raw_robot(RAW, CYCLE, START),
    "abb-egm": lambda: emulate_egm(CYCLE, START, Convergence(time=60.0)),
    "fanuc-stream-motion": lambda: EmulatedFanuc(FanucSettings(), CYCLE.period, START),
    "ur-rtde": lambda: URInPackets(START, ROBOT_SETTINGS["ur-rtde"]),
}
# what a command may be wrong by on the wire, m and rad: half of the last decimal or unit, or 24 bits of mm and degrees
RESOLUTION = {
    "kuka-rsi": (1.1e-9, 3e-8),
    "raw-udp": (1e-15, 1e-14),
    "abb-egm": (1e-15, 1e-14),
    "fanuc-stream-motion": (6e-8, 1e-6),
    "ur-rtde": (0.51e-6, 0.51e-6),
}


@pytest.mark.full_cases("kuka-rsi", "abb-egm")
@pytest.mark.parametrize("name", ROBOTS)
def test_a_robot_follows_what_c_commands(name, server):
    """The setpoint of a cycle is the command that answered the one before, within what the wire resolves; none is late."""
    robot, served = EMULATED[name](), Served(server, ROBOTS[name], CPose)
    started = served.written("start")
    assert bool(started) == (name == "fanuc-stream-motion")
    if started:
        robot.receive(0.0, started)
    wanted, before = ToolCommand(START.position, START.rotation_vector), None
    for cycle in range(300):
        time, setpoint = 0.004 * cycle, robot.cycle.setpoint
        *texts, packet = robot.tick(time, ToolPose(setpoint.position, setpoint.rotation_vector))
        assert [served.decode(text)[0] for text in texts] == [PacketError.OTHER_MESSAGE] * len(texts)
        length, angle = RESOLUTION[name]
        np.testing.assert_allclose(robot.cycle.setpoint.position, wanted.position, rtol=0, atol=length)
        np.testing.assert_allclose(robot.cycle.setpoint.rotation_vector, wanted.rotation_vector, rtol=0, atol=angle)
        phase = 0.02 * (cycle + 1)
        wanted = ToolCommand(
            (0.5 + 0.1 * np.sin(phase), 0.1 * np.cos(phase), 0.9 + 0.05 * np.sin(2 * phase)),
            (0.1 * np.cos(phase), 0.2 + 0.3 * np.sin(phase), 0.3),
        )
        answer, pose = served.answer(packet, wanted, time)
        assert before is None or pose.sequence - before in (1, 4)
        before = pose.sequence
        robot.receive(time + 0.001, answer)
    assert not robot.cycle.stopped and robot.cycle.late == 0 and not robot.ignored
    assert served.good == 300
    if name == "fanuc-stream-motion":
        robot.receive(1.3, served.written("stop"))
        assert robot.tick(1.4, START) == []


@pytest.mark.parametrize("name", SENSORS)
def test_a_sensor_is_read_by_c(name, server):
    """Every reading, to half a count of a micronewton, or of the 53 bits of a double."""
    sensor = EmulatedNetFT() if name == "ati-netft" else StreamingSensor(RawUDP(RAW.other_side).encode_reading)
    served = Served(server, SENSORS[name], CReading)
    started = served.written("start")
    assert bool(started) == (name == "ati-netft")
    sensor.receive(0.0, started)
    for step in range(1000):
        force = (100 * np.sin(0.01 * step), -0.3 * step, 1e-3)
        for packet in sensor.tick(1e-3 * step, force, (0.1, 0.2, 0.3)):
            error, reading = served.decode(packet)
            assert error == 0 and reading.sequence == step + 1
            np.testing.assert_allclose(
                reading.values[:3], force, rtol=1e-14, atol=0.51e-6 if name == "ati-netft" else 1e-12
            )
    assert served.good == 1000
    sensor.receive(1.0, served.written("stop") or b"")


def test_errors_have_the_same_names_in_c(server):
    server.error_name.restype = ctypes.c_char_p
    assert [server.error_name(int(error)).decode() for error in PacketError] == [error.words for error in PacketError]
    assert server.error_name(0) == b"ok" and server.error_name(-99) == server.error_name(1) == b"unknown"
