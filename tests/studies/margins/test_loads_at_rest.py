"""Margins of bodies that a strut or cable joins: the same whatever that bears, and beside small motions written by hand."""

import numpy as np
import pytest

import dockdyn

CONTACT = {"stiffness": 2e4, "damping": 800.0}
DELAY, DEPTH, RADIUS = 4e-3, 2.5e-3, 0.05
MASSES, INERTIA = (100.0, 300.0), ((10.0, 12.0, 14.0), (100.0, 120.0, 130.0))
BALL, CHASER = np.array([0.5, 0.0, 0.0]), np.array([DEPTH - 0.5 - RADIUS, 0.0, 0.0])


def joined(kind, anchors, stiffness, damping, free_length):
    """A ball pressed into a plane, and an element beside it."""
    line = {"between": ["chaser", "target"], "anchor": [list(map(float, place)) for place in anchors]}
    line |= {"stiffness": stiffness, "damping": damping, "free_length": free_length}
    feature, face = {"positions": [list(BALL)], "radius": RADIUS}, {"shape": "plane", "point": [0.0] * 3}
    bodies = {"chaser": {"position": list(CHASER), "feature": {"probe": feature}}, "target": {"position": [0.0] * 3}}
    bodies["target"]["surface"] = {"face": face | {"normal": [-1.0, 0.0, 0.0]}}
    for body, mass, inertia in zip(bodies.values(), MASSES, INERTIA, strict=True):
        body |= {"mass": mass, "inertia": list(inertia)}
    touch = {"between": ["probe", "face"], "normal": {"law": "spring-dashpot"} | CONTACT}
    tables = {"body": bodies, "contact": {"touch": touch}, "loop": {"delay": DELAY}, "stability": {"time": 0.0}}
    return dockdyn.load({"schema": 2, "duration": 1.0, kind: {"line": line}} | tables)


def row(along, point):
    """How a distance grows with both bodies' motions, by a direction and a place (m) in inertial axes."""
    levers = (point - CHASER, point)
    sides = [sign * np.concatenate([along, np.cross(r, along)]) for sign, r in zip((1, -1), levers, strict=True)]
    return np.concatenate(sides)


def by_hand(anchors, stiffness, damping):
    """Return what has a zero of its determinant at each root s (1/s): I + J M⁻¹ Jᵀ Z(s) / s² of contact and element."""
    apart = CHASER + anchors[0] - anchors[1]
    rows = np.stack([row([1.0, 0.0, 0.0], CHASER + BALL), row(apart / np.linalg.norm(apart), anchors[1])])
    mass = np.concatenate([[m] * 3 + list(i) for m, i in zip(MASSES, INERTIA, strict=True)])
    answer = rows / mass @ rows.T

    def matrix(s, delay):
        late = (CONTACT["stiffness"] + CONTACT["damping"] * s) * np.exp(-s * delay)
        return np.eye(2) + answer @ np.diag([late, stiffness + damping * s]) / s**2

    return matrix


def is_root(matrix, s, delay):
    values = np.linalg.svd(matrix(s, delay), compute_uv=False)
    return values[-1] < 1e-9 * values[0]


@pytest.mark.parametrize("kind", ["strut", "cable"])
def test_margins_are_the_same_whatever_an_element_bears(kind):
    for seed in range(3):
        draw = np.random.default_rng([73, seed])
        anchors = draw.uniform(-0.6, 0.6, (2, 3))
        length = float(np.linalg.norm(CHASER + anchors[0] - anchors[1]))
        stiffness, damping = float(10 ** draw.uniform(2.5, 4)), float(10 ** draw.uniform(0, 2))
        loads = 10 ** draw.uniform(-3, 1.5, 3) * ([1, -1, 1] if kind == "strut" else 1)
        matrix, known = by_hand(anchors, stiffness, damping), None
        for load in loads:
            found = dockdyn.margins(joined(kind, anchors, stiffness, damping, length - load / stiffness))
            assert is_root(matrix, complex(*found["rightmost_roots"][0]), DELAY)
            assert is_root(matrix, 1j * found["crossing_frequency_rad_s"], found["critical_delay_s"])
            figures = [found[key] for key in ("critical_delay_s", "growth_rate_1_s", "drift_modes")]
            known = known or figures
            np.testing.assert_allclose(figures, known, rtol=1e-9)
            keys = [f"{kind}.line.free_length", f"{kind}.line.stiffness"]
            of_length, of_stiffness = (abs(found["sensitivities"].get(key, 0.0)) for key in keys)
            assert of_length <= 1e-6 * of_stiffness
