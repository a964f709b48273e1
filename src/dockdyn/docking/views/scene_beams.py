"""Flexible links in a scene: their sections as they bend, from the modes that a run has.

Lengths in m, angles in rad, modal coordinates in m or rad; attitudes unit quaternions with the scalar first.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dockdyn.deferred import Array, Float, jax, jnp
from dockdyn.docking.linked_trees import arm_of
from dockdyn.docking.schema.flexible import LargeBeamSection, ModeTableSection, UniformBeamSection
from dockdyn.docking.trees import Seat
from dockdyn.mechanics.trees.cantilever_modes import Deflection
from dockdyn.mechanics.trees.modal_frame import Shortening
from dockdyn.programs import Program
from dockdyn.report.scene.rotation import exponential, multiply, rotate
from dockdyn.report.scene.scene import ShownBeam, ShownMotion
from dockdyn.trees import Module, field

if TYPE_CHECKING:
    from dockdyn.docking.schema.bodies import BodySection
    from dockdyn.docking.schema.mechanism import MechanismSection

SECTIONS = 25  # of a beam that are drawn
THICK = 0.008  # of its length, the radius in which one is drawn: a scenario says none

What = tuple[str, ...]  # of what kind something is that sits on a link, and its name, as a `Seat` says


class SeatShape(Module):
    """How the place of what sits on a flexible link moves with its modes, link axes."""

    what: What = field(static=True)
    shape: Deflection


class LinkShapes(NamedTuple):
    """How places of a flexible link move with its modes, link axes."""

    mean: Deflection | None  # of the axes that a run tells; None: those of the link at rest, or no mode moves them
    line: Deflection | None  # of the sections of a beam, along a leading axis; None of what is no beam
    seats: list[SeatShape]


class BentLink(NamedTuple):
    """A flexible link at all times."""

    beam: ShownBeam | None  # its centre line; None of what is no beam
    seats: dict[What, ShownMotion]  # of the link's axes, moved with the section next to what sits there


def bent_links(
    content: MechanismSection, coordinates: Float[np.ndarray, "times modes"], motions: dict[str, ShownMotion]
) -> dict[str, BentLink]:
    """Return the flexible links by name, their modes at these coordinates, `motions` being those of the bodies then."""
    flexible = [body for body in content.body if body.flexible is not None]
    if not flexible:
        return {}
    names, found = [name for name, _ in content.modes()], {}
    for body, shapes in zip(flexible, _shapes_of(content), strict=True):
        eta, rest = coordinates[:, [name == body.name for name in names]], motions[body.name]
        if shapes.mean is not None:
            rest = _at_rest(rest, shapes.mean, eta)
        moved = {seat.what: _motion_of_section(rest, seat.shape, eta) for seat in shapes.seats}
        found[body.name] = BentLink(_beam_of(body.name, rest, shapes.line, eta), moved)
    return found


def _beam_of(name: str, rest: ShownMotion, line: Deflection | None, eta: np.ndarray) -> ShownBeam | None:
    """Return the centre line of a beam; None without one."""
    if line is None:
        return None
    place = np.asarray(line.place)
    length = float(np.linalg.norm(np.diff(place, axis=0), axis=1).sum())
    bow = along = None
    if line.shortening is not None:
        bow, along = np.asarray(line.shortening.bow), np.broadcast_to(np.asarray(line.shortening.along), place.shape)[0]
    return ShownBeam(f"{name}/beam", name, rest, place, np.asarray(line.shift), eta, THICK * length, bow, along)


@Program
def _shapes_of(content: MechanismSection) -> list[LinkShapes]:
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

    if isinstance(flexible, UniformBeamSection | LargeBeamSection):
        root, way = _beam_axis(body)
        line = jax.vmap(deflected)(root + jnp.linspace(0.0, 1.0, SECTIONS)[:, None] * way)
    moved = isinstance(flexible, UniformBeamSection | ModeTableSection)
    mean = flexible.modes().mean_motion(body.body()) if moved else None
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


def _turn(attitude: np.ndarray, vector: np.ndarray) -> np.ndarray:
    """Return attitudes (times, 4) turned by rotation vectors in their own axes."""
    return multiply(attitude, exponential(vector))


def _at_rest(mean: ShownMotion, shape: Deflection, eta: np.ndarray) -> ShownMotion:
    """Return the axes of the link at rest, whose mean axes have moved so."""
    shift, turn = _displacement_at(shape, eta)
    attitude = _turn(mean.attitude, -turn)
    return ShownMotion(mean.position - rotate(attitude, shift), attitude)


def _motion_of_section(rest: ShownMotion, shape: Deflection, eta: np.ndarray) -> ShownMotion:
    """Return the link's axes as the section at a place carries them along."""
    shift, turn = _displacement_at(shape, eta)
    place, attitude = np.broadcast_to(np.asarray(shape.place), shift.shape), _turn(rest.attitude, turn)
    return ShownMotion(rest.position + rotate(rest.attitude, place + shift) - rotate(attitude, place), attitude)
