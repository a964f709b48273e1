"""The mark that editors of Windows set before a text in UTF-8 changes nothing of what is read from it."""

from __future__ import annotations

import random
from codecs import BOM_UTF8

import numpy as np
import pytest
import trimesh

import dockdyn
from dockdyn.results.exchange.log_file import table_of
from dockdyn.scenario.meshes.solid import solid_in
from dockdyn.scenario.preset_files import preset_text
from dockdyn.scenario.tables.profile import corners_in
from dockdyn.scenario.tables.urdf import read_robot

INERTIA = '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>'
ROBOT = f'<robot name="r"><link name="hull"><inertial><mass value="3"/>{INERTIA}</inertial></link></robot>'


def marked(file, text: str):
    file.write_bytes(BOM_UTF8 + text.encode())
    return file


@pytest.mark.parametrize("seed", range(3))
def test_a_scenario_and_what_it_includes(seed, tmp_path):
    name = random.Random(seed).choice(sorted(dockdyn.presets()))
    text = dockdyn.load(name).text()
    assert dockdyn.load(marked(tmp_path / "whole.toml", text)).text() == text
    marked(tmp_path / "other.toml", preset_text("paraskevas-a"))
    including = 'include = "other.toml"\n'
    assert dockdyn.load(marked(tmp_path / "mine.toml", including)).text() == dockdyn.load("paraskevas-a").text()


def test_a_log_in_csv(tmp_path):
    table = table_of(marked(tmp_path / "log.csv", "time [s],force [N]\n0,1\n1,2\n"))
    assert table.headings == ["time [s]", "force [N]"]


def test_a_profile(tmp_path):
    assert corners_in(marked(tmp_path / "p.csv", "0,1\n2,3\n"), "p.csv") == [[0, 1], [2, 3]]


def test_a_robot(tmp_path):
    assert read_robot(marked(tmp_path / "r.urdf", ROBOT), "r.urdf").root == "hull"


@pytest.mark.parametrize("kind", ["obj", "stl_ascii"])
def test_a_mesh(kind):
    mesh = trimesh.creation.icosphere(subdivisions=1)
    text = mesh.export(file_type=kind)
    if kind == "obj":  # its first line is a corner
        text = text[text.index("\nv ") + 1 :]
    suffix = f".{kind[:3]}"
    plain, found = (solid_in(mark + text.encode(), suffix, 1.0) for mark in (b"", BOM_UTF8))
    np.testing.assert_array_equal(found.vertices, plain.vertices)
    np.testing.assert_array_equal(found.faces, plain.faces)
    assert len(found.faces) == 80
