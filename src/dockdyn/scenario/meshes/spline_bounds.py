"""What a cubic B-spline on a grid never falls below and how steep it is at most, from its Bézier points in each cell.

A polynomial lies in the convex hull of its Bézier points, and so does its gradient in that of the gradient's.

Units: spline coefficients m, at nodes a spacing of 1 apart.
Source: Farin 2002, Curves and Surfaces for CAGD, ch. 6 (Bézier points, degree elevation) and 8 (of B-splines).
"""

from __future__ import annotations

import math
from functools import reduce
from itertools import product

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from dockdyn.deferred import Float

TAPS = 4  # coefficients along an axis that a cell reads, and Bézier points along it
ROUNDING = 1e-13  # of the largest distance, beyond that of computing either
VALUES = np.array([[1, 4, 1, 0], [0, 4, 2, 0], [0, 2, 4, 0], [0, 1, 4, 1]]) / 6  # Bézier points of coefficients
RAISED = np.array([[3, 0, 0], [1, 2, 0], [0, 2, 1], [0, 0, 3]]) / 3  # those of a parabola as those of a cubic
SLOPES = RAISED @ (3 * np.diff(VALUES, axis=0))  # Bézier points of the derivative
STRAIGHT = np.array([[3, 0], [2, 1], [1, 2], [0, 3]]) / 3 @ VALUES[[0, 3]]  # of the straight line between the ends
NEAR = 0.02  # of itself, by which the largest slope is larger than it is found to be
FIRST = np.array([[8, 0, 0, 0], [4, 4, 0, 0], [2, 4, 2, 0], [1, 3, 3, 1]]) / 8  # Bézier points of the first half
CORNERS = [TAPS**2 * x + TAPS * y + z for x, y, z in product((0, TAPS - 1), repeat=3)]


def _products(along: list[np.ndarray]) -> Float[np.ndarray, "coefficients points"]:
    """Return what takes the coefficients that a cell reads, one after another, to Bézier points, from what does along each
    axis."""
    return np.ascontiguousarray(reduce(np.kron, along).T)


PARTS = [_products(list(halves)) for halves in product((FIRST, FIRST[::-1, ::-1]), repeat=3)]


def bounds_of(
    values: Float[np.ndarray, "x y z"], coefficients: Float[np.ndarray, "x y z"]
) -> tuple[Float[np.ndarray, "x y z"], float]:
    """Return numbers (m) at the nodes that, interpolated by straight lines along each axis, are nowhere above the spline of
    these `values` there; and the length (m) of its gradient, for each spacing, at most. Both inside the outermost cells, where
    it is defined.

    A number is the value less how far the spline falls, in a cell beside the node, below what is so interpolated.
    """
    fall = _products([VALUES] * 3) - _products([STRAIGHT] * 3)
    rises = [_products([SLOPES if axis == along else VALUES for axis in range(3)]) for along in range(3)]
    together = np.hstack([fall, *rises])
    cells = sliding_window_view(coefficients, (TAPS,) * 3)
    missing, steepest = np.zeros(coefficients.shape), 0.0
    for place, slice_ in enumerate(cells, start=1):
        points = (slice_.reshape(-1, TAPS**3) @ together).reshape(-1, 4, TAPS**3)
        found = np.minimum(points[:, 0].min(axis=1), 0.0).reshape(slice_.shape[:2])
        for x, y, z in np.ndindex(2, 2, 2):
            part = missing[place + x, 1 + y : 1 + y + found.shape[0], 1 + z : 1 + z + found.shape[1]]
            np.minimum(part, found, out=part)
        steepest = _longest(points[:, 1:], steepest)
    return values + missing - ROUNDING * np.abs(values).max(), steepest


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
