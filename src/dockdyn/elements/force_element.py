"""What a force element between two bodies is: what it remembers, when its law changes, and the force it makes.

Units: forces N, moments N m, lengths m, energies J.
Source: definition of the interface.
"""

from __future__ import annotations

import abc
from typing import Any, NamedTuple, Self

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Bool, PyTree

from dockdyn.contact.latch import Caught
from dockdyn.mechanics.reflected import Reflected
from dockdyn.mechanics.rigid_body import Placed
from dockdyn.mechanics.rotation import Quaternion
from dockdyn.mechanics.vector import Scalar, Vector, once


class Action(NamedTuple):
    """What acts on the first body; the opposite acts on the other at the same point, so that momenta are kept."""

    force: Vector  # N, inertial
    moment: Vector  # N m, inertial, besides that of the force
    point: Vector  # m, inertial, where the force acts on both bodies

    def on(self, body: Placed) -> tuple[Vector, Vector]:
        """Force (N, inertial) and torque about its centre of mass (N m, body axes) on the first body, if that is `body`.

        On the other body they are the negative of what this says of it.
        """
        return once((self.force, body.torque(self.point, self.force) + body.rotation.transposed_times(self.moment)))


class ElementMemory(NamedTuple):
    """What an element remembers, or the rate of it; None where it has no such part."""

    travel: Scalar | None = None  # m, by which a motor has moved the free length
    work: Scalar | None = None  # J, of the motor
    slide: Scalar | None = None  # m, by which a brake has slid
    dissipated: Scalar | None = None  # J, in dampers, brake and stops
    caught: Vector | None = None  # m, where a latch caught a striker, axes of the body with the latch
    held: Scalar | None = None  # 1 once a latch holds, else 0
    impulse: Scalar | None = None  # N s, that a thruster has given, by size
    turned: Quaternion | None = None  # how a latch caught its striker's body, in the axes of the body with the latch
    since: Scalar | None = None  # s, for which a latch has held
    found: Caught | None = None  # what a capture had to take

    def slid(self, slide: Scalar, lost: Scalar) -> ElementMemory:
        """The memory once the brake has slid to `slide` (m), for which it took `lost` (J)."""
        return self._replace(slide=slide, dissipated=None if self.dissipated is None else self.dissipated + lost)


class ForceElement(eqx.Module):
    """A force between two bodies, the first called own.

    Its law is smooth while its modes, one integer for each part that has events, stay. Kinetic energy of the bodies and of
    reflected inertia, stored and dissipated energy less the motor's work are constant if nothing else acts. Events must be
    located: no mode is decided by the state alone, as runs of fixed steps would need.
    """

    @property
    def delays(self) -> bool:
        """Whether part of its force is late, as those of contacts are."""
        return False

    @abc.abstractmethod
    def init(self, own: Placed, other: Placed) -> ElementMemory:
        """What it remembers at t = 0."""

    @abc.abstractmethod
    def act(self, mode: PyTree, memory: ElementMemory, own: Placed, other: Placed) -> tuple[Action, ElementMemory]:
        """What it does to the bodies, and the rate of what it remembers."""

    @abc.abstractmethod
    def stored_energy(self, mode: PyTree, memory: ElementMemory, own: Placed, other: Placed) -> Scalar:
        """Energy (J) that it can give back."""

    @abc.abstractmethod
    def observe(self, mode: PyTree, memory: ElementMemory, own: Placed, other: Placed) -> dict[str, Scalar]:
        """Named quantities of an instant that are worth keeping."""

    def late(self, mode: PyTree, own: Placed, other: Placed) -> Vector:
        """Return what of its force the loop delays (N, inertial), of an element that `delays`: it acts at its `tip`."""
        return Vector.zero()

    def tip(self, own: Placed) -> Vector:
        """Return where that acts on both bodies (m, inertial)."""
        return own.pose.position

    def without_rest_force(self, own: Placed, other: Placed) -> Self:
        """Return the element whose late force is none where the bodies are at rest, for small motions around there."""
        return self

    def emits(self, mode: PyTree) -> Bool[Array, ""]:
        """Return whether there is any of it in this mode."""
        return jnp.asarray(False)

    def ended(self, mode: PyTree, memory: ElementMemory) -> Bool[Array, ""]:
        """Return whether a latch, of those that end a run, has done what it waits for: all of it holds."""
        assert memory.held is not None
        return jnp.all(memory.held > 0)

    def sizes(self, mode: PyTree, memory: ElementMemory, own: Placed, other: Placed) -> tuple[Scalar, ...]:
        """Return quantities whose peaks, and their times, are kept, as many in every mode."""
        return ()

    def settle(self, memory: ElementMemory, own: Placed, other: Placed) -> tuple[PyTree, ElementMemory]:
        """The modes that fit the state itself, at the start of a run or once a number of the element has changed.

        A brake that holds more than it now can slides at once; what that takes is in the memory.
        """
        return (), memory

    def guards(self, mode: PyTree, memory: ElementMemory, own: Placed, other: Placed) -> tuple[Scalar, ...]:
        """Event functions that rise through zero, as many in every mode."""
        return ()

    def jump(
        self, mode: PyTree, fired: tuple[Bool[Array, "*rows"], ...], memory: ElementMemory, own: Placed, other: Placed
    ) -> tuple[PyTree, ElementMemory]:
        """Modes and memory after the guards in `fired` have fired."""
        return mode, memory

    def reflected(self, own: Placed, other: Placed) -> Reflected | None:
        """Inertia that moves with the bodies along a line between them; None: there is none.

        It is no part of `act`, for its force depends on all accelerations: `coupled_acceleration` has both.
        """
        return None


def nothing_yet(*parts: str) -> ElementMemory:
    """A memory of these parts, all zero."""
    zeros: dict[str, Any] = {name: jnp.zeros(()) for name in parts}
    return ElementMemory(**zeros)
