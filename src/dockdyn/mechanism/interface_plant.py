"""What is behind some contacts of a mechanism at rest: the plant of a loop that measures them.

Units: SI.
Source: derivatives of the functions that simulate the mechanism; forces and displacements that do work on each other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from dockdyn.contact.contact_modes import PRESSING
from dockdyn.contact.group import ContactGroup, Sticking, Wrench, attitude_over
from dockdyn.deferred import Array, Float, jax, jnp
from dockdyn.integrate.model import State, jacobian_by_columns, pack_tree, unpack_tree
from dockdyn.mechanics.rigid_body import Placed, Pose, Twist
from dockdyn.mechanics.rotation import Quaternion
from dockdyn.mechanics.vector import Vector
from dockdyn.mechanism.mechanism import Mechanism
from dockdyn.mechanism.rest import changing_numbers, member_creep, member_slopes
from dockdyn.stability.contact_plant import ContactCreep, ContactPlant
from dockdyn.stability.linearise import linearise_model
from dockdyn.trees import combine


def plant_behind(model: Mechanism, state: State, measured: Sequence[int], compensated: int | None) -> ContactPlant:
    """Return the plant behind the contacts `measured`, by number, of a mechanism `at_rest`, all between the same two bodies.

    Its displacements are the depths of their members; of a contact that sticks those of its bodies, and how they have turned,
    which all that holds them is of. Where a compensator acts it is at the reference point of the contact
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
        found = []
        for group, sides in channels:
            now = _sides_of_group(group, places)
            found.append(_moved_from(group, sides, now) if isinstance(group.friction, Sticking) else group.depths(*now))
        return jnp.concatenate([*found, *([] if port is None else [_port_place(port, *_sides_of_group(port, places))])])

    here = model.placement(state).bodies
    channels = [(group, _sides_of_group(group, here)) for group in (model.computed[number] for number in measured)]
    wrenches, slopes, remembered = [], [], []
    for number, (group, sides) in zip(measured, channels, strict=True):
        deepening = jax.lax.map(
            lambda member, group=group, sides=sides: _deepening_wrench(group, member, *sides), group.members
        )
        creep = member_creep(group, *sides)
        if isinstance(group.friction, Sticking):
            acting, held_by = jnp.eye(width), _holding(group, *sides)
            if creep is not None:
                creep = replace(creep, input=creep.input @ deepening, output=deepening.T @ creep.output)
        else:
            acting = deepening
            stiff, damped = member_slopes(group, *sides)
            held_by = jnp.diag(stiff), jnp.diag(damped)
        wrenches.append(_placed_in(acting, number, linear.input.shape[1], width))
        slopes.append(held_by)
        remembered.append(creep or ContactCreep.nothing(len(acting)))
    if port is not None and compensated is not None:
        ways = [_sides_of_group(port, here)[1].rotation @ Vector.of(axis) for axis in jnp.eye(3)]
        rows = jnp.stack([pack_tree(Wrench(way, Vector.zero())) for way in ways])
        wrenches.append(_placed_in(rows, compensated, linear.input.shape[1], width))
    stiffness, damping = (jax.scipy.linalg.block_diag(*parts) for parts in zip(*slopes, strict=True))
    more = 0 if port is None else 3
    further = (0, more), (0, more)
    return ContactPlant(
        state=own[numbers][:, numbers],
        input=linear.input[numbers] @ jnp.concatenate(wrenches).T,
        output=jacobian_by_columns(displacements, pack_tree(moving))[:, numbers],
        stiffness=jnp.pad(stiffness, further),
        damping=jnp.pad(damping, further),
        compensated=jnp.diag(jnp.pad(jnp.zeros(len(stiffness)), (0, more), constant_values=1.0)),
        creep=_joint_creep([*remembered, ContactCreep.nothing(more)]),
    )


def _joint_creep(parts: Sequence[ContactCreep]) -> ContactCreep | None:
    """Return what contacts remember together; None where that is nothing."""
    found = (
        jax.scipy.linalg.block_diag(*(getattr(one, name) for one in parts)) for name in ("state", "input", "output")
    )
    joint = ContactCreep(*found)
    return joint if len(joint.state) else None


def _sides_of_group(group: ContactGroup, places: Sequence[Placed]) -> tuple[Placed, Placed]:
    return places[group.first], places[group.second]


def _deepening_wrench(group: ContactGroup, member: object, own: Placed, other: Placed) -> Float[Array, "6"]:
    """Return the wrench on a group's first body of a unit force that presses a member deeper."""
    meeting = combine(member, group.common).meet(own, other)
    force = -meeting.normal
    return pack_tree(Wrench(force, (meeting.point - group.reference(own)).cross(force)))


def _moved_from(group: ContactGroup, at_rest: tuple[Placed, Placed], sides: tuple[Placed, Placed]) -> Float[Array, "6"]:
    """Return where a group's reference point is (m), and how its first body has turned since it was `at_rest` (rad), seen from
    the second, along the inertial axes of then."""
    (own, other), axes = sides, at_rest[1].rotation
    turned = attitude_over(own, other) * attitude_over(*at_rest).conjugate()
    return jnp.concatenate([(axes @ other.local(group.reference(own))).array(), (axes @ turned.logarithm()).array()])


def _holding(group: ContactGroup, own: Placed, other: Placed) -> tuple[Float[Array, "6 6"], Float[Array, "6 6"]]:
    """Return by how much the wrench of a group at rest on its first body, about its reference point, falls as that moves and
    turns (m, rad, inertial), and with the rates of that."""
    about = group.reference(own)

    def wrench(way: Float[Array, "6"], rate: Float[Array, "6"]) -> Float[Array, "6"]:
        (shift, turn), (speed, spin) = ((Vector.of(part[:3]), Vector.of(part[3:])) for part in (way, rate))
        attitude, lever = Quaternion.exponential(turn) * own.pose.attitude, own.pose.position - about
        position = about + shift + Quaternion.exponential(turn).matrix() @ lever
        twist = Twist(speed + spin.cross(lever), own.rotation.transposed_times(spin))
        moved = Placed.of(Pose(position, attitude), twist)
        found = group.state(jnp.asarray(PRESSING), moved, other).wrench
        return pack_tree(Wrench(found.force, found.moment + (group.reference(moved) - about).cross(found.force)))

    still = jnp.zeros(6)
    return (
        -jacobian_by_columns(lambda way: wrench(way, still), still),
        -jacobian_by_columns(lambda rate: wrench(still, rate), still),
    )


def _placed_in(wrenches: Float[Array, "rows 6"], number: int, size: int, width: int) -> Float[Array, "rows size"]:
    """Return wrenches of one group among those of all."""
    return jnp.zeros((len(wrenches), size)).at[:, number * width : (number + 1) * width].set(wrenches)


def _port_place(port: ContactGroup, own: Placed, other: Placed) -> Float[Array, "3"]:
    """Return where the reference point of a group is (m), seen from its second body."""
    return other.local(port.reference(own)).array()
