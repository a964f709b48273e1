"""Where actors are mounted in a mechanism: between two bodies, in a joint, on the modes of a link, on one body.

Units: SI.
Source: sums over the actors, each of which names its own.
"""

from __future__ import annotations

import abc
from collections.abc import Sequence
from typing import Any, NamedTuple

from dockdyn.contact.group import Wrench
from dockdyn.contact.latch import Ramp
from dockdyn.deferred import Array, Float, PyTree, jnp
from dockdyn.elements import ElementGroup, JointDrive, Latch, ModalSpring, Thruster
from dockdyn.elements.actor import Actor, ElementMemory
from dockdyn.elements.force_element import ForceElement
from dockdyn.elements.tree_springs import TreeSprings
from dockdyn.integrate.model import Scalar, over_rows
from dockdyn.mechanics.rigid_body import Placed
from dockdyn.mechanics.trees.moving_bodies import Placement
from dockdyn.mechanics.trees.partial_motion import row_of_motions
from dockdyn.mechanics.trees.tree_bodies import TreePlace
from dockdyn.mechanics.vector import Vector
from dockdyn.trees import AbstractVar, Module, field


class Borne(NamedTuple):
    """What an element between two bodies bears at rest."""

    force: Vector  # N, inertial, on the first body
    load: PyTree  # as the element's `borne`


# taken off at rest: of an element what it bears, of a joint or modes the effort; of a thruster none
type Held = Borne | Array | None


class Load(NamedTuple):
    """What one actor does at an instant; joints and modes by number among the coordinates."""

    wrenches: Sequence[tuple[int, Wrench]] = ()  # between bodies, on each about its centre of mass, inertial
    efforts: Sequence[tuple[int, Scalar]] = ()  # N m or N
    pushes: Sequence[tuple[int, Wrench]] = ()  # from outside, as wrenches


class Mount(Module):
    """An actor, or several of one structure, and what of a mechanism it acts on."""

    element: AbstractVar[Actor]
    name: AbstractVar[str]

    @abc.abstractmethod
    def sides(self, here: Placement) -> tuple[Any, ...]:
        """Return how what it acts on is now."""

    @abc.abstractmethod
    def load(self, mode: PyTree, memory: ElementMemory, here: Placement, rest: Held) -> tuple[Load, ElementMemory]:
        """Return what it does, less what it does at `rest` where that is known, and the rate of what it remembers."""

    @abc.abstractmethod
    def held(self, mode: PyTree, memory: ElementMemory, here: Placement) -> Held:
        """Return what it does here, as it is taken off at rest."""

    def observe(self, mode: PyTree, memory: ElementMemory, here: Placement) -> dict[str, Array]:
        """Return named quantities of an instant that are worth keeping."""
        return {}


class Tie(Mount):
    """An element, or several of one structure, between two bodies by number."""

    element: ForceElement
    name: str = field(static=True)
    first: int = field(static=True)
    second: int = field(static=True)
    own: bool = field(static=True, default=False)  # of the user's own: of what it shows, the tension alone is kept

    def sides(self, here: Placement) -> tuple[Placed, Placed]:
        return here.bodies[self.first], here.bodies[self.second]

    def load(self, mode: PyTree, memory: ElementMemory, here: Placement, rest: Held) -> tuple[Load, ElementMemory]:
        sides = self.sides(here)
        if isinstance(rest, Borne):
            action, rate = self.element.act_beyond(rest.load, mode, memory, *sides)
        else:
            action, rate = self.element.act(mode, memory, *sides)
        wrench = Wrench(action.force, action.moment)
        return Load(on_both((self.first, self.second), wrench, action.point, here.bodies)), rate

    def held(self, mode: PyTree, memory: ElementMemory, here: Placement) -> Borne:
        known = mode, memory, *self.sides(here)
        return Borne(self.element.act(*known)[0].force, self.element.borne(*known))

    def observe(self, mode: PyTree, memory: ElementMemory, here: Placement) -> dict[str, Array]:
        seen = self.element.observe(mode, memory, *self.sides(here))
        return {name: value for name, value in seen.items() if name == "tension" or not self.own}


class MountedLatch(NamedTuple):
    """A latch between two bodies by number, and its number among the elements."""

    latch: Latch
    first: int  # the body with the striker
    second: int
    number: int

    def sides(self, here: Placement) -> tuple[Placed, Placed]:
        """Return its two bodies."""
        return here.bodies[self.first], here.bodies[self.second]


class DrivenJoint(Mount):
    """What acts in a joint by number."""

    element: JointDrive
    name: str = field(static=True)
    joint: int = field(static=True)

    def sides(self, here: Placement) -> tuple[Scalar, Scalar]:
        return here.joints[self.joint]

    def load(self, mode: PyTree, memory: ElementMemory, here: Placement, rest: Held) -> tuple[Load, ElementMemory]:
        effort, rate = self.element.act(mode, memory, *self.sides(here))
        return Load(efforts=[(self.joint, _without_rest(effort, rest))]), rate

    def held(self, mode: PyTree, memory: ElementMemory, here: Placement) -> Scalar:
        return self.element.act(mode, memory, *self.sides(here))[0]


class BendingLink(Mount):
    """What holds a flexible link in shape, its modes by number among the coordinates."""

    element: ModalSpring
    name: str = field(static=True)
    lowest: Float[Array, ""] | None  # rad/s, of its modes, where spin should stiffen them and does not
    modes: tuple[int, ...] = field(static=True)
    body: int = field(static=True)

    def spin_share(self, rate: Vector) -> Scalar:
        """Return how fast a link with this `rate` (rad/s) turns beside its lowest frequency; 0 of one that spin stiffens."""
        if self.lowest is None:
            return jnp.zeros(())
        return jnp.sqrt(rate.dot(rate) + 1e-300) / self.lowest  # at rest, too, it has a derivative

    def sides(self, here: Placement) -> tuple[Float[Array, "modes"], Float[Array, "modes"]]:
        return row_of_motions(here.joints, self.modes, 0), row_of_motions(here.joints, self.modes, 1)

    def load(self, mode: PyTree, memory: ElementMemory, here: Placement, rest: Held) -> tuple[Load, ElementMemory]:
        bending, rate = self.element.act(mode, memory, *self.sides(here))
        return Load(efforts=list(zip(self.modes, _without_rest(bending, rest), strict=True))), rate

    def held(self, mode: PyTree, memory: ElementMemory, here: Placement) -> Float[Array, "modes"]:
        return self.element.act(mode, memory, *self.sides(here))[0]


class InnerSprings(Mount):
    """Springs and dampers inside a tree with large beams, by number among such trees; the tree itself feels them."""

    element: TreeSprings
    name: str = field(static=True)
    tree: int = field(static=True)

    def sides(self, here: Placement) -> tuple[TreePlace]:
        return (here.trees[self.tree],)

    def load(self, mode: PyTree, memory: ElementMemory, here: Placement, rest: Held) -> tuple[Load, ElementMemory]:
        return Load(), self.element.act(mode, memory, *self.sides(here))[1]

    def held(self, mode: PyTree, memory: ElementMemory, here: Placement) -> None:
        return None


class MountedThruster(Mount):
    """A thruster on a body by number; at rest it is left out."""

    element: Thruster
    name: str = field(static=True)
    body: int = field(static=True)

    def sides(self, here: Placement) -> tuple[Placed]:
        return (here.bodies[self.body],)

    def load(self, mode: PyTree, memory: ElementMemory, here: Placement, rest: Held) -> tuple[Load, ElementMemory]:
        action, rate = self.element.act(mode, memory, *self.sides(here))
        push = about_centre(Wrench(action.force, action.moment), action.point, here.bodies[self.body])
        return Load(pushes=[(self.body, push)]), rate

    def held(self, mode: PyTree, memory: ElementMemory, here: Placement) -> None:
        return None

    def observe(self, mode: PyTree, memory: ElementMemory, here: Placement) -> dict[str, Array]:
        seen = self.element.observe(mode, memory, *self.sides(here))
        return seen | {"push": seen["push"][None]}  # a row


def _without_rest(effort: Array, rest: Held) -> Array:
    """Return an effort less that at rest, if that is taken off."""
    return effort if rest is None or isinstance(rest, Borne) else effort - rest


def about_centre(wrench: Wrench, point: Vector, place: Placed) -> Wrench:
    """Return a wrench at a point (m, inertial) as one about a body's centre of mass."""
    lever = point - place.pose.position
    return Wrench(wrench.force, wrench.moment + lever.cross(wrench.force))


def on_both(
    bodies: tuple[int, int], wrench: Wrench, point: Vector, places: tuple[Placed, ...]
) -> list[tuple[int, Wrench]]:
    """Return what a wrench (inertial) at a point (m) on the first of two bodies, and the opposite on the second, are about
    their centres of mass."""
    found = []
    for number, side in zip(bodies, (1.0, -1.0), strict=True):
        load = about_centre(wrench, point, places[number])
        found.append((number, Wrench(load.force * side, load.moment * side)))
    return found


def ties_among(mounts: Sequence[Mount]) -> list[Tie]:
    """Return those between two bodies."""
    return [one for one in mounts if isinstance(one, Tie)]


def latches_of(mounts: Sequence[Mount]) -> list[MountedLatch]:
    """Return the latches among them, but those of a group of one structure."""
    return [
        MountedLatch(one.element, one.first, one.second, number)
        for number, one in enumerate(mounts)
        if isinstance(one, Tie) and isinstance(one.element, Latch)
    ]


def ramps_of(mounts: Sequence[Mount]) -> list[MountedLatch]:
    """Return the latches that a probe's tip pushes aside on a ramp."""
    return [one for one in latches_of(mounts) if isinstance(one.latch.entry, Ramp)]


def caught_from(mounts: Sequence[Mount], here: Placement) -> dict[str, Scalar]:
    """Return how far (m) from its seat each latch among them, by its name, catches what it holds where the bodies begin: of
    several strikers the farthest, zero of what is free. Connections are none."""
    found: dict[str, Scalar] = {}
    for one in ties_among(mounts):
        group = one.element if isinstance(one.element, ElementGroup) else None
        latch = one.element if group is None else group.members
        if isinstance(latch, Latch) and not latch.joins:
            own, other = one.sides(here)
            rows = None if group is None else over_rows(lambda row, a=own, b=other: row.caught_from(a, b), latch)
            found[one.name] = latch.caught_from(own, other) if rows is None else jnp.max(rows)
    return found
