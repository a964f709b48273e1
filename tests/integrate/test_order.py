"""Order of both integrators across contacts: error against step, slope fitted."""

import numpy as np
import pytest
from mechanical_models import slope

import dockdyn

CASES = {
    # name: (overrides, steps)
    "one contact, no delay": ({"loop.delay": 0, "duration": "9 s"}, (0.08, 0.04, 0.02, 0.01)),
    "one contact, delay": ({"loop.delay": "90 ms", "duration": "9 s"}, (0.08, 0.04, 0.02, 0.01)),
    "one contact, delay not a multiple of the step": (
        {"loop.delay": "37 ms", "duration": "9 s"},
        (0.03, 0.015, 0.0075),
    ),
    "two contacts, delay and friction": (
        {"loop.delay": "90 ms", "duration": "21.2 s", "contact.probe.friction.coefficient": 0.15},
        (0.08, 0.04, 0.02, 0.01),
    ),
    "undamped, delay": (
        {"loop.delay": "60 ms", "contact.probe.normal.damping": 0, "duration": "9 s"},
        (0.05, 0.025, 0.0125),
    ),
    "full inertias, body rates, delay": (
        {
            "loop.delay": "60 ms",
            "duration": "9 s",
            "body.chaser.inertia": [[520, 40, -30], [40, 610, 25], [-30, 25, 700]],
            "body.target.inertia": [[900, -50, 20], [-50, 800, 60], [20, 60, 1100]],
            "body.chaser.rate": [0.02, -0.01, 0.015],
            "body.target.rate": [-0.01, 0.005, 0.02],
        },
        (0.05, 0.025, 0.0125),
    ),
}


def final(overrides, step, method="located"):
    """Final positions, velocities and rates in one row."""
    chosen = {**overrides, "integrator.step": step, "integrator.method": method}
    data = dockdyn.simulate(dockdyn.load("sazawal-spring-dashpot", chosen))
    assert data.attrs["finished"]
    return np.concatenate([data[name].values[-1].ravel() for name in ("position", "attitude", "velocity", "rate")])


@pytest.mark.full_cases(
    "full inertias, body rates, delay",
    "one contact, no delay",
    "one contact, delay",
    "one contact, delay not a multiple of the step",
    "two contacts, delay and friction",
)
@pytest.mark.parametrize("name", CASES)
def test_located_keeps_its_order_across_contacts(name):
    overrides, steps = CASES[name]
    best = final(overrides, steps[-1] / 8)
    errors = [np.abs(final(overrides, step) - best).max() for step in steps]
    assert slope(steps, errors) >= 3.5
    assert errors[-1] < 1e-6


@pytest.mark.full
def test_fixed_step_is_of_first_order_across_contact():
    """The dashpot's force jumps at onset, somewhere inside a step: first order on the average over where, and no more."""
    starts = np.linspace(3.533, 3.5332, 9)  # m: shifts the onset by up to 10 ms

    def error(step):
        found = []
        for start in starts:
            shifted = {"loop.delay": "16 ms", "duration": "9 s", "body.chaser.position": [float(start), 0, 0.25]}
            found.append(np.abs(final(shifted, step, "fixed") - final(shifted, 1e-3)).max())
        return np.mean(found)

    steps = (8e-3, 4e-3, 2e-3)
    assert slope(steps, [error(step) for step in steps]) == pytest.approx(1, abs=0.25)


@pytest.mark.full
def test_fixed_step_is_of_fourth_order_where_nothing_jumps():
    """Touching all the time with an adhesive law and no delay, so the right-hand side is smooth."""
    overrides = {
        "loop.delay": 0,
        "duration": "0.3 s",
        "contact.probe.normal.adhesion": True,
        "contact.probe.normal.damping": 20,
        "body.chaser.position": [3.2, 0, 0.25],
    }
    best = final(overrides, 1e-3, "fixed")
    steps = (0.06, 0.03, 0.015)
    errors = [np.abs(final(overrides, step, "fixed") - best).max() for step in steps]
    assert slope(steps, errors) >= 3.5


def test_both_integrators_agree_on_the_same_motion():
    overrides = {"loop.delay": "16 ms", "duration": "8 s"}
    assert np.abs(final(overrides, 5e-3) - final(overrides, 1e-4, "fixed")).max() < 1e-5


@pytest.mark.full_cases("0.4 ms", "1.5 s")
@pytest.mark.parametrize("delay", ["0.4 ms", "16 ms", "1.5 s"])
def test_the_chosen_step_follows_a_stiff_contact(delay):
    """Without a stated step the result agrees with one a hundred times finer than the contact needs."""
    stiff = {
        "loop.delay": delay,
        "contact.probe.normal.stiffness": 3e5,
        "contact.probe.normal.damping": 2e3,
        "duration": "5.4 s",
    }
    free = dockdyn.simulate(dockdyn.load("sazawal-spring-dashpot", stiff))
    fine = dockdyn.simulate(dockdyn.load("sazawal-spring-dashpot", {**stiff, "integrator.step": "50 us"}))
    assert free.attrs["steps"] < fine.attrs["steps"] / 10
    scale = float(fine.kinetic_energy.max())
    np.testing.assert_allclose(free.episode_energy, fine.episode_energy, atol=1e-8 * scale)
    np.testing.assert_allclose(free.episode_release, fine.episode_release, atol=1e-8)
