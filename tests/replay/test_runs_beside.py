"""Runs laid over each other in one scene: what the others consist of, where it is beside that of the first."""

import numpy as np
import pytest
from browser import wait_until
from scipy.spatial.transform import Rotation

from dockdyn.api import scene_of
from dockdyn.pages import replay_beside
from dockdyn.report.page import render_page
from dockdyn.report.scene.beside import scene_beside
from dockdyn.studies.overlay.report import overlay_report


def test_the_other_of_two_runs_is_a_ghost_beside_the_first(shared_run):
    """Its probe is where it is beside the target in its own run at that time, whatever the target of the first does meanwhile;
    after its end it stays."""
    ours = shared_run("probe-cone")
    fast = shared_run("probe-cone", (("approach.closing_speed", "45 mm/s"), ("duration", "20 s")))
    scene = scene_beside(scene_of(ours), {"runs/fast": scene_of(fast)})
    (ghost,) = (part for part in scene.parts if part.role == "ghost")
    assert ghost.name == "runs fast/chaser probe" and scene.notes[-1] == "pale orange, runs/fast, which ends at 20 s"
    base, times = scene.bodies["target"], scene.time

    def beside(position, attitude, of_position, of_attitude):
        turned = Rotation.from_quat(np.roll(of_attitude, -1, axis=-1)).inv()
        return turned.apply(position - of_position), (
            turned * Rotation.from_quat(np.roll(attitude, -1, axis=-1))
        ).as_rotvec()

    found = beside(ghost.motion.position, ghost.motion.attitude, base.position, base.attitude)
    chaser, target = ([body for body in fast.body.values].index(name) for name in ("chaser", "target"))
    rows = np.searchsorted(fast.time.values, np.minimum(times, 20.0) - 1e-9)
    exact = np.abs(fast.time.values[rows] - np.minimum(times, 20.0)) < 1e-9  # of samples that both runs have
    assert exact.sum() > 100 and exact[-1]
    position, attitude = fast.position.values[rows], fast.attitude.values[rows]
    expected = beside(position[:, chaser], attitude[:, chaser], position[:, target], attitude[:, target])
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one[exact], other[exact], rtol=0, atol=1e-9)
    apart = scene.bodies["chaser"].position - base.position
    assert np.abs(found[0][exact] - apart[exact]).max() > 0.05  # of the first run itself it is not


def test_the_block_of_another_run_on_a_line_is_as_large_as_the_first(shared_run):
    scenes = [scene_of(shared_run(name)) for name in ("sits", "sits-fgc")]
    found = scene_beside(scenes[0], {"fgc": scenes[1]})
    (ghost,) = (part for part in found.parts if part.name.startswith("fgc/"))
    (block,) = (part for part in found.parts if part.name == "robot/block")
    assert ghost.solids is block.solids
    times, robot = scenes[1].time, scenes[1].bodies["robot"].position[:, 0]
    np.testing.assert_allclose(ghost.motion.position[:, 0], np.interp(found.time, times, robot), atol=1e-12)


def test_the_page_of_three_runs_has_them_in_one_scene(browse, shared_run, tmp_path):
    runs = {
        "slow": shared_run("probe-cone"),
        "fast": shared_run("probe-cone", (("approach.closing_speed", "45 mm/s"),)),
        "late": shared_run("probe-cone", (("loop.delay", "70 ms"),)),
    }
    file = tmp_path / "overlay.html"
    file.write_text(render_page(overlay_report(runs), **replay_beside(runs, [None] * 3)), encoding="utf-8")
    page, said = browse(file, 1440, 900)
    wait_until(page, "document.querySelector('#scene .dds-views') !== null")
    tree = page.locator("#scene").inner_text().split("\n")
    ghosts = tree.index("ghosts")
    assert [name.strip() for name in tree[ghosts + 1 : ghosts + 3]] == ["fast", "late"]
    assert "pale orange, fast; pale green, late" in page.locator("#scene").inner_text()  # as their curves are
    assert page.locator(".transport .segment").count() == 4
    assert [one for one in said if "GL Driver Message" not in one] == []


def seen_from(base, motion, place, row):
    """A place (m) of what moves so, in the axes of what it is seen from, at a row of time."""

    def turn(one):
        return Rotation.from_quat(np.roll(one.attitude[row], -1))

    there = place if motion is None else motion.position[row] + turn(motion).apply(place)
    return turn(base).inv().apply(there - base.position[row])


def shared_rows(scene, other):
    """Rows of the times that two scenes have, in each."""
    times, rows, others = np.intersect1d(np.round(scene.time, 12), np.round(other.time, 12), return_indices=True)
    assert len(times) > 20
    return list(zip(rows, others, strict=True))[:: len(times) // 20]


def test_struts_and_latches_of_another_run_are_beside_those_of_the_first(shared_run):
    """They reach from mount to mount as they do in their own run, and latches are seen once they hold."""
    first, other = (scene_of(shared_run("apas-like", more)) for more in ((), (("approach.closing_speed", "80 mm/s"),)))
    found = scene_beside(first, {"fast": other})
    ghosts = [one for one in found.ties if one.ghost]
    assert [one.name for one in ghosts] == [f"fast/{one.name.replace('/', ' ')}" for one in other.ties]
    assert {one.kind for one in ghosts} >= {"strut", "latch"}
    base, of_other = found.bodies[found.seen_from], other.bodies[found.seen_from]
    apart = 0.0
    for ghost, own, like in zip(ghosts, other.ties, first.ties, strict=True):
        for row, place in shared_rows(first, other):
            for end in ("first", "second"):
                one, two, three = (getattr(tie, end) for tie in (ghost, own, like))
                here = seen_from(base, one.motion, one.place, row)
                np.testing.assert_allclose(here, seen_from(of_other, two.motion, two.place, place), atol=1e-9)
                apart = max(apart, np.abs(here - seen_from(base, three.motion, three.place, row)).max())
            assert ghost.shown is None or ghost.shown[row] == own.shown[place]
    assert apart > 1e-3  # of the first run itself they are not


@pytest.mark.full
def test_beams_of_another_run_bend_beside_those_of_the_first(shared_run):
    first, other = (scene_of(shared_run("flexible-arm-touch", more)) for more in ((), (("duration", "3 s"),)))
    found = scene_beside(first, {"brief": other})
    base, of_other = found.bodies[found.seen_from], other.bodies[found.seen_from]
    ghosts = [one for one in found.beams if one.ghost]
    assert [one.name for one in ghosts] == [f"brief/{one.name.replace('/', ' ')}" for one in other.beams] and ghosts
    for ghost, own in zip(ghosts, other.beams, strict=True):
        for row, place in shared_rows(first, other):
            np.testing.assert_allclose(ghost.eta[row], own.eta[place], atol=1e-12)
            for section in own.place[:: len(own.place) - 1]:
                here, there = seen_from(base, ghost.rest, section, row), seen_from(of_other, own.rest, section, place)
                np.testing.assert_allclose(here, there, atol=1e-9)
    assert np.ptp(ghosts[-1].eta) > 0
