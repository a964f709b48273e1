"""Flexible links in a scene: their sections as they bend, from the modes that a run has.

Lengths in m, angles in rad, modal coordinates in m or rad; attitudes unit quaternions with the scalar first.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dockdyn.dataset import Dataset
from dockdyn.deferred import Array, Float, jax, jnp
from dockdyn.kinds.assembly.linked_trees import arm_of
from dockdyn.kinds.assembly.schema.flexible import LargeBeamSection, ModeTableSection, UniformBeamSection
from dockdyn.kinds.assembly.trees import Seat
from dockdyn.mechanics.trees.cantilever_modes import Deflection
from dockdyn.mechanics.trees.modal_frame import Shortening
from dockdyn.programs import Program
from dockdyn.report.replay import frames
from dockdyn.report.replay.scene import SceneMotion, rotate_vectors
from dockdyn.trees import Module, field

if TYPE_CHECKING:
    from dockdyn.kinds.assembly.schema.assembly import AssemblySection
    from dockdyn.kinds.assembly.schema.bodies import BodySection

SECTIONS = 25  # of a beam that are drawn

What = tuple[str, ...]  # of what kind something is that sits on a link, and its name, as a `Seat` says


class SeatShape(Module):
    """How the place of what sits on a flexible link moves with its modes, link axes."""

    what: What = field(static=True)
    shape: Deflection


class LinkShapes(NamedTuple):
    """How places of a flexible link move with its modes, link axes."""

    mean: Deflection | None  # of the axes that a run tells; None: they are those of the link at rest
    line: Deflection | None  # of the sections of a beam, along a leading axis; None of a table of modes
    seats: list[SeatShape]


class BentLink(NamedTuple):
    """A flexible link at all frames."""

    line: Float[np.ndarray, "frames sections 3"] | None  # m, the centre line of a beam
    seats: dict[What, SceneMotion]  # of the link's axes, moved with the section next to what sits there

    def length(self) -> float:
        """Return how long the centre line is at the first frame (m)."""
        assert self.line is not None
        return float(np.linalg.norm(np.diff(self.line[0], axis=0), axis=1).sum())

    def carries(self, what: What, motion: SceneMotion) -> SceneMotion:
        """Return how what sits on the link moves; as the `motion` of the link, where it has no seat."""
        return self.seats.get(what, motion)


def bent_links(
    dataset: Dataset, content: AssemblySection, time: Float[np.ndarray, "frames"], motions: dict[str, SceneMotion]
) -> dict[str, BentLink]:
    """Return the flexible links by name at some times (s), `motions` being those of the bodies then."""
    flexible = [body for body in content.body if body.flexible is not None]
    if not flexible:
        return {}
    names = [name for name, _ in content.modes()]
    coordinates, found = frames.interpolate_samples(time, dataset.time.values, dataset.modal_coordinate.values), {}
    for body, shapes in zip(flexible, _shapes_of(content), strict=True):
        eta, rest = coordinates[:, [name == body.name for name in names]], motions[body.name]
        if shapes.mean is not None:
            rest = _at_rest(rest, shapes.mean, eta)
        moved = {seat.what: _motion_of_section(rest, seat.shape, eta) for seat in shapes.seats}
        found[body.name] = BentLink(None if shapes.line is None else _section_places(rest, shapes.line, eta), moved)
    return found


@Program
def _shapes_of(content: AssemblySection) -> list[LinkShapes]:
    """Return the shapes of all flexible links, in the order of the bodies."""
    seats = content.frames(content.starts()).seats
    return [
        _link_shapes(body, [seat for seat in seats if seat.link == body.name])
        for body in content.body
        if body.flexible is not None
    ]


def _link_shapes(body: BodySection, seats: Sequence[Seat]) -> LinkShapes:
    flexible, line = body.flexible, None
    assert flexible is not None

    def deflected(place: Float[Array, "3"]) -> Deflection:
        if not isinstance(flexible, LargeBeamSection):
            return flexible.deflection(place)
        arm, beam, along = arm_of(body).array(), flexible.beam(), jnp.eye(3)[0]
        shapes = beam.shapes(jnp.clip((place + arm)[0] / beam.length, 0.0, 1.0))
        bow = Shortening(along, shapes.shortening)
        return Deflection(along * shapes.place - arm, shapes.shift.T, shapes.turn.T, bow)

    if not isinstance(flexible, ModeTableSection):
        root, way = _beam_axis(body)
        line = jax.vmap(deflected)(root + jnp.linspace(0.0, 1.0, SECTIONS)[:, None] * way)
    mean = None if isinstance(flexible, LargeBeamSection) else flexible.modes().mean_motion(body.body())
    return LinkShapes(mean, line, [SeatShape(seat.what, deflected(seat.place)) for seat in seats])


def _beam_axis(body: BodySection) -> tuple[Float[Array, "3"], Float[Array, "3"]]:
    """Return where a beam begins, and the way to its end, at rest (m, link axes, from the centre of mass)."""
    flexible = body.flexible
    if isinstance(flexible, UniformBeamSection):
        link = flexible.link()
        return link.root, link.axes()[0] * link.length
    assert isinstance(flexible, LargeBeamSection)
    return -arm_of(body).array(), jnp.eye(3)[0] * flexible.beam().length


def _displacement_at(shape: Deflection, eta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return by how much (m) and by which rotation vector (rad) a place, or each of several, moves at modal coordinates."""
    shift, turn = (np.einsum("fm,...mc->f...c", eta, np.asarray(part)) for part in (shape.shift, shape.turn))
    if shape.shortening is not None:
        bow, along = np.asarray(shape.shortening.bow), np.asarray(shape.shortening.along)
        shift = shift - 0.5 * np.einsum("fm,...mn,fn->f...", eta, bow, eta)[..., None] * along
    return shift, turn


def _rotate_attitudes(attitude: np.ndarray, vector: np.ndarray) -> np.ndarray:
    """Return attitudes (frames, 4) turned by rotation vectors in their own axes."""
    from viser.transforms import SO3  # which the replay needs anyway

    return (SO3(attitude) @ SO3.exp(vector)).wxyz


def _at_rest(mean: SceneMotion, shape: Deflection, eta: np.ndarray) -> SceneMotion:
    """Return the axes of the link at rest, whose mean axes have moved so."""
    shift, turn = _displacement_at(shape, eta)
    attitude = _rotate_attitudes(mean.attitude, -turn)
    return SceneMotion(mean.position - rotate_vectors(attitude, shift), attitude)


def _motion_of_section(rest: SceneMotion, shape: Deflection, eta: np.ndarray) -> SceneMotion:
    """Return the link's axes as the section at a place carries them along."""
    shift, turn = _displacement_at(shape, eta)
    place, attitude = np.broadcast_to(np.asarray(shape.place), shift.shape), _rotate_attitudes(rest.attitude, turn)
    return SceneMotion(
        rest.position + rotate_vectors(rest.attitude, place + shift) - rotate_vectors(attitude, place), attitude
    )


def _section_places(rest: SceneMotion, shape: Deflection, eta: np.ndarray) -> np.ndarray:
    """Return the places of several sections (frames, sections, 3)."""
    shift, _ = _displacement_at(shape, eta)
    at = np.asarray(shape.place) + shift
    return rest.position[:, None] + rotate_vectors(np.broadcast_to(rest.attitude[:, None], (*at.shape[:2], 4)), at)
