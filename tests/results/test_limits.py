"""Limits of size and of effort: what is beyond them is refused before anything runs, or stops with the reason."""

import numpy as np
import pytest

import dockdyn
from dockdyn.docking.mechanism_setup import MechanismSetup
from dockdyn.results.dataset import explain_short_steps
from dockdyn.rig.rig_setup import RigSetup


@pytest.mark.parametrize(
    ("key", "value"),
    [
        *(
            (key, value)
            for key in ("body.chaser.mass", "contact.probe.normal.stiffness", "duration")
            for value in (1.1e30, 1e300)
        ),
        *(("body.chaser.position.0", value) for value in (1.1e30, -2e30)),
    ],
)
def test_numbers_beyond_what_products_hold_are_refused(key, value):
    with pytest.raises(dockdyn.ScenarioError, match=rf"{key.split('.')[0]}.*1e\+30"):
        dockdyn.load("sazawal-spring-dashpot", {key: value})


@pytest.mark.parametrize(
    ("key", "value", "allowed"),
    [
        ("body.chaser.mass", 0.9e-30, False),
        ("body.chaser.mass", 1.1e-30, True),
        ("contact.probe.normal.stiffness", 5e-324, False),
        ("body.chaser.position.0", 5e-324, True),  # a component is a size with others
        ("body.chaser.position.0", 0, True),
        ("loop.delay", 0, True),
        ("loop.delay", 1e-31, False),
    ],
)
def test_numbers_below_what_quotients_hold_are_refused(key, value, allowed):
    if allowed:
        dockdyn.load("sazawal-spring-dashpot", {key: value})
    else:
        with pytest.raises(dockdyn.ScenarioError, match="1e-30"):
            dockdyn.load("sazawal-spring-dashpot", {key: value})


@pytest.mark.full
def test_a_located_run_stops_at_its_most_steps():
    """It keeps what it had, and says when it stopped and why its steps are short."""
    settings = {"integrator.max_steps": 200, "loop.delay": 0, "contact.probe.normal.stiffness": 1e9}
    found = dockdyn.simulate(dockdyn.load("sazawal-spring-dashpot", settings))
    end = float(found.time[-1])
    assert found.attrs["status"].startswith("stopped at t = ")
    assert "more than 200 steps (integrator.max_steps)" in found.attrs["status"]
    assert "s, as the motion is too fast, or the contact too stiff, for longer ones" in found.attrs["status"]
    assert 0 < end < found.attrs["end_time_s"] + 1e-9 and np.isfinite(found.position.values).all()


@pytest.mark.parametrize(
    ("preset", "settings"), [("sazawal-spring-dashpot", {"integrator.method": "fixed"}), ("gibson-2d", {})]
)
def test_steps_that_are_too_many_are_refused_before_they_run(preset, settings, monkeypatch):
    from dockdyn.mechanism import variational  # noqa: F401, made with jit where it is imported

    monkeypatch.setattr("jax.jit", None)
    words = r"integrator.step = 1e-09 s: takes \S+ steps .* must take at most integrator.max_steps = "
    with pytest.raises(dockdyn.ScenarioError, match=words):
        dockdyn.simulate(dockdyn.load(preset, settings | {"integrator.step": "1 ns"}))


def test_why_steps_are_short():
    assert "the delay of 1e-07 s" in explain_short_steps(1e-7)
    assert "the delay of 1e-07 s" in explain_short_steps(1e-7, 1e-7)
    assert "steps fell to 1e-09 s" in explain_short_steps(1e-7, 1e-9)  # shorter than the delay asks for
    assert "steps fell to 1e-09 s" in explain_short_steps(0.0, 1e-9)
    assert (
        explain_short_steps(0.0) == explain_short_steps(5.0, 1.0) == "the duration is too long for a motion this fast"
    )


@pytest.mark.parametrize("name", ["sits", "sazawal-spring-dashpot"])
def test_a_matrix_that_cannot_be_solved_is_a_refusal(name, monkeypatch):
    def fails(*given):
        np.linalg.inv(np.zeros((2, 2)))

    monkeypatch.setattr(RigSetup, "simulate", fails)
    monkeypatch.setattr(MechanismSetup, "simulate", fails)
    with pytest.raises(dockdyn.ScenarioError, match=f"{name}: its matrices cannot be solved.*closer in size"):
        dockdyn.simulate(dockdyn.load(name))
