"""Replays of what is not as usual: runs that diverged, names that look like paths, laws of the user's own."""

import sys

import numpy as np
import pytest
import tomlkit
from helpers.refusals import refused

import dockdyn
from dockdyn.api import scene_of
from dockdyn.report.scene.page import page_of
from dockdyn.report.scene.rotation import interpolate
from dockdyn.report.scene.scale import arrow_scale
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
    assert "dockdynScene" in dockdyn.replay_html(dockdyn.open_result(file))
    del sys.modules[module]
    ended = dock("view", file, "--html", "replay.html")
    assert (ended.returncode, ended.stderr) == (0, "")


def test_names_of_the_user_neither_replace_nor_nest_what_is_drawn(short):
    """A surface may be called what a body's part is, or as what stands beside it."""
    resolved = tomlkit.parse(short.attrs["scenario"])
    target = resolved["body"]["target"]
    (one,) = target["surface"].values()
    target["surface"] = {name: {**one} for name in ("body", "frame", "target", "x")}
    resolved["contact"]["probe"]["between"][1] = "target.body"
    renamed = short.copy()
    renamed.attrs["scenario"] = tomlkit.dumps(resolved)
    scene = scene_of(renamed)
    names = [part.name for part in scene.parts]
    assert len(set(names)) == len(names) and {"target/body", "target/frame", "target/target", "target/x"} <= set(names)
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


def test_a_peak_does_not_hide_what_is_held_for_long():
    """70 N in one of 400 samples, 0.1 N in the others: drawn up to 1 N (ten times the median), 2 m long at most."""
    size = np.array([70.0, *[0.1] * 399])
    scale = arrow_scale([size[:, None] * np.array([0.0, 0.6, 0.8])], 2.0)
    assert (scale.cut, scale.metres) == pytest.approx((1.0, 2.0))


def test_pulses_are_drawn_to_scale():
    """Forces in half of the samples or less are never cut."""
    size = np.array([0, 0, 0, 0, 10.0, 0.3, 0.5, 0])
    scale = arrow_scale([size[:, None] * np.array([0.0, 0.6, 0.8])], 2.0)
    assert (scale.cut, scale.metres) == pytest.approx((10.0, 0.2))


def test_samples_between_samples():
    time = np.array([0.0, 1.0, 3.0])
    np.testing.assert_allclose(interpolate(np.array([-1, 0.5, 2.0, 9.0]), time, np.array([0.0, 2, 6])), [0, 1, 4, 6])
    np.testing.assert_allclose(interpolate(np.array([0.0, 2.0]), time[:1], np.array([[7.0, 8]])), [[7, 8], [7, 8]])
