"""A scenario before it is run: the first touch against closed forms and the run, overlaps, moments that no body has."""

from pathlib import Path

import coal
import numpy as np
import pytest
import trimesh

import dockdyn
from dockdyn.report.columns import PageColumns
from dockdyn.report.page import render_page
from dockdyn.report.scene.data import scene_data
from dockdyn.report.verdict import sort_of
from dockdyn.scenario.preset_files import presets
from dockdyn.studies.check.report import check_scenario
from dockdyn.studies.check.start import begin_straight

QUICK = ("paraskevas-a", "sits", "sazawal-compliance")


def test_two_masses_touch_when_their_gap_is_closed():
    gap, speed = 1e-3, 0.05  # m, m/s
    begun = begin_straight(dockdyn.load("paraskevas-a"))
    assert begun.names == ["fronts"] and begun.depths[0] == pytest.approx([-gap], rel=1e-9)
    assert begun.touches == pytest.approx([gap / speed], rel=1e-6)
    assert begun.time[-1] == begun.touches[0] and begun.depths[-1] == pytest.approx([0.0], abs=1e-9)


def test_free_bodies_touch_first_when_the_run_says_so(shared_run):
    """Before the first contact of a free flight nothing acts: bodies that do not turn, whose axes would wander, go straight."""
    still = {"approach.pitch_rate": "0 deg/s", "approach.yaw_rate": "0 deg/s"}
    run, begun = shared_run("probe-cone", still), begin_straight(dockdyn.load("probe-cone", still))
    onset = float(run.episode_onset[0])
    assert begun.touches[0] == pytest.approx(onset, abs=1e-6)
    row = int(np.searchsorted(run.time.values, onset)) - 1  # a sample before the contact
    at = run.time.values[row]
    places = [np.interp(at, begun.time, begun.places[:, body, axis]) for body in range(2) for axis in range(3)]
    assert places == pytest.approx(run.position.values[row].ravel(), abs=1e-6)
    assert begun.depths[0][0] == pytest.approx(run.depth.values[0, 0], abs=1e-9)


@pytest.mark.full
def test_an_overlap_is_said_and_shown():
    deep = dockdyn.load("paraskevas-a", {"body.chaser-front.position": "2 mm", "body.chaser.position": "2 mm"})
    found = check_scenario(deep)
    assert found.report.headline == "fronts overlaps by 2.00 mm at the start"
    assert sort_of(found.report) != "ok" and found.scene is not None
    (table,) = (block.table for block in found.report.blocks if block.title == "What may touch")
    assert table.rows[0] == ["fronts", "-2.000", "at the start", "overlaps"]


def test_masses_stand_against_the_box_that_has_their_moments():
    (table,) = (
        block.table for block in check_scenario(dockdyn.load("probe-cone")).report.blocks if block.title == "Bodies"
    )
    name, mass, moments, box, _, verdict = table.rows[0]
    assert (name, float(mass), verdict) == ("chaser", 1800.0, "")
    a, b, c = (float(one) for one in box.split(" × "))
    for moment, (one, other) in zip(moments.split(" · "), ((b, c), (a, c), (a, b)), strict=True):
        assert float(moment) == pytest.approx(1800.0 * (one**2 + other**2) / 12, rel=0.02)


@pytest.mark.parametrize(
    "name", [name if name in QUICK else pytest.param(name, marks=pytest.mark.full) for name in presets()]
)
def test_every_preset_can_be_looked_at(name):
    found, columns = check_scenario(dockdyn.load(name)), PageColumns()
    scene = None if found.scene is None else scene_data(found.scene, columns)
    html = render_page(found.report, scene=scene, columns=columns)
    assert "overlaps" not in found.report.headline and found.report.headline in html
    assert found.report.title in html.replace("&amp;", "&")


@pytest.mark.full
def test_the_command_writes_a_page_and_new_names_it(dock, tmp_path):
    ended = dock("new", "mine.toml", "--mechanism", "probe-cone")
    assert ended.stdout.endswith("Look at it before you run it: dockdyn check mine.toml\n")
    ended = dock("check", "mine.toml")
    assert ended.returncode == 0 and "touches first, at" in ended.stdout
    assert ended.stdout.endswith("Scene and check: mine-check.html\n")
    text = (tmp_path / "mine-check.html").read_text(encoding="utf-8")
    assert 'id="scene"' in text and "axis of" in text
    dock("check", "mine.toml").check_refused("mine-check.html: exists; give --force to overwrite it")
    dock("check", "no-such").check_refused("no-such")


LAWS = {  # what remembers, and what does not
    "coulomb": {"law": "coulomb", "coefficient": 0.2},
    "stick-slip": {"law": "stick-slip", "coefficient": 0.2, "stiffness": "20 kN/m"},
}


@pytest.mark.full
@pytest.mark.parametrize("law", LAWS)
def test_what_sticks_can_be_looked_at_too(law):
    """The way to the first touch has nothing to do with friction: it is where it is without."""
    still = {"loop.delay": 0}
    bare, rubbed = (
        begin_straight(dockdyn.load("probe-cone", {**still, **more}))
        for more in ({"contact.probe.friction": "none"}, {"contact.probe.friction": LAWS[law]})
    )
    assert rubbed.touches == pytest.approx(bare.touches, rel=1e-12) and np.isfinite(bare.touches).all()


def _plates_apart(distance: float) -> float:
    """Return the gap (m) of two plates of `mesh-on-mesh` whose faces are so far (m) apart, straight on."""
    stl = Path(dockdyn.__file__).parent / "scenario/presets/androgynous-plate.stl"
    mesh = trimesh.load(stl)
    plate = coal.BVHModelOBBRSS()
    plate.beginModel(len(mesh.faces), len(mesh.vertices))
    corners, faces = coal.StdVec_Vec3s(), coal.StdVec_Triangle()
    corners.extend(np.asarray(mesh.vertices) * 1e-3)  # mm
    faces.extend([coal.Triangle(*map(int, face)) for face in mesh.faces])
    plate.addSubModel(corners, faces)
    plate.endModel()
    half_turn = coal.Transform3s(np.diag([1.0, -1.0, -1.0]), np.array([0, 0, distance]))  # boss before socket
    found = coal.DistanceResult()
    return coal.distance(plate, coal.Transform3s(), plate, half_turn, coal.DistanceRequest(), found)


@pytest.mark.full
@pytest.mark.parametrize(("distance", "is_bound"), [(0.012, False), (0.1, True), (1.5, True)])
def test_a_gap_beyond_the_field_of_a_mesh_is_told_as_a_bound(distance, is_bound):
    straight = dict.fromkeys(("approach.pitch", "approach.roll"), "0 deg") | {"approach.lateral_offset": [0, 0]}
    scenario = dockdyn.load("mesh-on-mesh", {**straight, "approach.distance": distance})
    begun, true = begin_straight(scenario), _plates_apart(distance)
    gap = -begun.depths[0].max()
    assert begun.at_least == [is_bound] * 2
    assert gap <= true + 1e-3 and (is_bound or gap == pytest.approx(true, abs=1e-3))  # 1 mm: the field's tolerance
    words = check_scenario(scenario).report.verdict
    assert ("the smallest gap is at least" in words) == is_bound
