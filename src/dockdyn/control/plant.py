"""What laws of an arm see and what they answer: the interface that all of them share.

A law is an Equinox module with its gains and references as fields and one method, `act`. It keeps no state of its own:
what depends on the past (the wheel's momentum, what thrusters have used) is part of the plant.

Units: SI: N m, rad, rad/s.
Source: definition of the interface.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

from dockdyn.control.actuators import Actuation, Actuators
from dockdyn.deferred import Array, Float
from dockdyn.mechanics.rotation import Quaternion
from dockdyn.mechanics.trees.momentum import Momentum

type Row = Float[Array, "n"]
type Three = Float[Array, "3"]


class Response(NamedTuple):
    """How fast a base comes to turn, and its joints to move, and what unit efforts in the joints add to both."""

    base: Float[Array, "axes"]  # rad/s², about the axes about which it turns
    joints: Float[Array, "joints"]  # rad/s² or m/s²
    base_gain: Float[Array, "axes joints"]  # the same by N m or N
    joint_gain: Float[Array, "joints joints"]


class ArmPlant(Protocol):
    """A base that carries an arm, at an instant, and what is rigidly held to it."""

    @property
    def axes(self) -> list[int]:
        """The base's axes about which it turns."""
        ...

    @property
    def wheel(self) -> Three:
        """Momentum of the base's wheel (N m s, base axes)."""
        ...

    @property
    def used(self) -> Float[Array, "2"]:
        """Return what thrusters have used (N s, N m s)."""
        ...

    def attitude(self) -> Float[Array, "4"]:
        """Return the base's attitude, a unit quaternion."""
        ...

    def place(self) -> Three:
        """Return where thrusters push the base (m, inertial)."""
        ...

    def turning(self) -> Three:
        """Return the base's angular velocity (rad/s, base axes)."""
        ...

    def joints(self) -> tuple[Row, Row]:
        """Return coordinates (rad or m) and rates of the joints with motors."""
        ...

    def modes(self) -> tuple[Row, Row]:
        """Return modal coordinates of all flexible links, and their rates."""
        ...

    def momentum(self) -> Momentum:
        """Return the momentum of all that is held together, without the wheel."""
        ...

    def rigid_response(self, given: Actuation) -> Response:
        """Return what actuators do with flexible links in the shape they have, as a law that sees no vibration takes them."""
        ...


class ArmLaw(Protocol):
    """What every law of an arm is."""

    def act(self, plant: ArmPlant, actuators: Actuators) -> Actuation:
        """Return what the actuators give, within their limits."""
        ...


def attitude_error(reference: Float[Array, "4"], attitude: Float[Array, "4"]) -> Three:
    """Return the rotation vector (rad, base axes) from a reference attitude of the base to that it has."""
    return (Quaternion.of(reference).conjugate() * Quaternion.of(attitude)).logarithm().array()
