"""Where a free body is to be: a pose in inertial axes, or one that goes with the target.

Units: m, m/s, rad/s.
Source: kinematics of a rigid body.
"""

from __future__ import annotations

from dockdyn.control.controller import FreeBody, Three
from dockdyn.deferred import Array, Float, jnp
from dockdyn.mechanics.rotation import Quaternion
from dockdyn.trees import Module


class InertialReference(Module):
    """A place, a velocity and an attitude in inertial axes; the attitude rests."""

    position: Three  # m, from where positions count
    velocity: Three  # m/s
    attitude: Float[Array, "4"]

    def of(self, target: FreeBody) -> FreeBody:
        """Return the motion that is wanted, whatever the target does."""
        return FreeBody(self.position, self.velocity, self.attitude, jnp.zeros(3))


class TargetReference(Module):
    """A pose in the target's axes that moves and turns with it, and a velocity over it."""

    position: Three  # m, of the centre of mass, from the target's
    velocity: Three  # m/s, beside that of this place
    attitude: Float[Array, "4"]  # to the target's axes

    def of(self, target: FreeBody) -> FreeBody:
        """Return the motion that is wanted beside the target."""
        turn = Quaternion.of(target.attitude)
        matrix, own = turn.matrix().array(), Quaternion.of(self.attitude)
        place = jnp.cross(target.rate, self.position) + self.velocity
        return FreeBody(
            target.position + matrix @ self.position,
            target.velocity + matrix @ place,
            (turn * own).array(),
            own.matrix().array().T @ target.rate,
        )


Reference = InertialReference | TargetReference
