"""By how much the modes that beams leave out make a compliant contact too hard: an estimate, without a second run.

While they touch first, chaser and target are a linear system whose matrices at t = 0 are known with more modes, too.

Units: N, N/m, s.
Source: own construction.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from dockdyn.integrate.model import over_rows
from dockdyn.kinds.berthing.model import COMPLIANT, Berthing
from dockdyn.kinds.berthing.schema import BerthingSection
from dockdyn.kinds.berthing.stiffness import own_matrices
from dockdyn.mechanics.trees.composite_bodies import Tree
from dockdyn.mechanics.vector import Vector
from dockdyn.results.linear_contact import DEPTHS, ENOUGH, LATER, Spring, equivalent_stiffness, linear_peak
from dockdyn.results.plan import jit_once


class Small(NamedTuple):
    """Chaser and target as they touch."""

    trees: tuple[Tree, Tree]
    mass: Float[Array, "n n"]
    row: Float[Array, "n"]  # what the contact opens by, of all velocities
    velocity: Float[Array, "n"]


def mode_excess(content: BerthingSection, model: Berthing, peak: float, time: float) -> float | None:
    """Return the share by which the first peak force (N), at a time (s), is too large for want of modes.

    None where no beam touches compliantly, or where it is not known.
    """
    links = [*content.chaser.link, *content.target.link]
    if model.law.name != COMPLIANT or content.contact.normal is None or all(link.beam is None for link in links):
        return None
    stiffness = equivalent_stiffness(np.asarray(_forces(content, model.normal)), peak)
    if not (time > 0 and np.isfinite(stiffness)):
        return None
    flexible = content.flexible.model_copy(update={"modes": max(ENOUGH, content.flexible.modes)})
    whole = content.model_copy(update={"flexible": flexible})
    fewer, more = (_peak(each, stiffness, LATER * time) for each in (content, whole))
    return max(fewer / more - 1.0, 0.0)


def _peak(content: BerthingSection, stiffness: float, until: float) -> float:
    small = jax.tree.map(np.asarray, _small(content))
    springs, first = np.zeros_like(small.mass), 0
    for tree in small.trees:
        _, own = own_matrices(tree)
        springs[first : first + len(own), first : first + len(own)] = own
        first += len(own)
    return linear_peak(small.mass, springs, small.row, small.velocity, Spring(stiffness), until)


@jit_once
def _small(content: BerthingSection) -> Small:
    model = content.uncontrolled()
    found = model.approach()
    return Small((model.sides[0].tree, model.sides[1].tree), found.mass, found.rows[0], found.velocities)


@jit_once
def _forces(content: BerthingSection, normal: Any) -> Float[Array, "depths"]:  # noqa: ANN401, of NumPy or JAX
    """Return the elastic force (N) of the contact's law at the `DEPTHS`."""
    assert content.contact.normal is not None
    law = content.contact.normal.make().along(Vector.of(jnp.asarray(normal)))
    return over_rows(lambda depth: law.force(depth, jnp.zeros(())), jnp.asarray(DEPTHS))
