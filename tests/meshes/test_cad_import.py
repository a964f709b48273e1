"""Parts from CAD files beside closed forms: files of Open CASCADE, of solids whose numbers are in `docking` and below."""

import math
import re
import shutil
import tomllib
from pathlib import Path

import numpy as np
import pytest
from pydantic_core import PydanticCustomError

from dockdyn.scenario.cad import solids
from dockdyn.scenario.cad.part_file import parts_of_cad
from dockdyn.scenario.load import parse

pytest.importorskip("cascadio")
FILES = Path(__file__).parent / "cad"
DENSITY, TOLERANCE = 2700.0, 1e-4  # kg/m³, m
SHARE = 0.006  # of a mass: what triangles within 0.1 mm of these solids miss at most
ANGLE = math.atan(5 / 8)  # of the socket's cone


def bodies(file, density=DENSITY, tolerance=TOLERANCE):
    found = parts_of_cad(FILES / file, tolerance, density)
    return {part.name: tomllib.loads(part.files[f"{part.name}.toml"])["body"][part.name] for part in found}


@pytest.fixture(scope="module")
def docking():
    """mm: a block of 200 by 160 by 100 with a cone (radii 10 and 60, 80 deep from above) and a bore (radius 8, at 80, 60); two
    pins, cylinders of 15 by 100 with a half ball on one end, at z = 300, the second turned to x; a ring of radii 300 and 20."""
    return bodies("docking.step")


def pin_numbers():
    """Mass, centre above the middle of the cylinder, inertia along and across its axis at the centre."""
    r, h = 0.015, 0.1
    rod, ball = DENSITY * math.pi * r**2 * h, DENSITY * 2 / 3 * math.pi * r**3
    centre = ball * (h / 2 + 3 / 8 * r) / (rod + ball)
    across = rod * (r**2 / 4 + h**2 / 12 + centre**2)
    across += ball * (2 / 5 * r**2 - (3 / 8 * r) ** 2 + (h / 2 + 3 / 8 * r - centre) ** 2)
    return rod + ball, centre, (rod / 2 + ball * 2 / 5) * r**2, across


def test_masses_are_those_of_the_solids(docking):
    block = 0.2 * 0.16 * 0.1 - math.pi * 0.08 / 3 * (0.01**2 + 0.01 * 0.06 + 0.06**2) - math.pi * 0.008**2 * 0.1
    assert docking["socket"]["mass"] == pytest.approx(DENSITY * block, rel=SHARE)
    mass, _, along, across = pin_numbers()
    for name, diagonal in (("pin", [across, across, along]), ("pin-2", [along, across, across])):
        assert docking[name]["mass"] == pytest.approx(mass, rel=SHARE)
        np.testing.assert_allclose(docking[name]["inertia"], np.diag(diagonal), rtol=2 * SHARE, atol=1e-5 * across)
    ring = docking["guide-ring"]
    mass = DENSITY * 2 * math.pi**2 * 0.3 * 0.02**2
    about, across = mass * (0.3**2 + 0.75 * 0.02**2), mass * (0.3**2 / 2 + 5 / 8 * 0.02**2)
    assert ring["mass"] == pytest.approx(mass, rel=SHARE)
    np.testing.assert_allclose(ring["inertia"], np.diag([across, across, about]), rtol=2 * SHARE, atol=1e-6 * mass)


@pytest.mark.full_cases("0.001", "0.0001")
@pytest.mark.parametrize("tolerance", [1e-3, 1e-4, 3e-5])
def test_a_mass_is_as_exact_as_its_file_says(tolerance):
    """And not ten times as exact: what is said is of use. A frustum of 1 to 2 by 3 inches, a rod of 1 by 1."""
    (part,) = parts_of_cad(FILES / "tip-in-inches.step", tolerance, DENSITY)
    text = part.files["tip.toml"]
    exact = DENSITY * math.pi * 0.0254**3 * (3 / 3 * (1 + 2 + 4) + 1)
    off = abs(tomllib.loads(text)["body"]["tip"]["mass"] / exact - 1)
    said = float(re.search(r"# within ([0-9.e-]+) %", text)[1]) / 100
    assert 0.1 * said < off < said


def test_faces_become_exact_surfaces_and_features(docking):
    """Places from the centre of mass, so against those of others of the same body."""
    socket = docking["socket"]["surface"]
    cone = socket["cone"]
    assert cone["half_angle"] == pytest.approx(ANGLE, abs=1e-9) and cone["depth"] == pytest.approx(0.096, abs=1e-6)
    (top,) = (
        one for one in socket.values() if one.get("normal") == [0, 0, 1] and one["point"][2] > cone["apex"][2] + 0.05
    )
    np.testing.assert_allclose(top["point"][2] - cone["apex"][2], 0.096, atol=2e-6)
    bore = socket["cylinder"]
    assert bore["inside"] and bore["radius"] == pytest.approx(0.008, abs=1e-9)
    np.testing.assert_allclose(np.subtract(bore["point"], cone["apex"])[:2], [0.08, 0.06], atol=2e-6)
    assert sum(one["shape"] == "plane" for one in socket.values()) == 7
    _, centre, _, _ = pin_numbers()
    for name, axis in (("pin", [0, 0, 1]), ("pin-2", [1, 0, 0])):
        head, whole = docking[name]["feature"]["ball"], docking[name]["surface"]["sphere"]
        assert head["radius"] == whole["radius"] == pytest.approx(0.015, abs=1e-9)
        assert head["position"] == whole["centre"]
        np.testing.assert_allclose(head["position"], (0.05 - centre) * np.array(axis), atol=1e-4)
        assert "inside" not in docking[name]["surface"]["cylinder"]
    ring = docking["guide-ring"]
    assert ring["surface"]["torus"]["major_radius"] == ring["feature"]["circle"]["major_radius"] == 0.3
    assert ring["surface"]["torus"]["minor_radius"] == ring["feature"]["circle"]["radius"] == 0.02


@pytest.mark.full
def test_units_are_those_of_the_file():
    tip, block = bodies("tip-in-inches.step")["tip"], bodies("block-in-inches.iges")
    assert tip["surface"]["cylinder"]["radius"] == pytest.approx(0.0254, abs=1e-7)
    np.testing.assert_allclose(
        tip["surface"]["cone"]["profile"], 0.0254 * np.array([[3, 0], [3, 1], [6, 2], [6, 0]]), atol=1e-7
    )
    (found,) = block.values()
    assert found["mass"] == pytest.approx(DENSITY * 1e-4, rel=1e-5)
    places = sorted(abs(np.dot(one["point"], one["normal"])) for one in found["surface"].values())
    np.testing.assert_allclose(places, [0.01, 0.01, 0.025, 0.025, 0.05, 0.05], atol=1e-6)


@pytest.mark.full
def test_parts_dock(dock, tmp_path):
    """From the file to a scenario that is read, with what touches from its faces."""
    ended = dock("mesh", "import", FILES / "docking.step", "--density", "2.7 g/cm**3", "--out", tmp_path / "parts")
    assert ended.returncode == 0 and len(ended.stdout.splitlines()) == 5, ended
    assert (tmp_path / "parts" / "guide-ring.obj").exists()
    text = """
schema = 2
title = "A pin into its socket"
duration = "5 s"
include = ["parts/pin.toml", "parts/socket.toml"]
approach = { of = "ball", to = "cone", distance = "50 mm", closing_speed = "30 mm/s" }

[contact.pin]
between = ["ball", "cone"]
normal = { law = "spring-dashpot", stiffness = "20 kN/m" }
"""
    content = parse(text, "docking", folder=tmp_path).content
    assert content.named("socket").mass == pytest.approx(7.615, rel=1e-3)
    assert {one.name for one in content.named("pin").surface} == {"sphere", "cylinder", "plane"}
    ended = dock("mesh", "import", FILES / "docking.step", "--density", "2700", "--out", tmp_path / "parts")
    ended.check_refused("exists; give --force")


@pytest.mark.full_cases("nothing inside", "noise", "cut off")
@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda content: content[: len(content) // 2], "cannot be read as STEP"),
        (lambda content: b"", "does not begin with ISO-10303-21"),
        (lambda content: b"<html>" + content, "does not begin with ISO-10303-21"),
        (lambda content: content[:200] + bytes(range(256)) * 40, "cannot be read as STEP"),
        (lambda content: content.split(b"DATA;")[0] + b"DATA;\nENDSEC;\nEND-ISO-10303-21;\n", "STEP"),
    ],
    ids=["cut off", "empty", "a page", "noise", "nothing inside"],
)
def test_what_is_no_solid_is_refused(change, words, tmp_path):
    file = tmp_path / "part.step"
    file.write_bytes(change((FILES / "docking.step").read_bytes()))
    with pytest.raises(PydanticCustomError, match=words):
        parts_of_cad(file, TOLERANCE, DENSITY)


@pytest.mark.full
@pytest.mark.parametrize("limit", [{"SECONDS": 1}, {"MEMORY": 1_000_000_000}], ids=str)
def test_what_takes_too_much_ends(limit, monkeypatch):
    """A ring within a hundredth of a micrometre."""
    for name, value in limit.items():
        monkeypatch.setattr(solids, name, value)
    with pytest.raises(PydanticCustomError, match="state a larger one"):
        parts_of_cad(FILES / "docking.step", 1e-8, DENSITY)


@pytest.mark.full
def test_names_are_no_paths_and_no_tables(tmp_path):
    content = (FILES / "docking.step").read_bytes()
    file = tmp_path / "part.step"
    file.write_bytes(content.replace(b"'guide ring'", b"'../x]\"; [body.y'"))
    *_, last = parts_of_cad(file, 1e-3, DENSITY)
    assert last.name == "x-body-y" and set(last.files) == {"x-body-y.toml", "x-body-y.obj"}
    assert list(tomllib.loads(last.files["x-body-y.toml"])["body"]) == ["x-body-y"]
    file.write_bytes(content.replace(b"'guide ring'", b"'" + 5000 * b"x" + b"'"))
    *_, last = parts_of_cad(file, 1e-3, DENSITY)
    assert last.name == 60 * "x"


def test_what_is_missing_is_said(dock, monkeypatch, tmp_path):
    monkeypatch.setattr(solids.importlib.util, "find_spec", lambda name: None)
    ended = dock("mesh", "import", FILES / "docking.step", "--density", "2700", "--out", tmp_path / "out")
    ended.check_refused("pip install 'dockdyn[cad]'")
    shutil.copy(FILES / "docking.step", tmp_path / "docking.stl")
    ended = dock("mesh", "import", tmp_path / "docking.stl", "--density", "2700", "--out", tmp_path / "out")
    ended.check_refused("must be a CAD file")
    dock("mesh", "import", FILES / "docking.step", "--density", "2 m", "--out", tmp_path).check_refused(
        "--density", "m is a length"
    )
