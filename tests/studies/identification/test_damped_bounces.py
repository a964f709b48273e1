"""Bounces by closed form, from hardly damped to strongly: how sure what is found without a known delay is."""

import math

import numpy as np
import pytest

from dockdyn.studies.identification.bounce_log import Bounce
from dockdyn.studies.identification.contact import ContactSearch, identify_contact

STIFFNESS, MASS, SPEED = 1e5, 200.0, 0.05  # N/m, kg, m/s
RATE = math.sqrt(STIFFNESS / MASS)  # rad/s


def bounced(ratio: float, count: int, place_noise: float, force_noise: float, late: float, begin: float, rng):
    """Return a bounce with so many samples in half a wave, and its damping and delay.

    Noise in shares of the depth and force without damping; delay and instant of contact in periods.
    """
    damping, angular = 2 * ratio * math.sqrt(STIFFNESS * MASS), RATE * math.sqrt(1 - ratio**2)
    period = math.pi / RATE / count
    last = math.atan2(damping * angular, damping * ratio * RATE - STIFFNESS) / angular  # where K x + B v is zero

    def moved(time):
        since = time - begin * period
        within = np.clip(since, 0, last)
        decay = SPEED * np.exp(-ratio * RATE * within)
        depth = decay * np.sin(angular * within) / angular
        speed = decay * np.cos(angular * within) - ratio * RATE * depth
        force = np.where(since == within, STIFFNESS * depth + damping * speed, 0.0)
        return depth + speed * (since - within), force

    time = np.arange(round(3.5 * count)) * period
    position = moved(time)[0] + place_noise * SPEED / RATE * rng.standard_normal(len(time))
    force = moved(time - late * period)[1]
    size = force_noise * SPEED * math.sqrt(STIFFNESS * MASS)
    force = force + size * rng.standard_normal(len(time))
    seen = np.flatnonzero(force > max(5 * size, 0.02 * force.max()))
    return Bounce("log", time, position, force, None, int(seen[0]), int(seen[-1]), True), damping, late * period


NOISES = [(1e-5, 2e-4), (5e-4, 2e-3), (2e-3, 1e-2)]


@pytest.mark.parametrize(
    ("ratio", "draws"),
    [(0.05, 1), (0.3, 2), *(pytest.param(ratio, 8, marks=pytest.mark.full) for ratio in (0.02, 0.1, 0.3, 0.45))],
)
def test_stiffness_damping_and_delay_are_as_sure_as_stated(ratio, draws):
    rng, scores = np.random.default_rng([5, round(100 * ratio)]), []
    for count in (40, 100, 300):
        for noises in NOISES * draws:
            made, damping, delay = bounced(ratio, count, *noises, rng.uniform(0, 6), count + rng.uniform(0, 1), rng)
            found = identify_contact(made)
            pairs = (found.stiffness, STIFFNESS), (found.damping, damping), (found.delay, delay)
            scores.append([(estimate.value - truth) / estimate.deviation for estimate, truth in pairs])
    scores = np.array(scores)
    assert np.abs(scores).max() < 3.5
    sizes = np.sqrt((scores**2).mean(axis=0))
    assert np.abs(sizes - 1).max() < 3 / math.sqrt(2 * len(scores))


@pytest.mark.parametrize("ratio", [0.02, 0.1, 0.3])
@pytest.mark.parametrize("shift", [-0.3, 0.4])  # of a period
def test_what_a_delay_is_mistaken_for_is_as_a_free_mass_has_it(ratio, shift):
    """Fits of one bounce without noise, the delay off by part of a period, go along the line that the deviations take."""
    made, damping, delay = bounced(ratio, 400, 0.0, 0.0, 2.5, 400.0, np.random.default_rng(0))
    search, off = ContactSearch(made), shift * made.period
    entry = 403  # contact is at sample 400, its force from 402.5 on
    _, theta, free = search.at(delay + off, entry)
    assert free
    truth = np.array([STIFFNESS, damping, delay, 0.0, 0.0])
    assert search.alike(truth)[0] == pytest.approx(-STIFFNESS * damping / MASS, rel=0.02)
    assert theta[:2] - truth[:2] == pytest.approx(search.alike((truth + theta) / 2)[:2] * off, rel=0.02)
