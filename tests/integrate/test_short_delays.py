"""Delays so short that a run would not end: refused before it begins, with what it would cost, and never otherwise."""

import re

import numpy as np
import pytest
from bounce_series import exact_restitution
from numpy.testing import assert_allclose

import dockdyn
from dockdyn.results.delay_cost import affordable_delay

STIFFNESS, MASS, SPEED = 1000.0, 10.0, 0.1  # N/m, kg of each of two bodies, m/s
FREQUENCY = np.sqrt(2 * STIFFNESS / MASS)  # rad/s
CONTACT = np.pi / FREQUENCY  # s, of a bounce without delay
SCENE = f"""
schema = 2
duration = "0.5 s"
[body.chaser]
mass = {MASS}
inertia = [[1.0, 0, 0], [0, 1.0, 0], [0, 0, 1.0]]
position = [-0.001, 0, 0]
velocity = [{SPEED}, 0, 0]
[body.chaser.feature.tip]
position = [0.0, 0, 0]
[body.target]
mass = {MASS}
inertia = [[1.0, 0, 0], [0, 1.0, 0], [0, 0, 1.0]]
position = [0.0, 0, 0]
[body.target.surface.plate]
shape = "plane"
point = [0.0, 0, 0]
normal = [-1.0, 0, 0]
[contact.tip]
between = ["tip", "plate"]
[contact.tip.normal]
law = "spring-dashpot"
stiffness = {STIFFNESS}
damping = 0.0
"""


@pytest.fixture
def load(tmp_path):
    file = tmp_path / "bounce.toml"
    file.write_text(SCENE)
    return lambda **changes: dockdyn.load(file, {key.replace("__", "."): value for key, value in changes.items()})


def test_a_delay_that_would_take_too_many_steps_is_refused_with_the_cost(load, dock, tmp_path):
    """0.222 s of contact in steps of 1e-7 s."""
    assert CONTACT == pytest.approx(0.2221, abs=1e-4)
    with pytest.raises(dockdyn.ScenarioError) as refused:
        dockdyn.simulate(load(loop__delay=1e-7, integrator__max_steps=1_000_000))
    words = str(refused.value)
    assert "\n" not in words
    assert "loop.delay = 1e-07 s" in words and "integrator.max_steps = 1000000" in words
    assert "2.2e+06 or more" in words
    assert "at least 2.3e-07 s" in words  # 0.2221 s in a million steps
    (more,) = (int(number) for number in re.findall(r"or integrator.max_steps = (\d+)", words))
    assert more >= 1.2 * CONTACT / 1e-7
    (change,) = (float(number) for number in re.findall(r"by about (\S+) of its speed", words))
    assert_allclose(change, exact_restitution(1e-7 * FREQUENCY) - 1, rtol=0.03)  # two digits

    changes = ["--set", "loop.delay=1e-7", "--set", "integrator.max_steps=1000000"]
    told = dock("run", tmp_path / "bounce.toml", *changes, "--out", tmp_path / "out")
    assert told.returncode == 2
    assert told.stderr.strip().endswith(words.partition("loop.delay")[2])
    assert not (tmp_path / "out").exists()


@pytest.mark.full
def test_what_is_refused_would_not_have_run_and_what_runs_is_not_refused(load):
    """Around the edge: the steps that each run really takes, beside the verdict on fewer."""
    for delay in (2e-5, 1e-4):
        needed = int(dockdyn.simulate(load(loop__delay=delay)).attrs["iterations"])
        for share in (0.8, 0.9, 1.02):
            scenario = load(loop__delay=delay, integrator__max_steps=int(share * needed))
            try:
                affordable_delay(scenario)
            except dockdyn.ScenarioError:
                assert share < 0.85
            else:
                assert share > 0.8
                assert (dockdyn.simulate(scenario).attrs["status"] == "finished") == (share > 1)


@pytest.mark.full
def test_what_leaving_a_short_delay_out_changes(load):
    """π² h / 2T of the speed, from runs with delays that can be run: the error falls with the delay."""

    def rebound(delay):
        data = dockdyn.simulate(load(loop__delay=delay))
        velocity = data.velocity.values
        return (velocity[-1, 1, 0] - velocity[-1, 0, 0]) / SPEED

    delays = np.array([4e-3, 2e-3, 1e-3])
    changes = np.array([rebound(delay) for delay in delays]) - rebound(0.0)
    stated = np.pi**2 * delays / (2 * CONTACT)
    errors = np.abs(changes / stated - 1)
    assert errors[-1] < 0.03
    assert_allclose(errors[:-1] / errors[1:], 2, rtol=0.1)  # of the second order in the delay
