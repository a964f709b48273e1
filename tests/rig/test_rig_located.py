"""A rig with continuous dynamics locates onsets and releases: against SciPy's DOP853, and the order with the step.

What agreement to expect: a step's error is held at 1e-11 of the motion, and a contact takes a few hundred steps, so 1e-9
of the speed of approach; the reference is integrated with 1e-13. 1e-8 is asked for.
"""

import itertools
from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from dop853_reference import Body, Touching, ball, unit
from rig_bodies_reference import BodiesRun
from rig_bodies_reference import Numbers as BodiesNumbers
from rig_continuous_reference import Numbers, Run, Wall, random_rig, scenario

from dockdyn.rig.batched_rigs import Lanes
from dockdyn.rig.build import rig_of
from dockdyn.rig.compensator import CompensatorMaker
from dockdyn.rig.model import stretch as rig_stretch
from dockdyn.rig.model.rig import IdealContact
from dockdyn.rig.model.run import NoiseDraws, run_cycles
from dockdyn.rig.resting import loop_of
from dockdyn.rig.run import Grid, run_with_seed
from dockdyn.rig.simulate import simulate_rig
from dockdyn.scenario.load import parse

CLOSE = 1e-8  # of the approach
HOLDS = 120
BOUNCE = Numbers(
    300.0, Wall(3e4, 200.0), -3e-4, 0.05, 5e-3, delay=3.7e-3, poles=(-250 + 150j, -250 - 150j), zeros=(-600.0,)
)


def still_oracle(rig):
    """An oracle that knows of no motion: for runs whose compensator asks none."""
    nothing = jnp.zeros((1, rig.plant.port_axes))
    return IdealContact(nothing, nothing)


def built(text):
    """The rig of a scenario, and its grid."""
    found = parse(text, "test")
    loop = loop_of(found)
    section = found.content.loop.compensator
    rig = rig_of(found, loop, CompensatorMaker(found, loop).make(section))
    return rig, Grid.of(rig, found.content.duration)


def observed(text):
    """What is observed of a rig at its holds."""
    rig, grid = built(text)
    _, seen = run_with_seed(rig, still_oracle(rig), jnp.asarray(0), grid.rows, grid.stride)
    every = round(float(rig.hold) / grid.period)
    return {name: np.asarray(values)[::every] for name, values in seen.items()}


def disagreement(rig, holds=HOLDS):
    """Largest differences of velocity and position at the holds, of the approach and of the way; the reference."""
    known = Run(rig, holds * rig.hold)
    seen = observed(scenario(rig, holds * rig.hold))
    rows = len(known.time)
    x, v = known.states.T
    errors = np.abs(seen["velocity"][:rows, 0] - v), np.abs(seen["position"][:rows, 0] - x)
    return max(errors[0].max() / rig.velocity, errors[1].max() / np.abs(x).max()), known


def port_work(known):
    """Work of the contact at the robot up to each hold, by Gauss between the robot's own onsets and releases."""
    rig, way = known.rig, known.robot
    nodes, weights = np.polynomial.legendre.leggauss(12)
    total = [0.0]
    for k, begun in enumerate(known.time[:-1]):
        marks = [begun, *known.breaks(begun, begun + rig.hold, k), begun + rig.hold]
        work = 0.0
        for a, b in itertools.pairwise(marks):
            for node, weight in zip(nodes, weights, strict=True):
                place, speed = way.at((a + b) / 2 + node * (b - a) / 2, k)
                work -= weight * (b - a) / 2 * known.load(place, speed, known.acts(place, speed)) * speed[0]
        total.append(total[-1] + work)
    return np.array(total)


def losses(known):
    """What the contact at the robot takes up to each hold, from its own power: b v² where it presses, and where its force has
    ended the power by which the spring gives way; of a wall with a linear spring."""
    rig, way = known.rig, known.robot
    nodes, weights = np.polynomial.legendre.leggauss(12)
    total = [0.0]
    for k, begun in enumerate(known.time[:-1]):
        marks, lost = [begun, *known.breaks(begun, begun + rig.hold, k), begun + rig.hold], 0.0
        for a, b in itertools.pairwise(marks):
            for node, weight in zip(nodes, weights, strict=True):
                place, speed = way.at((a + b) / 2 + node * (b - a) / 2, k)
                power = rig.wall.damping * speed[0] ** 2
                if not known.acts(place, speed):
                    power = -rig.wall.stiffness * place[0] * speed[0] if place[0] > 0 else 0.0
                lost += weight * (b - a) / 2 * power
        total.append(total[-1] + lost)
    return np.array(total)


MANY = [pytest.param(seed, marks=pytest.mark.full) for seed in (1, 2, 4, 5, 6, 7, 8, 9, 10, 11, 13, 14, 15, 19, 24)]


@pytest.mark.full
@pytest.mark.parametrize("seed", [3, *MANY])
def test_a_random_rig_moves_as_by_another_integrator(seed):
    """Robot, delay, hold, a contact in software, a held measurement: velocities and positions at all commands."""
    error, known = disagreement(random_rig(seed))
    assert error < CLOSE
    assert known.changes > 0 or seed not in (3, 9)


@pytest.mark.full
def test_restitution_and_energies_of_a_bounce():
    """Also behind dynamics of half a period, and the work of the contact at the robot, located at its own onsets."""
    for rig in (BOUNCE, replace(BOUNCE, half=1.25e-3), replace(BOUNCE, delay=0.0)):
        error, known = disagreement(rig)
        seen = observed(scenario(rig, HOLDS * rig.hold))
        work = port_work(known)
        rows, energy = len(known.time), rig.mass * rig.velocity**2 / 2
        assert error < CLOSE
        assert known.states[-1, 1] < 0 and np.abs(seen["contact_force"][rows - 20 : rows]).max() == 0
        assert np.abs(seen["port_work"][:rows].ravel() - work).max() < CLOSE * energy


@pytest.mark.full
@pytest.mark.parametrize("rig", [BOUNCE, pytest.param(replace(BOUNCE, delay=0.0), marks=pytest.mark.full)])
def test_energies_of_a_rigs_own_run(rig):
    """Kinetic energy, what the contact at the robot stores and what it has taken, less what the loop has given, stay."""
    known = Run(rig, HOLDS * rig.hold)
    seen = simulate_rig(parse(scenario(rig, HOLDS * rig.hold), "test"))
    rows = np.searchsorted(seen.time.values, known.time[:-1] - 1e-9)
    energy = rig.mass * rig.velocity**2 / 2
    stored = rig.wall.stiffness / 2 * np.maximum(seen.robot_position.values[rows, 0], 0) ** 2
    assert np.abs(seen.port_energy.values[rows] - stored).max() < 1e-9 * energy
    lost = losses(known)[: len(rows)]
    assert lost[-1] > 0.1 * energy
    assert np.abs(seen.port_loss.values[rows] - lost).max() < 1e-6 * energy
    given = seen.model_work.values[rows] - port_work(known)[: len(rows)]  # J, by the loop
    balance = seen.kinetic_energy.values[rows] + stored + lost - given
    assert np.abs(balance - energy).max() < 1e-6 * energy


def test_a_robot_that_jumps_tells_no_loss():
    seen = simulate_rig(parse(scenario(replace(BOUNCE, poles=(), zeros=()), 0.02), "test"))
    assert "port_energy" in seen and "port_loss" not in seen


@pytest.mark.full
def test_order_with_the_step(monkeypatch):
    """With the step as it is asked for, halved and halved again, the error falls with its fourth power."""
    monkeypatch.setattr(rig_stretch, "TOLERANCE", np.inf)
    text = scenario(BOUNCE, HOLDS * BOUNCE.hold)
    ends = {}
    for parts in (1, 2, 4, 8, 32):
        rig, grid = built(text)
        schedule = rig.schedule
        finer = schedule._replace(
            ticks=schedule.ticks * parts,
            rows=schedule.rows * parts,
            **{
                name: tuple(flag and not i for flag in getattr(schedule, name) for i in range(parts))
                for name in ("samples", "asks", "holds")
            },
        )
        rig = replace(rig, schedule=finer)
        end, _ = jax.jit(run_cycles, static_argnums=(3, 4))(
            rig, still_oracle(rig), NoiseDraws(None, None), grid.rows, grid.stride
        )
        ends[parts] = float(rig.plant.rate(end.motion)[0])
    errors = [abs(ends[parts] - ends[32]) for parts in (1, 2, 4, 8)]
    slope = -np.polyfit(np.log([1, 2, 4, 8]), np.log(errors), 1)[0]
    assert 3.5 < slope < 4.5 and errors[0] < 1e-5 * BOUNCE.velocity


@pytest.mark.full
def test_lanes_of_a_comparison_are_the_runs():
    """Many stiffnesses side by side each locate their own events."""
    found = parse(scenario(BOUNCE, HOLDS * BOUNCE.hold), "test")
    values = (1.5e4, 3e4)
    lanes = Lanes(found, values)
    rigs = lanes.rigs(None)
    (course,) = lanes.courses(rigs, [0])
    every = round(BOUNCE.hold / (course.time[1] - course.time[0]))
    for solver, stiffness in enumerate(values):
        known = Run(replace(BOUNCE, wall=replace(BOUNCE.wall, stiffness=stiffness)), HOLDS * BOUNCE.hold)
        velocity = course.seen["velocity"][solver, ::every, 0]
        rows = min(len(velocity), len(known.time))
        assert np.abs(velocity[:rows] - known.states[:rows, 1]).max() < CLOSE * BOUNCE.velocity


BODIES = {
    "chaser": {
        "mass": 800.0,
        "inertia": [300.0, 400.0, 500.0],
        "position": [-1.592, 0.0, -0.06],
        "velocity": [0.06, 0.01, -0.005],
        "attitude": [float(part) for part in unit([1, 0.03, -0.05, 0.02])],
        "rate": [0.02, -0.03, 0.01],
    },
    "target": {
        "mass": 2000.0,
        "inertia": [900.0, 800.0, 700.0],
        "position": [0.0, 0.0, 0.0],
        "velocity": [0.0, 0.0, 0.0],
        "attitude": [float(part) for part in unit([1, 0.1, 0.05, -0.1])],
        "rate": [-0.005, 0.01, 0.008],
    },
}
TOUCHES = {
    "chaser": """[body.BODY.feature.tip]
position = [1.0, 0.0, 0.0]
radius = 0.1
""",
    "target": """[body.BODY.surface.ball]
shape = "sphere"
centre = [0.0, 0.0, 0.0]
radius = 0.5
""",
}
TOUCHING = """
[contact.tip]
between = ["tip", "ball"]
[contact.tip.normal]
law = "spring-dashpot"
stiffness = 100000.0
damping = 300.0
[contact.tip.friction]
law = "coulomb"
coefficient = 0.1
[loop.hold]
period = 4e-3
[loop.sensor]
delay = 7.3e-3
[loop.robot]
poles = [[-180.0, 90.0], [-180.0, -90.0]]
gain = 40500.0
"""


def body(numbers):
    motion = [numbers[name] for name in ("position", "velocity", "attitude", "rate")]
    return Body(numbers["mass"], np.diag(numbers["inertia"]), np.concatenate(motion))


@pytest.mark.full
def test_two_bodies_move_as_by_another_integrator():
    """A ball meets a sphere with friction, both bodies turning, a robot behind each of six axes."""
    duration = 0.32
    tables = [
        f"[body.{name}]\n" + "".join(f"{k} = {v}\n" for k, v in numbers.items()) + TOUCHES[name].replace("BODY", name)
        for name, numbers in BODIES.items()
    ]
    head = f'schema = 2\nrig.carries = "chaser"\nrig.against = "target"\nduration = {duration}\n'
    touching = Touching(np.array([1.0, 0, 0]), 0.1, ball(np.zeros(3), 0.5), 1e5, 300.0, 0.1)
    rig = BodiesNumbers(
        body(BODIES["chaser"]), body(BODIES["target"]), touching, 4e-3, 7.3e-3, (-180 + 90j, -180 - 90j)
    )
    known = BodiesRun(rig, duration)
    seen = observed(head + "\n".join(tables) + TOUCHING)
    rows = len(known.time)
    poses = np.array([known.commanded(y)[0] for y in known.states])
    bodies = (rig.chaser, rig.target)
    energies = np.array(
        [sum(one.kinetic_energy(y[13 * i : 13 * i + 13]) for i, one in enumerate(bodies)) for y in known.states]
    )
    assert known.changes > 1 and np.abs(seen["contact_force"]).max() > 50
    assert np.abs(seen["model_pose"][:rows] - poses).max() < CLOSE * 0.06 * duration
    assert np.abs(seen["kinetic_energy"][:rows].ravel() - energies).max() < CLOSE * energies[0]


@pytest.mark.full
def test_an_undamped_bounce_is_the_same_at_every_speed():
    """A linear contact knows no scale: whether a force pulls at onset is not for the rounding of its depth to say."""
    speeds = (0.05, 1e-3, 1e-5, 1e-7)
    rigs = [
        replace(BOUNCE, wall=Wall(3e4, 0.0), velocity=speed, position=BOUNCE.position * speed / BOUNCE.velocity)
        for speed in speeds
    ]
    motions = [observed(scenario(rig, HOLDS * rig.hold))["velocity"][:, 0] / rig.velocity for rig in rigs]
    for motion in motions[1:]:
        np.testing.assert_allclose(motion, motions[0], atol=CLOSE)
    assert motions[0][-1] < -1  # the delay feeds energy in
