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


@pytest.mark.parametrize("name", presets())
def test_each_number_of_a_preset_can_be_set_to_what_it_is(name):
    """None is listed that its file must not state, as the mass of a body that is fixed. Lists can stand by default."""
    scenario = dockdyn.load(name)
    places = [place for place in places_of(scenario) if not place.key.rpartition(".")[2].isdecimal()]
    written = {key: value for place in places for key, value in place.written(place.value).items()}
    again = {place.key: place.value for place in places_of(dockdyn.load(name, written))}
    assert again.items() >= {place.key: place.value for place in places}.items()


@pytest.mark.parametrize("name", presets())
def test_a_number_of_a_preset_can_be_another(name):
    """None is listed of which nothing comes and which a file may not state, as that of a friction without any.

    Left out are zeros, for which a program may have no place, and what is tied to others: distributions, inertias, axes.
    """
    scenario, rng = dockdyn.load(name), np.random.default_rng(len(name))
    tied = ("approach.", "inertia", "axis", "attitude", "normal.")
    places = [place for place in places_of(scenario) if place.value and not any(word in place.key for word in tied)]
    for index in rng.permutation(len(places))[:12]:
        dockdyn.load(name, places[index].written(places[index].value * (1 - 1e-9)))


@pytest.mark.parametrize("name", presets())
def test_nothing_is_listed_of_friction_or_a_stroke_without_any(name):
    content = dockdyn.load(name).content
    for place in places_of(dockdyn.load(name)):
        table, _, key = place.key.rpartition(".")
        if key in ("regularisation", "stop_damping") and table.endswith("joint"):
            value_at(content, f"{table}.{'friction' if key == 'regularisation' else 'stroke.0'}", name)


def test_the_unit_of_a_stiffness_is_that_of_its_exponent():
    scenario = dockdyn.load("idss-soft-capture")  # of a law with an exponent of 1
    assert value_at(scenario.content, "contact_law.steel.normal.stiffness", "here").unit == "N/m"
    normal = {"law": "hunt-crossley", "stiffness": 1e6, "exponent": 1.5, "damping": 0.1}
    hertz = dockdyn.load("idss-soft-capture", {"contact_law.steel.normal": normal})
    assert value_at(hertz.content, "contact_law.steel.normal.stiffness", "here").unit == "N/m**1.5"


def test_numbers_from_which_a_mesh_is_computed_are_none_of_the_model():
    """They stay what they are in a unit, in which the field and the points of the mesh stay, too."""
    keys = [place.key for place in places_of(dockdyn.load("mesh-on-mesh"))]
    assert "body.chaser.surface.plate.point.0" in keys and "body.chaser.feature.skin.point.0" in keys
    assert not [key for key in keys if key.endswith(("plate.tolerance", "plate.tip_radius", "skin.radius"))]
