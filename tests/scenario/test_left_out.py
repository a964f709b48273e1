"""A table that may be left out is left out by "none", in a file, by --set and in Python; no other thing is."""

import pytest
from helpers.refusals import refused

import dockdyn
from dockdyn.scenario.preset_files import preset_text

OF_MECHANISMS = (
    "approach", "campaign", "contact_law", "control", "design", "dispersion", "integrator", "loop", "orbit", "output",
    "requirements", "rig", "stability", "strut", "tree",
)  # fmt: skip
OF_RIGS = (
    "campaign",
    "compare",
    "control",
    "integrator",
    "loop",
    "loop.hold",
    "loop.tuning",
    "requirements",
    "stability",
)


@pytest.mark.parametrize(
    ("preset", "key"),
    [
        *(("probe-cone", key) for key in (*OF_MECHANISMS, "contact.probe.friction", "loop.tuning")),
        *(("sits", key) for key in OF_RIGS),
        ("gibson-2d-retreat", "phase"),
        ("gibson-2d-retreat", "phase.hold"),
        ("idss-probe-cone", "requirements"),
        ("idss-probe-cone", "campaign"),
    ],
)
def test_none_leaves_out_what_may_be_left_out(preset, key):
    found = dockdyn.load(preset, {key: "none"}).resolved()
    *tables, last = key.split(".")
    for table in tables:
        found = found[table]
    stated = found.get(last)
    assert stated != "none" and not (isinstance(stated, dict) and {"peak_force", "runs", "azimuth"} & set(stated))
    if key in ("requirements", "campaign", "phase", "control", "orbit", "rig", "design", "dispersion"):
        assert stated is None


def test_what_is_left_out_is_as_if_the_file_had_no_such_table():
    plain = preset_text("probe-cone").replace("loop.delay", "# loop.delay", 1)
    late, without = f'loop.delay = "30 ms"\n{plain}', dockdyn.load(plain).resolved()
    assert dockdyn.load(late).resolved()["loop"] == {"delay": "0.03 s"}
    assert dockdyn.load(late, {"loop": "none"}).resolved() == without
    assert dockdyn.load(f'loop = "none"\nintegrator = "none"\n{plain}').resolved() == without
    assert dockdyn.load(late).at({"loop": "none"}).content.loop.delay == 0


def test_a_rig_without_its_rig_is_the_mechanism():
    without = {"rig": "none", "loop": "none", "compare": "none", "integrator": "none"}
    assert dockdyn.load("sits", without).setup == "mechanism"


@pytest.mark.parametrize(
    ("key", "words"),
    [
        ("duration", "duration = 'none': must be a duration"),
        ("body", "body = 'none': must have at least 1 entry, has 0"),
        ("integrator.method", "integrator.method = 'none': must be 'located'"),
        ("aproach", "aproach: unknown key; did you mean 'approach'?"),
        ("integrator.foo", "integrator.foo: unknown key"),
    ],
)
def test_none_is_no_value_of_what_must_be_there(key, words):
    with refused(f"probe-cone: {words}"):
        dockdyn.load("probe-cone", {key: "none"})


def test_a_title_may_be_none():
    assert dockdyn.load("probe-cone", {"title": "none"}).title == "none"
