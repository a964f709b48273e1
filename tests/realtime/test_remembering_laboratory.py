"""Contacts that remember in the laboratory that stands for a rig's hardware: its robot goes where it is told, and what its
sensor reads, at instants between those of its loop, is the force of an integration of its own along the same way."""

from itertools import pairwise

import numpy as np
import pytest
from driven_rigs import IN_SPACE, driver, needs_compiler
from sticking_ball import GAP, RADIUS, ball_on_plane

from dockdyn.realtime.laboratory import LaboratoryInSteps

pytestmark = needs_compiler
PERIOD, CYCLES, FINE = 2e-3, 100, 400  # s
DELAY, SWING, SWINGS = 3.3e-3, 1.1e-3, 0.037  # s, by which and how fast the delay changes
PULSATION, DAMPING = 2 * np.pi * 25.0, 0.7  # rad/s, of the robot
STIFFNESS, NORMAL_DAMPING, COEFFICIENT = 2e4, 15.0, 0.25  # N/m, N s/m
LINEAR = {"law": "spring-dashpot", "stiffness": STIFFNESS, "damping": NORMAL_DAMPING}
SPRING, PRESLIDING, BRISTLES = 1.5e4, 1e-4, 2e-3  # N/m, m, s
YIELD, PLASTIC = 4.0, 3e3  # N, N/m


def commands():
    """Where the robot is told to go (m): to and fro along the surface, pressed in twice and lifted off between."""
    time = PERIOD * np.arange(CYCLES)
    along = 1.5e-3 * np.sin(2 * np.pi * 11 * time)
    depth = 4e-4 * np.sin(2 * np.pi * 6 * time) * (1 + 0.3 * np.sin(2 * np.pi * 17 * time))
    return along, RADIUS + GAP - depth


class Way:
    """The robot's way: axes of second order under held commands, from rest at the first."""

    def __init__(self):
        told = np.stack(commands(), axis=1)
        self.knots = np.zeros((CYCLES + 1, 3, 2))  # place, speed and command
        self.knots[0, 0] = 0.0, RADIUS + GAP
        for row, command in enumerate(told):
            self.knots[row, 2] = command
            self.knots[row + 1, :2] = self.after(self.knots[row, :, :, None], np.array([PERIOD]))[:, :, 0]

    @staticmethod
    def after(knots, time):
        """Return place and speed so long after a command was given: a swing that decays."""
        (place, speed, told), decay = knots, DAMPING * PULSATION
        swing, off = PULSATION * np.sqrt(1 - DAMPING**2), place - told
        sine, cosine = np.exp(-decay * time) * np.sin(swing * time), np.exp(-decay * time) * np.cos(swing * time)
        later = told + off * cosine + (speed + decay * off) / swing * sine
        return np.array([later, speed * cosine - (decay * speed + PULSATION**2 * off) / swing * sine])

    def at(self, times):
        """Return places along the surface (m), depths (m), and the rates of both."""
        rows = np.minimum((times / PERIOD + 1e-9).astype(int), CYCLES - 1)
        knots = np.moveaxis(self.knots[rows], 0, -1)
        (along, away), (speed, leaving) = self.after(knots, times - PERIOD * rows)
        return along, RADIUS - away, speed, -leaving


def fine(times):
    """Return a fine grid that ends at the last of these times, with half steps between, and where each of them is in it."""
    grid = np.concatenate([[0.0], *(np.linspace(*pair, FINE + 1)[1:] for pair in pairwise([0.0, *times]))])
    return grid, FINE * np.arange(1, len(times) + 1)


def pressing(depth, rate):
    return np.where(depth > 0, np.maximum(STIFFNESS * depth + NORMAL_DAMPING * rate, 0.0), 0.0)


def lugre(way, times):
    """Return forces along the surface and across it (N): bristles bend while there is contact, and are straight behind it; by
    Runge and Kutta."""
    grid, ends = fine(times)
    _, depth, speed, rate = way.at(grid)
    sigma, bent, before = COEFFICIENT / PRESLIDING, np.zeros(len(grid)), 0.0
    for i in range(0, len(grid) - 2, 2):
        step, touches = grid[i + 2] - grid[i], depth[i : i + 3] > 0

        def bend(part, now, i=i, touches=touches):
            return (speed[i + part] - abs(speed[i + part]) * now / PRESLIDING) * touches[part]

        first = bend(0, before)
        second = bend(1, before + step / 2 * first)
        third = bend(1, before + step / 2 * second)
        last = bend(2, before + step * third)
        before = (before + step / 6 * (first + 2 * second + 2 * third + last)) * touches[2]
        bent[i + 2] = before
    normal = pressing(depth, rate)
    pull = sigma * (bent + BRISTLES * (speed - np.abs(speed) * bent / PRESLIDING))
    return np.stack([-normal * pull, normal], 1)[ends]


def stick_slip(way, times):
    """Return the same of one spring that is returned to what friction holds as each small step ends."""
    grid, ends = fine(times)
    along, depth, _, rate = way.at(grid)
    normal, stretch = pressing(depth, rate), np.zeros(len(grid))
    most = COEFFICIENT * normal / SPRING
    for i in range(1, len(grid)):
        stretch[i] = np.clip(stretch[i - 1] + along[i] - along[i - 1], -most[i], most[i])
    return np.stack([-SPRING * stretch, normal], 1)[ends]


def yielding(way, times):
    """Return the same of a spring that yields, under Coulomb's friction as smooth as dockdyn's."""
    grid, ends = fine(times)
    _, depth, speed, _ = way.at(grid)
    deepest = np.maximum.accumulate(np.maximum(depth, 0.0))
    loading = np.minimum(STIFFNESS * deepest, YIELD + PLASTIC * (deepest - YIELD / STIFFNESS))
    normal = np.where(depth > 0, np.maximum(STIFFNESS * (depth - deepest) + loading, 0.0), 0.0)
    return np.stack([-COEFFICIENT * normal * speed / np.hypot(speed, 1e-3), normal], 1)[ends]


CASES = {
    "lugre": (
        LINEAR,
        {"law": "lugre", "coefficient": COEFFICIENT, "presliding": PRESLIDING, "retardation_time": BRISTLES},
        lugre,
        3e-6,
    ),
    "stick-slip": (LINEAR, {"law": "stick-slip", "coefficient": COEFFICIENT, "stiffness": SPRING}, stick_slip, 2e-7),
    "yielding": (
        {"law": "elastic-plastic", "stiffness": STIFFNESS, "yield_force": YIELD, "plastic_stiffness": PLASTIC},
        {"law": "coulomb", "coefficient": COEFFICIENT, "regularisation": 1e-3},
        yielding,
        2e-8,
    ),
}


@pytest.mark.full_cases("stick-slip", "yielding")
@pytest.mark.parametrize("case", CASES)
def test_the_force_that_is_read_is_that_of_its_law_along_the_way(case, load):
    normal, friction, reference, near = CASES[case]
    tables = ball_on_plane([0.0, 0.0, -1e-3], [0.0, 0.0, 0.0], normal, friction)
    tables.pop("integrator")
    sensor = {"delay": DELAY, "delay_amplitude": SWING, "delay_period": SWINGS}
    robot = {"numerator": [PULSATION**2], "denominator": [1.0, 2 * DAMPING * PULSATION, PULSATION**2]}
    loop = {"hold": {"period": PERIOD}, "dynamics": {"method": "zero-order-hold", "period": PERIOD}}
    limits = {"rig": {"carries": "ball", "against": "anvil", "limits": IN_SPACE}}
    tables |= limits | {"loop": loop | {"sensor": sensor, "robot": robot}}
    laboratory = LaboratoryInSteps(driver(load(tables)).laboratory(), 6)
    told = np.zeros((CYCLES, 6))
    told[:, 0], told[:, 2] = commands()
    read = []
    for command in told:
        laboratory.take(command)
        read.append(laboratory.tell()[0].values[:3].copy())
    clock = PERIOD * np.arange(1, CYCLES + 1)
    times = clock - DELAY - SWING * np.sin(2 * np.pi * clock / SWINGS)
    kept = times > 0
    expected = reference(Way(), times[kept])
    found = np.array(read)[kept][:, [0, 2]]
    largest = np.abs(expected).max(axis=0)
    assert largest[0] > 0.5 * COEFFICIENT * largest[1] > 0.2
    assert np.abs(found - expected).max() < near * largest[1]
