"""The plain datagrams between a rig's computer and its devices: the numbers themselves, little endian; in C `exchange.h`."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

READING = struct.Struct("<6dQI4x")  # force (N), torque (N m), sequence, status
POSE = struct.Struct("<14dQI4x")  # position (m), rotation vector (rad), eight joints, sequence, status
COMMAND = struct.Struct("<6dQ")  # position (m), rotation vector (rad), sequence of the pose that it answers
AXES = 6
JOINTS = 8


class Reading(NamedTuple):
    """What a force sensor tells."""

    load: Float[np.ndarray, "6"]  # N, N m
    sequence: int
    status: int  # 0: well


class Pose(NamedTuple):
    """What a robot tells."""

    place: Float[np.ndarray, "6"]  # m, rad
    sequence: int
    status: int  # 0: well


class Command(NamedTuple):
    """What a robot is told."""

    place: Float[np.ndarray, "6"]  # m, rad
    sequence: int  # of the pose that it answers


def whole(values: Sequence[float] | np.ndarray) -> np.ndarray:
    """Six numbers of a robot with fewer axes: those that it does not have are zero."""
    found = np.zeros(AXES)
    found[: len(values)] = values
    return found


def encode_reading(reading: Reading) -> bytes:
    return READING.pack(*reading.load, reading.sequence, reading.status)


def decode_reading(data: bytes) -> Reading:
    *load, sequence, status = READING.unpack(data)
    return Reading(np.array(load), sequence, status)


def encode_pose(pose: Pose) -> bytes:
    return POSE.pack(*pose.place, *[0.0] * JOINTS, pose.sequence, pose.status)


def decode_pose(data: bytes) -> Pose:
    *numbers, sequence, status = POSE.unpack(data)
    return Pose(np.array(numbers[:AXES]), sequence, status)


def encode_command(command: Command) -> bytes:
    return COMMAND.pack(*command.place, command.sequence)


def decode_command(data: bytes) -> Command:
    *place, sequence = COMMAND.unpack(data)
    return Command(np.array(place), sequence)
