"""Inertia of links in their own frames: what is rigid, and bent beams by Kane's method over slices.

Twists and momenta are (v, ω) and (p, L), of and about the frame's origin.

Units: SI: kg, m, kg m², N, N m.
Source: Kane and Levinson 1985, Dynamics: Theory and Applications; Cyril et al., section 2; Featherstone 2008, Rigid Body
Dynamics Algorithms, chapter 2 (inertia in another frame).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from dockdyn.deferred import Array, Float, jnp
from dockdyn.mechanics.trees.screws import apply_matrix, axial_vector, cross_product, matrix_product, transpose_each
from dockdyn.programs import trace_once

if TYPE_CHECKING:
    from dockdyn.mechanics.trees.composite_bodies import Links

type Three = Float[Array, "3"]
type Six = Float[Array, "6"]


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
    v, omega, lift, turn = (part[:, None] for part in (twist[:, :3], twist[:, 3:], bias[:, :3], bias[:, 3:]))
    shorter, curving = (jnp.einsum("lskj,lj->lsk", links.shortening, one) for one in (eta, rates))
    shift = links.shift.at[:, :, 0].add(-shorter)
    sagged = links.place - 0.5 * jnp.einsum("lsk,lk->ls", shorter, eta)
    place = jnp.einsum("lsck,lk->lsc", links.shift, eta).at[:, :, 0].add(sagged)
    moving = jnp.einsum("lsck,lk->lsc", shift, rates)
    # of every slice at constant velocities
    turning = cross_product(omega, v + cross_product(omega, place) + 2 * moving)
    speeding = lift + cross_product(turn, place) + turning
    speeding = speeding.at[:, :, 0].add(-jnp.einsum("lsk,lk->ls", curving, rates))

    weight = links.slice_mass[..., None]
    heavy, pressing, weighted = place * weight, speeding * weight, shift * weight[..., None]
    spread, leaning = (jnp.einsum("lsa,lsb->lab", place, one) for one in (heavy, pressing))
    second = jnp.trace(spread, axis1=1, axis2=2)[:, None, None] * jnp.eye(3) - spread
    turned = axial_vector(jnp.einsum("lsa,lsck->lkac", place, weighted))
    rows = (shift.shape[0], -1, shift.shape[-1])  # along slices and axes together
    found = BeamLinks(
        Inertia(links.slice_mass.sum(1), heavy.sum(1), second),
        jnp.concatenate([jnp.swapaxes(weighted.sum(1), -1, -2), turned], -1),
        jnp.einsum("lna,lnb->lab", weighted.reshape(rows), shift.reshape(rows)),
        jnp.concatenate([pressing.sum(1), axial_vector(leaning)], -1),
        jnp.einsum("lnk,ln->lk", shift.reshape(rows), pressing.reshape(rows[:2])),
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
