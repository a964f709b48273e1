"""The JSON schema of scenarios: everything that runs fits it, mistakes do not, and written files name it."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

import pytest
from jsonschema import Draft7Validator

import dockdyn
from dockdyn.scenario.json_schema import scenario_schema
from dockdyn.scenario.preset_files import preset_text

DOCS = Path(__file__).parents[2] / "docs"
RIG = tomllib.loads(preset_text("sits"))


def merged(tables: dict, changed: dict) -> dict:
    """Tables with others merged into them; a law in the place of one."""
    found = dict(tables)
    for key, value in changed.items():
        deeper = isinstance(value, dict) and isinstance(found.get(key), dict) and "law" not in value
        found[key] = merged(found[key], value) if deeper else value
    return found


@pytest.fixture(scope="module")
def schema() -> Draft7Validator:
    found = scenario_schema()
    Draft7Validator.check_schema(found)
    return Draft7Validator(found)


def problems(schema: Draft7Validator, text: str) -> list[str]:
    """Keys of a file that do not fit."""
    return sorted({".".join(map(str, error.absolute_path)) for error in schema.iter_errors(tomllib.loads(text))})


@pytest.mark.full_cases("adapter-gripper", "mesh-on-mesh", "apas-like", "atv-like")
@pytest.mark.parametrize("name", dockdyn.presets())
def test_every_preset_fits_as_written_and_as_resolved(name, schema):
    assert problems(schema, preset_text(name)) == []
    assert problems(schema, dockdyn.load(name).text()) == []


@pytest.mark.parametrize("page", sorted(DOCS.glob("*.md")), ids=lambda page: page.stem)
def test_what_the_pages_show_fits(page, schema):
    """Whole scenarios and parts of one: own parts, distributions, included files, links from a URDF file."""
    for text in re.findall(r"^```toml\n(.*?)^```$", page.read_text(encoding="utf-8"), re.M | re.S):
        assert problems(schema, text) == []


@pytest.mark.parametrize(
    ("changed", "places"),
    [
        ("mas = 3", {""}),
        ('body.target.mass = "heavy"', {"body.target.mass"}),
        ("body.target.mass = 0", {"body.target.mass"}),
        ("body.target.mass = true", {"body.target.mass"}),
        ('kind = "rig"', {""}),
        ("speed = 3", {""}),  # of another kind
        ("loop.robot = { bandwith = 8 }", {"loop.robot"}),
        ('loop.robot = { bandwidth = "8 Hz", order = 2.5 }', {"loop.robot.order"}),
        ('contact.spring.normal = { law = "hertzz" }', {"contact.spring.normal"}),
        ('contact.spring.normal = { law = "hertz", stiffnes = 3 }', {"contact.spring.normal"}),
        ('body.target.mass = { distribution = "normall", mean = 3, std = 1 }', {"body.target.mass"}),
        ("body.target.mass = { mean = 3, std = 1 }", {"body.target.mass"}),
        ("include = 3", {"include"}),
        ("campaign = { run = 10 }", {"campaign"}),
        ("requirements = { peak_force = 500 }", {"requirements.peak_force"}),
        ('dispersion.load = { keys = "body.target.mass", distribution = "uniform" }', {"dispersion.load.keys"}),
    ],
)
def test_what_is_wrong_is_marked_where_it_stands(changed, places, schema):
    found = {
        ".".join(map(str, error.absolute_path)) for error in schema.iter_errors(merged(RIG, tomllib.loads(changed)))
    }
    assert found == places


@pytest.mark.parametrize(
    "changed",
    [
        'body.target.mass = "0.5 t"',
        'body.target.mass = { distribution = "normal", mean = "500 kg", std = 5 }',
        'body.target.mass = { distribution = "my_module:Mine", wide = 3 }',
        'contact.spring.normal = { law = "my_module:Mine", any_key = 3 }',
        'include = ["a.toml", "b.toml"]',
        'campaign = { runs = 10, sampling = "sobol" }',
        'requirements = { peak_force = "< 500 N", captured = true }',
        'dispersion.load = { keys = ["mass"], distribution = "uniform", low = 400, high = "600 kg" }',
        'loop.robot = { bandwidth = "8 Hz", damping = 0.7 }',
    ],
)
def test_what_is_allowed_is_not_marked(changed, schema):
    assert not list(schema.iter_errors(merged(RIG, tomllib.loads(changed))))


def test_a_part_fits_without_a_kind(schema):
    assert problems(schema, '[loop.robot]\nbandwidth = "8 Hz"\n') == []
    assert problems(schema, '[loop.robot]\nbandwith = "8 Hz"\n') != []


def test_a_number_tells_its_unit_and_bounds(schema):
    bandwidth = schema.schema["definitions"]["RobotSection"]["properties"]["bandwidth"]
    assert bandwidth["description"] == "a frequency, Hz, greater than 0 Hz" and bandwidth["exclusiveMinimum"] == 0


@pytest.mark.full
def test_the_command_prints_it_and_written_files_name_it(dock, tmp_path):
    printed = dock("schema")
    assert printed.returncode == 0 and json.loads(printed.stdout) == scenario_schema()
    assert dock("init", "--from", "paraskevas-latch", "a/mine.toml").stdout.startswith(
        "Wrote a/mine.toml and a/dockdyn.schema.json, by which"
    )
    first, rest = (tmp_path / "a" / "mine.toml").read_text().split("\n", 1)
    assert first == "#:schema ./dockdyn.schema.json" and rest == preset_text("paraskevas-latch")
    assert json.loads((tmp_path / "a" / "dockdyn.schema.json").read_text()) == json.loads(printed.stdout)
    assert dock("run", "a/mine.toml", "--out", "a/b/c").returncode == 0
    assert (tmp_path / "a" / "b" / "c" / "scenario.toml").read_text().startswith("#:schema ../../dockdyn.schema.json\n")
    assert dock("run", "a/mine.toml", "--out", "elsewhere").returncode == 0
    assert (tmp_path / "elsewhere" / "scenario.toml").read_text().startswith("schema = 2")


def test_init_takes_the_preset_in_two_ways_and_names_it_once(dock, tmp_path):
    assert dock("init", "--from", "sits").returncode == 0 and dock("init", "sits", "other.toml").returncode == 0
    assert (tmp_path / "sits.toml").read_text() == (tmp_path / "other.toml").read_text()
    for words, message in (
        (("--from", "sits", "probe-cone", "x.toml"), "--from sits: the preset is named twice, also as probe-cone"),
        ((), "a preset is missing; give --from PRESET, or see dockdyn new"),
        (("sits",), "sits.toml: exists; give --force"),
        (("--from", "sit", "x.toml"), "sit: no such preset; did you mean 'sits'?"),
    ):
        ended = dock("init", *words)
        assert (ended.returncode, ended.stdout) == (2, "") and ended.stderr.startswith(f"error: {message}")
