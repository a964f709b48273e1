"""What a result holds of an instant of a mechanism: motion of bodies, joints and modes, contacts, loads.

Units: SI throughout; quaternions dimensionless.
Source: definitions, as docs/results.md gives them.
"""

from __future__ import annotations

from collections.abc import Sequence

from dockdyn.contact.group import GroupState, Wrench
from dockdyn.deferred import Array, Float, jnp
from dockdyn.integrate.model import Scalar, stack_rows
from dockdyn.mechanics.rigid_body import Placed, Pose, Twist
from dockdyn.mechanics.rotation import from_x_axis
from dockdyn.mechanics.trees.bodies_on_line import Moving
from dockdyn.mechanics.trees.moving_bodies import Placement
from dockdyn.mechanics.vector import Vector
from dockdyn.mechanism.impact_contact import Hit
from dockdyn.mechanism.impacts import impacts_of
from dockdyn.mechanism.loads import Group
from dockdyn.mechanism.mounts import BendingLink, Mount


def observed_motion(
    poses: Sequence[Pose], twists: Sequence[Twist], first: Sequence[Pose], origin: Vector
) -> dict[str, Array]:
    """Return of the bodies place (m, inertial, from `origin`), attitude, turn since the `first` pose (rad, body axes),
    twist."""
    turned = [start.attitude.conjugate() * pose.attitude for start, pose in zip(first, poses, strict=True)]
    return {
        "position": stack_rows([pose.shifted(origin).position.array() for pose in poses], 3),
        "attitude": stack_rows([pose.attitude.array() for pose in poses], 4),
        "rotation": stack_rows([turn.logarithm().array() for turn in turned], 3),
        "velocity": stack_rows([twist.velocity.array() for twist in twists], 3),
        "rate": stack_rows([twist.rate.array() for twist in twists], 3),
    }


def observed_contacts(
    states: Sequence[GroupState],
    groups: Sequence[tuple[Group, Placed, Placed]],
    acting: Sequence[Wrench],
) -> dict[str, Array]:
    """Return of the groups, each with its two bodies: what the deepest member does, its point in axes of the second body, the
    wrench that is `acting`; where the group is on what it touches, and its angle (rad) around the docking axis of that."""
    points = [other.local(state.point) for (_, _, other), state in zip(groups, states, strict=True)]
    places = [place_on_surface(*one) for one in groups]
    return {
        "contact_point": stack_rows([point.array() for point in points], 3),
        "feature_position": stack_rows([place.array() for place, _ in places], 3),
        "azimuth": stack_rows([azimuth for _, azimuth in places]),
        "depth": stack_rows([state.depth for state in states]),
        "depth_rate": stack_rows([state.rate for state in states]),
        "sliding_speed": stack_rows([state.sliding_speed for state in states]),
        "normal_force": stack_rows([state.normal_force for state in states]),
        "contact_force": stack_rows([wrench.force.array() for wrench in acting], 3),
        "contact_moment": stack_rows([wrench.moment.array() for wrench in acting], 3),
    }


def observed_energies(states: Sequence[GroupState], taken: Float[Array, "groups"]) -> dict[str, Array]:
    """Return the energy (J) that each group stores, and what it has lost of all that it has `taken`."""
    stored = stack_rows([state.stored for state in states])
    return {"contact_energy": stored, "contact_loss": taken - stored}


def observed_friction(groups: Sequence[Group], states: Sequence[GroupState], hits: Sequence[Hit]) -> dict[str, Array]:
    """Return the energy (J) that the friction of each group has lost beside the integral of its power: what impacts took, less
    what it stores; nothing where none has friction."""
    if not any(group.rubs for group in groups):
        return {}
    found = [jnp.zeros(()) if state.stretched is None else -state.stretched for state in states]
    for (number, _), hit in zip(impacts_of(groups), hits, strict=True):
        found[number] += 0.0 if hit.rubbed is None else hit.rubbed
    return {"friction_beside_power": jnp.stack(found)}


def place_on_surface(group: Group, own: Placed, other: Placed) -> tuple[Vector, Scalar]:
    """Return the reference point of a group from that of the surface it touches (m, axes of the body with it), and its angle
    around the docking axis, φ = atan2(−y, z) (Sazawal et al., eq. 30); of what touches no surface from the body, without
    angle."""
    place, surface = other.local(group.reference(own)), group.surface
    if surface is None:
        return place, jnp.zeros(())
    _, axis = surface.docking_frame()
    place = place - surface.reference()
    across = from_x_axis(axis).matrix().transposed_times(place)
    return place, jnp.arctan2(-across.y, across.z)


def observed_joints(
    moving: Moving, here: Placement, loads: Sequence[Wrench], direct: Sequence[Wrench]
) -> dict[str, Array]:
    """Return of all joints coordinate and rate, zero of locked ones, and what passes through; nothing where there is none.

    `loads` are what others put on each body, about its centre of mass (inertial); of these, joints have no part in the
    `direct` ones.
    """
    held, zero = moving.held(), jnp.zeros(())
    if not held:
        return {}
    forces = [load.force - other.force for load, other in zip(loads, direct, strict=True)]
    moments = [load.moment - other.moment for load, other in zip(loads, direct, strict=True)]
    torques = [place.rotation.transposed_times(moment) for place, moment in zip(here.bodies, moments, strict=True)]
    through = moving.reactions(here, forces, torques)
    coordinates = [(zero, zero) if joint.number is None else joint.motion(here.joints) for _, joint in held]
    return {
        "joint_angle": stack_rows([coordinate for coordinate, _ in coordinates]),
        "joint_rate": stack_rows([rate for _, rate in coordinates]),
        "joint_force": stack_rows([through[body][0].array() for body, _ in held], 3),
        "joint_moment": stack_rows([through[body][1].array() for body, _ in held], 3),
    }


def observed_modes(elements: Sequence[Mount], here: Placement, twists: Sequence[Twist]) -> dict[str, Array]:
    """Return coordinates and rates of the modes of flexible links and the energy in them; nothing where there is none.

    Where there are links that spin should stiffen and does not, how fast they turn beside their lowest frequencies, `twists`
    being those of all bodies.
    """
    links = [one for one in elements if isinstance(one, BendingLink)]
    if not links:
        return {}
    coordinates, rates = (jnp.concatenate(parts) for parts in zip(*(one.sides(here) for one in links), strict=True))
    stored = [one.element.elastic_energy(one.sides(here)[0]) for one in links]
    found = {"modal_coordinate": coordinates, "modal_rate": rates, "elastic_energy": jnp.stack(stored)}
    if all(one.lowest is None for one in links):
        return found
    return found | {"spin_share": jnp.stack([one.spin_share(twists[one.body].rate) for one in links])}
