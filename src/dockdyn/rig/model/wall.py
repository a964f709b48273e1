"""A mass against a fixed wall, without rig: what a rig along one direction should show.

Units: m, m/s, kg, N.
Source: SITS, eq. 1.
"""

from __future__ import annotations

from dockdyn.contact.axial import Axial, AxialContact
from dockdyn.contact.contact_modes import APART, GATED, PRESSING
from dockdyn.deferred import Array, Bool, Float, jnp
from dockdyn.integrate.model import Model, Outputs, Rate, Scalar, State
from dockdyn.trees import field


class MassOnWall(Model):
    """m Ẍ = −law(X, Ẋ). `bilateral`: the spring is fixed to both, whatever the sign of X (SITS, eq. 1).

    State: `q` position (m, positive is overlap), `v` velocity (m/s), `mode` that of the contact.
    """

    mass: Float[Array, ""]
    contact: AxialContact
    position: Float[Array, ""]  # m, at t = 0
    velocity: Float[Array, ""]  # m/s, at t = 0
    delay: None
    bilateral: bool = field(static=True)

    def touch(self, x: State) -> Axial:
        return self.contact.touch(x.q, x.v)

    def initial(self) -> State:
        x = State(self.position, self.velocity, None, ())
        mode = jnp.asarray(PRESSING) if self.bilateral else self.contact.first_mode(self.touch(x))
        return State(x.q, x.v, (mode.astype(int),), ())

    def flow(self, t: Scalar, x: State, delayed: tuple[Scalar]) -> Rate:
        return Rate(x.v, -delayed[0] / self.mass, ())

    def outputs(self, t: Scalar, x: State) -> Outputs:
        touch = self.touch(x)
        force = self.contact.normal_force(x.mode[0], touch)
        never = jnp.asarray(-1.0)
        guards = (never, never) if self.bilateral else self.contact.guards(x.mode[0], touch)
        return Outputs((force,), guards, (force,))

    def jump(self, t: Scalar, x: State, fired: tuple[Bool[Array, ""], ...]) -> State:
        mode = self.contact.next_mode(x.mode[0], (fired[0], fired[1]), self.contact.touch(jnp.zeros(()), x.v))
        return State(x.q, x.v, (mode,), ())

    def emitting(self, x: State) -> Bool[Array, ""]:
        return x.mode[0] != APART

    def ungated(self, x: State) -> State:
        return State(x.q, x.v, (jnp.asarray(PRESSING if self.bilateral else GATED),), ())
