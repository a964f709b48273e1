"""Surfaces from mesh files: distances beside trimesh's own, runs beside XLA's, and what is refused."""

import re

import numpy as np
import pytest
import tomlkit
import trimesh
from two_bodies import two_bodies

import dockdyn
from dockdyn.report.sampled_surface import signed_distances, surface_normals
from dockdyn.scenario.language.errors import ScenarioError
from dockdyn.scenario.made import made
from dockdyn.scenario.meshes.nearest import MeshDistance

TIP = 0.1  # m
BODY = {"mass": 500, "inertia": [200, 210, 220]}
OUTLINE = np.array([[0, -0.1], [0.6, -0.1], [0.6, 0.45], [0.45, 0.45], [0.0, 0.0]])  # radius and height, m


def drogue():
    """A cylinder with a conical cavity, whose axis is z."""
    return trimesh.creation.revolve(OUTLINE, sections=24)


def scenario(file, **keys):
    surface = {"shape": "mesh", "file": str(file), "tip_radius": TIP, "tolerance": 1e-3, **keys}
    feature = {"position": [1.5, 0, 0], "radius": TIP}
    start = {"position": [0.05, 0.04, 2.3], "velocity": [0, 0.01, -0.3], "attitude": [0.5**0.5, 0, 0.5**0.5, 0]}
    return {
        "schema": 2,
        "title": "A tip in a drogue",
        "duration": 4,
        "chaser": {**BODY, **start, "feature": {"tip": feature}},
        "target": {**BODY, "surface": {"drogue": surface}},
        "contact": {"tip": {"between": ["tip", "drogue"], "normal": {"law": "spring-dashpot", "stiffness": 8000}}},
    }


def written(folder, content):
    file = folder / "mesh.toml"
    file.write_text(tomlkit.dumps(two_bodies(content)))
    return file


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with a drogue in mm, for scenarios in m."""
    found = tmp_path_factory.mktemp("meshes")
    mesh = drogue()
    mesh.apply_scale(1000)
    mesh.export(found / "drogue.stl")
    return found


@pytest.fixture(scope="module")
def loaded(folder):
    return dockdyn.load(written(folder, scenario("drogue.stl", unit="mm")))


def solid(points):
    """Whether points are in the solid of the outline, were it of revolution."""
    radius, height = np.hypot(points[:, 0], points[:, 1]), points[:, 2]
    return (radius < 0.6) & (height > -0.1) & (height < np.minimum(radius, 0.45))


def test_distances_are_those_of_trimesh():
    """To the error of trimesh's; signs to the rule of the outline, away from facets by more than they are flat."""
    mesh, points = drogue(), np.random.default_rng(0).uniform(-0.75, 0.75, (400, 3))
    found = MeshDistance(np.asarray(mesh.vertices), np.asarray(mesh.faces)).signed_distances(points)
    assert found == pytest.approx(-trimesh.proximity.signed_distance(mesh, points), abs=1e-7)
    clear = np.abs(found) > 0.01
    assert np.array_equal(found[clear] < 0, solid(points[clear])) and (found < 0).sum() > 50


@pytest.mark.full
def test_a_surface_is_as_near_to_its_mesh_as_is_asked(loaded):
    """At other points than those at which it was refined; its normals are of unit length as nearly as a spacing allows."""
    mesh, section = drogue(), loaded.content.named("target").surface[0]
    points, faces = trimesh.sample.sample_surface(mesh, 1500, seed=7)
    places = points + TIP * mesh.face_normals[faces]
    true = -trimesh.proximity.signed_distance(mesh, places)
    met = true > TIP * (1 - 1e-6)
    errors = np.abs(signed_distances(made(section), places[met]) - true[met])
    assert met.sum() > 500
    assert np.quantile(errors, 0.98) < 1e-3 and errors.max() < 2 * section.field.largest_error
    length = np.linalg.norm(surface_normals(made(section), places[met]), axis=1)
    assert np.quantile(np.abs(length - 1), 0.98) < 1e-3 / section.field.finest


@pytest.mark.full
def test_a_docking_keeps_energy_and_momenta(loaded):
    """Without damping and delay no contact adds energy or takes any."""
    result = dockdyn.simulate(loaded)
    summary = dockdyn.summarise(result)
    assert summary["linear_momentum_error"] < 1e-12 and summary["angular_momentum_error"] < 1e-10
    gains = result.episode_energy_gain.values
    assert len(gains) > 0 and np.abs(gains / float(result.kinetic_energy[0])).max() < 1e-9


@pytest.mark.full
def test_xla_finds_the_same_docking(loaded, monkeypatch):
    result = dockdyn.simulate(loaded)
    with monkeypatch.context() as patched:
        patched.setenv("DOCKDYN_BACKEND", "xla")
        other = dockdyn.simulate(loaded)
    assert result.sizes["episode"] > 0
    np.testing.assert_allclose(other.episode_onset, result.episode_onset, rtol=1e-9)


@pytest.mark.full
def test_a_delayed_docking_keeps_the_momenta(loaded):
    delayed = dockdyn.load(loaded.name, {"loop.delay": "10 ms"})
    summary = dockdyn.summarise(dockdyn.simulate(delayed))
    assert summary["linear_momentum_error"] < 1e-12 and summary["angular_momentum_error"] < 1e-10


def test_what_is_stored_gives_the_same_again(loaded):
    """The resolved scenario holds the file's place, not the field."""
    again = dockdyn.scenario.load.parse(loaded.text(), "again")
    assert "field" not in loaded.text()
    assert again.content.named("target").surface[0].field.error == loaded.content.named("target").surface[0].field.error


@pytest.mark.full
def test_cases_of_a_campaign_share_the_field(loaded):
    """Their figures are those of single runs."""
    from dockdyn.studies.cases.batch import run_cases

    masses = np.array([[400.0], [500.0], [600.0]])
    found = run_cases(loaded, ["body.chaser.mass"], masses)
    peak = dockdyn.summarise(dockdyn.simulate(loaded))["peak_force_N"]
    assert found.figures["peak_force_N"][1] == pytest.approx(peak, rel=1e-9)


def _box(**changes):
    mesh = trimesh.creation.box((1, 1, 1))
    for name, value in changes.items():
        getattr(mesh, name)(value)
    return mesh


def _flat():
    """A box with a face of no area between two others: a vertex in the middle of an edge of both."""
    mesh = _box()
    one, two, three = mesh.faces[0]
    middle = (mesh.vertices[one] + mesh.vertices[two]) / 2
    vertices = np.vstack([mesh.vertices, middle])
    faces = np.vstack([mesh.faces[1:], [[8, two, three], [one, 8, three], [one, two, 8]]])
    return trimesh.Trimesh(vertices, faces, process=False)


def _crossing():
    other = _box(apply_translation=(0.5, 0.3, 0.2))
    return trimesh.util.concatenate([_box(), other])


def _sheet():
    mesh = _box()
    return trimesh.Trimesh(mesh.vertices * [1, 1, 1e-12], mesh.faces, process=False)


WRONG = {
    "open": (lambda: trimesh.Trimesh(_box().vertices, _box().faces[1:], process=False), {}, "is open: 3 of its edges"),
    "inside out": (lambda: trimesh.Trimesh(_box().vertices, _box().faces[:, ::-1], process=False), {}, "is inside out"),
    "crossing": (_crossing, {}, "intersects itself"),
    "flat": (_flat, {}, "1 face without area"),
    "sheet": (_sheet, {}, "without area"),
    "millimetres": (lambda: _box(apply_scale=1000.0), {"tolerance": 50.0}, "is it in mm? state unit"),
    "millimetres, whatever the tolerance": (lambda: _box(apply_scale=1000.0), {}, "is it in mm? state unit"),
    "thick tip": (
        _box,
        {"tip_radius": 0.01, "tolerance": 0.05},
        "must be at least that of what touches the mesh, 0.1 m",
    ),
    "thin tip": (_box, {"tip_radius": 0.3, "tolerance": 0.05}, "must be that of what touches the mesh, 0.1 m"),
    "fine": (_box, {"tolerance": 1e-9}, "cannot be had"),
    "field": (_box, {"field": 1}, "unknown key"),
}


@pytest.mark.full_cases("thick tip", "fine", "thin tip")
@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_said_in_one_line(dock, tmp_path, monkeypatch, name):
    make, keys, words = WRONG[name]
    monkeypatch.setattr("dockdyn.scenario.meshes.brick_tree.MOST", 1000)
    make().export(tmp_path / "wrong.ply")
    dock("run", written(tmp_path, scenario("wrong.ply", **keys)), "--quiet").check_refused(words)


@pytest.mark.full_cases("mm-1000.0", "None-1.0")
@pytest.mark.parametrize(("unit", "lengths"), [("mm", 1000.0), ("inch", 1 / 0.0254), (None, 1.0)])
def test_a_tolerance_that_cannot_be_had_is_answered_by_one_that_can(tmp_path, monkeypatch, unit, lengths):
    """In the unit of the file, where it is stated; a tenth less of it cannot be had either."""
    monkeypatch.setattr("dockdyn.scenario.meshes.brick_tree.MOST", 1000)
    mesh = drogue()
    mesh.apply_scale(lengths)
    mesh.export(tmp_path / "drogue.stl")

    def load(tolerance):
        keys = {"tolerance": tolerance} | ({"unit": unit} if unit else {})
        return dockdyn.load(written(tmp_path, scenario("drogue.stl", **keys)))

    with pytest.raises(ScenarioError) as refusal:
        load("1 um")
    words = str(refusal.value)
    assert (
        f"tolerance = {lengths * 1e-6:.3g} {unit or 'm'} cannot be had of a mesh {lengths * 1.2:.3g} {unit or 'm'}"
        in words
    )
    proposed = re.search(r"must be at least (\S+ \S+),", words)[1]
    assert load(proposed).content.named("target").surface[0].field.error > 0
    value, name = proposed.split()
    with pytest.raises(ScenarioError, match="cannot be had"):
        load(f"{0.9 * float(value)} {name}")


@pytest.mark.parametrize(
    ("file", "words"),
    [
        ("nowhere.stl", "no such file"),
        ("drogue.step", "must be a mesh, a file that ends in .stl, .obj, .ply"),
        ("junk.ply", "cannot be read as a mesh"),
    ],
)
def test_files_that_are_no_mesh(dock, tmp_path, file, words):
    (tmp_path / "junk.ply").write_bytes(b"junk")
    dock("run", written(tmp_path, scenario(file)), "--quiet").check_refused(words)


STUDIES = [
    "campaign run",
    "envelope --over body.chaser.mass=400:500",
    "sensitivity --of peak_force",
    "stability",
]


@pytest.mark.parametrize("command", STUDIES)
def test_studies_ask_for_the_unit_as_runs_do(dock, tmp_path, command):
    _box(apply_scale=1000.0).export(tmp_path / "wrong.ply")
    spread = {"keys": ["body.chaser.mass"], "distribution": "uniform", "low": 400, "high": 500}
    file = written(tmp_path, scenario("wrong.ply") | {"dispersion": {"mass": spread}})
    dock(*command.split(), file, "--quiet").check_refused("is it in mm? state unit")
