"""What identification says of a robot, in an engineer's words: poles by frequency and damping, residuals by what is left."""

import math
import re

import numpy as np
import pytest

from dockdyn.studies.identification.wording import pole_rows, robot_rows


def test_poles_are_told_by_frequency_and_damping():
    """Drawn at random: the frequency and damping that a row names give the pair of poles back."""
    rng = np.random.default_rng(1)
    for _ in range(200):
        frequency, damping, lag = np.exp(rng.uniform(0, 3)), rng.uniform(-0.3, 0.99), np.exp(rng.uniform(-7, -2))
        size = 2 * math.pi * frequency
        real, imaginary = -damping * size, size * math.sqrt(1 - damping**2)
        rows = pole_rows([[-1 / lag, 0.0], [real, imaginary], [real, -imaginary]])
        assert [name for name, *_ in rows] == ["pole 1", "pair of poles 2"]
        assert float(rows[0][1].removeprefix("decays within ")) == pytest.approx(1e3 * lag, rel=1e-3)
        told = re.fullmatch(r"(\S+) Hz, damping (\S+)", rows[1][1])
        assert float(told[1]) == pytest.approx(frequency, rel=1e-3)
        assert float(told[2]) == pytest.approx(damping, rel=1e-2, abs=1e-6)


@pytest.mark.parametrize("white", [True, False])
@pytest.mark.parametrize("independent", [True, False])
def test_residuals_are_told_by_what_is_left_in_them(white, independent):
    found = {
        "samples": 9, "period_s": 0.1, "method": "oe", "orders": [1, 1], "dead_time_s": 0.0,
        "a": [], "a_deviation": [],
        "b": [],
        "b_deviation": [], "poles": [], "zeros": [], "gain_at_rest": 1.0, "gain_at_rest_deviation": 0.1,
        "phase_at_10_hz_deg": None, "excited_hz": [1.0, 2.0], "offset_m": 0.0, "residual_rms_m": 1.0, "white": white,
        "white_probability": 0.45, "independent_of_command": independent,
    }  # fmt: skip
    told = {name: value for name, value, _ in robot_rows(found)}
    assert told["residuals over time"] == f"{'no' if white else 'some'} structure left in them (p = 0.45)"
    assert ("independent" in told["residuals and command"]) == independent
    assert ("raise the order" in told["residuals and command"]) != independent
