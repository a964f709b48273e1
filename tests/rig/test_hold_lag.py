"""What a rig is told of its delay: of loops whose clocks keep step, beside the delay of a loop without clocks that goes the
same way."""

import numpy as np
import pytest

import dockdyn

MASS, STIFFNESS = 500.0, 2000.0  # kg, N/m
ROBOT = {"zeros": [-206.5679], "poles": [[-181.7836, 185.4564], [-181.7836, -185.4564]], "gain": 326.4756}


def rig(period, hold, delay, robot):
    """An undamped contact on a rig, s, with digital dynamics that are exact for a held force."""
    loop = {
        "hold": {"period": hold},
        "sensor": {"delay": delay},
        "dynamics": {"method": "zero-order-hold", "period": period},
    }
    return {
        "schema": 2,
        "motion": "line",
        "duration": 0.2,
        "rig": {"carries": "target", "against": "wall"},
        "body": {"target": {"mass": MASS, "velocity": 0.05}, "wall": {"fixed": True}},
        "contact": {
            "spring": {
                "between": ["target", "wall"],
                "bilateral": True,
                "normal": {"law": "spring-dashpot", "stiffness": STIFFNESS, "damping": 0.0, "adhesion": True},
            }
        },
        "loop": loop | ({"robot": ROBOT} if robot else {}),
    }


def delay_of_growth(margins):
    """The delay (s) of a continuous loop, m s² + k e^(−s τ) = 0, with this root."""
    growth, ratio = margins["growth_rate_1_s"], margins["amplitude_ratio_per_oscillation"]
    root = growth + 2j * np.pi * growth / np.log(ratio)
    return float((-np.log(-MASS * root**2 / STIFFNESS) / root).real)


@pytest.mark.full_cases("0", "2", "3", "6", "7", "8", "9")
@pytest.mark.parametrize("seed", range(10))
def test_the_delay_that_is_told_is_that_of_the_loop(load, seed):
    """Whether a sample is taken as a command is renewed, just before or between, and the robot follows at once or not."""
    draw = np.random.default_rng(seed)
    period, robot = draw.choice([2e-3, 4e-3, 5e-3]), seed % 3 == 2
    hold = period * draw.choice([1, 2])
    delay = [draw.uniform(0, 4 * period), period * draw.integers(0, 4), hold * draw.integers(1, 3)][draw.integers(3)]
    scenario = load(rig(period, hold, float(delay), robot))
    told = dockdyn.summarise(dockdyn.simulate(scenario))
    total = 1e-3 * told["delay_total_ms"]
    assert total == pytest.approx(1e-3 * sum(told["delay_budget_ms"].values()), rel=1e-12)
    turn = total * np.sqrt(STIFFNESS / MASS)  # rad; what is told is of first order in it
    assert total == pytest.approx(delay_of_growth(dockdyn.margins(scenario)), rel=1.5 * turn**2 + 1e-6)
    usual = delay + hold / 2 + period / 2
    assert abs(total - usual) <= (hold / 2 if not robot else hold) * (1 + 1e-9)
