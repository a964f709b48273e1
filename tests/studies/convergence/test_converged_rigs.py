"""Whether runs of rigs have converged: what is computed is refined, and what the rig is stays as it is."""

import numpy as np
import pytest
from helpers.line_rig import HEAD

import dockdyn

RIG = (
    HEAD
    + """
contact.spring.bilateral = {bilateral}
duration = {duration}
[body.target]
mass = {mass}
position = {start}
velocity = 0.05
[contact.spring.normal]
law = "spring-dashpot"
stiffness = {stiffness}
damping = 10.0
[loop.hold]
period = {period}
[loop.sensor]
delay = {delay}
[loop.robot]
bandwidth = {bandwidth}
"""
)
STEPPED = """
[loop.dynamics]
method = "zero-order-hold"
period = {period}
"""


def rig(tmp_path, seed, stepped, bilateral, whole_delay=False):
    """A rig drawn at random, whose computer steps with its hold, or whose virtual mass moves continuously."""
    chance = np.random.default_rng(seed)
    mass, frequency = float(chance.uniform(100, 1000)), float(chance.uniform(0.5, 2))
    numbers = {
        "mass": mass,
        "stiffness": mass * (2 * np.pi * frequency) ** 2,
        "period": 0.004,
        "delay": 0.004 * int(chance.integers(1, 4)) if whole_delay else float(chance.uniform(0.001, 0.01)),
        "bandwidth": float(chance.uniform(5, 20)),
        "start": 0.0 if bilateral else -0.002,
        "bilateral": str(bilateral).lower(),
        "duration": 1.2 / frequency,
    }
    file = tmp_path / "rig.toml"
    file.write_text((RIG + (STEPPED if stepped else "")).format(**numbers))
    return dockdyn.load(file)


@pytest.mark.full
@pytest.mark.parametrize("seed", range(3))
def test_what_moves_with_finer_parts_falls_by_the_fourth_order_of_the_method(tmp_path, seed):
    """Runge and Kutta's, of a contact that never parts: each halving leaves a sixteenth."""
    whole = rig(tmp_path, seed, stepped=False, bilateral=True, whole_delay=True)
    ends = [float(dockdyn.simulate(whole.at({"integrator.finer": finer})).position[-1, 0]) for finer in (1, 2, 4, 32)]
    first, second, third = (abs(end - ends[-1]) for end in ends[:-1])
    assert first / second == pytest.approx(16, rel=0.2) and second / third == pytest.approx(16, rel=0.3)
    found = dockdyn.check_convergence(whole)
    assert found["refined"]["instants"] == {"integrator.finer": 4}
    assert found["converged"] and found["largest_change"] < 1e-4


@pytest.mark.full
@pytest.mark.parametrize("seed", range(4))
def test_finer_parts_move_a_rig_of_digital_steps_by_rounding_alone(tmp_path, seed):
    """Between its instants nothing is approximated: the robot's motion is exact, and so are the steps of its computer."""
    whole = rig(tmp_path, seed, stepped=True, bilateral=False)
    own, finer = (dockdyn.simulate(whole.at({"integrator.finer": parts})) for parts in (1, 4))
    assert float(own.attrs["step_s"]) == pytest.approx(4 * float(finer.attrs["step_s"]))
    np.testing.assert_array_equal(own.time.values, finer.time.values)
    for name in ("position", "velocity", "robot_position", "measured_force"):
        size = float(np.abs(own[name]).max())
        np.testing.assert_allclose(finer[name].values, own[name].values, rtol=0, atol=1e-9 * size)


@pytest.mark.full
@pytest.mark.parametrize(("preset", "seconds"), [("sits", 5), ("epos-like", 12)])
def test_rigs_that_come_with_dockdyn_have_converged(dock, preset, seconds):
    code, out, err = dock("run", preset, "--check-convergence", "--set", f"duration={seconds}")
    assert code == 0, err
    words = " ".join(out.split())
    assert "Converged: with finer numbers (tolerance and parts between instants) no figure moves" in words
    assert "Refined: integrator.finer = 4" in words and "Refined: integrator.tolerance = 1e-12" in words
