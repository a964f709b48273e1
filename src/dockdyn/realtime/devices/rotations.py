"""Rotations as devices tell them: rotation vectors, unit quaternions (scalar first), turns about z, then y', then x''.

Plain numbers, in the order of operations that `device.c` has, so that both give the same bits.
"""

from __future__ import annotations

from math import atan2, cos, sin, sqrt

from dockdyn.realtime.devices.device import BadPacket, PacketError

Numbers = tuple[float, ...]


def quaternion_of_vector(vector: Numbers) -> Numbers:
    """Return the unit quaternion of a rotation vector (rad)."""
    x, y, z = vector
    angle = sqrt(x * x + y * y + z * z)
    factor = 0.5 if angle < 1e-8 else sin(0.5 * angle) / angle
    return cos(0.5 * angle), factor * x, factor * y, factor * z


def vector_of_quaternion(quaternion: Numbers) -> Numbers:
    """Return the rotation vector (rad, at most π long) of a unit quaternion."""
    w, x, y, z = quaternion if quaternion[0] >= 0 else tuple(-each for each in quaternion)
    sine = sqrt(x * x + y * y + z * z)
    factor = 2.0 if sine < 1e-8 else 2.0 * atan2(sine, w) / sine
    return factor * x, factor * y, factor * z


def quaternion_of_angles(angles: Numbers) -> Numbers:
    """Return the unit quaternion of turns (rad) about z, then y', then x''."""
    a, b, c = (0.5 * angle for angle in angles)
    both = multiply_quaternions((cos(a), 0.0, 0.0, sin(a)), (cos(b), 0.0, sin(b), 0.0))
    return multiply_quaternions(both, (cos(c), sin(c), 0.0, 0.0))


def angles_of_quaternion(quaternion: Numbers) -> Numbers:
    """Return turns (rad) about z, y', x''; where y' is turned by a right angle the last one is zero."""
    w, x, y, z = quaternion
    forward, left = 1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y + w * z)
    cosine = sqrt(forward * forward + left * left)
    second = atan2(2.0 * (w * y - x * z), cosine)
    if cosine < 1e-12:
        return atan2(2.0 * (w * z - x * y), 1.0 - 2.0 * (x * x + z * z)), second, 0.0
    return atan2(left, forward), second, atan2(2.0 * (w * x + y * z), 1.0 - 2.0 * (x * x + y * y))


def multiply_quaternions(a: Numbers, b: Numbers) -> Numbers:
    """Return the turn `b` followed by the turn `a`."""
    return (
        a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3],
        a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
        a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1],
        a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0],
    )


def divide_quaternions(a: Numbers, b: Numbers) -> Numbers:
    """Return the turn that must follow `b` for `a` to come out."""
    return multiply_quaternions(a, (b[0], -b[1], -b[2], -b[3]))


def normalise_quaternion(given: Numbers) -> Numbers:
    """Normalise a quaternion that has been rounded; BadPacket for one farther than a tenth from unit length."""
    w, x, y, z = given
    size = sqrt(w * w + x * x + y * y + z * z)
    if not 0.9 < size < 1.1:
        raise BadPacket(PacketError.OUT_OF_RANGE)
    return w / size, x / size, y / size, z / size
