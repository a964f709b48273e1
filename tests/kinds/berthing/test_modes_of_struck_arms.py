"""By how much too few modes of an arm make a compliant contact too hard: what is told is what a second run with eight says."""

from __future__ import annotations

import numpy as np
import pytest

import dockdyn

WITHIN, LEAST = 0.25, 0.003  # of the excess, and of the force


def struck(rng, modes, basis):
    """A ball that meets an arm somewhere near its tip; the arm is clamped to a free hub and carries a tool."""

    def spread(low, high):
        return float(np.exp(rng.uniform(np.log(low), np.log(high))))

    length, mass = rng.uniform(2.0, 6.0), spread(5.0, 40.0)
    first = 2 * np.pi * spread(0.3, 3.0)  # rad/s
    bending = mass * length**3 * (first / 3.516) ** 2
    ball = spread(10.0, 300.0)
    stiffness = min(ball, mass / 2) * (17.5 * first * spread(0.3, 2.0)) ** 2
    law = {"law": "spring-dashpot", "stiffness": stiffness}
    if rng.uniform() < 0.5:
        law = {"law": "hertz", "stiffness": stiffness / np.sqrt(0.002), "exponent": 1.5}
    hub = {"name": "hub", "mass": spread(300.0, 3000.0), "inertia": [spread(300.0, 3000.0)] * 3}
    arm = {"name": "arm", "parent": "hub", "joint": "locked", "mount": [0.0, 0.5, 0.0]}
    arm["beam"] = {"length": length, "mass": mass, "bending": bending}
    place = [length * rng.uniform(0.7, 1.0), 0.0, 0.0]
    return {
        "schema": 1,
        "kind": "berthing",
        "motion": "planar",
        "duration": 6.0 * np.sqrt(min(ball, mass) / stiffness),
        "chaser": {"link": [hub, arm]},
        "target": {"velocity": [0.0, -0.05, 0.0], "link": [{"name": "ball", "mass": ball, "inertia": [1.0, 1.0, 1.0]}]},
        "contact": {"chaser": "arm", "chaser_position": place, "target": "ball", "target_radius": 0.3, "normal": law},
        "impact": {"law": "compliant", "normal": [0, -1, 0]},
        "flexible": {"modes": modes, "basis": basis, "stiffening": False},
    }


@pytest.mark.full
@pytest.mark.parametrize("basis", ["craig-bampton", "cantilever"])
@pytest.mark.parametrize("seed", range(6))
def test_the_size_that_is_told_is_that_of_a_second_run(load, seed, basis):
    few, many = (dockdyn.simulate(load(struck(np.random.default_rng(seed), modes, basis))) for modes in (2, 8))
    excess = float(few.episode_peak_force[0] / many.episode_peak_force[0]) - 1
    told = float(few.mode_excess)
    assert abs(told - excess) <= WITHIN * abs(excess) + LEAST
    assert float(many.mode_excess) < 1e-9
    warnings = [words for words in dockdyn.summarise(few)["warnings"] if "flexible.modes" in words]
    assert len(warnings) == (told > 0.01)
    assert all(f"is about {100 * told:.2g} % too large" in words for words in warnings)
