"""The contact of Cyril et al. just before hand and payload meet: presets as mass matrices and rows of the contact."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache, partial
from typing import Any, NamedTuple

import numpy as np

from dockdyn.deferred import Array, Float, jax, jnp
from dockdyn.docking.linked_trees import linked_start
from dockdyn.docking.schema.mechanism import MechanismSection
from dockdyn.impact.laws.by_name import resolve_impact
from dockdyn.impact.laws.contact_matrix import constrained_contact_matrix, contact_matrix, lock_constraints
from dockdyn.impact.laws.result import Impact
from dockdyn.integrate.model import Scalar
from dockdyn.mechanics.trees.momentum import momentum_of_tree
from dockdyn.mechanics.trees.moving_bodies import MovingBodies
from dockdyn.mechanics.trees.tree_bodies import TreeBodies
from dockdyn.mechanics.vector import Vector
from dockdyn.mechanism.connections import point_rows, turning_rows
from dockdyn.results.plan import jit_once
from dockdyn.scenario.load import load
from dockdyn.trees import map_leaves

LINKS = ("link1", "link2")
WRIST = {"body.hand.joint.locked": True}
BELOW = {
    "body.payload.position": [-0.077181208464864, 18.634976952449820, 0.0]
}  # m: the payload with N_y, as in cyril-plastic
FREE, HAND, SIDE = "N_y, θ₄ free", "N_h, θ₄ locked", "N_y, θ₄ locked"
CASES: dict[str, tuple[str, dict[str, Any]]] = {  # preset and changes
    FREE: ("cyril-plastic", {}),
    HAND: ("cyril-r-e-r-f", {}),
    SIDE: ("cyril-r-e-r-f", BELOW),
}
TIP = (0.1, 0.0, 0.0)  # m, of the hand, from its centre of mass

type Row = Float[Array, "n"]


def with_modes(count: int) -> dict[str, Any]:
    """Return the changes for so many modes a link."""
    return {f"body.{name}.flexible.bending_modes": [count, 0] for name in LINKS}


class Approach(NamedTuple):
    """The contact just before the impact, joints locked."""

    mass: Float[Array, "n n"]  # of both trees
    rows: Float[Array, "rows n"]  # contact velocities by all velocities: normal, tangent, moment
    matrix: Float[Array, "rows rows"]  # W
    velocities: Row
    lock_loss: Scalar  # J


class Meeting(NamedTuple):
    """The contact before the impact, joints locked, and the momenta of both."""

    approach: Approach
    locks: Float[Array, "locks n"]  # rows of velocities that are held at zero
    normal: Float[Array, "3"]
    linear: Float[Array, "2 3"]  # N s, chaser and target
    angular: Float[Array, "2 3"]  # N m s, about the inertial origin
    position: Float[Array, "2 3"]  # m, of the bases


def lock_joints(
    mass: Float[Array, "n n"], rows: Float[Array, "rows n"], v: Row, locks: Float[Array, "locks n"]
) -> Approach:
    """Return a contact once the velocities of `locks` have been stopped, momentum kept."""
    if not locks.shape[0]:
        return Approach(mass, rows, contact_matrix(rows, mass), v, jnp.zeros(()))
    after = lock_constraints(mass, locks, v)
    loss = 0.5 * (v @ mass @ v - after @ mass @ after)
    return Approach(mass, rows, constrained_contact_matrix(rows, mass, locks), after, loss)


@partial(jit_once, static=("welded",))
def meeting(content: MechanismSection, welded: bool) -> Meeting:
    """Return the contact of the hand's tip with the payload, whose centre is on its normal; a moment if it is `welded`."""
    model, starts = content.model(), content.starts()
    moving = model.moving
    assert isinstance(moving, MovingBodies)
    trees = [tree for tree in model.trees if isinstance(tree, TreeBodies)]
    names, each, held = content.names(), [], []
    for tree in trees:
        pose, twist = starts[names[tree.members[0]]]
        q, v = linked_start(replace(tree, locked=()), pose, twist, content.body)
        each.append((q, v, tree.tree.dynamics(q, v)[0]))
        held.append(jnp.eye(v.shape[0])[jnp.array(tree.locked, int)])
    mass = jax.scipy.linalg.block_diag(*(part for *_, part in each))
    here = moving.placed(*moving.begun((), (), (), [(q, v) for q, v, _ in each]))
    hand, payload = names.index("hand"), names.index("payload")
    point = here.bodies[hand].point(Vector.of(jnp.asarray(TIP)))
    normal = point - here.bodies[payload].pose.position
    normal = normal * (1 / normal.norm())
    axes = [normal, Vector(-normal.y, normal.x, jnp.zeros(()))]
    rows = point_rows(here.bodies, hand, payload, point, axes)
    if welded:
        about = [Vector.of(jnp.array([0.0, 0.0, 1.0]))]
        rows = jnp.concatenate([rows, turning_rows(here.bodies, hand, payload, about)])
    locks = jax.scipy.linalg.block_diag(*held) if any(part.shape[0] for part in held) else jnp.zeros((0, mass.shape[0]))
    found = lock_joints(mass, moving.by_velocity(here, rows), jnp.concatenate([v for _, v, _ in each]), locks)
    momenta = [momentum_of_tree("planar", q, part, v) for q, v, part in each]
    linear, angular = (jnp.stack([getattr(m, name) for m in momenta]) for name in ("linear", "angular"))
    return Meeting(found, locks, normal.array(), linear, angular, jnp.stack([q.position for q, *_ in each]))


@lru_cache(maxsize=2 * len(CASES))
def case(name: str, modes: int) -> Meeting:
    """Return the contact of one of `CASES`, as NumPy arrays."""
    preset, changes = CASES[name]
    return meet(preset, {**changes, **with_modes(modes)})


def meet(preset: str, changes: dict[str, Any]) -> Meeting:
    """Return the contact of a preset with changes, as NumPy arrays."""
    content = load(preset, changes).content
    return map_leaves(np.asarray, meeting(content, bool(content.latch)))


def contact(found: Meeting, rows: int = 2) -> tuple[Array, Array]:
    """Return W and u of its first rows: without the moment unless there are to be three."""
    matrix, velocity = found.approach.matrix, found.approach.rows @ found.approach.velocities
    return jnp.asarray(matrix[:rows, :rows]), jnp.asarray(velocity[:rows])


def of_law(found: Meeting, law: str, **parameters: float) -> Impact:
    """Return an impact of that contact."""
    matrix, velocity = contact(found, 3 if law == "weld" else 2)
    return resolve_impact(law, matrix, velocity, **parameters)
