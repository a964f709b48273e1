"""Key figures: the numbers by which a run is judged, each defined once.

One definition serves the summary of a run, requirements, the cases of a campaign or an envelope, and derivatives. It is a
function of what is known of a run: a mapping of arrays by the names that they have in a dataset, of NumPy where they come
from a dataset and of JAX, perhaps traced, where they come from the log of a located run (`dockdyn.results.log_data`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any, Literal, NamedTuple

import numpy as np

from dockdyn.deferred import jnp
from dockdyn.records import record
from dockdyn.results.measures import Either, finite_or_none
from dockdyn.results.requirements import ends_of, is_of_member, unit_of_figure, without_unit

Data = Mapping[str, Any]
SAMPLED_MEMBERS = ("tank.", "recovery.")  # figures of single members that begin so are of samples
Source = Literal["log", "samples", "run"]


@record
class KeyFigure:
    """One number by which a run is judged, or one for each of its contacts.

    Its name is its key in the summary and ends with its unit, as in "peak_force_N". Where it comes from is the
    `source`: the log of a located run, which every run and every case of a batch has; the samples of the motion, which a
    batch keeps where such a figure is asked for; or the whole run, such as a search by further runs, of which batches and
    derivatives know nothing.
    """

    name: str
    words: str  # in reports, without the unit
    of: Callable[[Data], Any]  # NaN: did not happen; of a list, entries as those of `episode_onset`
    source: Source = "log"
    smooth: bool = True  # whether it varies smoothly with the scenario, so that it has derivatives
    number: type[float | int | bool] = float  # in the summary
    each: bool = False  # a list, one entry a contact; a case has its least and its largest
    needs: str = ""  # name in the data without which a run has no such figure
    where: str = ""  # what the scenario must be for the figure to mean something, a name of what is `stated`; else None
    doubtful_from: float = np.inf  # a value of which a run is not to be trusted without a warning
    doubt: str = ""  # what is wrong then

    @property
    def unit(self) -> str:
        """The unit that the name ends with; empty where there is none."""
        return unit_of_figure(self.name)


def _nothing_stated(content: object) -> dict[str, bool]:
    """Return what is known of a scenario where no figure of a log depends on it."""
    return {}


def _of_no_member(content: object, data: Data) -> dict[str, Any]:
    """Return nothing: a setup whose figures are of all contacts."""
    return {}


class LocatedFigures(NamedTuple):
    """The key figures of a setup with located runs, and what the log of one tells of them."""

    figures: tuple[KeyFigure, ...]
    data: Callable[[Any, Any, Any], dict[str, Any]]  # of a model, its solution and its log, which JAX may trace
    stated: Callable[[Any], dict[str, bool]] = (
        _nothing_stated  # what the content of a scenario is, by `KeyFigure.where`
    )
    of_members: Callable[[Any, Data], dict[str, Any]] = (
        _of_no_member  # of a content and its run's data: single contacts, …
    )


def summary_figures(figures: Collection[KeyFigure], data: Data, stated: Mapping[str, bool]) -> dict[str, Any]:
    """Return the figures of a run for its summary: plain numbers or lists of them, None for what did not happen."""
    return {one.name: _in_summary(one, data, stated) for one in figures if _is_offered(one, data)}


def _in_summary(figure: KeyFigure, data: Data, stated: Mapping[str, bool]) -> bool | float | list[float | None] | None:
    """Return one figure for the summary."""
    if figure.where and not stated[figure.where]:
        return None
    value = figure.of(data)
    if figure.each:
        return [finite_or_none(item) for item in np.asarray(value)]
    return figure.number(value) if np.isfinite(value) else None


def case_figures(figures: Collection[KeyFigure], data: Data, sampled: bool) -> dict[str, Any]:
    """Return the figures that a log gives, and its samples where it is `sampled`: one number each, NaN for what did not happen.

    JAX may trace it. What the scenario must be for a figure is therefore not asked for here (`left_out`).
    """

    found: dict[str, Any] = {}
    for one in figures:
        known = one.source == "log" or (one.source == "samples" and sampled)
        if not (known and _is_offered(one, data)):
            continue
        value = jnp.asarray(one.of(data), float)
        found |= (
            least_and_largest(one.name, value, jnp.isfinite(data["episode_onset"])) if one.each else {one.name: value}
        )
    return found


def _is_offered(figure: KeyFigure, data: Data) -> bool:
    """Return whether a run has such a figure at all."""
    return not figure.needs or figure.needs in data


def least_and_largest(name: str, values: Either, there: Either) -> dict[str, Any]:
    """Return the least and the largest of a list; NaN where an entry that is `there` has none, or where none is."""
    xp = values.__array_namespace__()
    whole = xp.any(there) & xp.all(xp.isfinite(values) | ~there)
    least, largest = ends_of(name)
    return {
        least: xp.where(whole, xp.min(values, initial=xp.inf, where=there), xp.nan),
        largest: xp.where(whole, xp.max(values, initial=-xp.inf, where=there), xp.nan),
    }


def left_out(figures: Collection[KeyFigure], stated: Mapping[str, bool]) -> set[str]:
    """Return names of the figures that mean nothing in a scenario of which this is `stated`."""
    return {one.name for one in figures if one.where and not stated.get(one.where, False)}


def need_samples(figures: Collection[KeyFigure], asked: Collection[str]) -> bool:
    """Return whether any of the figures `asked` for, by names with or without unit, needs the samples of the motion."""
    of_figures = any(_names_of(one) & set(asked) for one in figures if one.source == "samples")
    return of_figures or any(name.startswith(SAMPLED_MEMBERS) for name in asked)


def in_batches(figures: Collection[KeyFigure], asked: Collection[str]) -> bool:
    """Return whether batches know all the figures that are `asked` for, by names with or without unit."""
    known = set().union(*(_names_of(one) for one in figures if one.source != "run"))
    return {name for name in asked if not is_of_member(name)} <= known


def without_other_members(figures: Mapping[str, Any], asked: Collection[str]) -> dict[str, Any]:
    """Return `figures` less those of single contacts, latches, ports, tanks and recoveries that nobody `asked` for, with or
    without unit."""
    kept = {name for name in figures if not is_of_member(name) or {name, without_unit(name)} & set(asked)}
    return {name: value for name, value in figures.items() if name in kept}


def _names_of(figure: KeyFigure) -> set[str]:
    """Return the names by which a figure can be asked for."""
    return {figure.name, without_unit(figure.name), *(ends_of(figure.name) if figure.each else ())}


def names_in_cases(figures: Collection[KeyFigure]) -> dict[str, KeyFigure]:
    """Return the figures by the names that a case has them under: a list is two numbers, its least and its largest."""
    return {name: one for one in figures for name in (ends_of(one.name) if one.each else (one.name,))}
