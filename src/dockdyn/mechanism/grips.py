"""Latches of a mechanism: the connections that close with rigid ones, what they carry, and what it takes as one falls in.

Units: SI.
Source: as in `connections` and `strikes`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from dockdyn.contact.group import Wrench
from dockdyn.contact.latch import Caught
from dockdyn.deferred import Array, Bool, Float, jax, jnp
from dockdyn.elements.actor import ElementMemory
from dockdyn.elements.latch import Latch, vector_length
from dockdyn.mechanics.lines import Lines
from dockdyn.mechanics.reflected import reflected_lines
from dockdyn.mechanics.rigid_body import Placed
from dockdyn.mechanics.trees.bodies_on_line import Moving
from dockdyn.mechanics.trees.moving_bodies import MovingBodies, Placement, Velocities
from dockdyn.mechanics.vector import Vector
from dockdyn.mechanism.connections import Connection
from dockdyn.mechanism.loads import reflected_inertia
from dockdyn.mechanism.mounts import Mount, MountedLatch, Tie, latches_of
from dockdyn.mechanism.strikes import Struck, strike_bodies
from dockdyn.trees import map_leaves


class Grip(NamedTuple):
    """A latch, by the number of its element, and the connection that closes with it, or would if it were not compliant."""

    element: int
    connection: Connection
    rigid: bool = True

    def closed(self, memories: Sequence[ElementMemory]) -> Bool[Array, ""]:
        """Return whether it holds."""
        return memories[self.element].holds()


def capturing_grips(elements: Sequence[Mount], bodies: Moving) -> list[Grip]:
    """Return the latches among elements that are rigid, or tell what a capture has to take."""
    latches = latches_of(elements)
    ends = [(one.first, one.second) for one in latches if one.latch.rigid]
    loop = close_loops([(bodies.held_with(first)[0], bodies.held_with(second)[0]) for first, second in ends])

    def connection(one: MountedLatch) -> Connection:
        hold = "line" if bodies.directions == 1 else one.latch.hold
        yields = free_yields(bodies, one) if loop else None
        return Connection(one.latch.striker, one.first, one.second, hold, bodies.directions == 2, yields)

    mounted = [one for one in latches if one.latch.rigid or one.latch.delays]
    return [Grip(one.number, connection(one), one.latch.rigid) for one in mounted]


def free_yields(bodies: Moving, one: MountedLatch) -> Float[Array, "2"]:
    """Return how the bodies of a latch would yield to a force (1/kg) and to a torque (1/(kg m²)) if nothing held them."""
    found = jnp.zeros(2)
    for number in (one.first, one.second):
        own = bodies.bodies[bodies.link(number) if isinstance(bodies, MovingBodies) else number]
        mass, turning = bodies.mass_at(number), jnp.linalg.norm(own.inverse_inertia)
        found += jnp.stack([1 / mass, jnp.where(jnp.isfinite(turning), turning, 0.0)])
    return found


def grips_of(elements: Sequence[Mount], bodies: Moving) -> list[Grip]:
    """Return the rigid latches among elements."""
    return [grip for grip in capturing_grips(elements, bodies) if grip.rigid]


def close_loops(pairs: Sequence[tuple[int, int]]) -> bool:
    """Return whether holding together all `pairs`, each of two numbers of what joints hold together, would close a loop."""
    reached: dict[int, int] = {}

    def root(number: int) -> int:
        return root(reached[number]) if number in reached else number

    for pair in pairs:
        first, second = map(root, pair)
        if first == second:
            return True
        reached[first] = second
    return False


def lines_of(grips: Sequence[Grip], memories: Sequence[ElementMemory], places: Sequence[Placed]) -> Lines | None:
    """Return the lines of all grips, closed or open; None where there is none."""
    found = [grip.connection.lines(places, grip.closed(memories)) for grip in grips]
    return Lines.joined(found) if found else None


def kept_lines(
    elements: Sequence[Mount], grips: Sequence[Grip], memories: Sequence[ElementMemory], here: Placement
) -> Lines | None:
    """Return the lines of what holds or resists during an impact: grips, and inertia that elements reflect."""
    parts = (
        reflected_lines(len(here.bodies), reflected_inertia(elements, here)),
        lines_of(grips, memories, here.bodies),
    )
    found = [part for part in parts if part is not None]
    return Lines.joined(found) if found else None


def add_held(
    loads: list[Wrench], grips: Sequence[Grip], lines: Lines, along: Float[Array, "lines"], places: Sequence[Placed]
) -> tuple[Wrench, ...]:
    """Add to `loads` (about centres of mass, inertial) what grips put on the bodies; return what each puts on its first body,
    at its striker (inertial)."""
    pushed = jnp.einsum("k,kbi->bi", along, lines.rows)
    for number, place in enumerate(places):
        row = pushed[number]
        loads[number] = loads[number].plus(Wrench(Vector.of(row[:3]), place.rotation @ Vector.of(row[3:])))
    wrenches, first = [], 0
    for grip in grips:
        own = along[first : first + grip.connection.count]
        wrenches.append(Wrench(grip.connection.force(own), grip.connection.moment(own)))
        first += grip.connection.count
    return tuple(wrenches)


def fall_in(
    bodies: Moving,
    place: Callable[[Velocities], Placement],
    v: Velocities,
    elements: Sequence[Mount],
    before: Sequence[ElementMemory],
    after: tuple[ElementMemory, ...],
) -> tuple[Velocities, tuple[ElementMemory, ...]]:
    """Return velocities and memories once those latches have ended the slip that hold `after` an event, and did not `before`.

    Those that let go are open by then. One falls in after another, and what is closed by then stays closed. The energy that is
    lost counts as dissipated by a rigid latch; a compliant one changes no velocity, and what it will have to take is noted
    alone. `place` gives the bodies where they are, as they move at other velocities; the `elements` may reflect inertia, which
    resists, too.
    """
    grips, now, found = grips_of(elements, bodies), list(before), list(after)
    for number in (grip.element for grip in grips):
        held, holds = before[number].held, after[number].held
        assert held is not None and holds is not None
        now[number] = before[number]._replace(held=jnp.minimum(held, holds))
    for grip in capturing_grips(elements, bodies):
        others = [one for one in grips if one.element != grip.element]
        own = after[grip.element]
        assert own.dissipated is not None

        def jumped(
            grip: Grip = grip,
            others: list[Grip] = others,
            memories: tuple[ElementMemory, ...] = tuple(now),
            v: Velocities = v,
            own: ElementMemory = own,
        ) -> tuple[Velocities, ElementMemory]:
            here = place(v)
            kept = kept_lines(elements, others, memories, here)
            rows = grip.connection.rows(here.bodies)
            struck = strike_bodies(bodies, here, rows, grip.connection.stop, kept)
            own = _note_impulse(elements[grip.element], own, here, struck, grip.connection.force(struck.impact.impulse))
            if not grip.rigid:
                return v, own
            assert own.dissipated is not None
            lost = own._replace(dissipated=own.dissipated + struck.impact.energy_loss)
            return map_leaves(jnp.add, v, struck.change), lost

        falls = grip.closed(after) & ~grip.closed(before)
        v, found[grip.element] = jax.lax.cond(falls, jumped, lambda v=v, own=own: (v, own))
        now[grip.element] = own
    return v, tuple(found)


def _note_impulse(one: Mount, memory: ElementMemory, here: Placement, struck: Struck, impulse: Vector) -> ElementMemory:
    """Return the memory of a latch with what the capture had to take, with this `impulse` (N s), of one that tells it."""
    if memory.found is None:
        return memory
    assert isinstance(one, Tie) and isinstance(one.element, Latch)
    own, other = one.sides(here)
    axis = one.element.out(other)
    along = impulse.dot(axis)
    taken = Caught(
        one.element.rate(own, other), along, vector_length(impulse - axis * along), struck.impact.energy_loss
    )
    return memory._replace(found=taken)
