"""Energy, momenta and frames of bodies that force elements join, with every part at work and through all their events."""

from functools import cache

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from element_system import Run, anchors, body, numbers, pose, system

from dockdyn.elements import (
    Brake,
    Bushing,
    Cable,
    ElementGroup,
    EndStops,
    GapPull,
    Magnet,
    Strut,
    TabulatedPull,
    hexapod_anchors,
    one_sided,
)
from dockdyn.integrate.model import State
from dockdyn.mechanics.rigid_body import Pose, Twist
from dockdyn.mechanics.rotation import Quaternion
from dockdyn.mechanics.vector import Vector
from dockdyn.programs import Program

ENERGY, MOMENTUM = 1e-9, 1e-12
RING = body(35.0, (13.0, 7.0, 7.5), (0.4, -0.3, 0.2))
CHASER = body(1250.0, (2400.0, 4000.0, 4100.0), (50.0, -30.0, 20.0))
STATION = body(5200.0, (9000.0, 12000.0, 14000.0), (300.0, 100.0, -200.0))


def hexapod(speed=0.05):
    """Struts that have all there is."""
    on_ring, on_base = hexapod_anchors(0.6, 0.63, 0.3, 0.35, pose([-0.1, 0, 0]), pose([2.5, 0, 0]))
    struts = [
        Strut(
            anchors(ring, base),
            **numbers(free_length=0.45 + 0.003 * i, stiffness=2e4, damping=60.0, speed=speed, moved_mass=15.0),
            brake=Brake(jnp.asarray(60.0)),
            stops=EndStops(**numbers(lowest=-0.02, highest=0.03), spring=one_sided(1e5, 200.0)),
        )
        for i, (ring, base) in enumerate(zip(on_ring, on_base, strict=True))
    ]
    return ElementGroup.of(struts)


def bushing(**parts):
    rng = np.random.default_rng(3)
    mixed = rng.normal(size=(6, 6)) * 0.15 + np.diag([60.0, 50.0, 55.0, 20.0, 22.0, 18.0])
    damping = 0.02 * np.diag([60.0, 50.0, 55.0, 20.0, 22.0, 18.0])
    return Bushing(
        pose([0.1, 0.2, -0.1], [0.3, -0.2, 0.5]),
        pose([2.8, 0.1, -0.05], [-0.4, 0.1, 0.2]),
        jnp.asarray(mixed @ mixed.T),
        jnp.asarray(damping),
        **parts,
    )


def cable():
    return Cable(anchors([0.5, 0.3, -0.2], [-1.5, 0.2, 0.1]), jnp.asarray(1.1), one_sided(4e3, 80.0))


def magnet(pull, radius=0.02):
    return Magnet(anchors([0.4, -0.3, 0.2], [-1.2, 0.1, -0.4]), pull, jnp.asarray(radius))


TABLE = TabulatedPull.of(jnp.array([0.0, 0.3, 0.7, 1.5, 3.0]), jnp.array([300.0, 150.0, 60.0, 8.0, 0.0]))

POSES = (pose([2.85, 0.01, -0.02], [0.02, -0.03, 0.05]), pose([0, 0, 0]), pose([4.9, 0.3, 0.1], [0.4, 0.2, -0.1]))
TWISTS = (
    Twist.of([-0.3, 0.05, 0.02], [0.1, 0.2, -0.1]),
    Twist.of([0.05, 0.0, 0.01], [0.01, 0.0, 0.02]),
    Twist.of([0.3, -0.05, 0.02], [0.02, -0.03, 0.01]),
)
CASES = {  # made when a run asks for them
    "hexapod": lambda: [(hexapod(), 0, 1)],
    "bushing": lambda: [(bushing(), 0, 1)],
    "bushing that slides": lambda: [(bushing(brake=Brake(jnp.asarray(100.0))), 0, 1)],
    "cable": lambda: [(cable(), 0, 2)],
    "magnet": lambda: [(magnet(GapPull(**numbers(holding=400.0, reach=0.5))), 0, 2)],
    "tabulated magnet": lambda: [(magnet(TABLE, 0.0), 0, 2)],
    "all": lambda: [(hexapod(), 0, 1), (bushing(), 1, 0), (cable(), 0, 2), (magnet(TABLE), 2, 0)],
}


def run_of(name, duration=1.5, **options):
    return Run(system((RING, CHASER, STATION), POSES, TWISTS, *CASES[name]()), duration, moments=1000, **options)


NAMES = pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.full] * (name == "hexapod")) for name in CASES]
)  # what is in "hexapod" is in "all" too


@pytest.fixture(scope="module")
def runs():
    """Each made when it is first asked for."""
    return cache(run_of)


@pytest.mark.full
@NAMES
def test_energy_is_accounted_for_and_momenta_are_kept(runs, name):
    assert runs(name).energy_error() < ENERGY
    assert max(runs(name).momentum_errors()) < MOMENTUM


@pytest.mark.full
def test_the_hexapod_is_worth_it(runs):
    """Brakes slide both ways, stops are met at both ends, motors work."""
    run = runs("hexapod")
    brake = np.asarray(run.after_events().mode[0].brake)
    lower, upper = map(np.asarray, run.after_events().mode[0].stops)
    assert set(np.unique(brake)) >= {-2, -1, 1, 2} and lower.any() and upper.any()
    assert np.ptp(run.balance["work"]) > 1e-3 * run.balance["moving"].max()


@pytest.mark.full
def test_the_cases_are_worth_it(runs):
    """A brake slides both ways, the cable is taut and slack."""
    assert set(np.unique(runs("bushing that slides").after_events().mode[0])) >= {-1, 1}
    assert runs("cable").events >= 2
    for name, part in (("all", "lost"), ("magnet", "stored"), ("bushing", "lost")):
        assert np.ptp(runs(name).balance[part]) > 1e-3 * runs(name).balance["moving"].max()


@pytest.mark.full_cases("cable", "magnet", "bushing", "all")
@NAMES
def test_dissipated_energy_never_falls(runs, name):
    run = runs(name)
    assert np.diff(run.balance["lost"]).min() >= -1e-9 * run.balance["moving"].max()


@pytest.mark.full
def test_a_frame_that_moves_and_is_turned_sees_the_same():
    turn, shift, boost = np.array([0.7, -1.1, 0.4]), np.array([3.0, -2.0, 5.0]), np.array([0.2, -0.1, 0.3])
    attitude = Quaternion.exponential(Vector.of(jnp.asarray(turn)))
    matrix = np.asarray(attitude.matrix().array())

    def seen(pose: Pose) -> Pose:
        return Pose.at(matrix @ np.asarray(pose.position.array()) + shift, attitude * pose.attitude)

    def moving(twist: Twist) -> Twist:
        return Twist.of(matrix @ np.asarray(twist.velocity.array()) + boost, np.asarray(twist.rate.array()))

    poses, twists = map(seen, POSES), map(moving, TWISTS)
    here = run_of("all", 0.5)
    there = Run(system((RING, CHASER, STATION), poses, twists, *CASES["all"]()), 0.5, moments=1000)
    assert here.events == there.events > 10
    np.testing.assert_allclose(
        there.solution.log.time[: here.events], here.solution.log.time[: here.events], rtol=0, atol=1e-8
    )
    for part in ("stored", "lost", "work"):
        size = np.abs(here.balance[part]).max()
        np.testing.assert_allclose(there.balance[part], here.balance[part], rtol=0, atol=1e-8 * size)


@pytest.mark.full
def test_a_group_is_its_members_one_by_one():
    """The same accelerations and rates, guards and energies."""
    group = hexapod()
    members = [jax.tree.map(lambda a, i=i: a[i], group.members) for i in range(group.size)]
    bodies, poses, twists = (RING, CHASER), POSES[:2], TWISTS[:2]
    together = system(bodies, poses, twists, (group, 0, 1))
    apart = system(bodies, poses, twists, *[(member, 0, 1) for member in members])
    one, other = together.initial(), apart.initial()
    other = State(one.q, one.v, other.mode, other.memory)

    @Program
    def answers(system, x):
        rate = system.flow(0.0, x, ())
        return (rate.v, rate.memory), system.outputs(0.0, x).guards, system.balance(x)

    (rates, memory), guards, balance = answers(together, one)
    (alone, memories), separate, expected = answers(apart, other)
    stacked = (jax.tree.map(lambda *rows: jnp.stack(rows), *memories),)
    for a, b in zip(jax.tree.leaves((rates, memory)), jax.tree.leaves((alone, stacked)), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-11, atol=1e-11)
    np.testing.assert_allclose(guards, separate, rtol=1e-12, atol=1e-12)
    for name, value in balance.items():
        np.testing.assert_allclose(value, expected[name], rtol=1e-12, atol=1e-10)


def test_a_brake_whose_limit_is_lowered_slides_at_once_and_says_what_it_took():
    """As a phase of a mechanism does, which changes a number of its struts."""
    strut = Strut(
        anchors([0, 0, 0], [0, 0, 0]), **numbers(free_length=1.0, stiffness=1e3), brake=Brake(jnp.asarray(90.0))
    )
    two = system((RING, CHASER), (pose([1.08, 0, 0]), pose([0, 0, 0])), (Twist.of([0.0] * 3),) * 2, (strut, 0, 1))
    x = two.initial()
    (_, _, memory, *places) = two.sides(x)[0]
    weaker = Strut(strut.anchors, strut.free_length, strut.stiffness, brake=Brake(jnp.asarray(50.0)))
    mode, after = weaker.settle(memory, *places)
    stored = weaker.stored_energy(mode, after, *places)
    assert float(weaker.act(mode, after, *places)[0].force.norm()) == pytest.approx(50.0, rel=1e-13)
    assert float(after.slide) == pytest.approx(0.03, rel=1e-12)
    assert float(stored + after.dissipated) == pytest.approx(0.5 * 1e3 * 0.08**2, rel=1e-12)


def test_what_cannot_be_is_refused():
    with pytest.raises(ValueError, match="stiffness"):
        Strut(anchors([0] * 3, [1] * 3), jnp.asarray(1.0), brake=Brake(jnp.asarray(1.0)))
    with pytest.raises(ValueError, match="same parts"):
        ElementGroup.of([cable(), magnet(TABLE)])
    with pytest.raises(ValueError, match="two gaps"):
        TabulatedPull.of(jnp.array([0.0, 0.0]), jnp.array([1.0, 2.0]))
