"""A flexible link that spins: its frequencies are those of what mean axes keep, and the pages say how wrong that is."""

from __future__ import annotations

import numpy as np
import pytest
from assembly_cases import simulated
from places import DOCS
from scipy.integrate import quad
from scipy.optimize import brentq

RIGIDITY, LENGTH, LINE_MASS = 900.0, 4.0, 3.0  # N m², m, kg/m
SPIN = 0.1  # of the lowest frequency


def cantilever():
    """The first mode's λ, and its shape and slope over 0 … 1, one at the tip."""
    root = brentq(lambda x: np.cos(x) * np.cosh(x) + 1, 1, 3)
    ratio = (np.sinh(root) - np.sin(root)) / (np.cosh(root) + np.cos(root))

    def shape(s):
        return (np.cosh(root * s) - np.cos(root * s) - ratio * (np.sinh(root * s) - np.sin(root * s))) / 2

    def slope(s):
        return root * (np.sinh(root * s) + np.sin(root * s) - ratio * (np.cosh(root * s) - np.cos(root * s))) / 2

    return root, shape, slope


def coefficients():
    """What spin adds to the square of the frequency, in squares of the spin: what the mean axes keep, in the plane of the spin
    and across it, and what the shortening of the beam would add, on a hub of no size and per length of its radius."""
    _, shape, slope = cantilever()
    modal, shift, turn = (
        quad(lambda s, p=p: shape(s) ** p[0] * (s - 0.5) ** p[1], 0, 1)[0] for p in ((2, 0), (1, 0), (1, 1))
    )
    tension = [quad(lambda s, w=w: slope(s) ** 2 * w(s), 0, 1)[0] for w in (lambda s: (1 - s**2) / 2, lambda s: 1 - s)]
    # the centre of mass moves by `shift`, so centrifugal force pulls it on; the axes turn by 12 `turn` out of the plane
    return -(shift**2) / modal, 12 * turn**2 / modal, *(part / modal for part in tension)


def spun(hub, rate, axis):
    """A boom with one mode in each direction on a heavy hub of a radius (m) that turns about z at a `rate` (rad/s)."""
    direction = [[0, 1, 0], [0, 0, 1]][axis]
    beam = {"kind": "beam", "root": [-LENGTH / 2, 0, 0], "axis": [1, 0, 0], "across": [0, 1, 0], "length": LENGTH}
    beam |= {"mass_per_length": LINE_MASS, "bending_stiffness": [RIGIDITY] * 2, "torsional_stiffness": 700.0}
    beam |= {"polar_inertia": 1e-9, "damping_ratio": 0.0, "bending_modes": [1, 1], "twist_modes": 0}
    inertia = LINE_MASS * LENGTH**3 / 12
    boom = {"name": "boom", "on": "hub", "position": [hub + LENGTH / 2, 0, 0], "mass": LINE_MASS * LENGTH}
    boom |= {
        "inertia": [1e-6, inertia, inertia],
        "joint": {"kind": "locked", "position": [hub, 0, 0]},
        "flexible": beam,
    }
    push = {"kind": "thruster", "name": "push", "body": "boom", "position": [LENGTH / 2, 0, 0]}
    return {
        "schema": 1,
        "kind": "assembly",
        "duration": 12.0,
        "body": [{"name": "hub", "mass": 1e7, "inertia": [1e9] * 3, "rate": [0, 0, rate]}, boom],
        "element": [push | {"direction": direction, "force": 0.01}],
        "phase": [{"name": "push"}, {"name": "free", "when": {"lasting": 0.2}, "set": {"push.force": 0.0}}],
        "integrator": {"tolerance": 1e-9},
        "output": {"interval": 2e-3},
    }


def frequency(load, hub, rate, axis):
    """Of the free swing (rad/s), from where it passes through zero upwards."""
    run = simulated(load, spun(hub, rate, axis))
    later = run.time.values > 0.3
    time, way = run.time.values[later], run.modal_coordinate.values[later, axis]
    at = np.flatnonzero((way[:-1] < 0) & (way[1:] >= 0))
    zeros = time[at] - way[at] * (time[at + 1] - time[at]) / (way[at + 1] - way[at])
    return 2 * np.pi * (zeros.size - 1) / (zeros[-1] - zeros[0])


@pytest.mark.full
@pytest.mark.parametrize("axis", [0, 1])
def test_spin_does_to_a_link_what_its_mean_axes_feel(load, axis):
    """In the plane it makes it softer, across it a little stiffer, whatever the hub's radius: the shortening is left out."""
    root, _, _ = cantilever()
    lowest = root**2 * np.sqrt(RIGIDITY / LINE_MASS) / LENGTH**2
    still = frequency(load, 2.0, 0.0, axis)
    assert still == pytest.approx(lowest, rel=1e-4)
    rate = SPIN * lowest
    added = (frequency(load, 2.0, rate, axis) ** 2 - still**2) / rate**2
    assert added == pytest.approx(coefficients()[axis], rel=0.01)


def test_the_pages_say_by_how_much_that_is_wrong():
    """A beam's true coefficients are those of Southwell: 1.19 and 1.57 per radius across the plane, one less in it."""
    inside, across, tension, hub = coefficients()
    page = (DOCS / "theory-contact.md").read_text(encoding="utf-8").replace("−", "-")
    for number in (inside, across, tension, tension - 1, hub, tension - 1 - inside, tension - across):
        assert f"{number:.2f}" in page, number
