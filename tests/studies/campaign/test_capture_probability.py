"""A capture whose probability is known in closed form: a straight flight into the throat, fast enough or not."""

import math

import numpy as np
import pytest
from helpers.closed_forms import least_latching_speed

from dockdyn.studies.campaign.conduct import scenario_of
from dockdyn.studies.cases.batch import run_cases
from dockdyn.studies.cases.sampling import sample
from dockdyn.studies.cases.statistics import wilson_interval

MASSES = 900.0, 2100.0  # kg
STIFFNESS, ANGLE, LENGTH, PRELOAD = 1600.0, math.radians(38), 0.03, 4.0  # N/m, of the ramp, m, N
ENTRY, HALF_ANGLE, OFFSET = 0.08, math.radians(35), 0.09  # m, of the cone, m
SLOWEST, FASTEST = 0.02, 0.08  # m/s

# The tip flies straight on: no body turns (huge inertias), the wall it could touch is far behind the latch.
SCENARIO = f"""
schema = 2
title = "Straight into the throat"
duration = "12 s"
[approach]
of = "probe"
to = "far-wall"
closing_speed = {{ distribution = "uniform", low = {SLOWEST}, high = {FASTEST} }}
lateral_offset = {{ distribution = "disc", radius = {OFFSET} }}
[body.chaser]
mass = {MASSES[0]}
inertia = [1e12, 1e12, 1e12]
[body.chaser.feature.probe]
position = [1, 0, 0]
[body.target]
mass = {MASSES[1]}
inertia = [1e12, 1e12, 1e12]
[body.target.surface.far-wall]
shape = "plane"
point = [0.4, 0, 0]
normal = [1, 0, 0]
[body.target.surface.cone]
shape = "cone"
apex = [0.3, 0, 0]
axis = [1, 0, 0]
half_angle = {HALF_ANGLE}
[contact.probe-far-wall]
between = ["probe", "far-wall"]
[contact.probe-far-wall.normal]
law = "spring-dashpot"
stiffness = 100
damping = 10
[latch.capture]
between = ["chaser", "target"]
feature = "probe"
surface = "cone"
entry = {ENTRY}
ends_run = true
grip = "pin"

[latch.capture.ramp]
stiffness = {STIFFNESS}
angle = {ANGLE}
axial_length = {LENGTH}
preload = {PRELOAD}
"""
LEAST = least_latching_speed(MASSES, STIFFNESS, PRELOAD, ANGLE, LENGTH)  # m/s


@pytest.mark.full
def test_the_known_probability_is_in_its_interval():
    """In 90 to 99 of 100 seeds, as an interval of 95 % should."""
    fast = (FASTEST - LEAST) / (FASTEST - SLOWEST)
    inside = (ENTRY * math.tan(HALF_ANGLE) / OFFSET) ** 2
    assert 0.2 < fast < 0.8 and 0.2 < inside < 0.8
    scenario, runs, seeds = scenario_of(SCENARIO, "straight", None), 60, 100
    drawn = [sample(scenario, runs, seed, "random") for seed in range(seeds)]
    found = run_cases(scenario, drawn[0].keys, np.concatenate([one.values for one in drawn]))
    assert not any(found.reasons)
    captured = found.figures["captured"].reshape(seeds, runs).sum(axis=1)
    intervals = [wilson_interval(int(count), runs) for count in captured]
    hits = sum(low <= fast * inside <= high for low, high in intervals)
    assert 90 <= hits <= 99
    # all of them together: five standard errors
    error = math.sqrt(fast * inside * (1 - fast * inside) / (runs * seeds))
    assert captured.sum() / (runs * seeds) == pytest.approx(fast * inside, abs=5 * error)
