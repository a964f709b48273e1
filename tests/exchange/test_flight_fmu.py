"""FMUs of free flight: they are what `dockdyn run` is, whoever advances them."""

import numpy as np
import pytest
from end_of_run import end_of_run
from fmu_files import exported, needs_compiler

import dockdyn
from dockdyn.exchange.comparison import check_fmu
from dockdyn.results.exchange.fmu_instance import Fmu
from dockdyn.scenario.language.errors import ScenarioError

pytestmark = needs_compiler
SEEN = ["position.chaser.x", "velocity.target.y", "attitude.chaser.z", "rate.target.z", "kinetic_energy", "work"]
MOTION = ("position", "attitude", "rotation", "velocity", "rate", "depth", "kinetic_energy")


def relative(checked):
    """The largest difference of every variable, relative to its largest number."""
    return {one.variable: one.difference / max(one.largest, 1e-12) for one in checked.differences}


def test_a_delayed_probe_in_a_cone_is_the_run(cone_fmu):
    dataset = dockdyn.simulate(cone_fmu.scenario)
    assert dataset.sizes["episode"] == 4 and dataset.attrs["delay_s"] == 0.016
    checked = check_fmu(cone_fmu.file)
    assert checked.findings == []
    found = relative(checked)
    assert len(found) > 15 and max(found[name] for name in MOTION) < 1e-9
    assert found.pop("contact_moment") < 5e-8  # which the run itself has to 2.4e-8: friction's, while sliding turns
    assert max(found.values()) < 1e-8  # forces, which the run itself has to 3e-9


@pytest.mark.full
def test_a_finer_one_is_the_finer_run(tmp_path):
    made = exported("probe-cone", 3, tmp_path, {"integrator.tolerance": 1e-13})
    found = relative(check_fmu(made.file))
    assert len(found) > 15 and max(found.values()) < 1e-9


@pytest.mark.full
def test_a_latch_in_fmi_2_is_the_run(latch_fmu):
    checked = check_fmu(latch_fmu.file)
    assert checked.findings == []
    found = relative(checked)
    assert {"latch_travel", "catch_stored", "hold_force"} < found.keys()
    assert found.pop("contact_moment") < 5e-9  # which the run itself has to 2.9e-9: of friction alone, 1e-4 N m
    assert max(found.values()) < 1e-9
    with Fmu(latch_fmu.file) as fmu:
        one = fmu.instance({})
        assert one.read(["captured"]) == 0.0
        one.step_to(12.0)  # in one step
        assert one.read(["captured"]) == 1.0
        one.close()


def changed(scenario, unit, random):
    """Other numbers of a scenario, most of them, that it allows."""
    while True:
        places = [place for place in unit.numbers if random.random() < 0.7]
        shares = random.uniform(-0.02, 0.02, len(places))
        values = {place: place.value * (1 + share) for place, share in zip(places, shares, strict=True)}
        try:
            return (
                scenario.at({key: value for place, value in values.items() for key in place.keys}),
                {place.key: value for place, value in values.items()},
            )
        except ScenarioError:  # keys that do not go together
            continue


@pytest.mark.full
@pytest.mark.parametrize("count", [20, pytest.param(1000, marks=pytest.mark.full)])
def test_parameters_are_the_numbers_of_the_scenario(cone_fmu, count):
    random = np.random.default_rng(25)
    with Fmu(cone_fmu.file) as fmu:
        for _ in range(count):
            scenario, values = changed(cone_fmu.scenario, cone_fmu.unit, random)
            dataset = dockdyn.simulate(scenario)
            one = fmu.instance(values)
            one.step_to(float(dataset["time"][-1]))
            found = one.read(SEEN)
            one.close()
            outputs = {output.name: output for output in cone_fmu.unit.outputs}
            for name, value in zip(SEEN, found, strict=True):
                run = dataset[outputs[name].variable].values
                assert abs(value - run[(-1, *outputs[name].place)]) < 1e-10 * np.abs(run).max(), name


@pytest.mark.full
@pytest.mark.parametrize("which", ["cone_fmu", pytest.param("latch_fmu", marks=pytest.mark.full)])
def test_in_one_stretch_it_has_the_bits_of_the_run(which, request):
    """At any numbers, contacts with friction and a delay, or a latch that catches: nothing that pushes changes nothing."""
    made, random = request.getfixturevalue(which), np.random.default_rng(53)
    with Fmu(made.file) as fmu:
        for _ in range(4):
            scenario, values = changed(made.scenario, made.unit, random)
            time, run = end_of_run(scenario.content)
            one = fmu.instance(values)
            one.step_to(time)
            names = [output.name for output in made.unit.outputs if output.variable in run]
            found = one.read(names)
            one.close()
            places = {output.name: (output.variable, output.place) for output in made.unit.outputs}
            expected = [float(run[variable][place]) for variable, place in map(places.get, names)]
            assert len(names) > 50
            np.testing.assert_array_equal(found, expected)


def test_a_state_is_taken_in_a_contact_and_played_again(cone_fmu):
    names = [output.name for output in cone_fmu.unit.outputs]
    dataset = dockdyn.simulate(cone_fmu.scenario)
    inside = float(0.6 * dataset["episode_onset"][1] + 0.4 * dataset["episode_release"][1])
    with Fmu(cone_fmu.file) as fmu:
        one, other = fmu.instance({}), fmu.instance({})
        one.step_to(inside)
        assert one.read(["depth.probe"]) > 0
        state = one.slave.getFMUState()
        written = one.slave.serializeFMUState(state)
        rows = []
        for _ in range(2):
            row = []
            for time in np.linspace(inside, inside + 5.0, 40)[1:]:
                one.step_to(time)
                row.append(one.read(names))
            rows.append(row)
            one.slave.setFMUState(state)
            one.time = inside
        one.slave.freeFMUState(state)
        moved = other.slave.deserializeFMUState(written)  # of another instance, which has been somewhere else
        other.step_to(1.0)
        other.slave.setFMUState(moved)
        other.time = inside
        other.slave.freeFMUState(moved)
        rows.append([])
        for time in np.linspace(inside, inside + 5.0, 40)[1:]:
            other.step_to(time)
            rows[-1].append(other.read(names))
        one.close(), other.close()
    np.testing.assert_array_equal(rows[0], rows[1])
    np.testing.assert_array_equal(rows[0], rows[2])


def test_two_instances_do_not_know_each_other(cone_fmu):
    names = [output.name for output in cone_fmu.unit.outputs]
    fast, slow = {"approach.closing_speed": 0.05}, {"approach.closing_speed": 0.03}
    with Fmu(cone_fmu.file) as fmu:
        alone = []
        for values in (fast, slow):
            one = fmu.instance(values)
            for time in range(1, 11):
                one.step_to(float(time))
            alone.append(one.read(names))
            one.close()
        both = [fmu.instance(values) for values in (fast, slow)]
        for time in range(1, 11):
            for one in both:
                one.step_to(float(time))
        for one, found in zip(both, alone, strict=True):
            np.testing.assert_array_equal(one.read(names), found)
            one.close()
    assert abs(alone[0] - alone[1]).max() > 0.01


def test_forces_from_outside_give_momentum_and_spin(cone_fmu):
    force, torque, seconds = 3.0, 0.5, 2.0  # N, N m, s
    with Fmu(cone_fmu.file) as fmu:
        one = fmu.instance({"approach.closing_speed": -1.0})  # away from each other
        names = ["velocity.target.z", "rate.target.y", "linear_momentum.z", "velocity.chaser.z"]
        before = one.read(names)
        one.set({"outside_force.target.z": force, "outside_torque.target.y": torque})
        one.step_to(seconds)
        one.set({"outside_force.target.z": 0.0, "outside_torque.target.y": 0.0})
        one.step_to(2 * seconds)
        gained = one.read(names) - before
        one.close()
    target = cone_fmu.scenario.content.named("target")
    assert gained[0] == pytest.approx(force * seconds / target.mass, rel=1e-12)
    assert gained[1] == pytest.approx(torque * seconds * np.linalg.inv(target.inertia)[1, 1], rel=1e-5)
    assert gained[2] == pytest.approx(force * seconds, rel=1e-9) and abs(gained[3]) < 1e-15


def test_what_is_set_wrongly_is_refused(cone_fmu):
    with Fmu(cone_fmu.file) as fmu:
        for values in (
            {"body.chaser.mass": -1.0},
            {"body.chaser.mass": np.nan},
            {"loop.delay": 0.0},
            {"kinetic_energy": 1.0},
        ):
            with pytest.raises(ScenarioError, match=r"setFloat64|must be at least 0, as the FMU declares"):
                fmu.instance(values)
        with pytest.raises(ScenarioError, match=r"has no variable chaser\.weight"):
            fmu.instance({"chaser.weight": 1.0})
        one = fmu.instance({})
        with pytest.raises(ScenarioError, match="setFloat64"):
            one.set({"body.chaser.mass": 2000.0})  # it has begun
        with pytest.raises(ScenarioError, match="doStep at t = 0 s"):
            one.step_to(-1.0)
        one.close()


def test_every_parameter_beyond_its_declared_bounds_is_refused_by_the_fmu_itself(cone_fmu):
    """By its status, whoever sets it: 3 is an error in both versions of FMI."""
    rng = np.random.default_rng(1)
    with Fmu(cone_fmu.file) as fmu:
        one = fmu.instance({})
        parameters = fmu.named("parameter").values()
        bounded = [
            (each, bound, side) for each in parameters for bound, side in ((each.min, -1), (each.max, 1)) if bound
        ]
        assert len(bounded) > 5
        for each, bound, side in bounded:
            beyond = float(bound) + side * rng.uniform(1e-6, 10.0) * max(abs(float(bound)), 1.0)
            with pytest.raises(ScenarioError, match=r"set(Float64|Real) .* failed with status 3"):
                one.call(f"set{each.type}", [each.valueReference], [beyond])
        one.close()
