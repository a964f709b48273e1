"""Two meshes on each other: the points of each touch the surface of the other, each with half the stiffness."""

import jax.numpy as jnp
import numpy as np
import pytest
import tomlkit
import trimesh
from plain_tables import by_name, contacts_by_name

import dockdyn
from dockdyn.api import scene_of
from dockdyn.contact.contact_modes import GATED
from dockdyn.mechanics.rigid_body import Placed
from dockdyn.pages import report_of
from dockdyn.report.scene.solids import MeshSolid
from dockdyn.scenario.load import parse
from dockdyn.scenario.preset_files import preset_meshes

PER_AREA = 1e6  # N/m³
DEPTH = 2e-3  # m
HEIGHT = 0.1  # m, of each block
SIDES = 0.2, 0.32  # m


def body(folder, name, side, height):
    mesh = trimesh.creation.box(extents=(side, side, HEIGHT))
    file = folder / f"{name}.stl"
    mesh.export(file)
    part = {"file": str(file)}
    return mesh.area, {
        "name": name,
        "mass": 100,
        "inertia": [10, 10, 10],
        "position": [0, 0, height],
        "feature": {"skin": {"shape": "cloud", "count": 3200, **part}},
        "surface": {"block": {"shape": "mesh", "tolerance": 5e-4, **part}},
    }


@pytest.mark.full
def test_half_the_stiffness_each_way_is_the_whole_of_the_face(tmp_path):
    """A block stands on a wider one; of either cloud the points under the face press, each as its area asks for."""
    (small, upper), (large, lower) = (
        body(tmp_path, "upper", SIDES[0], HEIGHT - DEPTH),
        body(tmp_path, "lower", SIDES[1], 0),
    )
    contacts = [
        {
            "name": f"{one}-on-{other}",
            "between": [f"{one}.skin", f"{other}.block"],
            "normal": {"law": "hertz", "exponent": 1, "stiffness": PER_AREA * area / 2},
        }
        for one, other, area in (("upper", "lower", small), ("lower", "upper", large))
    ]
    data = {
        "schema": 2,
        "duration": 1,
        "body": by_name([upper, lower]),
        "contact": contacts_by_name(contacts),
    }
    model = parse(tomlkit.dumps(data), "blocks").content.model()
    x = model.initial()
    placed = [Placed.of(pose, twist) for pose, twist in zip(x.q.roots, x.v.roots, strict=True)]
    forces = [
        np.asarray(group.state(jnp.asarray(GATED), placed[group.first], placed[group.second]).wrench.force.array())
        for group in model.groups
    ]
    half = PER_AREA * SIDES[0] ** 2 * DEPTH / 2
    assert forces[0] == pytest.approx([0, 0, half], rel=0.01, abs=0.01 * half)  # 10 µm of the grid
    assert forces[1] == pytest.approx(
        [0, 0, -half], rel=0.1, abs=0.02 * half
    )  # its points, not its face, are cut at the edge


def test_the_plate_of_the_preset_is_the_one_that_it_describes():
    (file,) = preset_meshes("mesh-on-mesh")
    mesh = trimesh.load_mesh(file)

    def cut_off_pyramid(foot, top, height):
        return height / 3 * (foot**2 + top**2 + foot * top)

    volume = 90 * 180 * 40 + cut_off_pyramid(66, 36, 30) - cut_off_pyramid(68, 38, 31)  # mm³
    assert mesh.is_watertight and mesh.volume == pytest.approx(volume, rel=1e-6)
    assert mesh.bounds == pytest.approx(np.array([[-45, -90, -40], [45, 90, 30]]))


@pytest.mark.full
def test_plates_dock_off_their_axes():
    """Both ways share the load: about half of the impulse comes through either contact."""
    dataset = dockdyn.simulate(dockdyn.load("mesh-on-mesh"))
    summary = dockdyn.summarise(dataset)
    assert summary["captured"] and summary["status"] == "finished"
    assert max(summary["linear_momentum_error"], summary["angular_momentum_error"]) < 1e-10
    assert summary["work_energy_error"] < 1e-6
    one, other = np.trapezoid(dataset.normal_force.values, dataset.time.values, axis=0)
    assert 0.8 < one / other < 1.25
    (block,) = (one for one in report_of(dataset).blocks if one.title == "Meshes")
    assert [row[0] for row in block.table.rows] == ["chaser.plate", "chaser.skin", "target.plate", "target.skin"]
    assert float(block.table.rows[0][4]) <= 0.2  # mm, the tolerance
    drawn = {
        part.name: solid for part in scene_of(dataset).parts for solid in part.solids if isinstance(solid, MeshSolid)
    }
    assert "chaser/skin" not in drawn  # the mesh that is a surface, too
    assert len(drawn["chaser/plate"].faces) == 48
    assert drawn["chaser/plate"].vertices[:, 0].max() == pytest.approx(0.53)
    gap = dataset.line_length.sel(line="faces").values[-1]
    assert gap < 1e-3  # m: the boss sits in the socket
