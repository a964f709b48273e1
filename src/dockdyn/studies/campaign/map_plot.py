"""The map of a campaign: where over its keys capture happens."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dockdyn.report.charts.chart import Chart, Line, Panel
from dockdyn.report.drawing import COLOURS, LEFT, WIDTH, align_label, size_panels, use_report_style
from dockdyn.studies.campaign.capture_map import CaptureMap
from dockdyn.studies.campaign.cases import CampaignCases
from dockdyn.studies.campaign.plots import BLUE, INK, ORANGE, key_label, key_values
from dockdyn.studies.campaign.wording import figure_words, label_with_unit
from dockdyn.studies.cases.statistics import wilson_interval

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

HALF = "#efe7d8"  # between certainly not and certainly
WORDS = {"captured": ("captured", "not captured"), "requirements": ("all requirements met", "not all met")}
SHOWN = 2000  # cases of a figure over one key
BAR = 1.0  # in, room of the bar of colours
HEIGHT, HEIGHT_OF_ONE = 4.2, 2.4  # in, over two keys and over one


def map_figure(cases: CampaignCases, found: CaptureMap) -> Chart | Figure:
    """Return cases over one key or two: each one where they are few, shares of cells where they are many."""
    yes_or_no = found.of in WORDS
    if len(found.keys) == 1:
        return Chart([(_share_panel if yes_or_no else _figure_panel)(cases, found)])
    return Chart([_scatter_panel(cases, found)]) if found.scattered and yes_or_no else _coloured_cells(cases, found)


@use_report_style
def _coloured_cells(cases: CampaignCases, found: CaptureMap) -> Figure:
    """Return the outcome over two keys by colour, with the bar that says which is what."""
    from matplotlib.figure import Figure

    figure = Figure()
    ax = figure.subplots()
    size_panels(figure, [HEIGHT], 0)
    figure.subplots_adjust(right=1 - BAR / WIDTH)
    make_square(figure, cases, found)
    _draw_map(figure, ax, cases, found)
    ax.set(xlabel=key_label(cases, found.keys[0]), ylabel=key_label(cases, found.keys[1]))
    align_label(ax)
    return figure


def make_square(figure: Figure, cases: CampaignCases, found: CaptureMap) -> None:
    """Narrow the panel so that a circle is one, where both keys are of one sort."""
    width, height = (float(np.ptp(edges)) for edges in found.edges)
    alike = len({cases.units[key] for key in found.keys}) == 1
    if alike and height and 0.8 < width / height < 1.25:
        figure.subplots_adjust(right=(LEFT + HEIGHT * width / height) / WIDTH)


def _draw_map(figure: Figure, ax: Axes, cases: CampaignCases, found: CaptureMap) -> None:
    """Draw the mean of the outcome in every cell, blank where there are no cases; or each case's own where they are few."""
    from matplotlib.colors import LinearSegmentedColormap

    sorts = found.of in WORDS
    hues = [ORANGE, HALF, BLUE] if sorts else [HALF, COLOURS["sky"], BLUE, INK]
    style: dict[str, Any] = {"cmap": LinearSegmentedColormap.from_list("share", hues)}
    if sorts:
        style |= {"vmin": 0, "vmax": 100}
    if found.scattered:
        x, y = (key_values(cases, key, cases.values[key]) for key in found.keys)
        drawn: Any = ax.scatter(x, y, c=found.outcome, s=16, clip_on=False, zorder=3, **style)
    else:
        edges = [key_values(cases, key, ends) for key, ends in zip(found.keys, found.edges, strict=True)]
        mean = (100 if sorts else 1) * found.mean.T
        drawn = ax.pcolormesh(*edges, mean, rasterized=True, **style)  # one picture, not a path for every cell
        ax.grid(visible=False)
    box = ax.get_position()
    bar: Any = figure.colorbar(drawn, cax=figure.add_axes((box.x1 + 0.02, box.y0, 0.018, box.height)))
    words = label_with_unit(figure_words(cases, found.of), cases.units.get(found.of, ""))
    bar.set_label(f"{WORDS[found.of][0]}, %" if sorts else words if found.scattered else f"mean {words}")
    bar.solids.set_rasterized(True)
    bar.outline.set_visible(False)


def _scatter_panel(cases: CampaignCases, found: CaptureMap) -> Panel:
    """Return each case by its outcome."""
    x, y = (key_values(cases, key, cases.values[key]) for key in found.keys)
    looks = (
        (found.outcome == 1, WORDS[found.of][0], "blue", "o"),
        ((found.outcome == 0) & ~cases.failed, WORDS[found.of][1], "orange", "x"),
        (np.isnan(found.outcome), "not decided", "sky", "."),
        (cases.failed, "failed", "ink", "^"),
    )
    lines = [
        Line(x[chosen], y[chosen], colour, words, marker=marker, joined=False)
        for chosen, words, colour, marker in looks
        if chosen.any()
    ]
    return Panel(key_label(cases, found.keys[1]), lines, HEIGHT, across=key_label(cases, found.keys[0]))


def _share_panel(cases: CampaignCases, found: CaptureMap) -> Panel:
    """Return the share of each cell along one key, with its interval."""
    edges = key_values(cases, found.keys[0], found.edges[0])
    there = found.cases > 0
    middle, share = ((edges[1:] + edges[:-1]) / 2)[there], found.mean[there]
    low, high = wilson_interval(np.round(share * found.cases[there]), found.cases[there])
    gap = np.full(middle.shape, np.nan)
    ends = 100 * np.stack([np.minimum(low, share), np.maximum(high, share), gap], axis=1).ravel()
    return Panel(
        f"{WORDS[found.of][0]}, %",
        [
            Line(np.stack([middle, middle, gap], axis=1).ravel(), ends, "blue", "95 % sure"),
            Line(middle, 100 * share, "blue", "share of the cases", marker="o", size=4, joined=False),
        ],
        HEIGHT_OF_ONE,
        across=key_label(cases, found.keys[0]),
        across_limits=(float(edges[0]), float(edges[-1])),
        limits=(-3.0, 103.0),
    )


def _figure_panel(cases: CampaignCases, found: CaptureMap) -> Panel:
    """Return a figure over one key, case by case, and its mean by cell."""
    step = -(-found.outcome.size // SHOWN)
    values = key_values(cases, found.keys[0], cases.values[found.keys[0]])
    edges = key_values(cases, found.keys[0], found.edges[0])
    return Panel(
        label_with_unit(figure_words(cases, found.of), cases.units[found.of]),
        [
            Line(values[::step], found.outcome[::step], "sky", "case", marker=".", size=3, joined=False),
            Line(np.repeat(edges, 2)[1:-1], np.repeat(found.mean, 2), "ink", "mean"),
        ],
        HEIGHT_OF_ONE,
        across=key_label(cases, found.keys[0]),
    )
