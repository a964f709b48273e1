"""Replays of what is not as usual: runs that diverged, names that look like paths, laws of the user's own."""

import sys

import numpy as np
import pytest
import tomlkit
from helpers.refusals import refused

import dockdyn
from dockdyn.api import scene_of
from dockdyn.report.replay import frames
from dockdyn.report.replay.overlay import arrow_facts
from dockdyn.report.replay.page import page_of
from dockdyn.report.replay.player import arrow_shafts, draw_arrow, draw_frames, draw_line, draw_parts
from dockdyn.report.replay.scale import arrow_scale
from dockdyn.report.replay.scene import Arrow
from dockdyn.results.store import write_result


@pytest.fixture(scope="session")
def short(shared_run):
    """A short free flight that ends in contact."""
    return shared_run("sazawal-compliance", {"duration": "7 s"})


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
    with refused(match="cannot be replayed"):
        scene_of(broken)


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
    resolved["contact"]["probe"].update(changes)
    dataset = dataset.copy()
    dataset.attrs["scenario"] = tomlkit.dumps(resolved)
    path.parent.mkdir(exist_ok=True)
    write_result(dataset, path)
    return path


@pytest.mark.full_cases(".", "own/out")
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
    """A surface may be called what a body's part is, or as what stands beside it."""
    resolved = tomlkit.parse(short.attrs["scenario"])
    target = resolved["body"]["target"]
    (one,) = target["surface"].values()
    target["surface"] = {name: {**one} for name in ("body", "frame", "target", "x")}
    resolved["contact"]["probe"]["between"][1] = "target.body"
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


def test_an_output_that_cannot_be_is_refused_in_one_line(short, dock, tmp_path):
    file = written(short, tmp_path / "own/result.nc")
    before = file.read_bytes()
    (tmp_path / "text").write_text("a file, not a folder")
    (tmp_path / "link.html").symlink_to(file)
    (tmp_path / "folder.html").mkdir()
    for page, words in {
        "link.html": "is what is read",
        "folder.html": "is a folder",
        "text/replay.html": "text",
    }.items():
        ended = dock("view", file, "--html", page, "--force")
        ended.check_refused(words)
    assert file.read_bytes() == before
    ended = dock("view", "own", "--html", "replay.html")
    assert (ended.returncode, ended.stderr) == (0, "")


def arrow(*sizes):
    vector = np.array(sizes, float)[:, None] * [0.0, 0.6, 0.8]
    return Arrow("force", np.zeros_like(vector), vector, "#888888", "N", arrow_scale([vector], 2.0), 0.1)


def test_a_peak_does_not_hide_what_is_held_for_long():
    """70 N in one of 400 frames, 0.1 N in the others: drawn up to 1 N (ten times the median), 2 m long at most."""
    one = arrow(70.0, *[0.1] * 399)
    told = arrow_facts(one)
    ends, seen = arrow_shafts(one)
    length = np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1)
    np.testing.assert_allclose(length, [2.0, *[0.2] * 399], rtol=1e-6)
    assert seen.all() and told["seen"] == [1] * 400
    assert (told["cut"], told["scale"], told["longest"], told["at"][0]) == pytest.approx((1.0, 2.0, 2.0, 70.0))


def test_pulses_are_drawn_to_scale_and_the_legend_is_lit_when_they_are():
    """Forces in half of the frames or less are never cut; 0.3 N beside 10 N is below 4 %."""
    told = arrow_facts(arrow(0, 0, 0, 0, 10.0, 0.3, 0.5, 0))
    assert (told["cut"], told["scale"]) == (None, 0.2)
    assert told["seen"] == [0, 0, 0, 0, 1, 0, 1, 0]


def test_no_force_is_no_arrow():
    assert arrow_facts(arrow(0, 0, 0))["seen"] == [0, 0, 0]


def test_samples_between_samples():
    time = np.array([0.0, 1.0, 3.0])
    np.testing.assert_allclose(
        frames.interpolate_samples(np.array([-1, 0.5, 2.0, 9.0]), time, np.array([0.0, 2, 6])), [0, 1, 4, 6]
    )
    np.testing.assert_allclose(
        frames.interpolate_samples(np.array([0.0, 2.0]), time[:1], np.array([[7.0, 8]])), [[7, 8], [7, 8]]
    )
