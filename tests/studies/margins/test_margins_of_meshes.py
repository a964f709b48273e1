"""Margins of a contact with a mesh: those of the plane that its face is, derivatives and charts included."""

import pytest
import tomlkit
import trimesh
from numpy.testing import assert_allclose
from plain_tables import contacts_by_name
from two_bodies import two_bodies

import dockdyn
from dockdyn.studies.margins.sweep import parse_sweep, stability_dataset

BODY = {"mass": 300.0, "inertia": [60.0, 50.0, 70.0]}
TIP = {"position": [0.5, 0.02, 0.03], "radius": 0.1}
NEAR = 2e-3  # m: how near the surface is to its mesh
LAW = {"law": "spring-dashpot", "stiffness": 900.0, "damping": 120.0}


def scene(surface):
    """A ball that meets a face off the centres of mass of both bodies."""
    chaser = BODY | {"position": [-0.9, 0.0, 0.0], "velocity": [0.05, 0.0, 0.0], "feature": {"tip": TIP}}
    target = BODY | {"mass": 500.0, "position": [0.2, 0.05, -0.04], "surface": {"face": surface}}
    contact = [{"between": ["tip", "face"], "normal": LAW}]
    head = {"schema": 2, "duration": 12.0, "loop": {"delay": 0.03}}
    return head | {"chaser": chaser, "target": target, "contact": contacts_by_name(contact)}


def written(folder, name, surface):
    file = folder / name
    file.write_text(tomlkit.dumps(two_bodies(scene(surface))))
    return file


@pytest.mark.full
def test_a_flat_face_of_a_mesh_has_the_margins_of_its_plane(tmp_path):
    """To the part that the surface's own error is of the levers, which are some 0.5 m long."""
    trimesh.creation.box((0.4, 0.6, 0.6)).export(tmp_path / "box.stl")
    mesh = {"shape": "mesh", "file": "box.stl", "unit": "m", "tip_radius": 0.1, "tolerance": NEAR}
    plane = {"shape": "plane", "point": [-0.2, 0.0, 0.0], "normal": [-1.0, 0.0, 0.0]}
    files = written(tmp_path, "mesh.toml", mesh), written(tmp_path, "plane.toml", plane)
    found, known = map(dockdyn.margins, files)
    for key in ("critical_delay_s", "growth_rate_1_s", "effective_mass_kg"):
        assert_allclose(found[key], known[key], rtol=2 * NEAR)
    for key in (
        "body.chaser.mass",
        "body.target.mass",
        "loop.delay",
        "contact.tip.normal.stiffness",
        "body.chaser.feature.tip.position.1",
    ):
        assert found["sensitivities"][key] == pytest.approx(known["sensitivities"][key], rel=0.02)
    sweep = parse_sweep("loop.delay=0:0.2:5")
    charts = [stability_dataset(dockdyn.load(file), [sweep]) for file in files]
    assert_allclose(charts[0].boundary_x.values, charts[1].boundary_x.values, rtol=2 * NEAR)
