"""Inertia of links in their own frames: what is rigid, and bent beams by Kane's method over slices.

Twists and momenta are (v, ω) and (p, L), of and about the frame's origin.

Units: SI: kg, m, kg m², N, N m.
Source: Kane and Levinson 1985, Dynamics: Theory and Applications; Cyril et al., section 2; Featherstone 2008, Rigid Body
Dynamics Algorithms, chapter 2 (inertia in another frame).
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce
from operator import add
from typing import TYPE_CHECKING, NamedTuple

from dockdyn.deferred import Array, Float, jnp
from dockdyn.mechanics.trees.screws import apply_matrix, cross_product, matrix_product, transpose_each
from dockdyn.mechanics.vector import Vector
from dockdyn.programs import trace_once

if TYPE_CHECKING:
    from dockdyn.mechanics.trees.composite_bodies import Links

type Three = Float[Array, "3"]
type Six = Float[Array, "6"]
type Each = Float[Array, "links slices"]


class Inertia(NamedTuple):
    """Moments of mass about a frame's origin, in its axes: what the mass matrix for a twist is made of."""

    mass: Float[Array, ""]  # kg
    first: Three  # kg m, Σ m r
    second: Float[Array, "3 3"]  # kg m², Σ m (r·r 1 − r rᵀ)

    @staticmethod
    def of(matrix: Float[Array, "6 6"]) -> Inertia:
        """Return it from a mass matrix for (v, ω)."""
        return Inertia(matrix[0, 0], jnp.stack([matrix[1, 5], matrix[2, 3], matrix[0, 4]]), matrix[3:, 3:])

    @trace_once
    def plus(self, other: Inertia) -> Inertia:
        return Inertia(self.mass + other.mass, self.first + other.first, self.second + other.second)

    @trace_once
    def momentum(self, twist: Six) -> Six:
        """Return that of what moves at a twist."""
        v, omega = twist[:3], twist[3:]
        linear = self.mass * v + cross_product(omega, self.first)
        return jnp.concatenate([linear, cross_product(self.first, v) + apply_matrix(self.second, omega)])

    @trace_once
    def load(self, twist: Six, bias: Six) -> Six:
        """Return the force and moment at a twist whose rate, in the frame's axes, is `bias`."""
        momentum = self.momentum(twist)
        linear, omega = momentum[:3], twist[3:]
        turning = jnp.concatenate(
            [cross_product(omega, linear), cross_product(omega, momentum[3:]) + cross_product(twist[:3], linear)]
        )
        return self.momentum(bias) + turning

    @trace_once
    def seen(self, rotation: Float[Array, "3 3"], position: Three) -> Inertia:
        """Return the same in the frame in which `rotation` and `position` (m) place this one."""
        first = apply_matrix(rotation, self.first)
        lever = first + self.mass * position
        both = first[:, None] * position + position[:, None] * lever
        turned = matrix_product(matrix_product(rotation, self.second), transpose_each(rotation))
        second = turned + (first @ position + position @ lever) * jnp.eye(3) - both
        return Inertia(self.mass, lever, second)


@trace_once
def wrench_seen(rotation: Float[Array, "3 3"], position: Three, wrench: Six) -> Six:
    """Return a force and moment, or a momentum, in the frame in which `rotation` and `position` (m) place its own."""
    force = apply_matrix(rotation, wrench[:3])
    return jnp.concatenate([force, apply_matrix(rotation, wrench[3:]) + cross_product(position, force)])


class BeamLinks(NamedTuple):
    """Beams of bent links, in link axes."""

    inertia: Inertia  # with a leading axis of links
    coupling: Float[Array, "links width 6"]  # momentum by modal rates
    modal: Float[Array, "links width width"]  # mass matrix of modal rates
    load: Float[Array, "links 6"]  # M̄ Ṅv + c̄
    modal_load: Float[Array, "links width"]


def link_inertia(
    links: Links,
    twist: Float[Array, "links 6"],
    bias: Float[Array, "links 6"],
    eta: Float[Array, "links width"],
    rates: Float[Array, "links width"],
    twisting: bool,
) -> BeamLinks:
    """Return the mass matrix M̄ for (twist, modal rates) and the loads M̄ Ṅv + c̄ of the slices of beams.

    `links` holds the stacked numbers of the links that bend, `bias` their Ṅv; `twisting`: whether any of them twists.
    """
    modes, weight = range(eta.shape[1]), links.slice_mass
    value, rate = ([row[:, k, None] for k in modes] for row in (eta, rates))
    v, omega, lift, turn = (_vector_of_rows(part) for part in (twist[:, :3], twist[:, 3:], bias[:, :3], bias[:, 3:]))
    shortened = [_sum_parts(links.shortening[:, :, k, j] * value[j] for j in modes) for k in modes]
    curving = _sum_parts(links.shortening[:, :, k, j] * rate[j] * rate[k] for j in modes for k in modes)
    straight = [Vector(*(links.shift[:, :, axis, k] for axis in range(3))) for k in modes]
    shift = [Vector(one.x - shorter, one.y, one.z) for one, shorter in zip(straight, shortened, strict=True)]
    bent = _sum_parts(one * eta for one, eta in zip(straight, value, strict=True))
    sagged = links.place - 0.5 * _sum_parts(one * eta for one, eta in zip(shortened, value, strict=True))
    place = Vector(bent.x + sagged, bent.y, bent.z)
    moving = _sum_parts(one * speed for one, speed in zip(shift, rate, strict=True))
    # of every slice at constant velocities
    speeding = lift + turn.cross(place) + omega.cross(v + omega.cross(place) + moving * 2)
    speeding = Vector(speeding.x - curving, speeding.y, speeding.z)

    heavy, pressing = place * weight, speeding * weight
    xx, yy, zz = (_sum_over_slices(a * b) for a, b in ((heavy.x, place.x), (heavy.y, place.y), (heavy.z, place.z)))
    xy, xz, yz = (_sum_over_slices(a * b) for a, b in ((heavy.x, place.y), (heavy.x, place.z), (heavy.y, place.z)))
    second = jnp.stack([yy + zz, -xy, -xz, -xy, xx + zz, -yz, -xz, -yz, xx + yy], -1).reshape(-1, 3, 3)
    weighted = [one * weight for one in shift]
    found = BeamLinks(
        Inertia(_sum_over_slices(weight), _vector_totals(heavy), second),
        jnp.stack([_wrench_rows(one, place.cross(one)) for one in weighted], 1),
        jnp.stack([jnp.stack([_sum_over_slices(a.dot(b)) for b in shift], -1) for a in weighted], 1),
        _wrench_rows(pressing, place.cross(pressing)),
        jnp.stack([_sum_over_slices(one.dot(pressing)) for one in shift], -1),
    )
    return _with_twisting(found, links, twist, bias, rates) if twisting else found


def _with_twisting(
    found: BeamLinks,
    links: Links,
    twist: Float[Array, "links 6"],
    bias: Float[Array, "links 6"],
    rates: Float[Array, "links width"],
) -> BeamLinks:
    """Return it with what slices have that turn about the link's x axis, with the link and by twisting."""
    turn, polar = links.turn[:, :, 0, :], links.slice_polar
    heavy = turn * polar[..., None]
    whole, shared = polar.sum(1), heavy.sum(1)
    spin = whole * twist[:, 3] + (shared * rates).sum(-1)
    gyroscopic = cross_product(twist[:, 3:], spin[:, None] * jnp.eye(3)[0])
    return BeamLinks(
        found.inertia._replace(second=found.inertia.second.at[:, 0, 0].add(whole)),
        found.coupling.at[:, :, 3].add(shared),
        found.modal + jnp.einsum("lsa,lsb->lab", heavy, turn),
        found.load.at[:, 3:].add(gyroscopic).at[:, 3].add(whole * bias[:, 3]),
        found.modal_load + shared * bias[:, 3, None],
    )


def _vector_of_rows(rows: Float[Array, "links 3"]) -> Vector:
    """Return one for all slices of a link."""
    return Vector(rows[:, 0, None], rows[:, 1, None], rows[:, 2, None])


def _sum_parts[T](parts: Iterable[T]) -> T:
    return reduce(add, parts)


def _sum_over_slices(each: Each) -> Float[Array, "links"]:
    """Return the sum over slices."""
    return each.sum(-1)


def _vector_totals(each: Vector) -> Float[Array, "links 3"]:
    return jnp.stack([_sum_over_slices(each.x), _sum_over_slices(each.y), _sum_over_slices(each.z)], -1)


def _wrench_rows(force: Vector, moment: Vector) -> Float[Array, "links 6"]:
    return jnp.concatenate([_vector_totals(force), _vector_totals(moment)], -1)
