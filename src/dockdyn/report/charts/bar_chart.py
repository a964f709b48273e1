"""Bars below each other, each with its name and its number in words."""

from __future__ import annotations

from collections.abc import Sequence

from dockdyn.records import record
from dockdyn.report.charts.chart import Area, Level, Limits, Note, Panel
from dockdyn.report.drawing import short_label
from dockdyn.report.wording import format_significant

ROW, ENDS = 0.25, 0.15  # in: a bar, and what is free above and below all of them
HALF = 0.31  # of a row: half a bar
ROOM = 0.4  # of all bars together: room for words on a side of zero
ENOUGH = 1.05  # times a bar's length: what is shown of the axis


@record
class Bar:
    """A bar from zero to its value, with its name on the axis and words, by default the number.

    A `faint` one is pale, words that are `small` are muted.
    """

    name: str
    value: float
    colour: str = "blue"
    words: str = ""
    faint: bool = False
    small: bool = False


def bar_panel(bars: Sequence[Bar], across: str, limits: Limits | None = None) -> Panel:
    """Return the bars, the first on top, over an axis of values (`across`, in words with their unit).

    Words stand on the other side of zero, where there is room in a narrow picture, too; within given `limits`, of bars that all
    go one way, they stand behind the bars.
    """
    rows = [len(bars) - 1.0 - place for place in range(len(bars))]
    return Panel(
        "",
        (),
        height=ENDS + ROW * len(bars),
        across=across,
        areas=[_bar_area(bar, row) for bar, row in zip(bars, rows, strict=True)],
        levels=[Level(0.0, "x", width=0.8)],
        notes=[_bar_note(bar, row, limits is not None) for bar, row in zip(bars, rows, strict=True)],
        ticks=[(row, short_label(bar.name)) for bar, row in zip(bars, rows, strict=True)],
        limits=(-0.8, len(bars) - 0.2),
        across_limits=limits or _bar_limits(bars),
    )


def _bar_area(bar: Bar, row: float) -> Area:
    x, y = [0.0, bar.value, bar.value, 0.0, 0.0], [row - HALF, row - HALF, row + HALF, row + HALF, row - HALF]
    return Area(x, y, bar.colour, alpha=0.35 if bar.faint else 1.0)


def _bar_note(bar: Bar, row: float, behind: bool) -> Note:
    """Return what stands behind the end of a bar, or on the other side of zero."""
    number = f"{'+' if bar.value > 0 else ''}{format_significant(bar.value, 3)}".replace("-", "−")
    ahead = (bar.value >= 0) == behind
    place = bar.value if behind else 0.0
    return Note(place, row, bar.words or number, (4.0 if ahead else -4.0, 0.0), "left" if ahead else "right", bar.small)


def _bar_limits(bars: Sequence[Bar]) -> Limits:
    """Return all bars, and room for the words of those on the other side."""
    low, high = min(0.0, *(bar.value for bar in bars)), max(0.0, *(bar.value for bar in bars))
    room = ROOM * (high - low) or 1.0
    words = -room if high > 0 else 0.0, room if low < 0 else 0.0
    return min(ENOUGH * low, words[0]), max(ENOUGH * high, words[1])
