"""Rigid latches of a mechanism: the connections that close with them, what they carry, and the jump as one falls in.

Units: SI.
Source: as in `connections` and `strikes`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from dockdyn.contact.group import Wrench
from dockdyn.elements import RigidLatch
from dockdyn.elements.force_element import ElementMemory
from dockdyn.integrate.model import Scalar
from dockdyn.mechanics.lines import Lines
from dockdyn.mechanics.reflected import reflected_lines
from dockdyn.mechanics.rigid_body import Placed
from dockdyn.mechanics.trees.moving_bodies import MovingBodies, Placement, Velocities
from dockdyn.mechanics.vector import Vector
from dockdyn.mechanism.connections import Connection
from dockdyn.mechanism.loads import Connection as Mounted
from dockdyn.mechanism.loads import Tie, reflected
from dockdyn.mechanism.strikes import stop, strike


class Grip(NamedTuple):
    """A rigid latch, by the number of its element, and the connection that closes with it."""

    element: int
    connection: Connection

    def closed(self, memories: Sequence[ElementMemory]) -> Bool[Array, ""]:
        """Return whether it holds."""
        held = memories[self.element].held
        assert held is not None
        return held > 0


def grips_of(elements: Sequence[Mounted]) -> list[Grip]:
    """Return the rigid latches among elements."""
    return [
        Grip(number, Connection(one.element.striker, one.first, one.second, one.element.hold))
        for number, one in enumerate(elements)
        if isinstance(one, Tie) and isinstance(one.element, RigidLatch)
    ]


def lines_of(grips: Sequence[Grip], memories: Sequence[ElementMemory], places: Sequence[Placed]) -> Lines | None:
    """Return the lines of all grips, closed or open; None where there is none."""
    found = [grip.connection.lines(places, grip.closed(memories)) for grip in grips]
    return Lines.joined(found) if found else None


def add_held(
    loads: list[Wrench], grips: Sequence[Grip], lines: Lines, along: Float[Array, "lines"], places: Sequence[Placed]
) -> tuple[Scalar, ...]:
    """Add to `loads` (about centres of mass, inertial) what grips put on the bodies; return the force (N) of each."""
    pushed = jnp.einsum("k,kbi->bi", along, lines.rows)
    for number, place in enumerate(places):
        row = pushed[number]
        loads[number] = loads[number].plus(Wrench(Vector.of(row[:3]), place.rotation @ Vector.of(row[3:])))
    forces, first = [], 0
    for grip in grips:
        force = along[first : first + 3]
        forces.append(jnp.sqrt(force @ force))
        first += 3 if grip.connection.hold == "pin" else 6
    return tuple(forces)


def fall_in(
    bodies: MovingBodies,
    place: Callable[[Velocities], Placement],
    v: Velocities,
    elements: Sequence[Mounted],
    before: Sequence[ElementMemory],
    after: tuple[ElementMemory, ...],
) -> tuple[Velocities, tuple[ElementMemory, ...]]:
    """Return velocities and memories once those grips have ended the slip that hold `after` an event, and did not `before`.

    Those that let go are open by then. One falls in after another, and what is closed by then stays closed. The energy that is
    lost counts as dissipated by the latch. `place` gives the bodies where they are, as they move at other velocities; the
    `elements` may reflect inertia, which resists, too.
    """
    grips, now, found = grips_of(elements), list(before), list(after)
    for number in (grip.element for grip in grips):
        held, holds = before[number].held, after[number].held
        assert held is not None and holds is not None
        now[number] = before[number]._replace(held=jnp.minimum(held, holds))
    for grip in grips:
        others = [one for one in grips if one.element != grip.element]
        own = after[grip.element]
        assert own.dissipated is not None

        def jumped(
            grip: Grip = grip,
            others: list[Grip] = others,
            memories: tuple[ElementMemory, ...] = tuple(now),
            v: Velocities = v,
        ) -> tuple[Velocities, Scalar]:
            here = place(v)
            parts = (
                reflected_lines(len(here.bodies), reflected(elements, here)),
                lines_of(others, memories, here.bodies),
            )
            kept = [one for one in parts if one is not None]
            rows = grip.connection.rows(here.bodies)
            struck = strike(bodies, here, rows, stop, Lines.joined(kept) if kept else None)
            return jax.tree.map(jnp.add, v, struck.change), struck.impact.energy_loss

        falls = grip.closed(after) & ~grip.closed(before)
        v, loss = jax.lax.cond(falls, jumped, lambda v=v: (v, jnp.zeros(())))
        now[grip.element] = own
        found[grip.element] = own._replace(dissipated=own.dissipated + loss)
    return v, tuple(found)
