"""Linear sloshing in a tank of revolution by finite elements: quadratic ones in the half plane, of one wave around the axis."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import eigh
from scipy.sparse import coo_matrix
from scipy.sparse.linalg import splu

GAUSS, WEIGHTS = np.polynomial.legendre.leggauss(3)


class Sloshing(NamedTuple):
    """What a liquid of unit density does to its tank, about a point on the axis."""

    mass: float
    centre: float  # above the point
    inertia: float  # of the liquid in a closed tank that turns across its axis, about the point
    wave_numbers: np.ndarray  # ω²/a of the modes
    masses: np.ndarray  # that slosh
    heights: np.ndarray  # above the point, at which they do
    waves: np.ndarray  # rise at the wall as these masses slide by one


def _shapes(s: float) -> tuple[np.ndarray, np.ndarray]:
    """Values and slopes of the three shapes of a quadratic element."""
    return np.array([s * (s - 1) / 2, 1 - s * s, s * (s + 1) / 2]), np.array([s - 0.5, -2 * s, s + 0.5])


def sloshing_of(wall: Callable[[Any], tuple[Any, Any]], cells: int = 24, modes: int = 3) -> Sloshing:
    """Sloshing of a liquid in a tank whose `wall` goes from the bottom, at 0, up to the free surface, at 1: distance from the
    axis and height.

    The potential φ(r, z) cos θ minimises ∫ (φ_r² + φ_z² + φ²/r²) r dr dz; it is 0 on the axis.
    """
    count = 2 * cells + 1
    across, up = np.meshgrid(np.linspace(0, 1, count), np.linspace(0, 1, count), indexing="ij")
    # finer towards the wall at the free surface, where the two meet
    radius, z = wall(np.sin(np.pi / 2 * up))
    r = np.maximum(np.sin(np.pi / 2 * across) * radius, 1e-12)
    number = np.arange(count**2).reshape(count, count)
    rows, columns, entries = [], [], []
    volume = first = 0.0
    for i in range(0, count - 1, 2):
        for j in range(0, count - 1, 2):
            own = number[i : i + 3, j : j + 3].ravel()
            places = np.stack([r[i : i + 3, j : j + 3].ravel(), z[i : i + 3, j : j + 3].ravel()])
            local = np.zeros((9, 9))
            for s, ws in zip(GAUSS, WEIGHTS, strict=True):
                for t, wt in zip(GAUSS, WEIGHTS, strict=True):
                    (a, da), (b, db) = _shapes(s), _shapes(t)
                    value = np.outer(a, b).ravel()
                    slopes = np.stack([np.outer(da, b).ravel(), np.outer(a, db).ravel()])
                    jacobian = slopes @ places.T
                    at, area = places @ value, abs(np.linalg.det(jacobian)) * ws * wt
                    real = np.linalg.solve(jacobian, slopes)
                    local += np.pi * at[0] * area * (real.T @ real + np.outer(value, value) / at[0] ** 2)
                    volume += 2 * np.pi * at[0] * area
                    first += 2 * np.pi * at[0] * area * at[1]
            rows += [np.repeat(own, 9)]
            columns += [np.tile(own, 9)]
            entries += [local.ravel()]
    stiffness = coo_matrix(
        (np.concatenate(entries), (np.concatenate(rows), np.concatenate(columns))), shape=(count**2, count**2)
    ).tocsc()

    def edge(line: np.ndarray, load: Callable[[float, float, float, float], float]) -> tuple[np.ndarray, np.ndarray]:
        """Mass matrix and loads of a line of nodes; `load` is of r, z and the outward normal."""
        mass, push = np.zeros((count**2, count**2 if line is surface else 0)), np.zeros(count**2)
        for k in range(0, count - 1, 2):
            own = line[k : k + 3]
            places = np.stack([r.ravel()[own], z.ravel()[own]])
            for s, ws in zip(GAUSS, WEIGHTS, strict=True):
                value, slope = _shapes(s)
                (at_r, at_z), (dr, dz) = places @ value, places @ slope
                length = np.hypot(dr, dz)
                normal = np.array([dz, -dr]) / length
                if line is surface or normal[0] < 0 or (line is bottom and normal[1] > 0):
                    normal = np.array([0.0, 1.0]) if line is surface else -normal
                push[own] += np.pi * at_r * length * ws * load(at_r, at_z, *normal) * value
                if line is surface:
                    mass[np.ix_(own, own)] += np.pi * at_r * length * ws * np.outer(value, value)
        return mass, push

    surface, bottom, side = number[:, -1], number[:, 0], number[-1, :]
    turning = lambda at_r, at_z, nr, nz: at_z * nr - at_r * nz  # noqa: E731
    surface_mass, by_lid = edge(surface, turning)
    turned = by_lid + edge(side, turning)[1] + (edge(bottom, turning)[1] if radius[0, 0] > 0 else 0.0)
    by_radius = edge(surface, lambda at_r, _z, _nr, _nz: at_r)[1]
    free = np.setdiff1d(np.arange(count**2), number[0, :])
    if not radius[0, 0] > 0:
        free = np.setdiff1d(free, bottom)
    solved = splu(stiffness[free][:, free])
    potential = np.zeros(count**2)
    potential[free] = solved.solve(turned[free])
    top = np.intersect1d(surface, free)
    loads = np.zeros((count**2, top.size))
    loads[top, np.arange(top.size)] = 1.0
    flexibility = solved.solve(loads[free])[np.searchsorted(free, top)]
    at_top = surface_mass[np.ix_(top, top)]
    inverse, shapes = eigh(at_top @ ((flexibility + flexibility.T) / 2) @ at_top, at_top)
    order = np.argsort(-inverse)[:modes]
    kappa, shapes = 1 / inverse[order], shapes[:, order]
    lift, turn = shapes.T @ by_radius[top], shapes.T @ at_top @ potential[top]
    return Sloshing(
        volume, first / volume, turned @ potential, kappa, kappa * lift**2, turn / lift, kappa * lift * shapes[-1]
    )
