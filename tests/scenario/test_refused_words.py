"""What a refusal says: the key as it is written, its value, what is allowed, and what was meant."""

import pytest
from helpers.refusals import refused

import dockdyn
from dockdyn.docking.schema.flexible import LargeBeamSection, UniformBeamSection
from dockdyn.scenario.language.errors import nearest
from dockdyn.scenario.language.or_none import NONE
from dockdyn.scenario.preset_files import preset_text

PROBE = preset_text("probe-cone")
DRIFT = """
[dispersion.drift]
keys = ["approach.lateral_velocity.0", "approach.lateral_velocity.1"]
distribution = "disc"
radius = "1 mm/s"
"""
CONE = "body.target.surface.cone"
FIRST_KEY = "dispersion.drift.keys.0 = "
ONE_PAIR = (
    "latch.capture.anchors = [[1, 0, 0], [0, 0, 0]]: is one pair of places; must be a list of pairs, or for one pair"
)
OTHER_TEXTS = {
    "JSON": '{"schema": 2}\n',
    "HTML": "<!DOCTYPE html>\n<p>a = 1\n",
    "URDF": '<?xml version="1.0"?>\n<robot a="b"/>\n',
}


@pytest.mark.parametrize(
    ("preset", "changes", "words"),
    [
        (
            "probe-cone",
            {f"{CONE}.half_angle": 40},
            "must be an angle greater than 0 deg and less than 90 deg; 40 rad is 2292 deg; did you mean \"40 deg\"?",
        ),
        ("probe-cone", {f"{CONE}.shape": "conus"}, "did you mean 'cone'?"),
        ("probe-cone", {"contact.probe.friction.law": "columb"}, "did you mean 'coulomb'?"),
        ("probe-cone", {"contact.probe.law": "steel"}, "law = 'steel': no such [contact_law.NAME]; there is none"),
        (
            "probe-cone-latch",
            {"latch.capture.between": ["target", "chaser"]},
            "latch.capture.feature = 'probe': is of 'chaser', which must be the first in between",
        ),
        (
            "probe-cone-latch",
            {"latch.capture.between": ["chaser", "chaser"]},
            "latch.capture.between = ['chaser', 'chaser']: must be two bodies",
        ),
        ("idss-soft-capture", {"latch.capture.anchors": [[1, 0, 0], [0, 0, 0]]}, ONE_PAIR),
        (
            "canadarm-2d",
            {"control.stiffness": [1.0, 2.0]},
            "control.stiffness = [1.0, 2.0]: has 2 entries for 3 joints (link1, link2, link3); must have 3",
        ),
        ("probe-cone-latch", {"latch.capture.grip": "pin", "latch.capture.stroke": 1.0}, "'compliant' or 'compliant-weld'"),
    ],
)  # fmt: skip
def test_a_refusal_says_what_to_write(preset, changes, words):
    with refused(f"{preset}: ", words):
        dockdyn.load(preset, changes)


@pytest.mark.parametrize(("value", "asked"), [(40, True), ("40", True), (-40, False), (1e9, False), ("40 rad", False)])
def test_degrees_are_asked_for_where_they_would_be_allowed(value, asked):
    with pytest.raises(dockdyn.ScenarioError) as refusal:
        dockdyn.load("probe-cone", {f"{CONE}.half_angle": value})
    assert ("did you mean" in str(refusal.value)) == asked


@pytest.mark.parametrize(
    ("text", "changes", "words"),
    [
        (
            PROBE.replace("[approach]", "[aproach]") + DRIFT,
            {},
            "scenario: aproach: unknown key; did you mean 'approach'?",
        ),
        (PROBE + DRIFT, {"approach": NONE}, f"{FIRST_KEY}'approach.lateral_velocity.0': approach is not stated"),
        (
            PROBE + DRIFT.replace("velocity.0", "velocty.0"),
            {},
            f"{FIRST_KEY}'approach.lateral_velocty.0': unknown key; did you mean 'lateral_velocity'?",
        ),
        (
            PROBE + DRIFT.replace("approach", "aproach"),
            {},
            f"{FIRST_KEY}'aproach.lateral_velocity.0': unknown key; did you mean 'approach'?",
        ),
        (
            PROBE + DRIFT.replace(', "approach.lateral_velocity.1"', ""),
            {},
            "keys = ['approach.lateral_velocity.0']: a disc as given is of 2 numbers; must be 2 keys of one number each",
        ),
    ],
)
def test_a_key_that_is_not_there_is_told_before_what_is_distributed_there(text, changes, words):
    with refused(words):
        dockdyn.load(text, changes)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (
            PROBE.replace('distance = "50 mm"', 'distance = "50 mm"\ndistance = "60 mm"'),
            "not TOML: approach.distance: is stated twice, again in line 12; must be once",
        ),
        (f"{PROBE}\n[body.chaser]\n", "not TOML: [body.chaser]: is stated twice, again in line "),
        ('title = "a"\ntitle = "b"\n', "not TOML: title: is stated twice, again in line 2; must be once"),
        *((text, f"is {sort}, not a scenario; must be TOML") for sort, text in OTHER_TEXTS.items()),
    ],
)
def test_what_is_no_toml_is_told_as_what_it_is(wrong, words):
    with refused(f"scenario: {words}"):
        dockdyn.load(wrong)


def test_nothing_is_listed_where_nothing_is_allowed():
    assert nearest("steel", []) == "there is none"


@pytest.mark.full_cases(
    "compensator1-changes0-loop.hold.period = 0.0040001 s",
    "none-changes0-loop.hold.period = 0.0040001 s",
    "none-changes1-loop.delay = 12 s",
)
@pytest.mark.parametrize(
    ("changes", "key"),
    [
        ({"loop.hold.period": "4.0001 ms"}, "loop.hold.period = 0.0040001 s"),
        ({"loop.delay": "12 s"}, "loop.delay = 12 s"),
    ],
)
@pytest.mark.parametrize("compensator", ["none", {"law": "command-lead"}])
def test_instants_that_never_meet_are_told_of_their_key_and_once(changes, key, compensator):
    scenario = dockdyn.load("epos-like", changes | {"loop.compensator": compensator})
    for study in (dockdyn.simulate, dockdyn.margins):
        with pytest.raises(dockdyn.ScenarioError) as refusal:
            study(scenario)
        said = str(refusal.value)
        assert said.startswith(f"epos-like: {key}: the ") and "hold periods; must be " in said
        assert said.count("epos-like") == 1 and "; state lead" not in said


BEAM = 'kind = "beam", length = 3.0, bending_stiffness = 2.0'
LINK = """
schema = 2
title = "a panel"
duration = 1.0

[body.ship]
mass = 100.0
inertia = [10.0, 10.0, 10.0]

[body.panel]
on = "ship"
position = [1.5, 0.0, 0.0]
mass = 5.0
inertia = [0.1, 4.0, 4.0]
joint = { kind = "locked" }
"""


@pytest.mark.parametrize(
    ("stated", "asked", "others"),
    [
        (LargeBeamSection, UniformBeamSection, "of beam without basis"),
        (UniformBeamSection, LargeBeamSection, "of beam with basis"),
    ],
)
def test_a_key_of_the_other_beam_is_refused_with_the_keys_of_the_one_stated(tmp_path, stated, asked, others):
    basis = ', basis = "craig-bampton"' if stated is LargeBeamSection else ""
    keys = sorted(asked.model_fields.keys() - stated.model_fields.keys() - {"basis"})
    assert keys
    for key in keys:
        file = tmp_path / "panel.toml"
        file.write_text(f"{LINK}flexible = {{ {BEAM}{basis}, {key} = 1.0 }}\n", encoding="utf-8")
        with pytest.raises(dockdyn.ScenarioError) as refusal:
            dockdyn.load(file)
        words = str(refusal.value)
        assert f"flexible.{key}: unknown key; {others}" in words, words
        assert set(words.partition("allowed: ")[2].split(", ")) == set(stated.model_fields)
