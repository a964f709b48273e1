"""Free bodies and mechanisms step by step: a run that is stepped is the run, alone and in a batch; refusals."""

import pickle
import subprocess
import sys

import numpy as np
import pytest
from end_of_run import end_of_run
from helpers.refusals import refused

import dockdyn
from dockdyn.control import Command
from dockdyn.integrate.solution import Status

CONTROL = {
    "law": "attitude-hold",
    "base_stiffness": 40.0,
    "base_damping": 300.0,
    "base_limit": 2.0,
    "position_stiffness": 20.0,
    "velocity_damping": 200.0,
    "velocity": [0.02, 0.0, 0.0],
    "thruster_force": 20.0,
    "period": 0.5,
}
PUSHED = {"velocity_damping": 300.0, "velocity": [-0.1, 0.0, 0.0], "position_stiffness": 0.0}
SEEN = ("position", "attitude", "velocity", "rate", "wheel_momentum", "thruster_use", "control_work")


def scenario(**changes):
    """A probe that is pushed into a cone, in a delayed loop, by a sampled controller."""
    return dockdyn.load(
        "probe-cone",
        {"duration": 12.0, "control": CONTROL | PUSHED, "loop.delay": 0.02, "approach.distance": 0.1, **changes},
    )


def end_of(dataset, names=SEEN):
    return {name: dataset[name].values[-1] for name in names}


def assert_alike(seen, dataset):
    for name, values in end_of(dataset).items():
        np.testing.assert_allclose(seen[name], values, rtol=1e-12, atol=1e-13, err_msg=name)


@pytest.mark.full_cases("by its own law")
@pytest.mark.parametrize("told", ["by its own law", "from outside"])
def test_a_run_that_is_stepped_is_the_run(told):
    """Contacts inside of steps, a delay, wheel and thrusters at their limits: the same at the end, by its own law to the last
    bit."""
    case = scenario()
    whole, (time, end) = dockdyn.simulate(case), end_of_run(case.content)
    assert whole.sizes["episode"] > 0
    sim, law = dockdyn.stepper(case), case.model().steered.control.law
    peak = 0.0
    while not sim.done:
        command = None if told == "by its own law" else law.act((), sim.measured)[1]
        seen = sim.step(command)
        peak = max(peak, float(seen["peak_force"].max()))
        assert sim.status == (Status.FINISHED if sim.done else Status.RUNNING)
    assert sim.time == case.content.duration
    assert_alike(seen, whole)
    if told == "by its own law":
        assert sim.time == time and end.keys() <= seen.keys()
        for name, values in end.items():
            np.testing.assert_array_equal(seen[name], values, err_msg=name)
    assert peak == pytest.approx(float(whole.episode_peak_force.max()), rel=1e-12)


@pytest.mark.parametrize("begins", [pytest.param(2.0, marks=pytest.mark.full), 1.7])
def test_a_law_that_acts_in_one_phase_acts_in_it_alone(load, begins):
    """Where that begins at a sample, and between two; a command acts in all."""
    phases = {"coast": {}, "late": {"when": {"lasting": begins}}}
    control = {
        "body": "chaser",
        "period": 0.5,
        "base_stiffness": 2.0,
        "base_damping": 6.0,
        "velocity_damping": 20.0,
        "phases": ["late"],
    }
    moving = {"mass": 50.0, "inertia": [5.0, 6.0, 7.0], "velocity": [0.03, -0.02, 0.01], "rate": [0.05, 0.02, -0.03]}
    case = load(
        {
            "schema": 2,
            "duration": 4.0,
            "body": {"chaser": moving, "target": {"mass": 80.0, "inertia": [20.0, 25.0, 30.0]}},
            "control": control,
            "phase": phases,
            "output": {"interval": 0.1},
        }
    )
    whole, sim = dockdyn.simulate(case), dockdyn.stepper(case)
    while not sim.done:
        seen = sim.step()
        row = int(np.argmin(np.abs(whole.time.values - sim.time)))
        for name in ("velocity", "rate"):
            np.testing.assert_allclose(seen[name], whole[name].values[row], rtol=1e-12, atol=1e-13)
    pushed = dockdyn.stepper(case)
    seen = pushed.step(Command(np.array([5.0, 0.0, 0.0]), np.zeros(3)))
    # as thrusters do, the force turns with the body: F/m (T e + T²/2 ω × e), to second order in ω T, which is 0.03
    along = np.array([1.0, 0.0, 0.0])
    gained = 5.0 / 50.0 * (0.5 * along + 0.5**2 / 2 * np.cross(moving["rate"], along))
    assert seen["velocity"][0] == pytest.approx(moving["velocity"] + gained, abs=0.05 * 0.031**2)


@pytest.mark.full
def test_runs_of_a_batch_are_the_runs_alone():
    """Each with its own start; one that its latch ends stays where it is while the others go on."""
    case = dockdyn.load(
        "probe-cone-latch", {"duration": 8.0, "latch.capture.ends_run": True, "control": CONTROL | PUSHED}
    )
    offsets = [[0.0, 0.0], [0.0, 0.02], [0.3, 0.0]]
    values = [{"approach.lateral_offset": offset} for offset in offsets]
    sim = dockdyn.stepper(case, batch=3)
    sim.reset(values)
    while not sim.done.all():
        seen = sim.step()
    assert seen["position"].shape == (3, 2, 3) and len(set(sim.time)) > 1
    for lane, one in enumerate(values):
        whole = dockdyn.simulate(case.at(one))
        assert sim.time[lane] == pytest.approx(whole.attrs["end_time_s"], abs=1e-12)
        assert bool(seen["captured"][lane]) == bool(np.isfinite(whole.capture_time))
        if whole.attrs["end_time_s"] == 8.0:  # the last sample of a run is at its end
            assert_alike({name: array[lane] for name, array in seen.items()}, whole)
    again = sim.step()
    for name, array in seen.items():
        if name != "peak_force":
            np.testing.assert_array_equal(again[name], array, err_msg=name)


@pytest.mark.full
def test_pulses_of_a_table_are_those_of_the_run():
    table = {
        f"{name}-{side}": {"position": [0.0, lever, 0.0], "direction": [way, 0.0, 0.0], "force": 8.0}
        for name, way in (("fore", 1.0), ("aft", -1.0))
        for side, lever in (("left", 1.0), ("right", -1.0))
    }
    control = {key: value for key, value in (CONTROL | PUSHED).items() if not key.startswith("thruster")}
    case = scenario(control=control | {"thruster": table, "modulation": {"shortest_pulse": 0.02}})
    whole, sim = dockdyn.simulate(case), dockdyn.stepper(case)
    while not sim.done:
        seen = sim.step()
    assert_alike(seen, whole)
    np.testing.assert_allclose(seen["thruster_on_time"], whole.thruster_on_time.values[-1], rtol=0, atol=1e-12)


def test_a_command_is_held_for_a_period():
    """Without control in the scenario: what is commanded is given, ½ F t² / m."""
    case = dockdyn.load("probe-cone", {"duration": 5.0, "approach.closing_speed": 0.0, "approach.distance": 2.0})
    sim = dockdyn.stepper(case, period=1.0)
    start = sim.observation
    force = np.array([-3.0, 2.0, 0.5])
    seen = sim.step(Command(force, np.zeros(3)))
    mass, drift = case.content.named("chaser").mass, start["velocity"][0]
    np.testing.assert_allclose(seen["velocity"][0], drift + force / mass, rtol=0, atol=1e-6)
    assert sim.measured.chaser.position == pytest.approx(seen["position"][0] - start["position"][1], abs=1e-12)
    assert sim.reset()["time"] == 0.0 and not sim.done
    with pytest.raises(dockdyn.ScenarioError, match="none commands"):
        sim.step()


ARM = """
schema = 2
duration = 6.0
contact.tip = { between = ["tip", "plate"], normal = { law = "hertz", stiffness = 2e4 } }
[approach]
of = "nose"
to = "hatch"
distance = 0.02
closing_speed = 0.02
[body.tug]
mass = 300.0
inertia = [60.0, 70.0, 80.0]
[body.boom]
on = "tug"
mass = 20.0
inertia = [1.0, 4.0, 4.0]
position = [0.8, 0.1, 0.0]
joint = { kind = "revolute", position = [-0.5, 0.0, 0.0], axis = [0, 0, 1], stiffness = 900.0, damping = 20.0 }
feature.tip = { position = [0.5, 0.0, 0.0], radius = 0.02 }
port.nose = { position = [0.52, 0.0, 0.0] }
[body.station]
mass = 2000.0
inertia = [800.0, 900.0, 900.0]
surface.plate = { shape = "plane", point = [-1.0, 0, 0], normal = [-1.0, 0, 0] }
port.hatch = { position = [-1.0, 0.0, 0.0], axis = [-1.0, 0.0, 0.0] }
"""


@pytest.mark.full
def test_an_mechanism_that_is_stepped_is_the_run():
    """An arm on a spring that strikes a plate, its base steered by a sampled law: the same state at the end, to rounding."""
    case = dockdyn.load(ARM, {"control": CONTROL | {"body": "tug"}})
    whole = dockdyn.simulate(case)
    assert whole.sizes["episode"] > 0
    sim = dockdyn.stepper(case)
    while not sim.done:
        seen = sim.step()
    assert_alike({name: seen[name] for name in (*SEEN, "joint_angle", "joint_rate")}, whole)


@pytest.mark.full
def test_a_body_of_an_mechanism_is_told_what_to_do():
    """Without control: the body that approaches; a force at its centre of mass gives tug and boom together its impulse, and the
    load of contacts is that on it."""
    sim = dockdyn.stepper(ARM, period=1.0)
    begun, force = sim.observation, np.array([-3.0, 2.0, 0.5])
    seen = sim.step(Command(force, np.zeros(3)))
    gained = np.array([300.0, 20.0, 2000.0]) @ (seen["velocity"] - begun["velocity"])
    assert gained == pytest.approx(seen["thruster_impulse"], abs=1e-9)
    assert gained == pytest.approx(force, rel=1e-3)  # it is held in the axes of the tug, which its boom turns a little
    assert seen["port_position"].shape == (3,) and seen["contact_load"].shape == (3,)
    nobody = dockdyn.load(ARM, {"approach": "none"})
    with pytest.raises(dockdyn.ScenarioError, match=r"control\.body is missing"):
        dockdyn.stepper(nobody, period=1.0)


@pytest.mark.parametrize(
    ("name", "changes", "given", "words"),
    [
        ("probe-cone", {}, {}, "control.period: missing"),
        ("probe-cone", {}, {"period": -1.0}, "period = -1 s: must be above 0"),
        ("probe-cone", {"integrator.method": "fixed", "integrator.step": 3e-3}, {"period": 1.0}, "the nearest step is"),
        ("cyril-plastic", {}, {"period": 1e-3}, "must be located, fixed or variational"),
        ("probe-cone", {}, {"period": 1.0, "batch": 0}, "batch = 0"),
    ],
)
def test_refusals_in_one_line(name, changes, given, words):
    with refused(words):
        dockdyn.stepper(dockdyn.load(name, changes), **given)


def test_what_is_no_command_is_refused():
    sim = dockdyn.stepper(scenario(), batch=2)
    for command, words in (
        (([0.0] * 3, [np.nan] * 3), "torque: must be finite"),
        (([0.0] * 2, [0.0] * 3), r"force: must be finite numbers of shape \(2, 3\)"),
        (([0.0] * 3,), "a force and a torque"),
    ):
        with pytest.raises(dockdyn.ScenarioError, match=words):
            sim.step(command)
    with pytest.raises(dockdyn.ScenarioError, match="values for 3 runs; must be for 2"):
        sim.reset([{}] * 3)


ELSEWHERE = """
import pickle, sys, dockdyn
case, count, state = pickle.load(open(sys.argv[1], "rb"))
sim = dockdyn.stepper(dockdyn.load(case), batch=count)
sim.state = state
while not sim.done.all():
    sim.step()
pickle.dump((sim.observation, sim.state), open(sys.argv[2], "wb"))
"""


def rest_of(sim):
    """What is seen at every step until all is over."""
    rows = []
    while not sim.done.all():
        rows.append(sim.step())
    return rows


def assert_identical(rows, wanted):
    assert len(rows) == len(wanted) > 0
    for row, one in zip(rows, wanted, strict=True):
        assert all(row[name].tobytes() == one[name].tobytes() for name in one)


def test_a_saved_state_goes_on_as_the_run_would_have():
    """Pickled within contact and delay, with numbers of its own: set where it was saved and elsewhere, as often as asked."""
    case = scenario()
    sim = dockdyn.stepper(case)
    sim.reset({"approach.closing_speed": 0.06})
    while not np.abs(sim.observation["contact_force"]).any():
        sim.step()
    saved = pickle.dumps(sim.state)
    seen, wanted = sim.observation, rest_of(sim)
    for one in (sim, dockdyn.stepper(case), sim):
        one.state = pickle.loads(saved)
        assert_identical([one.observation, *rest_of(one)], [seen, *wanted])


@pytest.mark.full
def test_a_saved_state_of_a_batch_goes_on_in_another_process(tmp_path):
    """Of runs of which one alone was reset; what is saved there goes on here."""
    case = scenario()
    sim = dockdyn.stepper(case, batch=2)
    sim.reset([{"approach.closing_speed": speed} for speed in (0.05, 0.07)])
    for _ in range(4):
        sim.step()
    sim.reset({"approach.lateral_offset": [0.01, 0.0]}, only=np.array([False, True]))
    sim.step()
    given, back = tmp_path / "given", tmp_path / "back"
    given.write_bytes(pickle.dumps((case.resolved(), 2, sim.state)))
    subprocess.run([sys.executable, "-c", ELSEWHERE, given, back], check=True)
    seen, state = pickle.loads(back.read_bytes())
    wanted = rest_of(sim)
    assert_identical([seen], wanted[-1:])
    sim.reset()
    sim.state = state
    assert_identical([sim.observation], wanted[-1:])


def test_what_is_no_state_of_these_runs_is_refused():
    case = scenario()
    sim = dockdyn.stepper(case)
    before = sim.observation["position"]
    state = sim.state
    for given, words in (
        (None, "state: must be what `state` of a stepper has given; is of type NoneType"),
        (
            dockdyn.stepper(scenario(**{"body.chaser.mass": 777.0})).state,
            r"another scenario: body.chaser.mass = '777.0 kg' there, ",
        ),
        (dockdyn.stepper(case, period=0.25).state, "another period: 0.25, here 0.5"),
        (dockdyn.stepper(case, batch=2).state, "another number of runs: 2, here 1"),
        (state._replace(numbers=state.numbers[:-1]), "its numbers do not fit"),
    ):
        with refused(match=words):
            sim.state = given
    np.testing.assert_array_equal(sim.observation["position"], before)
