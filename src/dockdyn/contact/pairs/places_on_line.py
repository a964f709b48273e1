"""A place of one body and a place of another one that moves along the same line.

Units: lengths m.
Source: definition.
"""

from __future__ import annotations

from dockdyn.contact.contact_kinematics import ContactKinematics
from dockdyn.contact.pairs.pair_geometry import PairGeometry
from dockdyn.contact.touch import Touch
from dockdyn.deferred import Array, Float, jnp
from dockdyn.mechanics.rigid_body import Placed
from dockdyn.mechanics.vector import Scalar, Vector


class PlacesOnLine(PairGeometry):
    """Two places on the x axis; the first touches the second where it comes beyond it along the axis."""

    own: Float[Array, ""]  # m, from the centre of the first body
    other: Float[Array, ""]  # m, from the centre of the second

    def place(self) -> Float[Array, "3"]:
        return jnp.zeros(3).at[0].set(self.own)

    def extent(self) -> Scalar:
        return jnp.zeros(())

    def touch(self, own: Placed, other: Placed) -> Touch:
        depth, normal, point, *_ = self.meet(own, other)
        return Touch(depth, normal, point)

    def meet(self, own: Placed, other: Placed) -> ContactKinematics:
        at, zero = own.pose.position.x + self.own, jnp.zeros(())
        depth = at - (other.pose.position.x + self.other)
        rate = own.twist.velocity.x - other.twist.velocity.x
        return ContactKinematics(
            depth, Vector(jnp.asarray(-1.0), zero, zero), Vector(at, zero, zero), rate, Vector.zero()
        )
