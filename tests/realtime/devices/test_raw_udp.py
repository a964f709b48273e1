"""Packets of stated fields: bytes by struct, units, what a layout may not be, what a packet may not hold."""

import random
import struct

import numpy as np
import pytest
from codec_cases import chances, raw_settings
from scipy.spatial.transform import Rotation

import dockdyn
from dockdyn.realtime.devices.device import BadPacket, PacketError, Reading, ToolCommand
from dockdyn.realtime.devices.raw_udp import RawField, RawLayout, RawUDP, RawUDPSettings
from dockdyn.rig.driven import driver_of
from dockdyn.scenario.language.errors import ScenarioError

named = RawField.named


def codec_of(*fields, length=16, **options):
    layout = RawLayout.of(length, fields, **options)
    return RawUDP(RawUDPSettings(layout, layout))


@pytest.mark.parametrize(("big", "order"), [(True, ">"), (False, "<")])
def test_bytes_by_hand(big, order):
    codec = codec_of(
        named("constant", "u16", 0, value=0x5AA5),
        named("sequence", "u16", 2),
        named("force.2", "f32", 4, "kN"),
        named("torque.0", "i16", 10, "N*mm", zero=1.0),
        named("status", "u8", 15),
        big=big,
    )
    packet = struct.pack(order + "HHfxxhxxxB", 0x5AA5, 7, -0.25, 1500, 3)
    reading = codec.decode_reading(packet)
    assert reading == Reading((0.0, 0.0, -250.0), (2.5, 0.0, 0.0), 7, 3)
    assert codec.encode_reading(reading) == packet


@pytest.mark.parametrize("rotation", ["vector", "quaternion", "angles"])
@pytest.mark.parametrize("number", ["f64", "f32", "i64", "i32"])
def test_commands_come_back(rotation, number):
    """To half of the units of whole numbers (1 µm; 1 mrad or, of quaternions, 1e-9), or to the 24 bits of a single.

    A turn is wrong by no more than the three or four numbers that tell it together, and those of quaternions count twice.
    """
    whole = number.startswith("i")
    single = 2**-24 if number == "f32" else 1e-14
    angle = (1e-9 if rotation == "quaternion" else 1e-3) / 2 if whole else 4 * single
    codec = RawUDP(raw_settings(True, rotation, number, "u32"))
    given = chances(1)
    for sequence in range(1, 50):
        _, _, command, _ = next(given)
        told, counted = codec.decode_command(codec.encode_command(command, sequence))
        np.testing.assert_allclose(
            told.position, command.position, atol=0.51e-6 if whole else 0, rtol=0 if whole else single
        )
        turn = Rotation.from_rotvec(told.rotation_vector) * Rotation.from_rotvec(command.rotation_vector).inv()
        assert turn.magnitude() < 8 * angle and counted == sequence


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: named("force.3", "f32", 0), "a packet has no 'force.3'"),
        (lambda: named("force.0", "f16", 0), "must be one of"),
        (lambda: named("force.0", "f32", 0, "m"), "must be a unit of N, not 'm'"),
        (lambda: named("sequence", "f32", 0), "must be a whole number"),
        (lambda: named("status", "u64", 0), "at most 32 bits"),
        (lambda: named("constant", "u64", 0, value=2**64), "must fit into 64 bits"),
        (lambda: RawLayout.of(0, (named("force.0", "f32", 0),)), "1 to 1472 bytes"),
        (lambda: RawLayout.of(8, ()), "1 to 32 fields"),
        (lambda: RawLayout.of(8, (named("force.0", "f64", 1),)), "overlaps another or the end"),
        (lambda: RawLayout.of(8, (named("force.0", "f32", 0), named("force.1", "f32", 3))), "overlaps another"),
        (lambda: RawLayout.of(8, (named("rotation.0", "f32", 0),)), "needs 3 fields"),
        (
            lambda: RawLayout.of(8, (named("force.1", "f32", 0), named("force.1", "f32", 4))),
            r"force\.1 stands in two fields",
        ),
        (lambda: RawLayout.of(8, (named("status", "u8", 0), named("status", "u8", 4))), "status stands in two fields"),
    ],
)
def test_a_layout_that_cannot_be_is_refused_in_a_line(make, words):
    with pytest.raises(ValueError, match=words) as refused:
        make()
    assert "\n" not in str(refused.value)


FULL = {
    "sensor.packet": [f"{name}.{axis}" for name in ("force", "torque") for axis in range(3)],
    "robot.pose": [f"{name}.{axis}" for name in ("position", "rotation") for axis in range(3)],
    "robot.command": [f"{name}.{axis}" for name in ("position", "rotation") for axis in range(3)],
}


@pytest.mark.full_cases("sensor.packet", "robot.command")
@pytest.mark.parametrize("packet", FULL)
def test_a_rig_in_space_is_told_of_all_axes(packet):
    """A packet that lacks one is no packet of its devices: what is not told would be zero."""
    lost = random.Random(packet).choice([name for name in FULL[packet] if not name.startswith("rotation")])

    def changed(without):
        tables = {
            key: {"length": 8 * len(names), "field": [
                {"name": name, "type": "f64", "at": 8 * place} for place, name in enumerate(names) if name not in without
            ]}
            for key, names in FULL.items()
        }  # fmt: skip
        sensor = {"kind": "raw-udp", "packet": tables["sensor.packet"]}
        robot = {"kind": "raw-udp", "pose": tables["robot.pose"], "command": tables["robot.command"]}
        return dockdyn.load("epos-like-driven", {"rig.device": {"sensor": sensor, "robot": robot}, "rig.emulator": {}})

    driver_of(changed(())).first_pose()
    shared = [key for key in FULL if lost in FULL[key]]
    with pytest.raises(ScenarioError, match=rf"rig\.device\.{shared[0].replace('.', chr(92) + '.')}: has no {lost}"):
        driver_of(changed((lost,))).first_pose()


def test_bad_packets_have_a_name():
    codec = codec_of(named("constant", "u8", 0, value=1), named("force.0", "f64", 8), named("sequence", "u8", 1))
    for packet, error in (
        (bytes(15), "WRONG_LENGTH"),
        (bytes(16), "WRONG_HEADER"),
        (struct.pack("<BB6xd", 1, 1, float("nan")), "NOT_A_NUMBER"),
        (struct.pack("<BB6xd", 1, 1, float("-inf")), "NOT_A_NUMBER"),
        (struct.pack("<BB6xd", 1, 1, 1e10), "OUT_OF_RANGE"),
        (struct.pack("<BB6xd", 1, 255, 1.0), None),
        (struct.pack("<BB6xd", 1, 255, 1.0), "STALE"),
        (struct.pack("<BB6xd", 1, 1, 1.0), None),
    ):
        if error:
            with pytest.raises(BadPacket, match=PacketError[error].words):
                codec.decode_reading(packet)
        else:
            codec.decode_reading(packet)
    assert (codec.counts.good, codec.counts.lost) == (2, 1)


def test_a_command_that_its_type_does_not_hold_is_not_written():
    codec = codec_of(named("position.0", "i16", 0, "mm"))
    assert codec.encode_command(ToolCommand((32.767, 0, 0)), 1)[:2] == b"\xff\x7f"
    for far in (32.768, -40.0, float("nan"), float("inf")):
        with pytest.raises(BadPacket):
            codec.encode_command(ToolCommand((far, 0, 0)), 1)


def test_a_quaternion_that_is_none_is_refused():
    codec = codec_of(*(named(f"rotation.{i}", "f32", 4 * i) for i in range(4)), rotation="quaternion")
    assert codec.decode_pose(struct.pack("<4f", 1.001, 0, 0, 0)).rotation_vector == (0.0, 0.0, 0.0)
    with pytest.raises(BadPacket, match="out-of-range"):
        codec.decode_pose(struct.pack("<4f", 0.5, 0, 0, 0))
