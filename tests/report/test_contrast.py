"""Colours of pages by WCAG 2.2: text has a contrast of 4.5 to what it stands on, lines of figures and marks have 3."""

import re
from itertools import product

import pytest

from dockdyn.report.page import page_part, render_page
from dockdyn.report.report import Report

TEXT, GRAPHIC = 4.5, 3.0  # AA, success criteria 1.4.3 and 1.4.11
GROUNDS = ("bg", "panel", "sunk")
WORDS = ("ink", "ink2", "ink3", "accent", "ok", "bad", "warn")
LINES = ("blue", "orange", "green", "purple")  # those that curves of one panel begin with


def luminance(code: str) -> float:
    """Relative luminance of #rrggbb, WCAG 2.2."""
    parts = [int(code[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def colours(theme: str) -> dict[str, str]:
    """Names and colours of a theme, as the page has them: those of the dark one over those of the light one."""
    style = re.search(r"<style>(.*?)</style>", render_page(Report("A title", "It went.")), re.S)[1]
    found: dict[str, str] = {}
    for selector, inside in re.findall(r":root(\[data-theme=\"?dark\"?\])?\{([^}]*)\}", style):
        if not selector or theme == "dark":
            found |= {name: code for name, code in re.findall(r"--([\w]+):\s*(#[0-9a-f]{3,6})\b", inside)}
    return {
        name: code if len(code) == 7 else "#" + "".join(2 * digit for digit in code[1:]) for name, code in found.items()
    }


def test_the_formula_is_that_of_the_standard():
    """The figures of WCAG's own examples."""
    assert contrast("#000000", "#ffffff") == 21 and contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.005)
    assert contrast("#767676", "#ffffff") == pytest.approx(4.54, abs=0.005)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_text_stands_out_from_its_ground(theme):
    found = colours(theme)
    low = {
        (word, ground): round(contrast(found[word], found[ground]), 2)
        for word, ground in [
            *product(WORDS, GROUNDS),
            *((sort, f"{sort}bg") for sort in ("ok", "bad", "warn")),
            ("ink", "warnbg"),
            ("bg", "ink"),  # of the button that plays
        ]
    }
    assert {pair: value for pair, value in low.items() if value < TEXT} == {}


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_lines_and_marks_stand_out_from_their_ground(theme):
    found = colours(theme)
    low = {(line, "panel"): round(contrast(found[line], found["panel"]), 2) for line in (*LINES, "ok", "bad", "warn")}
    assert {pair: value for pair, value in low.items() if value < GRAPHIC} == {}
    assert "outline:2px solid var(--accent)" in page_part("page.css").replace(": ", ":")  # of what has the keyboard
