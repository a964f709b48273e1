"""Arms by the variational method against an event-located DOP853 solution written from Newton's equations."""

from dataclasses import replace
from functools import cache

import numpy as np
import planar_arm_reference as planar
import pytest
from arm_in_plane import arm, ends_of

from dockdyn import simulate, summarise
from dockdyn.results.linearised import Numbers, slopes_along
from dockdyn.scenario.setups import setup_named

PAPER = planar.Parameters()
DURATION = 40.0  # s
STEPS = np.array([0.04, 0.02, 0.01])
LOSSY = replace(PAPER, restitution=0.6)
STRONG = replace(LOSSY, gravity_gradient=True, orbit_radius=500.0, mu=0.02**2 * 500.0**3)  # once round in 314 s
LATCHED = replace(PAPER, latch_wall=1, retreat=PAPER.start)
CASES = {
    "paper": (PAPER, {}),
    "restitution": (LOSSY, {}),
    "strong gravity, its gradient": (STRONG, {}),
    "latch, and another set-point": (LATCHED, {}),
    "latch in the plane": (LATCHED, {"motion": "plane"}),
    "discrete energy": (PAPER, {"law": "variational"}),
}
EXTRAPOLATED = np.array([1e-8, 1e-7, 1e-7])  # rad, s, m/s


@cache
def reference(p):
    return planar.solve(p, DURATION)


def errors(p, step, **kwargs):
    """Of a run less the reference: attitude and angles at the end, times of impacts, approach speeds."""
    run, expected = simulate(arm(p, DURATION, step, **kwargs)), reference(p)
    assert run.attrs["status"] == "finished"
    impacts = [impact for impact in expected.impacts if impact.wall != p.latch_wall]
    times = list(run.episode_onset.values[: len(impacts)])
    speeds = run.episode_approach_speed.values[: len(impacts)] - [impact.approach_speed for impact in impacts]
    if p.latch_wall is not None:
        times.append(summarise(run)["capture_time_s"])
    else:
        assert run.sizes["episode"] == len(impacts)
    return [
        ends_of(run) - expected.final[2:6],
        np.array(times) - [impact.time for impact in expected.impacts[: len(times)]],
        speeds,
    ]


@pytest.mark.full
@pytest.mark.parametrize("motion", ["plane", "space"])
def test_an_arm_meets_its_bay_where_the_reference_does(motion):
    """At 10 ms: impacts within a fiftieth of a step, angles at the end within 20 µrad."""
    ends, times, speeds = errors(PAPER, STEPS[-1], motion=motion)
    assert len(times) == 2
    assert np.abs(ends).max() < 2e-5 and np.abs(times).max() < 2e-4 and np.abs(speeds).max() < 1e-5


@pytest.mark.full
@pytest.mark.parametrize("case", CASES)
def test_second_order_through_impacts(case):
    """Errors fall with h², and what two steps extrapolate to is the reference itself.

    The discrete law balances energies of steps whose lengths depend on where in a step the impact is: its error is no
    smooth function of the step.
    """
    p, kwargs = CASES[case]
    found = [errors(p, step, **kwargs) for step in STEPS]
    if p.latch_wall is not None:  # the reference's payload is a point, which has no inertia to share with the hand
        own = (4 * found[2][0] - found[1][0]) / 3
        found = [[run[0] - own, *run[1:]] for run in found]
    sizes = np.array([[np.abs(part).max() for part in run] for run in found])
    slopes = np.array([np.polyfit(np.log(STEPS), np.log(column), 1)[0] for column in sizes.T])
    rough = case == "discrete energy"
    assert np.all(np.abs(slopes - 2) < (0.15 if rough else 0.03)), slopes
    if not rough:
        beyond = [np.abs((4 * fine - coarse) / 3).max() for fine, coarse in zip(found[2], found[1], strict=True)]
        assert np.all(beyond < EXTRAPOLATED), beyond


@pytest.mark.full
def test_derivatives_through_impacts_are_differences_of_runs():
    """Of impact times and of joint angles at the end, over a joint's rate at the start."""
    rate, by = 0.00123, 1e-6  # an impact moves by 0.2 ms: hardly one crosses a step
    scenario = arm(replace(PAPER, start_rates=(rate, 0.0, 0.0)), 28.0, 0.02, **{"output.interval": 1.0})

    def figures(run):
        ends = {f"angle {number}": float(run.joint_angle[-1, number]) for number in range(3)}
        return ends | {f"time {number}": float(run.episode_onset[number]) for number in range(2)}

    own = Numbers.of(scenario.content)
    direction = (own.values == rate).astype(float)
    assert direction.sum() == 1
    _, slopes = slopes_along(setup_named("mechanism").linearised(scenario), own.values, direction, figures)
    key = "body.psi.joint.start_rate"
    later, earlier = (figures(simulate(scenario.at({key: rate + side * by}))) for side in (1, -1))
    for name, slope in slopes.items():
        assert slope == pytest.approx((later[name] - earlier[name]) / (2 * by), rel=1e-5), name


@pytest.mark.full
def test_steps_that_follow_the_motion_keep_the_error_asked_for():
    """Their number goes with its root."""
    for error, most in ((1e-4, 2e-3), (1e-6, 2e-5)):
        run = simulate(arm(PAPER, DURATION, 1.0, **{"integrator.error": error, "output.interval": 1.0}))
        assert run.attrs["status"] == "finished" and run.attrs["steps"] < 6 / np.sqrt(error)
        assert run.sizes["episode"] == 2
        assert np.abs(ends_of(run) - reference(PAPER).final[2:6]).max() < most


@pytest.mark.full
def test_a_payload_that_is_pressed_against_a_wall_rests_there():
    """The floor is above the docked place: a few bounces, then contact, exactly, to the end."""
    high = replace(PAPER, restitution=0.3, walls=(((0.0, 0.3), (0.0, 1.0)),))
    run = simulate(arm(high, 120.0, 0.02, **{"output.interval": 1.0}))
    assert run.attrs["status"] == "finished"
    last = float(run.episode_onset[-1])
    depths = run.depth.values[:, 0]
    assert depths.max() < 1e-12
    assert np.abs(depths[run.time.values > last]).max() < 1e-12 and np.count_nonzero(run.time.values > last) > 20
