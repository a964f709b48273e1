"""`dockdyn mesh check` and `dockdyn mesh repair` on broken meshes, each repaired to what it was or refused with the reason."""

import io
import re
import struct
from importlib.util import find_spec

import numpy as np
import pytest
import trimesh
from scipy.spatial.transform import Rotation

from dockdyn.scenario.load import parse
from dockdyn.scenario.meshes.solid import solid_in

BALL = trimesh.creation.icosphere(3, radius=20.0)
FINE_BALL = trimesh.creation.icosphere(4, radius=20.0)
BOX = trimesh.creation.box((20, 30, 40))


def written(mesh, kind="ply"):
    """The file of a mesh, to the last digit of a coordinate where it is in text."""
    digits = {"digits": 17} if kind == "obj" else {}
    content = mesh.export(file_type=kind, **digits)
    return content.encode() if isinstance(content, str) else content


def mesh_of(vertices, faces):
    return trimesh.Trimesh(vertices, faces, process=False)


def soup(rng):
    """Every face with vertices of its own, a little beside those of its neighbours."""
    corners = BALL.triangles.reshape(-1, 3)
    return mesh_of(corners + rng.uniform(-1e-6, 1e-6, corners.shape), np.arange(len(corners)).reshape(-1, 3))


def turned(rng):
    faces = BALL.faces.copy()
    some = rng.choice(len(faces), 300, replace=False)
    faces[some] = faces[some][:, ::-1]
    return mesh_of(BALL.vertices, faces)


def holed(rng):
    """Five openings, each of the faces around a vertex."""
    lost = np.isin(FINE_BALL.faces, [0, 1, 2, 3, 4]).any(axis=1)  # no two of which are neighbours
    return mesh_of(FINE_BALL.vertices, FINE_BALL.faces[~lost])


def flat_face(rng):
    """A vertex in the middle of an edge, of one side only, and a face without area between."""
    one, two, three = BOX.faces[0]
    vertices = np.vstack([BOX.vertices, (BOX.vertices[one] + BOX.vertices[two]) / 2])
    return mesh_of(vertices, [*BOX.faces[1:], [8, two, three], [one, 8, three], [one, two, 8]])


def slit(rng):
    """The same without that face."""
    mesh = flat_face(rng)
    return mesh_of(mesh.vertices, mesh.faces[:-1])


def repeated(rng):
    return mesh_of(BALL.vertices, np.vstack([BALL.faces, BALL.faces[:40], BALL.faces[60:70, ::-1]]))


def glued(rng):
    """Two boxes with the wall between them there twice, back to back."""
    other = BOX.copy()
    other.vertices = other.vertices * [-1, 1, 1] + [20, 0, 0]
    return mesh_of(np.vstack([BOX.vertices, other.vertices]), np.vstack([BOX.faces, other.faces[:, ::-1] + 8]))


def cavity_turned_out(rng):
    inner = trimesh.creation.box((10, 10, 10))
    return mesh_of(np.vstack([BOX.vertices, inner.vertices]), np.vstack([BOX.faces, inner.faces + 8]))


def everything(rng):
    """Of most of these something."""
    mesh = soup(rng)
    faces = mesh.faces.copy()
    faces[::7] = faces[::7][:, ::-1]
    return mesh_of(mesh.vertices, np.vstack([faces[3:], faces[20:30], [[5, 5, 8]]]))


MENDED = {
    "soup": (soup, BALL.volume, "vertices merged"),
    "turned faces": (turned, BALL.volume, "300 faces turned over"),
    "inside out": (lambda rng: mesh_of(BALL.vertices, BALL.faces[:, ::-1]), BALL.volume, "1280 faces turned over"),
    "a missing face": (lambda rng: mesh_of(BOX.vertices, BOX.faces[1:]), 24000, "1 face added"),
    "two missing faces": (lambda rng: mesh_of(BOX.vertices, BOX.faces[2:]), 24000, "2 faces added"),
    "openings": (holed, FINE_BALL.volume, "5 openings"),
    "a flat face": (flat_face, 24000, "1 face without area"),
    "a slit": (slit, 24000, "1 opening"),
    "repeated faces": (repeated, BALL.volume, "50 repeated faces"),
    "glued boxes": (glued, 48000, "4 repeated faces"),
    "a cavity that is turned out": (cavity_turned_out, 23000, "12 faces turned over"),
    "everything": (everything, BALL.volume, "turned over"),
}


@pytest.mark.full_cases("openings", "repeated faces", "soup")
@pytest.mark.parametrize("name", MENDED)
def test_a_broken_mesh_is_repaired_to_what_it_was(dock, tmp_path, name):
    """It is refused before, with the repair named, and sound afterwards, of the volume that it had before it was broken."""
    make, volume, words = MENDED[name]
    (tmp_path / "broken.obj").write_bytes(written(make(np.random.default_rng(1)), "obj"))
    dock("mesh", "check", "broken.obj").check_refused("dockdyn mesh repair broken.obj", words)
    told = dock("mesh", "repair", "broken.obj", "--out", "mended.obj").stdout
    assert words in told
    mended = solid_in((tmp_path / "mended.obj").read_bytes(), ".obj", 1.0)
    assert mended.volume == pytest.approx(volume, rel=1e-3 if name == "openings" else 1e-6)  # of caps that are cut off
    assert "nothing to repair" in dock("mesh", "repair", "mended.obj", "--out", "again.obj").stdout
    dock("mesh", "check", "again.obj").stdout.index("the skin of a solid")


def dented():
    """A ball of which one corner goes through the other side."""
    mesh = BALL.copy()
    mesh.vertices[17] *= -2
    return mesh


TWO_TETRAHEDRA = np.array([[0, 0, 0], [10, 0, 0], [0, 10, 0], [3, 3, 5], [3, 3, -5]])


def stl_of_many(faces):
    return b"\0" * 80 + struct.pack("<I", faces) + b"\0" * (50 * faces)


def not_a_number():
    mesh = BOX.copy()
    mesh.vertices[3, 1] = np.nan
    return written(mesh, "stl")


REFUSED = {
    "a dent through the other side.ply": (lambda: written(dented()), "intersects itself"),
    "a wide opening.ply": (
        lambda: written(mesh_of(BALL.vertices, BALL.faces[BALL.triangles_center[:, 2] < 12])),
        "is open",
    ),
    "a wall inside.ply": (
        lambda: written(
            mesh_of(TWO_TETRAHEDRA, [*[[a, b, e] for e in (3, 4) for a, b in ((0, 1), (1, 2), (2, 0))], [0, 1, 2]])
        ),
        "edges have more than two faces",
    ),
    "a pointer.stl": (
        lambda: b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n",
        "is a Git LFS pointer",
    ),
    "a page.obj": (lambda: b"\n<!DOCTYPE html>\n<html><body>Not found</body></html>", "is an HTML page"),
    "nothing.ply": (lambda: b"", "is empty"),
    "blanks.obj": (lambda: b" \n\n", "is empty"),
    "cut off.stl": (lambda: written(BALL, "stl")[:5000], "is cut off: its header says 1280 faces, 98 are there"),
    "a header.stl": (lambda: written(BALL, "stl")[:50], "is cut off"),
    "cut off text.stl": (lambda: written(BOX, "stl_ascii")[:900], "is cut off: it does not end with endsolid"),
    "cut off.ply": (lambda: written(BALL)[:9000], "is cut off: it states 642 vertices and 1280 faces"),
    "no number.stl": (not_a_number, "has a vertex that is no number"),
    "too many.stl": (lambda: stl_of_many(3_000_000), "has 3000000 faces; must have 1 to 200000, make it simpler"),
    "too many.ply": (
        lambda: b"ply\nformat ascii 1.0\nelement vertex 9\nelement face 3000000\nend_header\n",
        "has 3000000 faces",
    ),
    "a missing vertex.obj": (
        lambda: b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 9\n",
        "cannot be read as a mesh: it is damaged",
    ),
    "a missing vertex.ply": (lambda: written(BOX).replace(b"element vertex 8", b"element vertex 7"), "is "),
    "a drawing.stl": (lambda: b"ISO-10303-21;\nHEADER;\n", "is a STEP file"),
    "packed.stl": (lambda: b"PK\x03\x04" + bytes(200), "is a zip archive"),
}


@pytest.mark.full_cases("too many.stl")
@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_repaired_is_refused_with_the_reason(dock, tmp_path, name):
    """In one line each, by both commands; nothing is written."""
    make, words = REFUSED[name]
    (tmp_path / name).write_bytes(make())
    for command in (("check", name), ("repair", name, "--out", "mended.ply")):
        dock("mesh", *command).check_refused(name, words)
    assert not (tmp_path / "mended.ply").exists()


def boxes(*moved):
    return trimesh.util.concatenate([BOX, *(BOX.copy().apply_translation(way) for way in moved)])


HOLLOW = trimesh.util.concatenate([BOX, trimesh.creation.box((10, 10, 10), transform=np.diag([1.0, 1, -1, 1]))])
SEVERAL = {  # parts, the volume that they have together, and what is wrong before
    "overlapping": (boxes([3, 4, 5]), 2 * 24000 - 17 * 26 * 35, "intersects itself"),
    "flush": (boxes([7, 0, 0]), 27 * 30 * 40, "is not the skin of one solid"),
    "face on face": (boxes([20, 7, 5]), 48000, "has walls inside"),
    "a row": (boxes([15, 1, 1], [30, 2, 2]), 3 * 24000 - 2 * 5 * 29 * 39, "intersects itself"),
    "with a cavity": (
        trimesh.util.concatenate([HOLLOW, BOX.copy().apply_translation([17, 1, 1])]),
        48000 - 1000 - 3 * 29 * 39,
        "intersects itself",
    ),
}


@pytest.mark.parametrize("name", SEVERAL)
def test_parts_that_overlap_are_joined_where_the_library_is_there(dock, tmp_path, name):
    """To the volume that they have together; else the package is named that does so."""
    mesh, volume, words = SEVERAL[name]
    (tmp_path / "parts.obj").write_bytes(written(mesh, "obj"))
    dock("mesh", "check", "parts.obj").check_refused(words)
    if find_spec("manifold3d") is None:
        dock("mesh", "repair", "parts.obj", "--out", "one.obj").check_refused(words, "pip install 'dockdyn[repair]'")
        return
    assert "parts joined" in dock("mesh", "repair", "parts.obj", "--out", "one.obj").stdout
    assert solid_in((tmp_path / "one.obj").read_bytes(), ".obj", 1.0).volume == pytest.approx(volume, rel=1e-6)


def test_a_distance_decides_what_is_merged(dock, tmp_path):
    """Vertices 0.01 apart are the same within 0.02, not without; in the file's unit."""
    rng = np.random.default_rng(2)
    corners = BOX.triangles.reshape(-1, 3)
    faces = np.arange(len(corners)).reshape(-1, 3)
    (tmp_path / "loose.obj").write_bytes(
        written(mesh_of(corners + rng.uniform(-3e-3, 3e-3, corners.shape), faces), "obj")
    )
    dock("mesh", "repair", "loose.obj", "--out", "mended.obj").check_refused("cannot be repaired: is open")
    told = dock("mesh", "repair", "loose.obj", "--within", "0.02", "--out", "mended.obj").stdout
    assert "28 vertices merged with one within 0.02" in told
    assert solid_in((tmp_path / "mended.obj").read_bytes(), ".obj", 1.0).volume == pytest.approx(24000, rel=1e-3)


def test_single_precision_that_spoils_a_repaired_mesh_is_told(dock, tmp_path):
    """A wall of a thousandth far from the origin, which four bytes a coordinate do not hold."""
    thin = mesh_of(BOX.vertices * [1, 1, 1e-4] + [0, 0, 1e5], BOX.faces[1:])
    (tmp_path / "thin.obj").write_bytes(written(thin, "obj"))
    dock("mesh", "repair", "thin.obj", "--out", "thin.stl").check_refused("in single precision", "write .obj")
    dock("mesh", "repair", "thin.obj", "--out", "thin2.obj").stdout.index("1 opening")


SCENARIO = """
schema = 2
duration = "1 s"
[body.block]
mass = "10 kg"
inertia = [1, 1, 1]
position = [0, 0, 0.2]
[body.block.feature.skin]
shape = "cloud"
file = "{file}"
unit = "mm"
count = 100
{repair}
[body.floor]
mass = "100 kg"
inertia = [9, 9, 9]
[body.floor.surface.top]
shape = "mesh"
file = "{file}"
unit = "mm"
tolerance = "5 mm"
{repair}
[contact.skin]
between = ["skin", "top"]
normal = {{ law = "hertz", stiffness = "1000 N/m", exponent = 1 }}
"""


def test_a_scenario_repairs_its_mesh_where_it_says_so(tmp_path):
    """Of a box without one of its faces: the points of a cloud, the distances of a surface and what is drawn."""
    from dockdyn.report.scene.looks import touched_mesh
    from dockdyn.scenario.language.errors import ScenarioError

    file = tmp_path / "open.stl"
    file.write_bytes(written(mesh_of(BOX.vertices, BOX.faces[1:]), "stl"))
    with pytest.raises(ScenarioError, match="is open"):
        parse(SCENARIO.format(file=file, repair=""), "mine.toml")
    content = parse(SCENARIO.format(file=file, repair="repair = true"), "mine.toml").content
    sample = content.body[0].feature[0].sample
    assert sample.area == pytest.approx(BOX.area * 1e-6, rel=1e-6)
    assert content.body[1].surface[0].field.size == pytest.approx(0.04)
    drawn = touched_mesh(content.body[1].surface[0])
    assert mesh_of(drawn.vertices, drawn.faces).volume == pytest.approx(24000e-9, rel=1e-6)


def test_a_sound_file_is_said_to_be_sound(dock, tmp_path):
    (tmp_path / "box.stl").write_bytes(written(BOX, "stl"))
    told = dock("mesh", "check", "box.stl").stdout
    assert "12 faces, 8 vertices, parts: 1" in told and "size 20 by 30 by 40" in told and "volume 24000" in told
    loaded = trimesh.load_mesh(io.BytesIO(written(BOX, "stl")), file_type="stl")
    assert loaded.volume == pytest.approx(24000)


def test_what_an_evenly_filled_solid_weighs_is_told(dock, tmp_path):
    """Of a box that lies anyhow, by the textbook's formula."""
    random, turn = np.random.default_rng(5), Rotation.random(random_state=5).as_matrix()
    sides, centre = random.uniform(1, 4, 3), random.uniform(-9, 9, 3)
    box = trimesh.creation.box(sides)
    (tmp_path / "box.obj").write_bytes(written(mesh_of(box.vertices @ turn.T + centre, box.faces), "obj"))
    told = dock("mesh", "check", "box.obj").stdout
    place = [float(one) for one in re.search("evenly filled, (.*)", told)[1].split(",")]
    found = [float(one) for one in re.findall(r"-?[\d.]+(?:e-?\d+)?", told.split("per mass")[1])]
    tensor = turn @ np.diag((sides @ sides - sides**2) / 12) @ turn.T
    np.testing.assert_allclose(place, centre, rtol=1e-5)
    np.testing.assert_allclose(found, [*np.diag(tensor), *tensor[[0, 0, 1], [1, 2, 2]]], rtol=1e-4)
