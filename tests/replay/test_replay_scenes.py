"""What a scene shows beside the run: where cameras stand, names, decoration, latches, ghosts."""

import numpy as np
import pytest
from matplotlib.colors import rgb_to_hsv, to_rgb
from places import DOCS
from replay_cases import CASES

from dockdyn.api import scene_of
from dockdyn.report.replay import frames
from dockdyn.report.replay.cameras import FIELD
from dockdyn.report.replay.overlay import overlay_facts
from dockdyn.report.replay.scene import Scene, ScenePart, rotate_vectors


@pytest.fixture(scope="session")
def scene_of_kind(shared_run):
    kept = {}

    def found(kind: str) -> Scene:
        if kind not in kept:
            kept[kind] = scene_of(shared_run(*CASES[kind][:2]))
        return kept[kind]

    return found


WITH_BODIES = pytest.mark.parametrize("kind", ["probe"])


def vertices(part: ScenePart, row: int = 0) -> np.ndarray:
    return part.motion.position[row] + rotate_vectors(part.motion.attitude[row], part.mesh.vertices)


def body(scene: Scene, name: str) -> ScenePart:
    return next(part for part in scene.parts if part.name == f"{name}/body")


@WITH_BODIES
def test_the_overview_holds_all_bodies(scene_of_kind, kind):
    """All their vertices at the first frame lie within a square picture, and some of them near its edge."""
    scene = scene_of_kind(kind)
    views = [view for view in scene.views if view.name in ("overview", "side")]
    assert len(views) == 2
    for view in views:
        ahead = (view.target - view.position) / np.linalg.norm(view.target - view.position)
        level = np.cross(ahead, [0.0, 0.0, 1.0]) / np.hypot(*ahead[:2])
        seen = np.concatenate([vertices(part) for part in scene.parts if not part.layer]) - view.position
        across = np.abs(np.stack([seen @ level, seen @ np.cross(level, ahead)])) / (seen @ ahead)
        assert 0.8 < across.max() / np.tan(np.radians(FIELD / 2)) < 1


def test_a_replay_of_an_assembly_begins_with_its_contact(scene_of_kind):
    """The gear fills that picture; in the overview it would be too small to see."""
    scene = scene_of_kind("assembly")
    contact, overview = scene.views[:2]
    assert (contact.name, overview.name) == ("contact", "overview")
    assert np.linalg.norm(contact.position - contact.target) < 0.8 * np.linalg.norm(overview.position - overview.target)


@pytest.mark.parametrize(
    "kind", [pytest.param(kind, marks=pytest.mark.full if kind == "mock-ups" else ()) for kind in CASES]
)
def test_the_page_names_the_cameras_of_each_kind(scene_of_kind, kind):
    line = dict.fromkeys(("line", "line, latch"), "`assembly` on a line")
    first = (
        line
        | dict.fromkeys(("assembly", "probe"), "`assembly` in space")
        | {"rig": "`rig`, one direction", "mock-ups": "`rig`, with bodies"}
    ).get(kind, f"`{kind}`")
    table = (DOCS / "view.md").read_text().split("Buttons choose a camera:")[1].split("\n\n")[1]
    (row,) = [line for line in table.splitlines() if first in line.split("|")[1]]
    scene = scene_of_kind(kind)
    names = [view.name for view in scene.views]
    if kind in ("assembly", "probe", *line):
        assert names.pop() == ("with spacecraft" if kind == "assembly" else "with chaser")
        names.append("with its first body")
    if kind == "mock-ups":
        assert names.pop() == "with chaser"
        names.append("with the body that is carried")
    found = [row.find(name) for name in names]
    assert -1 not in found and found == sorted(found), names
    follows = {view.name: view.follow is not None for view in scene.views}
    assert all(follows[name] for name in follows if name.startswith("with "))
    assert follows.get("contact", True) == (kind in line)


@WITH_BODIES
def test_the_camera_along_the_axis_is_outside_the_chaser_and_sees_what_touches(scene_of_kind, kind):
    """No point of the way from the camera to the tip is in the box of the chaser."""
    from scipy.spatial import ConvexHull

    scene = scene_of_kind(kind)
    view = next(one for one in scene.views if one.name == "along the axis")
    assert view.follow is body(scene, "chaser").motion and view.turns
    sides = ConvexHull(vertices(body(scene, "chaser"))).equations
    way = view.position + np.linspace(0, 1, 200)[:, None] * (view.target - view.position)
    assert np.all((way @ sides[:, :3].T + sides[:, 3]).max(axis=1) > 0)
    axis = view.target - body(scene, "chaser").motion.position[0]
    ahead = view.target - view.position
    assert axis @ ahead > np.cos(np.radians(25)) * np.linalg.norm(axis) * np.linalg.norm(ahead)


def test_the_teeth_of_a_latch_are_pushed_aside_by_the_ramp_and_fall_in(shared_run):
    """A ramp of 45° and 20 mm: as far aside as the tip has travelled, 20 mm at most; the capture frees them."""
    dataset = shared_run("probe-cone-latch", {})
    scene = scene_of(dataset)
    target = body(scene, "target").motion
    travel = frames.interpolate_samples(scene.time, dataset.time.values, dataset.latch_travel.values)
    captured = float(dataset.capture_time)
    teeth = [part for part in scene.parts if part.name.startswith("capture/tooth")]
    assert len(teeth) == 3
    for tooth in teeth:
        aside = np.linalg.norm(tooth.motion.position - target.position, axis=1)
        before = scene.time < captured
        np.testing.assert_allclose(aside[before], np.clip(travel[before], 0, 0.02), atol=1e-9)
        assert aside[before].max() > 0.019
        np.testing.assert_allclose(aside[~before], 0, atol=1e-12)


def test_the_ghost_moves_as_there_would_be_without_rig(scene_of_kind, shared_run):
    dataset, scene = shared_run(*CASES["rig"][:2]), scene_of_kind("rig")
    (ghost,) = (part for part in scene.parts if part.layer == "without rig")
    ideal = frames.interpolate_samples(scene.time, dataset.time.values, dataset.ideal_position.values[:, 0])
    np.testing.assert_allclose(ghost.motion.position[:, 0], ideal, atol=1e-12)
    assert ghost.opacity < 0.5


@pytest.mark.full
def test_the_ghost_of_a_mock_up_moves_as_there_would_be_without_rig(scene_of_kind, shared_run):
    dataset, scene = shared_run(*CASES["mock-ups"][:2]), scene_of_kind("mock-ups")
    ghost = next(part for part in scene.parts if part.name == "without rig/body")
    ideal = frames.interpolate_samples(scene.time, dataset.time.values, dataset.ideal_pose.values)
    np.testing.assert_allclose(ghost.motion.position, ideal[:, :3], atol=1e-12)
    assert ghost.layer == "without rig" and ghost.opacity < 0.5
    assert not any("panels" in part.name for part in scene.parts)  # those of a spacecraft, which a mock-up has not


NAMES = {
    "probe": ["chaser", "target"],
    "line": ["chaser", "chaser-front", "target-front", "target"],
    "rig": ["model (computed)", "robot", "without rig", "wall"],
    "assembly": ["spacecraft", "probe", "station"],
}
APART = 0.05  # of the circle of hues


@pytest.mark.parametrize("kind", NAMES)
def test_bodies_are_in_the_legend_and_no_arrow_has_the_hue_of_one(scene_of_kind, kind):
    scene = scene_of_kind(kind)
    bodies = overlay_facts(scene)["bodies"]
    assert [one["name"] for one in bodies] == NAMES[kind]
    colours = [rgb_to_hsv(to_rgb(one["colour"])) for one in bodies]
    assert scene.arrows
    for arrow in scene.arrows:
        hue, saturation, _ = rgb_to_hsv(to_rgb(arrow.colour))
        away = [abs(hue - one[0]) for one in colours if one[1] > saturation / 2]
        assert all(min(off, 1 - off) > APART for off in away)
