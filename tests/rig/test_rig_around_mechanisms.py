"""Rigs whose virtual bodies have a latch, fly in an orbit or are controlled: against motions that need no rig."""

import numpy as np
import pytest
import tomlkit
from helpers.refusals import refused
from numpy.testing import assert_allclose
from plain_tables import acting
from scipy.integrate import solve_ivp

import dockdyn
from dockdyn.mechanics.rigid_body import pair_momentum
from dockdyn.rig.build import rig_of
from dockdyn.rig.model.rig import IdealContact
from dockdyn.rig.resting import loop_of
from dockdyn.rig.run import Grid, run_with_seed
from dockdyn.scenario.language.errors import ScenarioError
from dockdyn.scenario.load import parse

DEEPEST = 0.02 / np.sin(np.radians(40.0))  # m, from the apex to the middle of a ball that touches the cone all around
TIP = {"position": [0.5, 0.0, 0.0], "radius": 0.02}
CONE = {"shape": "cone", "apex": [-0.3, 0.0, 0.0], "axis": [-1.0, 0.0, 0.0], "half_angle": "40 deg"}
PLATE = {"shape": "plane", "point": [-0.5, 0.0, 0.0], "normal": [-1.0, 0.0, 0.0]}
RAMP = {"axial_length": 5e-3, "angle": "45 deg", "stiffness": 1500.0, "friction": 0.1}
LATCH = {"kind": "latch", "name": "latch", "between": ["chaser", "target"], "feature": "tip", "surface": "cone"}
LATCH |= {"entry": DEEPEST + 6e-3, "ramp": RAMP}
METHODS = {
    "zero-order-hold": {"method": "zero-order-hold", "period": "2 ms"},
    "half-period": {"method": "half-period", "period": "2 ms"},
    "continuous": {"method": "continuous"},
}
LATE = {"hold": {"period": "4 ms"}, "sensor": {"delay": "20 ms"}}


def latched(speed, aside, method="zero-order-hold", **latch):
    """A probe that comes along the axis of a cone, or aside of it (m), with a latch in its throat, on a rig that is late."""
    start = [-0.3 - DEEPEST - 10e-3 - 0.5, aside, 0.0]
    chaser = {"mass": 100.0, "inertia": [10.0, 12.0, 14.0], "position": start, "velocity": [speed, 0.0, 0.0]}
    return {
        "schema": 2,
        "rig": {"carries": "chaser", "against": "target"},
        "duration": 0.6,
        "body": {
            "chaser": chaser | {"feature": {"tip": TIP}},
            "target": {"mass": 400.0, "inertia": [40.0, 50.0, 60.0], "surface": {"cone": CONE}},
        },
        "contact": {
            "tip": {"between": ["tip", "cone"], "normal": {"law": "spring-dashpot", "stiffness": 2e5, "damping": 400.0}}
        },
        **acting(LATCH | latch),
        "loop": LATE | {"dynamics": METHODS[method]},
    }


def read(tables, changes=None):
    """The scenario of these tables."""
    return parse(tomlkit.dumps(tables), "test", changes)


@pytest.mark.full
@pytest.mark.parametrize("method", METHODS)
def test_a_latch_that_holds_before_anything_touches_is_in_software_alone(method):
    """Of ramp and catch nothing is late: where the cone is not touched a late rig moves as without, caught at that instant."""
    tables = latched(0.04, 0.0, method) | {"stability": {"distance": 0.1}}  # where it would touch, if it did
    rig = dockdyn.simulate(read(tables))
    flight = {key: value for key, value in tables.items() if key not in ("rig", "loop")}
    free = dockdyn.simulate(read(flight | {"output": {"interval": 4e-3}}))
    apart = (free.position.values[:, 0] - free.position.values[:, 1])[: len(rig.time)]
    times = free.time.values[: len(rig.time)]
    assert np.abs(rig.contact_force).max() == 0 and np.abs(rig.velocity).max() > 0.03
    assert_allclose(
        np.stack([np.interp(rig.time, times, row) for row in apart.T], 1)[::2], rig.model_pose[::2, :3], atol=1e-9
    )
    assert_allclose(rig.model_pose, rig.ideal_pose, atol=1e-10)
    caught = dockdyn.summarise(free)["capture_time_s"]
    held = rig.latch_held.values[:, 0] > 0
    assert held[rig.time >= caught].all() and not held[rig.time < caught].any()


@pytest.mark.full
def test_momentum_is_kept_while_ramp_catch_and_late_contact_act():
    """Whatever the loop does the bodies act on each other in pairs."""
    scenario = read(latched(0.1, 1e-3, stiffness=2e4, damping=200.0))
    rig = rig_of(scenario, loop_of(scenario), None)
    grid, nothing = Grid.of(rig, scenario.content.duration), IdealContact(*(np.zeros((1, rig.plant.port_axes)),) * 2)
    end, seen = run_with_seed(rig, nothing, np.int64(0), grid.rows, grid.stride)
    assert np.abs(np.asarray(seen["total_force"])).max() > 20 and np.asarray(seen["latch_held"])[-1] == 1
    motions = (rig.plant.initial(), end.motion)
    before, after = (pair_momentum(rig.plant.model.bodies, one.q.roots, one.v.roots) for one in motions)
    for which, scale in ((0, 2), (1, 3)):
        change = np.abs((after[which] - before[which]).array()).max()
        assert change < 1e-10 * float(max(before[scale], after[scale]))


MU, AXIS = 3.986004418e14, 6.8e6  # m³/s², m


def in_orbit(distance, speed):
    """A chaser that comes from so far below (m) to a target that begins where the orbit is."""
    plate = {"mass": 400.0, "inertia": [40.0, 50.0, 60.0], "surface": {"plate": PLATE}}
    start = {"position": [-1.02 - distance, 0.0, 0.3], "velocity": [speed, 0.0, 0.0]}
    chaser = {"mass": 100.0, "inertia": [10.0, 12.0, 14.0], "feature": {"tip": TIP}, **start}
    return {
        "schema": 2,
        "rig": {"carries": "chaser", "against": "target"},
        "duration": 1.3 * distance / speed,
        "body": {"chaser": chaser, "target": plate},
        "contact": {
            "tip": {"between": ["tip", "plate"], "normal": {"law": "spring-dashpot", "stiffness": 50.0, "damping": 5.0}}
        },
        "orbit": {"semi_major_axis": AXIS},
        "loop": {"hold": {"period": 0.1}, "dynamics": {"period": 0.1}, "sensor": {"delay": 0.1}},
    }


@pytest.mark.full
def test_in_orbit_the_approach_is_that_of_two_bodies_that_fall():
    """Until they touch: two point masses about the Earth, by an integrator of another kind; without orbit it is a line."""
    distance, speed = 3.0, 0.02
    run = dockdyn.simulate(read(in_orbit(distance, speed)))
    early = run.time.values < run.time.values[np.argmax(np.abs(run.contact_force.values[:, 0]) > 0)]
    assert 0.7 * distance / speed < run.time.values[early][-1] < run.time.values[-1] - 5

    def fall(t, y):
        target, away = y[:3], y[3:6]
        chaser, pull = target + away, -MU / np.linalg.norm(target) ** 3
        # −μ (c/|c|³ − r/|r|³), without the difference of large numbers
        ratio = (away @ (away + 2 * target)) / (target @ target)
        lessened = -np.expm1(-1.5 * np.log1p(ratio))
        return np.concatenate([y[6:9], y[9:], pull * target, pull * (away - lessened * chaser)])

    begun = [AXIS, 0.0, 0.0, -1.02 - distance, 0.0, 0.3, 0.0, np.sqrt(MU / AXIS), 0.0, speed, 0.0, 0.0]
    times = run.time.values[early]
    known = solve_ivp(fall, (0, times[-1]), begun, "DOP853", times, rtol=1e-13, atol=1e-9).y[3:6].T
    straight = np.array([-1.02 - distance, 0.0, 0.3]) + np.outer(times, [speed, 0.0, 0.0])
    assert_allclose(run.model_pose.values[early, :3], known, atol=1e-8)
    assert np.abs(known - straight).max() > 0.05


DAMPING, RATE, INERTIA, SAMPLE = 3.0, 0.2, 14.0, 0.05  # N m s, rad/s, kg m², s


def damped(method):
    """A chaser that turns about z while its rate is damped at samples, before it touches."""
    control = {"law": "rate-damping", "body": "chaser", "period": SAMPLE, "base_damping": DAMPING}
    tables = in_orbit(0.05, 0.1) | {"loop": LATE | {"dynamics": METHODS[method]}, "control": control}
    del tables["orbit"]
    tables["body"]["chaser"] |= {"rate": [0.0, 0.0, RATE], "feature": {"tip": TIP | {"position": [0.5, 0.0, 0.0]}}}
    return tables


@pytest.mark.full
@pytest.mark.parametrize("method", ["zero-order-hold", pytest.param("continuous", marks=pytest.mark.full)])
def test_control_acts_at_its_own_samples(method):
    """A torque −c ω held from sample to sample: ω and the angle in closed form, whatever the instants of the loop."""
    run = dockdyn.simulate(read(damped(method)))
    early = np.abs(run.contact_force.values).max(axis=1) == 0
    times = run.time.values[: np.argmin(early)]
    assert times[-1] > 4 * SAMPLE
    number = np.floor(times / SAMPLE + 1e-9)
    left = 1 - DAMPING * SAMPLE / INERTIA
    since = times - number * SAMPLE
    angle = RATE * SAMPLE * (1 - DAMPING * SAMPLE / INERTIA / 2) * (1 - left**number) / (1 - left)
    angle += RATE * left**number * (since - DAMPING / INERTIA * since**2 / 2)
    assert_allclose(run.model_pose.values[: len(times), 5], angle, atol=1e-11)
    assert np.abs(run.contact_force).max() > 0


OUTSIDE = {"law": "fmu:autopilot.fmu", "body": "chaser", "period": SAMPLE, "outputs": {"a": "torque.x"}}
WRONG = [
    (
        latched(0.1, 0.0),
        {"loop.dynamics.method": "explicit-euler"},
        "'explicit-euler': with elements or joints it must be",
    ),
    (
        latched(0.1, 0.0),
        {"latch.latch.grip": "weld"},
        "grip = 'weld': on a rig must be 'compliant' or 'compliant-weld'",
    ),
    (damped("zero-order-hold"), {"loop.dynamics.method": "semi-implicit-euler"}, "with [control] it must be"),
    (damped("zero-order-hold"), {"control": OUTSIDE}, "the computer of a rig asks no FMU; must be another law"),
    (damped("zero-order-hold"), {"control.body": "chasre"}, "control.body = 'chasre': no such body"),
]


@pytest.mark.parametrize(("tables", "changes", "words"), WRONG)
def test_what_no_rig_has_is_refused_in_one_line(tables, changes, words):
    with refused(words):
        read(tables, changes)


def test_margins_refuse_control_at_samples():
    with pytest.raises(ScenarioError, match=r"control.period = .* counts in runs only"):
        dockdyn.margins(read(damped("zero-order-hold")))


@pytest.mark.full
def test_margins_of_a_latch_that_is_not_reached_are_those_of_the_contact():
    tables = latched(0.1, 0.02)  # the wall is touched before the ramp
    with_latch = dockdyn.margins(read(tables))
    del tables["latch"]
    without = dockdyn.margins(read(tables))
    assert with_latch["growth_rate_1_s"] == pytest.approx(without["growth_rate_1_s"], rel=1e-9)
