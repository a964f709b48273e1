"""Results of meshes: rows that nothing has written take no time, and pages say soon that they cannot carry a field."""

import time

import numpy as np
import pytest
import trimesh

import dockdyn
from dockdyn.results import browser_unit as units
from dockdyn.results import unit
from dockdyn.results.browser_unit import TooMuch, browser_unit
from dockdyn.results.methods import settings_of

BODY = """
[body.{name}]
mass = "10 kg"
inertia = [0.1, 0.1, 0.1]
position = [0, 0, {height}]
[body.{name}.feature.skin]
shape = "cloud"
file = "{file}"
count = 40000
radius = "2 mm"
[body.{name}.surface.hull]
shape = "mesh"
file = "{file}"
tip_radius = "2 mm"
tolerance = "0.1 mm"
"""
HEAD = """
schema = 2
duration = "1 s"
output.interval = "2 ms"
[contact]
a-on-b = { between = ["a.skin", "b.hull"], normal = { law = "hertz", exponent = 1, stiffness = "1000 N/m" } }
b-on-a = { between = ["b.skin", "a.hull"], normal = { law = "hertz", exponent = 1, stiffness = "1000 N/m" } }
"""


@pytest.fixture(scope="module")
def pair(tmp_path_factory):
    """Two equal blocks in two places, which would lie in each other, skin on skin, if both were in one."""
    folder = tmp_path_factory.mktemp("pair")
    trimesh.creation.box(extents=(0.2, 0.3, 0.1)).export(folder / "block.stl")
    bodies = (BODY.format(name=name, height=height, file="block.stl") for name, height in (("a", 0.5), ("b", 0.0)))
    (folder / "pair.toml").write_text("".join([HEAD, *bodies]))
    return dockdyn.load(folder / "pair.toml")


def shortest_time(work):
    """The least of three CPU times (s), after one for compiling."""
    found = []
    for _ in range(4):
        began = time.process_time()
        work()
        found.append(time.process_time() - began)
    return min(found[1:])


def test_rows_that_nothing_has_written_are_not_looked_at(pair):
    """Both bodies are at one place in them, so that more points would touch than are kept expanded."""
    content, settings = pair.content, settings_of(pair.content)
    begun = unit.begin(content, settings)
    ended = unit.advance(content, settings, np.int64(2**62), unit.begin(content, settings))
    assert int(unit.observe(content, settings, begun).solution.sampled) == 1
    assert int(unit.observe(content, settings, ended).solution.sampled) == 501
    of_begun, of_ended = (shortest_time(lambda one=one: unit.observe(content, settings, one)) for one in (begun, ended))
    assert of_begun < 3 * of_ended


def test_a_field_that_no_page_can_carry_is_refused_before_programs_are_made(pair, monkeypatch):
    monkeypatch.setattr(units.unit, "begin", lambda *_: pytest.fail("it was begun"))
    with pytest.raises(TooMuch, match=r"its programs and numbers are more than 0\.7 MB"):
        browser_unit(pair)
