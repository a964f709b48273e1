"""Two chains of masses on a line, chaser and target, with springs and dampers inside (Paraskevas et al., Fig. 1b).

Units: kg, m, m/s, N/m, N s/m.
Source: as named above.
"""

from __future__ import annotations

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array

from dockdyn.integrate.model import Scalar

Numbers = tuple[Scalar, ...]  # one a mass: chaser first, in the order on the line


class Chains(eqx.Module):
    """The last mass of the chaser meets the first of the target; the chaser comes from the left.

    Positions are counted from the relaxed state in which these two just touch.
    """

    masses: tuple[Numbers, Numbers]  # kg, of chaser and target
    stiffness: tuple[Numbers, Numbers]  # N/m, between neighbours
    damping: tuple[Numbers, Numbers]  # N s/m

    @property
    def meeting(self) -> int:
        """Which of all masses is the chaser's last; the next one is the target's first."""
        return len(self.masses[0]) - 1

    def all_masses(self) -> Numbers:
        return self.masses[0] + self.masses[1]

    def internal_forces(self, q: Numbers, v: Numbers) -> tuple[Numbers, Numbers]:
        """Compressions of the springs of chaser and target (N): they push neighbours apart."""
        found, at = [], 0
        for stiffness, damping in zip(self.stiffness, self.damping, strict=True):
            pairs = range(at, at + len(stiffness))
            found.append(
                tuple(
                    k * (q[i] - q[i + 1]) + c * (v[i] - v[i + 1])
                    for k, c, i in zip(stiffness, damping, pairs, strict=True)
                )
            )
            at += len(stiffness) + 1
        return found[0], found[1]

    def accelerations(self, q: Numbers, v: Numbers, force: Scalar) -> Numbers:
        """Accelerations (m/s²) under the `force` (N) that pushes the two masses that meet apart."""
        chaser, target = self.internal_forces(q, v)
        none = jnp.zeros(())
        between = (*chaser, force, *target)
        loads = [a - b for a, b in zip((none, *between), (*between, none), strict=True)]
        return tuple(load / mass for load, mass in zip(loads, self.all_masses(), strict=True))

    def approach(self, values: Numbers) -> Scalar:
        """What the chaser's last mass is ahead of the target's first: depth of positions, closing speed of velocities."""
        return values[self.meeting] - values[self.meeting + 1]

    def system_velocities(self, v: Numbers) -> tuple[Scalar, Scalar]:
        """Velocities (m/s) of the centres of mass of chaser and target."""
        parts = (v[: self.meeting + 1], v[self.meeting + 1 :])
        shares = [
            sum((m * u for m, u in zip(masses, part, strict=True)), jnp.zeros(())) / sum(masses)
            for masses, part in zip(self.masses, parts, strict=True)
        ]
        return shares[0], shares[1]

    def kinetic_energy(self, v: Numbers) -> Scalar:
        """J."""
        return sum((0.5 * m * u**2 for m, u in zip(self.all_masses(), v, strict=True)), jnp.zeros(()))

    def observe(self, q: Numbers, v: Numbers) -> dict[str, Array]:
        """Named quantities; masses and systems (chaser, target) along the first axis."""
        still = tuple(jnp.zeros(()) for _ in v)
        chaser, target = self.internal_forces(q, v)
        springs = zip(self.stiffness[0] + self.stiffness[1], sum(self.internal_forces(q, still), ()), strict=True)
        momenta = [m * u for m, u in zip(self.all_masses(), v, strict=True)]
        return {
            "position": jnp.stack(q),
            "velocity": jnp.stack(v),
            "system_velocity": jnp.stack(self.system_velocities(v)),
            "internal_force": jnp.stack(chaser + target) if chaser + target else jnp.zeros(0),
            "kinetic_energy": self.kinetic_energy(v),
            "internal_energy": sum((0.5 * force**2 / k for k, force in springs), jnp.zeros(())),
            "linear_momentum": sum(momenta, jnp.zeros(())),
            "linear_momentum_scale": sum((jnp.abs(part) for part in momenta), jnp.zeros(())),
        }
