"""What every method of integration can do: go on to instants, from outside, in batches, and with latches."""

import re

import numpy as np
import pytest
from helpers.refusals import refused

import dockdyn
from dockdyn.control import Command
from dockdyn.exchange.fmu import unit_of
from dockdyn.scenario.language.errors import ScenarioError
from dockdyn.scenario.load import parse
from dockdyn.studies.cases.batch import run_cases, runs_in_batches

DOCKING = """
schema = 2
duration = 0.2

[body.chaser]
mass = 100.0
inertia = [10.0, 12.0, 14.0]
position = [-1.025, 0.02, 0.01]
velocity = [0.1, 0.01, 0.0]
feature.tip = { position = [0.5, 0.0, 0.0], radius = 0.02 }

[body.target]
mass = 400.0
inertia = [40.0, 50.0, 60.0]
surface.plate = { shape = "plane", point = [-0.5, 0.0, 0.0], normal = [-1.0, 0.0, 0.0] }

[contact.tip-plate]
between = ["tip", "plate"]
normal = { law = "hunt-crossley", stiffness = 2e5, exponent = 1, damping = 1.0 }

[output]
interval = 8e-4
"""
LATCH = """
[latch.hook]
between = ["chaser", "target"]
anchor = [[0.52, 0.0, 0.0], [-0.498, 0.0, 0.0]]
axis = [-1.0, 0.0, 0.0]
reach = 1e-3
lateral = 5e-2
"""
GRIPS = {"compliant": "stiffness = 1e5\ndamping = 1500.0\n", "pin": "grip = 'pin'\n"}
STEER = """
[control]
law = "none"
body = "chaser"
"""
DELAY = "\n[loop]\ndelay = 1.7e-3\n"
METHODS = ("fixed", "variational")


def docking(more: str = "", **integrator):
    """Two bodies of which one strikes the other, by a method."""
    return parse(DOCKING + more, "docking", {"integrator": integrator})


def ended(run):
    return np.concatenate([run.position.values[-1].ravel(), run.velocity.values[-1].ravel()])


@pytest.mark.full
@pytest.mark.parametrize(
    ("method", "more"),
    [
        ("fixed", LATCH + GRIPS["compliant"]),
        ("variational", LATCH + GRIPS["compliant"]),
        pytest.param("fixed", DELAY, marks=pytest.mark.full),
    ],
)
def test_all_figures_of_a_batch_are_those_of_single_runs(method, more):
    scenario, key = docking(more, method=method, step=2e-4), "body.chaser.velocity.0"
    assert runs_in_batches(scenario)
    cases = run_cases(scenario, [key], np.array([[0.1], [0.13]]))
    assert cases.reasons == ["", ""]
    summaries = [dockdyn.summarise(dockdyn.simulate(scenario.at({key: speed}))) for speed in (0.1, 0.13)]
    compared = 0
    for name, values in cases.figures.items():
        alone = [one.get(name) for one in summaries]
        if all(isinstance(value, float | int | bool) for value in alone):
            np.testing.assert_allclose(values, np.array(alone, float), rtol=1e-9, atol=1e-12, err_msg=name)
            compared += 1
    assert compared > 10 and bool(summaries[0]["captured"]) == (more is not DELAY)


def stepped(scenario, period, push):
    """Where a run ends whose chaser is pushed so (N) in each period."""
    sim, index = dockdyn.stepper(scenario, period=period), 0
    while not sim.done:
        sim.step(Command(np.array([push * (-1) ** index, 2.0 * push, 0.0]), np.array([0.0, 0.1 * push, 0.0])))
        index += 1
    return np.concatenate([sim.observation[name].ravel() for name in ("position", "velocity", "rate")])


@pytest.mark.full
@pytest.mark.parametrize(("method", "order"), [("fixed", 1.0), ("variational", 2.0)])
def test_a_run_under_commands_comes_to_that_with_located_events(method, order):
    period, steps = 0.02, (4e-4, 1e-4)
    best = stepped(docking(STEER), period, 30.0)
    errors = [np.abs(stepped(docking(STEER, method=method, step=step), period, 30.0) - best).max() for step in steps]
    assert np.log(errors[0] / errors[1]) / np.log(4) > order - 0.25 and errors[1] < 1e-5


@pytest.mark.full
@pytest.mark.parametrize("method", METHODS)
def test_the_period_of_a_stepper_is_a_whole_number_of_steps(method):
    with pytest.raises(ScenarioError) as caught:
        dockdyn.stepper(docking(STEER, method=method, step=3e-4), period=0.05)
    words = str(caught.value)
    assert "integrator.step" in words and "0.05 s" in words and "\n" not in words
    nearest = float(re.search(r"nearest step is ([0-9.e-]+) s", words)[1])
    assert nearest == pytest.approx(3e-4, rel=0.5)
    sim = dockdyn.stepper(docking(STEER, method=method, step=nearest), period=0.05)
    sim.step(np.zeros((2, 3)))
    assert float(sim.time) == 0.05


@pytest.mark.full
@pytest.mark.parametrize("method", METHODS)
def test_a_unit_goes_on_from_where_it_is_however_long_its_stretches_are(method):
    """A force from outside leaves its impulse, and stretches that are no whole number of steps change the end little."""
    unit = unit_of(docking(method=method, step=1e-4))
    numbers = np.array([place.value for place in unit.numbers])
    given = np.zeros(len(unit.inputs))
    given[[one.name for one in unit.inputs].index("outside_force.chaser.y")] = 3.0

    def end(times, given):
        at = unit.begin(numbers)
        for time in times:
            at = unit.goes_on.advance(numbers, given, np.asarray(time), at)
        found = dict(zip((one.name for one in unit.outputs), unit.observe(numbers, given, at), strict=True))
        assert float(unit.goes_on.reached(at)[1]) == times[-1]
        return np.array([found[f"velocity.{body}.{axis}"] for body in ("chaser", "target") for axis in "xyz"])

    uneven = [0.0333, 0.05007, 0.0511, 0.1, 0.13, 0.2]
    pushed, free = end([0.1, 0.2], given), end([0.1, 0.2], 0 * given)
    gained = np.array([100.0, 400.0]) @ (pushed - free).reshape(2, 3)
    np.testing.assert_allclose(gained, [0.0, 0.6, 0.0], atol=1e-9)
    np.testing.assert_allclose(end(uneven, given), pushed, atol=1e-5)


def test_an_fmu_of_fixed_steps_has_no_delay():
    with refused(match=r"loop.delay = 0.0017 s later is kept at the ends of steps"):
        unit_of(docking(DELAY, method="fixed", step=1e-4))
    unit_of(docking(DELAY))


@pytest.mark.full
@pytest.mark.parametrize(
    ("method", "grip", "order"), [("fixed", "compliant", 1.0), ("fixed", "pin", 1.0), ("variational", "compliant", 2.0)]
)
def test_latches_fall_in_with_the_order_of_the_method(method, grip, order):
    """On the average over where in a step the striker is caught."""
    starts = -1.025 - np.linspace(0.0, 2e-5, 4)  # m: caught up to 0.2 ms later

    def error(step):
        found = []
        for start in starts:
            at = {"body.chaser.position.0": float(start)}
            best, run = (
                dockdyn.simulate(docking(LATCH + GRIPS[grip], **how).at(at))
                for how in ({}, {"method": method, "step": step})
            )
            assert dockdyn.summarise(run)["captured"]
            assert dockdyn.summarise(run)["linear_momentum_error"] < 1e-13
            found.append(np.abs(ended(run) - ended(best)).max())
        return np.mean(found)

    steps = (4e-4, 1e-4)
    assert np.log(error(steps[0]) / error(steps[1])) / np.log(4) == pytest.approx(order, abs=0.3)


@pytest.mark.full
def test_phases_begin_at_the_end_of_a_fixed_step():
    pushed = """
[thruster.jet]
body = "chaser"
position = [0.0, 0.1, 0.0]
direction = [1.0, 0.0, 0.0]
force = 0.0

[phase.approach]

[phase.pushing]
when = "contact"
set = { "thruster.jet.force" = 40.0 }
"""
    best = dockdyn.simulate(docking(pushed))
    errors = [
        np.abs(ended(dockdyn.simulate(docking(pushed, method="fixed", step=step))) - ended(best)).max()
        for step in (8e-4, 1e-4)
    ]
    assert errors[0] < 8e-4 * 40.0 / 100.0 and errors[1] < 1e-4 * 40.0 / 100.0  # m/s that the jet gives in a step
