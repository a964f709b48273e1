"""Meshes of the user's own: drawn, of no effect on the result, and missed in words."""

import os

import numpy as np
import pytest
from helpers.refusals import refused

import dockdyn
from dockdyn.api import scene_of
from dockdyn.report.scene.page import page_of
from dockdyn.report.scene.solids import BoxSolid
from dockdyn.scenario.preset_files import preset_text

STL = """solid box
 facet normal 0 0 1
  outer loop
   vertex 0 0 0
   vertex 2000 0 0
   vertex 0 1000 500
  endloop
 endfacet
endsolid
"""


def bus(tmp_path, look: str):
    text = preset_text("sazawal-spring-dashpot").replace("[body.chaser]", f"[body.chaser]\nlook = {look}", 1)
    (tmp_path / "mine.toml").write_text(text)
    return tmp_path / "mine.toml"


def test_a_mesh_is_drawn_and_changes_nothing_else(tmp_path):
    (tmp_path / "bus.stl").write_text(STL)
    file = bus(tmp_path, '{ file = "bus.stl", scale = "1 mm", position = [1, 0, 0] }')
    plain = dockdyn.simulate(dockdyn.load("sazawal-spring-dashpot", {"duration": "1 s"}))
    dressed = dockdyn.simulate(dockdyn.load(file, {"duration": "1 s"}))
    for name in plain.data_vars:
        np.testing.assert_array_equal(plain[name].values, dressed[name].values)
    body = next(part for part in scene_of(dressed).parts if part.name == "chaser/look")
    np.testing.assert_allclose(body.solids[0].vertices, [[1, 0, 0], [3, 0, 0], [1, 1, 0.5]], atol=1e-9)
    os.remove(tmp_path / "bus.stl")
    (tmp_path / "again.toml").write_text(dressed.attrs["scenario"])
    again = dockdyn.simulate(dockdyn.load(tmp_path / "again.toml"))
    np.testing.assert_array_equal(again.position.values, dressed.position.values)
    scene = scene_of(again)
    assert "bus.stl: no such file; drawn as a plain shape" in scene.warnings[0]
    assert isinstance(next(part for part in scene.parts if part.name == "chaser/bus").solids[0], BoxSolid)


def test_where_a_look_shows_a_body_surfaces_that_nothing_touches_are_left_out(tmp_path):
    """Parts from CAD carry endless ones, which would hide it."""
    (tmp_path / "bus.stl").write_text(STL)
    loose = '[body.target.surface.loose]\nshape = "cylinder"\npoint = [0, 0, 0]\naxis = [1, 0, 0]\nradius = "2 m"\n'
    look = '[body.target]\nlook = { file = "bus.stl", scale = "1 mm" }'
    text = preset_text("sazawal-spring-dashpot") + "\n" + loose
    names = []
    for one in (text, text.replace("[body.target]", look, 1)):
        (tmp_path / "mine.toml").write_text(one)
        result = dockdyn.simulate(dockdyn.load(tmp_path / "mine.toml", {"duration": "0.5 s"}))
        names.append({part.name for part in scene_of(result).parts if part.role == "surface"})
    assert names[0] - names[1] == {"target/loose"}
    assert names[1]


def test_a_coloured_mesh_keeps_its_colours(tmp_path):
    trimesh = pytest.importorskip("trimesh")
    boxes = [trimesh.creation.box((1, 2, 3)).apply_translation((2 * place, 0, 0)) for place in range(2)]
    for one, colour in zip(boxes, ((200, 30, 30, 255), (20, 40, 220, 255)), strict=True):
        one.visual.face_colors = colour
    trimesh.util.concatenate(boxes).export(tmp_path / "bus.glb")
    dressed = dockdyn.simulate(dockdyn.load(bus(tmp_path, '"bus.glb"'), {"duration": "1 s"}))
    parts = [part for part in scene_of(dressed).parts if part.role == "look"]
    assert {part.colour: len(part.solids[0].faces) for part in parts} == {"#c81e1e": 12, "#1428dc": 12}
    assert page_of(scene_of(dressed))


def test_a_wrong_mesh_is_refused_in_one_line(tmp_path):
    for look, words in {
        '"bus.stl"': "body.chaser.look = 'bus.stl': no such file",
        '{ file = "bus.step" }': "body.chaser.look.file = 'bus.step': must be a mesh",
        '{ file = "bus.stl", scale = 0 }': "body.chaser.look",
    }.items():
        with refused(words):
            dockdyn.load(bus(tmp_path, look))


NOT_DRAWN = {  # what is in a file, and what is said of it
    "garbage.stl": ("no mesh", "is cut off: it has 7 bytes, of which the header alone has 84"),
    "garbage.glb": ("no mesh", "cannot be read as a mesh"),
    "empty.stl": ("", "is empty; must be a mesh"),
    "bus.stl": (STL, "is 2000 m large; is it in mm? state scale"),
}


@pytest.mark.full
@pytest.mark.parametrize("file", NOT_DRAWN)
def test_a_run_tells_of_a_mesh_that_it_cannot_draw(dock, tmp_path, file):
    """Nothing of a mesh is read before the replay is made: what is wrong with one is a line of the run and of its report."""
    text, words = NOT_DRAWN[file]
    (tmp_path / file).write_text(text)
    ended = dock("run", bus(tmp_path, f'"{file}"'), "--set", "duration=1 s", "--out", "out")
    told = f"chaser/bus: {tmp_path / file}: {words}; drawn as a plain shape"
    assert ended.returncode == 0 and ended.stderr.strip() == f"warning: {told}"
    assert told in (tmp_path / "out" / "report.html").read_text(encoding="utf-8")


@pytest.mark.full
def test_a_large_mesh_is_drawn_where_its_scale_is_stated(tmp_path):
    (tmp_path / "bus.stl").write_text(STL)
    large = dockdyn.load(bus(tmp_path, '{ file = "bus.stl", scale = 1 }'), {"duration": "1 s"})
    assert scene_of(dockdyn.simulate(large)).warnings == []
