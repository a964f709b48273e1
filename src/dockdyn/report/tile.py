"""Key numbers of a report, each with a small picture: a curve, or bars."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import field
from typing import Literal

import numpy as np

from dockdyn.records import record
from dockdyn.report.charts.chart import Source, thin_rows
from dockdyn.report.elements import Html, breakable, element
from dockdyn.report.wording import typeset_numbers

WIDTH, HEIGHT = 240, 58  # of a curve, in its own units
POINTS = 240
FAST = 60  # turns of a curve, from which on its lines would run into each other
SEEN = 1e-3  # of its range, the least that a turn is counted from
MOST_LIMITS = 5
SHORT = 9  # letters that stand before a bar; longer words above it
LARGE = 8  # letters of a number that is written large


@record
class Tile:
    """A number that matters.

    Attributes:
        label: what it is.
        value: the number, written.
        unit: its unit.
        note: a line of context.
        time: of a curve below it (s).
        curve: the curve.
        colour: of the curve, by name in `COLOURS`.
        bars: instead of a curve: words, share of the bar that is filled, and number of each.
        picture: instead of both: one of `dockdyn.report.tile_pictures`.
        alarming: whether the number is bad news.
        source: of the curve, where a page that computes has it from.
        retold: what such a page makes the number of where it is no sum of figures: "largest" of the curve, "limits", those that
            the requirements use, or "approach", the speeds at which contacts began.
        figures: names of key figures and factors: the number is their sum, where a page computes it again.
        cases: what the number is of cases, where a page computes all again: a share, "captured" or the name of a requirement,
            or a percentile, "95 peak_force_N".
        limits: of what a page that computes puts the limits of the delay beside it: the loop, and each contact; in the note
            where there are bars of something else.
    """

    label: str
    value: str
    unit: str = ""
    note: str = ""
    time: np.ndarray = field(default_factory=lambda: np.zeros(0))
    curve: np.ndarray = field(default_factory=lambda: np.zeros(0))
    colour: str = "blue"
    bars: Sequence[tuple[str, float, str]] = ()
    picture: Html | None = None
    alarming: bool = False
    figures: Sequence[tuple[str, float]] = ()
    cases: str = ""
    limits: Sequence[str] = ()
    source: Source | None = None
    retold: Literal["", "largest", "limits", "approach"] = ""

    def html(self, *, awaits: bool = False) -> Html:
        """Return it as it stands on the page; where that `awaits` limits, with room for them."""
        waits = awaits and self.limits and not self.bars
        bars = [(words, 0.0, "…") for words in self.limits[:MOST_LIMITS]] if waits else self.bars
        value, note = typeset_numbers(self.value), typeset_numbers(self.note)
        sort = " bad" if self.alarming else " awaits" if awaits and self.limits else ""
        unit = element("span", f" {self.unit}", class_="unit") if self.unit else None
        number = element("p", value, unit, class_="v long" if len(self.value) > LARGE else "v")
        return element(
            "div",
            element("p", breakable(self.label), class_="k"),
            number,
            element("p", breakable(note), class_="f") if note else None,
            self.picture or (_bars(bars) if bars else self._draw_curve() if self.curve.size > 1 else None),
            class_=f"tile panel{sort}",
            data_figures=json.dumps(self.figures) if self.figures else None,
            data_cases=self.cases or None,
            data_source=json.dumps(vars(self.source)) if self.source else None,
            data_retold=self.retold or None,
            data_limits=("beside" if self.bars else "") if self.limits else None,
        )

    def _draw_curve(self) -> Html:
        """Return the curve as SVG that needs no script: of one that turns often the band in which it swings."""
        rows = thin_rows(self.curve, POINTS)
        time, values = self.time[rows], np.nan_to_num(self.curve[rows])
        low, high = min(float(values.min()), 0.0), max(float(values.max()), 0.0)
        x = WIDTH * (time - time[0]) / ((time[-1] - time[0]) or 1.0)
        y = HEIGHT - 2 - (HEIGHT - 4) * (values - low) / ((high - low) or 1.0)
        steps = np.diff(np.nan_to_num(self.curve))
        steps = np.sign(steps[np.abs(steps) > SEEN * (high - low)])
        if np.count_nonzero(np.diff(steps)) > FAST:
            return self._draw_band(x, y)
        line = "M" + "L".join(f"{a:.1f} {b:.1f}" for a, b in zip(x, y, strict=True))
        ground = HEIGHT - 2 - (HEIGHT - 4) * (0 - low) / ((high - low) or 1.0)
        colour = f"var(--{self.colour})"
        thin = {"vector_effect": "non-scaling-stroke", "fill": "none"}
        return element(
            "svg",
            element("path", d=f"{line}L{WIDTH} {ground:.1f}L0 {ground:.1f}Z", fill=colour, opacity=0.12),
            element("path", d=f"M0 {ground:.1f}H{WIDTH}", stroke="var(--line2)", **thin),
            element("path", d=line, stroke=colour, stroke_width=1.7, stroke_linejoin="round", **thin),
            viewBox=f"0 0 {WIDTH} {HEIGHT}",
            preserveAspectRatio="none",
            class_="spark",
            aria_hidden="true",
        )

    def _draw_band(self, x: np.ndarray, y: np.ndarray) -> Html:
        """Return the band between the least and the largest of each few points of a curve, in units of the picture."""
        cells = [slice(start, start + 4) for start in range(0, len(x) - 1, 2)]
        over = [f"{x[cell].mean():.1f} {y[cell].min():.1f}" for cell in cells]
        under = [f"{x[cell].mean():.1f} {y[cell].max():.1f}" for cell in reversed(cells)]
        return element(
            "svg",
            element("path", d=f"M{'L'.join(over + under)}Z", fill=f"var(--{self.colour})", opacity=0.45),
            viewBox=f"0 0 {WIDTH} {HEIGHT}",
            preserveAspectRatio="none",
            class_="spark band",
            aria_hidden="true",
        )


def _bars(rows: Sequence[tuple[str, float, str]]) -> Html:
    """Return bars with words before them, or above them where they are long, and numbers behind."""
    cells = []
    above = any(len(words) > SHORT for words, *_ in rows)
    for words, share, number in rows:
        bar = element("div", element("span", style=f"width:{100 * min(max(share, 0.0), 1.0):.1f}%"), class_="bar")
        told = element("b", typeset_numbers(number))
        cells += [element("span", breakable(words)), *((told, bar) if above else (bar, told))]
    return element("div", *cells, class_="bars above" if above else "bars")
