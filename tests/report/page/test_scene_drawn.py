"""A scene is drawn: what a reader sees in its place has the colours of its parts, and is not black, empty or of one colour."""

import re
from time import monotonic, sleep

import numpy as np
import pytest
from browser import PATIENCE, PAUSE, picture
from matplotlib.colors import rgb_to_hsv, to_rgb

WORDS_AWAY = ".dds-over, .transport, .mast { visibility: hidden !important }"
STEP = 16  # of 256 shades, that are one colour
STEP_COUNT = 256 // STEP
SEEN = 0.002  # of the picture, what counts as one of its colours
PART = 0.0002  # of the picture, that a part takes at least
GROUND = 0.97  # of the picture, that is of one colour at most
PARTS = {  # whose colours are to be seen in each scene
    "run": {"light": ["#2f74b5", "#d55e00"], "dark": ["#4f9bdb", "#ff9a52"]},  # probe, and the force at its peak
    "rig": {"light": ["#b08a4e", "#4aa3df"], "dark": ["#c9aa74", "#7cc4f2"]},  # robot, and what is computed
    "tree": {"light": ["#4f8f6b", "#8a6bb0"], "dark": ["#6fbf93", "#b195dc"]},  # links
}


def share_of_hue(image: np.ndarray, colour: str) -> float:
    """Return how much of a picture has the hue of a colour, in light and in shade and where the ground shines through."""
    wanted, found = rgb_to_hsv(to_rgb(colour)), rgb_to_hsv(image / 255)
    off = np.abs(found[..., 0] - wanted[0])
    return float(((np.minimum(off, 1 - off) < 0.04) & (found[..., 1] > 0.2) & (found[..., 2] > 0.15)).mean())


def faults_of(image: np.ndarray, parts: list[str]) -> list[str]:
    """Return what is wrong with the picture (height, width, 3) of a scene with parts of these colours."""
    shades = (image // STEP) @ [1, STEP_COUNT, STEP_COUNT**2]
    counts = np.unique(shades, return_counts=True)[1]
    area, faults = shades.size, []
    most = counts.max() / area
    several = int((counts > SEEN * area).sum())
    if most > GROUND:
        faults.append(f"{100 * most:.0f} % are of one colour")
    if several < 5:
        faults.append(f"{several} colours")
    return faults + [f"nothing of {one}" for one in parts if share_of_hue(image, one) < PART]


def seen_scene(page) -> np.ndarray:
    return picture(page.locator("#scene .dds-stage").screenshot(timeout=PATIENCE))


def hide_ghost(page) -> None:
    """Take away what stands around the robot."""
    page.evaluate(
        "[...document.querySelectorAll('.dds-tree label')].find((one) => one.textContent === 'without rig').control.click()"
    )


def wait_for_faults(page, parts: list[str], wanted: bool) -> list[str]:
    """Return what is wrong with a scene once anything is or, unless that is `wanted`, once nothing is: frames may take long."""
    page.add_style_tag(content=WORDS_AWAY)
    end = monotonic() + PATIENCE / 1000
    while True:
        found = faults_of(seen_scene(page), parts)
        if bool(found) is wanted or monotonic() > end:
            return found
        sleep(PAUSE)


@pytest.mark.full
@pytest.mark.parametrize("kind", PARTS)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_scene_of_a_page_has_the_colours_of_its_parts(whole_page, kind, scheme):
    page = whole_page(kind, 1000, 800, scheme, drawn=True)
    if kind == "rig":
        hide_ghost(page)
    assert wait_for_faults(page, PARTS[kind][scheme], False) == []


def test_colours_are_those_of_the_page(request):
    """What is looked for is what the page paints with."""
    source = (request.config.rootpath / "web" / "src" / "scene" / "colours.ts").read_text(encoding="utf-8")
    assert {one for of in PARTS.values() for some in of.values() for one in some} <= set(
        re.findall(r"#[0-9a-f]{6}", source)
    )


@pytest.mark.full
def test_a_scene_in_which_nothing_is_drawn_is_found(browse, page_file):
    """The same judgement, where the graphics card draws nothing: only the ground is there."""
    page, _ = browse(page_file("run"), 1000, 800)
    page.wait_for_selector("#scene .dds-views", state="attached", timeout=PATIENCE)
    found = wait_for_faults(page, PARTS["run"]["light"], True)
    assert "100 % are of one colour" in found and "nothing of #2f74b5" in found


def test_a_black_picture_is_found():
    assert faults_of(np.zeros((40, 60, 3), int), ["#2f74b5"]) == [
        "100 % are of one colour", "1 colours", "nothing of #2f74b5",
    ]  # fmt: skip


@pytest.mark.full
def test_a_scene_is_drawn_on_a_phone(whole_page):
    page = whole_page("run", 390, 844, drawn=True)
    page.locator("#scene").scroll_into_view_if_needed()
    assert wait_for_faults(page, PARTS["run"]["light"], False) == []
