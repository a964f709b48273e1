"""Four masses in line: chaser and target, each two masses with spring and damper (Paraskevas et al., Fig. 1b)."""

from __future__ import annotations

from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Bool

from dockdyn.contact.gate import APART, GATED, Gate
from dockdyn.contact.normal_law import NormalLaw
from dockdyn.integrate.model import Model, Rate, Scalar, Sensed, State

Four = tuple[Scalar, Scalar, Scalar, Scalar]


class Axial(NamedTuple):
    """A contact along the line at an instant."""

    depth: Scalar  # m
    rate: Scalar  # m/s
    raw_force: Scalar  # N
    presses: Scalar


class AxialContact(Gate):
    """What acts between the second and the third mass."""

    law: NormalLaw

    def touch(self, q: Four, v: Four) -> Axial:
        depth, rate = q[1] - q[2], v[1] - v[2]
        return Axial(depth, rate, self.law.force(depth, rate), self.law.presses(depth, rate))


class FourMass(Model):
    """m₁ and m₂ are the chaser, m₃ and m₄ the target; the chaser comes from the left, m₂ meets m₃.

    Positions are counted from the relaxed state in which m₂ and m₃ just touch. State: `q` positions (m), `v` velocities
    (m/s), `mode` that of the contact, `memory` the work of the contact force on both (J).
    """

    masses: Four  # kg
    stiffness: tuple[Scalar, Scalar]  # N/m, inside chaser and target
    damping: tuple[Scalar, Scalar]  # N s/m
    contact: AxialContact
    positions: Four  # m, at t = 0
    velocities: Four  # m/s, at t = 0
    delay: None

    def initial(self) -> State:
        mode = self.contact.first_mode(self.contact.touch(self.positions, self.velocities)).astype(int)
        return State(self.positions, self.velocities, (mode,), jnp.zeros(()))

    def names(self) -> list[str]:
        return [f"{word} of mass {number}" for word in ("position", "velocity") for number in range(1, 5)] + ["work"]

    def internal_forces(self, q: Four, v: Four) -> tuple[Scalar, Scalar]:
        """Compression of chaser and target (N), pushing their two masses apart."""
        chaser, target = (
            k * (q[i] - q[i + 1]) + c * (v[i] - v[i + 1])
            for k, c, i in zip(self.stiffness, self.damping, (0, 2), strict=True)
        )
        return chaser, target

    def flow(self, t: Scalar, x: State, delayed: tuple[Scalar]) -> Rate:
        (force,) = delayed
        chaser, target = self.internal_forces(x.q, x.v)
        loads = (-chaser, chaser - force, force - target, target)
        v = tuple(load / mass for load, mass in zip(loads, self.masses, strict=True))
        return Rate(x.v, v, force * (x.v[2] - x.v[1]))

    def sense(self, t: Scalar, x: State) -> Sensed:
        touch = self.contact.touch(x.q, x.v)
        force = self.contact.normal_force(x.mode[0], touch)
        return Sensed((force,), self.contact.guards(x.mode[0], touch), (force,))

    def jump(self, t: Scalar, x: State, fired: tuple[Bool[Array, ""], ...]) -> State:
        touch = self.contact.touch(x.q, x.v)
        return State(x.q, x.v, (self.contact.next_mode(x.mode[0], (fired[0], fired[1]), touch),), x.memory)

    def emitting(self, x: State) -> Bool[Array, ""]:
        return x.mode[0] != APART

    def ungated(self, x: State) -> State:
        return State(x.q, x.v, (jnp.asarray(GATED),), x.memory)

    def system_velocities(self, v: Four) -> tuple[Scalar, Scalar]:
        """Velocities (m/s) of the centres of mass of chaser and target."""
        m = self.masses
        return (m[0] * v[0] + m[1] * v[1]) / (m[0] + m[1]), (m[2] * v[2] + m[3] * v[3]) / (m[2] + m[3])

    def observe(self, t: Scalar, x: State, delayed: tuple[Scalar]) -> dict[str, Array]:
        """Named quantities at an instant; masses and systems (chaser, target) along the first axis."""
        touch = self.contact.touch(x.q, x.v)
        stretch = [x.q[0] - x.q[1], x.q[2] - x.q[3]]
        return {
            "position": jnp.stack(x.q),
            "velocity": jnp.stack(x.v),
            "system_velocity": jnp.stack(self.system_velocities(x.v)),
            "depth": touch.depth[None],
            "depth_rate": touch.rate[None],
            "normal_force": self.contact.normal_force(x.mode[0], touch)[None],
            "internal_force": jnp.stack(self.internal_forces(x.q, x.v)),
            "kinetic_energy": sum(0.5 * m * v**2 for m, v in zip(self.masses, x.v, strict=True)),
            "internal_energy": sum(0.5 * k * d**2 for k, d in zip(self.stiffness, stretch, strict=True)),
            "work": x.memory,
            "linear_momentum": sum(m * v for m, v in zip(self.masses, x.v, strict=True)),
            "linear_momentum_scale": sum(m * jnp.abs(v) for m, v in zip(self.masses, x.v, strict=True)),
        }
