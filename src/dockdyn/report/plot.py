"""A figure of what a result has over time, for a notebook."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from dockdyn.dataset import DataArray, GivenDataset
from dockdyn.report.drawing import align_label, draw_columns, over_time, short_label, size_panels, use_report_style
from dockdyn.results.store import result_from
from dockdyn.scenario.language.errors import ScenarioError, nearest
from dockdyn.scenario.language.given import names_from

if TYPE_CHECKING:
    from matplotlib.figure import Figure

HEIGHT = 1.7  # in, of a panel
MOST_PANELS = 12
BESIDE = 0.76  # of the width: panels, where legends stand beside them


@use_report_style
def plot(dataset: GivenDataset | str | Path, *names: str) -> Figure:
    """Return a Matplotlib figure of variables of a run over its time, a panel each, contacts shaded.

    A name is that of a variable of the dataset, or a part of the names of several, `"force"`. Without names the depth and
    the normal force are drawn, or the first variable over time where a setup has neither. Axes carry the variables' units.
    `dataset` is what `dockdyn.simulate` gives, or a file.

    Raises ScenarioError for a name that fits none, and for a result that is of no run.
    """
    dataset = result_from(dataset)
    series = {str(name): values for name, values in dataset.data_vars.items() if _is_series(values)}
    if not series:
        raise ScenarioError("the result has nothing over time to plot; must be that of a run")
    chosen = _chosen_names(names_from("names", names), list(series))
    from dockdyn.report.shown_figure import ShownFigure

    drawn = [series[name].values.reshape(len(dataset.time), -1) for name in chosen]
    labels = [_column_labels(series[name]) for name in chosen]
    figure = ShownFigure()
    axes = figure.subplots(len(chosen), 1, sharex=True, squeeze=False)[:, 0]
    size_panels(figure, [HEIGHT] * len(chosen), 0)
    if any(len(columns) > 1 for columns in labels):
        figure.subplots_adjust(right=BESIDE)
    if "episode_onset" in dataset:
        over_time(dataset, axes)
    else:
        axes[-1].set_xlabel("time, s")
    for ax, name, values, columns in zip(axes, chosen, drawn, labels, strict=True):
        draw_columns(ax, dataset.time.values, values, columns)
        unit = series[name].attrs.get("units", "")
        ax.set_ylabel(f"{name.replace('_', ' ')}{f', {unit}' if unit else ''}")
        align_label(ax)
        if len(columns) > 1:
            ax.legend(loc="upper left", bbox_to_anchor=(1.01, 1.05), fontsize=7)
    return figure


def _is_series(values: DataArray) -> bool:
    """Return whether a variable is numbers over the time of a run."""
    return values.dims[:1] == ("time",) and values.size > 0 and bool(np.issubdtype(values.dtype, np.number))


def _chosen_names(names: list[str], known: list[str]) -> list[str]:
    """Return the variables that `names` are or are parts of."""
    if not names:
        return [name for name in ("depth", "normal_force") if name in known] or known[:1]
    found: list[str] = []
    for name in names:
        fitting = [name] if name in known else [other for other in known if name in other]
        if not fitting:
            raise ScenarioError(f"{name}: no such variable over time; {nearest(name, known)}")
        found += [other for other in fitting if other not in found]
    if len(found) > MOST_PANELS:
        raise ScenarioError(f"{', '.join(names)}: {len(found)} variables; must be at most {MOST_PANELS} in one figure")
    return found


def _column_labels(values: DataArray) -> list[str]:
    """Return what to call the columns of a variable: the coordinates of its dimensions beside time."""
    columns = [""]
    for name in values.dims[1:]:
        places = values.coords[name].values if name in values.coords else range(values.sizes[name])
        columns = [f"{before} {place}".strip() for before in columns for place in places]
    return [short_label(column) for column in columns]
