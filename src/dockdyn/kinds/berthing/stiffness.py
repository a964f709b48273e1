"""How stiff a berthing is: whether an explicit integrator would crawl. An estimate from matrices at t = 0."""

from __future__ import annotations

import numpy as np

from dockdyn.control.joint_control import JointControl
from dockdyn.control.tree_plant import turning_columns
from dockdyn.kinds.berthing.model import HOLDS, Berthing, Struck
from dockdyn.mechanics.trees.composite_bodies import Tree
from dockdyn.results.plan import jit_once

STIFF = 1e4  # from here on an implicit method is worth its steps, each of which costs about a hundred explicit ones


def stiffness(model: Berthing, struck: Struck, duration: float) -> float:
    """The fastest decay over the fastest oscillation (or over 1/duration if that is more), of small motions at rest.

    Counted are dampers and springs of joints and beams and, of control, stiffness and damping of joints and base. What the
    impact joined and locked joints hold.
    """
    mass = np.asarray(struck.mass)
    damping, springs = (np.zeros_like(mass) for _ in range(2))
    first = 0
    for side in model.sides:
        tree, size = side.tree, len(side.velocities)
        part = slice(first, first + size)
        damping[part, part], springs[part, part] = own_matrices(tree)
        first += size
    if model.control is not None and isinstance(law := model.control.law, JointControl):
        for columns, damps, holds in (
            (model.sides[0].tree.joint_columns(), law.damping, law.stiffness),
            (turning_columns(model.sides[0].tree), law.base_damping, law.base_stiffness),
        ):
            damping[columns, columns] += np.asarray(damps)
            springs[columns, columns] += np.asarray(holds)
    held = [np.asarray(struck.rows)] if model.law.name in HOLDS else []
    free = _null_space(np.concatenate([*held, np.asarray(_lock_rows(model))]))
    m, d, k = (free.T @ matrix @ free for matrix in (mass, damping, springs))
    count = len(m)
    whole = np.block([[np.zeros((count, count)), np.eye(count)], [-np.linalg.solve(m, k), -np.linalg.solve(m, d)]])
    roots = np.linalg.eigvals(whole)
    return float((-roots.real).max() / max(np.abs(roots.imag).max(), 1 / duration))


_lock_rows = jit_once(Berthing.lock_rows)


def own_matrices(tree: Tree) -> tuple[np.ndarray, np.ndarray]:
    """Return damping and stiffness of a tree's joints and beams (SI)."""
    damping, springs = np.diag(np.asarray(tree.joint_damping)), np.diag(np.asarray(tree.joint_stiffness))
    _, modes, _ = tree.layout.columns()
    for link, columns in enumerate(modes):
        at, count = np.ix_(columns, columns), len(columns)
        damping[at] += np.asarray(tree.links.damping[link])[:count, :count]
        springs[at] += np.asarray(tree.links.stiffness[link])[:count, :count]
    return damping, springs


def _null_space(rows: np.ndarray) -> np.ndarray:
    """Columns that span what the rows do not hold."""
    _, values, vectors = np.linalg.svd(rows, full_matrices=True)
    return vectors[len(values) :].T
