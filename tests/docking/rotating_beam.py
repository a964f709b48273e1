"""A turning beam by finite elements in SciPy, for tests of the kind `mechanism`: Euler and Bernoulli's, with its tension."""

from typing import NamedTuple

import numpy as np
from scipy.linalg import block_diag, eigh

ELEMENTS = 48  # a span


class Span(NamedTuple):
    """A uniform piece of a beam: length (m), mass per length (kg/m) and bending stiffness (N m²)."""

    length: float
    line_mass: float
    stiffness: float


class Payload(NamedTuple):
    """A body clamped to the end: mass (kg), one moment of inertia about all axes (kg m²), its centre beyond the end (m)."""

    mass: float
    inertia: float
    beyond: float


NO_PAYLOAD = Payload(0.0, 0.0, 0.0)


def element_integrals(length, order, weighing):
    """Sums over Gauss's points of an element, clamped nowhere, of derivatives of an order times those, weighed by ξ."""
    points, weights = np.polynomial.legendre.leggauss(6)
    points, weights = (points + 1) / 2, weights / 2
    hermite = [[1, 0, -3, 2], [0, length, -2 * length, length], [0, 0, 3, -2], [0, 0, -length, length]]
    shapes = [np.polynomial.Polynomial(row).deriv(order) if order else np.polynomial.Polynomial(row) for row in hermite]
    rows = np.array([shape(points) for shape in shapes]) / length**order
    return length * (rows * weights * weighing(points)) @ rows.T


def assembled(parts):
    """The matrix of elements in a row, without the clamped root."""
    size = 2 * len(parts) + 2
    found = np.zeros((size, size))
    for n, part in enumerate(parts):
        found[2 * n : 2 * n + 4, 2 * n : 2 * n + 4] += part
    return found[2:, 2:]


def ones(points):
    return np.ones_like(points)


def assumed_shapes(spans, modes):
    """Deflections and slopes of all nodes by the first `modes` of each span with its root held; what is behind follows."""
    columns, nodes = [], 2 * ELEMENTS
    for k, span in enumerate(spans):
        size = span.length / ELEMENTS
        bending, mass = (assembled([element_integrals(size, order, ones)] * ELEMENTS) for order in (2, 0))
        own = eigh(bending, mass, subset_by_index=(0, modes - 1))[1]
        parts, along = [np.zeros((nodes * k, modes)), own], 0.0
        for behind in spans[k + 1 :]:
            at = along + behind.length * np.arange(1, ELEMENTS + 1) / ELEMENTS
            rows = own[-2] + at[:, None] * own[-1], np.tile(own[-1], (ELEMENTS, 1))
            parts.append(np.stack(rows, axis=1).reshape(nodes, modes))
            along += behind.length
        columns.append(np.concatenate(parts))
    return np.hstack(columns)


def squared_frequencies(spans, hub, rate, plane, payload=NO_PAYLOAD, modes=None):
    """Squares of frequencies (rad²/s²), the lowest first, of a beam on a hub of a radius (m) that turns at a `rate` (rad/s).

    They are those `across` the plane of the turning or `inside` it, of all elements or of `modes` a span. A bent beam shortens,
    which lifts its masses against the centrifugal force: that is the work of its tension.
    """
    ends = hub + np.cumsum([0.0, *(span.length for span in spans)])
    outer, mass, bending, tension = payload.mass * (ends[-1] + payload.beyond), [], [], []
    for span, start, end in reversed(list(zip(spans, ends, ends[1:], strict=False))):
        size = span.length / ELEMENTS
        for n in reversed(range(ELEMENTS)):

            def pull(points, at=start + n * size, size=size, span=span, end=end, outer=outer):
                return outer + span.line_mass * (end**2 - (at + points * size) ** 2) / 2

            mass.append(span.line_mass * element_integrals(size, 0, ones))
            bending.append(span.stiffness * element_integrals(size, 2, ones))
            tension.append(element_integrals(size, 1, pull))
        outer += span.line_mass * (end**2 - start**2) / 2
    mass, bending, tension = (assembled(parts[::-1]) for parts in (mass, bending, tension))
    tip = np.array([[1.0, payload.beyond]])
    mass[-2:, -2:] += payload.mass * tip.T @ tip
    pulled = mass if plane == "inside" else 0.0
    tension[-1, -1] += payload.mass * (ends[-1] + payload.beyond) * payload.beyond
    stiffness = bending + rate**2 * (tension - pulled)
    mass = mass + block_diag(np.zeros((len(mass) - 1,) * 2), payload.inertia)
    shapes = np.eye(len(mass)) if modes is None else assumed_shapes(spans, modes)
    return eigh(shapes.T @ stiffness @ shapes, shapes.T @ mass @ shapes, eigvals_only=True)
