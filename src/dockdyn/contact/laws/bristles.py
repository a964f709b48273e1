"""Friction by bristles: what it remembers bends as the surfaces slide, and is let go as they part.

Units: lengths m, speeds m/s, forces N.
Source: definition of the interface.
"""

from __future__ import annotations

import abc
from collections.abc import Callable, Sequence
from typing import NamedTuple

from dockdyn.contact.laws.friction import Friction, length_of
from dockdyn.contact.laws.normal_law import NormalLaw
from dockdyn.deferred import jax, jnp
from dockdyn.mechanics.vector import Scalar, Vector
from dockdyn.trees import map_leaves

ROUNDING = 1e-9  # of a stretch


class BristleMemory(NamedTuple):
    """By how much bristles are bent, in the axes of the second body, or the rate of it."""

    stretch: Vector  # m

    def between(self, start: BristleMemory) -> BristleMemory:
        """Return it within a step that began with `start`: what follows its rate."""
        return self


class BristleGrip(NamedTuple):
    """What bristles do to the first body, in the axes of the second."""

    stretch: Vector  # m, tangential
    force: Vector  # N
    stored_energy: Scalar  # J


class Bristles(Friction):
    """A friction law that remembers. One of your own is a subclass with `bend` and `pull`, parameters as fields.

    The stretch of the bristles is kept in the axes of the second body, and lies in the plane that touches.
    """

    @abc.abstractmethod
    def bend(self, stretch: Vector, sliding: Vector) -> Vector:
        """Return how fast (m/s) bristles that are bent by a `stretch` (m) bend further as a body slides at a velocity (m/s)."""

    @abc.abstractmethod
    def pull(self, normal_force: Scalar, stretch: Vector, sliding: Vector) -> Vector:
        """Return the force (N) on the body that slides at a velocity (m/s), under `normal_force` (N)."""

    def stored_energy(self, normal_force: Scalar, stretch: Vector) -> Scalar:
        """Return the energy (J) that bent bristles give back; none by default."""
        return jnp.zeros(())

    def force(self, normal_force: Scalar, sliding: Vector) -> Vector:
        return self.pull(normal_force, Vector.zero(), sliding)

    def remembers(self) -> bool:
        return True

    def asks_for_steps(self) -> bool:
        return False

    def under(self, law: NormalLaw) -> Bristles:
        """Return the friction of a contact that presses by a `law`: itself."""
        return self

    def turns(self) -> int:
        """Return how many quantities turn where a step must end: none, bristles bend smoothly."""
        return 0

    def unstretched(self) -> tuple[BristleMemory, ...]:
        """Return what it remembers at first."""
        return (BristleMemory(Vector.zero()),)

    def motions(self, normal: Vector, sliding: Vector, turning: Vector) -> tuple[Vector, ...]:
        """Return how fast (m/s) the first body moves over the second."""
        return (sliding,)

    def memory_rates(
        self,
        past: Sequence[BristleMemory],
        motions: Sequence[Vector],
        turning_normal: Callable[[], tuple[Vector, Vector]],
        grips: Callable[[], tuple[BristleGrip, ...]],
    ) -> tuple[BristleMemory, ...]:
        """Return the rate of what it remembers at velocities (m/s) that are told as `motions`.

        Bristles turn with the plane that touches, of which `turning_normal` tells the normal and its rate (1/s), however it
        `grips`.
        """
        normal, turning = turning_normal()
        both = zip((one.stretch for one in past), motions, strict=True)
        return tuple(BristleMemory(self.bend(bent, motion) - normal * bent.dot(turning)) for bent, motion in both)

    def grips(
        self, past: Sequence[BristleMemory], normal: Vector, depth: Scalar, pressing: Scalar, motions: Sequence[Vector]
    ) -> tuple[BristleGrip, ...]:
        """Return what it does at a `depth` (m) under a normal force (N), for each of the `motions` (m/s)."""
        presses = jnp.maximum(pressing, 0.0)
        found = []
        for (stretch,), motion in zip(past, motions, strict=True):
            along = stretch - normal * stretch.dot(normal)
            found.append(BristleGrip(along, self.pull(presses, along, motion), self.stored_energy(presses, along)))
        return tuple(found)

    def slipped(self, past: Sequence[BristleMemory], grips: Sequence[BristleGrip]) -> tuple[Scalar, ...]:
        """Return what turns where a step must end: nothing."""
        return ()

    def load(self, grips: Sequence[BristleGrip]) -> tuple[Vector, Vector | None]:
        """Return the force (N) on the first body, in the second's axes, and that it bears no torque."""
        (grip,) = grips
        return grip.force, None

    def renewed(
        self, past: Sequence[BristleMemory], grips: Sequence[BristleGrip], depth: Scalar, touches: Scalar
    ) -> tuple[BristleMemory, ...]:
        """Return what it remembers where a step ends: bristles of what no longer `touches`, 1 or 0, are straight again."""

        def one(stretch: Vector, along: Vector) -> BristleMemory:
            # what lies in the plane but for rounding is left, so that nothing is decided anew
            bent = length_of(stretch - along) > ROUNDING * length_of(stretch)
            return BristleMemory(map_leaves(lambda new, old: jnp.where(bent, new, old) * touches, along, stretch))

        return tuple(one(before.stretch, grip.stretch) for before, grip in zip(past, grips, strict=True))

    def energy_in(self, grips: Sequence[BristleGrip]) -> Scalar:
        """Return the energy (J) of what is bent."""
        (grip,) = grips
        return grip.stored_energy

    def resting_load(
        self, depth: Scalar, pressing: Scalar, stretches: Sequence[Vector], rates: Sequence[Vector]
    ) -> tuple[Vector, Vector | None]:
        """Return the force (N) on the first body of what sticks, pressed with a force (N), and was moved so far (m) and moves
        so fast (m/s): to first order about bristles that are straight, which then bend as the body moves."""
        still = Vector.zero()
        _, force = jax.jvp(lambda *given: self.pull(pressing, *given), (still, still), (stretches[0], rates[0]))
        return force, None
