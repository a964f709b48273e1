"""The rig with six degrees of freedom: against free flight, the rig along one direction, and conservation of momentum."""

from dataclasses import replace

import jax.numpy as jnp
import numpy as np
import pytest
from helpers.line_rig import HEAD
from numpy.testing import assert_allclose

from dockdyn.api import scene_of
from dockdyn.mechanics.rigid_body import pair_momentum
from dockdyn.rig.build import rig_of
from dockdyn.rig.model.rig import IdealContact
from dockdyn.rig.resting import loop_of
from dockdyn.rig.run import run_with_seed, simulate_course
from dockdyn.rig.simulate import simulate_rig
from dockdyn.scenario.load import load, parse

FRONTAL = """
schema = 2
rig.carries = "chaser"
rig.against = "target"
duration = "0.6 s"

[body.chaser]
mass = 900
inertia = [300, 400, 500]
position = [-1.0041, 0, 0]
velocity = [0.05, 0, 0]

[body.chaser.feature.tip]
position = [1, 0, 0]

[body.target]
mass = 2100
inertia = [900, 800, 700]

[body.target.surface.face]
shape = "plane"
point = [0, 0, 0]
normal = [-1, 0, 0]

[contact.tip]
between = ["tip", "face"]

[contact.tip.normal]
law = "spring-dashpot"
stiffness = 9000
damping = 60

[loop.hold]
period = "4 ms"

[loop.sensor]
delay = "3 ms"

[loop.dynamics]
period = "2 ms"

[loop.robot]
poles = [[-180, 90], [-180, -90]]
gain = 40500
"""

LINE = f"""{HEAD}
duration = "0.6 s"
[body.target]
mass = 630
position = -0.0041
velocity = 0.05
[contact.spring.normal]
law = "spring-dashpot"
stiffness = 9000
damping = 60
""" + FRONTAL[FRONTAL.index("[loop.hold]") :]


COMPENSATED = {"loop.compensator": {"law": "lead-energy", "lead": 6e-3, "second_lead": 2e-5}}
SOFT = {"loop.virtual_contact": {"stiffness": 4000.0, "damping": 30.0}, "contact.spring.normal.stiffness": 5000.0}


@pytest.mark.full
@pytest.mark.parametrize(
    ("motion", "change"),
    [
        ("space", {}),
        ("space", COMPENSATED),
        ("space", SOFT),
        ("space", SOFT | {"loop.dynamics": {"method": "continuous"}}),
        ("plane", SOFT | COMPENSATED),
        ("plane", {"loop.dynamics": {"method": "semi-implicit-euler", "period": "2 ms"}}),
    ],
)
def test_a_frontal_impact_is_that_along_a_line(motion, change):
    """Masses 900 and 2100 kg feel like 630 kg; lead and energy layer act alike on one axis and on six, and so does a part of
    the contact that is computed."""
    named = {key.replace("contact.spring.", "contact.tip."): value for key, value in change.items()}
    bodies = simulate_rig(parse(FRONTAL, "test", named | {"motion": motion}))
    line = simulate_rig(parse(LINE, "test", change))
    assert_allclose(bodies.position[:, 0], line.position[:, 0], atol=1e-12)
    assert_allclose(bodies.total_force[:, 0], line.total_force[:, 0], atol=1e-8)
    assert_allclose(bodies.ideal_velocity[:, 0], line.ideal_velocity[:, 0], atol=1e-9)
    assert_allclose(bodies.position[:, 1:], 0, atol=1e-15)
    assert np.abs(bodies.contact_force).max() > 50


@pytest.mark.full
def test_each_axis_has_a_robot_of_its_own():
    """Along the line of a frontal impact only that axis' robot counts, and its limits; the others may be of any order."""
    own = {"poles": [[-120.0, 0.0]], "gain": 120.0, "rate_limit": 0.045}
    still = {"rig.robot": "at-rest"}  # such a robot could not have followed the approach
    slow = {"numerator": [1e6], "denominator": [1.0, 300.0, 3e4, 1e6]}
    bodies = simulate_rig(parse(FRONTAL, "test", still | {"loop.robot.x": own, "loop.robot.ry": slow}))
    line = simulate_rig(parse(LINE, "test", still | {"loop.robot": own}))
    assert_allclose(bodies.position[:, 0], line.position[:, 0], atol=1e-12)
    assert_allclose(bodies.robot_position[:, 0], line.robot_position[:, 0], atol=1e-12)
    assert np.abs(bodies.contact_force).max() > 50


@pytest.mark.full
def test_short_periods_leave_free_flight():
    """Hold, step and delay to zero together: the poses approach those without rig in proportion."""
    errors, loop = [], None
    for period in (2e-3, 1e-3):  # as many instants for both: half the time for the second, which has touched by then
        changes = {
            **{"loop.delay": 2 * period, "loop.hold.period": period, "loop.dynamics.period": period},
            **{
                "approach.lateral_offset": [0.2, -0.03],
                "approach.closing_speed": 0.1,
                "contact.probe.normal.damping": 200.0,
            },
        }
        scenario = load("epos-like", {**changes, "duration": 1500 * period})
        loop = loop_of(scenario) if loop is None else loop
        periods = {"hold": period, "dynamics_period": period, "delay": 2 * period}
        loop = replace(loop, **{name: jnp.asarray(value) for name, value in periods.items()})
        found = simulate_course(scenario, rig_of(scenario, loop, None))
        early = found.time <= 1.5
        assert np.abs(found.ideal["ideal_force"][early]).max() > 5
        errors.append(np.abs(found.seen["model_pose"] - found.ideal["ideal_pose"])[early].max(axis=0))
    assert_allclose(errors[0] / errors[1], 2.0, rtol=0.06)


@pytest.mark.full
def test_momentum_is_kept_whatever_the_loop_does():
    """Late, held, led and falsified forces: the bodies' momenta stay; the robot's lag turns none of the reaction."""
    changes = {
        "loop.sensor": {"delay": "9 ms", "period": "4 ms", "noise": 2.0, "jitter": "2 ms"},
        "loop.compensator": {"law": "lead-energy", "lead": 1e-2, "second_lead": 5e-5},
        "duration": "8 s",
    }
    scenario = load("epos-like", changes)
    loop = loop_of(scenario)
    rig = rig_of(scenario, loop, scenario.content.loop.compensator.make(True))
    nothing = IdealContact(jnp.zeros((1, 3)), jnp.zeros((1, 3)))
    end, seen = run_with_seed(rig, nothing, np.int64(1), 2000, 1)
    assert np.abs(np.asarray(seen["total_force"])).max() > 5
    bodies, motions = rig.plant.model.bodies, (rig.plant.initial(), end.motion)
    before, after = (pair_momentum(bodies, motion.q.roots, motion.v.roots) for motion in motions)
    for which, scale in ((0, 2), (1, 3)):
        change = np.abs((after[which] - before[which]).array()).max()
        assert change < 1e-9 * float(max(before[scale], after[scale]))


TURNING = {
    "body.chaser.position": [-1.0, 0.05, 0.0],
    "body.chaser.rate": [0.0, 0.0, 0.05],
    "body.chaser.feature.tip.position": [0.98, 0.1, 0.0],
    "body.target.rate": [0.0, 0.0, -0.02],
    "body.target.surface.face.normal": [-1.0, 0.1, 0.0],
    "contact.tip.friction": {"law": "coulomb", "coefficient": 0.1, "regularisation": "1 mm/s"},
    "duration": "1.2 s",
}


@pytest.mark.full
def test_in_the_plane_a_rig_is_that_in_space():
    """Fewer coordinates for one motion, which turns and slides; the robot's axes out of the plane stay where they are."""
    space, plane = (simulate_rig(parse(FRONTAL, "test", TURNING | {"motion": motion})) for motion in ("space", "plane"))
    assert np.abs(space.contact_force).max() > 50 and np.abs(space.model_pose[:, 5]).max() > 0.03
    for name in ("robot_pose", "ideal_pose", "contact_force", "total_force", "velocity", "port_work"):
        assert_allclose(plane[name], space[name], rtol=0, atol=1e-10 * float(np.abs(space[name]).max()))
    assert_allclose(plane.robot_pose[:, 2:5], 0, atol=1e-15)


@pytest.mark.parametrize("dynamics", ["continuous", pytest.param("zero-order-hold", marks=pytest.mark.full)])
def test_a_contact_that_takes_nothing_gives_back_what_it_stores(dynamics):
    """Two tips off the axis, that turn what the robot carries, without damping and friction: the work of their whole load at
    the robot, moments and all, is what they no longer store; that of the force on the port is not."""
    changes = {
        "body.chaser.feature": {
            "tip": {"position": [0.98, 0.1, 0.0]},
            "heel": {"position": [0.97, -0.3, 0.1], "radius": 0.01},
        },
        "contact": {
            "tip": {"between": ["tip", "face"], "normal": {"law": "spring-dashpot", "stiffness": 9000.0}},
            "heel": {"between": ["heel", "face"], "normal": {"law": "spring-dashpot", "stiffness": 2e4}},
        },
        "body.chaser.rate": [0.0, 0.02, 0.05],
        "body.chaser.position": [-1.006, 0.05, 0.0],
        "loop.dynamics": {"method": dynamics} | ({} if dynamics == "continuous" else {"period": "0.5 ms"}),
        "loop.hold.period": "1 ms" if dynamics == "continuous" else "0.5 ms",
        "duration": "1.2 s",
    }
    turning = {key: value for key, value in TURNING.items() if not key.startswith(("contact", "body.chaser.feature"))}
    found = simulate_rig(parse(FRONTAL, "test", turning | changes))
    energy, work = found.port_energy.values, found.contact_work.values
    assert energy.max() > 0.05 and energy[0] == energy[-1] == 0
    assert np.abs(found.port_work.values + energy).max() > 0.01 * energy.max()
    assert np.abs(work + energy).max() < 1e-6 * energy.max()
    assert np.abs(found.port_loss.values).max() < 1e-6 * energy.max()


BALLS = {
    "body.target.feature": {"bump": {"position": [0.1, 0.0, 0.0], "radius": 0.1}},
    "contact": {
        "bump": {"between": ["bump", "tip"], "normal": {"law": "spring-dashpot", "stiffness": 9000.0, "damping": 60.0}}
    },
    "body.chaser.position.1": 0.02,
}
FACES = {
    "body.target.surface": {},
    "body.target.feature": {"bump": {"position": [0.0, 0.0, 0.0]}},
    "body.chaser.surface": {"front": {"shape": "plane", "point": [1.0, 0.0, 0.0], "normal": [1.0, 0.02, 0.0]}},
    "contact.tip.between": ["bump", "front"],
}


@pytest.mark.full
@pytest.mark.parametrize("changes", [TURNING, BALLS, FACES], ids=["tip on face", "ball on ball", "face on tip"])
def test_either_body_may_stand(changes):
    """Seen the other way round the contact without rig presses alike, whichever of the two has what the contact calls its
    feature; the port is where the carried one touches."""
    ways = []
    for ups in (["chaser", "target"], ["target", "chaser"]):
        way = simulate_rig(
            parse(FRONTAL, "test", changes | dict(zip(("rig.carries", "rig.against"), ups, strict=True)))
        )
        assert scene_of(way).forces
        ways.append(np.linalg.norm(way.ideal_force, axis=1))
    assert ways[0].max() > 50
    assert_allclose(ways[1], ways[0], rtol=0, atol=1e-8 * ways[0].max())
