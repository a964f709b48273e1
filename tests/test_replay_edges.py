"""Replays of what is not as usual: runs that diverged, names that look like paths, laws of the user's own."""

from __future__ import annotations

import sys

import numpy as np
import pytest
import tomlkit

import dockdyn
from dockdyn.output.replay.build import scene_of
from dockdyn.output.replay.page import page_of
from dockdyn.output.replay.player import draw_arrow, draw_frames, draw_line, draw_parts
from dockdyn.output.store import write_result


@pytest.fixture(scope="session")
def short():
    """A short free flight that ends in contact."""
    return dockdyn.simulate(dockdyn.load("sazawal-compliance", {"duration": "7 s"}))


@pytest.mark.parametrize("value", [np.nan, np.inf, 1e30])
@pytest.mark.parametrize("name", ["position", "contact_force", "kinetic_energy"])
def test_a_run_that_diverged_is_shown_until_then(short, name, value):
    broken = short.copy(deep=True)
    first = int(np.searchsorted(broken.time.values, 5.6))  # in the first contact
    broken[name].values[first:] = value
    broken["episode_peak_force"].values[:] = value
    broken["episode_release"].values[:] = np.nan
    scene = scene_of(broken)
    last = float(broken.time[first - 1])
    assert scene.time[-1] == last
    assert f"shown until {last:.6g} s" in scene.notes[-1]
    assert all(event.start <= last and event.end <= last for event in scene.events)
    assert len(page_of(scene)) > 100_000


def test_a_run_without_any_sample_to_draw_is_refused_in_one_line(short):
    broken = short.copy(deep=True)
    broken["attitude"].values[:] = np.inf
    with pytest.raises(dockdyn.ScenarioError, match="cannot be replayed") as refusal:
        scene_of(broken)
    assert "\n" not in str(refusal.value)


LAW = """
import dockdyn

class Plain(dockdyn.NormalLaw):
    stiffness: float

    def force(self, depth, rate):
        return self.stiffness * depth
"""


def written(dataset, path, **changes):
    """The run as a file, its only contact changed so."""
    resolved = tomlkit.parse(dataset.attrs["scenario"])
    resolved["contact"][0].update(changes)
    dataset = dataset.copy()
    dataset.attrs["scenario"] = tomlkit.dumps(resolved)
    path.parent.mkdir(exist_ok=True)
    write_result(dataset, path)
    return path


@pytest.mark.parametrize("place", ["own", "own/out", "."])
def test_laws_of_ones_own_are_found_around_the_result_and_where_one_works(short, dock, tmp_path, place):
    module = f"law_to_replay_{len(place)}"  # modules are imported once
    file = written(short, tmp_path / "own/result.nc", normal={"law": f"{module}:Plain", "stiffness": 5.0})
    if place == "own/out":
        (tmp_path / "own/out").mkdir()
        file = file.rename(tmp_path / "own/out/result.nc")
        place = "own"
    (tmp_path / place / f"{module}.py").write_text(LAW)
    assert "__DOCKDYN__" in dockdyn.replay_html(dockdyn.open_result(file))
    del sys.modules[module]
    ended = dock("view", file, "--html", "replay.html")
    assert (ended.returncode, ended.stderr) == (0, "")


class Stage:
    """Takes down the paths of all that is drawn on it."""

    def __init__(self):
        self.paths = []

    def __getattr__(self, _):
        def add(path, *_, **__):
            self.paths.append(path)

        return add


def test_names_of_the_user_neither_replace_nor_nest_what_is_drawn(short):
    """A surface may be called what a body's part is, or have a name that reads as a path below another's."""
    resolved = tomlkit.parse(short.attrs["scenario"])
    one = resolved["target"]["surface"][0]
    names = ("body", "body/lip", "../../x")
    resolved["target"]["surface"] = [{**one, "name": name} for name in names]
    resolved["contact"][0]["surface"] = "body"
    renamed = short.copy()
    renamed.attrs["scenario"] = tomlkit.dumps(resolved)
    scene, stage = scene_of(renamed), Stage()
    drawn = draw_parts(stage, scene)
    assert len(drawn) == len(scene.parts) == len(set(stage.paths))
    draw_frames(stage, scene)
    for number, line in enumerate(scene.lines):
        draw_line(stage, number, line)
    for number, arrow in enumerate(scene.arrows):
        draw_arrow(stage, number, arrow)
    assert len(set(stage.paths)) == len(stage.paths)
    for path in stage.paths:
        assert ".." not in path
        assert not any(other.startswith(f"{path}/") for other in stage.paths)
    assert page_of(scene)
