"""The map of a campaign: where over its keys capture happens."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dockdyn.report.drawing import COLOURS, LEFT, WIDTH, align_label, arrange, legend, styled
from dockdyn.studies.campaign.capture_map import CaptureMap
from dockdyn.studies.campaign.cases import CampaignCases
from dockdyn.studies.campaign.plots import BLUE, INK, ORANGE, key_axis, key_values
from dockdyn.studies.campaign.statistics import wilson
from dockdyn.studies.campaign.wording import figure_words, labelled

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

HALF = "#efe7d8"  # between certainly not and certainly
WORDS = {"captured": ("captured", "not captured"), "requirements": ("all requirements met", "not all met")}
SHOWN = 2000  # cases of a figure over one key
BAR = 1.0  # in, room of the bar of colours
HEIGHT = 4.2  # in


@styled
def map_figure(cases: CampaignCases, found: CaptureMap) -> Figure:
    """Cases over one key or two: each one where they are few, shares of cells where they are many."""
    from matplotlib.figure import Figure

    figure = Figure()
    ax = figure.subplots()
    if len(found.keys) == 1:
        arrange(figure, [2.4], 2)
        (_along if found.of in WORDS else points)(ax, cases, found)
    else:
        yes_or_no = found.of in WORDS
        arrange(figure, [HEIGHT], 3 if found.scattered and yes_or_no else 0)
        if found.scattered and yes_or_no:
            _scatter(ax, cases, found)
        else:
            figure.subplots_adjust(right=1 - BAR / WIDTH)
            square(figure, cases, found)
            _coloured(figure, ax, cases, found)
        key_axis(ax, "y", cases, found.keys[1])
    key_axis(ax, "x", cases, found.keys[0])
    align_label(ax)
    legend(figure, ax)
    return figure


def square(figure: Figure, cases: CampaignCases, found: CaptureMap) -> None:
    """Narrows the panel so that a circle is one, where both keys are of one sort."""
    width, height = (float(np.ptp(edges)) for edges in found.edges)
    alike = len({cases.units[key] for key in found.keys}) == 1
    if alike and height and 0.8 < width / height < 1.25:
        figure.subplots_adjust(right=(LEFT + HEIGHT * width / height) / WIDTH)


def _coloured(figure: Figure, ax: Axes, cases: CampaignCases, found: CaptureMap) -> None:
    """The mean of the outcome in every cell, blank where there are no cases; or each case's own where they are few."""
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
    words = labelled(figure_words(cases, found.of), cases.units.get(found.of, ""))
    bar.set_label(f"{WORDS[found.of][0]}, %" if sorts else words if found.scattered else f"mean {words}")
    bar.solids.set_rasterized(True)
    bar.outline.set_visible(False)


def _scatter(ax: Axes, cases: CampaignCases, found: CaptureMap) -> None:
    """Each case by its outcome."""
    x, y = (key_values(cases, key, cases.values[key]) for key in found.keys)
    failed = cases.failed
    for holds, words, style in (
        (found.outcome == 1, WORDS[found.of][0], {"marker": "o", "color": BLUE, "s": 11, "linewidths": 0}),
        (
            (found.outcome == 0) & ~failed,
            WORDS[found.of][1],
            {"marker": "x", "color": ORANGE, "s": 13, "linewidths": 1.0},
        ),
        (np.isnan(found.outcome), "not decided", {"marker": ".", "color": COLOURS["sky"], "s": 16, "linewidths": 0}),
        (failed, "failed", {"marker": "+", "color": INK, "s": 26, "linewidths": 1.0}),
    ):
        if holds.any():
            given: dict[str, Any] = style
            ax.scatter(x[holds], y[holds], label=words, clip_on=False, zorder=3, **given)


def _along(ax: Axes, cases: CampaignCases, found: CaptureMap) -> None:
    """The share of each cell along one key, with its interval."""
    edges = key_values(cases, found.keys[0], found.edges[0])
    middle = (edges[1:] + edges[:-1]) / 2
    there = found.cases > 0
    share = found.mean[there]
    low, high = wilson(np.round(share * found.cases[there]), found.cases[there])
    gaps = 100 * np.maximum(np.stack([share - low, high - share]), 0)
    ax.errorbar(middle[there], 100 * share, gaps, fmt="o", color=BLUE, markersize=4, elinewidth=1.2, label="95 % sure")
    ax.set(ylim=(-3, 103), ylabel=f"{WORDS[found.of][0]}, %", xlim=(edges[0], edges[-1]))


def points(ax: Axes, cases: CampaignCases, found: CaptureMap) -> None:
    """A figure over one key, case by case, and its mean by cell."""
    step = -(-found.outcome.size // SHOWN)
    values = key_values(cases, found.keys[0], cases.values[found.keys[0]])
    style: dict[str, Any] = {"markersize": 3, "color": COLOURS["sky"], "rasterized": found.outcome.size > 200}
    ax.plot(values[::step], found.outcome[::step], ".", label="case", **style)
    edges = key_values(cases, found.keys[0], found.edges[0])
    ax.stairs(found.mean, edges, baseline=None, color=INK, label="mean")
    ax.set_ylabel(labelled(figure_words(cases, found.of), cases.units[found.of]))
