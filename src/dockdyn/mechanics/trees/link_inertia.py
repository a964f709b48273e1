"""Mass matrices and loads of bent links in their own frames, by Kane's method over slices.

Units: SI: kg, m, kg m², N, N m.
Source: Kane and Levinson 1985, Dynamics: Theory and Applications; Cyril et al., section 2.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import jax.numpy as jnp
from jaxtyping import Array, Float

from dockdyn.mechanics.trees.screws import cross, cross_matrix

if TYPE_CHECKING:
    from dockdyn.mechanics.trees.composite_bodies import Links


def link_inertia(
    links: Links,
    twist: Float[Array, "links 6"],
    bias: Float[Array, "links 6"],
    eta: Float[Array, "links width"],
    rates: Float[Array, "links width"],
    twisting: bool,
) -> tuple[Float[Array, "links 6+width 6+width"], Float[Array, "links 6+width"]]:
    """Mass matrix M̄ for (twist, modal rates) and the loads M̄ Ṅv + c̄ of the slices of beams, in link axes.

    `links` holds the stacked numbers of the links that bend, `bias` their Ṅv; `twisting`: whether any of them twists.
    """
    turning = twist[:, None, 3:]
    shortened = (links.shortening * eta[:, None, None, :]).sum(-1)  # of the links' axis 1, slices
    place = (links.shift * eta[:, None, None, :]).sum(-1)
    place = place.at[..., 0].add(links.place - 0.5 * (shortened * eta[:, None, :]).sum(-1))
    shift = links.shift.at[:, :, 0, :].add(-shortened)
    moving = (shift * rates[:, None, None, :]).sum(-1)
    curving = -((links.shortening * rates[:, None, None, :]).sum(-1) * rates[:, None, :]).sum(-1)
    speeding = cross(turning, twist[:, None, :3] + cross(turning, place) + 2 * moving)
    speeding = speeding.at[..., 0].add(curving) + bias[:, None, :3] + cross(bias[:, None, 3:], place)

    # partial velocities of every slice, and its acceleration at constant velocities as one more column
    ahead = jnp.broadcast_to(jnp.eye(3), (*place.shape[:2], 3, 3))
    partial = jnp.concatenate([ahead, -cross_matrix(place), shift, speeding[..., None]], -1)
    count, slices, _, columns = partial.shape
    whole = partial.reshape(count, 3 * slices, columns)
    weighted = (partial * links.slice_mass[..., None, None]).reshape(whole.shape)
    found = jnp.einsum("lsa,lsb->lab", weighted[..., :-1], whole)
    mass, loads = found[..., :-1], found[..., -1]
    if not twisting:
        return mass, loads
    # slices turn about the link's x axis, with the link and by twisting
    row = jnp.zeros_like(whole[:, :slices, :-1]).at[..., 3].set(1.0).at[..., 6:].set(links.turn[:, :, 0, :])
    heavy = row * links.slice_polar[..., None]
    spin = (heavy * jnp.concatenate([twist, rates], -1)[:, None, :]).sum((1, 2))
    gyroscopic = cross(twist[:, 3:], spin[:, None] * jnp.eye(3)[0])
    loads = loads + (heavy * bias[:, None, 3, None]).sum(1)
    return mass + jnp.einsum("lsa,lsb->lab", heavy, row), loads.at[:, 3:6].add(gyroscopic)
