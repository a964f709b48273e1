"""Everything has room: nothing lies over anything else, the body never scrolls sideways, tables that do say so."""

import pytest
from browser import wait_until

from dockdyn.report.page import render_page
from dockdyn.report.report import Plot, Report
from dockdyn.report.tile import Tile

KINDS = ["run", "rig", "tree", "stability", "campaign", "envelope"]
BODY = "() => document.documentElement.scrollWidth - innerWidth"
# which of the things that stand beside each other share more than a pixel
OVER = """() => [
  [".tile", ".tiles"], [".requirement", ".requirements, .side"], [".curve, .tile-panel", ".panels"],
  ["figure, section", "main"], [".slider", ".sliders"],
].flatMap(([one, host]) => [...document.querySelectorAll(host)].flatMap((inside) => {
  const all = [...inside.querySelectorAll(one)].filter((node) => node.checkVisibility());
  const boxes = all.map((node) => node.getBoundingClientRect());
  return all.flatMap((node, i) => all.flatMap((other, j) => {
    if (j <= i || node.contains(other)) return [];
    const wide = Math.min(boxes[i].right, boxes[j].right) - Math.max(boxes[i].left, boxes[j].left);
    const high = Math.min(boxes[i].bottom, boxes[j].bottom) - Math.max(boxes[i].top, boxes[j].top);
    return wide > 1 && high > 1 ? [`${node.className} over ${other.className}: ${wide} by ${high}`] : [];
  }));
}))"""
# words that are cut by the edge of what they stand in
CUT = """() => [...document.querySelectorAll(
  ".tile, .tile .k, .tile .v, .tile .f, .headline, .lead, .requirement, .slider, .note, figcaption, h2")]
  .filter((one) => one.checkVisibility() && getComputedStyle(one).display !== "inline")
  .filter((one) => one.scrollWidth > one.clientWidth + 1)
  .map((one) => `${one.className || one.tagName}: ${one.textContent.slice(0, 30)}`)"""
# numbers of axes that leave their drawing
AXES = """() => [...document.querySelectorAll(".plot svg")].flatMap((svg) => {
  const box = svg.getBoundingClientRect();
  return [...svg.querySelectorAll("text")].filter((one) => {
    const at = one.getBoundingClientRect();
    return at.right > box.right + 1 || at.left < box.left - 1;
  }).map((one) => one.textContent);
})"""
SCROLLING = """() => [...document.querySelectorAll(".scroll")]
  .filter((one) => one.checkVisibility())
  .map((one) => {
    const shown = (side) => Number(getComputedStyle(one.closest(".frame"), `::${side}`).opacity) > 0;
    return { hidden: one.scrollWidth - one.clientWidth, left: shown("before"), right: shown("after") };
  })"""


@pytest.mark.full_cases(
    "390-rig",
    "390-tree",
    "390-envelope",
    "1440-rig",
    "1440-tree",
    "1440-envelope",
    "1440-campaign",
    "1440-run",
    "1440-stability",
    "390-campaign",
    "390-run",
)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("width", [390, 1440])
def test_all_has_room(whole_page, kind, width):
    page = whole_page(kind, width, 844)
    assert page.evaluate(BODY) <= 0
    assert page.evaluate(OVER) == []
    assert page.evaluate(CUT) == []
    assert page.evaluate(AXES) == []


@pytest.mark.full
@pytest.mark.parametrize("kind", ["run", "campaign", "tree"])
def test_tables_on_a_phone_say_that_they_scroll(whole_page, kind):
    page = whole_page(kind, 390, 844)
    page.add_style_tag(content="* { transition: none !important }")
    found = page.evaluate(SCROLLING)
    assert any(one["hidden"] > 2 for one in found)  # the table of contacts
    assert [one for one in found if one["right"] is not (one["hidden"] > 2) or one["left"]] == []
    page.evaluate("() => document.querySelectorAll('.scroll').forEach((one) => { one.scrollLeft = one.scrollWidth; })")
    wait_until(page, f"({SCROLLING})().every((one) => !one.right && one.left === one.hidden > 2)")


def picture_of_lines():
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 3))
    figure.subplots(1, 2)[0].plot([0, 1])
    return figure


def test_a_picture_that_is_wider_than_a_phone_says_that_it_scrolls(browse, tmp_path):
    file = tmp_path / "report.html"
    file.write_text(render_page(Report("A title", "It went well.", plots=[Plot("one", picture_of_lines, "Lines.")])))
    for width, wider in ((390, True), (1440, False)):
        page, _ = browse(file, width, 844)
        wait_until(page, "'ready' in document.documentElement.dataset")
        page.locator(".picture").scroll_into_view_if_needed()
        wait_until(page, f"({SCROLLING})()[0].right === {str(wider).lower()}")
        (found,) = page.evaluate(SCROLLING)
        assert (found["hidden"] > 0) == wider


def test_a_long_number_of_a_tile_stands_on_one_line_with_its_unit(browse, tmp_path):
    """As the ends of a change in per cent, of three runs beside each other."""
    file, tiles = tmp_path / "report.html", [Tile("Peak force", "+101 to +125", "%")] * 4
    file.write_text(render_page(Report("A title", "It went well.", tiles=tiles)), encoding="utf-8")
    lines = """() => { const one = document.querySelector(".tile .v"), { height } = one.getBoundingClientRect();
      return Math.round(height / parseFloat(getComputedStyle(one).lineHeight)); }"""
    for width in (390, 1440):
        page, _ = browse(file, width, 844)
        assert page.evaluate(lines) == 1, width
