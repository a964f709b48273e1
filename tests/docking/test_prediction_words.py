"""What a run says of its loop delay fits the law of the contact."""

import numpy as np
import pytest
from plain_tables import contacts_by_name

import dockdyn

NO_DAMPING = "feeds energy into a contact that has no damping; friction may hide it"
NONE_YET = "feeds energy into a contact that has no damping where contact begins, where it is judged"
LAWS = {
    "a spring": ({"law": "spring-dashpot", "stiffness": 1e4}, NO_DAMPING),
    "Hunt and Crossley without damping": (
        {"law": "hunt-crossley", "stiffness": 1e4, "exponent": 1, "damping": 0.0},
        NO_DAMPING,
    ),
    "Hunt and Crossley": ({"law": "hunt-crossley", "stiffness": 1e4, "exponent": 1, "damping": 2.0}, NONE_YET),
    "a restitution": (
        {"law": "hunt-crossley", "stiffness": 1e4, "exponent": 1, "restitution": 0.6, "speed": "5 cm/s"},
        NONE_YET,
    ),
    "a dashpot": ({"law": "spring-dashpot", "stiffness": 1e4, "damping": 5.0}, "is above the critical one of"),
}


def head_on(normal):
    """A ball that meets a plate, through a loop."""
    ball = {
        "mass": 200.0,
        "inertia": [20.0, 20.0, 20.0],
        "position": [-0.11, 0.0, 0.0],
        "velocity": [0.05, 0.0, 0.0],
        "feature": {"tip": {"position": [0.0, 0.0, 0.0], "radius": 0.1}},
    }
    plate = {
        "mass": 300.0,
        "inertia": [30.0, 30.0, 30.0],
        "position": [0.0, 0.0, 0.0],
        "surface": {"face": {"shape": "plane", "point": [0.0, 0.0, 0.0], "normal": [-1.0, 0.0, 0.0]}},
    }
    bodies = {"body": {"ball": ball, "plate": plate}}
    contact = [{"between": ["tip", "face"], "normal": normal}]
    return {
        "schema": 2,
        "duration": 0.8,
        "contact": contacts_by_name(contact),
        "loop": {"delay": "20 ms"},
    } | bodies


@pytest.mark.full_cases("a restitution", "Hunt and Crossley without damping", "Hunt and Crossley", "a spring")
@pytest.mark.parametrize("name", LAWS)
def test_a_delay_is_said_to_feed_what_the_law_does_not_damp(load, name):
    normal, words = LAWS[name]
    run = dockdyn.simulate(load(head_on(normal)))
    assert words in run.attrs["prediction"]
    assert any(words in warning for warning in dockdyn.summarise(run)["warnings"])


@pytest.mark.full
def test_a_run_with_fixed_steps_is_warned_alike(load):
    normal, words = LAWS["a dashpot"]
    run = dockdyn.simulate(load(head_on(normal) | {"integrator": {"method": "fixed"}}))
    assert words in run.attrs["prediction"]


@pytest.mark.full
def test_at_the_depth_that_is_stated_a_law_that_damps_there_has_a_critical_delay(load):
    normal, _ = LAWS["Hunt and Crossley"]
    run = dockdyn.simulate(load(head_on(normal) | {"stability": {"depth": "5 mm"}}))
    mass, stiffness = 200.0 * 300.0 / 500.0, 1e4
    damping = 2.0 * stiffness * 5e-3
    # m ω² = √(K² + B² ω²), tan(ω τ) = B ω / K
    square = (damping**2 + np.sqrt(damping**4 + 4 * (mass * stiffness) ** 2)) / (2 * mass**2)
    critical = np.arctan(damping * np.sqrt(square) / stiffness) / np.sqrt(square)
    assert f"is above the critical one of {1e3 * critical:.4g} ms" in run.attrs["prediction"]
