"""Units of mesh files that make a mesh too large or too small, and one file that is read in two: what is told, and of what."""

import itertools
from typing import get_args

import numpy as np
import pytest
import trimesh

import dockdyn
from dockdyn.scenario.meshes.mesh_file import MeshUnit, length_of
from dockdyn.studies.check.report import check_scenario

UNITS = get_args(MeshUnit)
MASS, EDGE = 200.0, 1.0  # kg, m: a cube, whose radius of gyration is EDGE/√6
SIXTH = 1 / np.sqrt(6)


def cubes(folder, *units, edge=EDGE, fixed=False):
    """A body per unit: a cube of points, all of one file, in millimetres, above a plane."""
    file = folder / "cube.stl"
    trimesh.creation.box([1e3 * edge] * 3).export(file)
    names = [f"cube-{number}" for number in range(len(units))]
    shape = {"shape": "cloud", "file": str(file), "count": 36}
    body = {
        name: {
            "position": [0.0, 0.0, 3.0 * number],
            "feature": {"skin": shape | ({} if unit is None else {"unit": unit})},
            **({"fixed": True} if fixed else {"mass": MASS, "inertia": [MASS * EDGE**2 / 6] * 3}),
        }
        for number, (name, unit) in enumerate(zip(names, units, strict=True))
    }
    body["floor"] = {
        "position": [0.0, 0.0, -9.0],
        "surface": {"top": {"shape": "plane", "point": [0, 0, 0], "normal": [0, 0, 1]}},
    }
    body["floor"] |= {"mass": MASS, "inertia": [MASS] * 3} if fixed else {"fixed": True}
    law = {"law": "hunt-crossley", "stiffness": 1e4, "exponent": 1.0, "damping": 0.1}
    contact = {name: {"between": [f"{name}.skin", "floor.top"], "normal": law} for name in names}
    return dockdyn.load({"schema": 2, "duration": 1.0, "body": body, "contact": contact})


@pytest.mark.parametrize("unit", UNITS)
def test_a_unit_that_makes_the_mesh_too_large_for_its_body_is_told(unit, tmp_path):
    size = EDGE * length_of(unit) / length_of("mm")
    said = dockdyn.check_numbers(cubes(tmp_path, unit))
    if size < 12 * EDGE * SIXTH:
        assert unit == "mm" and said == []
        return
    beside = "nothing that docks is so large" if size > 150 else "times the radius of gyration of its body"
    (told,) = said
    assert told.startswith(f"cube.stl, read in {unit} by body.cube-0.feature.skin, is ") and beside in told
    assert told.endswith("; is it in mm?")
    if size <= 150:
        assert float(told.split("m large: ")[1].split()[0]) == pytest.approx(size / (EDGE * SIXTH), rel=0.05)


@pytest.mark.parametrize(("edge", "odd"), [(0.3, False), (1e-3, True), (200.0, True)])
def test_without_a_mass_the_size_alone_is_looked_at(edge, odd, tmp_path):
    said = dockdyn.check_numbers(cubes(tmp_path, "mm", edge=edge, fixed=True))
    assert bool([one for one in said if one.startswith("cube.stl, read in mm by ")]) is odd


@pytest.mark.parametrize("units", list(itertools.product(["mm", "inch"], repeat=2)))
def test_one_file_in_two_units_is_told(units, tmp_path):
    """Where the file is small enough for either."""
    said = dockdyn.check_numbers(cubes(tmp_path, *units, edge=0.1))
    differ = (
        "cube.stl is read in {} by body.cube-0.feature.skin, in {} by body.cube-1.feature.skin: a file has one unit"
    )
    assert said == ([differ.format(*units)] if len(set(units)) > 1 else [])


def test_check_lists_how_large_meshes_are(tmp_path):
    blocks = {one.title: one.table for one in check_scenario(cubes(tmp_path, "mm", "inch", edge=0.1)).report.blocks}
    rows = blocks["Meshes"].rows
    assert [row[:3] for row in rows] == [
        ["body.cube-0.feature.skin", "cube.stl", "mm"],
        ["body.cube-1.feature.skin", "cube.stl", "inch"],
    ]
    assert [float(row[3]) for row in rows] == pytest.approx([0.1, 2.54])
