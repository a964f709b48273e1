"""The rig with a mechanism: against the mechanism's own motion, conservation of momentum, input."""

from functools import cache
from types import SimpleNamespace

import numpy as np
import pytest
import tomlkit
from helpers.refusals import refused
from numpy.testing import assert_allclose
from plain_tables import by_name, listed

import dockdyn
from dockdyn.api import scene_of
from dockdyn.mechanics.rigid_body import pair_momentum
from dockdyn.report.scene.rotation import rotate
from dockdyn.rig.build import rig_of
from dockdyn.rig.model.rig import IdealContact
from dockdyn.rig.resting import loop_of
from dockdyn.rig.run import Grid, run_with_seed, without_rig
from dockdyn.scenario.language.errors import ScenarioError
from dockdyn.scenario.load import Scenario, parse

HEAD = {"position": [0.2, 0.0, 0.0], "radius": 0.015}
CONE = {"shape": "cone", "apex": [1.6, 0.0, 0.0], "axis": [1.0, 0.0, 0.0], "half_angle": "40 deg"}
CHASER = {"mass": 900.0, "inertia": [[300.0, 10.0, -5.0], [10.0, 400.0, 8.0], [-5.0, 8.0, 500.0]]}
TARGET = {"mass": 2100.0, "inertia": [900.0, 800.0, 700.0], "surface": {"cone": CONE}}
BEGIN = {"position": [2.2, 0.07, -0.04], "attitude": [0.0, 0.0, 0.02, 1.0], "velocity": [-0.08, 0.002, 0.0]}
TOUCH = {
    "normal": {"law": "hunt-crossley", "stiffness": "9 kN/m", "exponent": 1, "damping": "1 s/m"},
    "friction": {"law": "coulomb", "coefficient": 0.1, "regularisation": "1 mm/s"},
}
LOOP = {
    "hold": {"period": "4 ms"},
    "sensor": {"delay": "3 ms"},
    "dynamics": {"period": "2 ms"},
    "robot": {"poles": [[-180, 90], [-180, -90]], "gain": 40500},
}
PORTS = {"port": {"mouth": {"position": [1.8, 0.0, 0.0], "axis": [1.0, 0.0, 0.0]}}}


def read(tables: dict, changes: dict | None = None) -> Scenario:
    """The scenario of these tables."""
    return parse(tomlkit.dumps(tables), "test", changes)


def of_two() -> dict:
    """Two free bodies."""
    chaser = {**CHASER, **BEGIN, "feature": {"head": {**HEAD, "position": [0.4, 0.0, 0.0]}}}
    return {
        "schema": 2,
        "rig": {"carries": "chaser", "against": "target"},
        "duration": 3.0,
        "body": {"chaser": chaser, "target": {**TARGET}},
        "contact": {"head": {"between": ["head", "cone"], **TOUCH}},
        "loop": dict(LOOP),
    }


def of_many(period: float = 4e-3) -> dict:
    """A probe in a sprung slide, an array on a hinge, and a latch that is computed; a bumper of the target touches, too.

    All of `LOOP` is in proportion to the `period` (s).
    """
    slide = {"kind": "prismatic", "axis": [1.0, 0.0, 0.0], "stiffness": 900.0, "damping": 60.0}
    hinge = {
        "kind": "revolute",
        "axis": [0.0, 0.0, 1.0],
        "position": [0.0, 0.8, 0.0],
        "stiffness": 40.0,
        "damping": 2.0,
    }
    plate = {"shape": "plane", "point": [0.1, 0.0, 0.0], "normal": [1.0, 0.0, 0.0]}
    bumper = {"position": [1.715, 0.0, 0.03], "radius": 0.01}
    return {
        "schema": 2,
        "duration": 1000 * period,
        "rig": {"carries": "probe", "against": "target"},
        "approach": {
            "of": "tip",
            "to": "mouth",
            "distance": 0.01,
            "closing_speed": 0.15,
            "lateral_offset": [0.03, -0.01],
        },
        "body": {
            "chaser": {**CHASER},
            "array": {
                "on": "chaser",
                "position": [0.0, 2.0, 0.0],
                "mass": 30.0,
                "inertia": [9.0, 1.0, 9.0],
                "joint": hinge,
            },
            "probe": {
                "on": "chaser",
                "position": [1.6, 0.0, 0.0],
                "mass": 36.0,
                "inertia": [0.09, 0.75, 0.75],
                "joint": slide,
                "feature": {"head": HEAD},
                "surface": {"plate": plate},
                "port": {"tip": {"position": [0.215, 0.0, 0.0], "axis": [1.0, 0.0, 0.0]}},
            },
            "target": {**TARGET, **PORTS, "feature": {"bumper": bumper}},
        },
        "contact": {
            "bumper": {"between": ["bumper", "plate"], **TOUCH},
            "head": {"between": ["head", "cone"], **TOUCH},
        },
        "latch": {
            "latch": {
                "between": ["probe", "target"],
                "anchor": [[0.2, 0.0, 0.0], [1.6233, 0.0, 0.0]],
                "reach": 0.02,
                "lateral": 0.02,
                "stiffness": "9 kN/m",
                "damping": "200 N s/m",
            }
        },
        "thruster": {"push": {"body": "chaser", "position": [0, 0, 0], "direction": [1, 0, 0], "force": 0.0}},
        "phase": {
            "approach": {},
            "pushing": {"when": "contact", "set": {"thruster.push.force": "60 N"}},
            "held": {"when": "latched", "set": {"thruster.push.force": "0 N"}},
        },
        "loop": {"hold": {"period": period}, "sensor": {"delay": 0.75 * period}, "dynamics": {"period": period}},
    }


@pytest.mark.full
def test_the_replay_has_both_mock_ups():
    """The mock-up that is carried touches where the robot is; both are drawn, and paler what the computer has."""
    dataset = dockdyn.simulate(read(of_two()))
    scene = scene_of(dataset)
    assert {"chaser", "target", "model (computed)", "without rig"} == {part.name.split("/")[0] for part in scene.parts}
    there = np.stack([np.interp(scene.time, dataset.time, axis) for axis in dataset.robot_position.values.T], axis=1)
    (force,) = scene.forces
    assert_allclose(force.carrier.position + rotate(force.carrier.attitude, force.place), there, atol=1e-5)


@pytest.mark.full
def test_the_contact_feels_the_inertia_behind_it():
    """Head on, a probe and what a screw reflects between it and the chaser: m1 + m2 b / (m2 + b), beside the target."""
    tables = of_many()
    for key in ("phase", "contact", "latch"):  # the latch would catch before they meet
        del tables[key]
    chaser, _, probe, target = listed(tables["body"])
    del probe["joint"], target["feature"]
    target["surface"] = {"face": {"shape": "plane", "point": [1.6, 0.0, 0.0], "normal": [1.0, 0.0, 0.0]}}
    tables["body"] = by_name([chaser, probe, target])
    tables["approach"] |= {"lateral_offset": [0.0, 0.0], "distance": 0.1}
    tables["contact"] = {"head": {"between": ["head", "face"], **TOUCH}}
    screw = {"between": ["probe", "chaser"], "moved_mass": 20.0}
    tables |= {"strut": {"screw": screw | {"anchor": [[0.0, 0.0, 0.0], [0.5, 0.0, 0.0]]}}}
    tables["stability"] = {"depth": "2 mm"}
    loop = loop_of(read(tables))
    felt = 36.0 + 900.0 * 20.0 / (900.0 + 20.0)
    assert_allclose(loop.effective_mass, 1 / (1 / felt + 1 / 2100.0), rtol=1e-9)
    assert_allclose(loop.stiffness, 9e3, rtol=1e-9)
    assert_allclose(loop.damping, 9e3 * 2e-3 * 1.0, rtol=1e-6)  # of Hunt and Crossley: k d times 1 s/m


@cache
def many(period):
    """A run of many bodies, its grid and what it would be without rig: that of half a period has as many instants."""
    scenario = read(of_many(period))
    rig = rig_of(scenario, loop_of(scenario), None)
    grid = Grid.of(rig, scenario.content.duration)
    ideal, oracle = without_rig(scenario, rig, grid)
    end, seen = run_with_seed(rig, oracle, np.int64(0), grid.rows, grid.stride)
    time = np.arange(grid.instants) * grid.period
    return SimpleNamespace(scenario=scenario, rig=rig, time=time, seen=seen, ideal=ideal, end=end)


PERIODS = (4e-3, 2e-3)  # s


@pytest.mark.full
def test_short_periods_leave_the_motion_of_the_mechanism():
    """Hold, step and delay to zero together: poses approach those of the kind `mechanism` in proportion."""
    errors = []
    for run in map(many, PERIODS):
        early = run.time <= 1.8
        assert np.abs(run.ideal["ideal_force"][early]).max() > 20
        errors.append(np.abs(run.seen["model_pose"] - run.ideal["ideal_pose"])[early].max())
    assert 1.7 < errors[0] / errors[1] < 2.4
    assert errors[1] < 2e-3


@pytest.mark.full
def test_ideal_motion_is_that_of_the_kind_mechanism():
    """What a rig is compared with is what `dockdyn run` shows of the same bodies."""
    run = many(PERIODS[0])
    alone = of_many()
    for key in ("rig", "loop"):
        del alone[key]
    alone |= {"duration": float(run.time[-1]), "output": {"interval": 4e-3}}
    dataset = dockdyn.simulate(read(alone))
    carried, standing = (dataset.sel(body=name) for name in run.scenario.content.mock_ups)
    apart = np.linalg.norm(carried.position.values - standing.position.values, axis=1)
    assert_allclose(np.linalg.norm(run.ideal["ideal_pose"][:, :3], axis=1), apart[: len(run.time)], atol=1e-8)
    lateness = []
    for one, period in zip(map(many, PERIODS), PERIODS, strict=True):
        number = np.asarray(one.seen["phase_number"])
        assert number[-1] == 2
        lateness.append([one.time[np.argmax(number >= index)] for index in (1, 2)] - dataset.phase_began.values[1:])
        assert 0 < lateness[-1][0] < 3 * period  # the model is told of a contact at the next instants, late by the loop
    assert lateness[1][1] < 0.75 * lateness[0][1]


@pytest.mark.full
def test_momentum_is_kept_whatever_the_loop_does():
    """All bodies together: what is measured acts on both mock-ups' bodies, elements and joints in pairs, thrusters not."""
    scenario = read(of_many(PERIODS[0]))
    rig = rig_of(scenario, loop_of(scenario), None)
    grid, nothing = Grid.of(rig, scenario.content.duration), IdealContact(*(np.zeros((1, rig.plant.port_axes)),) * 2)
    end, seen = run_with_seed(rig, nothing, np.int64(0), grid.rows, grid.stride)
    assert np.abs(np.asarray(seen["total_force"])).max() > 20
    model = rig.plant.model

    def momenta(motion):
        places = model.moving.placed(motion.q, motion.v).bodies
        poses, twists = zip(*((place.pose, place.twist) for place in places), strict=True)
        return pair_momentum(model.bodies, poses, twists)

    before, after = momenta(rig.plant.initial()), momenta(end.motion)
    given = end.motion.memory.outside.thrusters
    for which, scale, thrust in ((0, 2, given.impulse), (1, 3, given.turning_impulse)):
        change = np.abs((after[which] - before[which] - thrust).array()).max()
        assert change < 1e-10 * float(max(before[scale], after[scale]))


LATCH = {"between": ["probe", "target"], "anchor": [[0.0, 0.0, 0.0], [0.0, 0.0, 0.0]], "reach": 1e-3, "lateral": 1e-2}
WRONG = [
    ({"rig.against": "tarket"}, ["rig.against", "'tarket'", "target"]),
    ({"rig.against": "probe"}, ["rig.against", "another"]),
    ({"rig.carries": "array"}, ["rig", "'array'", "contact"]),
    ({"loop.dynamics": {"method": "explicit-euler", "period": 1e-3}}, ["dynamics", "zero-order-hold"]),
    ({"integrator": {"step": 1e-3}}, ["integrator"]),
    ({"phase": {}, "latch": {"hook": LATCH | {"grip": "pin"}}}, ["latch.hook.grip", "'compliant'"]),
    (
        {"phase": {}, "latch": {"hook": LATCH | {"stiffness": 1e3, "ends_run": True}}},
        ["latch.hook.ends_run", "must be false"],
    ),
]


@pytest.mark.parametrize(("changes", "words"), WRONG)
def test_bad_input_is_one_line(changes, words):
    with refused(*words):
        read(of_many(), changes)


@pytest.mark.full
def test_mock_ups_that_never_meet():
    with pytest.raises(ScenarioError, match="no contact within it, along whose normal the loop is judged"):
        dockdyn.simulate(read(of_two() | {"duration": 0.1}))
