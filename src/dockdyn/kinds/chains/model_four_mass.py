"""Chains that collide: chaser and target with springs inside, a contact between them (Paraskevas et al., Fig. 1b).

Units: kg, m, m/s, N/m, N s/m, J.
Source: as named above.
"""

from __future__ import annotations

import jax.numpy as jnp
from jaxtyping import Array, Bool

from dockdyn.contact.axial import Axial, AxialContact
from dockdyn.contact.gate import APART, GATED
from dockdyn.integrate.model import ContactModel, Outputs, Rate, Scalar, State
from dockdyn.kinds.chains.model import Chains, Numbers


class FourMass(ContactModel):
    """m₁ and m₂ are the chaser, m₃ and m₄ the target in the paper; chains of other lengths do as well.

    State: `q` positions (m), `v` velocities (m/s), `mode` that of the contact, `memory` the work of the contact force on
    both (J).
    """

    chains: Chains
    contact: AxialContact
    positions: Numbers  # m, at t = 0
    velocities: Numbers  # m/s, at t = 0
    delay: None

    def touch(self, x: State) -> Axial:
        return self.contact.touch(self.chains.approach(x.q), self.chains.approach(x.v))

    def initial(self) -> State:
        x = State(self.positions, self.velocities, None, jnp.zeros(()))
        mode = self.contact.first_mode(self.touch(x)).astype(int)
        return State(x.q, x.v, (mode,), x.memory)

    def names(self) -> list[str]:
        count = len(self.positions)
        return [f"{word} of mass {n}" for word in ("position", "velocity") for n in range(1, count + 1)] + ["work"]

    def flow(self, t: Scalar, x: State, delayed: tuple[Scalar]) -> Rate:
        (force,) = delayed
        return Rate(x.v, self.chains.accelerations(x.q, x.v, force), -force * self.chains.approach(x.v))

    def outputs(self, t: Scalar, x: State) -> Outputs:
        touch = self.touch(x)
        force = self.contact.normal_force(x.mode[0], touch)
        return Outputs((force,), self.contact.guards(x.mode[0], touch), (force,))

    def jump(self, t: Scalar, x: State, fired: tuple[Bool[Array, ""], ...]) -> State:
        onset = self.contact.touch(jnp.zeros(()), self.chains.approach(x.v))
        mode = self.contact.next_mode(x.mode[0], (fired[0], fired[1]), onset)
        return State(x.q, x.v, (mode,), x.memory)

    def emitting(self, x: State) -> Bool[Array, ""]:
        return x.mode[0] != APART

    def ungated(self, x: State) -> State:
        return State(x.q, x.v, (jnp.asarray(GATED),), x.memory)

    def observe(self, x: State, delayed: tuple[Scalar]) -> dict[str, Array]:
        """Named quantities at an instant, those of `Chains.observe` and the contact's."""
        touch = self.touch(x)
        return self.chains.observe(x.q, x.v) | {
            "depth": touch.depth[None],
            "depth_rate": touch.rate[None],
            "normal_force": self.contact.normal_force(x.mode[0], touch)[None],
            "work": x.memory,
        }
