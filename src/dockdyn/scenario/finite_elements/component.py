"""A component of finite elements by a few matrices, and the modes of it as a free body.

Of any component whose points have six displacements each the rigid motion follows from where the points are: what else there
is follows them without a force, K_ii φ_i = −K_ib φ_b. In the space that has no momentum in any rigid motion (mean axes) the
modes are free modes, and those of a model that was reduced by the method of Craig and Bampton, or of Rubin, are as many as its
coordinates less six: nothing is lost by going over to them, and what a point yields under a constant load is exact.

Units: SI: kg, m, rad; coordinates of the matrices those of the caller.
Source: Craig and Bampton 1968, AIAA J. 6:1313; mean axes, Canavin and Likins 1977, J. Spacecraft and Rockets 14:724.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dockdyn.deferred import Float

MASSLESS = 1e-14  # of the largest 1/ω²: what has less is no vibration but yields at once
NEGATIVE = 1e-10  # of that, below zero: more than rounding makes of what has no mass


class Component(NamedTuple):
    """Mass and stiffness of a component by n coordinates, and how its points move with them, six displacements each."""

    mass: Float[np.ndarray, "n n"]
    stiffness: Float[np.ndarray, "n n"]
    damping: Float[np.ndarray, "n n"] | None
    points: Float[np.ndarray, "points*6 n"]  # m and rad, axes of the model
    rigid: Float[np.ndarray, "n 6"]  # the coordinates of unit motions along and about axes through the body's origin


class FreeModes(NamedTuple):
    """Modes of a component that nothing holds, each scaled to the modal mass of all of the component."""

    frequency: Float[np.ndarray, "modes"]  # rad/s
    shapes: Float[np.ndarray, "n modes"]  # of the coordinates, per m
    damping: Float[np.ndarray, "modes modes"] | None  # kg/s
    compliance: Float[np.ndarray, "points*6"]  # m/N and rad/(N m), of each displacement under its own load, elastic
    points: Float[np.ndarray, "points*6 modes"]


def lost_shares(
    points: Float[np.ndarray, "points*6 modes"],
    frequency: Float[np.ndarray, "modes"],
    compliance: Float[np.ndarray, "points*6"],
) -> Float[np.ndarray, "modes+1"]:
    """Return the largest share of a point's compliance that is lost where only so many of the first modes are kept.

    Modes and compliance are scaled to the same modal mass, which is that of all modes.
    """
    each = (points / frequency) ** 2
    scale = np.where(compliance > 0, compliance, 1.0)[:, None]
    kept = np.concatenate([np.zeros((len(each), 1)), np.cumsum(each, axis=1)], axis=1)
    lost: Float[np.ndarray, "modes+1"] = np.clip(1 - kept / scale, 0.0, 1.0).max(axis=0, initial=0.0)
    return lost


def rigid_motions(places: Float[np.ndarray, "points 3"]) -> Float[np.ndarray, "points*6 6"]:
    """Return the displacements of points at these places (m) by unit motions along and about axes through the origin."""
    found = np.zeros((len(places), 6, 6))
    found[:, :3, :3] = found[:, 3:, 3:] = np.eye(3)
    for axis in range(3):
        found[:, :3, 3 + axis] = np.cross(np.eye(3)[axis], places)
    return found.reshape(-1, 6)


def followed(stiffness: Float[np.ndarray, "n n"], rows: np.ndarray, moved: Float[np.ndarray, "rows 6"]) -> np.ndarray:
    """Return all coordinates where those of `rows` are `moved` and no force holds the others.

    LinAlgError where these can move by themselves without a force.
    """
    found = np.zeros((len(stiffness), moved.shape[1]))
    others = np.setdiff1d(np.arange(len(stiffness)), rows)
    found[rows] = moved
    if others.size:
        found[others] = -np.linalg.solve(stiffness[np.ix_(others, others)], stiffness[np.ix_(others, rows)] @ moved)
    return found


def rigid_inertia(component: Component) -> Float[np.ndarray, "6 6"]:
    """Return the mass matrix of rigid motions along and about axes through the body's origin (kg, kg m, kg m²)."""
    found: Float[np.ndarray, "6 6"] = component.rigid.T @ component.mass @ component.rigid
    return found


def holding_frequency(component: Component) -> float:
    """Return the frequency (rad/s) at which its stiffness would hold it, were it rigid; of a component that is free, zero but
    for rounding."""
    held = component.rigid.T @ component.stiffness @ component.rigid
    squares = np.linalg.eigvals(np.linalg.solve(rigid_inertia(component), held))
    return float(np.sqrt(np.abs(squares).max()))


def free_modes(component: Component) -> FreeModes:
    """Return all modes of a component that nothing holds, the lowest first.

    LinAlgError where its stiffness lets it move otherwise than rigidly, ValueError where a vibration's mass is negative, or
    where it has no mode at all.
    """
    whole = rigid_inertia(component)
    momentum = component.mass @ component.rigid
    space = np.linalg.qr(momentum, mode="complete")[0][:, 6:]  # without momentum in rigid motions
    stiffness, mass = (space.T @ matrix @ space for matrix in (component.stiffness, component.mass))
    lower = np.linalg.cholesky((stiffness + stiffness.T) / 2)
    squares, axes = np.linalg.eigh(np.linalg.solve(lower, np.linalg.solve(lower, (mass + mass.T) / 2).T))
    if not squares.size or squares[-1] <= 0:
        raise ValueError("can move only rigidly; must have a vibration, or flexible be left out")
    if squares[0] < -NEGATIVE * squares[-1]:
        raise ValueError("has a negative mass in a vibration; must have none below 0")
    at_points = component.points @ space
    yielded = np.linalg.solve(lower, at_points.T)
    kept = np.flatnonzero(squares > MASSLESS * squares[-1])[::-1]
    frequency = 1 / np.sqrt(squares[kept])
    shapes = space @ np.linalg.solve(lower.T, axes[:, kept]) * frequency * np.sqrt(whole[0, 0])
    shapes = shapes * np.where(main_part(shapes) < 0, -1.0, 1.0)
    damping = None if component.damping is None else shapes.T @ component.damping @ shapes
    compliance = (yielded**2).sum(axis=0) * whole[0, 0]
    return FreeModes(frequency, shapes, damping, compliance, component.points @ shapes)


def main_part(shapes: Float[np.ndarray, "n modes"]) -> Float[np.ndarray, "modes"]:
    """Return the largest coordinate of each mode: by its sign a mode has the same one on every machine."""
    found: Float[np.ndarray, "modes"] = shapes[np.argmax(np.abs(shapes), axis=0), np.arange(shapes.shape[1])]
    return found
