"""Impacts of the variational integrator on small systems: closed forms, energy, grazing, corners, cradles, rest."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from mechanical_models import events_of, go, samples_of, settings, walled

from dockdyn.integrate.solution import Status
from dockdyn.integrate.variational import colliding
from dockdyn.programs import Program

G = 9.81  # m/s²


def falling(q):
    return G * q[1]


def weight(q):
    return G * q[0]


# --- energy over many impacts ------------------------------------------------------------------------------------------


def bowl(q):
    """A potential that is no quadratic, in the plane: the wall cuts it beside its middle."""
    return 0.5 * q @ q + 0.3 * q[0] ** 4 + 0.2 * q[0] * q[1] ** 2 + 0.1 * q[1] ** 4


def energy_of(solver):
    kept = samples_of(solver)
    return 0.5 * np.sum(kept.at.p**2, axis=1) + np.array([bowl(q) for q in kept.at.q])


@pytest.mark.parametrize("steps", [50_000, pytest.param(500_000, marks=pytest.mark.full)])
def test_energy_over_many_bounces(steps):
    """Some 900 bounces in the default run: momentum reflection leaves the energy's error bounded."""
    model = walled([0.8, 0.3], [0.5, -0.9], [[1.0, 0.0]], [-0.4], potential=bowl)
    solver = go(model, steps * 0.05, 0.05, stride=steps // 100, samples=100, max_events=steps // 10)
    assert solver.status == Status.FINISHED
    assert solver.events > steps // 60
    energy = energy_of(solver)
    error = energy / energy[0] - 1
    assert np.abs(error).max() < 2e-3
    assert abs(np.polyfit(np.linspace(0, 1, 101), error, 1)[0]) < np.abs(error).max()


def well(q):
    return 0.5 * q[0] ** 2 + 0.3 * q[0] ** 4 + 0.2 * q[0] ** 3


def test_discrete_energies_balance_across_an_impact():
    """E = ½ (Δq/h)² + V(middle) of the step that ends at the wall is that of the step that leaves it (Gibson and Murphey,
    4c); in the long run that moves the energy at random by the difference between steps of different lengths, O(h²)."""
    h, steps, wall = 0.05, 2000, -0.4
    model = walled([0.8], [0.5], [[1.0]], [wall], potential=well, by_energy=True)
    solver = go(model, steps * h, h, stride=1, samples=steps, max_events=200)
    assert solver.status == Status.FINISHED
    places, gaps = samples_of(solver).at.q[:, 0], []

    def energy(a, b, length):
        return 0.5 * ((b - a) / length) ** 2 + float(well(np.array([(a + b) / 2])))

    for time in events_of(solver)[:, 0]:
        k = int(time / h)
        if 0.01 * h < time - k * h < 0.99 * h:  # rounding of places counts by the step's length
            gaps.append(energy(places[k], wall, time - k * h) - energy(wall, places[k + 1], (k + 1) * h - time))
    assert len(gaps) > 20
    assert np.abs(gaps).max() < 1e-11


# --- grazing -----------------------------------------------------------------------------------------------------------


def thrown(depth, apex_time, ceiling=1.0):
    """A projectile whose apex lies `depth` beyond the ceiling: the midpoint rule is exact for it."""
    rise = G * apex_time
    return walled(
        [0.0, ceiling + depth - 0.5 * G * apex_time**2], [1.0, rise], [[0.0, -1.0]], [-ceiling], potential=falling
    )


@pytest.mark.parametrize("depth", [1e-3, 1e-5, 1e-7, 1e-8])
@pytest.mark.parametrize("apex", [0.3012, 0.305, 0.3, 0.3099])
def test_a_grazing_contact_is_found(depth, apex):
    solver = go(thrown(depth, apex), 1.0, 0.01)
    time = apex - np.sqrt(2 * depth / G)
    log = events_of(solver)
    assert solver.status == Status.FINISHED
    assert len(log) == 1
    assert log[0, 0] == pytest.approx(time, abs=1e-15 / np.sqrt(depth) + 1e-13)
    assert log[0, 2] == pytest.approx(np.sqrt(2 * G * depth), rel=1e-7)
    assert solver.at.q[0] == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("miss", [1e-3, 1e-5, 1e-7, 1e-8])
@pytest.mark.parametrize("apex", [0.3012, 0.305, 0.3, 0.3099])
def test_a_near_miss_is_none(miss, apex):
    solver = go(thrown(-miss, apex), 1.0, 0.01)
    assert solver.status == Status.FINISHED
    assert solver.events == 0


# --- corners -----------------------------------------------------------------------------------------------------------


def box(q, v, restitution=1.0):
    return walled(q, v, [[1.0, 0.0], [0.0, 1.0]], [0.0, 0.0], restitution=restitution)


@pytest.mark.parametrize("late", [1e-6, -1e-6, 1e-9, -1e-9, 3e-12, -3e-12, 0.0])
def test_into_a_corner(late):
    """One wall, then the other, whichever is first; both at once, the faster approach first."""
    solver = go(box([0.5, 0.25 + late], [-2.0, -1.0]), 0.8, 0.02)
    log = events_of(solver)
    assert solver.status == Status.FINISHED
    assert len(log) == 2
    # walls that are reached within CLOSED of each other are struck at the same instant
    assert solver.at.q == pytest.approx(
        [1.1, 0.55 - late], abs=1e-13 if abs(late) > colliding.CLOSED else 6 * abs(late) + 1e-13
    )
    assert solver.at.p == pytest.approx([2.0, 1.0], abs=1e-14)
    if abs(late) > 1e-10:
        assert list(log[:, 1]) == ([0, 1] if late > 0 else [1, 0])
        assert np.sort(log[:, 0]) == pytest.approx(np.sort([0.25, 0.25 + late]), abs=1e-15)
    else:
        assert log[:, 0] == pytest.approx(0.25, abs=1e-10)


def test_into_a_skew_corner():
    """Walls at an angle of 60°, mass the same in all directions: what one wall gives back runs into the other."""
    normals = np.array([[0.0, 1.0], [np.sin(np.pi / 3), -np.cos(np.pi / 3)]])
    solver = go(walled([1.0, 0.5], [-1.0, -0.5], normals, [0.0, 0.0]), 2.0, 0.01)
    v, order = np.array([-1.0, -0.5]), []
    while np.min(normals @ v) < -1e-12:
        order.append(int(np.argmin(normals @ v)))
        v = v - 2 * (normals[order[-1]] @ v) * normals[order[-1]]
    assert list(events_of(solver)[:, 1]) == order
    assert solver.at.p == pytest.approx(v, abs=1e-13)
    assert solver.at.q == pytest.approx(v, abs=1e-12)


# --- cradles -----------------------------------------------------------------------------------------------------------

DIAMETER = 0.05  # m


def cradle(speeds, gap=0.0, mass=1.0):
    """Balls on a line, those ahead of the moving ones touching (or `gap` apart), the moving ones 0.3 m before."""
    walls = np.eye(5)[1:] - np.eye(5)[:-1]
    moving = np.asarray(speeds) > 0
    places = np.arange(5) * (DIAMETER + gap) - 0.3 * moving
    return walled(places, speeds, walls, np.full(4, DIAMETER), mass=mass)


@pytest.mark.parametrize("moving", [1, 2, 3])
@pytest.mark.parametrize("gap", [0.0, 1e-4])
def test_cradle(moving, gap):
    """As many go out as came in: the fastest approach is resolved first, one at a time."""
    speeds = np.where(np.arange(5) < moving, 1.0, 0.0)
    solver = go(cradle(speeds, gap), 0.8, 0.01, max_events=40)
    assert solver.status == Status.FINISHED
    assert solver.at.p == pytest.approx(speeds[::-1], abs=1e-12)
    assert len(events_of(solver)) == moving * (5 - moving)
    out = np.arange(5) * (DIAMETER + gap)
    # of 0.8 s the first part is spent on the way to the row, and what goes out has the rest, at 1 m/s
    if not gap:
        assert solver.at.q - out == pytest.approx(0.5 * speeds[::-1], abs=1e-12)


def test_cradle_of_unequal_balls():
    """Each pair by itself: (m₁ v₁ + m₂ v₂ ± ...) of two bodies, again and again, until nothing approaches."""
    mass = np.array([3.0, 1.0, 2.0, 0.7, 1.5])
    v = np.array([1.0, 0.0, 0.0, 0.0, 0.0])
    solver = go(cradle(v, mass=mass), 0.3 + 1e-3, 0.01, max_events=60)
    count = 0
    while np.max(v[:-1] - v[1:]) > 1e-12:
        i = np.argmax(v[:-1] - v[1:])
        impulse = 2 * (v[i] - v[i + 1]) / (1 / mass[i] + 1 / mass[i + 1])
        v[i] -= impulse / mass[i]
        v[i + 1] += impulse / mass[i + 1]
        count += 1
    assert solver.events == count
    assert solver.at.p / mass == pytest.approx(v, abs=1e-12)


# --- rest --------------------------------------------------------------------------------------------------------------


def lifted(t, q, v):
    """Upwards from 4 s on, more than the weight."""
    return jnp.where(t > 4.0, 2 * G, 0.0) * jnp.ones_like(v)


def test_a_bouncing_ball_comes_to_rest_and_leaves_again():
    """From 1 m with e = 0.5: bounces end after √(2 h/g) (1 + e)/(1 − e) s; it is held until it is pulled."""
    ball = walled(
        [1.0],
        [0.0],
        [[1.0]],
        [0.0],
        restitution=0.5,
        rest_speed=1e-3,
        potential=weight,
        push=lifted,
        can_rest=True,
        mass=1.0,
    )
    solver = go(ball, 5.0, 0.01, stride=10, samples=50, max_events=60)
    log = events_of(solver)
    assert solver.status == Status.FINISHED
    speed = np.sqrt(2 * G)
    bounces = int(np.ceil(np.log(1e-3 / speed) / np.log(0.5)))
    times = speed / G * (1 + 2 * np.cumsum(0.5 ** np.arange(1, bounces)))
    assert log[:-1, 0] == pytest.approx([speed / G, *times], abs=1e-11)
    assert log[:-1, 2] == pytest.approx(speed * 0.5 ** np.arange(bounces), rel=1e-9)
    kept = samples_of(solver)
    held = (kept.time > times[-1]) & (kept.time <= 4.0)
    assert np.abs(kept.at.q[held]).max() < 1e-14
    assert np.abs(kept.at.p[held]).max() < 1e-12
    assert log[-1, 1] == -1  # parted
    assert log[-1, 0] == pytest.approx(4.0, abs=1e-9)
    assert solver.at.q[0] == pytest.approx(0.5 * G * 1.0**2, abs=1e-9)


def test_rest_against_one_wall_while_another_is_hit():
    """Sliding along a floor into a wall and back: the floor goes on holding."""

    def shelf(q):
        return G * q[1]

    puck = walled(
        [0.5, 0.0], [-1.0, -0.1], [[0.0, 1.0], [1.0, 0.0]], [0.0, 0.0],
        restitution=0.5, rest_speed=0.2, potential=shelf, can_rest=True,
    )  # fmt: skip
    solver = go(puck, 1.5, 0.01, max_events=60)
    assert solver.status == Status.FINISHED
    assert solver.at.q == pytest.approx([0.5, 0.0], abs=1e-12)
    assert solver.at.p == pytest.approx([0.5, 0.0], abs=1e-12)
    assert bool(solver.at.mode.resting[0])


# --- derivatives -------------------------------------------------------------------------------------------------------


def nonlinear(q):
    return 2 * q[0] + jnp.cos(3 * q[0]) + 0.3 * q[1] ** 4 + 0.5 * q[0] * q[1]


def no_force(q):
    return jnp.zeros(())


@pytest.mark.full
@pytest.mark.parametrize("potential", [no_force, falling, nonlinear])
def test_derivative_through_impacts(potential):
    """Forward mode against differences of the same run: the times of impacts move with the start."""

    def end(v, model, limits):
        return colliding.solve_variational(eqx.tree_at(lambda m: m.v, model, v), limits).at

    model, limits = box([0.4, 0.3], [-1.0, -0.8], 0.8), settings(1.0, 0.01)
    model = eqx.tree_at(
        lambda m: m.q, walled(model.q, model.v, model.walls, model.edge, restitution=0.8, potential=potential), model.q
    )
    v, way = model.v, jnp.array([0.7, -0.4])
    both = Program(lambda v: jax.jvp(lambda v: end(v, model, limits), (v,), (way,)))
    _, along = both(v)
    assert int(go(model, 1.0, 0.01).events) > 1
    step = 1e-5
    after, before = both(v + step * way)[0], both(v - step * way)[0]
    for name in ("q", "p"):
        difference = (getattr(after, name) - getattr(before, name)) / (2 * step)
        assert np.asarray(getattr(along, name)) == pytest.approx(np.asarray(difference), rel=1e-6, abs=1e-7)


def test_more_contacts_than_can_rest_end_the_run():
    """Six may rest at once; of seven, none may silently sink."""
    walls = np.eye(7)
    fallen = walled(
        np.linspace(0.1, 0.7, 7), np.zeros(7), walls, np.zeros(7), restitution=0.0, rest_speed=1e-3,
        potential=lambda q: G * jnp.sum(q), can_rest=True,
    )  # fmt: skip
    solver = go(fallen, 1.0, 0.01, max_events=60)
    assert solver.status == Status.TOO_MANY_AT_REST
    assert solver.time == pytest.approx(np.sqrt(2 * 0.7 / G), abs=0.011)
    assert solver.at.q.min() > -1e-12
