"""The numbers of scenarios by their keys and by their places among the leaves: both ways lead to the same."""

import numpy as np
import pytest

import dockdyn
from dockdyn.results.functional_unit import with_numbers
from dockdyn.scenario.language.keys import value_at
from dockdyn.scenario.language.places import places_of
from dockdyn.scenario.preset_files import presets
from dockdyn.trees import flatten


@pytest.mark.parametrize("name", presets())
def test_numbers_at_their_places_are_those_of_the_file(name):
    """All of them: also beside switches that a phase sets, and of pairs of poles, of which one part has the other sign."""
    scenario = dockdyn.load(name)
    places, (leaves, _) = places_of(scenario), flatten(scenario.content)
    assert places and len({place.key for place in places}) == len(places)
    for place in places:
        assert value_at(scenario.content, place.key, name).value == place.value, place.key
    found = with_numbers(leaves, places, np.array([place.value for place in places]))
    for place in places:
        for leaf in place.leaves:
            assert float(found[leaf]) == leaves[leaf], place.key
