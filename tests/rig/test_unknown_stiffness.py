"""The recommended compensator on contacts whose stiffness it does not know, through the comparison that users run."""

import numpy as np
import pytest

from dockdyn.rig.comparison.compare import compare
from dockdyn.rig.compensator import CompensatorMaker
from dockdyn.rig.resting import loop_of
from dockdyn.rig.simulate import simulate_rig
from dockdyn.scenario.load import load

NOISE = {"loop.sensor.noise": 0.5, "loop.sensor.position_noise": 1e-5}
MOTIONS = {
    "swing of 40 s": {},
    "damped swing": {"contact.spring.normal.damping": 50.0, "duration": "20 s"},
    "bounce": {"contact.spring.bilateral": False, "duration": "1.8 s"},
    "bounce after a free flight": {
        "contact.spring.bilateral": False,
        "body.target.position": "-20 mm",
        "duration": "2.4 s",
    },
}


def ratios(changes, law, stiffnesses, wrong=1.0):
    """Amplitude ratios over stiffness, the tuned lead multiplied by `wrong`."""
    scenario = load("unknown-stiffness", changes)
    tuned = CompensatorMaker(scenario, loop_of(scenario)).complete(scenario.content.loop.compensator)
    stated = {"law": law, "lead": wrong * tuned.lead, "second_lead": tuned.second_lead}
    dataset = compare(load("unknown-stiffness", changes | {"loop.compensator": stated}), [law], stiffnesses)
    return dataset.amplitude_ratio.values[0]


def test_lead_and_layer_keep_the_amplitude_from_soft_to_hard():
    assert np.abs(ratios({}, "lead-energy", [2e3, 2e4, 2e5]) - 1).max() < 0.02


@pytest.mark.full
def test_a_wrong_lead_is_rescued_by_the_layer_alone():
    """Without the layer a lead that is 30 % too short lets the amplitude grow as 0.3 l K / 2m says."""
    alone = ratios({}, "command-lead", [2e4], 0.7)[0]
    assert alone == pytest.approx(np.exp(0.3 * 5.55e-3 * 2e4 / 1000 * 40), rel=0.02)
    assert abs(ratios({}, "lead-energy", [2e4], 0.7)[0] - 1) < 0.03


# Not noisy where it swings damped: the force's own noise moves the model by 1.5 % of the amplitude that is left.
CASES = [(motion, noisy) for motion in MOTIONS for noisy in (False, True) if not (noisy and motion == "damped swing")]


@pytest.mark.full
@pytest.mark.parametrize("wrong", [0.7, 1.0, 1.3])
@pytest.mark.parametrize(("motion", "noisy"), CASES)
def test_lead_and_layer_keep_the_amplitude_of_every_motion(motion, wrong, noisy):
    """2 % with the right lead, 3 % with a wrong one or with noise."""
    found = ratios(MOTIONS[motion] | (NOISE if noisy else {}), "lead-energy", list(np.geomspace(2e3, 2e5, 9)), wrong)
    assert np.abs(found - 1).max() < (0.02 if wrong == 1 and not noisy else 0.03)


@pytest.mark.full
def test_what_a_stepped_rig_is_asked_has_its_step():
    """A period of the compensator counts with continuous dynamics only; digital ones step and ask at their own."""
    first, second = (
        simulate_rig(load("unknown-stiffness", {"duration": "1 s", **more})).position.values
        for more in ({}, {"loop.compensator.period": "4 ms"})
    )
    np.testing.assert_array_equal(first, second)


@pytest.mark.full
def test_a_held_force_counts_as_held_however_the_motion_is_integrated():
    """Continuous dynamics under a force that is sampled with the command are digital ones of that period."""
    law = {"law": "energy-layer"}
    common = {"duration": "4 s", "loop.sensor": {"delay": "2 ms", "period": "4 ms"}, "loop.compensator": law}
    digital = simulate_rig(load("unknown-stiffness", {**common, "loop.dynamics.period": "4 ms"}))
    continuous = load("unknown-stiffness", {**common, "loop.dynamics": {"method": "continuous"}})
    flowing = simulate_rig(continuous)
    np.testing.assert_allclose(flowing.position, digital.position, atol=1e-6)
