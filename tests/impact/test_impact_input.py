"""What impact laws refuse, in one line."""

import numpy as np
import pytest

from dockdyn.impact import resolve_impact, resolve_simultaneous

W, U = np.diag([2.0, 1.0, 1.0]), np.array([-1.0, 0.5, 0.0])
FULL = {"restitution": 0.5, "friction": 0.3}


@pytest.mark.parametrize(
    ("law", "matrix", "velocity", "given", "says"),
    [
        ("stronge", W, U, FULL, "no impact law is called 'stronge'; there are energetic, poisson"),
        ("energetic", W, U, {"restitution": 0.5}, "law 'energetic' needs friction"),
        ("pin", W, U, {"restitution": 0.5}, "law 'pin' has no restitution"),
        ("energetic", W, -U, FULL, r"does not approach: u_n must be below 0; got 1 m/s"),
        ("energetic", W, 0 * U, FULL, "does not approach"),
        ("energetic", np.diag([2.0, 1.0, 0.0]), U, FULL, "W is singular"),
        ("pin", np.outer(U, U), U, {}, "W is singular"),
        ("energetic", np.diag([2.0, 1.0, -1.0]), U, FULL, "not positive definite"),
        ("energetic", W + np.triu(W + 1, 1), U, FULL, "W is not symmetric"),
        ("energetic", W * np.nan, U, FULL, "W and u must be finite"),
        ("energetic", W, U[:2], FULL, r"W must be rows × rows and u of as many rows; got \(3, 3\) and \(2,\)"),
        ("weld", W[:2, :2], U[:2], {}, r"law 'weld' takes 3 or 6 rows \(normal, tangents, moments\); got 2"),
        ("energetic", W, U, {"restitution": 1.2, "friction": 0.3}, "restitution must be between 0 and 1; got 1.2"),
        ("energetic", W, U, {"restitution": -0.1, "friction": 0.3}, "restitution must be between 0 and 1; got -0.1"),
        ("energetic", W, U, {"restitution": 0.5, "friction": -0.3}, "friction must be 0 or more; got -0.3"),
        (
            "energy-pair",
            W,
            U,
            {"energy_ratio": 1.0, "friction_ratio": 0.0},
            r"\(r_E, r_f\) = \(1, 0\) cannot be: at this r_f, r_E must lie between .* = 0 and .* = 0.666667 \(κ = 0.333333\)",
        ),
        (
            "energy-pair",
            W,
            U,
            {"energy_ratio": 0.1, "friction_ratio": 1.0},
            "r_E must lie between .* = 0.333333 and .* = 1",
        ),
        ("energy-pair", W, U, {"energy_ratio": 0.5, "friction_ratio": 3.0}, "no r_E goes with this r_f"),
        (
            "energy-pair",
            np.array([[1.0, 0.9], [0.9, 1.0]]),
            np.array([-0.1, -1.0]),
            {"energy_ratio": 1.0, "friction_ratio": 1.0},
            r"would take a normal impulse that pulls \(-4.21053 N s\)",
        ),
    ],
)
def test_bad_input(law, matrix, velocity, given, says):
    with pytest.raises(ValueError, match=says) as caught:
        resolve_impact(law, matrix, velocity, **given)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("velocity", "several", "given", "says"),
    [
        ([-1.0, 0.5, 0.0], 3, {"restitution": 0.5}, "contact 1 parts: u_n must not be above 0; got 0.5 m/s"),
        ([0.0, 0.0, 0.0], 3, {"restitution": 0.5}, "no contact approaches"),
        ([-1.0, 0.0, 0.0], 2, {"restitution": 0.5}, "3 rows are not 2 contacts of 1, 2 or 3 rows each"),
        ([-1.0, 0.0, 0.0], 3, {"restitution": [0.5, 0.5, 1.5]}, r"restitution must be .*; got \[0.5, 0.5, 1.5\]"),
        ([-1.0, 0.0, 0.0], 3, {"restitution": 0.5, "friction": [0, -1, 0]}, "friction must be 0 or more"),
    ],
)
def test_bad_input_of_several_contacts(velocity, several, given, says):
    with pytest.raises(ValueError, match=says):
        resolve_simultaneous(W, velocity, several, **given)
