"""FMUs that another program integrates, here CVode: contacts, latches that fall in, and sampled control are events."""

import numpy as np
import pytest
from fmu_files import Exported, exported, fmu_of, needs_compiler

import dockdyn
from dockdyn.exchange.comparison import check_fmu, run_beside
from dockdyn.exchange.fmu import unit_of
from dockdyn.results.exchange.fmu_instance import Fmu
from dockdyn.scenario.language.errors import ScenarioError

pytestmark = needs_compiler
PULSES = {
    "law": "attitude-hold",
    "base_stiffness": 40.0,
    "base_damping": 300.0,
    "base_limit": 2.0,
    "velocity_damping": 60.0,
    "velocity": [-0.05, 0.0, 0.0],
    "period": 0.5,
    "modulation": {"law": "pulse-width", "shortest_pulse": 0.02},
    "thruster": {
        "fore": {"position": [-1.0, 0.0, 0.0], "direction": [1.0, 0.0, 0.0], "force": 10.0},
        "aft": {"position": [1.0, 0.0, 0.0], "direction": [-1.0, 0.0, 0.0], "force": 10.0},
    },
}


def apart(made, *variables):
    """The largest difference of variables from the run."""
    dataset = dockdyn.simulate(made.scenario)
    outputs = made.unit.outputs
    _, found = run_beside(made.file, made.scenario, outputs, dataset)
    return dataset, [
        max(
            np.abs(found[one.name] - dataset[name].values[(slice(None), *one.place)]).max()
            for one in outputs
            if one.variable == name
        )
        for name in variables
    ]


@pytest.mark.full
def test_ten_bounces_of_a_compliance_are_those_of_the_run(tmp_path):
    made = exported("sazawal-compliance", 3, tmp_path, {"loop.delay": 0.0}, integrated=False)
    assert check_fmu(made.file).findings == []
    dataset, (position, attitude) = apart(made, "position", "attitude")
    assert dataset.sizes["episode"] >= 8
    assert position < 1e-7 and attitude < 1e-7  # m, as 1


@pytest.mark.full
@pytest.mark.parametrize("grip", ["compliant-weld", "weld"])
def test_a_latch_falls_in_in_fmi_2(grip, tmp_path):
    """A rigid hold takes the velocity away at an event."""
    made = exported("probe-cone-latch", 2, tmp_path, {"loop.delay": 0.0, "latch.capture.grip": grip}, integrated=False)
    assert check_fmu(made.file).findings == []
    dataset, (position, velocity) = apart(made, "position", "velocity")
    assert np.isfinite(dataset["capture_time"])
    assert position < 1e-8 and velocity < 1e-7


@pytest.mark.full_cases("co-simulation")
@pytest.mark.parametrize(
    "integrated", [True, pytest.param(False, marks=pytest.mark.full)], ids=["co-simulation", "model exchange"]
)
def test_pulses_of_sampled_control_begin_and_end_where_they_do_in_the_run(integrated, tmp_path):
    changes = {"loop.delay": 0.0, "control": PULSES, "duration": 10.0, "output.interval": 0.04}
    made = exported("probe-cone", 3, tmp_path, changes, integrated=integrated)
    dataset, (position, impulse, used) = apart(made, "position", "thruster_impulse", "thruster_on_time")
    assert dataset["thruster_pulses"].values[-1].max() > 5
    assert position < (1e-9 if integrated else 1e-7)
    assert impulse < 1e-6 and used < (1e-8 if integrated else 1e-6)


ARM = {
    "on": "a",
    "mass": 20.0,
    "inertia": [2.0, 2.5, 3.0],
    "position": [1.0, 0.0, 0.0],
    "joint": {"kind": "revolute", "position": [0.5, 0.0, 0.0], "axis": [0.0, 0.0, 1.0], "start": 0.17, "start_rate": 0.2,
              "stiffness": 40.0, "damping": 3.0},
}  # fmt: skip
BODIES = {
    "a": {"mass": 50.0, "inertia": [5.0, 6.0, 7.0], "rate": [0.05, 0.02, -0.03]},
    "b": {"mass": 80.0, "inertia": [20.0, 25.0, 30.0], "position": [3.0, 0.0, 0.0], "velocity": [-0.25, 0.0, 0.0]},
}
FACING = {"anchor": [[0.9, 0.0, 0.0], [-0.9, 0.0, 0.0]], "axis": [-1.0, 0.0, 0.0]}
HELD = {  # what is held, and is not yet, beside phases that wait for times, each a thrust more
    "nothing": {},
    "an open connection": {
        "connection": {"pin": {"between": ["arm", "b"], "anchor": [[0.3, 0, 0], [-1, 0, 0]], "closed": False}}
    },
    "a latch that falls in": {
        "latch": {"l": {"between": ["arm", "b"], "reach": 1e-3, "lateral": 0.5, "grip": "weld", **FACING}}
    },
}


@pytest.mark.full_cases("an open connection", "a latch that falls in")
@pytest.mark.parametrize("held", HELD)
def test_phases_begin_in_time_and_what_is_open_stays_open(held, load, tmp_path):
    """However another program's method comes upon an instant, and moves what is remembered to learn what depends on it."""
    rng = np.random.default_rng(len(held))
    waits, thrusts = rng.choice([0.25, 0.5, 0.3003, 0.37], 3).tolist(), rng.uniform(1.0, 4.0, 3).tolist()
    phases = {"first": {}} | {
        f"phase{number}": {"when": {"lasting": wait}, "set": {"thruster.t.force": thrust}}
        for number, (wait, thrust) in enumerate(zip(waits, thrusts, strict=True))
    }
    thruster = {"body": "b", "position": [0.0, 0.0, 0.0], "direction": [-1.0, 0.0, 0.0], "force": 0.0}
    body = BODIES | ({"arm": ARM} if HELD[held] else {})
    content = {"schema": 2, "duration": 2.0, "body": body, "thruster": {"t": thruster}, "phase": phases} | HELD[held]
    scenario = load(content | {"output": {"interval": 0.02}})
    unit, file = unit_of(scenario, integrated=False), tmp_path / "phases.fmu"
    file.write_bytes(fmu_of(unit, 2))
    dataset, (position, velocity) = apart(Exported(scenario, unit, file), "position", "velocity")
    assert dataset["phase_number"].values[-1] == 3
    assert position < 1e-6 and velocity < 1e-6
    if held == "nothing":
        begun = np.cumsum(waits)
        impulse = sum(
            thrust * (end - start) for thrust, start, end in zip(thrusts, begun, [*begun[1:], 2.0], strict=True)
        )
        assert dataset["velocity"].values[-1, 1, 0] == pytest.approx(-0.25 - impulse / 80.0, abs=1e-9)
    if held == "a latch that falls in":
        assert np.isfinite(dataset["capture_time"])


@pytest.mark.full
def test_a_force_from_outside_is_in_the_rates(tmp_path):
    made = exported("probe-cone", 3, tmp_path, {"loop.delay": 0.0}, integrated=False)
    with Fmu(made.file) as fmu:
        given = np.array([(0.0, 6.0), (4.0, 6.0)], dtype=[("time", float), ("outside_force.target.z", float)])
        import fmpy

        found = fmpy.simulate_fmu(fmu.folder, stop_time=2.0, output_interval=0.5, relative_tolerance=1e-10, input=given,
                                  output=["velocity.target.z"], record_events=False)  # fmt: skip
    gained = np.diff(found["velocity.target.z"])
    np.testing.assert_allclose(gained, 6.0 * 0.5 / made.scenario.content.named("target").mass, rtol=1e-7)


def test_a_delay_and_a_rig_are_refused_in_a_line():
    with pytest.raises(ScenarioError, match=r"loop\.delay = 0\.016 s: what another program integrates has no delay"):
        unit_of(dockdyn.load("probe-cone"), integrated=False)
    with pytest.raises(ScenarioError, match="must be for co-simulation"):
        unit_of(dockdyn.load("sits"), integrated=False)
