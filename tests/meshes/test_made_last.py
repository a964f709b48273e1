"""What takes a while is made of mesh files once nothing else is wrong with a scenario."""

import copy

import pytest
import tomlkit
import trimesh

from dockdyn.scenario.language.errors import ScenarioError
from dockdyn.scenario.load import load
from dockdyn.scenario.meshes import cloud, field

BODY = {"mass": "100 kg", "inertia": [10, 10, 10]}
MESH = {"file": "block.stl", "unit": "m"}
SCENARIO = {
    "schema": 2,
    "duration": "0.1 s",
    "body": {
        "left": {**BODY, "feature": {"skin": {"shape": "cloud", **MESH, "count": 300}}},
        "right": {**BODY, "position": [0, 0, 0.5], "surface": {"side": {"shape": "mesh", **MESH, "tolerance": "5 mm"}}},
    },
    "contact": {
        "one": {
            "between": ["skin", "side"],
            "normal": {"law": "spring-dashpot", "stiffness": "10 kN/m", "damping": "0 N s/m"},
        }
    },
}
WRONG = {  # key that is set, its value, what is said of it
    "of the run": ("duration", "0.1 kg", "duration = '0.1 kg'"),
    "of a law": ("contact.one.normal.dampping", 1, "dampping: unknown key"),
    "of the cloud": ("body.left.feature.skin.counts", 1, "counts: unknown key"),
    "of the surface": ("body.right.surface.side.tolerence", 1, "tolerence: unknown key"),
    "of another body": ("body.right.mass", "-1 kg", "body.right.mass = '-1 kg'"),
    "of another surface": ("body.right.surface.more", {"shape": "plane"}, "body.right.surface.more"),
    "of a requirement": ("requirements.peak_force", "at most 3 N", "requirements.peak_force = 'at most 3 N'"),
    "of the campaign": ("campaign.runs", 0, "campaign.runs = 0"),
}


@pytest.fixture
def made(monkeypatch, tmp_path):
    """What is made of meshes, in order; nothing is kept of earlier ones."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    found = []

    def noting(make):
        return lambda *given: found.append(make.__name__) or make(*given)

    monkeypatch.setattr(cloud, "cloud_in", noting(cloud.cloud_in))
    monkeypatch.setattr(field, "field_in", noting(field.field_in))
    return found


def written(folder, content):
    trimesh.creation.box(extents=[0.3, 0.2, 0.1]).export(folder / "block.stl")
    file = folder / "mine.toml"
    file.write_text(tomlkit.dumps(content))
    return file


@pytest.mark.parametrize("which", WRONG)
def test_what_is_wrong_elsewhere_is_told_before(made, tmp_path, which):
    key, value, words = WRONG[which]
    content = table = copy.deepcopy(SCENARIO)
    *above, last = key.split(".")
    for part in above:
        table = table.setdefault(part, {})
    table[last] = value
    with pytest.raises(ScenarioError) as refused:
        load(written(tmp_path, content))
    assert words in str(refused.value)
    assert made == []


def test_a_cloud_that_cannot_be_is_told_before_fields_are_made(made, tmp_path):
    content = copy.deepcopy(SCENARIO)
    content["body"]["left"]["feature"]["skin"]["count"] = 5
    with pytest.raises(ScenarioError, match=r"body\.left\.feature\.skin: .*count must be at least"):
        load(written(tmp_path, content))
    assert made == ["cloud_in"]


def test_all_is_made_of_what_is_right(made, tmp_path):
    load(written(tmp_path, SCENARIO))
    assert made == ["cloud_in", "field_in"]
