"""Everything has room: nothing lies over anything else, the body never scrolls sideways, tables that do say so."""

import pytest
from browser import wait_until

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
TABLES = """() => [...document.querySelectorAll(".scroll")]
  .filter((one) => one.checkVisibility() && one.querySelector("table"))
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
    found = page.evaluate(TABLES)
    assert any(one["hidden"] > 2 for one in found)  # the table of contacts
    assert [one for one in found if one["right"] is not (one["hidden"] > 2) or one["left"]] == []
    page.evaluate("() => document.querySelectorAll('.scroll').forEach((one) => { one.scrollLeft = one.scrollWidth; })")
    wait_until(page, f"({TABLES})().every((one) => !one.right && one.left === one.hidden > 2)")
