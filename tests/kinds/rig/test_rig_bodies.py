"""The rig with six degrees of freedom: against free flight, the rig along one direction, and conservation of momentum."""

from __future__ import annotations

from dataclasses import replace

import jax.numpy as jnp
import numpy as np
import pytest
from numpy.testing import assert_allclose

from dockdyn.kinds.rig.build import rig_of
from dockdyn.kinds.rig.model.rig import Oracle
from dockdyn.kinds.rig.run import course, loop_of, simulated
from dockdyn.kinds.rig.simulate import simulate_rig
from dockdyn.mechanics.rigid_body import pair_momentum
from dockdyn.scenario.load import load, parse

FRONTAL = """
schema = 1
kind = "rig"
mode = "6-dof"
duration = "0.6 s"

[chaser]
mass = 900
inertia = [300, 400, 500]
position = [-1.004, 0, 0]
velocity = [0.05, 0, 0]

[[chaser.feature]]
name = "tip"
position = [1, 0, 0]

[target]
mass = 2100
inertia = [900, 800, 700]

[[target.surface]]
name = "face"
shape = "plane"
point = [0, 0, 0]
normal = [-1, 0, 0]

[[contact]]
feature = "tip"
surface = "face"

[contact.normal]
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

LINE = """
schema = 1
kind = "rig"
duration = "0.6 s"
mass = 630
[start]
position = -0.004
velocity = 0.05
[contact.normal]
law = "spring-dashpot"
stiffness = 9000
damping = 60
""" + FRONTAL[FRONTAL.index("[loop.hold]") :]


@pytest.mark.full
@pytest.mark.parametrize("law", ["none", "lead-energy"])
def test_a_frontal_impact_is_that_along_a_line(law):
    """Masses 900 and 2100 kg feel like 630 kg; lead and energy layer act alike on one axis and on six."""
    change = {} if law == "none" else {"loop.compensator": {"law": law, "lead": 6e-3, "second_lead": 2e-5}}
    bodies, line = (simulate_rig(parse(text, "test", change)) for text in (FRONTAL, LINE))
    assert_allclose(bodies.position[:, 0], line.position[:, 0], atol=1e-12)
    assert_allclose(bodies.total_force[:, 0], line.total_force[:, 0], atol=1e-8)
    assert_allclose(bodies.ideal_velocity[:, 0], line.ideal_velocity[:, 0], atol=1e-9)
    assert_allclose(bodies.position[:, 1:], 0, atol=1e-15)
    assert np.abs(bodies.contact_force).max() > 50


@pytest.mark.full
def test_each_axis_has_a_robot_of_its_own():
    """Along the line of a frontal impact only that axis' robot counts, and its limits; the others may be of any order."""
    own = {"poles": [[-120.0, 0.0]], "gain": 120.0, "rate_limit": 0.045}
    slow = {"numerator": [1e6], "denominator": [1.0, 300.0, 3e4, 1e6]}
    text = FRONTAL + '\n[[robot_axis]]\naxis = "x"\n[[robot_axis]]\naxis = "ry"\n'
    changes = {f"robot_axis.0.{key}": value for key, value in own.items()}
    changes |= {f"robot_axis.1.{key}": value for key, value in slow.items()}
    bodies = simulate_rig(parse(text, "test", changes))
    line = simulate_rig(parse(LINE, "test", {"loop.robot": own}))
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
            **{"approach.lateral_offset": [0.2, -0.03], "approach.closing_speed": 0.1, "contact.normal.damping": 200.0},
        }
        scenario = load("epos-like", {**changes, "duration": 1500 * period})
        loop = loop_of(scenario) if loop is None else loop
        periods = {"hold": period, "dynamics_period": period, "delay": 2 * period}
        loop = replace(loop, **{name: jnp.asarray(value) for name, value in periods.items()})
        found = course(scenario, rig_of(scenario, loop, None))
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
    nothing = Oracle(jnp.zeros((1, 3)), jnp.zeros((1, 3)))
    end, seen = simulated(rig, nothing, np.int64(1), 2000, 1)
    assert np.abs(np.asarray(seen["total_force"])).max() > 5
    bodies, motions = rig.plant.model.bodies, (rig.plant.initial(), end.motion)
    before, after = (pair_momentum(bodies, motion.q.roots, motion.v.roots) for motion in motions)
    for which, scale in ((0, 2), (1, 3)):
        change = np.abs((after[which] - before[which]).array()).max()
        assert change < 1e-9 * float(max(before[scale], after[scale]))
