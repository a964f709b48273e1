"""The codecs of a rig's devices in C, called from this process: what the loop does with packets, without its clock."""

from __future__ import annotations

import ctypes
import tempfile

import numpy as np

from dockdyn.deferred import Float
from dockdyn.realtime.devices.device import PacketError
from dockdyn.realtime.exchange import AXES, Heard
from dockdyn.realtime.rig_devices import Devices
from dockdyn.translate.c_library import compile_texts

LONGEST = 2048  # bytes of a packet
_STARTED = ctypes.CFUNCTYPE(ctypes.c_size_t, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t)
_DECODE = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_void_p)
_ENCODE = ctypes.CFUNCTYPE(
    ctypes.c_size_t,
    ctypes.c_void_p,
    ctypes.c_void_p,
    ctypes.c_uint64,
    ctypes.c_int,
    ctypes.c_void_p,
    ctypes.c_size_t,
)


_FILL = ctypes.CFUNCTYPE(ctypes.c_size_t, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t)


class _SensorCalls(ctypes.Structure):
    _fields_ = (("start", _STARTED), ("stop", _STARTED), ("decode", _DECODE))


class _RobotCalls(ctypes.Structure):
    _fields_ = (
        *_SensorCalls._fields_,
        ("encode", _ENCODE),
        ("counts", ctypes.c_void_p),
        ("cut", ctypes.c_void_p),
        ("fill", _FILL),
    )


_READING = np.dtype([("values", np.float64, AXES), ("sequence", np.uint64), ("status", np.uint32), ("rest", np.uint32)])
_POSE = np.dtype(
    [
        ("values", np.float64, AXES),
        ("joints", np.float64, 8),
        ("sequence", np.uint64),
        ("status", np.uint32),
        ("rest", np.uint32),
    ]
)


class DeviceLibrary:
    """The computer's side of a sensor and a robot."""

    def __init__(self, devices: Devices):
        """Raises NoCompiler without a C compiler."""
        made = compile_texts(devices.c_files(), "-shared", "-fPIC")
        with tempfile.NamedTemporaryFile() as own:  # which nobody else has loaded: the devices are in it
            own.write(made.read_bytes())
            own.flush()
            library = ctypes.CDLL(own.name)
        self.sensor = ctypes.POINTER(_SensorCalls).in_dll(library, "rig_sensor_calls").contents
        self.robot = ctypes.POINTER(_RobotCalls).in_dll(library, "rig_robot_calls").contents
        self.sensor_device, self.robot_device = (
            ctypes.c_void_p.in_dll(library, f"rig_{role}_device") for role in ("sensor", "robot")
        )
        self.first = [
            (device, ctypes.string_at(device.value or 0, ctypes.c_size_t.in_dll(library, f"rig_{role}_size").value))
            for role, device in (("sensor", self.sensor_device), ("robot", self.robot_device))
        ]
        self.out = ctypes.create_string_buffer(LONGEST)
        self.reading, self.pose = np.zeros((), _READING), np.zeros((), _POSE)

    def forget(self) -> None:
        """Go back to how it was at first: the next packets are the first."""
        for device, memory in self.first:
            ctypes.memmove(device.value or 0, memory, len(memory))

    def start_sensor(self) -> bytes:
        """Return what asks the sensor for readings; empty where it sends by itself."""
        size = self.sensor.start(self.sensor_device, self.out, LONGEST)
        return self.out.raw[:size]

    def start_robot(self) -> bytes:
        """Return what asks the robot for poses; empty where it sends by itself."""
        size = self.robot.start(self.robot_device, self.out, LONGEST)
        return self.out.raw[:size]

    def decode_reading(self, packet: bytes) -> Heard | PacketError:
        """Return what a sensor says, or why its packet is refused."""
        return _decode_packet(self.sensor.decode, self.sensor_device, packet, self.reading)

    def decode_pose(self, packet: bytes) -> Heard | PacketError:
        """Return what a robot says, or why its packet is refused."""
        return _decode_packet(self.robot.decode, self.robot_device, packet, self.pose)

    def encode_commands(self, place: Float[np.ndarray, "6"], milliseconds: int) -> list[bytes]:
        """Return the answer to the pose that was decoded last, behind those that it was to have before."""
        place = np.ascontiguousarray(place)
        packets = []
        while self.robot.fill and (size := self.robot.fill(self.robot_device, place.ctypes.data, self.out, LONGEST)):
            packets.append(self.out.raw[:size])
        size = self.robot.encode(self.robot_device, place.ctypes.data, milliseconds, 0, self.out, LONGEST)
        return [*packets, self.out.raw[:size]]


def _decode_packet(decode: object, device: ctypes.c_void_p, packet: bytes, into: np.ndarray) -> Heard | PacketError:
    """Return what a packet says."""
    error = decode(device, packet, len(packet), into.ctypes.data)  # type: ignore[operator]
    if error:
        return PacketError(error)
    return Heard(into["values"].copy(), int(into["sequence"]), int(into["status"]))
