"""Numbers that are all but alike, as two stiffnesses that differ in a late digit, have margins all but those of equal ones."""

import numpy as np
import pytest

import dockdyn
from dockdyn.scenario.language.places import places_of

TIED = ("approach.", "inertia", "axis", "attitude", "normal.", "exponent", "restitution")
TOLD = ("growth_rate_1_s", "critical_delay_s", "effective_mass_kg")


@pytest.mark.full_cases("soyuz-like-probe", "idss-soft-capture")
@pytest.mark.parametrize(
    "name", ["soyuz-like-probe", "atv-like", "idss-soft-capture", "adapter-gripper", "nozzle-capture"]
)
def test_margins_do_not_jump(name):
    """All numbers another way each, by as little as rounding of inputs is and by more; what is told changes as little."""
    scenario, rng = dockdyn.load(name), np.random.default_rng(len(name))
    equal = dockdyn.margins(scenario)
    places = [place for place in places_of(scenario) if place.value and not any(word in place.key for word in TIED)]
    for size in (1e-10, 1e-8, 1e-6, 1e-5):
        moved = {}
        for place in places:
            moved |= place.written(place.value * (1 - size * rng.uniform()))
        found = dockdyn.margins(dockdyn.load(name, moved))
        assert found["stable"] == equal["stable"], size
        for key in TOLD:
            assert found[key] == pytest.approx(equal[key], rel=100 * size + 1e-7), (key, size)
