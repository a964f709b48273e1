"""A page on paper: light whatever the screen is, with its scene, figures to be read, whole tables and nothing to press."""

import re
import zlib
from base64 import b64decode

import numpy as np
import pytest
from browser import picture
from test_scene_drawn import PARTS, faults_of

A4 = {"width": 703, "height": 1032}  # px within the edges
CONTROLS = "button:not(.series), input, select, .mast, .transport, .tools, .keys"
PICTURE = """() => document.querySelector("#scene .dds-paper").toDataURL().split(",")[1]"""
CUT = """() => [...document.querySelectorAll(".scroll, .plot, .tile, figure, pre, .line-of-command, dd")]
  .filter((one) => one.checkVisibility() && one.scrollWidth > one.clientWidth + 1 && getComputedStyle(one).display !== "inline")
  .map((one) => `${one.className || one.tagName}
    ${one.textContent.slice(0, 40)}: ${one.scrollWidth} in ${one.clientWidth}`)"""
SCALES = """() => [...document.querySelectorAll(".plot svg")]
  .map((one) => one.getBoundingClientRect().width / one.viewBox.baseVal.width)"""
LETTERS = """() => Math.min(...[...document.querySelectorAll("td, th")]
  .filter((one) => one.checkVisibility() && one.textContent)
  .map((one) => parseFloat(getComputedStyle(one).fontSize)))"""


def put_on_paper(page) -> None:
    """Do what a browser does when it prints: it tells so, and lays the page out for paper."""
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print")
    page.set_viewport_size(A4)


@pytest.mark.full
@pytest.mark.parametrize("kind", ["run", "rig", "tree", "stability", "campaign", "required"])
def test_paper_has_all_that_is_read_and_nothing_to_press(whole_page, kind):
    page = whole_page(kind, scheme="dark", drawn=kind != "stability")
    put_on_paper(page)
    assert page.evaluate("document.documentElement.dataset.theme") == "light"
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert page.locator(CONTROLS).locator("visible=true").all_inner_texts() == []
    assert page.evaluate(CUT) == []
    scales = page.evaluate(SCALES)
    assert scales and min(scales) > 0.9  # of what figures were drawn for: their numbers can be read
    assert page.evaluate("document.querySelectorAll('table').length") == 0 or page.evaluate(LETTERS) >= 8
    if kind != "stability":
        image = picture(b64decode(page.evaluate(PICTURE)))
        assert faults_of(image, PARTS.get(kind, PARTS["run"])["light"][:1]) == []
        assert image[2, 2].min() > 150  # light
        assert page.locator(".dds-paper").is_visible() and not page.locator(".dds-stage").is_visible()
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    assert not page.locator(".dds-paper").count()


@pytest.mark.full
def test_a_printed_file_has_the_scene_in_it(whole_page):
    """The picture of the scene as the browser writes it into a PDF: an image of as many colours."""
    page = whole_page("run", scheme="dark", drawn=True)
    file = page.pdf(format="A4", print_background=True)
    images = []
    for facts, begin in (
        (one[1], one.end()) for one in re.finditer(rb"<<([^<>]*/Subtype /Image[^<>]*)>>\s*stream\r?\n", file)
    ):
        wide, high, length = (
            int(re.search(rb"/%b (\d+)" % name, facts)[1]) for name in (b"Width", b"Height", b"Length")
        )
        if b"/FlateDecode" in facts and wide > 300:
            data = np.frombuffer(zlib.decompress(file[begin : begin + length]), np.uint8)
            images.append(data.reshape(high, wide, -1))
    (scene,) = (image[..., :3].astype(int) for image in images if image.shape[2] == 3)
    assert faults_of(scene, PARTS["run"]["light"]) == []


@pytest.mark.full_cases("run")
@pytest.mark.parametrize("kind", ["run", "campaign"])
def test_no_printed_sheet_is_nearly_blank(whole_page, kind):
    """Every sheet has as much as a table, or a figure: none but a line that would have stood on the one before."""
    file = whole_page(kind).pdf(format="A4", print_background=True)
    objects = {int(one[1]): one[2] for one in re.finditer(rb"(\d+) 0 obj\s*(.*?)endobj", file, re.DOTALL)}
    sheets = []
    for facts in objects.values():
        if re.search(rb"/Type\s*/Page\b(?!s)", facts):
            inside = objects[int(re.search(rb"/Contents (\d+) 0 R", facts)[1])]
            drawn = zlib.decompress(inside[inside.index(b"stream") + 6 : inside.rindex(b"endstream")].lstrip(b"\r\n"))
            sheets.append(len(re.findall(rb"T[jJ]", drawn)))
    assert len(sheets) > 3 and min(sheets) > 10
