"""What a force element between two bodies is: the force it makes, at once or late, and the inertia that it reflects.

Units: forces N, moments N m, lengths m, energies J.
Source: definition of the interface.
"""

from __future__ import annotations

import abc
from typing import NamedTuple, Self

from dockdyn.deferred import Array, Bool, Float, PyTree, jnp
from dockdyn.elements.actor import Actor, ElementMemory
from dockdyn.mechanics.reflected import Reflected
from dockdyn.mechanics.rigid_body import Placed
from dockdyn.mechanics.vector import Scalar, Vector, once


class Action(NamedTuple):
    """What acts on the first body; the opposite acts on the other at the same point, so that momenta are kept."""

    force: Vector  # N, inertial
    moment: Vector  # N m, inertial, besides that of the force
    point: Vector  # m, inertial, where the force acts on both bodies

    def on(self, body: Placed) -> tuple[Vector, Vector]:
        """Return the force (N, inertial) and torque about its centre of mass (N m, body axes) on the first body, if that is
        `body`.

        On the other body they are the negative of what this says of it.
        """
        return once((self.force, body.torque(self.point, self.force) + body.rotation.transposed_times(self.moment)))


class Opposing(abc.ABC):
    """What two bodies, and all that joints and rigid grips hold to them, oppose to forces between them."""

    @abc.abstractmethod
    def along(self, point: Vector, end: Vector, axis: Vector) -> Scalar:
        """Return the effective mass (kg) along an `axis` (unit vector, inertial) between a `point` (m, inertial) of the first
        body and an `end` of the other; infinite where neither can move."""

    @abc.abstractmethod
    def about(self, axis: Vector) -> Scalar:
        """Return the effective moment of inertia (kg m²) about an `axis` (unit vector, inertial)."""


class ForceElement(Actor[Placed, Placed]):
    """A force between two bodies, the first called own.

    Kinetic energy of the bodies and of reflected inertia, stored and dissipated energy less the motor's work are constant if
    nothing else acts. Modes change at events alone; with fixed steps at the end of the step into which one falls.
    """

    @property
    def delays(self) -> bool:
        """Whether part of its force is late, as those of contacts are."""
        return False

    @abc.abstractmethod
    def act(self, mode: PyTree, memory: ElementMemory, own: Placed, other: Placed) -> tuple[Action, ElementMemory]:
        """Return what it does to the bodies, and the rate of what it remembers."""

    def borne(self, mode: PyTree, memory: ElementMemory, own: Placed, other: Placed) -> PyTree:
        """Return what it bears here, for `act_beyond` to take off: its force (N) and moment (N m) in the axes of the other."""
        action, _ = self.act(mode, memory, own, other)
        turn = other.rotation
        return turn.transposed_times(action.force), turn.transposed_times(action.moment)

    def act_beyond(
        self, borne: PyTree, mode: PyTree, memory: ElementMemory, own: Placed, other: Placed
    ) -> tuple[Action, ElementMemory]:
        """Return what it does to the bodies beyond what it has `borne` at rest, for small motions around there, and the rate of
        what it remembers. What is borne turns with the element, so that its turning counts for nothing."""
        action, rate = self.act(mode, memory, own, other)
        turn, (force, moment) = other.rotation, borne
        return Action(action.force - turn @ force, action.moment - turn @ moment, action.point), rate

    def act_each(self, mode: PyTree, memory: ElementMemory, own: Placed, other: Placed) -> tuple[Action, ElementMemory]:
        """Return the same of each of several elements of one structure, with a leading axis; of a single one what it does."""
        return self.act(mode, memory, own, other)

    @abc.abstractmethod
    def stored_energy(self, mode: PyTree, memory: ElementMemory, own: Placed, other: Placed) -> Scalar:
        """Return the energy (J) that it can give back."""

    @abc.abstractmethod
    def observe(self, mode: PyTree, memory: ElementMemory, own: Placed, other: Placed) -> dict[str, Scalar]:
        """Return named quantities of an instant that are worth keeping."""

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
        return jnp.all(memory.holds())

    def sizes(self, mode: PyTree, memory: ElementMemory, own: Placed, other: Placed) -> tuple[Scalar, ...]:
        """Return quantities whose peaks, and their times, are kept, as many in every mode."""
        return ()

    @property
    def is_damped_relatively(self) -> bool:
        """Return whether its damping is stated relative to its effective masses."""
        return False

    def effective_masses(self, own: Placed, other: Placed, opposing: Opposing) -> Float[Array, "*lines"]:
        """Return the effective masses (kg, kg m²) along its lines. Raises NotImplementedError for one not damped relatively."""
        raise NotImplementedError

    def with_damping_of(self, masses: Float[Array, "*lines"]) -> Self:
        """Return it with the damping that follows from what `effective_masses` has returned."""
        return self

    def dashpots(self) -> dict[str, Float[Array, "*lines"]]:
        """Return the damping (N s/m, N m s/rad) along the lines of `effective_masses`, by what it is of."""
        return {}

    def reflected(self, own: Placed, other: Placed) -> Reflected | None:
        """Return the inertia that moves with the bodies along a line between them; None: there is none.

        It is no part of `act`, for its force depends on all accelerations: `coupled_acceleration` has both.
        """
        return None
