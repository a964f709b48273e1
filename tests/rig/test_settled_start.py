"""A rig begins in the motion that it settles into: the first samples are those of a run that began long before."""

import numpy as np
import pytest
from helpers.line_rig import line_rig
from numpy.testing import assert_allclose

import dockdyn
from dockdyn.rig.compensator import join_rig
from dockdyn.rig.model.delayed_reads import ages_of
from dockdyn.rig.model.halves import begin_computer, begin_laboratory, compute_cycle, laboratory_measurement, with_pose

EARLIER = 0.6  # s, before the run that is looked at: a whole number of cycles of all loops here
LOOKED = 0.06  # s, from the start on
SPEED = 0.04  # m/s
ROBOT = {"bandwidth": "14 Hz", "damping": 0.55}


LOOPS = {
    "continuous": {"dynamics": {"method": "continuous"}},
    "half a period": {"dynamics": {"method": "half-period", "period": "2 ms"}},
    "a step a hold": {"dynamics": {"period": "4 ms"}},
    "commands that apply later": {
        "dynamics": {"method": "semi-implicit-euler", "period": "2 ms"},
        "hold": {"period": "4 ms", "applies_after": 2},
    },
    "holds between steps": {
        "dynamics": {"method": "explicit-euler", "period": "3 ms"},
        "hold": {"period": "4 ms", "applies_after": 1},
    },
    "leads": {
        "dynamics": {"period": "3 ms"},
        "compensator": {"law": "command-lead", "lead": "11 ms", "second_lead": "60 us*s"},
    },
    "no robot": {"robot": None, "dynamics": {"period": "4 ms"}},
    "no robot, led, half a period": {
        "robot": None,
        "dynamics": {"method": "half-period", "period": "3 ms"},
        "compensator": {"law": "command-lead", "lead": "11 ms", "second_lead": "60 us*s"},
        "hold": {"period": "4 ms", "applies_after": 2},
    },
    "a tool": {
        "dynamics": {"period": "4 ms"},
        "hold": {"period": "4 ms", "applies_after": 1},
        "tool": {"mass": "20 kg", "believed_mass": "15 kg", "compensation": "weight-and-inertia"},
        "sensor": {"delay": "4 ms", "threshold": "1 N"},
    },
}
DAMPED = {"law": "fixed-gain", "gain": 30.0, "gated": False}
FILTERS = {
    "tracked": {"velocity": "tracking-differentiator", "differentiator_step": "9 ms"},
    "tracked, beyond what is linear": {"velocity": "tracking-differentiator", "differentiator_rate": 5.0},
    "tracked as printed": {
        "velocity": "tracking-differentiator",
        "differentiator_form": "as-printed",
        "differentiator_step": "9 ms",
    },
    "tracked as printed, beyond what is linear": {
        "velocity": "tracking-differentiator",
        "differentiator_form": "as-printed",
        "differentiator_rate": 5.0,
    },
    "differenced": {"velocity": "filtered-difference", "filter_time": "9 ms"},
}


def approach(rng, **loop):
    """A rig along one direction that comes from far away; `loop` are the keys of its loop that differ."""
    parts = {"hold": {"period": "4 ms"}, "sensor": {"delay": "2.7 ms"}, "robot": ROBOT} | loop
    return line_rig(
        1e13,  # kg: what tools and compensators do to it on the way does not count
        {"law": "spring-dashpot", "stiffness": 2e4, "damping": 40.0},
        velocity=SPEED,
        position=-rng.uniform(0.5, 1.0),
        duration=EARLIER + LOOKED,
        stability={"time": 0, "closed": ["spring"]},  # they do not meet within it
        loop={key: part for key, part in parts.items() if part is not None},
    )


def beginnings(load, content):
    """What is observed from the start on, and from an equal place on in a run that began earlier."""
    place = content["body"]["target"]["position"]
    early = dockdyn.simulate(load(content, {"body.target.position": place - SPEED * EARLIER}))
    late = dockdyn.simulate(load(content, {"duration": LOOKED}))
    first = np.flatnonzero(np.abs(early.time.values - EARLIER) < 1e-9)[0]
    return late, early.isel(time=slice(first, first + late.sizes["time"]))


@pytest.mark.full_cases(
    "a step a hold",
    "a tool",
    "commands that apply later",
    "continuous",
    "half a period",
    "no robot",
    "no robot, led, half a period",
    "holds between steps",
)
@pytest.mark.parametrize("name", LOOPS)
def test_a_robot_that_follows_begins_as_after_a_long_approach(load, name):
    """Held commands make a staircase, which no robot follows at the speed of the approach at every instant."""
    content = approach(np.random.default_rng(list(LOOPS).index(name)), **LOOPS[name])
    late, early = beginnings(load, content)
    for quantity, scale in (("robot_velocity", SPEED), ("robot_position", 1e-3), ("measured_force", 1.0)):
        assert_allclose(late[quantity].values, early[quantity].values, rtol=0, atol=1e-8 * scale, err_msg=quantity)


@pytest.mark.full
@pytest.mark.parametrize("name", FILTERS)
def test_an_estimate_of_the_velocity_begins_as_after_a_long_approach(load, name):
    """A damper on an estimated velocity, that acts without contact, too: its force from the first instant on."""
    rng = np.random.default_rng(10 + list(FILTERS).index(name))
    content = approach(rng, dynamics={"period": "4 ms"}, compensator=DAMPED | FILTERS[name])
    late, early = beginnings(load, content)
    force = early.compensation_force.values
    assert np.abs(force).min() > 0.5 * DAMPED["gain"] * SPEED
    assert_allclose(late.compensation_force.values, force, rtol=1e-6)


@pytest.mark.full
def test_each_axis_in_space_begins_as_after_a_long_approach(load):
    """Two bodies that come straight on; the robot along the approach is slower than the others."""
    chaser = {
        "mass": 900.0,
        "inertia": [300.0, 310.0, 320.0],
        "velocity": [-SPEED, 0.5 * SPEED, 0.0],
        "feature": {"tip": {"position": [-1.0, 0.0, 0.0]}},
    }
    target = {
        "mass": 1500.0,
        "inertia": [900.0, 910.0, 920.0],
        "surface": {"face": {"shape": "plane", "point": [1.0, 0.0, 0.0], "normal": [1.0, 0.0, 0.0]}},
    }
    content = {
        "schema": 2,
        "rig": {"carries": "chaser", "against": "target"},
        "body": {"chaser": chaser, "target": target},
        "contact": {
            "tip": {"between": ["tip", "face"], "normal": {"law": "spring-dashpot", "stiffness": 2e4, "damping": 40.0}}
        },
        "loop": {
            "hold": {"period": "4 ms"},
            "sensor": {"delay": "2.7 ms"},
            "robot": ROBOT | {"x": {"bandwidth": "9 Hz", "damping": 0.7}},
            "dynamics": {"method": "explicit-euler", "period": "3 ms"},
        },
    }
    far = np.array([2.002, 0.1, 0.2])  # 2 mm before contact
    earlier = far - EARLIER * np.array(chaser["velocity"])
    late = dockdyn.simulate(load(content | {"duration": LOOKED}, {"body.chaser.position": far.tolist()}))
    early = dockdyn.simulate(load(content | {"duration": EARLIER + LOOKED}, {"body.chaser.position": earlier.tolist()}))
    first = np.flatnonzero(np.abs(early.time.values - EARLIER) < 1e-9)[0]
    for quantity, scale in (("robot_velocity", SPEED), ("robot_position", 1e-3)):
        known = early[quantity].values[first : first + 12]
        assert_allclose(late[quantity].values[:12], known, rtol=0, atol=1e-8 * scale, err_msg=quantity)


@pytest.mark.full
@pytest.mark.parametrize("samples", [1, 2, 4])
def test_the_computer_of_a_rig_knows_where_the_robot_was_in_the_cycles_before(load, samples):
    """Where its first force was measured, some cycles before the start, is where the rig has it, as often as that samples."""
    rng = np.random.default_rng(samples)
    for late in (1, 2, 3):
        sensor = {"delay": late * 4e-3, "period": 4e-3 / samples}
        rig = join_rig(load(approach(rng, dynamics={"period": 4e-3}, sensor=sensor))).rig
        ages = ages_of(rig)
        known = rig.measured(ages, rig.begin(), 0.0, None).touched
        pose = laboratory_measurement(rig, ages, begin_laboratory(rig), None).pose
        seen = compute_cycle(rig, with_pose(rig, begin_computer(rig), pose), np.zeros(1))[2]
        assert_allclose(seen.touched_position, known, rtol=1e-12)
