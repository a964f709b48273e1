"""The codecs that are compared with C: their settings, good packets of theirs, and their calls in both languages."""

import math
import random
import struct
from collections.abc import Callable
from dataclasses import dataclass, replace

from c_codecs import CCase

from dockdyn.realtime.devices.device import Reading, ToolCommand, ToolPose
from dockdyn.realtime.devices.egm import EGM, EGMSettings
from dockdyn.realtime.devices.fanuc import Fanuc, FanucRequest, FanucSettings
from dockdyn.realtime.devices.netft import NetFT, NetFTSettings
from dockdyn.realtime.devices.raw_udp import RawField, RawLayout, RawUDP, RawUDPSettings
from dockdyn.realtime.devices.rsi import RSI, RSISettings
from dockdyn.realtime.devices.rtde import RTDE, RTDESettings, write_text


@dataclass(frozen=True)
class Case:
    """A codec in C and in Python: `decode` and `encode` hold the calls of both in the same order."""

    c: CCase
    make: Callable[[], object]
    decode: tuple[Callable, ...]  # of the codec and a packet: the things that C tells, and a number
    encode: tuple[Callable, ...]  # of the codec, and a reading, a pose, a command and a number
    packets: tuple[tuple[bytes, ...], ...]  # for each that decodes
    forget: Callable


def chances(seed: int):
    """Readings, poses and commands by chance, sizes from tiny to large."""
    chance = random.Random(seed)

    def three(largest: float) -> tuple[float, ...]:
        return tuple(chance.uniform(-largest, largest) * 10 ** -chance.choice((0, 0, 2, 9)) for _ in range(3))

    while True:
        joints = (*three(3), *three(3), 0.0, 0.0)
        status = chance.choice((0, 0, 1, 2**31))
        number = chance.choice((0, 1, 17, 2**31, 2**32 - 1, 2**40))
        reading = Reading(three(500), three(50), number, status)
        yield (
            reading,
            ToolPose(three(3), three(3), joints, number, status),
            ToolCommand(three(3), three(math.pi)),
            number,
        )


NETFT = NetFTSettings(1e6, 999999.5, 4.4482216152605, 0.112984829)


def _netft() -> Case:
    codec = NetFT(NETFT)
    records = [codec.encode_record(Reading((i, 2.5, -3), (0.1, i, 7), 10 * i + 1, i % 2), 7 * i) for i in range(4)]
    records.append(codec.encode_record(Reading((1, 2, 3), (0, 0, 0), 52), 2**32 - 1))
    requests = tuple(codec.encode_request(each, 9) for each in (0, 2, 3, 0x42))
    return Case(
        CCase(
            "netft",
            "netft",
            NETFT,
            decode=(
                "netft_decode_record(device, packet, size, &r.reading)",
                "netft_decode_request(device, packet, size, &command, &samples);"
                " r.number = error ? 0 : ((uint64_t)command << 32 | samples)",
            ),
            encode=(
                "netft_encode_record(device, &given.reading, 5, out, room)",
                "netft_encode_request(device, (uint16_t)given.number, 3, out, room)",
            ),
            forget="netft_forget(device);",
        ),
        lambda: NetFT(NETFT),
        (
            lambda codec, packet: ((codec.decode_record(packet),), 0),
            lambda codec, packet: ((), int.from_bytes(packet[2:8]) if codec.decode_request(packet) else 0),
        ),
        (
            lambda codec, reading, pose, command, number: codec.encode_record(reading, 5),
            lambda codec, reading, pose, command, number: codec.encode_request(number % 2**16, 3),
        ),
        ((*records, records[0] + records[1], b"".join(records)), requests),
        lambda codec: codec.forget(),
    )


def _rsi(name: str, settings: RSISettings) -> Case:
    codec = RSI(settings)
    pose = ToolPose((0.5404, -0.2, 0.915), (0.1, -0.2, 3.0), (0.0, -1.5, 1.5, 0.0, 1.5, 0.1, 0.0, 0.0), 4208163634, 3)
    robot = [codec.encode_robot(pose, ToolCommand((0.54, -0.2, 0.9), (0.1, -0.2, 3.0)))]
    robot.append(
        b'<Rob TYPE=\'KUKA\'>\n <RIst X="1.0" Y="2" Z="-.5" A="1e1" B="90" C=" 1.5 " />\r\n'
        b'<AIPos A1="0.1" A3="7"/><Tech C11="0.0"/><IPOC> 123645634563 </IPOC>\n</Rob >\0\0'
    )
    robot += [robot[0].replace(b"4208163634", b"%d" % ipoc) for ipoc in (0, 4, 2**32 - 4, 2**32, 2**32 + 4)]
    codec.decode_robot(robot[0])
    answers = (codec.encode_answer(ToolCommand((0.55, 0.1, 0.9), (0.1, -0.3, 3.0))),)
    return Case(
        CCase(
            name,
            "rsi",
            settings,
            decode=(
                "rsi_decode_robot(device, packet, size, &r.pose)",
                "rsi_decode_answer(device, packet, size, &r.command, &r.number)",
            ),
            encode=(
                "rsi_encode_answer(device, &given.command, out, room)",
                "rsi_encode_robot(device, &given.pose, &given.command, out, room)",
            ),
            forget="rsi_forget(device);",
        ),
        lambda: RSI(settings),
        (
            lambda codec, packet: ((codec.decode_robot(packet),), 0),
            lambda codec, packet: _with_number(codec.decode_answer(packet)),
        ),
        (
            lambda codec, reading, pose, command, number: codec.encode_answer(command),
            lambda codec, reading, pose, command, number: codec.encode_robot(pose, command),
        ),
        (tuple(robot), answers),
        lambda codec: codec.forget(),
    )


def _with_number(told: tuple[ToolCommand, int]) -> tuple[tuple[ToolCommand], int]:
    return (told[0],), told[1]


def raw_settings(big: bool, rotation: str, number: str, sequence: str | None) -> RawUDPSettings:
    """Layouts of everything that a packet may tell, behind a constant."""
    named = RawField.named
    size = {"f32": 4, "f64": 8, "i32": 4, "i64": 8}[number]
    names = [f"force.{i}" for i in range(3)] + [f"torque.{i}" for i in range(3)] + [f"position.{i}" for i in range(3)]
    names += [f"rotation.{i}" for i in range(4 if rotation == "quaternion" else 3)] + ["joints.0", "joints.7"]
    units = {"force": "kN", "torque": "N*mm", "position": "um", "joints": "deg"}
    fields = [named("constant", "u16", 0, value=0xA5F0), named("status", "u16", 2)]
    for i, name in enumerate(names):
        unit = units.get(name.partition(".")[0], "mrad" if rotation != "quaternion" else "")
        if number.startswith("i") and unit in ("kN", "deg"):
            unit = {"kN": "mN", "deg": "urad"}[unit]
        if number.startswith("i") and unit == "":
            unit = "1e-9"
        fields.append(named(name, number, 8 + size * i, unit, zero=0.25 if name == "force.1" else 0.0))
    if sequence:
        fields.append(named("sequence", sequence, 8 + size * len(names)))
    layout = RawLayout.of(8 + size * len(names) + 8, tuple(fields), big, rotation)
    return RawUDPSettings(layout, layout)


def _raw(name: str, settings: RawUDPSettings) -> Case:
    codec = RawUDP(settings)
    chance = chances(5)
    given = [next(chance) for _ in range(6)]
    packets = tuple(codec.encode_reading(reading) for reading, *_ in given)
    packets += tuple(codec.encode_command(command, number) for _, _, command, number in given)
    return Case(
        CCase(
            name,
            "raw_udp",
            settings,
            decode=(
                "raw_udp_decode_reading(device, packet, size, &r.reading)",
                "raw_udp_decode_pose(device, packet, size, &r.pose)",
                "raw_udp_decode_command(device, packet, size, &r.command, &r.number)",
            ),
            encode=(
                "raw_udp_encode_reading(device, &given.reading, out, room)",
                "raw_udp_encode_pose(device, &given.pose, out, room)",
                "raw_udp_encode_command(device, &given.command, given.number, out, room)",
            ),
            forget="device->sequence.seen = 0;",
        ),
        lambda: RawUDP(settings),
        (
            lambda codec, packet: ((codec.decode_reading(packet),), 0),
            lambda codec, packet: ((codec.decode_pose(packet),), 0),
            lambda codec, packet: _with_number(codec.decode_command(packet)),
        ),
        (
            lambda codec, reading, pose, command, number: codec.encode_reading(reading),
            lambda codec, reading, pose, command, number: codec.encode_pose(pose),
            lambda codec, reading, pose, command, number: codec.encode_command(command, number),
        ),
        (packets, packets, packets),
        lambda codec: codec.forget(),
    )


def _egm() -> Case:
    codec = EGM()
    pose = ToolPose((0.5, -0.25, 1.5), (0.1, 0.2, -0.3), (0.0, -1.5, 1.5, 0.0, 1.5, 0.1, 0.0, 0.0), 7, 0)
    robot = [codec.encode_robot(replace(pose, sequence=7 + i, status=i), 400 + i) for i in range(4)]
    packed = bytes.fromhex("0a30") + bytes(48)  # joints in one field, then another field, a group, a fixed one
    odd = bytes.fromhex("0a06 0809 1802 2a00") + b"\x12" + bytes([len(packed) + 2]) + b"\x0a\x32" + packed
    others = bytes.fromhex("1b 0801 130a0141 14 1c 25 00000080 f8ffffff0f01 3a02 0800")
    robot += [odd + robot[0][9:], robot[1] + others, robot[2] + robot[3]]
    robot += [codec.encode_robot(replace(pose, sequence=each)) for each in (0, 1, 2**32 - 2**16, 2**32 - 1)]
    seventh = bytes.fromhex("120b 1a09 09") + struct.pack("<d", 12.5)  # another part of the feedback: an external joint
    robot += [robot[0] + seventh, robot[1] + 3 * seventh]
    commands = tuple(codec.encode_command(ToolCommand((0.1 * i, 0.2, 0.3), (0, 0.1 * i, 3)), 2**31) for i in range(3))
    return Case(
        CCase(
            "egm",
            "egm",
            EGMSettings(),
            decode=(
                "egm_decode_robot(device, packet, size, &r.pose)",
                "egm_decode_command(device, packet, size, &r.command, &r.number)",
            ),
            encode=(
                "egm_encode_command(device, &given.command, 123456, out, room)",
                "egm_encode_robot(device, &given.pose, 5, out, room)",
            ),
            forget="device->sequence.seen = device->has_begun = 0;",
        ),
        EGM,
        (
            lambda codec, packet: ((codec.decode_robot(packet),), 0),
            lambda codec, packet: _with_number(codec.decode_command(packet)),
        ),
        (
            lambda codec, reading, pose, command, number: codec.encode_command(command, 123456),
            lambda codec, reading, pose, command, number: codec.encode_robot(pose, 5),
        ),
        (tuple(robot), commands),
        lambda codec: codec.forget(),
    )


def _fanuc(name: str, settings: FanucSettings) -> Case:
    codec = Fanuc(settings)
    pose = ToolPose((0.5, -0.25, 1.5), (0.1, 0.2, -0.3), (0.0, -1.5, 1.5, 0.0, 1.5, 0.1, 0.2, 0.3), 7, 0)
    robot = tuple(codec.encode_robot(replace(pose, sequence=7 + i, status=i), 400 + 8 * i) for i in range(4))
    robot += (codec.encode_robot(replace(pose, sequence=13), 456, 4, (1.5, -2.0, 1e3)),)
    robot += tuple(codec.encode_answer(each, 3, 8) for each in (FanucRequest.VERSION, FanucRequest.CAPABILITY))
    codec.decode_robot(robot[0])
    commands = tuple(codec.encode_command(ToolCommand((0.1 * i, 0.2, 0.3), (0, 0.1 * i, 3)), i == 2) for i in range(3))
    return Case(
        CCase(
            name,
            "fanuc",
            settings,
            decode=(
                "fanuc_decode_robot(device, packet, size, &r.pose)",
                "fanuc_decode_command(device, packet, size, &r.command, &r.number)",
                "fanuc_decode_request(device, packet, size, &r.number)",
            ),
            encode=(
                "fanuc_encode_robot(device, &given.pose, 5, out, room)",
                "fanuc_encode_command(device, &given.command, 1, out, room)",
                "fanuc_encode_request(device, (uint32_t)given.number, out, room)",
                "fanuc_encode_fill(device, &given.command, out, room)",
                "fanuc_encode_next_request(device, out, room)",
            ),
            forget="fanuc_forget(device);",
        ),
        lambda: Fanuc(settings),
        (
            lambda codec, packet: ((codec.decode_robot(packet),), 0),
            lambda codec, packet: _with_number(codec.decode_command(packet)),
            lambda codec, packet: ((), int(codec.decode_request(packet))),
        ),
        (
            lambda codec, reading, pose, command, number: codec.encode_robot(pose, 5),
            lambda codec, reading, pose, command, number: codec.encode_command(command, True),
            lambda codec, reading, pose, command, number: codec.encode_request(number % 2**32),
            lambda codec, reading, pose, command, number: codec.encode_fill(command),
            lambda codec, reading, pose, command, number: codec.encode_next_request(),
        ),
        (robot, commands, tuple(Fanuc(settings).encode_request(each) for each in (0, 1, 2, 6, 7))),
        lambda codec: codec.forget(),
    )


def _rtde(name: str, settings: RTDESettings) -> Case:
    codec = RTDE(settings)
    chance = chances(9)
    given = [next(chance) for _ in range(4)]
    told = tuple(codec.encode_data(0.1 * i, pose, reading) for i, (reading, pose, _, _) in enumerate(given))
    told += (codec.encode_data(0.302, given[0][1], given[0][0]), write_text(settings.version, "a text"))
    return Case(
        CCase(
            name,
            "rtde",
            settings,
            decode=(
                "rtde_decode_data(device, packet, size, &r.pose, &r.reading)",
                "rtde_decode_command(device, packet, size, &r.command, &r.number)",
            ),
            encode=(
                "rtde_encode_data(device, 2.5, &given.pose, &given.reading, out, room)",
                "rtde_encode_command(device, &given.command, out, room)",
            ),
            forget="device->sequence.seen = 0;",
        ),
        lambda: RTDE(settings),
        (
            lambda codec, packet: (codec.decode_data(packet), 0),
            lambda codec, packet: _with_number(codec.decode_command(packet)),
        ),
        (
            lambda codec, reading, pose, command, number: codec.encode_data(2.5, pose, reading),
            lambda codec, reading, pose, command, number: codec.encode_command(command),
        ),
        (told, tuple(codec.encode_command(command) for _, _, command, _ in given)),
        lambda codec: codec.forget(),
    )


CASES = {
    each.c.name: each
    for each in (
        _netft(),
        _rsi("rsi_absolute", RSISettings()),
        _rsi("rsi_relative", RSISettings("KROSHU", "PosCorr", relative=True, decimals=4, period=12)),
        _egm(),
        _fanuc("fanuc", FanucSettings()),
        _fanuc("fanuc_ahead", FanucSettings(version=3, cycle=8, lead=3)),
        _rtde("rtde", RTDESettings(recipe=3)),
        _rtde("rtde_slow", RTDESettings(cycles=4)),
        _rtde("rtde_old", RTDESettings(version=1, rate=125, timeout=200)),
        _raw("raw_floats", raw_settings(False, "vector", "f64", "u32")),
        _raw("raw_singles", raw_settings(True, "angles", "f32", "u8")),
        _raw("raw_integers", raw_settings(True, "quaternion", "i64", None)),
    )
}
