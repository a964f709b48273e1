"""Friction that sticks and slips: against closed forms, another integrator and itself turned."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from contact_benchmarks import drawn_block, pressed_block, turning_times
from helpers.refusals import refused
from mechanical_models import slope
from scipy.integrate import solve_ivp
from scipy.optimize import brentq
from scipy.spatial.transform import Rotation
from sticking_ball import INERTIA, MASS, RADIUS, Sticking, ball_on_plane, bounce
from test_contact_energies import drawn_docking

import dockdyn
from dockdyn.contact.contact_modes import PRESSING
from dockdyn.contact.group import ContactGroup
from dockdyn.contact.laws import Hertz, SpringDashpot
from dockdyn.contact.laws.stick_slip import StickSlip, slipping_direction
from dockdyn.contact.pairs.ball_on_surface import BallOnSurface
from dockdyn.contact.surfaces.plane import Plane
from dockdyn.mechanics.rigid_body import Placed, Pose, Twist
from dockdyn.mechanics.rotation import Quaternion
from dockdyn.mechanics.vector import Vector


def rebound(result):
    """Return velocity and spin (inertial) of the ball at the end."""
    last = result.isel(time=-1)
    turned = Rotation.from_quat(last["attitude"].sel(body="ball").values, scalar_first=True)
    return last["velocity"].sel(body="ball").values, turned.apply(last["rate"].sel(body="ball").values)


@pytest.mark.full
@pytest.mark.parametrize("speed", [0.02, 0.3])
def test_superball_by_equal_periods(load, speed):
    """Where along the surface as many springs swing as long as across it, the contact reverses the sliding: of a ball whose
    mass along the surface is 1 / (1/m + r²/I), with stiffness in that ratio. Nothing slips while v_t / v_n < μ / ratio."""
    ratio = 1 / (1 + MASS * RADIUS**2 / INERTIA)
    tables = ball_on_plane(
        [speed, 0.0, -0.5],
        [0.0, 0.0, 0.0],
        {"law": "spring-dashpot", "stiffness": 2e6},
        {"law": "stick-slip", "coefficient": 0.2, "stiffness_ratio": ratio},
    )
    velocity, rate = rebound(dockdyn.simulate(load(tables)))
    if speed / 0.5 < 0.2 / ratio:
        sliding = velocity[0] - rate[1] * RADIUS
        assert sliding == pytest.approx(-speed, rel=1e-7)
    else:  # all of it slides
        assert velocity[0] == pytest.approx(speed - 2 * 0.2 * 0.5, rel=1e-7)
    assert velocity[2] == pytest.approx(0.5, rel=1e-9)
    assert velocity[1] == pytest.approx(0.0, abs=1e-12)


def drawn_contact(seed):
    """Return the tables of a law and friction, and the same for the other integrator."""
    draw = np.random.default_rng(seed)
    coefficient = draw.uniform(0.05, 0.6)
    static = coefficient * draw.choice([1.0, 1.4])
    friction = {"law": "stick-slip", "coefficient": coefficient, "static_coefficient": static, "stribeck_speed": 0.05}
    name = ["spring-dashpot", "hertz", "hunt-crossley"][seed % 3]
    stiffness, ratio = draw.uniform(1e5, 1e6), draw.uniform(0.5, 1.2)
    if name == "spring-dashpot":
        damping = draw.uniform(0, 100)
        if seed % 2:
            friction["stiffness"] = ratio * stiffness
        else:
            friction["stiffness_ratio"] = ratio
        normal = {"law": name, "stiffness": stiffness, "damping": damping}
        places, springs = np.zeros(1), np.array([stiffness])
        return normal, friction, Sticking(places, springs, lambda d, v: damping * v, ratio, coefficient, static, 0.05)
    exponent = draw.uniform(1.2, 2.0)
    stiffness *= 1e-3 ** (1 - exponent)
    friction["stiffness_ratio"] = ratio
    normal = {"law": name, "exponent": exponent, "stiffness": stiffness}
    grid = np.concatenate([[0.0], np.geomspace(1e-8, 0.1, 48)])
    slopes = np.diff(stiffness * grid**exponent) / np.diff(grid)
    springs = np.diff(slopes, prepend=0.0)

    def beside(depth, rate):
        """Return what the law has more than the straight lines between its slices."""
        exact = stiffness * max(depth, 0.0) ** exponent
        return exact * (1 + (0.4 * rate if name == "hunt-crossley" else 0)) - np.sum(
            springs * np.maximum(depth - grid[:-1], 0)
        )

    if name == "hunt-crossley":
        normal["damping"] = 0.4
    return normal, friction, Sticking(grid[:-1], springs, beside, ratio, coefficient, static, 0.05)


@pytest.mark.full
@pytest.mark.parametrize("seed", [0, 1, *(pytest.param(seed, marks=pytest.mark.full) for seed in range(2, 14))])
def test_ball_bounces_as_by_another_integrator(load, seed):
    """Any law, in space: sliding turns, sticks and slips again."""
    draw = np.random.default_rng(100 + seed)
    normal, friction, contact = drawn_contact(seed)
    velocity = np.array([*draw.uniform(-0.3, 0.3, 2), -0.4])
    spin = draw.uniform(-8, 8, 3)
    fine = {"integrator": {"tolerance": 1e-13}}  # sliding that turns is of first order
    found = rebound(dockdyn.simulate(load(ball_on_plane(velocity, spin, normal, friction) | fine)))
    twice = (bounce(contact, MASS, INERTIA, RADIUS, velocity, spin, step) for step in (2e-6, 1e-6))
    for own, first, second in zip(found, *twice, strict=True):
        size = np.linalg.norm(second)
        # of first order where friction falls with speed, the other one is off by as much as halving its steps changes
        gap = np.linalg.norm(second - first)
        assert own == pytest.approx(second, abs=1.5 * gap + 2e-7 * size)
        assert gap < 5e-4 * size
    if friction["coefficient"] < 0.2:
        assert np.linalg.norm(found[0][:2] - velocity[:2]) > 1e-3


@pytest.mark.full
@pytest.mark.parametrize("seed", [2, *(pytest.param(seed, marks=pytest.mark.full) for seed in range(20, 40))])
def test_two_free_bodies_keep_momenta_and_never_gain_energy(load, seed):
    draw = np.random.default_rng(200 + seed)
    normal, friction, _ = drawn_contact(seed)
    tables = ball_on_plane([*draw.uniform(-0.3, 0.3, 2), -0.4], draw.uniform(-8, 8, 3), normal, friction)
    mass = draw.uniform(0.5, 5)
    tables["body"]["anvil"] |= {"fixed": False, "mass": mass, "inertia": [mass * share for share in (0.1, 0.08, 0.12)]}
    tables["body"]["anvil"]["rate"] = draw.uniform(-0.5, 0.5, 3)
    summary = dockdyn.summarise(dockdyn.simulate(load(tables)))
    assert summary["linear_momentum_error"] < 1e-12
    assert summary["angular_momentum_error"] < 1e-11
    assert summary["work_energy_error"] < 1e-8
    assert summary["kinetic_energy_end_J"] < summary["kinetic_energy_start_J"]


@pytest.mark.full
@pytest.mark.parametrize("curved", [False, True])
def test_the_same_contact_in_a_turning_frame(curved):
    """A ball slides, rolls and turns over a plane along a path; once more as both turn and fly about: the force turns along."""
    law = Hertz(jnp.asarray(3e9), jnp.asarray(1.5)) if curved else SpringDashpot(jnp.asarray(1e6), jnp.zeros(()), False)
    levers = jnp.asarray(4e-3), jnp.asarray(6e-3)
    friction = StickSlip(*(jnp.asarray(number) for number in (0.3, 0.8, 0.4, 0.02, 1e-4)), levers)
    feature = BallOnSurface(jnp.zeros(3), jnp.asarray(RADIUS), Plane.of(jnp.zeros(3), jnp.array([0.0, 0.0, 1.0])))
    group = ContactGroup.of([feature], (0, 1), law, friction)
    mode, length, whole = jnp.asarray(PRESSING), 1e-3, Rotation.from_rotvec([0.4, -0.9, 1.7])
    spin, way = np.array([0.7, -1.1, 2.3]), np.array([0.3, -0.2, 0.5])

    @jax.jit
    def advance(motions, past):
        """Return the force and torque on the ball and what is remembered after a step, from place, attitude, velocity and rate
        of both."""
        bodies = [
            Placed.of(Pose(Vector.of(at), Quaternion.of(lies)), Twist(Vector.of(moves), Vector.of(turns)))
            for at, lies, moves, turns in motions
        ]
        rates = group.memory_rate(mode, *bodies, past)
        moved = jax.tree.map(lambda a, b: a + length * b, past, rates)
        found = group.state(mode, *bodies, past=moved)
        return (found.wrench.force.array(), found.torque.array()), group.renewed(mode, *bodies, moved)

    def load_and_past(turns, time, past):
        """Return force and torque in axes of the plane, in a frame that turns or rests."""
        place = np.array(
            [0.02 * np.sin(9 * time), 0.03 * np.cos(5 * time), RADIUS - 1e-4 * (1 + 0.5 * np.sin(20 * time))]
        )
        speed = np.array([0.18 * np.cos(9 * time), -0.15 * np.sin(5 * time), -1e-3 * np.cos(20 * time)])
        rolls = np.array([1.0, 2.0 * np.cos(7 * time), -3.0])
        turn = whole * Rotation.from_rotvec(spin * time) if turns else Rotation.identity()
        about = turns * whole.apply(spin)  # inertial
        motions = []
        for at, moves, own in ((place, speed, rolls), (np.zeros(3), np.zeros(3), np.zeros(3))):
            where = turn.apply(at)
            velocity = turn.apply(moves) + np.cross(about, where) + turns * way
            rate = turn.inv().apply(about) + own
            motions.append((where + turns * way * time, turn.as_quat(scalar_first=True), velocity, rate))
        load, past = advance(motions, past)
        return turn.inv().apply(load), past

    still, turning = group.first_memory(), group.first_memory()
    slips = np.zeros(3)
    for time in np.arange(0, 0.3, length):
        straight, still = load_and_past(0.0, time, still)
        turned, turning = load_and_past(1.0, time, turning)
        for ours, kept in zip(turned, straight, strict=True):
            assert ours == pytest.approx(kept, abs=1e-10 * np.linalg.norm(kept))
        slips += [float(stretch.slipped[0]) > 0 for stretch in still.stretches]
    assert slips.min() > 10


@pytest.mark.full
@pytest.mark.parametrize("time", [0.0, 2e-5])
def test_what_is_pushed_less_than_friction_holds_stays(load, time):
    """A block under 0.45 of the largest friction swings about F/k and never leaves: x = F/k (1 − cos ω t), or damped."""
    held = 2 * 0.3 * 100.0  # N, two rails of 100 N
    friction = {"law": "stick-slip", "coefficient": 0.3, "stiffness": 3e5, "retardation_time": time}
    stiffness, push = 2 * 3e5, 0.45 * held
    tables = pressed_block(push, friction, 2.0)
    tables["output"] = {"interval": 0.05}
    result = dockdyn.simulate(load(tables))
    place = result["position"].sel(body="block", axis="x").values
    fading = time * stiffness / (2 * 2.0)  # 1/s
    turns = np.sqrt(stiffness / 2.0 - fading**2)
    phase = turns * result["time"].values
    left = np.exp(-fading * result["time"].values) * (np.cos(phase) + fading / turns * np.sin(phase))
    swing = push / stiffness * (1 - left)
    assert place == pytest.approx(swing, abs=1e-6 * push / stiffness)


def test_the_delay_that_what_sticks_bears(load):
    """Of m ẍ = −(k x + b ẋ) one delay ago the critical one is atan(ω b/k)/ω, with m² ω⁴ = k² + ω² b²."""
    time = 1e-3
    friction = {"law": "stick-slip", "coefficient": 0.3, "stiffness": 3e5, "retardation_time": time}
    tables = pressed_block(0.0, friction, 1.0)
    for contact in tables["contact"].values():
        contact["normal"]["damping"] = 400.0  # along the normal it bears more
    tables["loop"] = {"delay": 1e-4}
    stiffness, mass = 6e5, 2.0
    roots = np.roots([mass**2, -((time * stiffness) ** 2), -(stiffness**2)])
    frequency = np.sqrt(roots.max())
    assert dockdyn.margins(load(tables))["critical_delay_s"] == pytest.approx(
        np.arctan(frequency * time) / frequency, rel=1e-9
    )


@pytest.mark.full
def test_what_slides_comes_to_rest_and_stays(load):
    """Of a block at 0.1 m/s friction takes all but the energy of its last swing; after it nothing is lost any more."""
    friction = {"law": "stick-slip", "coefficient": 0.3, "stiffness": 3e5}
    result = dockdyn.simulate(load(pressed_block(0.0, friction, 2.0, speed=0.1)))
    late = result.isel(time=result["time"].values > 0.5)
    place, time = late["position"].sel(body="block", axis="x").values, late["time"].values
    turns = np.sqrt(6e5 / 2.0) * time
    (middle, *swing), *_ = np.linalg.lstsq(np.stack([np.ones_like(time), np.cos(turns), np.sin(turns)], 1), place)
    # m v²/2 = F²/(2 k) + F · the way beyond the first stretch F/k, about whose end it swings by F/k
    first = 60.0 / 6e5
    assert middle == pytest.approx((0.5 * 2 * 0.01 - 60.0 * first / 2) / 60, rel=1e-7)
    assert np.hypot(*swing) == pytest.approx(first, rel=1e-7)
    assert late["kinetic_energy"].max() <= 60.0 * first / 2 * (1 + 1e-7)


@pytest.mark.full
def test_what_holds_stays_for_an_hour(load):
    """A block that friction holds creeps by less than a nanometre: its first swing takes 0.9 of the largest."""
    friction = {"law": "stick-slip", "coefficient": 0.3, "stiffness": 2e3, "retardation_time": 5e-3}
    push = 0.45 * 2 * 0.3 * 100.0
    tables = pressed_block(push, friction, 3600.0)
    tables["output"] = {"interval": 60.0}
    place = dockdyn.simulate(load(tables))["position"].sel(body="block", axis="x").values[1:]
    assert place == pytest.approx(push / 4e3, abs=1e-9)


@pytest.mark.full
def test_a_block_drawn_through_a_spring_sticks_and_slips_in_time(load):
    """But for what the contact itself gives way and for the speed at which friction falls."""
    tables, period = drawn_block()
    found = turning_times(dockdyn.simulate(load(tables)))
    assert len(found) >= 2
    assert np.diff(found) == pytest.approx(period, rel=2e-3)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"coefficient": -0.1}, ("coefficient", "at least 0")),
        ({"stiffness": 1e5, "stiffness_ratio": 0.8}, ("stiffness and stiffness_ratio", "must state one")),
        ({"stribeck_speed": 0}, ("stribeck_speed",)),
        ({"retardation_time": -1}, ("retardation_time",)),
    ],
)
def test_refused_keys(load, change, words):
    friction = {"law": "stick-slip", "coefficient": 0.1, **change}
    with refused("contact.hit.friction", *words):
        load(ball_on_plane([0, 0, -1], [0, 0, 0], {"law": "hertz", "exponent": 1.5, "stiffness": 1e9}, friction))


def test_refused_where_it_cannot_be(load):
    friction = {"law": "stick-slip", "coefficient": 0.1}
    softens = {"law": "force-stroke", "stroke": [0, 0.01], "force": [0, 100], "bottoming_stiffness": 1e6}
    with refused("contact.hit.friction", "'force-stroke'", "must state stiffness"):
        load(ball_on_plane([0, 0, -1], [0, 0, 0], softens, friction))
    load(ball_on_plane([0, 0, -1], [0, 0, 0], softens, friction | {"stiffness": 1e5}))


@pytest.mark.full
def test_a_damped_spring_that_slips_around_bends_takes_few_steps(load):
    """Its stretch and the sliding are in other directions: beside steps of one length, whose error halves with them."""

    def energy(**integrator):
        tables = ball_on_plane(
            [0.05, 0.03, -0.3],
            [1.0, -3.0, 0.0],
            {"law": "hertz", "stiffness": 2e5},
            {"law": "stick-slip", "coefficient": 0.2, "stiffness_ratio": 0.8, "retardation_time": 2e-3},
        )
        found = dockdyn.simulate(load(tables | {"integrator": integrator}))
        return float(found.kinetic_energy[-1]), int(found.attrs["steps"])

    coarse, fine = (energy(method="fixed", step=step)[0] for step in (2e-5, 1e-5))
    found, steps = energy(tolerance=1e-11)
    assert steps < 3000
    assert found == pytest.approx(2 * fine - coarse, rel=1e-5)


def slipping_by_rates(start, advance, first, last):
    """Return a stretch that is moved on evenly and kept within a length, from `first` to `last`, by SciPy's DOP853."""

    def limit(fraction):
        return first + (last - first) * fraction

    def too_long(fraction, stretch):
        return np.hypot(*(start + advance * fraction)) - limit(fraction)

    too_long.direction = 1
    tight = {"method": "DOP853", "rtol": 1e-12, "atol": 1e-15}
    begins = 0.0
    if np.hypot(*start) < first * (1 - 1e-9) or start @ advance < first * (last - first):
        fine = np.linspace(0, 1, 200001)
        over = np.hypot(*(start[:, None] + advance[:, None] * fine)) - limit(fine)
        rises = np.flatnonzero((over[1:] > 0) & (over[:-1] <= 0) & (fine[1:] > 1e-5))[0]
        begins = brentq(lambda fraction: too_long(fraction, None), fine[rises], fine[rises + 1], xtol=1e-14)
    angles = np.arctan2(*(start + advance * begins)[::-1])
    way, length = np.arctan2(*advance[::-1]), np.hypot(*advance)
    turned = solve_ivp(lambda u, angle: length / limit(u) * np.sin(way - angle), (begins, 1.0), [angles], **tight)
    angle = turned.y[0, -1]
    return np.array([np.cos(angle), np.sin(angle)])


@pytest.mark.parametrize("slipping", [False, True], ids=["sticks at first", "slips from the start"])
@pytest.mark.parametrize("seed", range(8))
def test_what_slips_turns_towards_the_motion_as_by_its_rates(slipping, seed):
    """Exactly under a constant limit; where that changes the error falls with the third power of the step."""
    draw = np.random.default_rng(60 + seed)
    first = 10 ** draw.uniform(-6, -3)
    angle, turn = draw.uniform(0, 2 * np.pi), draw.uniform(-1.3, 1.3)
    start = first * (1.0 if slipping else draw.uniform(0.1, 0.9)) * np.array([np.cos(angle), np.sin(angle)])
    way = np.array([np.cos(angle + turn), np.sin(angle + turn)])

    def error(last, length):
        advance = length * way
        found = slipping_direction(
            *(Vector(*map(jnp.asarray, (*each, 0.0))) for each in (start, advance)),
            jnp.asarray(first),
            jnp.asarray(last),
        )
        assert float(found.z) == 0
        return np.abs(found.array()[:2] - slipping_by_rates(start, advance, first, last)).max()

    for length in (2.5 * first, 20.0 * first):
        assert error(first, length) < 1e-9
    if slipping:
        change = draw.uniform(-0.4, 0.1)
        steps = np.array([0.4, 0.2, 0.1, 0.05])
        errors = [error(first * (1 + change * step), step * first) for step in steps]
        assert slope(steps, errors) >= 2.8


@pytest.mark.full_cases("21")
@pytest.mark.parametrize("seed", [2, 21])
def test_what_rolls_as_it_turns_is_of_second_order(load, seed):
    """The direction of rolling turns all the time: steps that only cut what is too long were 1e-4 rad/s off, however fine."""
    tables = drawn_docking(seed) | {"output": {"interval": 0.06}}
    ends = [
        dockdyn.simulate(load(tables | {"integrator": {"tolerance": tolerance}}))["rate"].values[-1]
        for tolerance in (1e-8, 1e-12)
    ]
    assert np.abs(ends[0] - ends[1]).max() < 1e-5 * np.abs(ends[1]).max()


@pytest.mark.full_cases("jkr")
@pytest.mark.parametrize("law", ["dmt", "jkr"])
def test_a_step_ends_where_what_adheres_sticks_again(load, law):
    """Else what has slipped before, in the step in which it sticks, would be forgotten: 2e-5 rad/s, however fine steps are."""
    shape = {"exponent": 1.5} if law == "dmt" else {}
    normal = {"law": law, "stiffness": 1e5, "pull_off_force": 0.3, "damping": 3.0} | shape
    friction = {"law": "stick-slip", "coefficient": 0.2, "stiffness": 500.0}
    tables = ball_on_plane([0.3, 0.1, -0.1], [1.0, 8.0, -5.0], normal, friction)
    tables |= {"duration": 0.07, "output": {"interval": 0.07}}
    ends = [
        dockdyn.simulate(load(tables | {"integrator": {"tolerance": tolerance}}))["rate"].sel(body="ball").values[-1]
        for tolerance in (1e-9, 1e-12)
    ]
    assert ends[0] == pytest.approx(ends[1], abs=3e-7)
