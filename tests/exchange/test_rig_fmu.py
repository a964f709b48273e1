"""FMUs of rigs: they are what `dockdyn run` is, to the last digits, and what they simulate feels a force from outside."""

import numpy as np
import pytest
import tomlkit
from driven_rigs import driver, in_space, on_a_line
from fmu_files import exported, needs_compiler

import dockdyn
from dockdyn.exchange.comparison import check_fmu
from dockdyn.exchange.fmu import computer_of, fmu_of, unit_of
from dockdyn.programs import Program
from dockdyn.realtime.lockstep import LaboratoryInSteps
from dockdyn.results.exchange.fmu_instance import Fmu, findings_of
from dockdyn.scenario.language.errors import ScenarioError
from dockdyn.scenario.load import parse

pytestmark = needs_compiler


def largest(checked):
    return max(one.difference / max(one.largest, 1e-12) for one in checked.differences)


REMEMBERS = {  # which touches at once
    "approach.distance": "0 mm",
    "approach.lateral_offset": [0.2, -0.1],
    "contact.probe.friction": {"law": "lugre", "coefficient": 0.12, "presliding": "0.1 mm", "retardation_time": "2 ms"},
}


@pytest.mark.full
@pytest.mark.parametrize(
    ("name", "changes"),
    [("sits-fgc", {}), ("unknown-stiffness", {}), ("flexible-arm-rig", {}), ("epos-like", REMEMBERS)],
)
def test_what_an_fmu_is_made_of_has_the_bits_of_the_run(name, changes):
    """At every instant, of every output: one loop of ticks, and one way to join a rig."""
    scenario = dockdyn.load(name, changes)
    run, unit = dockdyn.simulate(scenario), unit_of(scenario)
    begin, advance, observe = map(Program, (unit.begin, unit.goes_on.advance, unit.observe))
    numbers, nothing = np.array([place.value for place in unit.numbers]), np.zeros(len(unit.inputs))
    going = begin(numbers)
    for row, time in enumerate(run.time.values[:300]):
        going = advance(numbers, nothing, time, going)
        for output, value in zip(unit.outputs, observe(numbers, nothing, going), strict=True):
            expected = run[output.variable].values[(row, *output.place)]
            np.testing.assert_array_equal(value, expected, err_msg=f"{output.name} at {time}")
    assert row > 200 and len(unit.outputs) > 10


@pytest.mark.full
def test_a_minute_of_a_rig_is_the_run(sits_fmu):
    assert sits_fmu.scenario.content.duration == 60.0
    checked = check_fmu(sits_fmu.file)
    assert checked.findings == [] and checked.steps == 15000
    assert len(checked.differences) > 10 and largest(checked) < 1e-12


@pytest.mark.full
def test_a_rig_of_two_robots_in_fmi_2_is_the_run_with_other_numbers_too(tmp_path):
    """Six degrees of freedom, and a closed loop of digital dynamics."""
    made = exported("epos-like", 2, tmp_path, {"duration": "8 s"})
    assert check_fmu(made.file).findings == []
    assert len(made.unit.numbers) > 35
    other = made.scenario.at(
        {"body.chaser.mass": 1500.0, "approach.yaw": 0.01, "contact.probe.normal.stiffness": 2500.0}
    )
    assert largest(check_fmu(made.file, made.scenario)) < 1e-12
    assert largest(check_fmu(made.file, other)) < 1e-12


MOUNTED = {"rig": {"carries": "chaser", "against": "target"}}
RESTING = {"mass": 400.0, "inertia": [40.0, 50.0, 60.0]}
BALL = {"mass": 100.0, "inertia": [10.0, 12.0, 14.0], "position": [-0.55, 0.0, 0.1], "velocity": [0.1, 0.0, 0.0]}
STRIKES = {
    "schema": 2,
    "duration": 0.4,
    **MOUNTED,
    "body": {
        "chaser": BALL | {"feature": {"tip": {"position": [0.5, 0.0, 0.0], "radius": 0.02}}},
        "target": RESTING
        | {"surface": {"plate": {"shape": "plane", "point": [0.0, 0.0, 0.0], "normal": [-1.0, 0.0, 0.0]}}},
    },
    "contact": {
        "tip": {"between": ["tip", "plate"], "normal": {"law": "spring-dashpot", "stiffness": 5e4, "damping": 100.0}}
    },
    "loop": {"hold": {"period": 4e-3}, "sensor": {"delay": 4e-3}, "dynamics": {"period": 4e-3}},
}
HELD = {"law": "rate-damping", "body": "chaser", "period": 0.05, "base_damping": 3.0}


@pytest.mark.full
@pytest.mark.parametrize(
    "more", [{}, {"control": HELD}, {"orbit": {"semi_major_axis": 6.8e6}}], ids=["two", "steered", "orbit"]
)
def test_a_rig_around_an_mechanism_is_the_run_with_other_numbers_too(tmp_path, more):
    """With what acts on its bodies in the computer."""
    scenario, file = parse(tomlkit.dumps(STRIKES | more), "strikes"), tmp_path / "strikes.fmu"
    file.write_bytes(fmu_of(unit_of(scenario, True), 3))
    assert check_fmu(file).findings == []
    assert largest(check_fmu(file, scenario)) < 1e-12
    assert largest(check_fmu(file, scenario.at({"body.chaser.mass": 90.0}))) < 1e-12


@pytest.mark.full
def test_a_compensator_is_inside_with_its_numbers(tmp_path):
    gain = {"law": "fixed-gain", "velocity": "model", "gain": "91.07 N s/m"}
    made = exported("sits", 3, tmp_path, {"loop.compensator": gain, "duration": "10 s"})
    numbers = {place.key for place in made.unit.numbers}
    others = {"loop.compensator.gain": 50.0, "contact.spring.normal.stiffness": 19_000.0}
    assert numbers >= set(others) and "body.target.mass" in set(made.unit.fixed) - numbers  # behind a compensator
    assert largest(check_fmu(made.file)) < 1e-12
    assert largest(check_fmu(made.file, made.scenario.at(others))) < 1e-12


def test_a_number_that_decides_when_what_happens_is_fixed():
    unit = unit_of(dockdyn.load("sits"))
    keys = {place.key for place in unit.numbers}
    assert {"body.target.mass", "contact.spring.normal.stiffness", "body.target.velocity"} <= keys
    assert {"loop.hold.period", "loop.sensor.delay"} <= set(unit.fixed) and not keys & set(unit.fixed)


@pytest.mark.full
@pytest.mark.parametrize("count", [10, 200])
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


@pytest.mark.full
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
    mass = content.named("target").mass
    frequency = np.sqrt(content.contact[0].normal.stiffness / mass)
    assert gained == pytest.approx(force / (mass * frequency) * np.sin(frequency * seconds), rel=0.02)


@pytest.mark.full
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


@pytest.mark.full_cases("cyril-plastic-overrides2-must be located, fixed or variational, to end steps where asked")
@pytest.mark.parametrize(
    ("preset", "overrides", "words"),
    [
        ("unknown-stiffness", {"loop.sensor.noise": "1 N"}, "random numbers"),
        ("sits-scvg", {}, "sees the motion without rig"),
        ("cyril-plastic", {}, "must be located, fixed or variational, to end steps where asked"),
        ("probe-cone", {"integrator.method": "fixed", "integrator.step": "1 ms"}, "must be located"),
    ],
)
def test_what_cannot_be_one_is_refused_in_a_line(preset, overrides, words):
    with pytest.raises(ScenarioError, match=words):
        unit_of(dockdyn.load(preset, overrides))


@pytest.mark.parametrize(("case", "fmi"), [(on_a_line, 3), pytest.param(in_space, 2, marks=pytest.mark.full)])
def test_the_computer_of_a_rig_takes_what_is_measured(case, fmi, tmp_path):
    """In lockstep with the laboratory that stands for its devices it gives the motion of the run, bit for bit."""
    line = {"duration": "6 s", "loop__compensator__law": "command-lead"}
    scenario = case(**(line if case is on_a_line else {"loop__compensator__law": "lead-energy"}))
    whole, unit, rig = dockdyn.simulate(scenario), computer_of(scenario), driver(scenario)
    names = [one.name.rpartition(".")[2] for one in unit.inputs[: rig.axes]]
    (tmp_path / "computer.fmu").write_bytes(fmu_of(unit, fmi))
    laboratory = LaboratoryInSteps(rig.laboratory(following=True), rig.axes)
    assert findings_of(tmp_path / "computer.fmu") == []
    found = []
    with Fmu(tmp_path / "computer.fmu") as fmu:
        one = fmu.instance({})
        for cycle in range(whole.sizes["time"]):
            found.append(one.read([f"model_pose.{name}" for name in names]))
            for what, heard in zip(("measured_load", "encoder_pose"), laboratory.tell(), strict=True):
                one.set({f"{what}.{name}": value for name, value in zip(names, heard.values, strict=False)})
            one.step_to((cycle + 1) * rig.period)
            laboratory.take(np.resize(one.read([f"command.{name}" for name in names]), 6))
        one.close()
    assert np.abs(whole.measured_force).max() > 1.0  # it touches
    expected = whole.model_pose if "model_pose" in whole else whole.position
    np.testing.assert_array_equal(np.array(found), np.asarray(expected).reshape(len(found), -1))


def test_a_computer_is_that_of_a_rig_with_one_cycle():
    with pytest.raises(ScenarioError, match=r"rig: missing; .* no computer that drives devices"):
        computer_of(dockdyn.load("probe-cone"))
    with pytest.raises(ScenarioError, match=r"loop\.dynamics: continuous"):
        computer_of(dockdyn.load("sits"))
