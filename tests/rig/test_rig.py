"""The rig in simulation: against exact maps of sampled loops, closed forms, a plain rig, and free flight."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from compiled import by_rows
from helpers.line_rig import line_rig
from numpy.testing import assert_allclose
from rig_reference import GAIN, POLE, ZERO, packaged, simulate

import dockdyn
from dockdyn.hil.compensators import COMPENSATORS
from dockdyn.hil.compensators.linear import LinearCompensator
from dockdyn.hil.robot import RobotAxes
from dockdyn.hil.sensor import SensorModel
from dockdyn.hil.velocity_sources import FilteredDifference
from dockdyn.rig.build import plant_of, rig_at_rest
from dockdyn.rig.model.rig import IdealContact, Rig
from dockdyn.rig.model.run import NoiseDraws, run_cycles, spectral_radius
from dockdyn.rig.model.schedule import rig_schedule
from dockdyn.rig.run import cycle_map, run_with_seed
from dockdyn.stability import TransferFunction, make_loop, sampled_loop

ROBOT = TransferFunction.of_zeros([ZERO], [POLE, POLE.conjugate()], GAIN)
NOTHING = IdealContact(jnp.zeros((1, 1)), jnp.zeros((1, 1)))


def number(value):
    return None if value is None else jnp.asarray(value, float)


def rig_of(
    stiffness=2e4,
    damping=50.0,
    mass=500.0,
    start=(0.0, 0.05),
    bilateral=True,
    law=None,
    sensor=None,
    limits=None,
    **others,
):
    """A rig of one axis from plain numbers; `others` are those of a loop."""
    numbers = {name: value for name, value in others.items() if name not in ("gain", "velocity", "following")}
    of = make_loop(mass, stiffness, damping, **numbers)
    normal = {"law": "spring-dashpot", "stiffness": stiffness, "damping": damping, "adhesion": bilateral}
    sensor = SensorModel(number(others.get("delay", 0.0)), **{k: number(v) for k, v in (sensor or {}).items()})
    return Rig(
        plant=plant_of(dockdyn.load(line_rig(mass, normal, start[1], start[0], bilateral)).content, of),
        robot=RobotAxes(of.robot, **{k: number(v) for k, v in (limits or {}).items()}),
        sensor=sensor,
        hold=of.hold,
        period=of.dynamics_period,
        compensator=law,
        following=number(others.get("following", 1.0)),
        held=of.is_stepped(),
        dynamics=of.dynamics,
        schedule=rig_schedule(of, float(sensor.longest_delay()), steady=sensor.has_steady_delay),
    )


def observed(rig, cycles):
    """What is observed over some cycles, without axes, at each instant."""
    seen = run_with_seed(rig, NOTHING, np.int64(3), cycles, 1)[1]
    return {name: np.asarray(values).reshape(len(values), -1).squeeze() for name, values in seen.items()}


LOOPS = {
    "S2": {"dynamics": "zero-order-hold", "dynamics_period": 2e-3, "hold": 4e-3, "delay": 2e-3, "robot": ROBOT},
    "S2, any delay": {
        "dynamics": "explicit-euler",
        "dynamics_period": 3e-3,
        "hold": 4e-3,
        "delay": 8.7e-3,
        "robot": ROBOT,
    },
    "S2, no robot": {"dynamics": "semi-implicit-euler", "dynamics_period": 4e-3, "hold": 2e-3, "delay": 0.0},
    "S1": {"hold": 4e-3, "delay": 2e-3, "robot": ROBOT},
    "S1, T/2": {"dynamics": "half-period", "dynamics_period": 2e-3, "hold": 4e-3, "delay": 2.7e-3, "robot": ROBOT},
    "S1, held force": {"hold": 4e-3, "delay": 1e-3, "sensor_period": 2e-3, "robot": ROBOT},
}


@pytest.mark.full_cases("S1, T/2", "S1, held force", "S1", "S2, any delay", "S2")
@pytest.mark.parametrize("name", LOOPS)
def test_the_motion_is_that_of_the_exact_map(name):
    """The map over a cycle, by matrix exponentials, shares no code with the simulation."""
    others = LOOPS[name]
    rig = rig_of(**others, following=0.0)
    exact = sampled_loop(500.0, 2e4, 50.0, **others)
    each = sum(rig.schedule.asks)
    seen = observed(rig, 150)["position"][::each]
    known = exact.response(149, velocity=0.05)
    tolerance = 1e-11 if "S2" in name else 2e-7  # digital steps are exact; continuous dynamics of fourth order
    assert_allclose(seen, known, rtol=0, atol=tolerance * np.abs(known).max())
    still = rig_at_rest(rig, make_loop(500.0, 2e4, 50.0, **others))
    assert_allclose(spectral_radius(cycle_map(still)), exact.spectral_radius(), rtol=1e-9)


@pytest.mark.full_cases("others1-0.0409957-0.001", "others2-0.012063-0.001", "others3-0.091072-0.0002")
@pytest.mark.parametrize(
    ("others", "growth", "tolerance"),
    [
        ({"hold": 4e-3}, 0.0399936, 1e-4),  # exact
        ({"hold": 1e-4, "delay": 2e-3}, 0.0399957 + 20 * 1e-4 / 2, 1e-3),  # half a hold adds ω² / 2 a second
        ({"hold": 1e-4, "robot": ROBOT}, 0.011063 + 20 * 1e-4 / 2, 1e-3),
        ({"hold": 4e-3, "delay": 2e-3, "robot": ROBOT}, 0.091072, 2e-4),  # by Padé of the first order, 1.4e-4 off
    ],
)
def test_growth_of_the_published_rig(others, growth, tolerance):
    """Continuous dynamics, undamped: growth from the two-term recurrence of the motion's samples."""
    x = observed(rig_of(damping=0.0, **others), round(30 / others["hold"]))["position"]
    x = x[:: max(1, len(x) // 3000)]
    step = 30.0 / len(x)
    lag = round(0.2 / step)
    (twice, product), *_ = np.linalg.lstsq(np.column_stack([x[lag:-lag], x[: -2 * lag]]), x[2 * lag :])
    root = np.log(np.roots([1, -twice, -product]).astype(complex)[0]) / (lag * step)
    assert root.real == pytest.approx(growth, rel=tolerance)


@pytest.mark.full
def test_the_robot_follows_its_commands_as_a_plain_rig_does():
    """A bounce with lead and layer, sampled force, delay of no whole step: the NumPy rig takes the same way."""
    law = COMPENSATORS["lead-energy"](number(5.5e-3), number(2.7e-5))
    others = {"dynamics": "zero-order-hold", "dynamics_period": 2e-3, "hold": 4e-3, "delay": 3.3e-3, "robot": ROBOT}
    rig = rig_of(3e4, 20.0, start=(-0.002, 0.04), bilateral=False, law=law, **others)
    seen = observed(rig, 400)
    plain = simulate(
        3e4, packaged(law, 1), damping=20.0, delay=3.3e-3, bilateral=False, start=(-0.002, 0.04), duration=1.59
    )
    count = len(plain["x"])
    for name, other in (("position", "x"), ("velocity", "v"), ("measured_force", "force"), ("gain", "gain")):
        known = plain[other][:, 0]
        # the plain rig has approached step by step before t = 0, behind its hold; this one by its mean
        assert_allclose(seen[name][:count], known, rtol=0, atol=2e-4 * np.abs(known).max())


def test_a_delay_that_varies_reads_the_past_where_it_was():
    """A robot without dynamics that follows a steady approach: X_R(t − τ(t)) is on the staircase of the commands."""
    sensor = {"delay_amplitude": 2e-3, "delay_period": 0.1}
    rig = rig_of(1e-9, 0.0, dynamics="zero-order-hold", dynamics_period=2e-3, hold=2e-3, delay=5e-3, sensor=sensor)
    seen = observed(rig, 500)
    time = 2e-3 * np.arange(500)
    late = time - (5e-3 + 2e-3 * np.sin(2 * np.pi * time / 0.1))
    held = 2e-3 * np.ceil(late / 2e-3 - 1e-9) - 2e-3  # what was commanded last before that
    known = np.where(late >= 0, -1e-9 * 0.05 * held, 0.0)
    inside = (late > 4e-3) & (np.abs(late / 2e-3 - np.round(late / 2e-3)) > 1e-6)
    assert inside.sum() > 400
    assert_allclose(seen["measured_force"][inside], known[inside], rtol=1e-9)


@pytest.mark.full
def test_jitter_with_a_robot_is_read_as_exactly_as_a_steady_delay():
    """Random delays, read inside the loop by a series, against the exact robot: force over stiffness is a place it was at."""
    others = {"dynamics": "zero-order-hold", "dynamics_period": 2e-3, "hold": 4e-3, "robot": ROBOT}
    rig = rig_of(2e4, 0.0, **others, delay=2e-3, sensor={"jitter": 2e-3})
    force = observed(rig, 300)["measured_force"]
    ends = [observed(rig_of(2e4, 0.0, **others, delay=late), 300)["measured_force"] for late in (2e-3, 4e-3)]
    low, high = np.minimum(*ends), np.maximum(*ends)
    first = slice(4, 60)  # before the motions part
    slack = 0.02 * np.abs(force).max()
    assert np.all((force[first] > low[first] - slack) & (force[first] < high[first] + slack))
    assert np.unique(np.round((force - ends[0])[first], 9)).size > 40


@pytest.mark.full
def test_imperfections_of_the_sensor():
    others = {"dynamics": "zero-order-hold", "dynamics_period": 2e-3, "hold": 4e-3, "delay": 2e-3, "robot": ROBOT}
    perfect = observed(rig_of(**others), 2000)["measured_force"]
    coarse = observed(rig_of(**others, sensor={"resolution": 0.5}), 2000)["measured_force"]
    assert_allclose(coarse / 0.5, np.round(coarse / 0.5), atol=1e-9)
    clipped = observed(rig_of(**others, sensor={"range": 60.0}), 2000)["measured_force"]
    assert np.abs(clipped).max() == 60.0
    lost = observed(rig_of(**others, sensor={"drop_rate": 0.2}), 2000)["measured_force"]
    share = np.mean(np.diff(lost[10:]) == 0)
    assert share == pytest.approx(0.2, abs=4 * np.sqrt(0.2 * 0.8 / len(lost)))
    noisy = observed(rig_of(1e-9, 0.0, **others, sensor={"noise": 0.7, "bias": 3.0}), 2000)["measured_force"]
    assert noisy.mean() == pytest.approx(3.0, abs=4 * 0.7 / np.sqrt(len(noisy)))
    assert noisy.std() == pytest.approx(0.7, rel=0.06)
    assert np.abs(perfect).max() > 100


@pytest.mark.full
def test_a_mean_over_a_window_is_the_mean_of_instants():
    """A bouncing rig with damping: a sample over 2 ms equals the mean of many instantaneous ones in that window."""
    others = {"dynamics": "zero-order-hold", "dynamics_period": 8e-3, "hold": 4e-3, "robot": ROBOT}
    window = 3e-3
    mean = observed(rig_of(**others, delay=2e-3, sensor={"averaging": window}), 3)["measured_force"]
    places = (np.arange(400) + 0.5) / 400 * window + 2e-3 - window / 2
    rig = rig_of(**others, delay=4e-3)
    instants = by_rows(
        lambda late: run_cycles(delayed(rig, late), NOTHING, NoiseDraws(None, None), 3, 1)[1]["measured_force"]
    )(places)
    # only the first sample that is not zero: from then on the motions differ
    assert mean[1] == pytest.approx(float(np.asarray(instants)[:, 1, 0].mean()), rel=2e-5)


def delayed(rig, late):
    return replace(rig, sensor=SensorModel(late))


@pytest.mark.full
def test_a_fast_robot_is_read_at_any_age():
    """Jitter of a nanosecond changes nothing, however fast the robot is beside the period."""
    fast = TransferFunction.of_zeros([], [-4000.0, -3000.0], 1.2e7)
    others = {"dynamics": "zero-order-hold", "dynamics_period": 4e-3, "hold": 4e-3, "delay": 1e-4, "robot": fast}
    steady, shaken = (observed(rig_of(**others, sensor=one), 300)["position"] for one in ({}, {"jitter": 1e-9}))
    assert_allclose(shaken[: len(steady)], steady, atol=1e-6 * np.abs(steady).max())


def test_every_look_at_the_encoders_has_its_own_noise():
    """Also between two samples of a force that is sampled more slowly."""
    law = COMPENSATORS["fixed-gain"](number(1.0), FilteredDifference(number(0.0)))
    others = {"dynamics": "zero-order-hold", "dynamics_period": 1e-3, "hold": 4e-3, "sensor_period": 4e-3}
    rig = rig_of(1e-6, 0.0, start=(0, 0), law=law, sensor={"position_noise": 1e-4}, **others)
    force = observed(rig, 400)["compensation_force"][4:]
    by_place = force[: len(force) // 4 * 4].reshape(-1, 4).std(axis=0)
    assert_allclose(by_place, np.sqrt(2) * 1e-4 / 1e-3, rtol=0.2)


def test_limits_of_commands():
    others = {"dynamics": "zero-order-hold", "dynamics_period": 2e-3, "hold": 4e-3, "delay": 2e-3}
    free = observed(rig_of(**others), 400)
    slow = observed(rig_of(**others, limits={"rate_limit": 0.02}), 400)
    steps = np.diff(slow["robot_position"])
    assert np.abs(steps).max() == pytest.approx(0.02 * 4e-3, rel=1e-9)
    near = observed(rig_of(**others, limits={"position_limit": 4e-3}), 400)
    assert np.abs(near["robot_position"]).max() == 4e-3 < np.abs(free["robot_position"]).max()


@pytest.mark.full
def test_energy_of_the_port_is_the_work_that_a_spring_stores():
    """Undamped spring: the work of its force at the robot is minus what it holds there."""
    others = {"dynamics": "zero-order-hold", "dynamics_period": 2e-3, "hold": 4e-3, "delay": 2e-3, "robot": ROBOT}
    seen = observed(rig_of(2e4, 0.0, **others), 500)
    stored = 2e4 / 2 * seen["robot_position"] ** 2
    assert_allclose(seen["port_work"] + stored, stored[0], atol=2e-6 * stored.max())


def lanes(seed, count, shape):
    """Random rigs of one hyperperiod, with a gain or leads, and whether each is stable by the exact map."""
    rng = np.random.default_rng(seed)
    dynamics, step, delays, kind = shape
    hold, built, radii = 10 ** rng.uniform(-3, -2), [], []
    for _ in range(count):
        mass = 10 ** rng.uniform(1, 3.5)
        turn = rng.uniform(0.02, 0.5)  # rad of the contact's oscillation in a hold
        stiffness = mass * (turn / hold) ** 2
        damping = rng.choice([0.0, rng.uniform(0, 0.3)]) * np.sqrt(stiffness * mass)
        real, turned = -rng.uniform(0.2, 3) / hold, rng.uniform(0, 3) / hold
        robot = TransferFunction.of_zeros([], [real + 1j * turned, real - 1j * turned], real**2 + turned**2)
        delay = hold * rng.uniform(*delays)
        lag = delay + hold
        gain = rng.uniform(0, 2.5) * stiffness * lag if kind == "gain" else 0.0
        leads = (rng.uniform(0, 2) * lag, rng.uniform(0, 2) * lag**2 / 2) if kind == "lead" else (0.0, 0.0)
        others = {"dynamics": dynamics, "dynamics_period": step * hold, "hold": hold, "delay": delay, "robot": robot}
        law = LinearCompensator.of(gain=gain, lead=leads[0], second_lead=leads[1])
        built.append(rig_of(stiffness, damping, mass, start=(0.0, 1.0), law=law, **others))
        named = {"lead": leads[0], "second_lead": leads[1]} if kind == "lead" else {}
        exact = sampled_loop(mass, stiffness, damping, gain=gain, velocity="model", **others, **named)
        radii.append((exact.spectral_radius(), exact.period))
    return built, np.array(radii)


SHAPES = [
    ("zero-order-hold", 0.5, (0.0, 0.9), "gain"),
    ("zero-order-hold", 0.5, (1.1, 1.9), "lead"),
    ("explicit-euler", 1.0, (0.1, 0.9), "gain"),
    ("semi-implicit-euler", 1.0, (2.1, 2.9), "lead"),
    ("zero-order-hold", 1.5, (0.1, 0.9), "lead"),
]


def disagreement(seed, count, shape):
    """How many random rigs grow in simulation though the exact map decays, or the other way round."""
    built, radii = lanes(seed, count, shape)
    schedules = {rig.schedule for rig in built}
    longest = max(schedules, key=lambda found: found.rows)
    cycles = 6000

    def amplitude(rig):
        seen = run_cycles(rig, NOTHING, NoiseDraws(None, None), cycles // 20, 20)[1]
        frequency = rig.plant.hardware[0].law.stiffness / rig.plant.mass
        size = jnp.sqrt(seen["velocity"] ** 2 + frequency * seen["position"] ** 2)[:, 0]
        third = len(size) // 3
        return jnp.max(size[third : 2 * third]), jnp.max(size[2 * third :])

    together = jax.tree.map(lambda *rows: jnp.stack(rows), *[clocked(rig, longest) for rig in built])
    early, late = (np.asarray(values) for values in by_rows(amplitude)(together))
    # what has decayed to nothing, 1e-30 of the start, has not grown: there the wall's own motion, of 1e24 kg, is left
    grown = (late > np.maximum(early, 1e-30)) | ~np.isfinite(late)
    bound = np.abs(np.log(radii[:, 0]) * cycles / 3) > 0.02  # nearer to the boundary nothing shows in the time
    return int(np.sum((grown != (radii[:, 0] > 1)) & bound)), int(bound.sum()), float(np.mean(radii[:, 0] > 1))


def clocked(rig, found):
    return replace(rig, schedule=found)


MANY = [pytest.param(shape, seed, 50, 40, marks=pytest.mark.full) for shape in SHAPES for seed in (11, 12)]


@pytest.mark.parametrize(("shape", "seed", "count", "least"), [(SHAPES[1], 1, 16, 12), *MANY], ids=str)
def test_simulation_and_exact_map_agree_on_stability(shape, seed, count, least):
    wrong, judged, unstable = disagreement(seed, count, shape)
    assert wrong == 0 and judged >= least and 0 < unstable < 1
