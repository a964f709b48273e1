"""Force elements between bodies of an assembly: what they put on the bodies, and how their modes change.

Units: SI.
Source: sums over the elements, each of which names its own.
"""

from __future__ import annotations

from collections.abc import Sequence

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, PyTree

from dockdyn.contact.group import Wrench
from dockdyn.elements.force_element import ElementMemory, ForceElement
from dockdyn.integrate.model import Scalar
from dockdyn.mechanics.reflected import Reflected
from dockdyn.mechanics.rigid_body import Placed
from dockdyn.mechanics.vector import Vector

Places = tuple[Placed, ...]


class Joint(eqx.Module):
    """An element, or several of one structure, between two bodies by number."""

    element: ForceElement
    first: int = eqx.field(static=True)
    second: int = eqx.field(static=True)
    name: str = eqx.field(static=True)

    def sides(self, places: Places) -> tuple[Placed, Placed]:
        """Its two bodies."""
        return places[self.first], places[self.second]


def act_between(loads: list[Wrench], bodies: tuple[int, int], wrench: Wrench, point: Vector, places: Places) -> None:
    """Add to `loads` (about centres of mass, inertial) a wrench at a point (m) on the first of two bodies, and the opposite
    on the second."""
    for number, side in zip(bodies, (1.0, -1.0), strict=True):
        lever = point - places[number].pose.position
        moment = (wrench.moment + lever.cross(wrench.force)) * side
        loads[number] = loads[number].plus(Wrench(wrench.force * side, moment))


def element_loads(
    joints: Sequence[Joint], modes: Sequence[PyTree], memories: Sequence[ElementMemory], places: Places
) -> tuple[list[Wrench], tuple[ElementMemory, ...]]:
    """What elements put on each body, about its centre of mass (inertial), and the rates of what they remember."""
    loads, rates = [Wrench.zero() for _ in places], []
    for joint, mode, memory in zip(joints, modes, memories, strict=True):
        action, rate = joint.element.act(mode, memory, *joint.sides(places))
        act_between(loads, (joint.first, joint.second), Wrench(action.force, action.moment), action.point, places)
        rates.append(rate)
    return loads, tuple(rates)


def reflected(joints: Sequence[Joint], places: Places) -> list[tuple[int, int, Reflected]]:
    """The inertia that elements reflect, with the two bodies of each."""
    found = [(joint.first, joint.second, joint.element.reflected(*joint.sides(places))) for joint in joints]
    return [(first, second, one) for first, second, one in found if one is not None]


def add_reflected(
    loads: list[Wrench], inertia: Sequence[tuple[int, int, Reflected]], along: Float[Array, "lines"], places: Places
) -> None:
    """Add to `loads` (about centres of mass, inertial) what reflected inertia puts on the bodies, `along` its lines (N)."""
    for first, second, one in inertia:
        lines = jax.tree.map(jnp.ravel, one)
        force, along = along[: lines.mass.size], along[lines.mass.size :]

        def total(direction: Vector, force: Float[Array, "lines"] = force) -> Vector:
            return jax.tree.map(lambda part: jnp.sum(part * force), direction)

        push, arms = total(lines.along), (total(lines.own_arm), total(lines.other_arm))
        for number, arm, side in ((first, arms[0], 1.0), (second, arms[1], -1.0)):
            loads[number] = loads[number].plus(Wrench(push * side, (places[number].rotation @ arm) * side))


def settled(
    joints: Sequence[Joint], memories: Sequence[ElementMemory], places: Places
) -> tuple[tuple[PyTree, ...], tuple[ElementMemory, ...]]:
    """Modes and memories of elements that fit the state, as at the start or after a number of theirs has changed."""
    found = [joint.element.settle(memory, *joint.sides(places)) for joint, memory in zip(joints, memories, strict=True)]
    return tuple(mode for mode, _ in found), tuple(memory for _, memory in found)


def jumped(
    joints: Sequence[Joint],
    modes: Sequence[PyTree],
    memories: Sequence[ElementMemory],
    fired: tuple[Bool[Array, ""], ...],
    places: Places,
) -> tuple[tuple[PyTree, ...], tuple[ElementMemory, ...], tuple[Bool[Array, ""], ...]]:
    """Modes and memories after the elements' guards in `fired` have fired, and what of `fired` is not theirs."""
    after = []
    for joint, mode, memory in zip(joints, modes, memories, strict=True):
        count = len(joint.element.guards(mode, memory, *joint.sides(places)))
        after.append(joint.element.jump(mode, fired[:count], memory, *joint.sides(places)))
        fired = fired[count:]
    return tuple(mode for mode, _ in after), tuple(memory for _, memory in after), fired


def given_by(memory: ElementMemory) -> Scalar:
    """Work (J) of an element's motors less what it has dissipated, or the rate of it (W)."""
    worked = jnp.zeros(()) if memory.work is None else jnp.sum(memory.work)
    return worked if memory.dissipated is None else worked - jnp.sum(memory.dissipated)


def all_held(memories: Sequence[ElementMemory]) -> Bool[Array, ""]:
    """Whether every latch holds; without any, no."""
    held = [jnp.ravel(memory.held) for memory in memories if memory.held is not None]
    return jnp.all(jnp.concatenate(held) > 0) if held else jnp.asarray(False)


def observed_elements(
    joints: Sequence[Joint], modes: Sequence[PyTree], memories: Sequence[ElementMemory], places: Places
) -> dict[str, Array]:
    """What is kept of elements, members of a structure one by one: `element_tension` (N, all; of a bushing the size of its
    force), `line_length` (m, of those along a line), `bushing_turn` (rad, of bushings), of latches `latch_held` (1 or 0),
    `latch_gap` (m) and `latch_closing` (m/s)."""
    tension, length, turn = [], [], []
    latches: dict[str, list[Array]] = {"held": [], "gap": [], "closing": []}
    for joint, mode, memory in zip(joints, modes, memories, strict=True):
        seen = joint.element.observe(mode, memory, *joint.sides(places))
        tension.append(seen["tension"] if "tension" in seen else jnp.linalg.norm(seen["load"][..., :3], axis=-1))
        length += [seen["length"]] if "length" in seen else []
        for name, parts in latches.items():
            parts += [seen[name]] if name in seen else []
        turn += [seen["turned"]] if "turned" in seen else []
    named = {"element_tension": tension, "line_length": length, "bushing_turn": turn}
    named |= {f"latch_{name}": parts for name, parts in latches.items()}
    return {name: jnp.concatenate([jnp.ravel(part) for part in parts]) for name, parts in named.items() if parts}
