"""Places on links that bend: contacts, mounts and masses move and turn with the beam there."""

from __future__ import annotations

import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import tomlkit
from places import DOCS
from scipy.linalg import eigh
from scipy.optimize import brentq

import dockdyn
from dockdyn.contact.pair import contact_kinematics
from dockdyn.integrate.model import State
from dockdyn.kinds.berthing.model_rebound import drift, point_rows
from dockdyn.kinds.berthing.run import build, strike
from dockdyn.mechanics.rotation import Quaternion
from dockdyn.report.replay.arms import placing, tree_parts

SCENARIOS = (DOCS / "scenario.md").read_text(encoding="utf-8")
LENGTH, MASS, STIFFNESS = 5.0, 15.0, 600.0  # m, kg, N m²
SPEED, PAYLOAD = 0.05, 30.0  # m/s, kg
BEAM = {"length": LENGTH, "mass": MASS, "bending": STIFFNESS}
POINTS, WEIGHTS = np.polynomial.legendre.leggauss(40)
POINTS, WEIGHTS = (POINTS + 1) / 2, WEIGHTS / 2


@pytest.fixture
def load(tmp_path):
    def from_file(content, **changes):
        file = tmp_path / "arm.toml"
        file.write_text(tomlkit.dumps(content), encoding="utf-8")
        return dockdyn.load(file, changes)

    return from_file


def struck(scenario):
    found, _ = strike(build(scenario.content))
    return jax.tree.map(np.asarray, found)


def example():
    """The first berthing of the documentation: it touches at the end of its beam."""
    block = next(b for b in re.findall(r"```toml\n(.*?)```", SCENARIOS, re.S) if 'kind = "berthing"' in b)
    return tomlkit.parse(block).unwrap()


def test_the_end_of_a_beam_is_its_tip(load):
    """The place at the end of the beam, and a frame that is locked to its tip."""
    flange = example()
    flange["chaser"]["link"].append({"name": "flange", "parent": "arm", "joint": "locked", "at": "tip"})
    flange["contact"] |= {"chaser": "flange", "chaser_position": [0, 0, 0]}
    # three trees that are one: at = "tip" there, a place here, a mount at the end there
    mounted = example()
    mounted["chaser"]["link"].append({"name": "flange", "parent": "arm", "joint": "locked", "mount": [5, 0, 0]})
    mounted["contact"] |= {"chaser": "flange", "chaser_position": [0, 0, 0]}
    one, *others = (struck(load(content)) for content in (example(), flange, mounted))
    for other in others:
        np.testing.assert_allclose(one.impact.impulse, other.impact.impulse, rtol=1e-12)
        np.testing.assert_allclose(one.impact.energy_loss, other.impact.energy_loss, rtol=1e-12)
        np.testing.assert_allclose(one.velocities[0], other.velocities[0], rtol=0, atol=1e-14)
    # far from what the root alone would answer (0.0277 N s): more than twice that
    assert one.impact.impulse[0] > 0.055


# --- an impact beside the axis, by hand ------------------------------------------------------------------------------


def shapes(x, order):
    """Static shapes of a cantilever with a force and with a moment at its tip, modes of a beam clamped at both ends."""
    found = [
        [(3 * x**2 - x**3) / 2, (6 * x - 3 * x**2) / 2, 3 - 3 * x][order],
        [x**2, 2 * x, 2 + 0 * x][order],
    ]
    for b in (4.730040744862704, 7.853204624095838):
        sigma = (np.cosh(b) - np.cos(b)) / (np.sinh(b) - np.sin(b))
        c, s, cosine, sine = np.cosh(b * x), np.sinh(b * x), np.cos(b * x), np.sin(b * x)
        raw = c - cosine - sigma * (s - sine), s + sine - sigma * (c - cosine), c + cosine - sigma * (s + sine)
        found.append(b**order * raw[order])
    return np.array(found)


ANGLE, SHOULDER = np.radians(60.0), np.array([0.0, 1.2])
ALONG, ACROSS = np.array([np.cos(ANGLE), np.sin(ANGLE)]), np.array([-np.sin(ANGLE), np.cos(ANGLE)])


def turned(r):
    return np.array([-r[1], r[0]])


def velocity_rows(s, h, ahead=0.0):
    """Velocity (x, y) and turning of what is fixed to the section at s, h beside it and so far ahead of it.

    By the velocities x, y, turning of the base, shoulder, shapes.
    """
    beside = h * ACROSS + ahead * ALONG
    place = SHOULDER + s * ALONG + beside
    slope = shapes(s / LENGTH, 1) / LENGTH
    columns = [[1, 0, 0], [0, 1, 0], [*turned(place), 1], [*turned(place - SHOULDER), 1]]
    columns += [
        [*(value * ACROSS + angle * turned(beside)), angle]
        for value, angle in zip(shapes(s / LENGTH, 0), slope, strict=True)
    ]
    return np.array(columns, float).T


def carried(mass, inertia, *place):
    rows = velocity_rows(*place)
    return rows.T @ np.diag([mass, mass, inertia]) @ rows


def laden():
    """The documentation's arm, touched beside the middle of its beam, which carries a body and what is mounted on it."""
    content = example()
    content["flexible"] = {}
    spacecraft, arm = content["chaser"]["link"]
    arm |= {"mass": 6.0, "centre": [2.0, 0.3, 0], "inertia": [1, 1, 0.7]}
    camera = {"name": "camera", "parent": "arm", "joint": "locked", "mount": [3.5, -0.2, 0]}
    camera |= {"mass": 2.5, "centre": [0.1, 0, 0], "inertia": [0.3, 0.3, 0.4]}
    content["chaser"]["link"] = [spacecraft, arm, camera]
    content["contact"]["chaser_position"] = [2.6, 0.25, 0]
    content["impact"] = {"law": "frictionless", "restitution": 0.4, "normal": [-0.5, -0.87, 0]}
    content["target"]["velocity"] = [-0.05, -0.08, 0]
    return content


def test_an_impact_beside_the_middle_of_a_beam(load):
    """Contact matrix, impulse, loss and velocities from a mass matrix by hand: place, mount and mass go with their sections."""
    scenario = load(laden())
    model = build(scenario.content)
    found = struck(scenario)
    mass = np.zeros((8, 8))
    mass[:3, :3] = np.diag([2000, 2000, 2500])
    for point, weight in zip(POINTS, WEIGHTS, strict=True):
        mass += carried(weight * MASS, 0.0, point * LENGTH, 0.0)
    mass += carried(6.0, 0.7, 2.0, 0.3) + carried(2.5, 0.4, 3.5, -0.2, 0.1)
    rows = velocity_rows(2.6, 0.25)[:2]
    normal = np.array([-0.5, -0.87]) / np.hypot(0.5, 0.87)
    axes = np.array([normal, turned(normal)])
    # the payload is touched 0.8 m from its centre along the normal
    payload = np.diag([1 / 400, 1 / 400 + 0.8**2 / 100])
    matrix = axes @ rows @ np.linalg.solve(mass, rows.T) @ axes.T + payload
    np.testing.assert_allclose(found.matrix, matrix, rtol=1e-9, atol=1e-14)

    before = np.array([0, 0, 0, np.radians(1.0), 0, 0, 0, 0])
    touched = np.array([-0.05, -0.08]) + np.radians(-2.0) * turned(0.8 * normal)
    approach = normal @ (rows @ before - touched)
    impulse = -1.4 * approach / matrix[0, 0]
    assert approach < 0
    assert found.impact.impulse[0] == pytest.approx(impulse, rel=1e-9)
    assert found.impact.energy_loss == pytest.approx(0.5 * (1 - 0.4**2) * approach**2 / matrix[0, 0], rel=1e-9)
    after = before + np.linalg.solve(mass, rows.T @ normal * impulse)
    np.testing.assert_allclose(found.velocities[0][:4], after[:4], rtol=1e-9, atol=1e-15)
    # shapes may be scaled: compared are the velocities that they give
    beam = scenario.content.flexible.beam(scenario.content.chaser.link[1].beam, True)
    ours = np.asarray(beam.shapes(POINTS).shift)[:, 1] @ found.velocities[0][4:]
    np.testing.assert_allclose(ours, shapes(POINTS, 0).T @ after[4:], rtol=0, atol=1e-8 * np.abs(ours).max())
    # momenta, and energy less what the impact took, of both
    m, v = (
        np.asarray(found.mass),
        [np.concatenate([side.velocities for side in model.sides]), np.concatenate(found.velocities)],
    )
    energies = [0.5 * u @ m @ u for u in v]
    assert energies[0] - energies[1] == pytest.approx(float(found.impact.energy_loss), rel=1e-10)
    pushed = mass[:3] @ (after - before)
    grip = SHOULDER + 2.6 * ALONG + 0.25 * ACROSS
    np.testing.assert_allclose(pushed, impulse * np.array([*normal, normal @ turned(grip)]), rtol=1e-9)
    np.testing.assert_allclose((m @ (v[1] - v[0]))[:2] + (m @ (v[1] - v[0]))[8:10], 0, atol=1e-12)


# --- bent and in motion ----------------------------------------------------------------------------------------------


def facing():
    """Two arms: the end of a bracket on one beam is before a plane that is carried along by the other beam."""
    content = laden()
    content["chaser"]["link"] = content["chaser"]["link"][:2]
    content["target"] = {
        "link": [
            {"name": "station", "mass": 900.0, "inertia": [700, 800, 900]},
            {"name": "boom", "parent": "station", "mount": [0, -0.4, 0], "beam": {**BEAM, "mass": 9.0}},
        ]
    }
    plane = {"shape": "plane", "point": [0, 0.2, 0], "normal": [0.1, 1, 0]}
    content["contact"] = {
        "chaser": "arm",
        "chaser_position": [3.0, 0.25, 0],
        "target": "boom",
        "target_position": [2.0, 0.0, 0],
        "surface": plane,
    }
    content["impact"] = {"law": "frictionless", "restitution": 0.4, "again": True}
    del content["control"]
    return content


@jax.jit
def touching(model, x):
    """Depth, its rate, the rate of that at constant velocities, sliding by generalised velocities, the place that touches."""
    _, _, motions = model.dynamics(x.q, x.v)
    meeting = contact_kinematics(model.contact.feature, model.contact.surface, *model.places(x, motions))
    slip = point_rows(model, motions, meeting.point) @ jnp.concatenate(x.v)
    grip = motions[0].position[model.sides[0].grip]
    return meeting.depth, meeting.rate, drift(model, model.contact, x, motions), meeting.normal.array() @ slip, grip


@jax.jit
def moved(model, x, dt):
    """A short time later, velocities as they are."""
    rates = [side.tree.rate(q, v) for side, q, v in zip(model.sides, x.q, x.v, strict=True)]
    q = tuple(jax.tree.map(lambda a, b: a + dt * b, here, rate) for here, rate in zip(x.q, rates, strict=True))
    return model.retract(State(q, x.v, x.mode, x.memory))


def test_a_bracket_on_a_bent_beam_before_a_bent_beam(load):
    """Where it is, by hand; depth, rate and drift are derivatives of each other; rows give the same rate."""
    content = facing()
    # what the plane is given with lies on it: y = 0.2 − 0.1 x
    content["contact"]["surface"]["point"] = [2.0, 0.0, 0]
    scenario = load(content)
    model = build(scenario.content)
    rng = np.random.default_rng(5)
    x = model.unstruck()
    q, v = [], []
    for side, here in zip(model.sides, x.q, strict=True):
        modes = jnp.asarray(rng.normal(size=here.modes.shape) * 0.1)
        q.append(type(here)(here.position, here.attitude, here.joints, here.balls, modes))
        v.append(jnp.asarray(rng.normal(size=side.velocities.shape) * 0.2))
    x = State(tuple(q), tuple(v), (jnp.asarray(0),), x.memory)
    depth, rate, drifting, slip, grip = touching(model, x)
    assert float(-slip) == pytest.approx(float(rate), rel=1e-12)
    # derivatives of depth and rate along the motion; h⁴ differences
    h = 1e-4
    around = [[float(found) for found in touching(model, moved(model, x, k * h))[:2]] for k in (-2, -1, 1, 2)]
    slopes = np.array([1, -8, 8, -1]) @ np.array(around) / (12 * h)
    assert slopes[0] == pytest.approx(float(rate), rel=1e-8)
    # quaternions of what turns steadily are moved along their tangent: their second derivative is another
    ahead, behind = (float(touching(model, turning(model, x, k * h))[1]) for k in (1, -1))
    assert (ahead - behind) / (2 * h) == pytest.approx(float(drifting), rel=1e-6)
    # the bracket's end: the beam's axis falls short by half the integral of its slope squared
    beam = scenario.content.flexible.beam(scenario.content.chaser.link[1].beam, True)
    eta, share = np.asarray(q[0].modes), 3.0 / LENGTH
    bends = np.asarray(beam.shapes(share * POINTS).turn)[:, 2] @ eta
    across = np.asarray(beam.shapes(np.asarray(share)).shift)[1] @ eta
    slope = np.asarray(beam.shapes(np.asarray(share)).turn)[2] @ eta
    along = 3.0 - 0.5 * 3.0 * WEIGHTS @ bends**2
    local = np.array([along - 0.25 * np.sin(slope), across + 0.25 * np.cos(slope)])
    expected = SHOULDER + local[0] * ALONG + local[1] * ACROSS
    np.testing.assert_allclose(grip[:2], expected, rtol=0, atol=1e-12)
    assert abs(across) > 0.01 and abs(slope) > 0.01 and abs(float(depth)) > 1e-3


def turning(model, x, dt):
    """The same with bases that turn steadily about z, as their constant velocities say, and move along the chord."""
    q = []
    for side, here, v in zip(model.sides, x.q, x.v, strict=True):
        rate = side.tree.rate(here, v)
        half = 0.5 * v[2] * dt
        spin = jnp.stack([jnp.cos(half), 0 * half, 0 * half, jnp.sin(half)])
        attitude = (Quaternion.of(here.attitude) * Quaternion.of(spin)).array()
        # the base's velocity is given in its own axes, which turn
        bent = jnp.cross(jnp.array([0.0, 0.0, 1.0]) * v[2], rate.position)
        place = here.position + dt * rate.position + 0.5 * dt**2 * bent
        q.append(type(here)(place, attitude, here.joints + dt * rate.joints, here.balls, here.modes + dt * rate.modes))
    return State(tuple(q), x.v, x.mode, x.memory)


# --- Euler and Bernoulli's cantilever --------------------------------------------------------------------------------


def cantilever():
    """A beam locked to what cannot move, a payload of 30 kg at its end, a ball that comes in at 5 cm/s."""
    return {
        "schema": 1,
        "kind": "berthing",
        "duration": 10.0,
        "motion": "planar",
        "chaser": {
            "link": [
                {"name": "wall", "mass": 1e10, "inertia": [1e10, 1e10, 1e10]},
                {"name": "arm", "parent": "wall", "joint": "locked", "beam": BEAM, "mass": PAYLOAD}
                | {"centre": [LENGTH, 0, 0], "inertia": [0, 0, 0]},
            ]
        },
        "target": {
            "velocity": [0, -SPEED, 0],
            "link": [{"name": "ball", "mass": PAYLOAD, "inertia": [1, 1, 1]}],
        },
        "contact": {"chaser": "arm", "chaser_position": [LENGTH, 0, 0], "target": "ball", "target_radius": 0.3},
        "impact": {"law": "frictionless", "restitution": 1.0, "normal": [0, -1, 0]},
    }


def modes_with_a_tip_mass(ratio, count=30):
    """Roots β of the characteristic equation, the modes' values at the tip and modal masses (kg)."""

    def characteristic(b):
        return 1 / np.cosh(b) + np.cos(b) + ratio * b * (np.cos(b) * np.tanh(b) - np.sin(b))

    grid = np.linspace(0.05, (count + 1) * np.pi, 60 * count)
    values = characteristic(grid)
    at = np.flatnonzero(np.sign(values[1:]) != np.sign(values[:-1]))[:count]
    roots = np.array([brentq(characteristic, grid[k], grid[k + 1], xtol=1e-14) for k in at])
    points, weights = np.polynomial.legendre.leggauss(400)
    points, weights = (points + 1) / 2, weights / 2

    def shape(b, x):
        sigma = (np.cosh(b) + np.cos(b)) / (np.sinh(b) + np.sin(b))
        # cosh − σ sinh without cancellation
        rest = (np.sin(b) - np.cos(b) - np.exp(-b)) / (np.sinh(b) + np.sin(b))
        return rest / 2 * np.exp(b * x) + (2 - rest) / 2 * np.exp(-b * x) - np.cos(b * x) + sigma * np.sin(b * x)

    tips = np.array([shape(b, 1.0) for b in roots])
    masses = np.array([MASS * weights @ shape(b, points) ** 2 for b in roots]) + ratio * MASS * tips**2
    return roots, tips, masses


def tip_response(times, impulse):
    """Deflection (m) of the tip after an impulse there."""
    roots, tips, masses = modes_with_a_tip_mass(PAYLOAD / MASS)
    frequencies = roots**2 * np.sqrt(STIFFNESS / (MASS * LENGTH**3))
    return np.sin(np.outer(times, frequencies)) @ (impulse * tips**2 / (masses * frequencies))


def test_a_cantilever_with_a_payload_is_struck(load):
    """Frequencies, static deflections and the response to the impulse are Euler and Bernoulli's."""
    scenario = load(cantilever())
    found = struck(scenario)
    beam = scenario.content.flexible.beam(scenario.content.chaser.link[1].beam, True)
    own = slice(3, 3 + beam.count)
    stiffness, mass = np.asarray(beam.stiffness()), found.mass[own, own]
    squares, vectors = eigh(stiffness, mass)
    roots, _, _ = modes_with_a_tip_mass(PAYLOAD / MASS, 2)
    exact = roots**2 * np.sqrt(STIFFNESS / (MASS * LENGTH**3))
    np.testing.assert_allclose(np.sqrt(squares[:2]), exact, rtol=1e-3)
    row = found.rows[0, own]  # of the normal velocity
    deflection = row @ np.linalg.solve(stiffness, row)
    assert deflection == pytest.approx(LENGTH**3 / (3 * STIFFNESS), rel=1e-12)
    # a tip without the mass of a beam: nearly that of the payload alone, as the ball's, which bounces like a billiard ball
    assert found.impact.impulse[0] == pytest.approx(2 * SPEED * PAYLOAD / 2, rel=0.01)
    times = np.linspace(0, 10, 201)
    swing = (
        np.sin(np.outer(times, np.sqrt(squares)))
        / np.sqrt(squares)
        @ ((row @ vectors) * (vectors.T @ mass @ found.velocities[0][own]))
    )
    exact = tip_response(times, found.impact.impulse[0])
    np.testing.assert_allclose(swing, exact, rtol=0, atol=2e-3 * np.abs(exact).max())
    # half-way: stiffer than exact, as Ritz's method is, by little
    half = struck(load(cantilever(), **{"contact.chaser_position": [LENGTH / 2, 0, 0]})).rows[0, own]
    exact = (LENGTH / 2) ** 3 / (3 * STIFFNESS)
    assert 0.98 * exact < half @ np.linalg.solve(stiffness, half) < exact


@pytest.mark.full
def test_the_motion_of_the_cantilever_that_was_struck(load):
    """The simulated tip follows the sum of Euler and Bernoulli's modes."""
    dataset = dockdyn.simulate(load(cantilever()))
    tip = dataset.outline.values[:, 0, -1, 1] - dataset.base_position.values[:, 0, 1]
    exact = tip_response(dataset.time.values, float(dataset.impulse[0]))
    np.testing.assert_allclose(tip, -exact, rtol=0, atol=2e-3 * np.abs(exact).max())
    assert np.abs(exact).max() > 0.05
    told = dockdyn.summarise(dataset)
    assert told["linear_momentum_error"] < 1e-10 and told["energy_error"] < 1e-8


def test_a_replay_draws_what_is_on_a_beam_where_it_is(load):
    """Bracket, body and what is mounted go with the bent beam; the place that touches is not at the end of a straight rod."""
    content = load(laden()).content
    found = struck(load(laden()))
    eta = 0.3 * found.velocities[0][4:] / np.abs(found.velocities[0][4:]).max()
    still = (np.zeros((1, 3)), np.array([[1.0, 0, 0, 0]]), np.array([[ANGLE]]), np.zeros((1, 0, 4)), eta[None])
    grip = content.chaser.grip("arm", content.contact.chaser_position)
    placed = placing(content.chaser, content.flexible, content.planar, still, grip)
    beam = content.flexible.beam(content.chaser.link[1].beam, True)
    # of its shapes alone, to first order
    for name, s, h in (("grip", 2.6, 0.25), ("arm.rigid", 2.0, 0.3), ("camera", 3.5, -0.2)):
        shapes_there = beam.shapes(np.asarray(s / LENGTH))
        slope = np.asarray(shapes_there.turn)[2] @ eta
        across = np.asarray(shapes_there.shift)[1] @ eta
        expected = SHOULDER + s * ALONG + across * ACROSS + h * (np.cos(slope) * ACROSS - np.sin(slope) * ALONG)
        off = placed.motions[name].position[0, :2] - expected
        assert abs(off @ ACROSS) < 1e-12 and 0 <= -off @ ALONG < 0.1  # falls short by the shortening
        assert abs(across) > 0.01
    parts = tree_parts("chaser", content.chaser, placed, "#000000", 5.0, ("arm", content.contact.chaser_position))
    motions = {part.name: part.motion for part in parts}
    assert motions["chaser/arm grip"] is placed.motions["grip"]
    assert motions["chaser/arm body"] is placed.motions["arm.rigid"]
    assert "chaser/arm camera seat" in motions and "chaser/arm piece 6" in motions


# --- refusals --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (
            {"contact.chaser_position": [5.01, 0, 0]},
            r"contact.chaser_position = \[5.01, 0.0, 0.0\].*arm.*0 to 5 m.*tip",
        ),
        ({"contact.chaser_position": ["-1 cm", 0, 0]}, r"contact.chaser_position = \[-0.01.*0 to 5 m"),
        ({"chaser.link.camera.mount": [6, 0, 0]}, r"link camera: mount = \[6.0, .*arm.*0 to 5 m"),
        ({"chaser.link.arm.centre": [-0.2, 0, 0]}, r"link arm: centre = \[-0.2, .*0 to 5 m"),
        ({"chaser.link.camera.name": "arm.rigid"}, r"link arm.rigid: names that end in '.rigid'"),
    ],
)
def test_places_beyond_a_beam_are_refused_in_one_line(load, change, words):
    with pytest.raises(dockdyn.ScenarioError, match=words) as caught:
        load(laden(), **change)
    assert "\n" not in str(caught.value)


def test_a_place_beyond_the_beam_of_a_target_is_refused(load):
    with pytest.raises(dockdyn.ScenarioError, match=r"contact.target_position = \[7.0, .*boom.*0 to 5 m"):
        load(facing(), **{"contact.target_position": [7, -0.5, 0]})


def test_a_beam_reaches_to_its_last_digit(load):
    """A length in feet, and the same in metres."""
    content = laden() | {"contact": {**laden()["contact"], "chaser_position": [16.4 * 0.3048, 0, 0]}}
    assert load(content, **{"chaser.link.arm.beam.length": "16.4 ft"}).content.contact.chaser_position[0] > 4.99
