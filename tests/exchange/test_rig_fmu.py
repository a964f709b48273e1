"""FMUs of rigs: they are what `dockdyn run` is, to the last digits, and what they simulate feels a force from outside."""

from __future__ import annotations

import numpy as np
import pytest
from fmu_files import exported, needs_compiler

import dockdyn
from dockdyn.exchange.comparison import check_fmu
from dockdyn.exchange.fmu import unit_of
from dockdyn.results.exchange.fmu_instance import Fmu
from dockdyn.scenario.language.errors import ScenarioError

pytestmark = needs_compiler


def largest(checked):
    return max(one.difference / max(one.largest, 1e-12) for one in checked.differences)


def test_a_minute_of_a_rig_is_the_run(sits_fmu):
    assert sits_fmu.scenario.content.duration == 60.0
    checked = check_fmu(sits_fmu.file)
    assert checked.findings == [] and checked.steps == 15000
    assert len(checked.differences) > 10 and largest(checked) < 1e-12


def test_a_rig_of_two_robots_in_fmi_2_is_the_run_with_other_numbers_too(tmp_path):
    """Six degrees of freedom, and a closed loop of digital dynamics."""
    made = exported("epos-like", 2, tmp_path, {"duration": "8 s"})
    assert check_fmu(made.file).findings == []
    assert len(made.unit.numbers) > 35
    other = made.scenario.at({"chaser.mass": 1500.0, "approach.yaw": 0.01, "contact.normal.stiffness": 2500.0})
    assert largest(check_fmu(made.file, made.scenario)) < 1e-12
    assert largest(check_fmu(made.file, other)) < 1e-12


def test_a_compensator_is_inside_with_its_numbers(tmp_path):
    gain = {"law": "fixed-gain", "velocity": "model", "gain": "91.07 N s/m"}
    made = exported("sits", 3, tmp_path, {"loop.compensator": gain, "duration": "10 s"})
    assert "loop.compensator.gain" in [place.key for place in made.unit.numbers]
    assert largest(check_fmu(made.file)) < 1e-12
    assert largest(check_fmu(made.file, made.scenario.at({"loop.compensator.gain": 50.0, "mass": 520.0}))) < 1e-12


def test_a_number_that_decides_when_what_happens_is_fixed(sits_fmu):
    keys = [place.key for place in sits_fmu.unit.numbers]
    assert {"mass", "contact.normal.stiffness", "start.velocity"} <= set(keys)
    assert {"loop.hold.period", "loop.sensor.delay"} <= set(sits_fmu.unit.fixed)
    assert not set(keys) & set(sits_fmu.unit.fixed)


@pytest.mark.parametrize("count", [10, pytest.param(200, marks=pytest.mark.full)])
def test_parameters_are_the_numbers_of_the_scenario(sits_fmu, count):
    random = np.random.default_rng(25)
    short = sits_fmu.scenario.at({"duration": 4.0})
    with Fmu(sits_fmu.file) as fmu:
        for _ in range(count):
            values = {
                place.key: place.value * random.uniform(0.9, 1.1) + random.uniform(0, 1e-3)
                for place in sits_fmu.unit.numbers
            }
            dataset = dockdyn.simulate(short.at(values))
            one = fmu.instance(values)
            one.step_to(float(dataset["time"][-1]))  # one step of many instants
            found = one.read(["position.x", "velocity.x", "port_work"])
            one.close()
            for value, name in zip(found, ("position", "velocity", "port_work"), strict=True):
                run = dataset[name].values
                assert abs(value - run.ravel()[-1]) < 1e-12 * np.abs(run).max()


def test_a_force_from_outside_moves_the_model(sits_fmu):
    """On a spring a constant force gives F/(m ω) sin ω t, but for what the loop does to it in so short a time."""
    force, seconds = 20.0, 0.1  # N, s
    with Fmu(sits_fmu.file) as fmu:
        pushed, free = fmu.instance({}), fmu.instance({})
        pushed.set({"outside_force.x": force})
        assert (pushed.read(["total_force.x"]) - free.read(["total_force.x"])).tolist() == [force]  # felt at once
        for one in (pushed, free):
            one.step_to(seconds)
        gained = abs(pushed.read(["velocity.x"]) - free.read(["velocity.x"]))[0]
        pushed.close(), free.close()
    content = sits_fmu.scenario.content
    frequency = np.sqrt(content.contact.normal.stiffness / content.mass)
    assert gained == pytest.approx(force / (content.mass * frequency) * np.sin(frequency * seconds), rel=0.02)


def test_a_state_of_a_rig_is_played_again(sits_fmu):
    names = [output.name for output in sits_fmu.unit.outputs]
    with Fmu(sits_fmu.file) as fmu:
        one = fmu.instance({})
        one.step_to(1.234)
        state = one.slave.getFMUState()
        one.step_to(5.0)
        first = one.read(names)
        one.slave.setFMUState(state)
        one.time = 1.234
        one.step_to(5.0)
        np.testing.assert_array_equal(one.read(names), first)
        one.slave.freeFMUState(state)
        one.close()


@pytest.mark.parametrize(
    ("preset", "overrides", "words"),
    [
        ("unknown-stiffness", {"loop.sensor.noise": "1 N"}, "random numbers"),
        ("sits-scvg", {}, "sees the motion without rig"),
        ("cyril-plastic", {}, "cannot be an FMU"),
        ("probe-cone", {"integrator.method": "fixed", "integrator.step": "1 ms"}, "must be located"),
    ],
)
def test_what_cannot_be_one_is_refused_in_a_line(preset, overrides, words):
    with pytest.raises(ScenarioError, match=words):
        unit_of(dockdyn.load(preset, overrides))
