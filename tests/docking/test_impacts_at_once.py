"""Balls that meet several others at one instant: symmetry, closed forms, energy and momenta; and the cradle of the preset."""

import numpy as np
import pytest
from plain_tables import contacts_by_name
from scipy.optimize import nnls
from scipy.spatial.transform import Rotation

import dockdyn

LAWS = (("frictionless", False), *(pytest.param(law, True, marks=pytest.mark.full) for law in ("energetic", "poisson")))


def balls(draw, places, pairs, radius, impact, speed):
    """Balls at rest at places but the first, which comes along x; all of it anywhere, turned, and on its way."""
    turn, boost, shift = Rotation.random(rng=draw), 0.3 * draw.normal(size=3), draw.normal(size=3)
    bodies = {
        f"ball{number}": {
            "mass": 1.7,
            "inertia": [0.4 * 1.7 * radius**2] * 3,
            "position": (turn.apply(place) + shift).tolist(),
            "velocity": (turn.apply([speed if number == 0 else 0.0, 0.0, 0.0]) + boost).tolist(),
            "feature": {f"skin{number}": {"position": [0, 0, 0], "radius": radius}},
        }
        for number, place in enumerate(places)
    }
    contacts = [{"between": [f"skin{one}", f"skin{other}"], "impact": impact} for one, other in pairs]
    content = {
        "schema": 2,
        "duration": 1.0,
        "body": bodies,
        "contact": contacts_by_name(contacts),
    }
    return content, lambda velocity: turn.inv().apply(velocity - boost)


def drawn_law(draw, name, rubs, restitution):
    return {"law": name, "restitution": restitution} | ({"friction": draw.uniform(0, 0.6)} if rubs else {})


def rack(radius, speed):
    """A ball that comes along x, two before it that touch, and three behind those; and what may touch."""
    back = np.sqrt(3) * radius
    rows = [(0, y) for y in (radius, -radius)] + [(back, y) for y in (2 * radius, 0, -2 * radius)]
    places = [[-back - 0.3 * speed, 0, 0], *([x, y, 0] for x, y in rows)]
    apart = {(i, j): np.linalg.norm(np.subtract(places[i], places[j])) for i in range(6) for j in range(i + 1, 6)}
    return places, [
        (0, 1),
        (0, 2),
        *(pair for pair, distance in apart.items() if pair[0] and distance < 2.001 * radius),
    ]


@pytest.mark.full
@pytest.mark.parametrize("seed", range(8))
def test_two_balls_that_are_met_at_once_part_alike(seed):
    """Along each line of centres u becomes −e u: an impulse of (1 + e) V cos 30° m/(2 + cos 60°) on each."""
    draw = np.random.default_rng([71, seed])
    radius, speed, restitution = 10 ** draw.uniform(-2, 0), 10 ** draw.uniform(-3, 0), draw.choice([1.0, draw.random()])
    places, pairs = rack(radius, speed)
    law = {"law": "frictionless", "restitution": restitution}
    content, seen = balls(draw, places[:3], [pair for pair in pairs if pair[1] < 3], radius, law, speed)
    run = dockdyn.simulate(dockdyn.load(content))
    velocity = seen(run.velocity.values[-1]) / speed
    push = (1 + restitution) * np.cos(np.pi / 6) / 2.5
    expected = [[1 - np.sqrt(3) * push, 0, 0], *([push * np.sqrt(3) / 2, y * push, 0] for y in (0.5, -0.5))]
    np.testing.assert_allclose(velocity, expected, rtol=0, atol=1e-12 / speed)


@pytest.mark.full
@pytest.mark.parametrize(("law", "rubs"), LAWS)
@pytest.mark.parametrize("seed", range(6))
def test_a_rack_breaks_symmetrically(seed, law, rubs):
    draw = np.random.default_rng([72, seed])
    radius, speed, restitution = 10 ** draw.uniform(-2, 0), 10 ** draw.uniform(-3, 0), draw.choice([1.0, draw.random()])
    impact = drawn_law(draw, law, rubs, restitution) | {"rest_speed": 1e-6 * speed}
    content, seen = balls(draw, *rack(radius, speed), radius, impact, speed)
    run = dockdyn.simulate(dockdyn.load(content))
    velocity = seen(run.velocity.values[-1])
    mirrored = velocity[[0, 2, 1, 5, 4, 3]] * [1, -1, 1]
    np.testing.assert_allclose(velocity, mirrored, rtol=0, atol=1e-12)
    check_balances(run, elastic=restitution == 1 and not rubs)


def check_balances(run, elastic):
    """Momenta are kept, energy never grows, and stays where impacts are elastic."""
    summary = dockdyn.summarise(run)
    assert summary["status"] == "finished"
    assert max(summary["linear_momentum_error"], summary["angular_momentum_error"]) < 1e-12
    energy = run.kinetic_energy.values
    assert np.diff(energy).max() < 1e-12 * energy[0]
    if elastic:
        assert energy[-1] == pytest.approx(energy[0], rel=1e-12)
    assert np.ptp(energy - run.work.values) < 1e-12 * energy[0]


@pytest.mark.full
@pytest.mark.parametrize(("law", "rubs"), LAWS)
@pytest.mark.parametrize("seed", range(6))
def test_balls_in_a_heap_give_no_energy(seed, law, rubs):
    """A ball that spins strikes a heap of five others of any masses, each contact with its own law."""
    draw = np.random.default_rng([73, seed])
    radius, speed = 0.1, 0.5
    places, pairs = rack(radius, speed)
    content, _ = balls(draw, places, pairs, radius, {"law": "frictionless", "restitution": 1.0}, speed)
    restitution = draw.choice([1.0, np.nan])
    for contact in content["contact"].values():
        own = draw.random() if np.isnan(restitution) else restitution
        contact["impact"] = drawn_law(draw, law, rubs, own)
    for body in content["body"].values():
        mass = 10 ** draw.uniform(-1, 1)
        body |= {"mass": mass, "inertia": [0.4 * mass * radius**2] * 3}
    content["body"]["ball0"]["rate"] = draw.normal(size=3).tolist()
    run = dockdyn.simulate(dockdyn.load(content))
    check_balances(run, elastic=restitution == 1 and not rubs)


SWING, BALL, CARRIER, STIFFNESS = 0.02, 1.0, 50.0, 39.478  # m, kg, kg, N/m: as in the preset


@pytest.mark.full
@pytest.mark.parametrize("thrown", [1, 2, 3])
def test_a_cradle_throws_as_many_as_it_is_given(thrown):
    """Equal elastic balls change their motions as they meet, as if they passed through each other: each motion is then linear.

    Those of the differences are cos √(k/m) t, that of the sum cos √(k/m + 5 k/M) t, the carrier M being free.
    """
    keys = {f"body.ball{number + 1}.joint.start": -SWING for number in range(thrown)}
    run = dockdyn.simulate(dockdyn.load("newtons-cradle", keys))
    time = run.time.values
    apart = SWING * np.cos(np.sqrt(STIFFNESS / BALL) * time)
    total = -thrown * SWING * np.cos(np.sqrt(STIFFNESS / BALL + 5 * STIFFNESS / CARRIER) * time)
    resting = (total + thrown * apart) / 5
    motions = [resting - apart] * thrown + [resting] * (5 - thrown)
    np.testing.assert_allclose(run.joint_angle.values, np.sort(motions, axis=0).T, rtol=0, atol=1e-10)
    summary = dockdyn.summarise(run)
    assert max(summary["linear_momentum_error"], summary["angular_momentum_error"]) < 1e-12
    assert summary["work_energy_error"] < 1e-10


def reflected(masses, restitution, velocity):
    """Velocities of a row of masses after all their impacts: again and again the impulses of least energy with u ≥ −e u.

    Of what approaches, after Smith et al. 2012, found by non-negative least squares.
    """
    matrix = np.diff(np.eye(len(masses)), axis=0)
    while (due := matrix @ velocity < -1e-9).any():
        rows, wanted = matrix[due], (1 + restitution[due]) * (matrix @ velocity)[due]
        root = np.linalg.cholesky(rows @ np.diag(1 / masses) @ rows.T)
        velocity = velocity + rows.T @ nnls(root.T, -np.linalg.solve(root, wanted))[0] / masses
    return velocity


@pytest.mark.full
@pytest.mark.parametrize("seed", range(8))
def test_a_row_of_any_balls_is_struck_as_by_reflections(seed):
    draw = np.random.default_rng([74, seed])
    radius, count = 0.1, 5
    places = [[2 * radius * number - (0.2 if number == 0 else 0.0), 0, 0] for number in range(count)]
    pairs = [(number, number + 1) for number in range(count - 1)]
    law = {"law": "frictionless", "rest_speed": 1e-9}
    content, seen = balls(draw, places, pairs, radius, law, 1.0)
    masses, restitution = 10 ** draw.uniform(-0.5, 0.5, count), draw.uniform(0.2, 1, count - 1)
    for body, mass in zip(content["body"].values(), masses, strict=True):
        body["mass"] = mass
    for contact, own in zip(content["contact"].values(), restitution, strict=True):
        contact["impact"] = law | {"restitution": own}
    run = dockdyn.simulate(dockdyn.load(content | {"duration": 0.21}))
    expected = reflected(masses, restitution, np.eye(count)[0])
    np.testing.assert_allclose(seen(run.velocity.values[-1])[:, 0], expected, rtol=0, atol=1e-8)
