"""The trees that joints make of the bodies of a mechanism, and the frames of their flexible links."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from dockdyn.deferred import Array, Float, jnp
from dockdyn.docking.linked_trees import Coordinate, arm_of, coordinates_of, linked_roots, linked_tree
from dockdyn.docking.schema.finite_elements import FiniteElementSection
from dockdyn.docking.schema.flexible import LargeBeamSection, ModeTableSection, UniformBeamSection
from dockdyn.docking.schema.joints import (
    LockedSection,
    MimicSection,
    PrismaticSection,
    RevoluteSection,
    SphericalSection,
)
from dockdyn.mechanics.rigid_body import Pose, RigidBody, Twist
from dockdyn.mechanics.trees.cantilever_modes import Deflection
from dockdyn.mechanics.trees.jointed_bodies import Joint, JointedBodies
from dockdyn.mechanics.trees.modal_frame import ModalFrame, Vibration
from dockdyn.mechanics.trees.tree_bodies import TreeBodies
from dockdyn.mechanics.vector import Vector


class LinkSection(Protocol):
    """A body that may be held by a joint, and may bend."""

    name: str
    on: str | None
    joint: RevoluteSection | PrismaticSection | SphericalSection | LockedSection | MimicSection | None
    flexible: UniformBeamSection | LargeBeamSection | ModeTableSection | FiniteElementSection | None

    def body(self) -> RigidBody: ...

    def start(self) -> tuple[Pose, Twist]: ...


class Seat(NamedTuple):
    """Where something sits on a flexible link."""

    link: str
    what: tuple[str, ...]  # of what kind it is, and its name
    place: Float[Array, "3"]  # m, link axes, from the centre of mass


def coordinate_number(bodies: Sequence[LinkSection], body: str, plane: bool = False) -> int:
    """Return the number of the coordinate of a body's joint among those of all joints and modes."""
    return coordinates_of(bodies, plane).index(Coordinate(body))


def moving_joints(bodies: Sequence[LinkSection]) -> dict[str, RevoluteSection | PrismaticSection]:
    """Return the joints that move, by the names of the bodies that they hold, in the order of the bodies."""
    return {body.name: body.joint for body in bodies if isinstance(body.joint, RevoluteSection | PrismaticSection)}


def mode_names(bodies: Sequence[LinkSection]) -> list[tuple[str, str]]:
    """Return the modes of all flexible links, in the order of the bodies: link and mode."""
    return [(body.name, mode) for body in bodies if body.flexible is not None for mode in body.flexible.mode_names()]


def mode_numbers(bodies: Sequence[LinkSection], link: str, plane: bool = False) -> tuple[int, ...]:
    """Return the numbers of a link's modes among the coordinates."""
    coordinates = enumerate(coordinates_of(bodies, plane))
    return tuple(number for number, one in coordinates if one.body == link and one.mode is not None)


class Frames(NamedTuple):
    """The frames without mass of all flexible links, numbered behind the bodies: links at rest, then seats."""

    bodies: Sequence[LinkSection]
    seats: list[Seat]
    plane: bool = False  # whether all moves in the x–y plane

    @staticmethod
    def of(bodies: Sequence[LinkSection], seats: Iterable[Seat] = (), plane: bool = False) -> Frames:
        """Return those of links with these seats and those of bodies that joints hold on links that bend by their own modes."""
        flexible = {body.name for body in bodies if body.flexible is not None}
        modal = {body.name for body in bodies if _bends_by_modes(body)}
        held = [
            Seat(body.on, ("joint", body.name), body.joint.place(body.start()[0]).array())
            for body in bodies
            if body.on in modal and body.joint is not None
        ]
        return Frames(bodies, [*held, *(seat for seat in seats if seat.link in flexible)], plane)

    def links(self) -> list[str]:
        """Return the link of each frame."""
        return [*(body.name for body in _modal_links(self.bodies)), *(seat.link for seat in self.seats)]

    def numbered(self) -> dict[int, Seat]:
        """Return the seats by the numbers of their frames."""
        first = len(self.bodies) + len(self.links()) - len(self.seats)
        return dict(enumerate(self.seats, start=first))

    def at_rest(self, link: str) -> int:
        """Return the number of a flexible link's frame at rest."""
        return len(self.bodies) + self.links().index(link)

    def massless(self) -> tuple[RigidBody, ...]:
        """Return the bodies of all frames."""
        return tuple(_massless_body() for _ in self.links())

    def number(self, what: tuple[str, ...], body: str) -> int:
        """Return the number of the frame on which something sits, or of the `body`, where that is rigid."""
        seats = [seat.what for seat in self.seats]
        if what not in seats:
            return [one.name for one in self.bodies].index(body)
        return len(self.bodies) + len(self.links()) - len(seats) + seats.index(what)


def _bends_by_modes(body: LinkSection) -> bool:
    return body.flexible is not None and not isinstance(body.flexible, LargeBeamSection)


def _modal_links(bodies: Sequence[LinkSection]) -> list[LinkSection]:
    """Return the links that bend by modes and are held by a joint, which moves them with their mean axes."""
    return [body for body in bodies if _bends_by_modes(body) and body.joint is not None]


def trees_of(frames: Frames) -> tuple[JointedBodies | TreeBodies, ...]:
    """Return the trees that joints make of the bodies, those of links last, also from traced numbers."""
    linked = linked_roots(frames.bodies, frames.plane)
    roots = [
        body
        for body in frames.bodies
        if body.joint is None and (body.flexible is not None or _held_on(body.name, frames.bodies))
    ]
    jointed = [_tree_on_root(root, frames) for root in roots if root.name not in linked]
    return (*jointed, *(linked_tree(root, frames.bodies, frames.numbered(), frames.plane) for root in linked))


def _held_on(name: str, bodies: Sequence[LinkSection]) -> list[LinkSection]:
    return [body for body in bodies if body.joint is not None and body.on == name]


@dataclass
class _Growing:
    """A tree to which bodies and frames are added."""

    bodies: list[RigidBody]
    members: list[int]
    joints: list[Joint | ModalFrame] = field(default_factory=list)
    vibrations: list[Vibration] = field(default_factory=list)

    def add(self, body: RigidBody, member: int, joint: Joint | ModalFrame) -> int:
        """Return its place in the tree."""
        self.bodies.append(body)
        self.members.append(member)
        self.joints.append(joint)
        return len(self.joints)


def _tree_on_root(root: LinkSection, frames: Frames) -> JointedBodies:
    """Return the tree on a root."""
    names = [body.name for body in frames.bodies]
    coordinates = {one.body: n for n, one in enumerate(coordinates_of(frames.bodies)) if one.mode is None}
    tree = _Growing([root.body()], [names.index(root.name)])
    component = isinstance(root.flexible, FiniteElementSection)
    waiting = _add_component(tree, root, frames, 0) if component else [(0, _held_on(root.name, frames.bodies))]
    for carrier, held in waiting:  # they grow as it goes
        for body in held:
            assert body.joint is not None
            leader = body.joint.follows if isinstance(body.joint, MimicSection) else body.name
            joint = body.joint.make(body.start()[0], carrier, coordinates.get(leader))
            if body.flexible is None:
                place = tree.add(body.body(), names.index(body.name), joint)
                waiting.append((place, _held_on(body.name, frames.bodies)))
            else:
                waiting += _add_flexible_link(tree, body, joint, frames)
    return JointedBodies(tuple(tree.bodies), tuple(tree.joints), tuple(tree.members), tuple(tree.vibrations))


def _add_flexible_link(
    tree: _Growing, link: LinkSection, joint: Joint, frames: Frames
) -> list[tuple[int, list[LinkSection]]]:
    """Add a flexible link: its frame at rest, its mass and its seats; which bodies are held on which of these."""
    body, flexible, numbers = link.body(), link.flexible, mode_numbers(frames.bodies, link.name)
    at_rest = tree.add(_massless_body(), frames.at_rest(link.name), joint)
    own = [one.name for one in frames.bodies].index(link.name)
    if isinstance(flexible, FiniteElementSection):
        mean = flexible.mean_motion(-arm_of(link).array())
        return _add_component(
            tree, link, frames, tree.add(body, own, _modal_frame(mean, at_rest, numbers, massless=False))
        )
    assert isinstance(flexible, UniformBeamSection | ModeTableSection)
    modes = flexible.modes()
    place = tree.add(body, own, _modal_frame(modes.mean_motion(body), at_rest, numbers, massless=False))
    tree.vibrations.append(Vibration(modes.vibrating_mass(body), modes.bent_inertia(body), numbers, place))
    deflection = flexible.deflection
    return _add_seats(tree, link, frames, lambda at: _modal_frame(deflection(at), at_rest, numbers, massless=True))


def _add_component(
    tree: _Growing, body: LinkSection, frames: Frames, place: int
) -> list[tuple[int, list[LinkSection]]]:
    """Add the seats of a body that bends in its mean axes, at this `place` in the tree; which bodies are held on which of
    these."""
    flexible, numbers = body.flexible, mode_numbers(frames.bodies, body.name)
    assert isinstance(flexible, FiniteElementSection)
    tree.vibrations.append(Vibration(flexible.modal_mass(), None, numbers, place))
    deflection = flexible.deflection
    return _add_seats(tree, body, frames, lambda at: _modal_frame(deflection(at), place, numbers, massless=True))


def _modal_frame(moved: Deflection, carrier: int, numbers: tuple[int, ...], massless: bool) -> ModalFrame:
    """Return a frame that modes move."""
    place = Vector.of(moved.place)
    shift, turn = (Vector.of(rows.T) for rows in (moved.shift, moved.turn))
    return ModalFrame(place, -place, shift, turn, carrier, numbers, massless, moved.shortening)


def _add_seats(
    tree: _Growing, link: LinkSection, frames: Frames, frame: Callable[[Float[Array, "3"]], ModalFrame]
) -> list[tuple[int, list[LinkSection]]]:
    """Add the frames of what sits on a link; which bodies are held on which of these."""
    found = []
    for seat in frames.seats:
        if seat.link == link.name:
            place = tree.add(_massless_body(), frames.number(seat.what, link.name), frame(seat.place))
            found.append((place, [one for one in frames.bodies if seat.what == ("joint", one.name)]))
    return found


def _massless_body() -> RigidBody:
    """Return the body of a frame: no mass and no inertia."""
    return RigidBody(jnp.zeros(()), jnp.zeros((3, 3)), jnp.zeros((3, 3)))
