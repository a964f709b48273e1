"""A figure as data: panels of lines and areas with their units, shaded times, words, and the window on which it opens.

`dockdyn.report.charts.print_chart` draws it on paper, `dockdyn.report.charts.live_charts` in a page.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from dockdyn.records import record
from dockdyn.report.palette import BEYOND, HUES

Limits = tuple[float, float]
Side = Literal["left", "center", "right"]
ROOM = 0.05  # of what is shown, kept free on either side
FLAT = 1e-10  # of the unit of an axis that goes up: a curve that varies by less is rounding
FEW = 20  # samples that an opening window has at least
SHORT = 0.7  # share of the run below which the contacts are worth a window of their own


@record
class Source:
    """What the numbers of a line are among those that a page computes again.

    Attributes:
        terms: names of variables over the samples, which of their components (counted through), and the factor of each: they
            are summed.
        size: whether each component is summed by itself, and the size of the vector that they make is taken.
        since_start: whether the sum at the start is taken away.
        most: whether not their sum is taken, but the largest of them, and not less than zero.
        contacts: instead, of each contact what is across and what is up.
    """

    terms: Sequence[tuple[str, int, float]] = ()
    since_start: bool = False
    size: bool = False
    most: bool = False
    contacts: tuple[str, str] | None = None


@record
class Line:
    """Points that are joined, marked or both.

    Attributes:
        x: what is across.
        y: what is up; a gap where it is NaN.
        colour: its name in `COLOURS`.
        name: what the legend calls it; without one it is not in the legend.
        dash: place in `DASHES`.
        width: of the line (pt).
        marker: "o", ".", "x", "s", "^" or none.
        size: of the marker (pt).
        joined: whether the points are joined.
        hollow: whether markers are rings.
        reach: upper edge of a filled band whose lower edge is `y`.
        read: whether the pointer reads its values in a page.
        source: where a page that computes has it from.
    """

    x: ArrayLike
    y: ArrayLike
    colour: str = "blue"
    name: str = ""
    dash: int = 0
    width: float = 1.2
    marker: str = ""
    size: float = 3.5
    joined: bool = True
    hollow: bool = False
    reach: ArrayLike | None = None
    read: bool = True
    source: Source | None = None


@record
class Area:
    """A filled region: closed rings with gaps (NaN) between them, of which one within another cuts a hole."""

    x: ArrayLike
    y: ArrayLike
    colour: str = "solid"
    name: str = ""
    alpha: float = 1.0


@record
class Band:
    """A shaded stretch of an axis; one with a `name`, as of a contact, is an event that can be sought in the replay.

    Its name stands `at` a place, of a contact its peak, as others may overlap it; in the middle where that is not given.
    """

    start: float
    end: float
    name: str = ""
    colour: str = "contact"
    axis: Literal["x", "y"] = "x"
    alpha: float = 1.0
    legend: str = ""
    at: float | None = None

    @property
    def place(self) -> float:
        """Where its name stands."""
        return (self.start + self.end) / 2 if self.at is None else self.at


@record
class Level:
    """A straight line through a panel, at a place on an axis; one with a `name` is an event, too.

    `share` is how far up, of the panel's height, a vertical one reaches.
    """

    at: float
    axis: Literal["x", "y"] = "y"
    name: str = ""
    colour: str = "muted"
    dash: int = 0
    width: float = 0.6
    legend: str = ""
    share: float = 1.0


@record
class Note:
    """Words beside a point, `away` (pt) from it, their `side` at it: below it where that is down, level with it where it is 0.

    Those that are `small` are muted, and smaller on a screen, as numbers on an axis are.
    """

    x: float
    y: float
    words: str
    away: tuple[float, float] = (0.0, 4.0)
    side: Side = "center"
    small: bool = False

    @property
    def level(self) -> Literal["top", "center", "bottom"]:
        """Which edge of the words is at the point."""
        return "top" if self.away[1] < 0 else "bottom" if self.away[1] > 0 else "center"


ZERO = Level(0.0)


@record
class SymmetricLog:
    """A scale that is logarithmic in both directions, and linear below the `threshold`."""

    threshold: float
    limits: Limits
    ticks: Sequence[float]


Scale = Literal["linear", "log"] | SymmetricLog


@record
class Panel:
    """Axes with what is in them.

    Attributes:
        label: the vertical axis in words, with its unit.
        lines: what is drawn.
        height: of the axes on paper (in).
        across: the horizontal axis in words, with its unit.
        title: words above it.
        bands: what is shaded.
        levels: straight lines through it.
        notes: words at points.
        areas: what is filled, below all else.
        ticks: places on the vertical axis and their names, instead of numbers.
        limits: of the vertical axis, each where it is not left to what is drawn.
        scale: of the vertical axis.
        across_scale: of the horizontal axis.
        across_limits: of the horizontal axis, where neither the chart nor what is drawn gives them.
        equal: whether both axes have one scale.
        bare: whether it is without axes, as a view in space.
    """

    label: str
    lines: Sequence[Line]
    height: float = 1.5
    across: str = "time, s"
    title: str = ""
    bands: Sequence[Band] = ()
    levels: Sequence[Level] = ()
    notes: Sequence[Note] = ()
    areas: Sequence[Area] = ()
    ticks: Sequence[tuple[float, str]] = ()
    limits: tuple[float | None, float | None] = (None, None)
    scale: Scale = "linear"
    across_scale: Literal["linear", "log"] = "linear"
    across_limits: Limits | None = None
    equal: bool = False
    bare: bool = False

    @property
    def shape(self) -> float | None:
        """How high it is for its width, where both axes have one scale and limits of their own."""
        low, high = self.limits
        if not self.equal or self.across_limits is None or low is None or high is None:
            return None
        return (high - low) / (self.across_limits[1] - self.across_limits[0])


BLANK = Panel("", (), bare=True)  # a place among tiles with nothing in it


@record
class Chart:
    """A figure.

    Attributes:
        panels: row by row.
        columns: how many panels are beside each other.
        whole: all of the horizontal axis; what is drawn where it is not given.
        window: the part of it on which the figure opens, where that is not all.
        over: charts of one report that name the same here are moved and zoomed together.
        events: whether places on the horizontal axis are instants of the run, which its replay can show.
        tiles: whether panels are small pictures, which stay beside each other in a column of a journal.
    """

    panels: Sequence[Panel]
    columns: int = 1
    whole: Limits | None = None
    window: Limits | None = None
    over: str = ""
    events: bool = False
    tiles: bool = False

    @property
    def height(self) -> float:
        """Height of its panels together (in)."""
        return sum(panel.height for panel in self.panels[:: self.columns])

    def across(self, panel: Panel) -> tuple[Limits, Limits]:
        """Return limits of the horizontal axis of a panel: those on which it opens, and those of all."""
        whole = panel.across_limits or self.whole or _across_of(panel)
        return self.window or whole, whole

    def up(self, panel: Panel) -> tuple[Limits, Limits]:
        """Return limits of the vertical axis of a panel: those on which it opens, and those of all."""
        return _limits_up(panel, self.window), _limits_up(panel, None)


def _across_of(panel: Panel) -> Limits:
    """Return the way from the first to the last of what is drawn, with some room where axes are of one scale."""
    values = np.concatenate([[], *(np.ravel(line.x) for line in panel.lines)])
    return _with_room(values, panel.across_scale == "log", ROOM)


def _limits_up(panel: Panel, window: Limits | None) -> Limits:
    """Return limits that hold all that is drawn within a window of the horizontal axis."""
    if isinstance(panel.scale, SymmetricLog):
        return panel.scale.limits
    seen = [_clip_to_window(line, window) for line in panel.lines]
    if not any(np.isfinite(values).any() for values in seen):
        seen = [_clip_to_window(line, None) for line in panel.lines]
    levels = [level.at for level in panel.levels if level.axis == "y"]
    low, high = _with_room(np.concatenate([levels, *seen]), panel.scale == "log", ROOM, FLAT)
    least, most = panel.limits
    return low if least is None else least, high if most is None else most


def _clip_to_window(line: Line, window: Limits | None) -> np.ndarray:
    """Return values of a line in a window, those on which it enters and leaves among them."""
    x, y = np.asarray(line.x, float), np.asarray(line.y, float)
    inside = np.ones(x.shape, bool) if window is None else (x >= window[0]) & (x <= window[1])
    if line.joined and x.size > 1:
        inside = inside | np.r_[inside[1:], False] | np.r_[False, inside[:-1]]
    reach = np.zeros(0) if line.reach is None else np.asarray(line.reach, float)[inside]
    return np.concatenate([y[inside], reach])


def _with_room(values: np.ndarray, logarithmic: bool, room: float, flat: float = 0.0) -> Limits:
    """Return the least and the largest of finite values, with so much room beside them; what varies by no more than `flat`
    is a level."""
    kept = values[np.isfinite(values) & ((values > 0) | (not logarithmic))]
    if not kept.size:
        return (0.1, 1.0) if logarithmic else (0.0, 1.0)
    low, high = float(kept.min()), float(kept.max())
    if logarithmic:
        factor = (high / low) ** room if high > low else 2.0
        return low / factor, high * factor
    free = next((room * one for one in (high - low, abs(high)) if one > flat), 1.0)
    return low - free, high + free


def lines_of(
    x: ArrayLike,
    values: np.ndarray,
    names: Sequence[str],
    first: int = 0,
    *,
    width: float = 1.2,
    of: str = "",
    at: Sequence[int] | None = None,
    factor: float = 1.0,
) -> list[Line]:
    """Return a line for each column of `values`, no two alike; their styles are counted from the `first`.

    They are so many times the columns of the variable `of`, where one is named: all of them, or those `at` these places.
    """
    places = range(len(names)) if at is None else at
    return [
        Line(
            x,
            values[:, index],
            **line_style(first + index),
            name=name,
            width=width,
            source=Source([(of, int(place), factor)]) if of else None,
        )
        for index, (name, place) in enumerate(zip(names, places, strict=True))
    ]


def line_style(place: int) -> dict[str, Any]:
    """Return the colour and dash of one of many lines: apart in both as long as there are colours."""
    return {"colour": HUES[place % len(HUES)], "dash": (place + place // len(HUES)) % 4}


def line_through(points: np.ndarray, colour: str, name: str = "", **look: Any) -> Line:  # noqa: ANN401, fields of it
    """Return a line through points (n, 2)."""
    return Line(points[:, 0], points[:, 1], colour, name, **look)


def stem_lines(x: ArrayLike, y: ArrayLike, colour: str, size: float = 3.5, name: str = "") -> list[Line]:
    """Return points on stems from zero."""
    x, y = np.asarray(x, float), np.asarray(y, float)
    gaps = np.full(x.shape, np.nan)
    up = np.stack([np.zeros(x.shape), y, gaps], axis=1).ravel()
    stem = Line(np.stack([x, x, gaps], axis=1).ravel(), up, colour, width=1.0)
    return [stem, Line(x, y, colour, marker="o", size=size, joined=False, name=name)]


def contact_window(time: np.ndarray, instants: Iterable[float]) -> Limits | None:
    """Return the window of a run in which `instants`, of contacts, lie; None where that is most of it, or they are one: of a
    single impact what matters is before and after it."""
    found = np.asarray(list(instants), float)
    if not found.size or len(time) < 2 or not np.ptp(found):
        return None
    end = float(time[-1])
    room = max(0.12 * float(np.ptp(found)), FEW * end / len(time))
    low, high = max(0.0, float(found.min()) - room), min(end, float(found.max()) + room)
    return (low, high) if high - low < SHORT * end else None


def symmetric_log_scale(values: np.ndarray, usual: float) -> Scale:
    """Return a symmetric logarithmic scale where a diverging run would squeeze its start, of `usual` size, to zero.

    What is more than `BEYOND` times the usual leaves the panel.
    """
    sizes = np.abs(values)[np.isfinite(values)]
    if not (usual > 0 and sizes.size and sizes.max() > 1e3 * usual):
        return "linear"
    least = int(np.floor(np.log10(usual)))
    limits, ticks = [], [0.0]
    for side in (-1.0, 1.0):
        top = max(min(3 * float(np.nanmax(side * values)), BEYOND * usual), 10.0**least)
        decades = range(least + 1, int(np.log10(top)) + 1)
        ticks += [side * 10.0**decade for decade in decades[:: -(-len(decades) // 4) or 1]]
        limits.append(side * top)
    return SymmetricLog(10.0**least, (limits[0], limits[1]), sorted(ticks))


def thin_rows(values: np.ndarray, most: int) -> np.ndarray:
    """Return rows of a long line that draw it: the least and the largest of each of equal groups, in their order, and the ends.

    `values` has a column for each direction in which a line may turn back; gaps (NaN) are kept.
    """
    columns = values.reshape(len(values), -1)
    if len(columns) <= most:
        return np.arange(len(columns))
    edges = np.linspace(0, len(columns), max(2, most // (2 * columns.shape[1])) + 1).astype(int)
    gaps = np.isnan(columns).any(axis=1)
    chosen = {0, len(columns) - 1, *np.flatnonzero(gaps[1:] & ~gaps[:-1]) + 1}
    for column in np.nan_to_num(columns, nan=0.0).T:
        for low, high in pairwise(edges):
            chosen |= {low + int(column[low:high].argmin()), low + int(column[low:high].argmax())}
    return np.array(sorted(chosen))
