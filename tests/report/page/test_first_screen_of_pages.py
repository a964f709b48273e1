"""What is read first is there without scrolling: the verdict with what decides, and what moves, on a desktop."""

import pytest

TOP = "() => document.querySelector('{}')?.getBoundingClientRect().top ?? Infinity"
NUMBERS = """() => [...document.querySelectorAll("figure .plot svg:not(.bare)")].map((svg) => {
  const words = [...svg.querySelectorAll("text")].filter((one) => /^[\\u22120-9.×⁰¹²³⁴⁵⁶⁷⁸⁹⁻]+( s)?$/.test(one.textContent));
  const up = words.filter((one) => one.getAttribute("text-anchor") === "end").length;
  return [svg.closest("figure").dataset.name, up];
})"""

ORDERS = {
    "required": ("#motion", "#requirements", "table[data-live=contacts]", "#live", ".pairs"),
    "campaign": ("#what-if", "#requirements", "table[data-live=missing]", "#motion"),  # of a case that was pressed
    "run": ("#motion", "table[data-live=contacts]", "#live", ".pairs"),
    "tree": ("#motion", "table[data-live=contacts]", "#live", ".pairs"),
}  # what is read below each other


@pytest.mark.full_cases("rig", "tree", "campaign", "run")
@pytest.mark.parametrize("kind", ["required", "campaign", "rig", "tree", "run"])
def test_what_is_read_first_needs_no_scrolling(whole_page, kind):
    page = whole_page(kind, 1440, 900)
    assert page.evaluate(TOP.format(".headline")) < 300
    assert page.evaluate(TOP.format(".bench")) < 900 - 52  # above the line of time
    if kind == "required":  # what decides stands in a line below the headline, and is the first of the bars
        decided, worst = (page.locator(one).first.inner_text() for one in (".guide dd", ".requirement .n"))
        assert page.evaluate(TOP.format(".guide dd")) < 400
        assert decided.replace("\xa0", " ").startswith(worst.replace("\xa0", " "))
    tops = [page.evaluate(TOP.format(one)) for one in ORDERS.get(kind, ())]
    assert tops == sorted(set(tops)) and float("inf") not in tops
    if kind != "campaign":
        assert page.evaluate(TOP.format(".dds-views button")) < 900 - 52  # above the line of time


@pytest.mark.full
@pytest.mark.parametrize("kind", ["run", "rig", "tree", "stability", "campaign"])
def test_two_numbers_stand_on_every_axis(whole_page, kind):
    page = whole_page(kind, 1440, 900)
    page.evaluate("dispatchEvent(new Event('beforeprint'))")  # all figures are drawn
    found = page.evaluate(NUMBERS)
    assert len(found) > 1
    assert [name for name, count in found if count == 1] == []
