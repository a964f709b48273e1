"""A probe meets a spring latch on a line: it is thrown back, or captured and held (Paraskevas et al., Fig. 6).

Units: m, m/s, N, N/m, kg.
Source: as named above, eqs. 34–46 corrected.
"""

from __future__ import annotations

import jax.numpy as jnp
from jaxtyping import Array, Bool

from dockdyn.contact.latch import HELD, ON_RAMP, OUT, Caught, Ramp
from dockdyn.impact.formulas.effective_mass import reduced
from dockdyn.integrate.model import ContactModel, Outputs, Rate, Scalar, State, chosen
from dockdyn.kinds.chains.model import Chains, Numbers


class LatchingChains(ContactModel):
    """The chaser's last mass carries the probe with its ramp, the target's first the latch.

    The travel into the latch is what the probe is ahead of it. Once the latch has fallen in, the two masses move as one:
    a plastic impact, momentum kept, then the force that holds them together. State: `q` positions (m), `v` velocities
    (m/s), `mode` that of the latch, `memory` the work of the latch on both (J), the impact's loss included, and what the
    latch did when it fell in.
    """

    chains: Chains
    ramp: Ramp
    positions: Numbers  # m, at t = 0
    velocities: Numbers  # m/s, at t = 0
    delay: None

    def initial(self) -> State:
        travel = self.chains.approach(self.positions)
        mode = self.ramp.first_stage(travel, travel).astype(int)
        return State(self.positions, self.velocities, (mode,), (jnp.zeros(()), Caught.nothing()))

    def names(self) -> list[str]:
        count = len(self.positions)
        return [f"{word} of mass {n}" for word in ("position", "velocity") for n in range(1, count + 1)] + [
            "work",
            "capture speed",
        ]

    def contact_mass(self) -> Scalar:
        """Effective mass (kg) of the two masses that meet."""
        return reduced(self.chains.masses[0][-1], self.chains.masses[1][0])

    def force(self, x: State) -> Scalar:
        """Force (N) that pushes probe and latch apart: of the ramp, or negative too where it holds them together."""
        travel, rate = self.chains.approach(x.q), self.chains.approach(x.v)
        free = self.chains.accelerations(x.q, x.v, jnp.zeros(()))
        holding = self.contact_mass() * self.chains.approach(free)
        on_ramp = jnp.where(x.mode[0] == ON_RAMP, self.ramp.force(travel, rate), 0.0)
        return jnp.where(x.mode[0] == HELD, holding, on_ramp)

    def flow(self, t: Scalar, x: State, delayed: tuple[Scalar]) -> Rate:
        force = self.force(x)  # decided here, not with the events: what holds must fit the state to the last bit
        return Rate(
            x.v, self.chains.accelerations(x.q, x.v, force), (-force * self.chains.approach(x.v), Caught.nothing())
        )

    def outputs(self, t: Scalar, x: State) -> Outputs:
        force = self.force(x)
        travel = self.chains.approach(x.q)
        guards = self.ramp.guards(x.mode[0], travel, travel)
        return Outputs((force,), guards, (jnp.where(x.mode[0] == ON_RAMP, force, 0.0),))

    def jump(self, t: Scalar, x: State, fired: tuple[Bool[Array, ""], ...]) -> State:
        mode = self.ramp.next_stage(x.mode[0], (fired[0], fired[1]))
        caught = (mode == HELD) & (x.mode[0] != HELD)
        rate = self.chains.approach(x.v)
        impulse = jnp.where(caught, self.contact_mass() * rate, 0.0)
        at = self.chains.meeting
        masses = self.chains.all_masses()
        change = [jnp.zeros(())] * len(x.v)
        change[at], change[at + 1] = -impulse / masses[at], impulse / masses[at + 1]
        v = tuple(speed + jump for speed, jump in zip(x.v, change, strict=True))
        work, before = x.memory
        loss = 0.5 * impulse * rate
        now = Caught(speed=rate, impulse_along=impulse, impulse_across=jnp.zeros(()), loss=loss)
        return State(x.q, v, (mode,), (work - loss, chosen(caught, now, before)))

    def emitting(self, x: State) -> Bool[Array, ""]:
        return x.mode[0] != OUT

    def observe(self, x: State, delayed: tuple[Scalar]) -> dict[str, Array]:
        """Named quantities at an instant, those of `Chains.observe` and the latch's."""
        travel, rate = self.chains.approach(x.q), self.chains.approach(x.v)
        return self.chains.observe(x.q, x.v) | {
            "depth": travel[None],
            "depth_rate": rate[None],
            "normal_force": self.force(x)[None],
            "latch_mode": x.mode[0],
            "work": x.memory[0],
            **{f"capture_{name}": value for name, value in x.memory[1]._asdict().items()},
        }
