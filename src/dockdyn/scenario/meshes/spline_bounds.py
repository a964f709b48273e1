"""How steep a cubic B-spline is at most, from its Bézier points in each cell.

The gradient of a polynomial lies in the convex hull of its Bézier points.

Units: spline coefficients m.
Source: Farin 2002, Curves and Surfaces for CAGD, ch. 6 (Bézier points, degree elevation) and 8 (of B-splines).
"""

from __future__ import annotations

import math
from functools import reduce
from itertools import product

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from dockdyn.contact.surfaces.distance_field import TAPS
from dockdyn.deferred import Bool, Float
from dockdyn.scenario.meshes.brick_levels import spread_over_cells

VALUES = np.array([[1, 4, 1, 0], [0, 4, 2, 0], [0, 2, 4, 0], [0, 1, 4, 1]]) / 6  # Bézier points of coefficients
RAISED = np.array([[3, 0, 0], [1, 2, 0], [0, 2, 1], [0, 0, 3]]) / 3  # those of a parabola as those of a cubic
SLOPES = RAISED @ (3 * np.diff(VALUES, axis=0))  # Bézier points of the derivative
NEAR = 0.02  # of itself, by which the largest slope is larger than it is found to be
FIRST = np.array([[8, 0, 0, 0], [4, 4, 0, 0], [2, 4, 2, 0], [1, 3, 3, 1]]) / 8  # Bézier points of the first half
CORNERS = [TAPS**2 * x + TAPS * y + z for x, y, z in product((0, TAPS - 1), repeat=3)]
MANY = 256  # bricks at once


def _products(along: list[np.ndarray]) -> Float[np.ndarray, "coefficients points"]:
    """Return what takes the coefficients that a cell reads, one after another, to Bézier points, from what does along each
    axis."""
    return np.ascontiguousarray(reduce(np.kron, along).T)


PARTS = [_products(list(halves)) for halves in product((FIRST, FIRST[::-1, ::-1]), repeat=3)]
RISES = np.hstack([_products([SLOPES if axis == along else VALUES for axis in range(3)]) for along in range(3)])


def steepest_of(
    coefficients: Float[np.ndarray, "bricks 11 11 11"],
    spacings: Float[np.ndarray, "bricks"],
    read: Bool[np.ndarray, "bricks 8"],
) -> float:
    """Return the length of the gradient of a spline at most, in the octants of bricks that are `read`; not below 1.

    A cell whose differences of coefficients along the axes are small enough is passed over.
    """
    steepest = 1.0
    for at in range(0, len(coefficients), MANY):
        part = coefficients[at : at + MANY] / spacings[at : at + MANY, None, None, None]
        squares = sum(_largest_differences(part, axis) ** 2 for axis in (1, 2, 3))
        doubtful = spread_over_cells(read[at : at + MANY]) & (squares > steepest**2)
        cells = sliding_window_view(part, (TAPS,) * 3, axis=(1, 2, 3))[doubtful]
        steepest = _longest((cells.reshape(-1, TAPS**3) @ RISES).reshape(-1, 3, TAPS**3), steepest)
    return steepest


def _largest_differences(part: np.ndarray, axis: int) -> Float[np.ndarray, "bricks 8 8 8"]:
    """Return the largest difference of coefficients along an axis among those that a cell reads."""
    found = np.abs(np.diff(part, axis=axis))
    for along in (1, 2, 3):
        width = TAPS - 1 if along == axis else TAPS
        found = sliding_window_view(found, width, axis=along).max(axis=-1)
    return found


def _longest(points: Float[np.ndarray, "cells 3 points"], known: float) -> float:
    """Return the length at most, `NEAR` to what it is, of gradients with these Bézier points, or `known` where that is longer.

    What may be longer than the gradients at the corners of the cells is halved along each axis, until nothing may.
    """
    while len(points):
        squares = np.einsum("cip,cip->cp", points, points)
        known = max(known, (1 + NEAR) * math.sqrt(squares[:, CORNERS].max()))
        points = points[squares.max(axis=1) > known**2]
        points = np.concatenate([points @ part for part in PARTS])
    return known
