"""Small pictures of tiles, as SVG and HTML that need no script: cases, distributions, places on a line."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from dockdyn.report.elements import Html, element
from dockdyn.report.wording import format_significant

WIDTH, HEIGHT = 240, 80  # of a picture, in its own units
MOST_SQUARES = 300
TALL = 170  # of squares, about
DEEP = 170  # of roots
BINS = 24
GOOD, MISSED = "var(--ok)", "var(--bad)"


def draw_squares(count: int, total: int) -> Html:
    """Return a square for each of `total` cases, or for as many of them as leave at most 300; the first `count` are filled."""
    each = -(-total // MOST_SQUARES)
    squares, filled = -(-total // each), round(count / each)
    columns = math.ceil(math.sqrt(squares * WIDTH / TALL))
    side, rows = WIDTH / columns, -(-squares // columns)
    places = [(place % columns * side, place // columns * side) for place in range(squares)]
    paths = (
        (GOOD, places[:filled]),
        ("var(--line2)", places[filled:]),
    )
    drawn = [
        element(
            "path",
            d="".join(f"M{x:.4g} {y:.4g}h{side - 2:.4g}v{side - 2:.4g}h-{side - 2:.4g}z" for x, y in some),
            fill=colour,
        )
        for colour, some in paths
        if some
    ]
    return _svg(rows * side, *drawn, stretched=False)


def draw_histogram(values: ArrayLike, limit: float | None = None, above: bool = True) -> Html:
    """Return how numbers are distributed; those beyond a `limit`, `above` it or below, in the colour of a miss."""
    known = np.asarray(values, float)
    known = known[np.isfinite(known)]
    low, high = float(known.min()), float(known.max())
    inside = limit is not None and low < limit < high
    edges = np.linspace(low, high, BINS + 1) if high > low else np.array([low - 0.5, low + 0.5])
    if inside and limit is not None:  # an edge of the bars is at the limit
        edges = np.sort(np.append(np.delete(edges, 1 + np.abs(edges[1:-1] - limit).argmin()), limit))
    counts, _ = np.histogram(known, edges)
    heights = counts / np.diff(edges)
    middles = (edges[1:] + edges[:-1]) / 2
    missed = np.zeros(middles.shape, bool) if limit is None else (middles > limit) == above
    x = WIDTH * (edges - edges[0]) / (edges[-1] - edges[0])
    bars = [
        element(
            "path",
            d="".join(
                f"M{a:.1f} {HEIGHT}V{HEIGHT * (1 - height / heights.max()):.1f}H{max(b - 1, a):.1f}V{HEIGHT}z"
                for a, b, height, here in zip(x[:-1], x[1:], heights, missed, strict=True)
                if here == bad and height
            ),
            fill=colour,
        )
        for bad, colour in ((False, GOOD if limit is not None else "var(--blue)"), (True, "var(--orange)"))
        if (missed == bad).any()
    ]
    mark = None
    if inside and limit is not None:
        at = WIDTH * (limit - low) / (high - low)
        mark = element("path", d=f"M{at:.1f} 0V{HEIGHT}", stroke="var(--ink)", vector_effect="non-scaling-stroke")
    return _svg(HEIGHT, *bars, mark)


def draw_shares(edges: ArrayLike, shares: ArrayLike, chosen: tuple[float, float]) -> Html:
    """Return the share of each cell along a line as a column that is filled so far; those of the `chosen` stretch stand out."""
    places, share = np.asarray(edges, float), np.nan_to_num(np.asarray(shares, float))
    x = WIDTH * (places - places[0]) / (places[-1] - places[0])
    cells = []
    for a, b, low, high, filled in zip(x[:-1], x[1:], places[:-1], places[1:], share, strict=True):
        inside = low >= chosen[0] and high <= chosen[1]
        box = {"x": f"{a:.1f}", "width": f"{b - a - 1.5:.1f}"}
        cells += [
            element("rect", **box, y=0, height=HEIGHT, fill="var(--line)"),
            element(
                "rect",
                **box,
                y=f"{HEIGHT * (1 - filled):.1f}",
                height=f"{HEIGHT * filled:.1f}",
                fill=GOOD,
                opacity=None if inside else 0.45,
            ),
        ]
    return _svg(HEIGHT, *cells)


def draw_place(value: float, limit: float, unit: str, words: tuple[str, str] = ("now", "limit")) -> Html:
    """Return a line on which a `value` is a mark and all beyond the `limit` is hatched; `words` name both."""
    end = 1.15 * max(value, limit) or 1.0
    here, edge = (100 * each / end for each in (value, limit))
    beyond = value > limit

    def name(at: float, said: str, number: float) -> Html:
        text = element("span", said), element("b", f"{format_significant(number, 3)} {unit}".rstrip())
        return element("span", *text, style=f"left:{at:.1f}%", class_="late" if at > 60 else None)

    return element(
        "div",
        element("div", name(here, words[0], value), class_="above"),
        element(
            "div",
            element("span", style=f"width:{edge:.1f}%"),
            element("b", style=f"left:{here:.1f}%"),
            class_="line",
        ),
        element("div", name(edge, words[1], limit), class_="below-line"),
        class_="place bad" if beyond else "place",
    )


def draw_roots(roots: Sequence[Sequence[float]]) -> Html | None:
    """Return roots near the one that decides in the complex plane: left of the line they decay. None where there are none."""
    if not roots:
        return None
    points = np.asarray(roots, float)
    size = max(1.6 * abs(points[0, 0]), 1e-12)
    tall = max(1.25 * abs(points[0, 1]), size)
    near = points[(np.abs(points[:, 0]) <= 2 * size) & (np.abs(points[:, 1]) <= tall)]
    x, y = WIDTH / 2 + near[:, 0] / (2 * size) * WIDTH, DEEP / 2 - near[:, 1] / tall * (DEEP / 2 - 12)
    crosses = [
        element(
            "path",
            d=f"M{a - 7:.1f} {b - 7:.1f}l14 14m0-14l-14 14",
            stroke=GOOD if root[0] < 0 else MISSED,
            stroke_width=3,
            fill="none",
        )
        for a, b, root in zip(x, y, near, strict=True)
        if 0 <= a <= WIDTH
    ]
    ground = element("rect", x=WIDTH / 2, y=0, width=WIDTH / 2, height=DEEP, fill="var(--badbg)")
    axes = element("path", d=f"M{WIDTH / 2} 0V{DEEP}M0 {DEEP / 2}H{WIDTH}", stroke="var(--line2)", fill="none")
    return _svg(DEEP, ground, axes, *crosses, stretched=False)


def _svg(height: float, *drawn: Html | None, stretched: bool = True) -> Html:
    return element(
        "svg",
        *drawn,
        viewBox=f"0 0 {WIDTH} {height:g}",
        preserveAspectRatio="none" if stretched else "xMidYMax meet",
        class_="spark",
        aria_hidden="true",
    )
