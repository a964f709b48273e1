"""The orbital arm's motion and impacts against an event-located DOP853 solution written from Newton's equations."""

from __future__ import annotations

from dataclasses import replace
from functools import cache, partial

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import planar_arm_reference as planar
import pytest
from arm_cases import arm, boosted
from mechanical_models import events_of, go, samples_of, settings, slope
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

from dockdyn.integrate.variational import colliding
from dockdyn.programs import Program

PAPER = planar.Parameters()
STEPS = np.array([0.04, 0.02, 0.01])
DURATION = 40.0  # s
LATCHED = replace(PAPER, latch_wall=1, retreat=PAPER.start)


@cache
def reference(p):
    return planar.solve(p, DURATION)


def compared(p, **kwargs):
    """Of each run, less the reference: attitude and joint angles at the end, times of impacts, approach speeds, impulses."""
    impacts = reference(p).impacts
    pushes = [impact.impulse * p.planes[impact.wall][1].conjugate() for impact in impacts]
    expected = np.array(
        [[i.time, i.wall, i.approach_speed, z.real, abs(z.imag)] for i, z in zip(impacts, pushes, strict=True)]
    )
    model, found = arm(p, **kwargs), []
    for h in STEPS:
        solver = go(model, DURATION, h)
        log = events_of(solver)
        assert solver.status == 1
        assert list(log[:, 1]) == list(expected[:, 1])
        off = log[:, :5] - expected
        found.append([solver.at.q[2:] - reference(p).final[2:6], off[:, 0], off[:, 2], off[:, 3:].ravel()])
    return found


LOSSY = replace(PAPER, restitution=0.6)
STRONG = replace(LOSSY, gravity_gradient=True, orbit_radius=500.0, mu=0.02**2 * 500.0**3)  # once round in 314 s
CASES = {
    "paper": (PAPER, {}),
    "restitution": (LOSSY, {}),
    "no gravity": (replace(PAPER, gravity=False), {}),
    "strong gravity, its gradient, contacts that may rest": (STRONG, {"dissipative": True}),
    "latch, release, retreat": (LATCHED, {}),
    "discrete energy": (PAPER, {"law": "variational"}),
}
EXTRAPOLATED = np.array([1e-8, 1e-7, 1e-8, 1e-6])  # rad, s, m/s, N s


@pytest.mark.parametrize("case", CASES)
def test_second_order_through_impacts(case):
    """Errors fall with h², and what two steps extrapolate to is the reference itself.

    The discrete law balances energies of steps whose lengths depend on where in a step the impact is: its error is no
    smooth function of the step.
    """
    p, kwargs = CASES[case]
    found = compared(p, **kwargs)
    errors = np.array([[np.abs(part).max() for part in run] for run in found])
    slopes = np.array([slope(STEPS, column) for column in errors.T])
    rough = case == "discrete energy"
    beyond = np.array([np.abs((4 * fine - coarse) / 3).max() for fine, coarse in zip(found[2], found[1], strict=True)])
    assert np.all(np.abs(slopes - 2) < (0.15 if rough else 0.02)), slopes
    if not rough:
        assert np.all(beyond < EXTRAPOLATED)


@pytest.mark.full
def test_strong_gravity_and_its_gradient_are_larger_than_the_errors():
    """So that case would notice if one were left out."""
    end = reference(STRONG).final[2:6]
    for less in ({"gravity": False}, {"gravity_gradient": False}):
        assert np.abs(reference(replace(STRONG, **less)).final[2:6] - end).max() > 5e-5


def test_momentum_is_reflected_and_time_is_where_the_paper_has_it():
    """Gibson and Murphey print 12.50 and 27.51 s at a step of 0.01 s."""
    log = events_of(go(arm(PAPER), DURATION, 0.01))
    assert log[:, 0] == pytest.approx([12.491, 27.495], abs=5e-4)


def test_a_moving_frame_far_away_changes_nothing():
    p = replace(PAPER, gravity=False)
    at_rest = go(arm(p), DURATION, 0.01)
    moving = go(boosted(arm(p), (6.7e6, 0.0), (0.0, 7.7e3)), DURATION, 0.01)
    assert moving.status == 1
    times = events_of(at_rest)[:, 0], events_of(moving)[:, 0]
    assert times[1] == pytest.approx(times[0], abs=1e-6)
    assert moving.at.q[2:] == pytest.approx(at_rest.at.q[2:], abs=1e-8)


@pytest.mark.full
def test_the_same_arm_in_space():
    """Trees in the plane and in space are written apart; motion that stays in the plane is the same."""
    plane, space = go(arm(PAPER), DURATION, 0.04), go(arm(PAPER, space=True), DURATION, 0.04)
    assert events_of(space)[:, :2] == pytest.approx(events_of(plane)[:, :2], abs=1e-9)
    turn = space.at.q[3:7]
    assert 2 * np.arctan2(turn[3], turn[0]) == pytest.approx(plane.at.q[2], abs=1e-10)
    assert turn[1:3] == pytest.approx(0, abs=1e-12)
    assert space.at.q[7:] == pytest.approx(plane.at.q[3:], abs=1e-10)


@pytest.mark.full
def test_the_same_latch_in_space():
    """Joints about one axis cannot move the payload along it: what the latch holds there is held already."""
    plane, space = go(arm(LATCHED), 32.0, 0.04), go(arm(LATCHED, space=True), 32.0, 0.04)
    assert events_of(space) == pytest.approx(events_of(plane), abs=1e-9)
    assert space.at.q[7:] == pytest.approx(plane.at.q[3:], abs=1e-10)


# --- free motion: what the reference's own sums say of momentum and energy -------------------------------------------


def states(p, kept):
    """States of the reference (station's centre, angles, and rates) of samples: their velocities follow from momenta by
    the reference's mass matrix."""
    system = planar.System.assembled(p)
    whole = system.masses.sum()
    found = []
    for q, momenta in zip(kept.at.q, kept.at.p, strict=True):
        state = np.array([0.0, 0.0, *q[2:]])
        turned, jacobian = system.jacobian(state)
        middle = system.masses @ turned.sum(1) / whole
        drift = system.masses @ jacobian[:, 2:] / whole
        change = np.eye(6)  # of velocities: from those with the centre of mass to those with the station's centre
        change[:2, 2:] = -drift.real, -drift.imag
        rates = change @ np.linalg.solve(change.T @ system.mass_matrix(jacobian) @ change, momenta)
        found.append([q[0] - middle.real, q[1] - middle.imag, *q[2:], *rates])
    return system, np.array(found)


def invariants(p, kept):
    """Energy, angular momentum about the centre of mass, linear momentum (x, y), and that about the frame's origin."""
    system, rows = states(p, kept)
    found = np.array([system.invariants(t, row) for t, row in zip(kept.time, rows, strict=True)])
    centre = kept.at.q[:, :2]
    orbital = centre[:, 0] * found[:, 3] - centre[:, 1] * found[:, 2]
    return np.column_stack([found, found[:, 1] + orbital])


SWINGING = replace(PAPER, gravity=False, mu=0.0, start_rates=(0.06, -0.1, 0.15))
IN_ORBIT = replace(PAPER, start_rates=SWINGING.start_rates)
FREE = {"control": False, "touch": False}


def free(steps, h):
    """A swinging arm without gravity or control: 100 samples."""
    solver = go(arm(SWINGING, orbit=False, **FREE), steps * h, h, stride=steps // 100, samples=100)
    assert solver.status == 1
    return samples_of(solver)


def trend(values):
    """Change of a fitted straight line over the run."""
    return abs(np.polyfit(np.linspace(0, 1, len(values)), values, 1)[0])


def test_angular_momentum_is_kept_to_rounding():
    found = invariants(SWINGING, free(40_000, 0.01))
    assert abs(found[0, 1]) > 10  # N m s
    assert np.abs(found[:, 1] / found[0, 1] - 1).max() < 1e-11
    assert np.abs(found[:, 2:4]).max() < 1e-12


def test_what_is_kept_in_orbit():
    """In a frame whose reference goes round at n, H − n J_z is conserved, J_z about the reference; H and J_z are not."""
    solver = go(arm(IN_ORBIT, **FREE), 2000.0, 0.05, stride=400, samples=100)
    assert solver.status == 1
    found = invariants(IN_ORBIT, samples_of(solver))
    value = found[:, 0] - PAPER.orbital_rate * found[:, 4]
    assert np.ptp(value) < 1e-4
    assert trend(value) < 1e-5
    assert PAPER.orbital_rate * np.ptp(found[:, 4]) > 2 * np.ptp(value)


@jax.jit
def kinetic(q, v):
    """Of the same arm (J), coordinates (θ, ψ, α, β): twice the energy of each body about the centre of mass of all."""
    masses = jnp.array([PAPER.station_mass, *PAPER.masses, PAPER.payload])
    lengths = jnp.array(PAPER.lengths)

    def places(q):
        angles = jnp.cumsum(q)[1:]
        links = lengths[:, None] * jnp.stack([jnp.cos(angles), jnp.sin(angles)], 1)
        ends = jnp.cumsum(links, 0)
        found = jnp.concatenate([jnp.zeros((1, 2)), ends - links / 2, ends[-1:]])
        return found - masses @ found / masses.sum()

    _, moving = jax.jvp(places, (q,), (v,))
    inertia = masses[:4] * jnp.array([PAPER.station_length, *PAPER.lengths]) ** 2 / 12
    return 0.5 * masses @ jnp.sum(moving**2, 1) + 0.5 * inertia @ jnp.cumsum(v) ** 2


@partial(jax.jit, static_argnums=(2, 3))
def runge_kutta(state, h, steps, looks):
    """Energies of the classical fourth-order method at `looks` instants."""

    def rate(state):
        q, v = state
        mass = jax.hessian(kinetic, 1)(q, v)
        _, bias = jax.jvp(lambda q: jax.grad(kinetic, 1)(q, v), (q,), (v,))
        return jnp.stack([v, jnp.linalg.solve(mass, jax.grad(kinetic, 0)(q, v) - bias)])

    def step(state, _):
        a = rate(state)
        b = rate(state + h / 2 * a)
        c = rate(state + h / 2 * b)
        d = rate(state + h * c)
        return state + h / 6 * (a + 2 * b + 2 * c + d), None

    def some(state, _):
        state, _ = jax.lax.scan(step, state, None, steps // looks)
        return state, kinetic(*state)

    return jax.lax.scan(some, state, None, looks)[1]


@pytest.mark.full
@pytest.mark.parametrize("steps", [100_000, 1_000_000])
def test_energy_over_a_long_time(steps):
    """Bounded and without trend, where Runge–Kutta's falls steadily; over a short time that is the more exact one."""
    h = 0.4  # s; the joints turn at up to 0.3 rad/s
    start = np.array([[0.0, *SWINGING.start], [0.0, *SWINGING.start_rates]])
    energy = float(kinetic(*start))

    def both(steps):
        """Relative errors, of the variational integrator and of Runge–Kutta with as many steps."""
        mine = invariants(SWINGING, free(steps, h))[:, 0]
        return mine / energy - 1, np.asarray(runge_kutta(start, h, steps, 100)) / energy - 1

    mine, other = both(steps)
    largest = np.abs(mine).max()
    early_mine, early_other = both(200)
    first, second = np.abs(mine[1:]).reshape(2, 50)
    assert np.median(second) < 2 * np.median(first)
    assert trend(mine) < 0.2 * largest
    assert trend(other) > 3 * largest
    assert np.abs(early_other).max() < 0.1 * np.abs(early_mine).max()


# --- walls put in the way of a known motion ----------------------------------------------------------------------------

NOWHERE = (((-100.0, 0.0), (1.0, 0.0)), ((0.0, -100.0), (0.0, 1.0)))
UNHURT = replace(PAPER, walls=NOWHERE)
FINE = 0.001  # s


@cache
def payload_path():
    """The payload's place and velocity in station axes while nothing is hit, as functions of time."""
    system = planar.System.assembled(UNHURT)
    solution = solve_ivp(
        system.derivative, (0, 20), system.initial_state(), method="DOP853", rtol=1e-12, atol=1e-14, dense_output=True
    )

    def at(time):
        state = solution.sol(time)
        place, gradient = system.payload(state)
        return place, complex(gradient.real @ state[6:], gradient.imag @ state[6:])

    return at


@pytest.mark.parametrize("depth", [1e-3, 1e-5, -1e-5, -1e-3])
def test_a_payload_that_grazes_a_wall(depth):
    """A wall so that the free motion would reach `depth` into it, or pass it: against the event-located solution."""
    path = payload_path()
    times = np.linspace(1, 19, 400)
    speeds = np.array([path(t)[1].real for t in times])
    turns = np.flatnonzero((speeds[:-1] < 0) & (speeds[1:] > 0))
    apex = brentq(lambda t: path(t)[1].real, times[turns[0]], times[turns[0] + 1], xtol=1e-12)
    p = replace(PAPER, walls=(((path(apex)[0].real + depth, 0.0), (1.0, 0.0)), NOWHERE[1]))
    duration = apex + 0.5
    expected = planar.solve(p, duration).impacts
    log = events_of(go(arm(p), duration, FINE))
    assert len(expected) == (depth > 0)
    assert len(log) == len(expected)
    if depth > 0:
        # places are off by δ ~ 1e-7 m at this step, a time by δ over the speed at contact
        assert log[0, 0] == pytest.approx(expected[0].time, abs=1e-7 / expected[0].approach_speed)


@pytest.mark.parametrize("late", [1e-6, -1e-6])
def test_a_payload_that_runs_into_a_corner(late):
    """Two walls reached within a millionth of a metre: the order decides what follows."""
    place, velocity = payload_path()(9.0)
    x, y = -np.sign(velocity.real), -np.sign(velocity.imag)
    p = replace(PAPER, walls=(((place.real, 0.0), (x, 0.0)), ((0.0, place.imag - y * late), (0.0, y))))
    expected = planar.solve(p, 10.0)
    solver = go(arm(p), 10.0, FINE)
    log = events_of(solver)
    assert list(log[:, 1]) == [impact.wall for impact in expected.impacts]
    assert expected.impacts[0].wall == (0 if late > 0 else 1)
    assert solver.at.q[2:] == pytest.approx(expected.final[2:6], abs=1e-6)


@pytest.mark.full
def test_what_the_latch_holds_stays():
    """For 10,000 steps, in the reference's own words for where the payload is."""
    p = replace(PAPER, latch_wall=1)
    solver = go(arm(p), 128.0, 0.01, stride=100, samples=128)
    kept = samples_of(solver)
    assert solver.status == 1
    held = kept.time > events_of(solver)[-1, 0]
    assert held.sum() > 99
    system = planar.System.assembled(p)
    places = np.array([system.payload(np.array([0.0, 0.0, *q[2:], *np.zeros(6)]))[0] for q in kept.at.q[held]])
    assert np.abs(places - places[0]).max() < 1e-12


@pytest.mark.full
def test_derivative_through_the_impacts_of_an_arm():
    """Of the joint angles at the end over a joint's rate at the start: forward mode, and differences of the same run."""
    model, limits = arm(PAPER), settings(28.0, 0.02)

    def end(rate):
        changed = eqx.tree_at(lambda m: m.velocity, model, model.velocity.at[4].set(rate))
        solver = colliding.solve(changed, limits)
        return solver.at.q[3:], solver.events

    both = Program(lambda rate: jax.jvp(end, (rate,), (jnp.ones(()),)))
    rate, step = jnp.asarray(0.001), 1e-6  # an impact moves by 0.2 ms: hardly one crosses a mark
    (_, events), (along, _) = both(rate)
    assert int(events) == 2
    difference = (both(rate + step)[0][0] - both(rate - step)[0][0]) / (2 * step)
    assert np.asarray(along) == pytest.approx(np.asarray(difference), rel=1e-5)


@pytest.mark.full
def test_steps_that_follow_an_arm_through_its_impacts():
    """Within the error asked for, in steps whose number goes with its root."""
    for error, most in ((1e-4, 2e-3), (1e-6, 2e-5)):
        solver = go(arm(PAPER), DURATION, 1.0, stride=1, samples=40, error=error, interval=1.0)
        assert solver.status == 1
        assert solver.steps < 6 / np.sqrt(error)
        assert len(events_of(solver)) == 2
        assert np.abs(solver.at.q[2:] - reference(PAPER).final[2:6]).max() < most


@pytest.mark.full
def test_a_payload_that_is_pressed_against_a_wall_rests_there():
    """The floor is above the docked place: a few bounces, then contact, exactly, to the end."""
    p = replace(PAPER, restitution=0.3, walls=(NOWHERE[0], ((0.0, payload_path()(9.0)[0].imag), (0.0, 1.0))))
    solver = go(arm(p, dissipative=True), 120.0, 0.02, stride=50, samples=120)
    assert solver.status == 1
    kept = samples_of(solver)
    system = planar.System.assembled(p)
    states = [np.array([0.0, 0.0, *q[2:], *np.zeros(6)]) for q in kept.at.q]
    depths = np.array([system.gap(state, 1)[0] for state in states])
    assert np.min(depths) > -1e-14
    assert np.abs(depths[kept.time > events_of(solver)[-1, 0]]).max() < 1e-14
    assert np.count_nonzero(kept.time > events_of(solver)[-1, 0]) > 100
