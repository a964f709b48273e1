"""Places on links that bend: contacts, mounts and masses move and turn with the beam there."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from beam_cases import ACROSS, ALONG, ANGLE, LENGTH, MASS, POINTS, SHOULDER, WEIGHTS, example, facing, laden, struck

import dockdyn
from dockdyn.integrate.model import State
from dockdyn.kinds.berthing.run import build
from dockdyn.mechanics.lines import row_of
from dockdyn.programs import Program
from dockdyn.report.replay.arms import placing, tree_parts


@pytest.mark.full
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
        # rounding, times the condition of a mass matrix of rates in their own units: 9e4
        np.testing.assert_allclose(one.velocities[0], other.velocities[0], rtol=0, atol=1e-12)
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


@pytest.mark.full
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


@Program
def touching(model, x):
    """Depth, its rate, the rate of that under nothing but inertia and springs, the rate by the rows of an impact, and the place
    that touches."""
    mechanism, contact = model.mechanism, model.contact
    here = mechanism.moving.placed(model.of_mechanism(x).q, model.of_mechanism(x).v)
    meeting = contact.meeting(*(here.bodies[number] for number in (contact.first, contact.second)))
    moving = jnp.stack([row_of(body.twist.velocity, body.twist.rate) for body in here.bodies])
    rates = mechanism.acting(model.of_mechanism(x), here, mechanism.signal(0.0, model.of_mechanism(x)))
    bodies = jnp.stack([row_of(body.velocity, body.rate) for body in rates.bodies])
    line = contact.line(x.mode[0], here.bodies, jnp.zeros(()))
    growing = jnp.sum(line.rows[0] * bodies) + line.drift[0]
    slip = jnp.sum(contact.rows(here.bodies)[0] * moving)
    grip = here.trees[0].motion.position[model.sides[0].grip]
    return meeting.depth, meeting.rate, -growing, slip, grip


@Program
def moved(model, x, dt):
    """The state along the motion, by classical Runge-Kutta's method over a short time."""

    def flow(x):
        rate = model.flow(0.0, x, model.signal(0.0, x))
        return rate.q, rate.v

    def ahead(x, by, share):
        q, v = (
            jax.tree.map(lambda a, b: a + share * dt * b, part, rate) for part, rate in zip((x.q, x.v), by, strict=True)
        )
        return State(q, v, x.mode, x.memory)

    slopes = [flow(x)]
    for share in (0.5, 0.5, 1.0):
        slopes.append(flow(ahead(x, slopes[-1], share)))
    for slope, weight in zip(slopes, (1, 2, 2, 1), strict=True):
        x = ahead(x, slope, weight / 6)
    return model.retract(x)


@pytest.mark.full
def test_a_bracket_on_a_bent_beam_before_a_bent_beam(load):
    """Where it is, by hand; depth, its rate and the rate of that are derivatives; rows give the same rate."""
    content = facing()
    # what the plane is given with lies on it: y = 0.2 − 0.1 x
    content["contact"]["surface"]["point"] = [2.0, 0.0, 0]
    scenario = load(content)
    model = build(scenario.content)
    rng = np.random.default_rng(5)
    x = Program(lambda model: model.unstruck())(model)
    q, v = [], []
    for side, here in zip(model.sides, x.q, strict=True):
        modes = jnp.asarray(rng.normal(size=here.modes.shape) * 0.1)
        q.append(type(here)(here.position, here.attitude, here.joints, here.balls, modes))
        v.append(jnp.asarray(rng.normal(size=side.velocities.shape) * 0.2))
    x = State(tuple(q), tuple(v), (jnp.asarray(0),), x.memory)
    depth, rate, growing, slip, grip = touching(model, x)
    assert float(-slip) == pytest.approx(float(rate), rel=1e-12)
    # derivatives of depth and rate along the motion; h⁴ differences
    h = 1e-4
    around = [[float(found) for found in touching(model, moved(model, x, k * h))[:2]] for k in (-2, -1, 1, 2)]
    slopes = np.array([1, -8, 8, -1]) @ np.array(around) / (12 * h)
    assert slopes[0] == pytest.approx(float(rate), rel=1e-8)
    assert slopes[1] == pytest.approx(float(growing), rel=1e-6)
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


def test_a_replay_draws_what_is_on_a_beam_where_it_is(load):
    """Bracket, body and what is mounted go with the bent beam; the place that touches is not at the end of a straight rod."""
    content = load(laden()).content
    found = struck(load(laden()))
    eta = 0.3 * found.velocities[0][4:] / np.abs(found.velocities[0][4:]).max()
    still = (np.zeros((1, 3)), np.array([[1.0, 0, 0, 0]]), np.array([[ANGLE]]), np.zeros((1, 0, 4)), eta[None])
    grip = ("arm", content.contact.chaser_position)
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
    parts = tree_parts("chaser", content.chaser, placed, "#000000", 5.0, grip)
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
        load(laden(), change)
    assert "\n" not in str(caught.value)


def test_a_place_beyond_the_beam_of_a_target_is_refused(load):
    with pytest.raises(dockdyn.ScenarioError, match=r"contact.target_position = \[7.0, .*boom.*0 to 5 m"):
        load(facing(), {"contact.target_position": [7, -0.5, 0]})


def test_a_beam_reaches_to_its_last_digit(load):
    """A length in feet, and the same in metres."""
    content = laden() | {"contact": {**laden()["contact"], "chaser_position": [16.4 * 0.3048, 0, 0]}}
    assert load(content, {"chaser.link.arm.beam.length": "16.4 ft"}).content.contact.chaser_position[0] > 4.99
