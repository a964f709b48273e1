"""Flexible links beside what others say: Lagrange's equations in SciPy, participations, Euler and Bernoulli, their masses."""

from functools import cache

import jax
import jax.numpy as jnp
import numpy as np
import pytest
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
    restoring,
    textbook,
    with_flexible,
)
from mechanism_cases import changed, simulated
from plain_tables import by_name, listed
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

from dockdyn.programs import Program
from dockdyn.results.plan import jit_once

MU, EI = MASS_PER_LENGTH, BENDING
HINGE, ARM = np.array([0.0, 1.0, 0.0]), np.array([0.1, 3.0, 0.2])  # on the bus; the wing's centre of mass from there
BODIES = WINGED["body"]
BUS, WING, BALL = listed(BODIES)
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


def bent_axis(eta, s, inner=20):
    """Places, from the wing's centre of mass, of the beam's axis at shares `s` of its length, bent and shortened."""
    (one, slope_one, _), (two, slope_two, _) = cantilever(2)
    points, weights = np.polynomial.legendre.leggauss(inner)
    points, weights = (points + 1) / 2, weights / 2
    within = s[:, None] * points
    steepness = (eta[0] * slope_one(within) + eta[1] * slope_two(within)) ** 2 + (eta[2] * slope_one(within)) ** 2
    shorter = s * (steepness @ weights) / (2 * LENGTH)
    return jnp.stack([eta[0] * one(s) + eta[1] * two(s), ROOT[1] + LENGTH * s - shorter, -eta[2] * one(s)], axis=1)


def pairs(tensor, centre, mass):
    """Six point masses that are a rigid body."""
    sizes, ways = np.linalg.eigh(0.5 * np.trace(tensor) * np.eye(3) - tensor)
    arms = np.sqrt(3 * sizes / mass)[:, None] * ways.T
    return np.concatenate([centre + arms, centre - arms])


SHARES, WEIGHTS = ((1 + part) / 2 for part in np.polynomial.legendre.leggauss(24))
WEIGHTS = WEIGHTS - 0.5
SPREAD = np.sqrt(POLAR / MU) * np.array([[1, 0], [-1, 0], [0, 1], [0, -1]])  # of a section's masses, along x and z
BEAM_MASS = MU * LENGTH
LEFT = WING["mass"] - BEAM_MASS  # what of the wing is not beam stays with its frame at rest


def spread_out(places):
    return np.einsum("pc,pc->p", places, places)[:, None, None] * np.eye(3) - places[:, :, None] * places[:, None, :]


def beam_places(eta):
    """Of four masses a section, which turn with its twist, in the axes of the wing at rest."""
    axis, angle = bent_axis(eta, SHARES), eta[3] * np.sin(KAPPA * SHARES)
    x, z = (SPREAD[:, None, k] for k in (0, 1))
    c, s = jnp.cos(angle), jnp.sin(angle)
    return (axis + jnp.stack([c * x + s * z, 0 * c * x, c * z - s * x], axis=-1)).reshape(-1, 3)


AT_REST = np.asarray(Program(beam_places)(np.zeros(MODES)))
OF_BEAM = np.tile(BEAM_MASS * WEIGHTS / 4, 4)
CENTRE = -(OF_BEAM @ AT_REST) / LEFT
LEFT_INERTIA = WING_INERTIA - np.einsum("p,pij->ij", OF_BEAM, spread_out(AT_REST)) - LEFT * spread_out(CENTRE[None])[0]
RIGID = pairs(LEFT_INERTIA, CENTRE, LEFT)
WEIGHT = np.concatenate([OF_BEAM, np.full(6, LEFT / 6)])


def wing_places(eta):
    """Of all masses of the wing, `WEIGHT`, in its axes at rest, from its centre of mass at rest."""
    return jnp.concatenate([beam_places(eta), RIGID])


def wing_centre(eta):
    return WEIGHT @ wing_places(eta) / WING["mass"]


def seen(eta):
    """The places from the centre of mass, in the mean axes."""
    return (wing_places(eta) - wing_centre(eta)) @ turned(eta @ TURN)


def inertia_of_bent(eta):
    """Inertia in the mean axes."""
    at = seen(eta)
    moments = jnp.einsum("p,pi,pj->ij", WEIGHT, at, at)
    return jnp.trace(moments) * jnp.eye(3) - moments


def momentum_of_bent(eta):
    """Angular momentum in the mean axes by the rates of modes, mode by mode."""
    rates = jax.jacfwd(seen)(eta)
    return jnp.einsum("p,pcm->mc", WEIGHT, jnp.cross(seen(eta)[:, :, None], rates, axis=1))


@cache
def slopes():
    """Derivatives by the modes of the straight wing: of its inertia, once and twice, and of the momentum of modes."""
    whole = jax.jacfwd(inertia_of_bent), jax.hessian(inertia_of_bent), jax.jacfwd(momentum_of_bent)
    with jax.ensure_compile_time_eval():
        return jax.tree.map(np.asarray, Program(lambda at: [one(at) for one in whole])(jnp.zeros(MODES)))


def mean_motion(q):
    """What has mass: places and rotations of bus, wing and ball."""
    place, turn, at, hinged = frames(q)
    eta = q[7:-3]
    return (place, turn), (at + hinged @ wing_centre(eta), hinged @ turned(eta @ TURN)), (q[-3:], jnp.eye(3))


def moving_energy(moved, q, v, inertias):
    """Kinetic energy of rigid bodies that are `moved` by coordinates, and the angular velocities in their axes."""
    poses, rates = jax.jvp(moved, (q,), (v,))
    found, spins = 0.0, []
    for (_, turn), (velocity, turning), mass, inertia in zip(poses, rates, MASSES, inertias, strict=True):
        spins.append(spin_of(turn, turning))
        found += 0.5 * mass * velocity @ velocity + 0.5 * spins[-1] @ inertia @ spins[-1]
    return found, spins


MASSES = [body["mass"] for body in BODIES.values()]


def kinetic(q, v):
    """With what bending does to the wing's inertia and momentum to second order in the modes and their rates."""
    eta, rates = q[7:-3], v[7:-3]
    slope, curve, momentum = slopes()
    inertia = WING_INERTIA + slope @ eta + 0.5 * curve @ eta @ eta
    moving, (_, spin, _) = moving_energy(mean_motion, q, v, (np.array(BUS["inertia"]), inertia, np.zeros((3, 3))))
    return moving + spin @ ((momentum @ eta).T @ rates) + 0.5 * rates @ REST @ rates


def lumped(q, v):
    """Of the wing's masses themselves."""

    def moved(q):
        place, turn, at, hinged = frames(q)
        return at + wing_places(q[7:-3]) @ hinged.T, place, turn, q[-3:]

    (_, _, turn, _), (velocities, velocity, turning, ball) = jax.jvp(moved, (q,), (v,))
    spin = spin_of(turn, turning)
    found = 0.5 * jnp.sum(WEIGHT[:, None] * velocities**2) + 0.5 * BALL["mass"] * ball @ ball
    return found + 0.5 * BUS["mass"] * velocity @ velocity + 0.5 * spin @ np.array(BUS["inertia"]) @ spin


def spin_of(turn, turning):
    spin = turn.T @ turning
    return jnp.array([spin[2, 1], spin[0, 2], spin[1, 0]])


def potential(q):
    _, _, at, hinged = frames(q)
    eta, seat = q[7:-3], np.array([0.0, 2.9, 0.0])
    tip = at + hinged @ (bent_axis(eta, np.ones(1))[0] + turned(eta @ TIP_TURN) @ (np.array(TIP) - seat))
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

    @Program
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


@pytest.mark.full
def test_what_is_left_out_of_the_energy_is_of_third_order():
    """Beside the masses themselves, at any motion: half the deflections and their rates, an eighth of the difference."""
    rng = np.random.default_rng(5)
    q, v = (rng.normal(size=7 + MODES + 3) for _ in range(2))
    sizes = 0.02 * 0.5 ** np.arange(4)
    wing = np.zeros(q.size)
    wing[7:-3] = 1.0

    @jit_once
    def difference(q, v):
        return kinetic(q, v) - lumped(q, v)

    found = [abs(float(difference(*(np.where(wing, size * one, one) for one in (q, v))))) for size in sizes]
    slope = np.polyfit(np.log(sizes), np.log(found), 1)[0]
    assert slope == pytest.approx(3, abs=0.1)
    assert found[0] < 1e-5 * lumped(q, v)


@pytest.mark.full
def test_a_history_is_that_of_its_masses():
    """Point masses that move as the shapes say, with a contact: half as fast, a quarter of the difference."""
    times, differences = np.linspace(0.0, 0.8, 9), []
    for scale in (0.5, 0.25):
        ours, theirs = (history(one, times, scale, damping=0.0)[:, 7:11] for one in (kinetic, lumped))
        differences.append(np.abs(ours - theirs).max() / np.abs(theirs).max())
    assert differences[0] < 1e-3
    assert differences[1] < 0.6 * differences[0]


def clamped_wing(side, beam):
    """A wing along ±y that is clamped to the bus."""
    centre = [0.3, side * 4.0, 0.1]
    return {
        "name": f"wing{side}",
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
    beam = WINGED["body"]["wing"]["flexible"] | {"bending_modes": counts, "twist_modes": 0, "damping_ratio": 0.0}
    bus = changed(BUS, velocity=[0.0] * 3, rate=[0.0] * 3)
    case = changed(WINGED, body=by_name([bus, clamped_wing(1, beam), clamped_wing(-1, beam)]), contact={})
    matrix, _ = restoring(load(case).content)
    found = np.sort(np.sqrt(np.linalg.eigvals(-np.asarray(matrix)).real))

    masses, stiffness, momenta = [], [], []
    whole = np.zeros((6, 6))
    for body in case["body"].values():
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


@pytest.mark.full_cases("0.4", "1.9")
@pytest.mark.parametrize("ratio", [0.4, 1.9, 5.0])
def test_a_cantilever_driven_at_its_root(load, ratio):
    """Its tip moves by (cos λ + cosh λ)/(1 + cos λ cosh λ) of the root's motion, λ⁴ = μ ω² L⁴/EI: Euler and Bernoulli."""
    beam = WINGED["body"]["wing"]["flexible"] | {"bending_modes": [8, 0], "twist_modes": 0, "damping_ratio": 0.0}
    heavy = {"name": "bus", "mass": 1e12, "inertia": [1e13] * 3}
    push = {"body": "bus", "position": [0.0] * 3, "direction": [1, 0, 0], "force": 1e12}
    case = changed(WINGED, body=by_name([heavy, clamped_wing(1, beam)]), contact={}, thruster={"shaker": push})
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
    del rigid["body"]["wing"]["flexible"]
    exact, distances = simulated(load, rigid, {"duration": 0.5}), []
    for factor in (2e3, 2e4):  # the wing's first frequency is then 4 and 13 Hz: what begins it has died away
        case = with_flexible(
            stiff, bending_stiffness=[factor * one for one in BENDING], torsional_stiffness=factor * TORSION
        )
        data = simulated(load, case, {"duration": 0.5})
        distances.append(float(np.abs(data.position - exact.position).max()))
    assert distances[0] < 1e-3
    np.testing.assert_allclose(distances[1] / distances[0], 0.1, rtol=0.25)
