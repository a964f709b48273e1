"""Chaser and target of a berthing as a mechanism: their links as bodies, and what acts between the two once they have touched.

Units: SI throughout.
Source: own construction.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Protocol

import jax.numpy as jnp
from jaxtyping import Array, Float

from dockdyn.contact.group import ContactGroup
from dockdyn.contact.latch import Reach
from dockdyn.elements import Latch, Rigid
from dockdyn.mechanics.trees.composite_bodies import Configuration, Tree
from dockdyn.mechanics.trees.moving_bodies import MovingBodies
from dockdyn.mechanics.trees.tree_bodies import TreeBodies
from dockdyn.mechanism.impact_contact import ImpactContact
from dockdyn.mechanism.mechanism import Mechanism
from dockdyn.mechanism.mounts import Tie

REACH = 1e-3  # m: what joins at the start is caught wherever rounding has put it


class Half(Protocol):
    """A tree, how it starts, and by number the frame where it touches."""

    tree: Tree
    configuration: Configuration
    origin: Float[Array, "3"]  # m, from that frame to where the axes begin of what touches
    grip: int


def trees_of(sides: Sequence[Half], locked: Sequence[int]) -> MovingBodies:
    """Return the links as bodies, the frames where the two touch last; `locked` are velocity columns of the first tree."""
    counts = [len(side.tree.layout.names) - 1 for side in sides]
    trees, bodies, frames, links, first = [], [], [], [], 0
    for at, side in enumerate(sides):
        names = iter(range(sum(counts[:at]), sum(counts[: at + 1])))
        grip = sum(counts) + at
        members = [grip if link == side.grip else next(names) for link in range(counts[at] + 1)]
        tree = TreeBodies.of(side.tree, members, first, () if at else locked, {side.grip: side.origin})
        first += len(tree.numbers())
        trees.append(tree)
        own = dict(zip(members, tree.bodies, strict=True))
        frames.append(own.pop(grip))
        bodies += [own[number] for number in sorted(own)]
        links.append(members[side.tree.layout.parents[side.grip]])
    return MovingBodies((*bodies, *frames), tuple(trees), tuple(links))


def mechanism_of(
    sides: Sequence[Half],
    moving: MovingBodies,
    velocities: Sequence[Float[Array, "n"]],
    acting: ContactGroup | ImpactContact | Literal["pin", "weld"] | None,
) -> Mechanism:
    """Return chaser and target, `moving` as `trees_of` says, which start with these velocities (by tree), and what acts between
    the frames where they touch, which `grips` numbers: a contact, or a latch that falls in at once."""
    linked = tuple((side.configuration, own) for side, own in zip(sides, velocities, strict=True))
    here = moving.placed(*moving.begun((), (), (), linked))
    names = [f"{name} {link}" for name, side in zip(("chaser", "target"), sides, strict=True)
             for at, link in enumerate(side.tree.layout.names) if at != side.grip]  # fmt: skip
    elements: tuple[Tie, ...] = ()
    if isinstance(acting, str):
        reach, axis = jnp.asarray(REACH), jnp.asarray([1.0, 0.0, 0.0])
        latch = Latch(-sides[0].origin, -sides[1].origin, axis, reach, Reach(reach), Rigid(acting), jnp.ones(()))
        elements = (Tie(latch, "hold", *grips(moving)),)
    return Mechanism(
        bodies=moving.bodies,
        groups=() if acting is None or isinstance(acting, str) else (acting,),
        poses=tuple(body.pose for body in here.bodies),
        twists=tuple(body.twist for body in here.bodies),
        delay=None,
        elements=elements,
        trees=moving.trees,
        body_names=tuple(names),
        frames=moving.frames,
        linked=linked,
    )


def grips(moving: MovingBodies) -> tuple[int, int]:
    """Return the numbers of the frames where chaser and target touch."""
    return len(moving.bodies) - 2, len(moving.bodies) - 1
