"""Impact laws: closed forms, conservation, invariance over random contacts, and independent solutions of the same path.

A random contact is (W, u, e, μ) with W symmetric and positive definite, its eigenvalues spread over two decades. The
checks marked full take 10,000 of them, or laws that take long to compile; without that mark they take 200.
"""

from __future__ import annotations

import itertools
from functools import cache
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import brentq
from scipy.spatial.transform import Rotation

import dockdyn  # noqa: F401  sets JAX up
from dockdyn.impact import (
    LAWS,
    constrained_contact_matrix,
    contact_matrix,
    lock,
    resolve,
    resolve_simultaneous,
    velocity_jump,
)

COUNTS = [200, pytest.param(10_000, marks=pytest.mark.full)]
BATCH = 200  # the size for which everything is compiled, once
ENDS = ("energetic", "poisson", "newton")
COULOMB = tuple(name for name, law in LAWS.items() if "friction" in law.parameters)


def slow(*values, when=True):
    """Values of a parametrised test, marked full if they take seconds to compile."""
    return pytest.param(*values, marks=[pytest.mark.full] if when else [])


def compiles_long(law, rows):
    """Paths in space do; one law stands for them where time is short."""
    return rows == 3 and law in ("poisson", "newton")


IN_SPACE = [slow(law, when=compiles_long(law, 3)) for law in ENDS]
PATHS = [slow(law, rows, when=compiles_long(law, rows)) for law in ENDS for rows in (2, 3)]


def contacts(count, rows, seed=0):
    """W, u, e, μ of `count` random contacts; friction from next to none to 3, some impacts plastic, some elastic."""
    rng = np.random.default_rng([seed, rows])
    turns = np.linalg.qr(rng.normal(size=(count, rows, rows)))[0]
    matrix = np.einsum("nij,nj,nkj->nik", turns, 10 ** rng.uniform(-2, 0, (count, rows)), turns)
    velocity = rng.normal(size=(count, rows))
    velocity[:, 0] = -np.abs(velocity[:, 0])
    velocity[:, 1:] *= 10 ** rng.uniform(-2, 1, (count, 1))
    restitution = rng.uniform(0, 1, count)
    restitution[::7], restitution[1::7] = 0, 1
    return matrix, velocity, restitution, 10 ** rng.uniform(-2, 0.5, count)


@cache
def batched(function):
    """`function` over the first axis of its arguments, in batches of one size."""
    many = jax.jit(jax.vmap(function))

    def over(*arguments):
        count = len(arguments[0])
        rows = np.arange(-(-count // BATCH) * BATCH) % count  # the last batch is filled up
        parts = [many(*(one[rows[at : at + BATCH]] for one in arguments)) for at in range(0, len(rows), BATCH)]
        return jax.tree.map(lambda *pieces: np.concatenate(pieces)[:count], *parts)

    return over


@cache
def solver(law):
    """The law over many W, u and the two numbers that it may have."""

    def one(matrix, velocity, *numbers):
        names = ("energy_ratio", "friction_ratio") if law == "energy-pair" else ("restitution", "friction")
        given = dict(zip(names, numbers, strict=True))
        return resolve(law, matrix, velocity, **{name: given[name] for name in LAWS[law].parameters})

    return batched(one)


@cache
def solved(law, count, rows):
    return solver(law)(*contacts(count, rows))


def kinetic(matrix, velocity):
    """½ uᵀ W⁻¹ u (J): what a plastic impact takes."""
    return 0.5 * np.einsum("ni,ni->n", velocity, np.linalg.solve(matrix, velocity[..., None])[..., 0])


# --- closed forms ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("law", "normal"), [("energetic", 8 + 0.5 * 62.5**0.5), ("poisson", 12.0), ("newton", 10.5)])
def test_jam(law, normal):
    """Friction first drives the bodies together (u_n from −1 to −1.5 while p = 0 … 0.5), then they stick: by hand."""
    found = resolve(law, [[2, 3], [3, 5]], [-1, 1], restitution=0.5, friction=1.0)
    across = -0.5 - 0.6 * (normal - 0.5)
    np.testing.assert_allclose(found.impulse, [normal, across], rtol=1e-14)
    np.testing.assert_allclose(found.velocity, [-1.5 + 0.2 * (normal - 0.5), 0], atol=1e-13)
    assert found.jam and found.stick and not found.reversal
    # compression: p = 8, work 0.625 + 5.625
    rebound = 0.1 * (normal - 8) ** 2
    np.testing.assert_allclose(found.poisson, normal / 8 - 1, rtol=1e-13)
    np.testing.assert_allclose(found.energetic, np.sqrt(rebound / 6.25), rtol=1e-13)


@pytest.mark.parametrize("side", [1, -1])
def test_slip_reversal(side):
    """Sliding stops at p = 0.4 (u_n = −2) and goes on the other way with du_n/dp = 1.5, du_t/dp = 0.5: by hand."""
    found = resolve("poisson", [[2, side], [side, 1]], [-3, -0.6 * side], restitution=0.25, friction=0.5)
    normal = 1.25 * (0.4 + 2 / 1.5)
    np.testing.assert_allclose(found.impulse, [normal, side * (0.2 - 0.5 * (normal - 0.4))], rtol=1e-14)
    np.testing.assert_allclose(found.velocity, [-2 + 1.5 * (normal - 0.4), side * 0.5 * (normal - 0.4)], rtol=1e-14)
    assert found.reversal and not found.stick and not found.jam


@pytest.mark.parametrize("law", IN_SPACE)
def test_ball_on_a_wall(law):
    """W = diag(1/m, 7/(2m), 7/(2m)): it slides throughout if μ (1 + e) |u_n| < 2/7 |u_t|, or else ends rolling."""
    mass, e, velocity, friction = 2.5, 0.8, np.array([-1.2, 0.9, -1.2]), np.array([0.05, 0.2, 0.6])
    matrix = np.diag([1, 3.5, 3.5]) / mass
    found = solver(law)(np.tile(matrix, (3, 1, 1)), np.tile(velocity, (3, 1)), np.full(3, e), friction)
    normal = mass * 1.8 * 1.2
    needed = mass * 1.5 * 2 / 7
    across = -np.minimum(friction * normal, needed)[:, None] * velocity[1:] / 1.5
    np.testing.assert_allclose(found.impulse, np.c_[np.full(3, normal), across], rtol=1e-11)
    np.testing.assert_array_equal(found.stick, friction * normal > needed)
    np.testing.assert_allclose([found.newton, found.poisson, found.energetic], e, rtol=1e-12)


@pytest.mark.parametrize("law", COULOMB)
def test_sliding_one_way_is_the_same_for_all(law):
    """While the direction stays, Λ_n = −(1 + e) u_n/(W_nn − μ û·W_tn), whatever e means."""
    matrix, velocity = np.array([[3.0, 0.4], [0.4, 0.5]]), np.array([-0.7, 4.0])
    found = resolve(law, matrix, velocity, restitution=0.6, friction=0.3)
    normal = 1.6 * 0.7 / (3 - 0.3 * 0.4)
    np.testing.assert_allclose(found.impulse, [normal, -0.3 * normal], rtol=1e-14)


def test_plastic():
    """A pin leaves no velocity and loses ½ uᵀW⁻¹u; a weld does so with the moment rows."""
    matrix, velocity, *_ = contacts(1, 6)
    for law, rows in (("pin", 3), ("weld", 6)):
        w, u = matrix[0, :rows, :rows], velocity[0, :rows]
        found = resolve(law, w, u)
        np.testing.assert_allclose(found.velocity, 0, atol=1e-12)
        np.testing.assert_allclose(found.energy_loss, kinetic(w[None], u[None])[0], rtol=1e-12)
        assert found.stick and found.newton == pytest.approx(0, abs=1e-12)


def test_frictionless():
    matrix, velocity, *_ = contacts(1, 3)
    found = resolve("frictionless", matrix[0], velocity[0], restitution=0.3)
    w, u = matrix[0, 0, 0], velocity[0, 0]
    np.testing.assert_allclose(found.impulse, [-1.3 * u / w, 0, 0], rtol=1e-14)
    np.testing.assert_allclose(found.energy_loss, 0.5 * (1 - 0.09) * u**2 / w, rtol=1e-13)


# --- energy and momentum over random contacts --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("law", "rows"),
    [
        slow(name, rows, when=compiles_long(name, rows))
        for name, law in LAWS.items()
        for rows in law.rows or (1, 2, 3)
        if name != "energy-pair"  # below
    ],
)
@pytest.mark.parametrize("count", COUNTS)
def test_momentum_and_energy(law, rows, count):
    """u⁺ = u + WΛ, the loss is that of the kinetic energy, and no law marked safe creates energy."""
    matrix, velocity, *_ = contacts(count, rows)
    found = solved(law, count, rows)
    if law not in ("pin", "weld"):  # only these may pull
        np.testing.assert_array_less(0, found.impulse[:, 0])
    expected = velocity + np.einsum("nij,nj->ni", matrix, found.impulse)
    scale = np.abs(velocity).max(axis=1) + np.einsum("nij,nj->ni", np.abs(matrix), np.abs(found.impulse)).max(axis=1)
    np.testing.assert_allclose(found.velocity / scale[:, None], expected / scale[:, None], atol=1e-15)
    before, after = kinetic(matrix, velocity), kinetic(matrix, found.velocity)
    tolerance = 1e-12 * (before + np.abs(velocity * found.impulse).sum(axis=1))
    assert np.all(np.abs(before - after - found.energy_loss) <= tolerance)
    if LAWS[law].safe:
        assert np.all(found.energy_loss >= -tolerance) and not np.any(found.energy_created)


@pytest.mark.parametrize("rows", [2, slow(3)])
@pytest.mark.parametrize("count", COUNTS)
def test_newton_with_friction_creates_energy_and_says_so(rows, count):
    found = solved("newton", count, rows)
    gained = found.energy_loss < -1e-6 * np.abs(found.impulse * found.velocity).sum(axis=1)
    assert gained.mean() > 0.01 and np.all(found.energy_created[gained])
    assert not np.any(found.energy_created[found.energy_loss > 0])


def test_an_impact_in_which_newton_creates_energy():
    """Sliding stops at once, and sticking the approach is braked far more weakly than it was while sliding."""
    matrix, velocity = np.array([[2.0, -3.0], [-3.0, 5.0]]), np.array([-1.0, 0.6])
    energies = {}
    for law in COULOMB:
        found = resolve(law, matrix, velocity, restitution=1.0, friction=1.0)
        energies[law] = float(found.energy_loss)
        assert bool(found.energy_created) == (energies[law] < 0) == (law == "newton")
    # by hand: u_t stops at p = 0.6/8 with u_n = −1 + 5 × 0.075; then du_n/dp = 0.2 until u_n = 1
    normal = 0.075 + 1.625 / 0.2
    across = -0.075 + 0.6 * (normal - 0.075)
    after = np.array([1.0, 0.0])
    np.testing.assert_allclose(energies["newton"], -0.5 * (velocity + after) @ [normal, across], rtol=1e-12)


@pytest.mark.parametrize(("law", "rows"), PATHS)
@pytest.mark.parametrize("count", COUNTS)
def test_coefficients_come_out(law, rows, count):
    """Each law returns its own coefficient."""
    np.testing.assert_allclose(getattr(solved(law, count, rows), law), contacts(count, rows)[2], atol=1e-11)


@pytest.mark.parametrize(("law", "rows"), PATHS)
@pytest.mark.parametrize("count", COUNTS)
def test_no_friction(law, rows, count):
    """All three coefficients are e, and e = 1 keeps the energy to 1e-12."""
    matrix, velocity, restitution, friction = contacts(count, rows)
    smooth = solver(law)(matrix, velocity, restitution, 0 * friction)
    for name in ENDS:
        np.testing.assert_allclose(getattr(smooth, name), restitution, atol=1e-11)
    elastic = restitution == 1
    loss = smooth.energy_loss[elastic] / (0.5 * velocity[elastic, 0] ** 2 / matrix[elastic, 0, 0])
    np.testing.assert_allclose(loss, 0, atol=1e-12)


# --- two rigid bodies in space ------------------------------------------------------------------------------------


def cross(arm):
    """Matrix of arm × …"""
    return np.cross(np.eye(3), np.asarray(arm)[..., None, :])


class Pairs(NamedTuple):
    """Pairs of bodies that touch off their centres; velocity and rate of the first, then of the second, inertial axes."""

    mass: np.ndarray  # 12 × 12
    jacobian: np.ndarray  # 6 × 12: normal, tangents, then moments about them
    speeds: np.ndarray  # 12
    turning: np.ndarray  # 12 × 3: velocities if all turn about the contact as one


def pairs(count, turn=None, tangent=0.0):
    """`turn` turns everything; `tangent` (rad) turns the tangents about the normal."""
    rng = np.random.default_rng(77)
    turn = np.eye(3) if turn is None else turn
    back = np.swapaxes(turn, -1, -2)
    rows = Rotation.random(count, rng=rng).as_matrix()
    own = Rotation.random(2 * count, rng=rng).as_matrix().reshape(2, count, 3, 3)
    weights = rng.uniform(0.5, 20, (2, count))[..., None, None]
    inertias = weights * own * rng.uniform(0.2, 0.35, (2, count, 1, 3)) @ np.swapaxes(own, -1, -2)
    arms = rng.uniform(-0.6, 0.6, (2, count, 3))
    speeds = rng.normal(size=(count, 12))
    closing = -2 - rng.uniform(size=count)

    rows = Rotation.from_rotvec(np.multiply.outer(tangent, [1, 0, 0])).as_matrix() @ rows @ back
    mass, jacobian, turning = np.zeros((count, 12, 12)), np.zeros((count, 6, 12)), np.zeros((count, 12, 3))
    for body, sign in enumerate((1, -1)):
        linear, angular = slice(6 * body, 6 * body + 3), slice(6 * body + 3, 6 * body + 6)
        arm = cross((turn @ arms[body][..., None])[..., 0])
        mass[:, linear, linear] = weights[body] * np.eye(3)
        mass[:, angular, angular] = turn @ inertias[body] @ back
        jacobian[:, :3, linear], jacobian[:, :3, angular] = sign * rows, -sign * rows @ arm
        jacobian[:, 3:, angular] = sign * rows
        turning[:, linear], turning[:, angular] = arm, np.eye(3)
    speeds = (speeds.reshape(count, 4, 3) @ back).reshape(count, 12)
    speeds[:, :3] += rows[:, 0] * (closing - np.einsum("ni,ni->n", jacobian[:, 0], speeds))[:, None]
    return Pairs(mass, jacobian, speeds, turning)


def struck(law, two, rows, restitution, friction):
    """The impacts of pairs of bodies, and their velocities afterwards."""
    jacobian = two.jacobian[:, :rows]
    matrix = batched(contact_matrix)(jacobian, two.mass)
    velocity = np.einsum("nij,nj->ni", jacobian, two.speeds)
    count = len(velocity)
    found = solver(law)(matrix, velocity, np.full(count, restitution), np.full(count, friction))
    return found, two.speeds + batched(velocity_jump)(jacobian, two.mass, found.impulse)


@pytest.mark.parametrize("law", [slow(name, when=compiles_long(name, 3)) for name in LAWS if name != "energy-pair"])
@pytest.mark.parametrize("count", COUNTS)
def test_bodies_keep_momentum_and_lose_what_the_law_says(law, count):
    """Linear momentum, angular momentum about the contact, kinetic energy; the relative velocity is that of the law."""
    two, rows = pairs(count), 6 if law == "weld" else 3
    found, after = struck(law, two, rows, 0.6, 0.4)
    before, end = (np.einsum("nij,nj->ni", two.mass, speeds) for speeds in (two.speeds, after))
    size = np.abs(before).max(axis=1)[:, None] + np.abs(found.impulse).max(axis=1)[:, None]
    linear = (end - before).reshape(count, 2, 2, 3)[:, :, 0].sum(axis=1)
    angular = np.einsum("nij,ni->nj", two.turning, end - before)
    np.testing.assert_allclose(linear / size, 0, atol=1e-13)
    np.testing.assert_allclose(angular / size, 0, atol=1e-13)
    relative = np.einsum("nij,nj->ni", two.jacobian[:, :rows], after)
    np.testing.assert_allclose(relative, found.velocity, atol=1e-11)
    energies = [0.5 * np.einsum("ni,ni->n", *part) for part in ((two.speeds, before), (after, end))]
    np.testing.assert_allclose((energies[0] - energies[1] - found.energy_loss) / energies[0], 0, atol=1e-12)


@pytest.mark.parametrize("rows", [2, 3])
@pytest.mark.parametrize("count", COUNTS)
def test_much_friction_and_no_rebound_is_a_pin(rows, count):
    """e = 0, sticking at the end: the plastic solution of the KKT system [M −Jᵀ; J 0] (v⁺, Λ) = (M v, 0), to 1e-10."""
    mass, jacobian, speeds, _ = two = pairs(count)
    jacobian = jacobian[:, :rows]
    kkt = np.block([[mass, -jacobian.transpose(0, 2, 1)], [jacobian, np.zeros((count, rows, rows))]])
    right = np.concatenate([np.einsum("nij,nj->ni", mass, speeds), np.zeros((count, rows))], axis=1)
    pin = np.linalg.solve(kkt, right[..., None])[:, 12:, 0]
    size = np.linalg.norm(pin, axis=1, keepdims=True)
    for law in ENDS if rows == 2 else ENDS[:1]:  # at e = 0 they are one
        found, _ = struck(law, two, rows, 0.0, 1e4)
        assert found.stick.mean() > 0.3
        np.testing.assert_allclose((found.impulse / size)[found.stick], (pin / size)[found.stick], atol=1e-10)
        assert np.all(pin[found.stick, 0] > 0)  # where the pin has to pull, no friction holds the bodies together


@pytest.mark.parametrize("law", IN_SPACE)
@pytest.mark.parametrize("count", COUNTS)
def test_neither_tangents_nor_axes_matter(law, count):
    """Other tangents turn the tangential impulse; other inertial axes change nothing in contact axes."""
    rng = np.random.default_rng(5)
    angle, turn = rng.uniform(0, 6, count), Rotation.random(count, rng=rng).as_matrix()
    views = [pairs(count), pairs(count, turn), pairs(count, turn, angle)]
    first, second, third = (struck(law, two, 3, 0.7, 0.3)[0] for two in views)
    there = Rotation.from_rotvec(np.multiply.outer(angle, [1, 0, 0])).as_matrix()
    size = np.linalg.norm(first.impulse, axis=1)
    turned = np.einsum("nij,nj->ni", there, first.impulse)
    np.testing.assert_allclose(second.impulse / size[:, None], first.impulse / size[:, None], atol=1e-11)
    np.testing.assert_allclose(third.impulse / size[:, None], turned / size[:, None], atol=1e-11)
    for other in (second, third):
        np.testing.assert_allclose(other.energy_loss / size, first.energy_loss / size, atol=1e-10)
        np.testing.assert_allclose(other.newton, first.newton, atol=1e-10)
        for flag in ("stick", "reversal", "jam", "energy_created"):
            np.testing.assert_array_equal(getattr(other, flag), getattr(first, flag))


# --- the path, solved otherwise -----------------------------------------------------------------------------------


@pytest.mark.parametrize("law", IN_SPACE)
@pytest.mark.parametrize("count", COUNTS)
def test_closed_plane_form_is_the_path_in_space(law, count):
    """A second tangent without coupling and without velocity changes nothing: closed pieces against integrated path."""
    matrix, velocity, restitution, friction = contacts(count, 2)
    wide = np.zeros((count, 3, 3))
    wide[:, :2, :2] = matrix
    wide[:, 2, 2] = np.random.default_rng(1).uniform(0.1, 1, count) * matrix[:, 1, 1]
    turned = np.array([[1, 0, 0], [0, 0.6, -0.8], [0, 0.8, 0.6]])
    space = solver(law)(turned @ wide @ turned.T, np.pad(velocity, ((0, 0), (0, 1))) @ turned.T, restitution, friction)
    plane = solved(law, count, 2)
    size = np.linalg.norm(plane.impulse, axis=1, keepdims=True)
    expected = np.pad(plane.impulse, ((0, 0), (0, 1))) @ turned.T
    np.testing.assert_allclose(space.impulse / size, expected / size, atol=2e-12 if count < 1000 else 2e-11)
    for flag in ("stick", "reversal", "jam"):
        np.testing.assert_array_equal(getattr(space, flag), getattr(plane, flag))


def walked(matrix, velocity, restitution, friction, end):
    """Impulse of the path, by SciPy over the normal impulse; sliding below 1e-9 of its start counts as stopped."""
    rows = len(velocity)
    unit, across, coupling = np.eye(rows - 1), matrix[1:, 1:], matrix[1:, 0]
    holding = -np.linalg.solve(across, coupling)
    if np.linalg.norm(holding) > friction:  # sliding goes on: (λ + μ W_tt) û = W_tn
        size = lambda growth: np.linalg.norm(np.linalg.solve(growth * unit + friction * across, coupling)) - 1  # noqa: E731
        growth = brentq(size, 0, 2 * np.linalg.norm(coupling), xtol=1e-15)
        holding = -friction * np.linalg.solve(growth * unit + friction * across, coupling)
    least = 1e-9 * np.linalg.norm(velocity[1:])

    def leg(state, push, stopped, goal):
        """On until goal(state, push) = 0 or sliding stops; the state is u, Λ_t and the work."""
        start = state[1:rows] / np.linalg.norm(state[1:rows])

        def sliding(y):
            """Speed and direction; in the plane the speed has a sign, so that no step leaps over the stop."""
            if rows == 2:
                return start @ y[1:rows], start
            speed = np.linalg.norm(y[1:rows])
            return speed, y[1:rows] / speed

        def rate(p, y):
            force = holding if stopped else -friction * sliding(y)[1]
            return np.r_[matrix @ np.r_[1, force], force, y[0]]

        done, stop = (lambda p, y: goal(y, p)), (lambda p, y: 1.0 if stopped else sliding(y)[0] - least)
        done.terminal, done.direction, stop.terminal, stop.direction = True, 1, True, -1
        run = solve_ivp(rate, (push, push + 1e6), state, "DOP853", events=[done, stop], rtol=1e-12, atol=1e-15)
        return run.y[:, -1], run.t[-1], len(run.t_events[0]) > 0

    def march(state, push, stopped, goal):
        state, push, reached = leg(state, push, stopped, goal)
        return (state, push, stopped) if reached else march(state, push, True, goal)

    state, push, stopped = march(np.r_[velocity, np.zeros(rows)], 0.0, False, lambda y, p: y[0])
    if restitution > 0:
        spent, compressed = -state[-1], push
        state[0], state[-1] = 0, 0
        goal = {
            "energetic": lambda y, p: y[-1] - restitution**2 * spent,
            "poisson": lambda y, p: p - (1 + restitution) * compressed,
            "newton": lambda y, p: y[0] + restitution * velocity[0],
        }[end]
        state, push, _ = march(state, push, stopped, goal)
    return np.r_[push, state[rows:-1]]


@pytest.mark.parametrize(
    ("law", "rows", "count"),
    [
        *(slow(*path.values, {2: 200, 3: 40}[path.values[1]], when=bool(path.marks)) for path in PATHS),
        *(slow(*path.values, 10_000 if path.values == ("energetic", 2) else 1000) for path in PATHS),
    ],
)
def test_path_by_another_integrator(law, rows, count):
    """The closed form in the plane and the collocation in space."""
    known = contacts(max(count, 200), rows)
    found = solved(law, max(count, 200), rows)
    for i, contact in enumerate(zip(*(part[:count] for part in known), strict=True)):
        expected = walked(*contact, law)
        size = np.linalg.norm(expected)
        np.testing.assert_allclose(found.impulse[i] / size, expected / size, atol=2e-8, err_msg=str(i))


@pytest.mark.parametrize(
    ("law", "rows"), [("energetic", 2), slow("poisson", 2), slow("newton", 2), slow("energetic", 3)]
)
def test_derivatives_and_batches(law, rows):
    """Forward derivatives are those of differences, at e = 0 too; a batch gives what its members give."""
    matrix, velocity, _, friction = (part[:8] for part in contacts(200, rows))

    def push(numbers, matrix, velocity):
        e, share, mu = numbers
        sliding = velocity * jnp.r_[1, share * jnp.ones(rows - 1)]
        return resolve(law, matrix, sliding, restitution=e, friction=mu).impulse

    many = jax.jit(jax.vmap(push))
    slopes_of = jax.jit(jax.vmap(jax.jacfwd(push)))
    for e in (0.0, 0.5):
        numbers = np.stack([np.full(8, e), np.ones(8), friction], axis=1)
        pushes, slopes = (np.asarray(f(numbers, matrix, velocity)) for f in (many, slopes_of))
        alone = resolve(law, matrix[3], velocity[3], restitution=e, friction=friction[3])
        np.testing.assert_allclose(pushes[3], alone.impulse, rtol=1e-12, atol=1e-14)
        assert np.all(np.isfinite(slopes))
        for j, step in enumerate(1e-6 * np.eye(3)):
            ahead, behind = numbers + step, numbers - step * (numbers[:, j : j + 1] > 1e-6)
            moved = np.asarray(many(ahead, matrix, velocity)) - np.asarray(many(behind, matrix, velocity))
            difference = moved / (ahead - behind)[:, j : j + 1]
            scale = np.abs(slopes[..., j]).max(axis=1, keepdims=True) + np.abs(pushes).max(axis=1, keepdims=True)
            np.testing.assert_allclose(slopes[..., j] / scale, difference / scale, atol=1e-5)


# --- energy and friction ratios -----------------------------------------------------------------------------------


@pytest.mark.parametrize("rows", [2, 3])
@pytest.mark.parametrize("count", COUNTS)
def test_energy_pair(rows, count):
    """The loss and the tangential impulse are the asked parts of the pin's, and e_N is that of the closed form."""
    matrix, velocity, *_ = contacts(count, rows)
    rng = np.random.default_rng(2)
    pin = solved("pin", count, rows)
    kappa = 1 - velocity[:, 0] ** 2 / (2 * matrix[:, 0, 0] * pin.energy_loss)
    r_f = rng.uniform(0, 2, count)
    least, greatest = kappa * r_f * (2 - r_f), 1 - kappa * (1 - r_f) ** 2
    r_e = rng.uniform(least, greatest)
    found = solver("energy-pair")(matrix, velocity, r_e, r_f)
    np.testing.assert_allclose(found.energy_loss / pin.energy_loss, r_e, atol=1e-11)
    np.testing.assert_allclose(found.impulse[:, 1:], r_f[:, None] * pin.impulse[:, 1:], rtol=1e-12)
    np.testing.assert_allclose(found.newton**2 * (1 - kappa), 1 - r_e - kappa * (1 - r_f) ** 2, atol=1e-10)
    assert np.all((found.newton >= 0) & (found.newton <= 1 + 1e-9))  # the larger root
    expected = velocity + np.einsum("nij,nj->ni", matrix, found.impulse)
    np.testing.assert_allclose(found.velocity, expected, atol=1e-11)
    assert not np.any(found.energy_created)


def test_energy_pair_gives_back_an_impact():
    """An energetic impact told by its loss and its friction comes out again."""
    matrix, velocity, *_ = contacts(200, 2)
    pin, told = solved("pin", 200, 2), solved("energetic", 200, 2)
    ratios = told.energy_loss / pin.energy_loss, told.impulse[:, 1] / pin.impulse[:, 1]
    again = solver("energy-pair")(matrix, velocity, *ratios)
    known = told.newton <= 1  # the larger root
    size = np.linalg.norm(told.impulse, axis=1)[known, None]
    np.testing.assert_allclose(again.impulse[known] / size, told.impulse[known] / size, atol=1e-6)
    assert known.sum() > 100


# --- several contacts ---------------------------------------------------------------------------------------------


@cache
def solver_of_several(several):
    return batched(lambda w, u, e, mu: resolve_simultaneous(w, u, several, restitution=e, friction=mu))


@pytest.mark.parametrize("rows", [slow(1), slow(2), slow(3)])
def test_one_contact_at_once_is_the_single_law(rows):
    matrix, velocity, restitution, _ = contacts(200, rows)
    smooth = solver_of_several(1)(matrix, velocity, restitution, np.zeros((200, 1)))
    np.testing.assert_allclose(smooth.impulse[:, 0], -(1 + restitution) * velocity[:, 0] / matrix[:, 0, 0], rtol=1e-12)
    np.testing.assert_array_equal(smooth.impulse[:, 1:], 0)

    pin = -np.linalg.solve(matrix, velocity[..., None])[..., 0]
    pushes = pin[:, 0] > 0
    friction = 1.01 * np.linalg.norm(pin[:, 1:], axis=1) / np.abs(pin[:, 0])
    found = solver_of_several(1)(matrix, velocity, np.zeros(200), friction[:, None])
    size = np.linalg.norm(pin, axis=1)
    stuck = np.abs(found.impulse - pin).max(axis=1) < 1e-10 * size
    assert stuck[pushes].mean() > 0.95
    # the others are second solutions: they slide, and friction is all that there can be, against the sliding
    impulse, after = found.impulse[pushes & ~stuck], found.velocity[pushes & ~stuck]
    most = friction[pushes & ~stuck] * impulse[:, 0]
    against = -np.einsum("ni,ni->n", impulse[:, 1:], after[:, 1:]) / np.linalg.norm(after[:, 1:], axis=1)
    np.testing.assert_allclose(after[:, 0], 0, atol=1e-12)
    np.testing.assert_allclose(against, most, rtol=1e-9)
    np.testing.assert_allclose(np.linalg.norm(impulse[:, 1:], axis=1), most, rtol=1e-9)


def test_simultaneous_contacts_by_enumeration():
    """Frictionless: (1 + e) times the one set of closed contacts that neither pulls nor penetrates."""
    rng = np.random.default_rng(8)
    root = rng.normal(size=(20, 4, 6))
    matrix, velocity, e = root @ root.transpose(0, 2, 1), -np.abs(rng.normal(size=(20, 4))), rng.uniform(size=20)
    found = solver_of_several(4)(matrix, velocity, e, np.zeros((20, 4)))
    for i in range(20):
        solutions = []
        for closed in itertools.chain.from_iterable(itertools.combinations(range(4), n) for n in range(5)):
            impulse = np.zeros(4)
            if closed:
                impulse[list(closed)] = -np.linalg.solve(matrix[i][np.ix_(closed, closed)], velocity[i, list(closed)])
            if impulse.min() >= 0 and (velocity[i] + matrix[i] @ impulse).min() >= -1e-12:
                solutions.append(impulse)
        assert len(solutions) == 1
        np.testing.assert_allclose(found.impulse[i], (1 + e[i]) * solutions[0], rtol=1e-10, atol=1e-12)


def test_newtons_cradle_as_one_problem():
    """Five equal balls, e = 1: velocities −3/5, then four times 2/5, the known answer of the simultaneous problem."""
    matrix = 2 * np.eye(4) - np.eye(4, k=1) - np.eye(4, k=-1)
    found = solver_of_several(4)(matrix[None], np.array([[-1.0, 0, 0, 0]]), np.ones(1), np.zeros((1, 4)))
    np.testing.assert_allclose(found.impulse[0], [8 / 5, 6 / 5, 4 / 5, 2 / 5], rtol=1e-12)
    np.testing.assert_allclose(found.energy_loss, 0, atol=1e-14)


@pytest.mark.parametrize(("several", "axes"), [slow(2, 1), (2, 2), slow(2, 3), slow(3, 3)])
@pytest.mark.parametrize("count", COUNTS)
def test_simultaneous_contacts_create_no_energy(several, axes, count):
    """Coulomb's and the unilateral conditions hold in both phases; with one e no energy appears."""
    rng = np.random.default_rng([several, axes])
    root = rng.normal(size=(count, several * axes, several * axes + 2))
    matrix = root @ root.transpose(0, 2, 1)
    velocity = rng.normal(size=(count, several * axes))
    velocity[:, ::axes] = -np.abs(velocity[:, ::axes])
    friction, e = 10 ** rng.uniform(-2, 0.3, (count, several)), rng.uniform(0, 1, count)
    found = solver_of_several(several)(matrix, velocity, e, friction)
    impulse, after = (part.reshape(count, several, axes) for part in (found.impulse, found.velocity))
    size = np.abs(found.impulse).max(axis=1)[:, None]
    assert np.all(impulse[..., 0] >= -1e-12 * size) and np.all(after[..., 0] >= -1e-9)
    # the friction of both phases together is within the cone as well
    assert np.all(np.linalg.norm(impulse[..., 1:], axis=2) <= friction * impulse[..., 0] + 1e-10 * size)
    scale = np.abs(velocity * found.impulse).sum(axis=1)
    assert np.all(found.energy_loss >= -1e-12 * scale) and not np.any(found.energy_created)


# --- locked joints ------------------------------------------------------------------------------------------------


def test_locked_joint_makes_one_body_of_two():
    """Two bodies welded by constraint rows hit a third as the rigid body that they form does."""
    rng = np.random.default_rng(4)
    masses, inertias = np.array([3.0, 1.2]), [np.diag([0.4, 0.5, 0.6]), np.diag([0.1, 0.2, 0.15])]
    places, tip = rng.normal(size=(2, 3)), rng.normal(size=3)
    mass = np.zeros((12, 12))
    for i in range(2):
        mass[6 * i : 6 * i + 3, 6 * i : 6 * i + 3] = masses[i] * np.eye(3)
        mass[6 * i + 3 : 6 * i + 6, 6 * i + 3 : 6 * i + 6] = inertias[i]
    jacobian = np.hstack([np.zeros((3, 6)), np.eye(3), -cross(tip - places[1])])
    joint = rng.normal(size=3)
    point = [np.hstack([np.eye(3), -cross(joint - place)]) for place in places]
    spin = np.hstack([np.zeros((3, 3)), np.eye(3)])
    locks = np.block([[point[0], -point[1]], [spin, -spin]])

    centre = masses @ places / masses.sum()
    inertia = sum(
        j + m * (arm @ arm * np.eye(3) - np.outer(arm, arm))
        for j, m, arm in zip(inertias, masses, places - centre, strict=True)
    )
    lever = cross(tip - centre)
    expected = np.eye(3) / masses.sum() - lever @ np.linalg.inv(inertia) @ lever
    found = constrained_contact_matrix(jacobian, mass, locks)
    np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-11)

    speeds = np.asarray(lock(mass, locks, rng.normal(size=12)))
    np.testing.assert_allclose(locks @ speeds, 0, atol=1e-12)
    impulse = rng.normal(size=3)
    after = speeds + np.asarray(velocity_jump(jacobian, mass, impulse, locks))
    np.testing.assert_allclose(locks @ after, 0, atol=1e-12)
    np.testing.assert_allclose(jacobian @ (after - speeds), expected @ impulse, rtol=1e-10)
    moved = mass @ (after - speeds)
    np.testing.assert_allclose(moved[:3] + moved[6:9], impulse, rtol=1e-10)


def test_locking_keeps_momentum():
    mass, jacobian, speeds, _ = (part[0] for part in pairs(1))
    after = np.asarray(lock(mass, jacobian, speeds))
    before, end = mass @ speeds, mass @ after
    np.testing.assert_allclose(before[:3] + before[6:9], end[:3] + end[6:9], rtol=1e-12)
    np.testing.assert_allclose(jacobian @ after, 0, atol=1e-12)


# --- bad input ----------------------------------------------------------------------------------------------------

W, U = np.diag([2.0, 1.0, 1.0]), np.array([-1.0, 0.5, 0.0])
FULL = {"restitution": 0.5, "friction": 0.3}


@pytest.mark.parametrize(
    ("law", "matrix", "velocity", "given", "says"),
    [
        ("stronge", W, U, FULL, "no impact law is called 'stronge'; there are energetic, poisson"),
        ("energetic", W, U, {"restitution": 0.5}, "law 'energetic' needs friction"),
        ("pin", W, U, {"restitution": 0.5}, "law 'pin' has no restitution"),
        ("energetic", W, -U, FULL, r"does not approach: u_n must be below 0; got 1 m/s"),
        ("energetic", W, 0 * U, FULL, "does not approach"),
        ("energetic", np.diag([2.0, 1.0, 0.0]), U, FULL, "W is singular"),
        ("pin", np.outer(U, U), U, {}, "W is singular"),
        ("energetic", np.diag([2.0, 1.0, -1.0]), U, FULL, "not positive definite"),
        ("energetic", W + np.triu(W + 1, 1), U, FULL, "W is not symmetric"),
        ("energetic", W * np.nan, U, FULL, "W and u must be finite"),
        ("energetic", W, U[:2], FULL, r"W must be rows × rows and u of as many rows; got \(3, 3\) and \(2,\)"),
        ("weld", W[:2, :2], U[:2], {}, r"law 'weld' takes 3 or 6 rows \(normal, tangents, moments\); got 2"),
        ("energetic", W, U, {"restitution": 1.2, "friction": 0.3}, "restitution must be between 0 and 1; got 1.2"),
        ("energetic", W, U, {"restitution": -0.1, "friction": 0.3}, "restitution must be between 0 and 1; got -0.1"),
        ("energetic", W, U, {"restitution": 0.5, "friction": -0.3}, "friction must be 0 or more; got -0.3"),
        (
            "energy-pair",
            W,
            U,
            {"energy_ratio": 1.0, "friction_ratio": 0.0},
            r"\(r_E, r_f\) = \(1, 0\) cannot be: at this r_f, r_E must lie between .* = 0 and .* = 0.666667 \(κ = 0.333333\)",
        ),
        (
            "energy-pair",
            W,
            U,
            {"energy_ratio": 0.1, "friction_ratio": 1.0},
            "r_E must lie between .* = 0.333333 and .* = 1",
        ),
        ("energy-pair", W, U, {"energy_ratio": 0.5, "friction_ratio": 3.0}, "no r_E goes with this r_f"),
        (
            "energy-pair",
            np.array([[1.0, 0.9], [0.9, 1.0]]),
            np.array([-0.1, -1.0]),
            {"energy_ratio": 1.0, "friction_ratio": 1.0},
            r"would take a normal impulse that pulls \(-4.21053 N s\)",
        ),
    ],
)
def test_bad_input(law, matrix, velocity, given, says):
    with pytest.raises(ValueError, match=says) as caught:
        resolve(law, matrix, velocity, **given)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("velocity", "several", "given", "says"),
    [
        ([-1.0, 0.5, 0.0], 3, {"restitution": 0.5}, "contact 1 parts: u_n must not be above 0; got 0.5 m/s"),
        ([0.0, 0.0, 0.0], 3, {"restitution": 0.5}, "no contact approaches"),
        ([-1.0, 0.0, 0.0], 2, {"restitution": 0.5}, "3 rows are not 2 contacts of 1, 2 or 3 rows each"),
        ([-1.0, 0.0, 0.0], 3, {"restitution": [0.5, 0.5, 1.5]}, r"restitution must be .*; got \[0.5, 0.5, 1.5\]"),
        ([-1.0, 0.0, 0.0], 3, {"restitution": 0.5, "friction": [0, -1, 0]}, "friction must be 0 or more"),
    ],
)
def test_bad_input_of_several_contacts(velocity, several, given, says):
    with pytest.raises(ValueError, match=says):
        resolve_simultaneous(W, velocity, several, **given)
