"""Beams that are struck: at the tip as Euler and Bernoulli's cantilever swings, beside the axis as a mass matrix by hand says.

Shapes are the textbook's, written here; of dockdyn are the scenario and its run alone.
"""

import numpy as np
import pytest
from plain_tables import by_name, contacts_by_name
from scipy.optimize import brentq

import dockdyn
from dockdyn.docking.trees import Frames, trees_of

POINTS, WEIGHTS = np.polynomial.legendre.leggauss(60)
POINTS, WEIGHTS = (POINTS + 1) / 2, WEIGHTS / 2
GAP = 1e-3  # m, before the first touch


def beam(length, mass, bending, basis, modes):
    """The table of a beam that bends in the plane."""
    found = {"kind": "beam", "basis": basis, "length": length, "mass_per_length": mass / length, "stiffening": False}
    return found | {"bending_stiffness": [bending, bending], "bending_modes": [modes, 0]}


def rod(name, length, mass, flexible, **more):
    """A link that is a beam alone; it lies along x from its joint on."""
    inertia = [1e-6, mass * length**2 / 12, mass * length**2 / 12]
    return {"name": name, "mass": mass, "inertia": inertia, "flexible": flexible} | more


def plane(bodies, contacts, duration, interval, **more):
    tables = {"schema": 2, "motion": "plane", "duration": duration, "body": by_name(bodies)}
    tables |= {
        "contact": contacts_by_name(contacts),
        "output": {"interval": interval},
        "integrator": {"tolerance": 1e-9},
    }
    return tables | more


def ball(mass, place, velocity, radius=0.3):
    one = {"name": "ball", "mass": mass, "inertia": [1.0, 1.0, 0.4 * mass * radius**2], "position": [*place, 0.0]}
    return one | {"velocity": [*velocity, 0.0], "feature": {"skin": {"position": [0, 0, 0], "radius": radius}}}


# --- at the tip --------------------------------------------------------------------------------------------------------


def modes_with_a_tip_mass(ratio, count=40):
    """Roots β of the characteristic equation, the modes' values at the tip and modal masses over the beam's."""

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
        rest = (np.sin(b) - np.cos(b) - np.exp(-b)) / (np.sinh(b) + np.sin(b))  # 1 − σ, without cancellation
        return rest / 2 * np.exp(b * x) + (2 - rest) / 2 * np.exp(-b * x) - np.cos(b * x) + sigma * np.sin(b * x)

    tips = np.array([shape(b, 1.0) for b in roots])
    masses = np.array([weights @ shape(b, points) ** 2 for b in roots]) + ratio * tips**2
    return roots, tips, masses


@pytest.mark.full
@pytest.mark.parametrize("seed", range(8))
def test_a_cantilever_with_a_payload_swings_as_its_modes_do(seed):
    """A ball lighter than the payload strikes it and flies off; the tip follows the sum of Euler and Bernoulli's modes."""
    draw = np.random.default_rng([92, seed])
    length, mass, first = draw.uniform(2, 6), 10 ** draw.uniform(0.5, 1.5), draw.uniform(2, 6)  # m, kg, rad/s
    payload = mass * draw.uniform(1.5, 4)
    bending = first**2 * length**3 * (payload + 0.23 * mass) / 3
    striker, speed = payload * draw.uniform(0.3, 0.7), 0.01 * length * first * draw.uniform(0.5, 1)
    basis = ("craig-bampton", "polynomial")[seed % 2]
    flexible = beam(length, mass, bending, basis, 3 + 3 * (basis == "polynomial"))
    wall = {"name": "wall", "mass": 1e10, "inertia": [1e10, 1e10, 1e10]}
    arm = rod("arm", length, mass, flexible, on="wall", position=[length / 2, 0, 0])
    arm["joint"] = {"kind": "locked", "position": [0, 0, 0]}
    load = {"name": "load", "on": "arm", "mass": payload, "inertia": [0, 0, 0], "position": [length / 2, 0, 0]}
    load |= {"joint": {"kind": "locked", "position": [length / 2, 0, 0]}}
    load["feature"] = {"end": {"position": [0, 0, 0]}}
    contact = {"between": ["skin", "end"], "impact": {"law": "frictionless", "restitution": 1.0}}
    duration = GAP / speed + 2.2 / first
    bodies = [wall, arm, load, ball(striker, [length, 0.3 + GAP], [0, -speed])]
    run = dockdyn.simulate(dockdyn.load(plane(bodies, [contact], duration, duration / 150)))
    assert run.sizes["episode"] == 1
    # the tip has no mass of the beam's: it bounces like a billiard ball
    impulse = 2 * speed * payload * striker / (payload + striker)
    assert float(run.episode_impulse[0]) == pytest.approx(impulse, rel=0.02)
    roots, tips, masses = modes_with_a_tip_mass(payload / mass)
    frequencies = roots**2 * np.sqrt(bending / (mass * length**3))
    since = np.maximum(run.time.values - GAP / speed, 0.0)
    swing = np.sin(np.outer(since, frequencies)) @ (impulse * tips**2 / (mass * masses * frequencies))
    found = run.position.sel(body="load").values[:, 1]
    np.testing.assert_allclose(found, -swing, rtol=0, atol=5e-3 * np.abs(swing).max())
    assert np.ptp(since[np.argmax(swing) :]) > 0  # it has turned
    summary = dockdyn.summarise(run)
    assert summary["linear_momentum_error"] < 1e-10 and summary["work_energy_error"] < 1e-7


# --- beside the axis ---------------------------------------------------------------------------------------------------


def legendre(x, order):
    """x² P_k(2x − 1) of degrees 0, 1, 2."""
    found = []
    for degree in range(3):
        own = np.polynomial.Polynomial([0, 0, 1]) * np.polynomial.Legendre.basis(degree, [0, 1]).convert(
            kind=np.polynomial.Polynomial
        )
        found.append(own.deriv(order)(x) if order else own(x))
    return np.array(found)


def static_and_clamped(x, order):
    """Shapes of a cantilever with a force and with a moment at its tip, and a mode of a beam clamped at both ends."""
    found = [[(3 * x**2 - x**3) / 2, (6 * x - 3 * x**2) / 2][order], [x**2, 2 * x][order]]
    b = brentq(lambda b: np.cosh(b) * np.cos(b) - 1, 4.0, 5.0)
    sigma = (np.cosh(b) - np.cos(b)) / (np.sinh(b) - np.sin(b))
    c, s, cosine, sine = np.cosh(b * x), np.sinh(b * x), np.cos(b * x), np.sin(b * x)
    raw = c - cosine - sigma * (s - sine), s + sine - sigma * (c - cosine)
    return np.array([*found, b**order * raw[order] / 2])


def clamped_free(x, order):
    """The first three modes of a cantilever, whose tip moves by one."""
    found = []
    for near in (1.9, 4.7, 7.85):
        b = brentq(lambda b: np.cosh(b) * np.cos(b) + 1, near - 0.2, near + 0.2)
        sigma = (np.cosh(b) + np.cos(b)) / (np.sinh(b) + np.sin(b))
        c, s, cosine, sine = np.cosh(b * x), np.sinh(b * x), np.cos(b * x), np.sin(b * x)
        raw = c - cosine - sigma * (s - sine), s + sine - sigma * (c - cosine)
        found.append(b**order * raw[order] / 2 * (-1) ** len(found))
    return np.array(found)


BASES = {"craig-bampton": (static_and_clamped, 1), "polynomial": (legendre, 3), "cantilever": (clamped_free, 3)}


def turned(place):
    return np.array([-place[1], place[0]])


class Arm:
    """A beam on a free base, at an angle, with a body fixed beside its axis; drawn at random."""

    def __init__(self, draw, basis):
        self.shapes, self.modes = BASES[basis]
        self.length, self.mass, self.bending = draw.uniform(3, 6), draw.uniform(8, 20), draw.uniform(300, 900)
        self.base, self.base_inertia = draw.uniform(50, 400), draw.uniform(50, 400)
        self.angle, self.shoulder = draw.uniform(-np.pi, np.pi), draw.uniform(-1, 1, 2)
        self.camera = (
            draw.uniform(1, 5),
            draw.uniform(0.1, 0.5),
            self.length * draw.uniform(0.3, 1),
            draw.uniform(-0.4, 0.4),
        )
        self.place = self.length * draw.uniform(0.3, 1.0), draw.uniform(0.1, 0.3)  # m, touched: along, and beside
        self.along = np.array([np.cos(self.angle), np.sin(self.angle)])
        self.across = turned(self.along)

    def rows(self, along, beside):
        """Velocity (x, y) and turning of a place fixed to a section, by those of base, joint and shapes."""
        offset = beside * self.across
        place = self.shoulder + along * self.along + offset
        values, slopes = self.shapes(along / self.length, 0), self.shapes(along / self.length, 1) / self.length
        columns = [[1, 0, 0], [0, 1, 0], [*turned(place), 1], [*turned(place - self.shoulder), 1]]
        columns += [[*(v * self.across + s * turned(offset)), s] for v, s in zip(values, slopes, strict=True)]
        return np.array(columns, float).T

    def matrix(self):
        """The mass matrix of all of it, straight."""
        found = np.zeros((4 + 3, 4 + 3))
        found[:3, :3] = np.diag([self.base, self.base, self.base_inertia])
        mass, inertia, *at = self.camera
        parts = [
            (weight * self.mass, 0.0, point * self.length, 0.0) for point, weight in zip(POINTS, WEIGHTS, strict=True)
        ]
        for own, turning, *place in (*parts, (mass, inertia, *at)):
            rows = self.rows(*place)
            found += rows.T @ np.diag([own, own, turning]) @ rows
        return found

    def bodies(self, basis):
        flexible, half = beam(self.length, self.mass, self.bending, basis, self.modes), self.length / 2
        base = {"name": "base", "mass": self.base, "inertia": [self.base_inertia] * 3}
        joint = {"kind": "revolute", "axis": [0, 0, 1], "position": [*self.shoulder, 0.0], "start": self.angle}
        place = [self.shoulder[0] + half, self.shoulder[1], 0.0]
        arm = rod("arm", self.length, self.mass, flexible, on="base", position=place, joint=joint)
        arm["feature"] = {"knob": {"position": [self.place[0] - half, self.place[1], 0.0]}}
        mass, inertia, along, beside = self.camera
        seat = [along - half, beside, 0.0]
        camera = {"name": "camera", "on": "arm", "mass": mass, "inertia": [inertia] * 3, "position": seat}
        return [base, arm, camera | {"joint": {"kind": "locked", "position": [along - half, 0.0, 0.0]}}]


CASES = [(basis, seed) for basis in BASES for seed in range(4)]


@pytest.mark.full
@pytest.mark.parametrize(("basis", "seed"), CASES)
def test_an_impact_beside_the_axis_is_that_of_a_mass_matrix_by_hand(basis, seed):
    """Impulse, loss and velocities after: contact, mass and camera go with their sections, and turn with their slopes."""
    draw = np.random.default_rng([93, seed])
    arm, restitution, speed = Arm(draw, basis), draw.uniform(0.1, 0.9), draw.uniform(0.05, 0.2)
    mass, way = draw.uniform(5, 50), draw.uniform(0.5, np.pi - 0.5) + arm.angle  # the ball comes from beside the beam
    normal = np.array([np.cos(way), np.sin(way)])  # from the knob to the ball
    knob = arm.shoulder + arm.place[0] * arm.along + arm.place[1] * arm.across
    striker = ball(mass, knob + (0.3 + GAP) * normal, -speed * normal)
    contact = {"between": ["skin", "knob"]}
    contact["impact"] = {"law": "frictionless", "restitution": float(restitution)}
    duration = GAP / speed + 1e-7
    run = dockdyn.simulate(dockdyn.load(plane([*arm.bodies(basis), striker], [contact], duration, duration)))
    own, rows = arm.matrix(), arm.rows(*arm.place)[:2]
    answer = np.linalg.solve(own, rows.T @ normal)
    effective = 1 / (normal @ rows @ answer + 1 / mass)
    impulse = (1 + restitution) * effective * speed
    assert run.sizes["episode"] == 1
    assert float(run.episode_impulse[0]) == pytest.approx(impulse, rel=1e-7)
    loss = 0.5 * (1 - restitution**2) * effective * speed**2
    assert float(run.episode_energy_gain[0]) == pytest.approx(-loss, rel=1e-6)
    after = -impulse * answer  # the ball pushes against the normal
    scale = np.abs(after[:2]).max()
    np.testing.assert_allclose(run.velocity.sel(body="base").values[-1, :2], after[:2], rtol=0, atol=1e-4 * scale)
    assert float(run.rate.sel(body="base")[-1, 2]) == pytest.approx(after[2], rel=1e-4)
    # shapes may be scaled: compared are the velocities that they give
    camera = run.velocity.sel(body="camera").values[-1, :2], run.rate.sel(body="camera").values[-1, 2]
    np.testing.assert_allclose(
        np.array([*camera[0], camera[1]]), arm.rows(*arm.camera[2:]) @ after, rtol=0, atol=1e-3 * scale
    )


@pytest.mark.parametrize(
    ("basis", "seed"), [pytest.param(*case, marks=[pytest.mark.full] * (case != ("polynomial", 1))) for case in CASES]
)
def test_what_sits_on_a_bent_beam_is_where_its_shapes_say(basis, seed):
    """While it swings far: a camera beside the axis, by modal coordinates and shapes; shortening is half the slope squared."""
    draw = np.random.default_rng([94, seed])
    arm = Arm(draw, basis)
    bodies = arm.bodies(basis)
    bodies[1]["flexible"] |= {"stiffening": True}
    jet = {"body": "camera", "position": [0, 0, 0], "direction": [0, 1, 0]}
    jet["force"] = float(0.5 * 3 * arm.bending / arm.length**2)
    tables = plane(bodies, [], 2.0, 0.1, thruster={"jet": jet})
    run = dockdyn.simulate(dockdyn.load(tables))
    _, _, along, beside = arm.camera
    for row in range(0, run.sizes["time"], 4):
        eta = run.modal_coordinate.values[row]
        base = 2 * np.arctan2(
            run.attitude.sel(body="base").values[row, 3], run.attitude.sel(body="base").values[row, 0]
        )
        angle = base + run.joint_angle.values[row, 0]
        share = along / arm.length
        across = eta @ arm.shapes(share, 0)
        slope = eta @ arm.shapes(share, 1) / arm.length
        slopes = eta @ np.array([arm.shapes(share * point, 1) for point in POINTS]).T / arm.length
        short = 0.5 * along * WEIGHTS @ slopes**2
        local = np.array([along - short - beside * np.sin(slope), across + beside * np.cos(slope)])
        turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
        own = np.array([[np.cos(base), -np.sin(base)], [np.sin(base), np.cos(base)]])
        place = run.position.sel(body="base").values[row, :2] + own @ arm.shoulder + turn @ local
        np.testing.assert_allclose(run.position.sel(body="camera").values[row, :2], place, rtol=0, atol=1e-9)
    assert np.abs(run.modal_coordinate.values).max() > 0.015 * arm.length


@pytest.mark.full
def test_a_tree_of_beams_is_made_of_numbers_outside_of_programs():
    """There a place on a beam is NumPy's. The second link and the hand begin at the ends of the beams before them."""
    few = {f"body.{name}.flexible.bending_modes": [1, 0] for name in ("link1", "link2")}
    content = dockdyn.load("cyril-elastic", few).content
    first, *_ = trees_of(Frames.of(content.body, plane=content.linked_in_plane))
    assert first.tree.layout.names[2:] == ("link2", "hand")
    lengths = [content.named(name).flexible.length for name in ("link1", "link2")]
    np.testing.assert_allclose(first.tree.links.attach_place[2:], lengths, rtol=1e-12)
    np.testing.assert_array_equal(first.tree.links.mount[2:], np.zeros((2, 3)))
