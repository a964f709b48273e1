"""A thruster that pushes one body with a force that is given.

Units: forces N, lengths m, impulses N s.
Source: definition; the mass that leaves is neglected.
"""

from __future__ import annotations

from dockdyn.deferred import Array, Float, PyTree
from dockdyn.elements.actor import Actor, ElementMemory, nothing_yet
from dockdyn.elements.force_element import Action
from dockdyn.mechanics.rigid_body import Placed
from dockdyn.mechanics.vector import Vector


class Thruster(Actor[Placed]):
    """A force at a place of a body, along a direction of it, whatever the motion.

    Nothing takes the opposite of its force.
    """

    position: Float[Array, "3"]  # m, body axes, from the centre of mass
    direction: Float[Array, "3"]  # unit vector in which it pushes the body, body axes
    force: Float[Array, ""]  # N

    def init(self, body: Placed) -> ElementMemory:
        """Return what it remembers at t = 0."""
        return nothing_yet("impulse")

    def act(self, mode: PyTree, memory: ElementMemory, body: Placed) -> tuple[Action, ElementMemory]:
        """Return what it does to the body, and the rate of what it remembers."""
        push = body.rotation @ (Vector.of(self.direction) * self.force)
        return Action(push, Vector.zero(), body.point(Vector.of(self.position))), ElementMemory(impulse=self.force)

    def observe(self, mode: PyTree, memory: ElementMemory, body: Placed) -> dict[str, Array]:
        """Return its `thrust` (N), that as a vector, `push` (N, inertial), and the `spent` impulse (N s) that it has given."""
        assert memory.impulse is not None
        push = self.act(mode, memory, body)[0].force.array()
        return {"thrust": self.force, "push": push, "spent": memory.impulse}
