"""How figures look: colours, contacts as shaded times, labels that do not overlap."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from dockdyn.dataset import Dataset
from dockdyn.report.charts.chart import SymmetricLog
from dockdyn.report.palette import COLOURS, DASHES, SERIES
from dockdyn.report.wording import format_ranges
from dockdyn.scenario.language.errors import ScenarioError
from dockdyn.scenario.load import parse

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

STYLE: dict[str, Any] = {
    "font.size": 9,
    "font.family": "DejaVu Sans",  # comes with matplotlib
    "axes.titlesize": 9,
    "axes.labelsize": 9,
    "xtick.labelsize": 8,
    "ytick.labelsize": 8,
    "legend.fontsize": 8,
    "text.color": COLOURS["ink"],
    "text.parse_math": False,  # a name with a dollar sign is a name
    "axes.edgecolor": COLOURS["muted"],
    "axes.labelcolor": COLOURS["ink"],
    "axes.facecolor": "none",
    "axes.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.unicode_minus": True,
    "axes.formatter.limits": (-3, 5),
    "axes.formatter.useoffset": False,
    "axes.prop_cycle": f"cycler('color', {SERIES})",
    "grid.color": COLOURS["rule"],
    "grid.linewidth": 0.5,
    "xtick.color": COLOURS["muted"],
    "ytick.color": COLOURS["muted"],
    "xtick.labelcolor": COLOURS["ink"],
    "ytick.labelcolor": COLOURS["ink"],
    "lines.linewidth": 1.2,
    "legend.frameon": False,
    "legend.handlelength": 2.6,
    "figure.facecolor": "none",
    "figure.dpi": 100,
    "savefig.dpi": 160,
    "svg.fonttype": "none",
    "svg.hashsalt": "dockdyn",
}
WIDTH = 7.4  # in
LEFT, RIGHT, TOP, BOTTOM = 0.82, 0.2, 0.26, 0.46  # in, margins of figures over time
LINEAR = 0.7  # decades that the linear part of a symmetric logarithmic scale takes
LEGEND_ROW, LEGEND_COLUMNS = 0.19, 3  # in
CLOSE = 0.04  # share of a panel's width below which labels share one text


def use_report_style[**Arguments, Result](draw: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """Make `draw` draw in the report's style, whatever the reader's own settings of matplotlib."""

    @functools.wraps(draw)
    def wrapped(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
        from matplotlib import style

        with style.context(STYLE, after_reset=True):
            return draw(*args, **kwargs)

    return wrapped


def scenario_content(dataset: Dataset) -> Any:  # noqa: ANN401, of the schema of its setup
    """Return the scenario of a result; None where a law or surface of the user's own can no longer be imported."""
    try:
        return _content_of(dataset.attrs["scenario"])
    except ScenarioError:
        return None


@functools.lru_cache(maxsize=8)
def _content_of(text: str) -> Any:  # noqa: ANN401, of the schema of its setup
    """Return what a scenario's text says, read once for all figures."""
    return parse(text, "result").content


def pair_labels(dataset: Dataset) -> list[str]:
    """Return what to call each contact pair."""
    return [short_label(str(name)) for name in dataset.contact.values]


def short_label(name: str, length: int = 40) -> str:
    """Return a user's name as a label: one line, not too long; matplotlib drops labels that begin with an underscore."""
    line = " ".join(name.split())
    line = line if len(line) <= length else line[: length - 1] + "…"
    return f"\N{ZERO WIDTH SPACE}{line}" if line.startswith("_") else line


def group_places(places: np.ndarray, apart: float) -> list[list[int]]:
    """Return indexes of `places` (n, dimensions), grouped around the first ones that are further `apart` than that."""
    groups: list[list[int]] = []
    for index, place in enumerate(places):
        for group in groups:
            if np.linalg.norm(place - places[group[0]]) < apart:
                group.append(index)
                break
        else:
            groups.append([index])
    return groups


def contact_spans(dataset: Dataset) -> np.ndarray:
    """Return the onset and release (s) of every contact, (contacts, 2); one that was not released lasts to the end."""
    release = dataset.episode_release.values
    end = float(dataset.time[-1])
    return np.stack([dataset.episode_onset.values, np.where(np.isfinite(release), release, end)], axis=1)


def contact_places(dataset: Dataset) -> np.ndarray:
    """Return when (s) the force of every contact is largest, where its number stands: others may overlap it; the middle of one
    that an impact law parts at once."""
    peaks = dataset.episode_peak_time.values
    return np.where(np.isfinite(peaks), peaks, contact_spans(dataset).mean(axis=1))


def size_panels(
    figure: Figure, heights: Sequence[float], entries: int, title: float = 0.0, labelled: bool = False
) -> None:
    """Size a figure for panels of `heights` (in) with `title` (in) above each, under a legend of so many entries.

    `labelled` where panels above others name their horizontal axis, too, and not the lowest ones alone.
    """
    gap = (BOTTOM if labelled else 0.16) + title  # in
    top = TOP + title + LEGEND_ROW * (-(-entries // LEGEND_COLUMNS) if entries > 1 else 0)
    height = top + sum(heights) + gap * (len(heights) - 1) + BOTTOM
    figure.set_size_inches(WIDTH, height)
    figure.subplots_adjust(
        left=LEFT / WIDTH,
        right=1 - RIGHT / WIDTH,
        top=1 - top / height,
        bottom=BOTTOM / height,
        hspace=gap * len(heights) / sum(heights),
        wspace=0.33,
    )


def over_time(dataset: Dataset, axes: np.ndarray, close: float = CLOSE) -> None:
    """Make `axes`, from top to bottom, panels over the time of a run."""
    end = float(dataset.time[-1])
    for ax in axes:
        shade_contacts(dataset, ax)
        ax.set_xlim(0, end if end > 0 else 1)
        align_label(ax)
    _name_contacts(dataset, axes[0], close)
    axes[-1].set_xlabel("time, s")


def align_label(ax: Axes) -> None:
    """Put the label of the vertical axis where all panels of a column have it."""
    ax.yaxis.set_label_coords(-LEFT * 0.8 / (WIDTH * ax.get_position().width), 0.5)


def shade_contacts(dataset: Dataset, ax: Axes) -> None:
    """Shade the times of contact; the thin edge keeps a short one visible."""
    spans = [(onset, release - onset) for onset, release in contact_spans(dataset)]
    colour = COLOURS["contact"]
    ax.broken_barh(spans, (0, 1), transform=ax.get_xaxis_transform(), color=colour, linewidth=0.4, zorder=0)


def _name_contacts(dataset: Dataset, ax: Axes, close: float) -> None:
    """Write Q1, Q2 … above the shaded times; neighbours too close for that share one text."""
    middles = contact_places(dataset)
    groups: list[list[int]] = []
    for index in np.argsort(middles):
        if groups and middles[index] - middles[groups[-1][-1]] < close * float(dataset.time[-1]):
            groups[-1].append(int(index))
        else:
            groups.append([int(index)])
    for group in groups:
        numbers = [index + 1 for index in group]
        words = format_ranges(numbers) if len(numbers) < 4 else f"Q{min(numbers)}–Q{max(numbers)}"
        middle = (middles[group[0]] + middles[group[-1]]) / 2
        at_end = middle > (1 - close) * float(dataset.time[-1])
        place = (float(dataset.time[-1]) if at_end else middle, 1.02)
        side = "right" if at_end else "center"
        ax.text(*place, words, transform=ax.get_xaxis_transform(), ha=side, va="bottom", color=COLOURS["muted"])


def draw_columns(
    ax: Axes, time: np.ndarray | Sequence[float], values: np.ndarray, labels: list[str], first: int = 0
) -> None:
    """Draw columns of `values`, their styles counted from the `first`."""
    for index, label in enumerate(labels):
        place = first + index
        style = {"color": SERIES[place % len(SERIES)], "linestyle": DASHES[place % len(DASHES)]}
        ax.plot(time, values[:, index], label=label, **style)


def draw_legend(figure: Figure, ax: Axes) -> None:
    """Draw a legend of what `ax` shows, above the panels, when there is something to tell apart."""
    handles, labels = ax.get_legend_handles_labels()
    if len(handles) > 1:
        corner = (LEFT / WIDTH, 1.0)
        columns = min(LEGEND_COLUMNS, len(handles))
        figure.legend(handles, labels, loc="upper left", bbox_to_anchor=corner, ncols=columns, borderaxespad=0.1)


def scale_symmetrically(ax: Axes, scale: SymmetricLog) -> None:
    """Give the vertical axis a symmetric logarithmic scale."""
    from matplotlib.ticker import FuncFormatter

    ax.set_yscale("symlog", linthresh=scale.threshold, linscale=LINEAR)
    ax.set_ylim(*scale.limits)
    ax.set_yticks(scale.ticks)
    ax.yaxis.set_major_formatter(FuncFormatter(power_of_ten))
    ax.yaxis.minorticks_off()


def power_of_ten(value: float, _: int | None = None) -> str:
    """Return a tick of a logarithmic scale without mathematical markup."""
    if value == 0:
        return "0"
    exponent = round(np.log10(abs(value)))
    digits = str(exponent).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return f"{'−' if value < 0 else ''}10{digits}"


def plain_tick(value: float, _: int | None = None) -> str:
    """Return a tick of a logarithmic scale: 0.02, 500, 2×10⁵."""
    if 1e-3 <= value < 1e5:
        return f"{value:g}"
    digit, exponent = f"{value:.0e}".split("e")
    return ("" if digit == "1" else f"{digit}×") + power_of_ten(10.0 ** int(exponent))
