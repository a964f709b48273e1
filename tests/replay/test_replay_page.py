"""The page of a replay as one holds it: on a phone, light and dark, its read-outs, and what it saves."""

import io
import re
import zipfile
from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import pytest
from browser import WINDOW, Page, hue, picture
from PIL import Image
from replay_cases import CASES

from dockdyn.api import scene_of
from dockdyn.report.replay.overlay import overlay_facts
from dockdyn.report.replay.page import page_of
from dockdyn.report.replay.scale import arrow_scale
from dockdyn.report.replay.scene import Arrow, Scene, ScenePart, SceneView, Signal, still_motion
from dockdyn.report.replay.shapes import ball_mesh

CLEAR = """document.querySelector("#root canvas[data-engine]").getBoundingClientRect().bottom
  <= document.querySelector("#dd-side").getBoundingClientRect().top + 1"""
PHONE = {"width": 390, "height": 844}


@pytest.fixture(scope="session")
def flight(shared_run):
    return scene_of(shared_run(*CASES["probe"][:2]))


@contextmanager
def opened(browser, scene: Scene, folder, **options):
    """The scene's page in the browser."""
    file = folder / "replay.html"
    file.write_text(page_of(scene), encoding="utf-8")
    context = browser.new_context(offline=True, **{"viewport": WINDOW} | options)
    shown = Page(context, f"file://{file}")
    yield shown
    assert not shown.problems
    context.close()


def three_frames() -> Scene:
    """A ball that grows nearer, with a signal of rounding errors beside one that is not."""
    time = np.array([0.0, 0.5, 1.0])
    motion = still_motion(3)
    motion.position[:, 0] = time
    series = {"large": np.array([0.0, 20.0, 40.0]), "small": np.array([0.0, 1e-13, -1e-13])}
    signals = [Signal("force", "N", time, series), Signal("distance", "mm", time, {"gap": 1e-13 * time})]
    view = SceneView("overview", np.array([0, -9.0, 0]), np.zeros(3))
    return Scene(
        "Three frames",
        time,
        [ScenePart("ball", ball_mesh(1.0), "#d55e00", motion, body="ball")],
        [view],
        signals=signals,
    )


@pytest.mark.full
def test_a_phone_shows_both_bodies_whole_and_folds_the_panels(browser, flight, tmp_path):
    with opened(browser, flight, tmp_path, viewport=PHONE) as shown:
        for words in ("legend", "plots"):
            key = shown.page.get_by_role("button", name=f"{words} on or off")
            assert key.get_attribute("aria-pressed") == "false"
        assert not shown.page.locator("#dd-plots").is_visible() and not shown.page.locator("#dd-more").is_visible()
        image = shown.at(0.0, view=0)
        bodies = [part for part in flight.parts if part.name.endswith("/body")]
        for body in bodies:
            _, columns = np.nonzero(hue(image, body.colour))
            assert len(columns) > 300  # it is there …
            assert 0 < columns.min() and columns.max() < PHONE["width"] - 1  # … and not cut off at the sides
        shown.page.get_by_role("button", name="plots on or off").click()
        assert shown.page.locator("#dd-plots").is_visible()
        shown.page.wait_for_function(CLEAR)  # nothing lies over the scene
        assert shown.page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.full_cases("dark")
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_is_light_or_dark_as_the_reader_has_it(browser, tmp_path, scheme):
    with opened(browser, three_frames(), tmp_path, color_scheme=scheme) as shown:
        image = picture(shown.page.screenshot())
        ground = image[WINDOW["height"] // 2, 3]
        assert (ground.mean() > 200) == (scheme == "light")
        for box in map(shown.page.locator, ("#dd-top", "#dd-bar", "#dd-plots")):
            place = {key: round(value) for key, value in box.bounding_box().items()}
            card = image[place["y"] : place["y"] + place["height"], place["x"] : place["x"] + place["width"]]
            assert abs(np.median(card) - ground.mean()) < 60 and np.ptp(card) > 120  # words stand out from the card


def test_every_read_out_has_its_unit_and_rounding_errors_are_zero(browser, tmp_path):
    with opened(browser, three_frames(), tmp_path) as shown:
        shown.page.evaluate("__DOCKDYN__.seek(0.5)")
        text = shown.page.locator("#dd-plots").inner_text().replace("\n", " ")
        assert "— large 20.00 N" in text and "— small 0 N" in text and "0 to 40.00 N" in text
        assert re.search(r"distance\s+0 mm", text)
        assert "e−" not in text and "10⁻" not in text
        assert shown.page.locator("#dd-clock").inner_text().endswith(" s")


@pytest.mark.full
def test_what_starts_at_the_origin_is_there_again_when_one_goes_back(browser, tmp_path):
    scene = three_frames()
    force = np.array([[0.0, 0.0, 2.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
    push = Arrow("push", np.zeros((3, 3)), force, "#0072b2", "N", arrow_scale([force], 2.0), 0.1)
    with opened(browser, replace(scene, arrows=[push]), tmp_path) as shown:

        def seen(time: float) -> tuple[float, int]:
            shown.page.evaluate(f"__DOCKDYN__.seek({time})")
            shown.page.wait_for_timeout(1500)
            image = shown.at(time)
            return float(np.nonzero(hue(image, "#d55e00"))[1].mean()), int(hue(image, "#0072b2").sum())

        places = [seen(time) for time in (1.0, 0.0, 0.5, 0.0)]
        assert places[0][0] > places[2][0] + 10 > places[1][0] + 20
        assert places[1] == places[3]
        assert places[1][1] > 100 and places[0][1] == places[2][1] == 0  # the arrow


def test_a_length_is_zero_beside_what_is_seen():
    """1e-13 mm in a scene of 9 m is less than a billionth of it; a signal alone in its unit is what it is."""
    told = overlay_facts(three_frames())["signals"]
    assert told[0]["least"] == pytest.approx(4e-8) and told[1]["least"] == pytest.approx(9e-6)


@pytest.mark.full
def test_what_the_page_saves(browser, tmp_path):
    with opened(browser, three_frames(), tmp_path, accept_downloads=True) as shown:
        shown.at(0.0)

        def saved(words: str) -> tuple[str, bytes]:
            with shown.page.expect_download() as coming:
                shown.page.get_by_text(words, exact=True).click()
            return coming.value.suggested_filename, coming.value.path().read_bytes()

        name, content = saved("picture")
        assert name == "Three-frames-0-000.png"
        shot = Image.open(io.BytesIO(content)).convert("RGB")
        canvas = shown.page.locator("#root canvas[data-engine]").bounding_box()
        assert shot.size == (canvas["width"], canvas["height"])
        assert hue(np.asarray(shot).astype(int), "#d55e00").sum() > 300  # the ball
        name, content = saved("frames")
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            assert archive.testzip() is None
            assert archive.namelist() == ["0000-0.000s.png", "0001-0.500s.png", "0002-1.000s.png"]
            shots = [np.asarray(Image.open(archive.open(one)).convert("RGB")).astype(int) for one in archive.namelist()]
        middles = [np.nonzero(hue(one, "#d55e00"))[1].mean() for one in shots]
        assert np.all(np.diff(middles) > 10)  # it moves from frame to frame
        shown.page.evaluate("__DOCKDYN__.seek(0)")
        shown.page.get_by_label("speed", exact=True).select_option(label="× 1")
        name, content = saved("film")
        assert name == "Three-frames.webm" and content[:4] == b"\x1a\x45\xdf\xa3" and len(content) > 1000  # EBML


@pytest.mark.full
def test_what_can_be_hidden_is_hidden(browser, flight, tmp_path):
    panels = next(part for part in flight.parts if part.name == "chaser/panels")
    assert "decoration" in panels.layer and panels.opacity < 0.9
    with opened(browser, flight, tmp_path) as shown:

        def blue() -> int:
            shown.page.wait_for_timeout(3000)
            return int(hue(shown.at(0.0), panels.colour).sum())

        shown.at(0.0, view=1)
        before = blue()
        shown.page.get_by_role("button", name=f"{panels.layer}, shown or not").click()
        assert before > 3 * blue() + 100
