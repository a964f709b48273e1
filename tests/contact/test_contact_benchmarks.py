"""Contacts whose outcome is known in closed form, those of benchmarks among them."""

import numpy as np
import pytest
from contact_benchmarks import (
    DEPTH,
    ELASTIC,
    OFFSET,
    brick_on_incline,
    elastic_impact,
    least_friction_that_jams,
    motion_after,
    restituted_impact,
    sliding_impact,
    spinning_impact,
)

import dockdyn


@pytest.mark.parametrize(
    "name", [name if "glass" in name else pytest.param(name, marks=pytest.mark.full) for name in ELASTIC]
)
def test_peak_and_duration_of_elastic_impacts(load, name):
    """Chung and Ooi's tests 1 and 2."""
    tables, peak, duration = elastic_impact(name)
    run = dockdyn.simulate(load(tables))
    assert float(run.episode_peak_force[0]) == pytest.approx(peak, rel=1e-10)
    assert float(run.episode_release[0] - run.episode_onset[0]) == pytest.approx(duration, rel=1e-9)


@pytest.mark.full
@pytest.mark.parametrize(
    ("tangential", "spin"),
    [(0.0, 21.0), *(pytest.param(*both, marks=pytest.mark.full) for both in ((0.0, 10.0), (10.0, 0.0), (30.0, 0.0)))],
)
def test_a_ball_that_slides_as_long_as_it_touches(load, tangential, spin):
    """Chung and Ooi's tests 5 and 6, where friction is μ times what presses throughout: its impulse is μ m (1 + e) v."""
    tables, expected = sliding_impact(tangential, spin)
    found = motion_after(dockdyn.simulate(load(tables)))
    assert found == pytest.approx(expected, rel=1e-6)


@pytest.mark.full
@pytest.mark.parametrize("kept", [0.5, *(pytest.param(one, marks=pytest.mark.full) for one in (0.2, 0.4, 0.8, 1.0))])
def test_a_ball_comes_back_with_the_share_of_its_speed_that_is_asked_for(load, kept):
    """Chung and Ooi's test 3."""
    tables, speed = restituted_impact(kept)
    run = dockdyn.simulate(load(tables))
    assert float(run["velocity"].sel(body="ball", axis="z")[-1]) == pytest.approx(speed, rel=1e-6)


@pytest.mark.full
@pytest.mark.parametrize(
    ("ratio", "spin", "stiffer"),
    [(1.0, 10.0, 1.0), *(pytest.param(*one, marks=pytest.mark.full) for one in ((1.0, 24.0, 1e5), (5.0, 8.0, 1e5)))],
)
def test_two_balls_that_spin_slide_on_each_other(load, ratio, spin, stiffer):
    """Chung and Ooi's tests 7 and 8: the impulse of friction is μ (1 + e) m v, with the effective mass.

    How near they come to each other goes with the stiffness to the power of −0.4, and what that changes with it.
    """
    tables, expected = spinning_impact(ratio, spin, stiffer)
    run, near = dockdyn.simulate(load(tables)), 2e-3 * stiffer**-0.4
    for body, motion in expected.items():
        assert motion_after(run, body) == pytest.approx(motion, rel=near)


@pytest.mark.full
@pytest.mark.parametrize("duration", [120.0, pytest.param(3600.0, marks=pytest.mark.full)])
def test_a_brick_on_an_incline_stays(load, duration):
    """It creeps by less than a nanometre: what holds is elastic, and rests."""
    tables, way = brick_on_incline(duration)
    run = dockdyn.simulate(load(tables))
    assert run.attrs["finished"]
    place = run["position"].sel(body="brick").values @ way
    assert place[-1] > 1e-4  # its feet give way
    assert np.ptp(place[run.time.values >= 60.0]) < 1e-9


@pytest.mark.full
def test_a_peg_jams_where_it_should(load):
    """Between 1 % below and above l/(2 e)."""
    assert least_friction_that_jams(load) == pytest.approx(DEPTH / (2 * OFFSET), rel=2e-3)
