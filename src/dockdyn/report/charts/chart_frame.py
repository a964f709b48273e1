"""The frame of a chart over two keys: axes with units, what is shaded, entries of the legend."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dockdyn.report.drawing import COLOURS, WIDTH, plain_tick, size_panels
from dockdyn.report.field import Key

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SHADE: dict[str, Any] = {"color": COLOURS["sky"], "alpha": 0.22, "linewidth": 0, "zorder": 0}  # where it is stable


def make_panel(height: float, entries: int) -> tuple[Figure, Axes]:
    """Return a figure of one panel of `height` (in) under a legend of so many entries."""
    from matplotlib.figure import Figure

    figure = Figure()
    ax = figure.subplots()
    size_panels(figure, [height], entries, title=-0.14)  # no names of contacts between
    figure.subplots_adjust(right=1 - 0.25 / WIDTH)  # room for half the last tick's number
    return figure, ax


def style_axes(ax: Axes, keys: list[Key]) -> None:
    """Make the axes, x first, those of keys; logarithmic ones with plain numbers."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

    for name, key in zip("xy", keys, strict=False):
        ax.set(**{f"{name}label": key.label})
        if key.logarithmic:
            ax.set(**{f"{name}scale": "log"})
            axis: Any = getattr(ax, f"{name}axis")
            axis.set_major_locator(LogLocator(subs=(1, 2, 5) if key.values[-1] < 300 * key.values[0] else (1,)))
            axis.set_minor_locator(NullLocator())
            axis.set_major_formatter(FuncFormatter(plain_tick))
        ax.set(**{f"{name}lim": (key.values[0], key.values[-1])})


def label_once(ax: Axes, words: str) -> str:
    """Return a label, or none when something in `ax` has it."""
    return "_" if words in ax.get_legend_handles_labels()[1] else words
