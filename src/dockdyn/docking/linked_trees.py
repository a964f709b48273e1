"""Trees of a mechanism with beams of chosen shapes, or whose joints are spherical or locked: as links of a `Tree`.

A link's frame is at the joint that holds it, in the axes of its body; of the root, at its centre of mass. A beam lies along its
body's x axis, from the joint on.

Units: SI.
Source: own construction; the equations of motion are those of `mechanics.trees.composite_bodies`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from dockdyn.deferred import Array, Float, jnp
from dockdyn.docking.schema.flexible import LargeBeamSection
from dockdyn.docking.schema.joints import (
    MimicSection,
    MovingJointSection,
    SphericalSection,
)
from dockdyn.impact.laws.contact_matrix import lock_constraints
from dockdyn.mechanics.rigid_body import Pose, Twist
from dockdyn.mechanics.trees.composite_bodies import Configuration, Row
from dockdyn.mechanics.trees.tree_bodies import TreeBodies
from dockdyn.mechanics.trees.tree_building import Link, in_order, tree_of
from dockdyn.mechanics.vector import Vector
from dockdyn.scenario.tables.motion import number
from dockdyn.scenario.tables.part import refuse

if TYPE_CHECKING:
    from dockdyn.docking.trees import LinkSection, Seat

PAST_END = 1e-6  # share of a beam's length by which rounding may put a place beyond its ends


class Coordinate(NamedTuple):
    """A coordinate: a joint by the body that it holds or, of a flexible link, a mode by its name."""

    body: str
    mode: str | None = None


def root_of(name: str, bodies: Sequence[LinkSection]) -> str:
    """Return the body at the root of the joints that hold the one of this name."""
    named = {body.name: body for body in bodies}
    while (body := named[name]).joint is not None and body.on is not None:
        name = body.on
    return name


def links_of(root: str, bodies: Sequence[LinkSection]) -> list[LinkSection]:
    """Return the bodies of the tree on a root, each after what carries it."""
    own = {body.name: body for body in bodies if root_of(body.name, bodies) == root}
    parents = {name: None if name == root else body.on for name, body in own.items()}
    return [own[link.name] for link in in_order([Link(name, parent) for name, parent in parents.items()])]


def linked_roots(bodies: Sequence[LinkSection], plane: bool = False) -> list[str]:
    """Return the roots of the trees of links, in the order of the bodies; in the plane all bodies are in some."""
    if plane:
        return [body.name for body in bodies if body.joint is None]
    found = {root_of(body.name, bodies) for body in bodies if _asks_for_links(body)}
    return [body.name for body in bodies if body.name in found]


def _asks_for_links(body: LinkSection) -> bool:
    joint = body.joint
    if isinstance(body.flexible, LargeBeamSection) or isinstance(joint, SphericalSection):
        return True
    return isinstance(joint, MovingJointSection) and joint.locked


def coordinates_of(bodies: Sequence[LinkSection], plane: bool = False) -> list[Coordinate]:
    """Return all coordinates by number: joints, then modes, of jointed bodies; then, tree by tree, those of trees of links."""
    roots = linked_roots(bodies, plane)
    jointed = [body for body in bodies if root_of(body.name, bodies) not in roots]
    found = _joint_coordinates(jointed)
    for root in roots:
        found += _joint_coordinates(links_of(root, bodies))
    return found


def _joint_coordinates(bodies: Sequence[LinkSection]) -> list[Coordinate]:
    joints = [Coordinate(body.name) for body in bodies if isinstance(body.joint, MovingJointSection)]
    bending = [(body.name, body.flexible) for body in bodies if body.flexible is not None]
    return joints + [Coordinate(name, mode) for name, flexible in bending for mode in flexible.mode_names()]


def refuse_unlinked(bodies: Sequence[LinkSection], plane: bool = False) -> None:
    """Refuse what trees of links do not have: tables of modes, beams without a basis, followers, inertia of motors."""
    for root in linked_roots(bodies, plane):
        links = links_of(root, bodies)
        why = next((_describe_reason(body) for body in links if _asks_for_links(body)), "motion = 'plane'")
        for body in links:
            key = f"body.{body.name}"
            if body.flexible is not None and not isinstance(body.flexible, LargeBeamSection):
                refuse(f"{key}.flexible: {why} asks for a beam with a basis in the whole tree; must have one")
            if isinstance(body.joint, MimicSection):
                refuse(f"{key}.joint.kind = 'mimic': {why} asks for a tree in which no joint follows another")
            if isinstance(body.joint, MovingJointSection) and getattr(body.joint, body.joint.reflected):
                words = f"{why} asks for a tree whose motors reflect no inertia; must be left out"
                refuse(f"{key}.joint.{body.joint.reflected}: {words}")
            carrier = next((one for one in links if one.name == body.on), None)
            if carrier is not None and body.joint is not None and isinstance(carrier.flexible, LargeBeamSection):
                place = body.joint.place(body.start()[0]).array()
                check_place(carrier, place.tolist(), f"{key}.joint")


def _describe_reason(body: LinkSection) -> str:
    if isinstance(body.flexible, LargeBeamSection):
        return f"body.{body.name}.flexible.basis"
    return f"body.{body.name}.joint{'' if isinstance(body.joint, SphericalSection) else '.locked'}"


def check_place(body: LinkSection, place: Sequence[float], key: str) -> None:
    """Refuse a place on a body (m, from its centre of mass) beyond the ends of its beam, if it has one."""
    if not isinstance(body.flexible, LargeBeamSection):
        return
    along, length = float(place[0] + arm_of(body).x), body.flexible.length
    if not -PAST_END * length <= along <= (1 + PAST_END) * length:
        words = f"is {along:g} m along the beam of {body.name!r}, from its joint; must be 0 to {length:g} m"
        refuse(f"{key}: {words} (what reaches further: on a body that is locked to it)")


def arm_of(body: LinkSection) -> Vector:
    """Return the centre of mass of a body from the joint that holds it (m, body axes); zero of a root."""
    if body.joint is None:
        return Vector.zero()
    pose = body.start()[0]
    return pose.attitude.matrix().transposed_times(pose.position - body.joint.place(pose))


def _seat_of_link(carrier: LinkSection, place: Float[Array, "3"]) -> dict[str, Any]:
    """Return where a place on a body (m, from its centre of mass) is fixed, as a `Link` takes it."""
    mount = jnp.asarray(place + arm_of(carrier).array())  # of NumPy outside of programs
    if not isinstance(carrier.flexible, LargeBeamSection):
        return {"mount": mount}
    at = jnp.clip(mount[0] / jnp.asarray(carrier.flexible.length, float), 0.0, 1.0)
    return {"at": at, "mount": mount.at[0].set(0.0)}


def _link_of_body(body: LinkSection, carrier: LinkSection | None) -> Link:
    """Return a body as a link, without what acts in its joint and its beam."""
    rigid, beam = body.body(), None
    mass, centre, inertia = rigid.mass, arm_of(body).array(), rigid.inertia
    if isinstance(body.flexible, LargeBeamSection):
        beam = body.flexible.beam()
        mass, centre, inertia = body.flexible.rigid_rest(mass, centre, inertia)
    own: dict[str, Any] = {"mass": mass, "centre": centre, "inertia": inertia, "beam": beam}
    if carrier is None:
        return Link(body.name, **own)
    assert body.joint is not None
    pose = body.start()[0]
    turn = pose.attitude.matrix()
    return Link(
        body.name,
        carrier.name,
        joint=body.joint.motion,
        axis=turn.transposed_times(body.joint.direction()).array(),
        mount_turn=turn.array(),
        damping=number(body.joint.damping) if isinstance(body.joint, SphericalSection) else 0.0,
        **own,
        **_seat_of_link(carrier, body.joint.place(pose).array()),
    )


def linked_tree(root: str, bodies: Sequence[LinkSection], seats: Mapping[int, Seat], plane: bool = False) -> TreeBodies:
    """Return the tree on a root, also from traced numbers; `seats` on its beams are by the numbers of their frames."""
    links, coordinates = links_of(root, bodies), coordinates_of(bodies, plane)
    named, names = {body.name: body for body in links}, [body.name for body in bodies]
    frames = {number: seat for number, seat in seats.items() if seat.link in named}
    made = [_link_of_body(body, named.get(body.on or "") if body.joint is not None else None) for body in links]
    made += [
        Link(f"frame {number}", seat.link, joint="locked", **_seat_of_link(named[seat.link], seat.place))
        for number, seat in frames.items()
    ]
    tree = tree_of(made, base="planar" if plane else "free")
    # what bends is held in shape by elements
    numbers = tree.links._replace(stiffness=0.0 * tree.links.stiffness, damping=0.0 * tree.links.damping)
    tree = replace(tree, links=numbers)
    members = [names.index(link) if link in named else int(link.removeprefix("frame ")) for link in tree.layout.names]
    centres = {members.index(number): -seat.place for number, seat in frames.items()}
    own = _joint_coordinates(links)
    first = coordinates.index(own[0]) if own else len(coordinates)
    columns = dict(zip(tree.layout.names, tree.layout.columns()[0], strict=True))
    held = [body.name for body in links if getattr(body.joint, "locked", False)]
    return TreeBodies.of(tree, members, first, [column for name in held for column in columns[name]], centres)


def linked_start(
    tree: TreeBodies, pose: Pose, twist: Twist, bodies: Sequence[LinkSection]
) -> tuple[Configuration, Row]:
    """Return the configuration and velocities at t = 0 of a tree whose root begins so: beams straight, what is held stopped."""
    layout, named = tree.tree.layout, {body.name: body for body in bodies}
    columns, modes, count = layout.columns()
    turned = pose.attitude.matrix().transposed_times(twist.velocity)
    base = jnp.concatenate([turned.array(), twist.rate.array()])
    base = {"free": base, "planar": base[jnp.array([0, 1, 5])]}[layout.base]
    v = jnp.zeros(count).at[: base.shape[0]].set(base)
    starts, balls = [], []
    for name, own in zip(layout.names, columns, strict=True):
        joint = named[name].joint if name in named else None
        if isinstance(joint, MovingJointSection):
            angle, rate = joint.begins()
            starts.append(angle)
            v = v.at[own[0]].set(rate)
        elif isinstance(joint, SphericalSection):
            balls.append(jnp.asarray([1.0, 0.0, 0.0, 0.0]))
            v = v.at[jnp.array(own)].set(jnp.asarray(joint.start_rate, float))
    q = Configuration(
        position=pose.position.array(),
        attitude=pose.attitude.array(),
        joints=jnp.stack(starts) if starts else jnp.zeros(0),
        balls=jnp.stack(balls) if balls else jnp.zeros((0, 4)),
        modes=jnp.zeros(sum(map(len, modes))),
    )
    if not tree.locked:
        return q, v
    rows = jnp.eye(count)[jnp.array(tree.locked)]
    return q, lock_constraints(tree.tree.dynamics(q, v)[0], rows, v)
