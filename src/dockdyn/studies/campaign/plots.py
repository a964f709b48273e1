"""Figures of a campaign: how loads are distributed, where capture happens, what decides it, how estimates settle."""

from __future__ import annotations

from typing import Any

import numpy as np

from dockdyn.report.charts.bar_chart import Bar, bar_panel
from dockdyn.report.charts.chart import Area, Chart, Level, Limits, Line, Note, Panel
from dockdyn.report.drawing import COLOURS, short_label
from dockdyn.report.wording import format_significant
from dockdyn.studies.campaign.cases import CampaignCases
from dockdyn.studies.campaign.wording import figure_words, in_degrees, label_with_unit
from dockdyn.studies.cases.statistics import percentile_interval

BLUE, ORANGE, INK = (COLOURS[name] for name in ("blue", "orange", "ink"))
COLUMNS = (12, 60)  # of the histogram
FAR = 2.5  # times the 99th percentile: what lies beyond is told, not drawn
POINTS = 300  # of the curve of exceedance
MARKED = (50, 95, 99)  # percentiles
BARS = 12  # keys


def load_figure(cases: CampaignCases, name: str) -> Chart:
    """Return how a figure is distributed, and how many cases exceed it, with percentiles and what is required."""
    values = np.sort(cases.figures[name][np.isfinite(cases.figures[name])])
    unit = cases.units[name]
    limits = [float(each.limit) for each in cases.requirements if each.figure == name]
    edges = histogram_edges(values)
    across = float(edges[0]), float(edges[-1])
    if limits:  # a limit outside of what happened is shown as long as that costs little room
        low, high = min(edges[0], *limits), max(edges[-1], *limits)
        if high - low < FAR * (edges[-1] - edges[0]):
            room = 0.02 * (high - low)
            across = float(low - room), float(high + room)
    required = [Level(limit, "x", colour="orange", dash=1, width=1.2, legend="required") for limit in limits]
    label = label_with_unit(figure_words(cases, name), unit)
    above, below = [], exceedance_line(values)
    beyond = int(np.sum(values > edges[-1]))
    shares = 100 * np.histogram(values, edges)[0] / values.size
    if beyond:
        words = f"{beyond} beyond, up to {format_significant(float(values[-1]), 3)} {unit}"
        above.append(Note(across[1], float(shares.max()), words, (0.0, -4.0), "right", small=True))
    marks, notes = [], []
    for share in MARKED:
        if 100 / values.size <= 100 - share:
            drawn, note = _percentile_mark(values, share, unit, across)
            marks += drawn
            notes.append(note)
    return Chart(
        [
            Panel(
                "share of cases, %",
                [],
                1.6,
                across=label,
                areas=[_histogram_area(edges, shares)],
                levels=required,
                notes=above,
                limits=(0.0, 1.05 * float(shares.max())),
                across_limits=across,
            ),
            Panel(
                "cases above, %",
                [below, *marks],
                1.8,
                across=label,
                levels=required,
                notes=notes,
                limits=(60 / values.size, 130.0),
                scale="log",
                across_limits=across,
            ),
        ]
    )


def _histogram_area(edges: np.ndarray, heights: np.ndarray) -> Area:
    """Return columns side by side."""
    x = np.repeat(edges, 2)
    return Area(np.r_[x, x[0]], np.r_[0.0, np.repeat(heights, 2), 0.0, 0.0], "blue", alpha=0.75)


def histogram_edges(values: np.ndarray) -> np.ndarray:
    """Return edges of the histogram's columns; a few cases far out do not press the others into one."""
    low, high = float(values[0]), float(values[-1])
    usual = float(np.percentile(values, 99))
    spread = usual - float(np.percentile(values, 1))
    if values.size > 100 and spread > 0 and high > usual + FAR * spread:
        high = usual + 0.3 * spread
    if not high > low:
        room = 0.05 * abs(low) or 0.5
        low, high = low - room, high + room
    return np.linspace(low, high, int(np.clip(np.sqrt(values.size), *COLUMNS)) + 1)


def exceedance_line(values: np.ndarray) -> Line:
    """Return how many cases lie above, for a logarithmic axis: the tail is what loads are asked for."""
    places = np.unique(np.round(np.geomspace(1, values.size, min(POINTS, values.size))).astype(int))
    x, y = values[values.size - places[::-1]], 100 * places[::-1] / values.size
    return Line(np.repeat(x, 2)[1:], np.repeat(y, 2)[:-1], "blue", "cases above")


def _percentile_mark(values: np.ndarray, share: int, unit: str, across: Limits) -> tuple[list[Line], Note]:
    """Return a percentile on the curve of exceedance, with its interval; an end that is not known is that of the cases."""
    place, height = float(np.percentile(values, share)), 100.0 - share
    low, high = percentile_interval(values, share / 100)
    ends = [float(values[0]) if low is None else low, float(values[-1]) if high is None else high]
    lines = [
        Line(ends, [height, height], "ink", "percentile, 95 % sure", width=1.6),
        Line([place], [height], "ink", marker="o", joined=False),
    ]
    words = f"{share} %: {format_significant(place, 3)} {unit}".rstrip()
    left, right = across
    if min(ends[0], place) > left + 0.2 * (right - left):  # room for the words on the left
        return lines, Note(min(ends[0], place), height, words, (-5.0, -2.0), "right")
    return lines, Note(max(ends[1], place), height, words, (5.0, 2.0), "left")


def influence_figure(
    cases: CampaignCases, sensitivity: dict[str, dict[str, dict[str, Any]]], names: list[str]
) -> Chart:
    """Return first-order indices, keys by figure, side by side; what is no more than chance is muted."""
    largest = {key: max(_shown_index(sensitivity[name][key]) for name in names) for key in cases.values}
    keys = sorted(largest, key=lambda key: -largest[key])[:BARS]
    room = 2.2 * max(*largest.values(), 0.1)  # with that of the words behind a bar
    panels = []
    for name in names:
        bars = [_index_bar(key, sensitivity[name][key]) for key in keys]
        panels.append(bar_panel(bars, TITLES.get(name, figure_words(cases, name)), (0.0, room)))
    return Chart(panels, columns=len(names))


def _index_bar(key: str, found: dict[str, Any]) -> Bar:
    """Return the first-order index of a key."""
    known = found["significant"]
    return Bar(key, _shown_index(found), words=_index_words(found) if known else "no more than chance", small=not known)


TITLES = {"captured": "capture", "requirements": "all requirements"}


def _shown_index(found: dict[str, Any]) -> float:
    """Return the first-order index as a bar: none where it is no more than chance."""
    return max(found["first_order"], 0.0) if found["significant"] else 0.0


def _index_words(found: dict[str, Any]) -> str:
    """Return the index, and which way the figure goes where the key grows."""
    correlation = found["rank_correlation"]
    words = f"{max(found['first_order'], 0.0):.2f}"
    if correlation is None:
        return words  # the key was not varied
    signed = f"{correlation:+.2f}" if abs(correlation) >= 0.005 else "0"
    return f"{words} (rank {signed})".replace("-", "−")


def convergence_figure(convergence: dict[str, Any], unit: str) -> Chart:
    """Return estimates and their intervals over the number of cases."""
    runs = np.array(convergence["runs"], float)
    panels = []
    for name, words in SETTLING:
        if f"{name}_probability" in convergence:
            values, ends = convergence[f"{name}_probability"], convergence[f"{name}_interval_95"]
            panels.append(_convergence_panel(runs, 100 * np.array(values), 100 * np.array(ends), words))
    if "peak_force_95_N" in convergence:
        ends = np.array(convergence["peak_force_95_interval_N"], dtype=float)
        values = np.array(convergence["peak_force_95_N"], dtype=float)
        panels.append(_convergence_panel(runs, values, ends, f"peak, 95 %, {unit}"))
    return Chart(panels, whole=(float(runs[0]), float(runs[-1])))


SETTLING = (("capture", "captured, %"), ("requirements", "all met, %"))


def _convergence_panel(runs: np.ndarray, values: np.ndarray, ends: np.ndarray, label: str) -> Panel:
    """Return an estimate in its interval; an end that was not known yet is left out."""
    lines = [Line(runs, ends[:, 0], "sky", "95 % sure", reach=ends[:, 1]), Line(runs, values, "blue", "estimate")]
    return Panel(label, lines, 1.35, across="cases", across_scale="log", levels=[Level(float(values[-1]))])


def key_label(cases: CampaignCases, key: str) -> str:
    """Return what an axis is called that is of a key."""
    return label_with_unit(short_label(key), cases.units[key])


def key_values(cases: CampaignCases, key: str, values: np.ndarray) -> np.ndarray:
    """Return values of a key as its axis shows them."""
    return in_degrees(values, cases.units[key])
