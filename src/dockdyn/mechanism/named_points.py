"""Named places on bodies at which loads are reported, and how limits of interfaces are stated.

Units: m, N, N m.
Source: definitions.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from dockdyn.contact.group import Wrench
from dockdyn.deferred import Array, Float, jnp
from dockdyn.mechanics.rigid_body import Placed
from dockdyn.mechanics.trees.bodies_on_line import Moving
from dockdyn.mechanics.vector import Scalar, Vector
from dockdyn.mechanism.mounts import about_centre
from dockdyn.trees import Module, field

NOTHING = 1e-9  # N, N m: loads this small count as none


class NamedPoint(Module):
    """A place on a body at which the load of all that acts on the body from others is reported."""

    position: Float[Array, "3"]  # m, body axes
    name: str = field(static=True)
    body: int = field(static=True)
    axis: Float[Array, "3"] | None = None  # of a port: out of the body, unit vector, body axes
    carried: tuple[int, ...] = field(static=True, default=())  # bodies that count as its body, as liquids of its tanks


class PortLoad(NamedTuple):
    """The load on a body at a port, as limits of interfaces are stated."""

    tension: Scalar  # N, out of the body along the port's axis
    compression: Scalar  # N, into it
    shear: Scalar  # N, across it
    torsion: Scalar  # N m, about it
    bending: Scalar  # N m, across it


def load_at(point: NamedPoint, moving: Moving, loads: Sequence[Wrench], places: Sequence[Placed]) -> Wrench:
    """Return what others put on the body of a named point and what it carries, about that, body axes; of a flexible link, all
    that they put on it.

    `loads` are those on each body, about its centre of mass (inertial).
    """
    link = moving.link(point.body)
    load = loads[link]
    if frames := moving.frames_of(link):
        load = about_centre(load, places[link].pose.position, places[point.body])
        for frame in frames:
            load = load.plus(about_centre(loads[frame], places[frame].pose.position, places[point.body]))
    place = places[point.body]
    for part in point.carried:
        load = load.plus(about_centre(loads[part], places[part].pose.position, place))
    lever = place.rotation @ Vector.of(point.position)
    moment = load.moment - lever.cross(load.force)
    turn = place.rotation.transposed_times
    return Wrench(turn(load.force), turn(moment))


def port_load(load: Wrench, outward: Float[Array, "3"]) -> PortLoad:
    """Return a load at a port (its body's axes) along and across its axis, the unit vector out of the body."""
    axis = Vector.of(outward)
    along, about = load.force.dot(axis), load.moment.dot(axis)
    across = [part - axis * size for part, size in ((load.force, along), (load.moment, about))]
    # smoothed, so that the derivatives of no load are finite
    shear, bending, torsion = (jnp.sqrt(square + NOTHING**2) for square in (*(a.dot(a) for a in across), about**2))
    return PortLoad(along, -along, shear, torsion, bending)
