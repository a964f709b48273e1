"""Elements of one structure between the same two bodies, as the struts of a hexapod, in one piece of code.

Units: those of the elements.
Source: sums of forces and of their moments.
"""

from __future__ import annotations

from collections.abc import Sequence

from dockdyn.deferred import Array, Bool, Float, PyTree, jnp
from dockdyn.elements.actor import ElementMemory
from dockdyn.elements.force_element import Action, ForceElement, Opposing
from dockdyn.integrate.model import over_rows
from dockdyn.mechanics.reflected import Reflected
from dockdyn.mechanics.rigid_body import Placed
from dockdyn.mechanics.vector import Scalar
from dockdyn.trees import leaves_of, map_leaves, structure_of


class ElementGroup(ForceElement):
    """Several elements, their numbers, modes and memories with a leading axis.

    However many they are, the program holds one copy of what they compute.
    """

    members: ForceElement

    @staticmethod
    def of(elements: Sequence[ForceElement]) -> ElementGroup:
        """Return the group of `elements` that have the same parts. Raises ValueError where they do not, or there is none."""
        if len({structure_of(element) for element in elements}) != 1:
            raise ValueError("the elements of a group must have the same parts")
        return ElementGroup(map_leaves(lambda *numbers: jnp.stack(numbers), *elements))

    @property
    def size(self) -> int:
        """How many there are."""
        return leaves_of(self.members)[0].shape[0]

    def init(self, own: Placed, other: Placed) -> ElementMemory:
        return over_rows(lambda one: one.init(own, other), self.members)

    def act(self, mode: PyTree, memory: ElementMemory, own: Placed, other: Placed) -> tuple[Action, ElementMemory]:
        actions, rates = self.act_each(mode, memory, own, other)
        return self._sum(actions, own), rates

    def borne(self, mode: PyTree, memory: ElementMemory, own: Placed, other: Placed) -> PyTree:
        return over_rows(lambda one, *row: one.borne(*row, own, other), self.members, mode, memory)

    def act_beyond(
        self, borne: PyTree, mode: PyTree, memory: ElementMemory, own: Placed, other: Placed
    ) -> tuple[Action, ElementMemory]:
        beyond = over_rows(lambda one, *row: one.act_beyond(*row, own, other), self.members, borne, mode, memory)
        return self._sum(beyond[0], own), beyond[1]

    def _sum(self, actions: Action, own: Placed) -> Action:
        """Return what the actions of all are together, at the centre of mass of the first body."""
        centre = own.pose.position
        moments = actions.moment + (actions.point - centre).cross(actions.force)
        force, moment = map_leaves(jnp.sum, (actions.force, moments))
        return Action(force, moment, centre)

    def act_each(self, mode: PyTree, memory: ElementMemory, own: Placed, other: Placed) -> tuple[Action, ElementMemory]:
        return over_rows(lambda one, *row: one.act(*row, own, other), self.members, mode, memory)

    def settle(self, memory: ElementMemory, own: Placed, other: Placed) -> tuple[PyTree, ElementMemory]:
        return over_rows(lambda one, row: one.settle(row, own, other), self.members, memory)

    def guards(self, mode: PyTree, memory: ElementMemory, own: Placed, other: Placed) -> tuple[Scalar, ...]:
        found = over_rows(lambda one, *row: one.guards(*row, own, other), self.members, mode, memory)
        return tuple(values[i] for i in range(self.size) for values in found)

    def corners(self, mode: PyTree, memory: ElementMemory, own: Placed, other: Placed) -> tuple[Scalar, ...]:
        found = over_rows(lambda one, *row: one.corners(*row, own, other), self.members, mode, memory)
        return tuple(values[i] for i in range(self.size) for values in found)

    def jump(
        self, mode: PyTree, fired: tuple[Bool[Array, ""], ...], memory: ElementMemory, own: Placed, other: Placed
    ) -> tuple[PyTree, ElementMemory]:
        if not fired:
            return mode, memory
        each = len(fired) // self.size
        sorted_by_guard = tuple(jnp.stack(fired[at::each]) for at in range(each))

        return over_rows(lambda one, *row: one.jump(*row, own, other), self.members, mode, sorted_by_guard, memory)

    def stored_energy(self, mode: PyTree, memory: ElementMemory, own: Placed, other: Placed) -> Scalar:
        return jnp.sum(over_rows(lambda one, *row: one.stored_energy(*row, own, other), self.members, mode, memory))

    def observe(self, mode: PyTree, memory: ElementMemory, own: Placed, other: Placed) -> dict[str, Array]:
        return over_rows(lambda one, *row: one.observe(*row, own, other), self.members, mode, memory)

    @property
    def is_damped_relatively(self) -> bool:
        return self.members.is_damped_relatively

    def effective_masses(self, own: Placed, other: Placed, opposing: Opposing) -> Float[Array, "*lines"]:
        return over_rows(lambda one: one.effective_masses(own, other, opposing), self.members)

    def with_damping_of(self, masses: Float[Array, "*lines"]) -> ElementGroup:
        return ElementGroup(over_rows(lambda one, row: one.with_damping_of(row), self.members, masses))

    def dashpots(self) -> dict[str, Float[Array, "*lines"]]:
        return over_rows(lambda one: one.dashpots(), self.members)

    def reflected(self, own: Placed, other: Placed) -> Reflected | None:
        return over_rows(lambda one: one.reflected(own, other), self.members)
