"""By how much too few modes of a beam make a contact too hard: the size that is told is that of a second run with eight."""

import numpy as np
import pytest
from plain_tables import by_name, contacts_by_name

import dockdyn

LAWS = (
    {"law": "spring-dashpot", "damping": 0.0},
    {"law": "hertz", "exponent": 1.5},
    {"law": "hunt-crossley", "exponent": 1, "damping": 1.0},
)
WITHIN, LEAST = 0.125, 0.003  # of the excess, and of the force


def log_uniform(rng, low, high):
    return float(np.exp(rng.uniform(np.log(low), np.log(high))))


def struck(rng, modes):
    """A block that meets a beam on a free hub: near its tip and beside its axis, across it at any angle; some of them late."""
    length, per_length = rng.uniform(1.5, 8.0), log_uniform(rng, 1.0, 10.0)
    block, hub = log_uniform(rng, 5.0, 500.0), log_uniform(rng, 200.0, 3000.0)
    share, angle = rng.uniform(0.7, 1.0), rng.uniform(-np.pi, np.pi)
    bending = per_length * length**4 * (2 * np.pi * log_uniform(rng, 0.2, 3.0) / 3.516) ** 2 * np.array([1.0, 1.7])
    third = 61.7 * np.sqrt(bending[0] / (per_length * length**4))  # rad/s
    stiffness = min(block, per_length * length / 2) * (third * log_uniform(rng, 0.2, 2.0)) ** 2
    law = dict(LAWS[rng.integers(len(LAWS))])
    law["stiffness"] = stiffness * (0.003**-0.5 if law["law"] == "hertz" else 1.0)
    normal = np.array([np.cos(angle), 0.0, np.sin(angle)])
    side = np.array([-normal[2], 0.0, normal[0]]) * rng.uniform(-0.1, 0.1)
    about = per_length * length**3 / 12 * 1.001
    place = np.array([0.0, 1.0 + share * length, 0.0]) + side
    beam = {
        "kind": "beam",
        "root": [0.0, -length / 2, 0.0],
        "axis": [0.0, 1.0, 0.0],
        "across": [1.0, 0.0, 0.0],
        "length": length,
        "mass_per_length": per_length,
        "bending_stiffness": bending.tolist(),
        "bending_modes": [modes, modes],
    }
    tip = {"position": [side[0], (share - 0.5) * length, side[2]], "radius": 0.02}
    bodies = [
        {"name": "hub", "mass": hub, "inertia": [hub] * 3},
        {"name": "wing", "on": "hub", "mass": per_length * length, "inertia": [about, 0.5, about]}
        | {"position": [0.0, 1.0 + length / 2, 0.0], "joint": {"kind": "locked", "position": [0.0, 1.0, 0.0]}}
        | {"flexible": beam, "feature": {"tip": tip}},
        {"name": "block", "mass": block, "inertia": [block / 10] * 3}
        | {"position": (place + 0.021 * normal).tolist(), "velocity": (-0.05 * normal).tolist()}
        | {"surface": {"face": {"shape": "plane", "point": [0.0, 0.0, 0.0], "normal": (-normal).tolist()}}},
    ]
    contact = [{"between": ["tip", "face"], "normal": law}]
    time = np.sqrt(min(block, per_length * length) / stiffness)  # s
    delay = {"loop": {"delay": float(time * rng.uniform(0.05, 0.5))}} if rng.uniform() < 0.5 else {}
    common = {"schema": 2, "duration": 0.05 + 4 * np.pi * time}
    return common | {"body": by_name(bodies), "contact": contacts_by_name(contact)} | delay


@pytest.mark.full
@pytest.mark.parametrize("seed", range(12))
def test_the_size_that_is_told_is_that_of_a_second_run(load, seed):
    few, many = (dockdyn.simulate(load(struck(np.random.default_rng(seed), modes))) for modes in (2, 8))
    excess = float(few.episode_peak_force[0] / many.episode_peak_force[0]) - 1
    told = float(few.mode_excess[0])
    assert abs(told - excess) <= WITHIN * excess + LEAST
    assert abs(float(many.mode_excess[0])) < 1e-9
    warnings = [words for words in dockdyn.summarise(few)["warnings"] if "bending_modes" in words]
    assert warnings == ([] if told <= 0.01 else warnings) and len(warnings) == (told > 0.01)
    assert all(f"is about {100 * told:.2g} % too large" in words for words in warnings)
    assert not any("bending_modes" in words for words in dockdyn.summarise(many)["warnings"])
