"""Bodies that are fixed, a wall or the ground: what moves against them, what they take, and what is refused."""

import copy
import tomllib

import numpy as np
import pytest
from helpers.refusals import refused
from scipy.integrate import solve_ivp

import dockdyn
from dockdyn.scenario.preset_files import PRESETS

EXACT = 1e-8  # of the motion

BALL = """
schema = 2
title = "A ball on a rod against a wall"
duration = "4 s"
[body.chaser]
mass = {mass}
inertia = [{turning}, {turning}, {turning}]
position = [{gap}, 0, 0]
velocity = [-0.05, 0.01, 0]
feature.tip = {{ position = [0, {lever}, 0], radius = 0.02 }}
[body.wall]
fixed = true
position = [-1, 0.3, 0]
attitude = {{ axis = [0, 0, 1], angle = "90 deg" }}
surface.face = {{ shape = "plane", point = [0, -1, 0], normal = [0, -1, 0] }}
[contact.touch]
between = ["tip", "face"]
normal = {{ law = "spring-dashpot", stiffness = {stiffness}, damping = {damping}, adhesion = true }}
"""


@pytest.mark.full
@pytest.mark.parametrize("seed", range(2))
def test_a_body_turns_off_a_wall_as_one_body_alone_does(load, seed):
    """Its own three coordinates, x, y and the turn, integrated by SciPy."""
    draw = np.random.default_rng(seed)
    given = {
        "mass": draw.uniform(100, 900),
        "turning": draw.uniform(40, 200),
        "gap": draw.uniform(0.03, 0.06),
        "lever": draw.uniform(-0.6, 0.6),
        "stiffness": draw.uniform(2e3, 9e3),
        "damping": draw.uniform(0, 100),
    }
    dataset = dockdyn.simulate(load(tomllib.loads(BALL.format(**given))))
    mass, turning, lever = given["mass"], given["turning"], given["lever"]

    def depth(x):
        return 0.02 - (x[0] - lever * np.sin(x[2]))  # the wall's face is at x = 0, its normal along x

    def flow(_, x):
        inward = -(x[3] - lever * np.cos(x[2]) * x[5])
        force = given["stiffness"] * depth(x) + given["damping"] * inward if depth(x) > 0 else 0.0
        return [*x[3:], force / mass, 0.0, -lever * np.cos(x[2]) * force / turning]

    start = [given["gap"], 0, 0, -0.05, 0.01, 0]
    found = solve_ivp(flow, (0, 4), start, "DOP853", rtol=1e-12, atol=1e-14, max_step=1e-3).y[:, -1]
    first, last = dataset.linear_momentum.values[[0, -1]]
    assert dataset.velocity.values[-1, 0, :2] == pytest.approx(found[3:5], abs=0.05 * EXACT)
    assert dataset.rate.values[-1, 0, 2] == pytest.approx(found[5], abs=0.05 * EXACT)
    assert dataset.position.values[-1, 0, :2] == pytest.approx(found[:2], abs=0.05 * EXACT)
    # what the wall has taken is in the balance, and its place is kept
    taken = mass * (-0.05 - found[3])
    assert abs(taken) > 1
    assert last == pytest.approx(first, abs=1e-13 * abs(taken))
    assert np.abs(dataset.position.values[:, 1] - [-1, 0.3, 0]).max() < 1e-15
    assert dockdyn.summarise(dataset)["angular_momentum_error"] < 1e-12


ON_LINE = {
    "schema": 2,
    "motion": "line",
    "title": "A mass on a spring, and one that hits the ground",
    "duration": "3 s",
    "body": {
        "ground": {"fixed": True},
        "cart": {"mass": 7.0, "on": "ground", "joint": {"stiffness": 300.0, "start": "3 cm"}},
        "ball": {"mass": 2.5, "position": -0.04, "velocity": 0.05},
        "buffer": {"fixed": True},
    },
    "contact": {
        "stop": {
            "between": ["ball", "buffer"],
            "normal": {"law": "spring-dashpot", "stiffness": 900.0, "restitution": 0.6},
        }
    },
}


@pytest.mark.full
def test_on_a_line_the_ground_holds_a_spring_and_a_wall_throws_back(load):
    dataset = dockdyn.simulate(load(ON_LINE))
    swing = 0.03 * np.cos(np.sqrt(300.0 / 7.0) * dataset.time.values)
    assert dataset.joint_angle.values[:, 0] == pytest.approx(swing, abs=0.03 * EXACT)
    assert dataset.velocity.sel(body="ball").values[-1, 0] == pytest.approx(-0.6 * 0.05, rel=1e-7)
    assert dockdyn.summarise(dataset)["linear_momentum_error"] < 1e-12


ARM = """
schema = 2
motion = "{motion}"
title = "An arm on the ground"
duration = "2 s"
[body.ground]
fixed = true
[body.upper]
mass = 8
inertia = [0.1, 0.9, 0.9]
on = "ground"
position = [0.6, 0, 0]
joint = {{ kind = "revolute", position = [0.1, 0, 0], axis = [0, 0, 1], start = 0.4, stiffness = 50 }}
"""


@pytest.mark.full
@pytest.mark.parametrize("motion", ["space", "plane"])
def test_an_arm_on_the_ground_swings_about_its_joint(load, motion):
    dataset = dockdyn.simulate(load(tomllib.loads(ARM.format(motion=motion))))
    frequency = np.sqrt(50 / (0.9 + 8 * 0.5**2))
    swing = 0.4 * np.cos(frequency * dataset.time.values)
    assert dataset.joint_angle.values[:, 0] == pytest.approx(swing, abs=0.4 * EXACT)
    assert np.abs(dataset.position.sel(body="ground").values).max() < 1e-15


@pytest.mark.full
def test_on_a_rig_a_mock_up_stands_for_a_wall(load):
    stated = tomllib.loads((PRESETS / "epos-like.toml").read_text(encoding="utf-8"))
    heavy, wall = copy.deepcopy(stated), copy.deepcopy(stated)
    target = stated["rig"]["against"]
    heavy["body"][target] |= {"mass": 1e12, "inertia": [1e14, 1e14, 1e14]}
    wall["body"][target] = {
        key: value for key, value in wall["body"][target].items() if key not in ("mass", "inertia", "velocity", "rate")
    } | {"fixed": True}
    heavy["body"][target] = {k: v for k, v in heavy["body"][target].items() if k not in ("velocity", "rate")}
    for one in (heavy, wall):
        one["duration"] = "20 s"
    runs = [dockdyn.simulate(load(one)) for one in (heavy, wall)]
    ends = [run.position.values[-1] for run in runs]
    assert ends[1] == pytest.approx(ends[0], abs=1e-7)


WRONG = [
    ({"body.wall.mass": 5}, ["body.wall", "mass", "fixed"]),
    ({"body.wall.inertia": [1, 1, 1]}, ["body.wall", "inertia", "fixed"]),
    ({"body.wall.velocity": [0, 0, 1]}, ["body.wall", "velocity", "fixed rests"]),
    ({"body.wall.on": "chaser"}, ["body.wall", "on", "fixed"]),
    ({"body.chaser": {"fixed": True, "feature": {"tip": {"position": [0, 0, 0]}}}}, ["fixed", "nothing moves"]),
    ({"orbit.semi_major_axis": "6800 km"}, ["body.wall.fixed", "orbit"]),
    ({"control": {"law": "pose", "of": "wall", "velocity_damping": 5}}, ["control"]),
    ({"body.wall.fixed": False}, ["body.wall.mass", "missing"]),
]


@pytest.mark.parametrize(("changes", "words"), WRONG)
def test_what_cannot_be_is_one_line(load, changes, words):
    stated = tomllib.loads(BALL.format(mass=300, turning=90, gap=0.05, lever=0.1, stiffness=4e3, damping=10))
    with refused(*words):
        load(stated, changes)


def test_two_fixed_bodies_do_not_meet(load):
    between = copy.deepcopy(ON_LINE)
    between["contact"]["stop"]["between"] = ["ground", "buffer"]
    with refused("contact.stop.between", "both bodies are fixed"):
        load(between)


def test_a_restitution_of_what_cannot_move_is_one_line(load):
    welded = copy.deepcopy(ON_LINE)
    welded["body"]["cart"] = {"mass": 7.0, "on": "ground", "joint": {"kind": "locked"}}
    welded["contact"]["stop"]["between"] = ["cart", "buffer"]
    with refused("contact.stop.normal.restitution", "neither body can move"):
        dockdyn.simulate(load(welded))


def test_a_fixed_body_is_written_and_read_back(load, tmp_path):
    for content in (ON_LINE, tomllib.loads(ARM.format(motion="space"))):
        scenario = load(content)
        file = tmp_path / "again.toml"
        file.write_text(scenario.text(), encoding="utf-8")
        assert dockdyn.load(file).text() == scenario.text()
        assert not dockdyn.check_numbers(scenario)
