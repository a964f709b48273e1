"""What is behind some contacts of a mechanism at rest: the plant of a loop that measures them.

Units: SI.
Source: derivatives of the functions that simulate the mechanism; forces and displacements that do work on each other.
"""

from __future__ import annotations

from collections.abc import Sequence

from dockdyn.contact.group import ContactGroup, Wrench
from dockdyn.deferred import Array, Float, jax, jnp
from dockdyn.integrate.model import State, jacobian_by_columns, pack_tree, unpack_tree
from dockdyn.mechanics.rigid_body import Placed
from dockdyn.mechanics.vector import Vector
from dockdyn.mechanism.mechanism import Mechanism
from dockdyn.mechanism.rest import changing_numbers, member_slopes
from dockdyn.stability.contact_plant import ContactPlant
from dockdyn.stability.linearise import linearise_model
from dockdyn.trees import combine


def plant_behind(model: Mechanism, state: State, measured: Sequence[int], compensated: int | None) -> ContactPlant:
    """Return the plant behind the contacts `measured`, by number, of a mechanism `at_rest`, all between the same two bodies.

    Its displacements are the depths of their members. Where a compensator acts it is at the reference point of the contact
    `compensated`, by number, whose displacements in three directions are behind these. What else is closed acts at once.
    """
    moving = (state.q, state.v, state.memory)
    numbers = changing_numbers(state)
    linear = linearise_model(model, state)
    width = pack_tree(Wrench.zero()).size
    port = None if compensated is None else model.computed[compensated]
    held = jnp.isin(jnp.arange(linear.input.shape[1]) // width, jnp.asarray(measured))
    own = linear.state + linear.input @ jnp.where(held[:, None], 0.0, linear.output)

    def displacements(x: Float[Array, "n"]) -> Float[Array, "channels"]:
        q, v, memory = unpack_tree(x, moving)
        places = model.placement(model.retract(State(q, v, state.mode, memory))).bodies
        found = [model.computed[i].depths(*_sides_of_group(model.computed[i], places)) for i in measured]
        return jnp.concatenate([*found, *([] if port is None else [_port_place(port, *_sides_of_group(port, places))])])

    here = model.placement(state).bodies
    wrenches, slopes = [], []
    for number in measured:
        group = model.computed[number]
        sides = _sides_of_group(group, here)
        deepening = jax.lax.map(
            lambda member, group=group, sides=sides: _deepening_wrench(group, member, *sides), group.members
        )
        wrenches.append(_placed_in(deepening, number, linear.input.shape[1], width))
        slopes.append(member_slopes(group, *sides))
    if port is not None and compensated is not None:
        ways = [_sides_of_group(port, here)[1].rotation @ Vector.of(axis) for axis in jnp.eye(3)]
        rows = jnp.stack([pack_tree(Wrench(way, Vector.zero())) for way in ways])
        wrenches.append(_placed_in(rows, compensated, linear.input.shape[1], width))
    stiffness, damping = (jnp.concatenate(parts) for parts in zip(*slopes, strict=True))
    more = 0 if port is None else 3
    return ContactPlant(
        state=own[numbers][:, numbers],
        input=linear.input[numbers] @ jnp.concatenate(wrenches).T,
        output=jacobian_by_columns(displacements, pack_tree(moving))[:, numbers],
        stiffness=jnp.diag(jnp.pad(stiffness, (0, more))),
        damping=jnp.diag(jnp.pad(damping, (0, more))),
        compensated=jnp.diag(jnp.pad(jnp.zeros_like(stiffness), (0, more), constant_values=1.0)),
    )


def _sides_of_group(group: ContactGroup, places: Sequence[Placed]) -> tuple[Placed, Placed]:
    return places[group.first], places[group.second]


def _deepening_wrench(group: ContactGroup, member: object, own: Placed, other: Placed) -> Float[Array, "6"]:
    """Return the wrench on a group's first body of a unit force that presses a member deeper."""
    meeting = combine(member, group.common).meet(own, other)
    force = -meeting.normal
    return pack_tree(Wrench(force, (meeting.point - group.reference(own)).cross(force)))


def _placed_in(wrenches: Float[Array, "rows 6"], number: int, size: int, width: int) -> Float[Array, "rows size"]:
    """Return wrenches of one group among those of all."""
    return jnp.zeros((len(wrenches), size)).at[:, number * width : (number + 1) * width].set(wrenches)


def _port_place(port: ContactGroup, own: Placed, other: Placed) -> Float[Array, "3"]:
    """Return where the reference point of a group is (m), seen from its second body."""
    return other.local(port.reference(own)).array()
