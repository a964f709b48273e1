"""FMUs that another program integrates, here CVode: contacts, latches that fall in, and sampled control are events."""

import numpy as np
import pytest
from fmu_files import exported, needs_compiler

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
