"""Impact laws: closed forms, conservation, invariance over random contacts, and independent solutions of the same path.

A random contact is (W, u, e, μ) with W symmetric and positive definite, its eigenvalues spread over two decades.
"""

from __future__ import annotations

import itertools
from functools import cache

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

pytestmark = pytest.mark.full  # random checks of many laws: minutes of compilation


COUNTS = [200, pytest.param(10_000, marks=pytest.mark.full)]
ENDS = ("energetic", "poisson", "newton")
COULOMB = tuple(name for name, law in LAWS.items() if "friction" in law.parameters)


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
def solver(law):
    def one(matrix, velocity, restitution, friction):
        given = {"restitution": restitution, "friction": friction}
        return resolve(law, matrix, velocity, **{name: given[name] for name in LAWS[law].parameters})

    return jax.jit(jax.vmap(one))


@cache
def solved(law, count, rows):
    return jax.tree.map(np.asarray, solver(law)(*contacts(count, rows)))


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


@pytest.mark.parametrize("law", COULOMB)
@pytest.mark.parametrize("friction", [0.05, 0.2, 0.6])
def test_ball_on_a_wall(law, friction):
    """W = diag(1/m, 7/(2m), 7/(2m)): it slides throughout if μ (1 + e) |u_n| < 2/7 |u_t|, or else ends rolling."""
    mass, e, velocity = 2.5, 0.8, np.array([-1.2, 0.9, -1.2])
    found = resolve(law, np.diag([1, 3.5, 3.5]) / mass, velocity, restitution=e, friction=friction)
    normal = mass * 1.8 * 1.2
    needed = mass * 1.5 * 2 / 7
    across = -min(friction * normal, needed) * velocity[1:] / 1.5
    np.testing.assert_allclose(found.impulse, [normal, *across], rtol=1e-11)
    assert bool(found.stick) == (friction * normal > needed)
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


@pytest.mark.parametrize("rows", [1, 2, 3])
@pytest.mark.parametrize("law", [name for name in LAWS if name not in ("weld", "energy-pair")])
@pytest.mark.parametrize("count", COUNTS)
def test_momentum_and_energy(law, rows, count):
    """u⁺ = u + WΛ, the loss is that of the kinetic energy, and no law marked safe creates energy."""
    matrix, velocity, *_ = contacts(count, rows)
    found = solved(law, count, rows)
    np.testing.assert_array_less(0, found.impulse[:, 0] + (1e300 if law == "pin" else 0))  # only a pin may pull
    expected = velocity + np.einsum("nij,nj->ni", matrix, found.impulse)
    scale = np.abs(velocity).max(axis=1) + np.einsum("nij,nj->ni", np.abs(matrix), np.abs(found.impulse)).max(axis=1)
    np.testing.assert_allclose(found.velocity / scale[:, None], expected / scale[:, None], atol=1e-15)
    before, after = kinetic(matrix, velocity), kinetic(matrix, found.velocity)
    tolerance = 1e-12 * (before + np.abs(velocity * found.impulse).sum(axis=1))
    assert np.all(np.abs(before - after - found.energy_loss) <= tolerance)
    if LAWS[law].safe:
        assert np.all(found.energy_loss >= -tolerance) and not np.any(found.energy_created)


@pytest.mark.parametrize("rows", [2, 3])
@pytest.mark.parametrize("count", COUNTS)
def test_newton_with_friction_creates_energy_and_says_so(rows, count):
    found = solved("newton", count, rows)
    gained = found.energy_loss < -1e-6 * np.abs(found.impulse * found.velocity).sum(axis=1)
    assert np.any(gained) and np.all(found.energy_created[gained])
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


@pytest.mark.parametrize("rows", [2, 3])
@pytest.mark.parametrize("count", COUNTS)
def test_coefficients_come_out(rows, count):
    """Each law returns its own coefficient."""
    restitution = contacts(count, rows)[2]
    for law in ENDS:
        own = getattr(solved(law, count, rows), law)
        np.testing.assert_allclose(own, restitution, atol=1e-11)


@pytest.mark.parametrize("rows", [2, 3])
@pytest.mark.parametrize("law", ENDS)
def test_no_friction(law, rows):
    """All three coefficients are e, and e = 1 keeps the energy to 1e-12."""
    matrix, velocity, restitution, friction = contacts(200, rows)
    smooth = jax.tree.map(np.asarray, solver(law)(matrix, velocity, restitution, 0 * friction))
    for name in ENDS:
        np.testing.assert_allclose(getattr(smooth, name), restitution, atol=1e-11)
    elastic = restitution == 1
    loss = smooth.energy_loss[elastic] / (0.5 * velocity[elastic, 0] ** 2 / matrix[elastic, 0, 0])
    np.testing.assert_allclose(loss, 0, atol=1e-12)


# --- two rigid bodies in space ------------------------------------------------------------------------------------


def cross(arm):
    """Matrix of arm × …"""
    x, y, z = arm
    return np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])


def pair(seed, turn=None, tangent=0.0):
    """M (12 × 12), J (6 × 12: normal, tangents, then moments about them) and v of two bodies touching off their axes.

    Coordinates are velocity and rate of the first body, then of the second, in inertial axes. `turn` turns everything;
    `tangent` (rad) turns the tangents about the normal.
    """
    rng = np.random.default_rng([seed, 77])
    turn = np.eye(3) if turn is None else turn
    mass, jacobian = np.zeros((12, 12)), np.zeros((6, 12))
    axes = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    axes *= np.sign(np.linalg.det(axes))
    speeds = rng.normal(size=12)
    closing = -2 - rng.uniform()
    rows = Rotation.from_rotvec([tangent, 0, 0]).as_matrix() @ axes @ turn.T
    for body, sign in enumerate((1, -1)):
        at = slice(6 * body, 6 * body + 3), slice(6 * body + 3, 6 * body + 6)
        weight = rng.uniform(0.5, 20)
        own = Rotation.random(rng=rng).as_matrix()
        inertia = own @ np.diag(weight * rng.uniform(0.2, 0.35, 3)) @ own.T
        arm = rng.uniform(-0.6, 0.6, 3)
        mass[at[0], at[0]] = weight * np.eye(3)
        mass[at[1], at[1]] = turn @ inertia @ turn.T
        jacobian[:3, at[0]], jacobian[:3, at[1]] = sign * rows, -sign * rows @ cross(turn @ arm)
        jacobian[3:, at[1]] = sign * rows
    speeds[:3] += axes[0] * (closing - (jacobian @ np.kron(np.eye(4), turn) @ speeds)[0])
    return mass, jacobian, np.kron(np.eye(4), turn) @ speeds


def pairs(count):
    return [np.array(part) for part in zip(*(pair(seed) for seed in range(count)), strict=True)]


@pytest.mark.parametrize("law", [name for name in LAWS if name != "energy-pair"])
def test_bodies_keep_momentum_and_lose_what_the_law_says(law):
    for seed in range(8):
        mass, jacobian, speeds = pair(seed)
        jacobian = jacobian[: 6 if law == "weld" else 3]
        given = {
            name: {"restitution": 0.6, "friction": 0.4}[name] for name in LAWS[law].parameters if "ratio" not in name
        }
        found = resolve(law, contact_matrix(jacobian, mass), jacobian @ speeds, **given)
        after = speeds + np.asarray(velocity_jump(jacobian, mass, found.impulse))
        np.testing.assert_allclose(jacobian @ after, found.velocity, atol=1e-12)
        before, end = mass @ speeds, mass @ after
        np.testing.assert_allclose(before[:3] + before[6:9], end[:3] + end[6:9], atol=1e-12 * np.abs(before).max())
        lost = 0.5 * (speeds @ before - after @ end)
        assert lost == pytest.approx(float(found.energy_loss), abs=1e-12 * (speeds @ before))


@pytest.mark.parametrize("rows", [2, 3])
@pytest.mark.parametrize("count", COUNTS)
def test_much_friction_and_no_rebound_is_a_pin(rows, count):
    """e = 0, sticking at the end: the plastic solution of the KKT system [M −Jᵀ; J 0] (v⁺, Λ) = (M v, 0), to 1e-10."""
    mass, jacobian, speeds = pairs(count)
    jacobian = jacobian[:, :rows]
    kkt = np.block([[mass, -jacobian.transpose(0, 2, 1)], [jacobian, np.zeros((count, rows, rows))]])
    right = np.concatenate([np.einsum("nij,nj->ni", mass, speeds), np.zeros((count, rows))], axis=1)
    pin = np.linalg.solve(kkt, right[..., None])[:, 12:, 0]
    matrix = np.asarray(jax.vmap(contact_matrix)(jacobian, mass))
    velocity = np.einsum("nij,nj->ni", jacobian, speeds)
    size = np.linalg.norm(pin, axis=1, keepdims=True)
    for law in ENDS if rows == 2 else ENDS[:1]:  # at e = 0 they are one
        found = jax.tree.map(np.asarray, solver(law)(matrix, velocity, np.zeros(count), np.full(count, 1e4)))
        assert found.stick.mean() > 0.3
        np.testing.assert_allclose((found.impulse / size)[found.stick], (pin / size)[found.stick], atol=1e-10)
        assert np.all(pin[found.stick, 0] > 0)  # where the pin has to pull, no friction holds the bodies together


@pytest.mark.parametrize("law", COULOMB)
def test_neither_tangents_nor_axes_matter(law):
    """Other tangents turn the tangential impulse; other inertial axes change nothing in contact axes."""
    rng = np.random.default_rng(5)
    for seed in range(10):
        angle, turn = rng.uniform(0, 6), Rotation.random(rng=rng).as_matrix()
        results = []
        for mass, jacobian, speeds in (pair(seed), pair(seed, turn), pair(seed, turn, angle)):
            rows = jacobian[:3]
            results.append(resolve(law, contact_matrix(rows, mass), rows @ speeds, restitution=0.7, friction=0.3))
        there = Rotation.from_rotvec([angle, 0, 0]).as_matrix()
        np.testing.assert_allclose(results[1].impulse, results[0].impulse, rtol=1e-11, atol=1e-11)
        np.testing.assert_allclose(results[2].impulse, there @ results[0].impulse, rtol=1e-11, atol=1e-11)
        np.testing.assert_allclose(results[2].energy_loss, results[0].energy_loss, rtol=1e-11)
        np.testing.assert_allclose(results[2].newton, results[0].newton, rtol=1e-11)


# --- the path, solved otherwise -----------------------------------------------------------------------------------


@pytest.mark.parametrize("law", ENDS)
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
    """The path in space by SciPy, over the normal impulse; sliding below 1e-9 of its start counts as stopped."""
    across, coupling = matrix[1:, 1:], matrix[1:, 0]
    holding = -np.linalg.solve(across, coupling)
    if np.linalg.norm(holding) > friction:  # sliding goes on: (λ + μ W_tt) û = W_tn
        size = lambda growth: np.linalg.norm(np.linalg.solve(growth * np.eye(2) + friction * across, coupling)) - 1  # noqa: E731
        growth = brentq(size, 0, 2 * np.linalg.norm(coupling), xtol=1e-15)
        holding = -friction * np.linalg.solve(growth * np.eye(2) + friction * across, coupling)
    least = 1e-9 * np.linalg.norm(velocity[1:])

    def force(state, stopped):
        return holding if stopped else -friction * state[1:3] / np.hypot(*state[1:3])

    def march(state, push, stopped, goal):
        """On until goal(state, push) = 0; the state is u, Λ_t and the work."""
        while True:
            rate = lambda p, y, s=stopped: np.r_[matrix @ np.r_[1, force(y, s)], force(y, s), y[0]]  # noqa: E731
            done = lambda p, y: goal(y, p)  # noqa: E731
            stop = lambda p, y: np.hypot(y[1], y[2]) - least  # noqa: E731
            done.terminal, done.direction, stop.terminal, stop.direction = True, 1, True, -1
            events = [done] if stopped else [done, stop]
            run = solve_ivp(rate, (push, push + 1e6), state, "DOP853", events=events, rtol=1e-12, atol=1e-15)
            state, push = run.y[:, -1], run.t[-1]
            if len(run.t_events[0]):
                return state, push, stopped
            stopped = True

    state, push, stopped = march(np.r_[velocity, np.zeros(3)], 0.0, False, lambda y, p: y[0])
    spent, compressed = -state[5], push
    state[0], state[5] = 0, 0
    goal = {
        "energetic": lambda y, p: y[5] - restitution**2 * spent,
        "poisson": lambda y, p: p - (1 + restitution) * compressed,
        "newton": lambda y, p: y[0] + restitution * velocity[0],
    }[end]
    state, push, _ = march(state, push, stopped, goal)
    return np.r_[push, state[3:5]]


@pytest.mark.parametrize("law", ENDS)
def test_path_in_space_by_another_integrator(law):
    matrix, velocity, restitution, friction = (part[:40] for part in contacts(200, 3))
    found = solved(law, 200, 3)
    for i in range(40):
        if restitution[i] == 0:
            continue
        expected = walked(matrix[i], velocity[i], restitution[i], friction[i], law)
        size = np.linalg.norm(expected)
        np.testing.assert_allclose(found.impulse[i] / size, expected / size, atol=2e-8, err_msg=str(i))


@pytest.mark.parametrize(("law", "rows"), [*((end, 2) for end in ENDS), ("energetic", 3)])
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
def test_energy_pair(rows):
    """The loss and the tangential impulse are the asked parts of the pin's, and e_N is that of the closed form."""
    matrix, velocity, *_ = contacts(200, rows)
    rng = np.random.default_rng(2)
    for w, u in zip(matrix[:30], velocity[:30], strict=True):
        pin = resolve("pin", w, u)
        kappa = 1 - u[0] ** 2 / (2 * w[0, 0] * float(pin.energy_loss))
        r_f = rng.uniform(0, 2)
        least, greatest = kappa * r_f * (2 - r_f), 1 - kappa * (1 - r_f) ** 2
        r_e = rng.uniform(least, greatest)
        try:
            found = resolve("energy-pair", w, u, energy_ratio=r_e, friction_ratio=r_f)
        except ValueError as error:
            assert "pulls" in str(error)
            continue
        np.testing.assert_allclose(found.energy_loss, r_e * pin.energy_loss, rtol=1e-11)
        np.testing.assert_allclose(found.impulse[1:], r_f * pin.impulse[1:], rtol=1e-12)
        np.testing.assert_allclose(found.newton**2, (1 - r_e - kappa * (1 - r_f) ** 2) / (1 - kappa), atol=1e-10)
        assert 0 <= found.newton <= 1 + 1e-9 and found.impulse[0] >= 0  # the larger root


def test_energy_pair_gives_back_an_impact():
    """An energetic impact told by its loss and its friction comes out again."""
    matrix, velocity, *_ = contacts(200, 2)
    found, count = solved("energetic", 200, 2), 0
    for i in range(200):
        pin = resolve("pin", matrix[i], velocity[i])
        if found.newton[i] > 1:
            continue
        ratios = found.energy_loss[i] / pin.energy_loss, found.impulse[i, 1] / pin.impulse[1]
        again = resolve("energy-pair", matrix[i], velocity[i], energy_ratio=ratios[0], friction_ratio=ratios[1])
        np.testing.assert_allclose(
            again.impulse, found.impulse[i], rtol=1e-6, atol=1e-6 * np.abs(found.impulse[i]).max()
        )
        count += 1
    assert count > 100


# --- several contacts ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rows", [1, 2, 3])
def test_one_contact_at_once_is_the_single_law(rows):
    matrix, velocity, restitution, _ = contacts(200, rows)
    for i in range(12):
        smooth = resolve_simultaneous(matrix[i], velocity[i], 1, restitution=restitution[i])
        single = resolve("frictionless", matrix[i], velocity[i], restitution=restitution[i])
        np.testing.assert_allclose(smooth.impulse, single.impulse, rtol=1e-12, atol=1e-14)
        if rows > 1:
            pin = resolve("pin", matrix[i], velocity[i])
            if pin.impulse[0] > 0:
                needed = np.linalg.norm(pin.impulse[1:]) / pin.impulse[0]
                stuck = resolve_simultaneous(matrix[i], velocity[i], 1, restitution=0, friction=1.01 * needed)
                np.testing.assert_allclose(stuck.impulse, pin.impulse, rtol=1e-10, atol=1e-12)


def test_simultaneous_contacts_by_enumeration():
    """Frictionless: (1 + e) times the one set of closed contacts that neither pulls nor penetrates."""
    rng = np.random.default_rng(8)
    for _ in range(20):
        root = rng.normal(size=(4, 6))
        matrix, velocity, e = root @ root.T, -np.abs(rng.normal(size=4)), rng.uniform()
        found = resolve_simultaneous(matrix, velocity, 4, restitution=e)
        solutions = []
        for closed in itertools.chain.from_iterable(itertools.combinations(range(4), n) for n in range(5)):
            impulse = np.zeros(4)
            if closed:
                impulse[list(closed)] = -np.linalg.solve(matrix[np.ix_(closed, closed)], velocity[list(closed)])
            if impulse.min() >= 0 and (velocity + matrix @ impulse).min() >= -1e-12:
                solutions.append(impulse)
        assert len(solutions) == 1
        np.testing.assert_allclose(found.impulse, (1 + e) * solutions[0], rtol=1e-10, atol=1e-12)


def test_newtons_cradle_as_one_problem():
    """Three equal balls, e = 1: velocities −1/3, 2/3, 2/3, the known answer of the simultaneous problem."""
    found = resolve_simultaneous([[2.0, -1.0], [-1.0, 2.0]], [-1.0, 0.0], 2, restitution=1)
    np.testing.assert_allclose(found.impulse, [4 / 3, 2 / 3], rtol=1e-12)
    np.testing.assert_allclose(found.energy_loss, 0, atol=1e-14)


@pytest.mark.parametrize(("several", "axes"), [(2, 1), (2, 2), (2, 3), (3, 3)])
@pytest.mark.parametrize("count", COUNTS)
def test_simultaneous_contacts_create_no_energy(several, axes, count):
    """Coulomb's and the unilateral conditions hold in both phases; with one e no energy appears."""
    rng = np.random.default_rng([several, axes])
    root = rng.normal(size=(count, several * axes, several * axes + 2))
    matrix = root @ root.transpose(0, 2, 1)
    velocity = rng.normal(size=(count, several * axes))
    velocity[:, ::axes] = -np.abs(velocity[:, ::axes])
    friction, e = 10 ** rng.uniform(-2, 0.3, (count, several)), rng.uniform(0, 1, count)
    solve = jax.jit(jax.vmap(lambda w, u, e, mu: resolve_simultaneous(w, u, several, restitution=e, friction=mu)))
    found = jax.tree.map(np.asarray, solve(matrix, velocity, e, friction))
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
    mass, jacobian, speeds = pair(3)
    after = np.asarray(lock(mass, jacobian, speeds))
    before, end = mass @ speeds, mass @ after
    np.testing.assert_allclose(before[:3] + before[6:9], end[:3] + end[6:9], rtol=1e-12)
    np.testing.assert_allclose(jacobian @ after, 0, atol=1e-12)


# --- another implementation ---------------------------------------------------------------------------------------


def test_pinocchio():
    """Impulses on a pair of free bodies: Pinocchio's `impulseDynamics` for a frictionless and a plastic impact."""
    pin = pytest.importorskip("pinocchio")
    rng = np.random.default_rng(6)
    model, parts = pin.Model(), []
    for name in ("chaser", "target"):
        inertia = pin.Inertia(rng.uniform(1, 9), rng.normal(size=3) * 0.1, np.diag(rng.uniform(0.4, 0.6, 3)))
        joint = model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), name)
        model.appendBodyToJoint(joint, inertia, pin.SE3.Identity())
        arm = rng.uniform(-0.5, 0.5, 3)
        frame = model.addFrame(pin.Frame(name, joint, pin.SE3(np.eye(3), arm), pin.FrameType.OP_FRAME))
        parts.append((joint, inertia, arm, frame))
    data = model.createData()
    q = np.concatenate([np.r_[rng.normal(size=3), Rotation.random(rng=rng).as_quat()] for _ in parts])
    axes = Rotation.random(rng=rng).as_matrix()

    # our own: velocities of the free flyers are in body axes, at the joint
    mass, rows = np.zeros((12, 12)), []
    for i, (_, inertia, arm, _) in enumerate(parts):
        turn = Rotation.from_quat(q[7 * i + 3 : 7 * i + 7]).as_matrix()
        lever, m = cross(inertia.lever), inertia.mass
        block = slice(6 * i, 6 * i + 6)
        mass[block, block] = np.block(
            [[m * np.eye(3), -m * lever], [m * lever, np.asarray(inertia.inertia) - m * lever @ lever]]
        )
        rows.append((1 - 2 * i) * axes @ turn @ np.hstack([np.eye(3), -cross(arm)]))
    jacobian = np.hstack(rows)
    speeds = rng.normal(size=12)
    speeds *= -np.sign((jacobian @ speeds)[0])

    # theirs
    pin.framesForwardKinematics(model, data, q)
    pin.computeJointJacobians(model, data, q)
    there = [
        pin.getFrameJacobian(model, data, frame, pin.ReferenceFrame.LOCAL_WORLD_ALIGNED)[:3] for *_, frame in parts
    ]
    theirs = axes @ (there[0] - there[1])
    np.testing.assert_allclose(jacobian, theirs, atol=1e-12)
    for law, many, e, given in (("frictionless", 1, 0.7, {"restitution": 0.7}), ("pin", 3, 0.0, {})):
        w = contact_matrix(jacobian, mass)
        found = resolve(law, w, jacobian @ speeds, **given)
        after = speeds + np.asarray(velocity_jump(jacobian, mass, found.impulse))
        expected = pin.impulseDynamics(model, data, q, speeds, theirs[:many], e, 0.0)
        np.testing.assert_allclose(after, expected, rtol=1e-10, atol=1e-10)
        np.testing.assert_allclose(found.impulse[:many], data.impulse_c, rtol=1e-10)


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
