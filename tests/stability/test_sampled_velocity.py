"""How much of the robot's velocity samples of the force see: beside a closed form, and what follows of it in a run."""

import numpy as np
import pytest
from helpers.line_rig import line_rig

import dockdyn
from dockdyn.stability.loop import make_loop
from dockdyn.stability.sampled_velocity import sampled_velocity
from dockdyn.stability.transfer_function import TransferFunction

LAG, HOLD = 5e-3, 4e-3  # s
FIRST = TransferFunction((1.0,), (LAG, 1.0))
RIG = line_rig(
    "1150 kg",
    {"law": "spring-dashpot", "stiffness": "45500 N/m", "damping": "900 N s/m"},
    position="-10 mm",
    velocity="50 mm/s",
    title="A robot whose velocity jumps",
    duration="1.5 s",
    loop={
        "hold": {"period": "4 ms"},
        "dynamics": {"period": "4 ms"},
        "sensor": {"delay": "4 ms"},
        "robot": {"zeros": [-206.5679], "poles": [[-181.7836, 185.4564], [-181.7836, -185.4564]], "gain": 326.4756},
        "compensator": {"law": "lead-energy"},
    },
)


@pytest.mark.parametrize("delay", [0.0, 0.5e-3, 2e-3, 3.9e-3, 4e-3, 7e-3])
def test_of_one_lag_it_is_the_closed_form(delay):
    """After a step of h v the velocity of a lag T decays as exp(−t/T), and has what is left of all steps before."""
    after = -delay % HOLD or HOLD
    expected = HOLD / LAG * np.exp(-after / LAG) / (1 - np.exp(-HOLD / LAG))
    rig = make_loop(1.0, 1.0, 1.0, delay=delay, hold=HOLD, sensor_period=HOLD, robot=FIRST)
    assert sampled_velocity(rig) == pytest.approx(expected, rel=1e-9)


def test_means_over_a_period_and_many_samples_see_all_of_it():
    known = {"delay": 2.5e-3, "hold": HOLD, "robot": FIRST}
    assert sampled_velocity(make_loop(1.0, 1.0, 1.0, sensor_period=HOLD, averaging=HOLD, **known)) == pytest.approx(
        1, abs=1e-3
    )
    assert sampled_velocity(make_loop(1.0, 1.0, 1.0, sensor_period=HOLD / 100, **known)) == pytest.approx(1, abs=0.02)
    assert sampled_velocity(make_loop(1.0, 1.0, 1.0, **known)) is None


@pytest.mark.full
def test_a_rig_whose_samples_miss_the_damping_says_so_and_is_right_as_told():
    scenario = dockdyn.load(RIG)
    missed, told = dockdyn.summarise(dockdyn.simulate(scenario)), "of the contact's damping. Let the sensor average: "
    mended = dockdyn.summarise(dockdyn.simulate(dockdyn.load(RIG, {"loop.sensor.averaging": "4 ms"})))
    (warning,) = [words for words in missed["warnings"] if told in words]
    assert warning.endswith('loop.sensor.averaging = "4 ms"')
    assert missed["restitution_error"] > 0.05 and mended["restitution_error"] < 0.01
    assert not any(told in words for words in mended["warnings"])
    assert warning in dockdyn.margins(dockdyn.load(RIG, {"loop.compensator": "none"}))["warnings"]
