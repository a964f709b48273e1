"""What is read first is there without scrolling: the verdict, the requirements and the scene's first control, on a desktop."""

import pytest

TOP = "() => document.querySelector('{}')?.getBoundingClientRect().top ?? Infinity"
NUMBERS = """() => [...document.querySelectorAll("figure .plot svg:not(.bare)")].map((svg) => {
  const words = [...svg.querySelectorAll("text")].filter((one) => /^[\\u22120-9.×⁰¹²³⁴⁵⁶⁷⁸⁹⁻]+( s)?$/.test(one.textContent));
  const up = words.filter((one) => one.getAttribute("text-anchor") === "end").length;
  return [svg.closest("figure").dataset.name, up];
})"""


@pytest.mark.full_cases("rig", "tree", "campaign", "run")
@pytest.mark.parametrize("kind", ["required", "campaign", "rig", "tree", "run"])
def test_what_is_read_first_needs_no_scrolling(whole_page, kind):
    page = whole_page(kind, 1440, 900)
    assert page.evaluate(TOP.format(".headline")) < 300
    if kind in ("required", "campaign"):
        assert page.evaluate(TOP.format(".requirement")) < 900
        requirements, bench = (page.evaluate(TOP.format(one)) for one in (".requirement", ".bench"))
        assert requirements < bench  # before all that moves
    if kind == "campaign":
        cases, motion = (page.evaluate(TOP.format(one)) for one in ("table[data-live=missing]", "#motion"))
        assert bench < cases < motion  # between the map of all cases and the motion of one
    if kind in ("required", "run", "tree"):  # which contact does what is read right below the first curves
        places = ("#motion", "table[data-live=contacts]", "#live", ".pairs")
        assert [page.evaluate(TOP.format(one)) for one in places] == sorted(
            page.evaluate(TOP.format(one)) for one in places
        )
    if kind in ("required", "rig", "tree", "run"):
        assert page.evaluate(TOP.format(".dds-views button")) < 900 - 52  # above the line of time


@pytest.mark.full
@pytest.mark.parametrize("kind", ["run", "rig", "tree", "stability", "campaign"])
def test_two_numbers_stand_on_every_axis(whole_page, kind):
    page = whole_page(kind, 1440, 900)
    page.evaluate("dispatchEvent(new Event('beforeprint'))")  # all figures are drawn
    found = page.evaluate(NUMBERS)
    assert len(found) > 1
    assert [name for name, count in found if count == 1] == []
