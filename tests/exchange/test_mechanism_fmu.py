"""FMUs of mechanisms: bodies with elements, latches and joints are what `dockdyn run` is, pushed from outside or not."""

import numpy as np
import pytest
from fmu_files import exported, needs_compiler

from dockdyn.exchange.comparison import check_fmu
from dockdyn.results.exchange.fmu_instance import Fmu

pytestmark = needs_compiler


@pytest.mark.full
def test_a_probe_with_springs_and_latches_is_the_run(tmp_path):
    made = exported("soyuz-like-probe", 3, tmp_path, {"duration": 2.0})
    checked = check_fmu(made.file)
    assert checked.findings == []
    found = {one.variable: one.difference / max(one.largest, 1e-9) for one in checked.differences}
    assert {"element_tension", "latch_held", "internal_energy"} < found.keys()
    assert max(found[name] for name in ("position", "attitude", "velocity")) < 1e-6
    with Fmu(made.file) as fmu:
        one, pushed = fmu.instance({}), fmu.instance({})
        body = made.scenario.content.names()[0]
        pushed.set({f"outside_force.{body}.y": 5.0})
        names = [f"linear_momentum.{axis}" for axis in "xyz"]
        for each in (one, pushed):
            each.step_to(1.5)
        gained = pushed.read(names) - one.read(names)
        one.close(), pushed.close()
    np.testing.assert_allclose(gained, [0.0, 7.5, 0.0], atol=1e-6)  # N s, whatever the bodies do to each other


@pytest.mark.full
def test_an_arm_that_is_asked_at_samples_is_the_run(tmp_path):
    made = exported(
        "detumble", 3, tmp_path, {"duration": 3.0, "control.period": 0.07, "integrator": {"tolerance": 1e-11}}
    )
    checked = check_fmu(made.file)
    assert checked.findings == []
    found = {one.variable: one.difference / max(one.largest, 1e-9) for one in checked.differences}
    assert max(found[name] for name in ("position", "joint_rate", "motor_effort", "wheel_momentum")) < 1e-6
