"""Flexible links beside what others say: Lagrange's equations in SciPy, participations, Euler and Bernoulli, lumped masses."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from assembly_cases import changed, simulated
from flexible_cases import (
    BENDING,
    KAPPA,
    LENGTH,
    MASS_PER_LENGTH,
    POLAR,
    RATIO,
    ROOT,
    TIP,
    TORSION,
    WINGED,
    cantilever,
    textbook,
    with_flexible,
)
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

from dockdyn.integrate.model import jacobian
from dockdyn.results.plan import jit_once

MU, EI = MASS_PER_LENGTH, BENDING
HINGE, ARM = np.array([0.0, 1.0, 0.0]), np.array([0.1, 3.0, 0.2])  # on the bus; the wing's centre of mass from there
BODIES = WINGED["body"]
BUS, WING, BALL = BODIES
MODES = 4  # two of bending along x, one along z, one of twist


MASS, RATE, LINEAR, ANGULAR, TIP_SHIFT, TIP_TURN = textbook()
ABOUT_CENTRE = ANGULAR + np.cross(ROOT, LINEAR)
WING_INERTIA = np.diag(WING["inertia"])
SHIFT, TURN = LINEAR / WING["mass"], ABOUT_CENTRE @ np.linalg.inv(WING_INERTIA)
REST = np.diag(MASS) - WING["mass"] * SHIFT @ SHIFT.T - TURN @ WING_INERTIA @ TURN.T


def turned(v):
    """Rotation matrix of a rotation vector, by its series where it is short."""
    squared = v @ v
    small = squared < 1e-6
    angle = jnp.sqrt(jnp.where(small, 1.0, squared))
    first = jnp.where(small, 1 - squared / 6 + squared**2 / 120, jnp.sin(angle) / angle)
    second = jnp.where(small, 0.5 - squared / 24 + squared**2 / 720, (1 - jnp.cos(angle)) / angle**2)
    cross = jnp.array([[0.0, -v[2], v[1]], [v[2], 0.0, -v[0]], [-v[1], v[0], 0.0]])
    return jnp.eye(3) + first * cross + second * cross @ cross


def frames(q):
    """Place and rotation of the bus, and of the wing as if it were rigid; q: bus (3, 3), hinge, modes, ball (3)."""
    turn = turned(q[3:6])
    hinged = turn @ turned(jnp.array([0.0, 1.0, 0.0]) * q[6])
    return q[:3], turn, q[:3] + turn @ HINGE + hinged @ ARM, hinged


def mean_motion(q):
    """What has mass: places and rotations of bus, wing and ball."""
    place, turn, at, hinged = frames(q)
    eta = q[7:-3]
    return (place, turn), (at + hinged @ (eta @ SHIFT), hinged @ turned(eta @ TURN)), (q[-3:], jnp.eye(3))


def rigid_energy(moved, q, v):
    """Kinetic energy of rigid bodies that are `moved` by coordinates."""
    poses, rates = jax.jvp(moved, (q,), (v,))
    found = 0.0
    inertias = (np.array(BUS["inertia"]), WING_INERTIA, np.zeros((3, 3)))
    for (_, turn), (velocity, turning), body, inertia in zip(poses, rates, BODIES, inertias, strict=True):
        spin = turn.T @ turning
        rate = jnp.array([spin[2, 1], spin[0, 2], spin[1, 0]])
        found += 0.5 * body["mass"] * velocity @ velocity + 0.5 * rate @ inertia @ rate
    return found


def kinetic(q, v):
    return rigid_energy(mean_motion, q, v) + 0.5 * v[7:-3] @ REST @ v[7:-3]


def potential(q):
    _, _, at, hinged = frames(q)
    eta, seat = q[7:-3], np.array([0.0, 2.9, 0.0])
    tip = at + hinged @ (seat + eta @ TIP_SHIFT + turned(eta @ TIP_TURN) @ (np.array(TIP) - seat))
    apart = tip - q[-3:]
    depth = jnp.maximum(0.45 - jnp.sqrt(apart @ apart), 0.0)
    return 900.0 / 2.5 * depth**2.5 + 7.5 * q[6] ** 2 + 0.5 * eta @ (MASS * RATE**2 * eta)


def history(kinetic, times, scale=1.0, damping=RATIO):
    """Lagrange's equations by derivatives of the energies; what moves at the start times `scale`."""
    count = 7 + MODES + 3
    q, v = np.zeros(count), np.zeros(count)
    q[6], q[-3:] = 0.2 * scale, BALL["position"]
    v[:3], v[3:6], v[6], v[-3:] = (
        scale * np.array(one) for one in (BUS["velocity"], BUS["rate"], 0.1, BALL["velocity"])
    )
    drag = np.zeros(count)
    drag[7:-3] = 2 * damping * RATE * MASS

    @jax.jit
    def rate(y):
        q, v = y[:count], y[count:]
        mass = jax.hessian(kinetic, 1)(q, v)
        moving = jax.jvp(lambda at: jax.grad(kinetic, 1)(at, v), (q,), (v,))[1]
        force = jax.grad(kinetic)(q, v) - jax.grad(potential)(q) - drag * v
        return jnp.concatenate([v, jnp.linalg.solve(mass, force - moving)])

    found = solve_ivp(
        lambda _t, y: np.asarray(rate(y)),
        (0, times[-1]),
        np.concatenate([q, v]),
        "DOP853",
        times,
        rtol=1e-12,
        atol=1e-12,
        max_step=0.02,
    )
    return found.y.T


@pytest.mark.full
def test_a_whole_history_is_that_of_lagranges_equations(load):
    """Turned by more than a radian, with a contact at the tip, on a hinge; modes by the textbook, motion by DOP853."""
    data = simulated(load, WINGED)
    found = history(kinetic, data.time.values)
    q = found[:, : found.shape[1] // 2]
    assert data.episode.size == 1 and float(data.normal_force.max()) > 5.0
    assert np.linalg.norm(q[-1, 3:6]) > 1.0 and (np.abs(q[:, 7:-3]).max(axis=0) > 2e-3).all()
    scale = np.abs(q[:, 7:-3]).max()
    np.testing.assert_allclose(data.modal_coordinate, q[:, 7:-3], rtol=0, atol=1e-7 * scale)
    np.testing.assert_allclose(data.joint_angle[:, 0], q[:, 6], rtol=0, atol=1e-7)
    np.testing.assert_allclose(data.position.sel(body="bus"), q[:, :3], rtol=0, atol=1e-7)
    np.testing.assert_allclose(data.position.sel(body="ball"), q[:, -3:], rtol=0, atol=1e-7)
    bus = Rotation.from_quat(data.attitude.sel(body="bus").values, scalar_first=True)
    assert (bus.inv() * Rotation.from_rotvec(q[:, 3:6])).magnitude().max() < 1e-7
    wing = [np.asarray(mean_motion(jnp.asarray(one))[1][0]) for one in q]
    np.testing.assert_allclose(data.position.sel(body="wing"), wing, rtol=0, atol=1e-7)


def lumped(points=24):
    """Kinetic energy of the same spacecraft whose wing is point masses, moved by their own shapes, not in mean axes."""
    s, weights = np.polynomial.legendre.leggauss(points)
    s, weights = (s + 1) / 2, weights / 2
    (one, _, _), (two, _, _) = cantilever(2)
    zero, arm = np.zeros(points), np.sqrt(POLAR / MU)
    spread = ((0.0, 0.0),) if not POLAR else ((arm, 0.0), (-arm, 0.0), (0.0, arm), (0.0, -arm))
    places, shapes, masses = [], [], []
    for x, z in spread:
        places.append(np.stack([x + zero, ROOT[1] + LENGTH * s, z + zero], axis=1))
        twist = np.sin(KAPPA * s)
        bent = [np.stack([f(s), zero, zero], axis=1) for f in (one, two)]
        side = np.stack([zero, zero, -one(s)], axis=1)
        shapes.append(np.stack([*bent, side, np.stack([z * twist, zero, -x * twist], axis=1)]))
        masses.append(MU * LENGTH * weights / len(spread))
    place, shape, mass = np.concatenate(places), np.concatenate(shapes, axis=1), np.concatenate(masses)
    # what of the wing is not beam stays with its frame at rest
    left = WING["mass"] - mass.sum()
    centre = -(mass @ place) / left
    tensor = WING_INERTIA - np.einsum("p,pij->ij", mass, spread_out(place)) - left * spread_out(centre[None])[0]

    def energy(q, v):
        def moved(q):
            _, _, at, hinged = frames(q)
            return at + (place + jnp.einsum("m,mpc->pc", q[7:-3], shape)) @ hinged.T, (at + hinged @ centre, hinged)

        def others(q):
            place, turn, _, _ = frames(q)
            return (place, turn), (q[-3:], jnp.eye(3))

        (_, (_, turn)), (velocities, (velocity, turning)) = jax.jvp(moved, (q,), (v,))
        rate = spin_of(turn, turning)
        found = 0.5 * jnp.sum(mass[:, None] * velocities**2)
        found += 0.5 * left * velocity @ velocity + 0.5 * rate @ tensor @ rate
        poses, rates = jax.jvp(others, (q,), (v,))
        for (_, turn), (velocity, turning), body, inertia in zip(
            poses, rates, (BUS, BALL), (np.array(BUS["inertia"]), np.zeros((3, 3))), strict=True
        ):
            rate = spin_of(turn, turning)
            found += 0.5 * body["mass"] * velocity @ velocity + 0.5 * rate @ inertia @ rate
        return found

    return energy


def spread_out(places):
    return np.einsum("pc,pc->p", places, places)[:, None, None] * np.eye(3) - places[:, :, None] * places[:, None, :]


def spin_of(turn, turning):
    spin = turn.T @ turning
    return jnp.array([spin[2, 1], spin[0, 2], spin[1, 0]])


@pytest.mark.full
def test_what_mean_axes_leave_out_is_of_second_order():
    """Beside point masses that move as the shapes say: half as fast, a quarter of the difference."""
    times, differences = np.linspace(0.0, 0.8, 9), []
    for scale in (0.25, 0.125):
        ours, theirs = (history(one, times, scale, damping=0.0)[:, 7:11] for one in (kinetic, lumped()))
        differences.append(np.abs(ours - theirs).max())
    assert differences[1] < 0.03 * np.abs(theirs).max()
    assert differences[1] < differences[0] / 3.5


@jit_once
def restoring(content):
    """∂η̈/∂η of all modes, and η̈ at rest under what thrusters give."""
    model = content.model()
    x = model.initial()

    def accelerated(eta):
        q = x.q._replace(joints=tuple(eta))
        here = model.moving.placed(q, x.v)
        return jnp.stack(model.acting(type(x)(q, x.v, x.mode, x.memory), here, ()).rates.joints)

    start = jnp.stack(x.q.joints)
    return jacobian(accelerated, start), accelerated(start)


def clamped_wing(side, beam):
    """A wing along ±y that is clamped to the bus."""
    centre = [0.3, side * 4.0, 0.1]
    return {
        "name": f"wing {side}",
        "on": "bus",
        "mass": 17.4,
        "inertia": [49.0, 5.0, 49.0],
        "position": centre,
        "joint": {"kind": "locked", "position": [0.3, side * 1.1, 0.1]},
        "flexible": beam | {"root": [0.0, -side * 2.9, 0.0], "axis": [0.0, float(side), 0.0]},
    }


@pytest.mark.full
def test_frequencies_of_a_free_spacecraft_with_two_arrays(load):
    """From cantilever modes to those of the free whole: modal mass less what bus and arrays take part of it as one body."""
    counts = [3, 2]
    beam = WINGED["body"][1]["flexible"] | {"bending_modes": counts, "twist_modes": 0, "damping_ratio": 0.0}
    bus = changed(BUS, velocity=[0.0] * 3, rate=[0.0] * 3)
    case = changed(WINGED, body=[bus, clamped_wing(1, beam), clamped_wing(-1, beam)], contact=[])
    matrix, _ = restoring(load(case).content)
    found = np.sort(np.sqrt(np.linalg.eigvals(-np.asarray(matrix)).real))

    masses, stiffness, momenta = [], [], []
    whole = np.zeros((6, 6))
    for body in case["body"]:
        place, mass = np.array(body.get("position", [0.0] * 3)), body["mass"]
        tensor = np.array(body["inertia"]) if np.ndim(body["inertia"]) == 2 else np.diag(body["inertia"])
        lever = np.array([[0, -place[2], place[1]], [place[2], 0, -place[0]], [-place[1], place[0], 0]])
        whole += np.block([[mass * np.eye(3), -mass * lever], [mass * lever, tensor - mass * lever @ lever]])
    for side in (1, -1):
        along = np.array([0.0, side, 0.0])
        for across, count, stiff in zip((np.eye(3)[0], np.cross(along, np.eye(3)[0])), counts, EI, strict=True):
            for n, (_, _, beta) in enumerate(cantilever(count)):
                sigma = (np.cosh(beta) + np.cos(beta)) / (np.sinh(beta) + np.sin(beta))
                sign = (-1) ** n
                masses.append(MU * LENGTH / 4)
                stiffness.append(masses[-1] * beta**4 * stiff / MU / LENGTH**4)
                linear = MU * LENGTH * sign * sigma / beta * across
                root = np.array([0.3, side * 1.1, 0.1])
                angular = MU * LENGTH**2 * sign / beta**2 * np.cross(along, across) + np.cross(root, linear)
                momenta.append([*linear, *angular])
    shares = np.array(momenta)
    free = np.diag(masses) - shares @ np.linalg.solve(whole, shares.T)
    expected = np.sort(np.sqrt(np.linalg.eigvals(np.linalg.solve(free, np.diag(stiffness))).real))
    assert expected[1] > 1.05 * np.sort(np.sqrt(np.array(stiffness) / masses))[0]
    np.testing.assert_allclose(found, expected, rtol=1e-9)


@pytest.mark.parametrize("ratio", [0.4, 1.9, 5.0])
def test_a_cantilever_driven_at_its_root(load, ratio):
    """Its tip moves by (cos λ + cosh λ)/(1 + cos λ cosh λ) of the root's motion, λ⁴ = μ ω² L⁴/EI: Euler and Bernoulli."""
    beam = WINGED["body"][1]["flexible"] | {"bending_modes": [8, 0], "twist_modes": 0, "damping_ratio": 0.0}
    heavy = {"name": "bus", "mass": 1e12, "inertia": [1e13] * 3}
    push = {
        "kind": "thruster",
        "name": "shaker",
        "body": "bus",
        "position": [0.0] * 3,
        "direction": [1, 0, 0],
        "force": 1e12,
    }
    case = changed(WINGED, body=[heavy, clamped_wing(1, beam)], contact=[], element=[push])
    matrix, pushed = map(np.asarray, restoring(load(case).content))
    omega = ratio * np.sqrt(EI[0] / MU) / LENGTH**2 * 1.875104**2
    # root at cos ωt: its acceleration −ω², by the response to one of 1 m/s²
    eta = np.linalg.solve(-(omega**2) * np.eye(8) - matrix, -(omega**2) * pushed)
    size = np.sqrt(omega * np.sqrt(MU / EI[0])) * LENGTH
    expected = (np.cos(size) + np.cosh(size)) / (1 + np.cos(size) * np.cosh(size))
    np.testing.assert_allclose(1 + eta.sum(), expected, rtol=1e-4)  # what modes beyond the eighth would add


@pytest.mark.full
def test_the_limit_of_high_stiffness_is_the_rigid_link(load):
    """Ten times as stiff, a tenth of the difference from a wing that does not bend."""
    stiff = with_flexible(WINGED, damping_ratio=0.5)
    rigid = changed(WINGED)
    del rigid["body"][1]["flexible"]
    exact, distances = simulated(load, rigid, {"duration": 0.5}), []
    for factor in (2e3, 2e4):  # the wing's first frequency is then 4 and 13 Hz: what begins it has died away
        case = with_flexible(
            stiff, bending_stiffness=[factor * one for one in BENDING], torsional_stiffness=factor * TORSION
        )
        data = simulated(load, case, {"duration": 0.5})
        distances.append(float(np.abs(data.position - exact.position).max()))
    assert distances[0] < 1e-3
    np.testing.assert_allclose(distances[1] / distances[0], 0.1, rtol=0.25)
