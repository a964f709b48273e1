"""Walls put in the way of an arm's known motion: touched hardly, missed hardly, and two of them at once.

Beside DOP853 from Newton's equations, `planar_arm_reference`; by located events and by the variational method.
"""

from dataclasses import replace
from functools import cache

import numpy as np
import planar_arm_reference as planar
import pytest
from arm_in_plane import arm, ends_of
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

from dockdyn import simulate

NOWHERE = (((-100.0, 0.0), (1.0, 0.0)), ((0.0, -100.0), (0.0, 1.0)))
SPAN, AFTER, CORNER = 16.0, 0.5, 7.0  # s
NEAR = 2e-3  # m: so far from walls before, at least
DEPTHS = (1e-3, 1e-5, -1e-5, -1e-3)  # m, into the wall: of the motion without it
# per method: the step (s), and how far off (m) places and (rad) angles may be
METHODS = {"located": (0.02, 1e-8), "variational": (0.002, 1e-6)}
SEEDS = 6


def tried(draw):
    """An arm without walls in its way, and the payload's place and velocity as functions of time."""
    p = planar.Parameters(
        lengths=tuple(draw.uniform(0.7, 2.0, 3)),
        masses=tuple(draw.uniform(20, 60, 3)),
        payload=draw.uniform(40, 150),
        start=tuple(planar.Parameters().start + draw.uniform(-0.3, 0.3, 3)),
        start_rates=tuple(draw.uniform(-0.03, 0.03, 3)),
        restitution=draw.uniform(0.3, 1.0),
        walls=NOWHERE,
    )
    system = planar.System.assembled(p)
    run = solve_ivp(
        system.derivative, (0, SPAN), system.initial_state(), method="DOP853", rtol=1e-12, atol=1e-14, dense_output=True
    )

    def at(time):
        state = run.sol(time)
        place, gradient = system.payload(state)
        return place, complex(gradient.real @ state[6:], gradient.imag @ state[6:])

    return p, at


def along(path, axis, time):
    """Place and velocity along an axis of the station."""
    return tuple((part.real, part.imag)[axis] for part in path(time))


def apex(path, axis):
    """When the payload first turns back along an axis, from falling to rising; None where it begins beyond."""
    times = np.linspace(0, SPAN - AFTER, 400)
    places, speeds = np.array([along(path, axis, time) for time in times]).T
    turns = np.flatnonzero((speeds[:-1] < 0) & (speeds[1:] > 0))
    if not len(turns) or places[0] < places[turns[0]] + NEAR:
        return None
    return brentq(lambda time: along(path, axis, time)[1], times[turns[0]], times[turns[0] + 1], xtol=1e-13)


@cache
def grazing(seed):
    """An arm drawn at random whose payload turns back: its parameters, path, along which axis, and when."""
    for again in range(50):
        p, path = tried(np.random.default_rng([95, seed, again]))
        for axis in (seed % 2, 1 - seed % 2):
            if (when := apex(path, axis)) is not None:
                return p, path, axis, when
    raise AssertionError(seed)


@cache
def cornering(seed):
    """An arm drawn at random whose payload comes for the first time to where it is at `CORNER` s, along both axes."""
    for again in range(50):
        p, path = tried(np.random.default_rng([96, seed, again]))
        place, velocity = path(CORNER)
        before = np.array([path(time)[0] - place for time in np.linspace(0, CORNER - 0.5, 200)])
        if (before.real * np.sign(velocity.real)).max() < -NEAR and (
            before.imag * np.sign(velocity.imag)
        ).max() < -NEAR:
            return p, place, velocity
    raise AssertionError(seed)


def met(p, duration, method):
    """The run of an arm, by this method, and the reference."""
    step, _ = METHODS[method]
    changes = {"integrator.method": method, "output.interval": duration / 20}  # a sample at the end
    if method == "located":
        changes |= {"integrator.tolerance": 1e-12}
    run = simulate(arm(p, duration, step, **changes))
    assert run.attrs["status"] == "finished"
    return run, planar.solve(p, duration)


CASES = [(method, seed, depth) for method in METHODS for seed in range(SEEDS) for depth in DEPTHS]


@pytest.mark.full
@pytest.mark.parametrize(("method", "seed", "depth"), CASES)
def test_a_payload_that_grazes_a_wall(method, seed, depth):
    """The free motion would reach so far into it, or pass so near."""
    p, path, axis, turns = grazing(seed)
    normal = (1.0, 0.0) if axis == 0 else (0.0, 1.0)
    point = along(path, axis, turns)[0] + depth
    walls = [(tuple(point * part for part in normal), normal), NOWHERE[1 - axis]]
    run, expected = met(replace(p, walls=tuple(walls)), turns + AFTER, method)
    assert len(expected.impacts) == (depth > 0) == run.sizes["episode"]
    _, off = METHODS[method]
    if depth > 0:
        impact = expected.impacts[0]
        # a place that is off by so much makes the time off by that over the speed of approach
        assert float(run.episode_onset[0]) == pytest.approx(impact.time, abs=off / impact.approach_speed)
        assert float(run.episode_approach_speed[0]) == pytest.approx(impact.approach_speed, rel=off / depth)
    # and the speed, √(2 a depth), off by its half over the depth, which a joint shows AFTER
    swept = AFTER * expected.impacts[0].approach_speed / depth if depth > 0 else 0.0
    np.testing.assert_allclose(ends_of(run), expected.final[2:6], rtol=0, atol=(10 + swept) * off)


CORNERS = [(method, seed, side) for method in METHODS for seed in range(SEEDS) for side in (1, -1)]


@pytest.mark.full
@pytest.mark.parametrize(("method", "seed", "side"), CORNERS)
def test_a_payload_that_runs_into_a_corner(method, seed, side):
    """Two walls are reached a hundred times what the method may be off apart: their order decides what follows."""
    late = side * 100 * METHODS[method][1]
    p, place, velocity = cornering(seed)
    x, y = -np.sign(velocity.real), -np.sign(velocity.imag)
    walls = (((place.real, 0.0), (x, 0.0)), ((0.0, place.imag - y * late), (0.0, y)))
    run, expected = met(replace(p, walls=walls), CORNER + AFTER, method)
    assert expected.impacts[0].wall == (0 if late > 0 else 1)
    order = [int(which) for which in run.episode_contact.values[np.argsort(run.episode_onset.values, kind="stable")]]
    assert order == [impact.wall for impact in expected.impacts]
    np.testing.assert_allclose(ends_of(run), expected.final[2:6], rtol=0, atol=10 * METHODS[method][1])
