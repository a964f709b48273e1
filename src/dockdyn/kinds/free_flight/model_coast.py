"""How long two free bodies surely go on without touching.

Units: m, m/s, rad/s, s.
Source: definition of the bound; it is in `contact/time_to_touch.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import jax.numpy as jnp

from dockdyn.contact import time_to_touch
from dockdyn.contact.gate import APART
from dockdyn.contact.latch import HELD, OUT
from dockdyn.integrate.model import TURN, Scalar, State
from dockdyn.mechanics.rigid_body import Placed
from dockdyn.mechanics.vector import Vector

if TYPE_CHECKING:
    from dockdyn.kinds.free_flight.model import FreeFlight

SHARE = 0.99  # of the time to a contact that may be the nearest possible


def free_time(model: FreeFlight, x: State) -> Scalar:
    """Time (s) for which nothing begins and no body turns far, whatever it does; 0 where something acts.

    A feature cannot come nearer to a surface than it moves.
    """
    places = model.places(x)
    rates = (
        time_to_touch.fastest_turn(model.bodies[0], places[0]),
        time_to_touch.fastest_turn(model.bodies[1], places[1]),
    )
    time = TURN / jnp.maximum(jnp.maximum(*rates), 1e-300)
    quiet = jnp.asarray(True)
    for contact, mode in zip(model.contacts, x.mode, strict=False):
        gap = -contact.touch(*places).depth
        place = Vector.of(contact.feature.position)
        time = jnp.minimum(time, _time_to(gap, place, places, rates, contact.feature_on_chaser))
        quiet &= mode == APART
    latch = model.latch
    if latch is not None:
        gap = -jnp.minimum(*latch.travel(*places))
        place = Vector.of(latch.feature.position)
        reach = _time_to(gap, place, places, rates, latch.feature_on_chaser)
        held = x.mode[-1] >= HELD
        time = jnp.where(held, TURN / jnp.maximum(jnp.maximum(*rates), 1e-300), jnp.minimum(time, reach))
        quiet &= (x.mode[-1] == OUT) | (held & still(model))
    return jnp.where(quiet, SHARE * time, 0.0)


def still(model: FreeFlight) -> Scalar:
    """Whether no feature moves over its surface once the latch holds, as rigid bodies: they are what it holds."""
    assert model.latch is not None
    if model.latch.catch is not None:
        return jnp.asarray(False)
    return jnp.all(jnp.stack([jnp.asarray(True), *model.latch.seated(model.contacts)]))


def _time_to(
    gap: Scalar, place: Vector, places: tuple[Placed, Placed], rates: tuple[Scalar, Scalar], on_chaser: bool
) -> Scalar:
    """Time (s) that a feature at `place` on its body needs at least to come nearer by `gap` (m)."""
    return time_to_touch.free_time(
        gap, place.norm(), places if on_chaser else places[::-1], rates if on_chaser else rates[::-1]
    )
