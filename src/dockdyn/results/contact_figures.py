"""The key figures that every run with contacts has, whatever its bodies; those of its setup come besides.

Each is a function of the data of a run, by the names of a dataset (`dockdyn.results.key_figures`). Units are those of the
figures' names.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np

from dockdyn.results.key_figures import Data, KeyFigure
from dockdyn.results.measures import (
    Either,
    conserved_momentum,
    given_by_contacts,
    momentum_drift,
    relative_error,
    sum_in_order,
    work_since_start,
)

Some = Literal["", "capture_time"]  # a variable that tells the runs that have others from the rest
EPISODES = ("episode_onset", "episode_approach_speed", "episode_peak_force", "episode_peak_time", "episode_impulse")
STRUCK = "struck"  # which contacts an impact law has struck
OVER_CONTACTS = ("friction_loss",)  # numbers of a whole run
LATCHED: Some = "capture_time"  # runs with a latch have it


def values_or_nan(name: str, only_with: Some = "") -> Callable[[Data], Any]:
    """Return what is in the data under `name`; NaN in runs that have no variable `only_with`, where one is named.

    In all other runs a name that is not in the data is wrong: KeyError.
    """
    return lambda data: np.nan if only_with and only_with not in data else data[name]


def _contact_onsets(data: Data) -> tuple[Any, Any, Any]:
    """Return the module of the arrays, the onsets (s) of contacts, and which of them there are."""
    times = data["episode_onset"]
    xp = times.__array_namespace__()
    return xp, times, xp.isfinite(times)


def contact_count(data: Data) -> Either:
    """Return how many contacts there are."""
    xp, _, there = _contact_onsets(data)
    return xp.sum(there)


def first_contact(data: Data) -> Either:
    """Return when the first contact began."""
    xp, times, there = _contact_onsets(data)
    return xp.where(xp.any(there), times.min(initial=xp.inf, where=there), xp.nan)


def _largest_approach_speed(data: Data) -> Either:
    """Return the largest speed with which a contact began."""
    xp, _, there = _contact_onsets(data)
    speeds = data["episode_approach_speed"]
    return xp.where(xp.any(there), speeds.max(initial=-xp.inf, where=there), xp.nan)


def _contact_impulse(data: Data) -> Either:
    """Return the impulse of all normal forces."""
    return data["episode_impulse"].sum()


def _largest_force(data: Data) -> tuple[Any, Any]:
    """Return the largest force of contacts and of a capture, and when it was; the time is NaN where there is no force."""
    xp, _, there = _contact_onsets(data)
    touched, peaks = xp.any(there), data["episode_peak_force"]
    force = xp.where(touched, peaks.max(initial=0.0), 0.0)
    # a part with the largest force; without any there is a zero to point at
    when = xp.concat([data["episode_peak_time"].ravel(), xp.zeros(1)])
    time = xp.where(touched & (force > 0), when[xp.argmax(xp.concat([peaks.ravel(), xp.zeros(1)]))], xp.nan)
    for part in ("seated_contact", "capture") if "capture_peak_force" in data else ():
        other, then = data[f"{part}_peak_force"], data[f"{part}_peak_time"]
        governs = other > force  # not where there is none
        force, time = xp.where(governs, other, force), xp.where(governs, then, time)
    return force, time


def contact_figures(names: Sequence[str], data: Data) -> dict[str, Any]:
    """Return the figures of each contact by itself, as in "contact.faces.peak_force_N"; NaN for what did not happen, and
    for the force of one that an impact law has struck."""
    figures = [figure for figure in CONTACTS if not figure.needs or figure.needs in data]
    found = {
        f"contact.{name}.{figure.name.removeprefix('contact.')}": figure.of(_data_of_contact(data, index))
        for index, name in enumerate(names)
        for figure in figures
    }
    for index, name in enumerate(names if STRUCK in data else ()):
        struck = data[STRUCK][index]
        for figure in (f"contact.{name}.peak_force_N", f"contact.{name}.peak_time_s"):
            found[figure] = struck.__array_namespace__().where(struck, np.nan, found[figure])
    return found


def _data_of_contact(data: Data, index: int) -> dict[str, Any]:
    """Return what is known of the one contact with this number, of a dataset or of a log."""
    episodes = {name: data[name] for name in EPISODES}
    whole = {name: data[name][index : index + 1] for name in OVER_CONTACTS if name in data}
    if "episode_contact" in data:
        return whole | {name: values[data["episode_contact"] == index] for name, values in episodes.items()}
    return whole | {name: values[:, index] for name, values in episodes.items()}


def is_captured(data: Data) -> Either:
    """Return whether a latch caught the probe; NaN where there is none."""
    if LATCHED not in data:
        return np.nan
    time = data["capture_time"]
    return time.__array_namespace__().isfinite(time) * 1.0


def _momentum_error(name: Literal["linear", "angular"]) -> Callable[[Data], Any]:
    """Return the largest change of the `linear` or `angular` momentum, relative to the sum of the bodies' magnitudes.

    NaN for bodies that have no such momentum.
    """

    def error(data: Data) -> Either:
        return (
            momentum_drift(conserved_momentum(data, name), data[f"{name}_momentum_scale"])
            if f"{name}_momentum" in data
            else np.nan
        )

    return error


def energy_error(data: Data) -> Either:
    """Return the largest change of energy over a whole contact, relative to the largest kinetic energy."""
    changes = data["episode_energy"]
    whole = changes.__array_namespace__().isfinite(changes)
    return relative_error((abs(changes) * 1.0).max(initial=0.0, where=whole), data["kinetic_energy"].max())


def work_energy_error(data: Data) -> Either:
    """Return the largest difference between the work of the contact forces and the change of energy, relative to the largest.

    The energy is the kinetic one, with that of springs inside, less the work of control and gravity. What a latch that holds
    from the start took at once is no change of either.
    """
    return relative_error(abs(given_by_contacts(data) - work_since_start(data)).max(), data["kinetic_energy"].max())


def stored_figure(name: str, words: str, variable: str = "", *, only_with: Some = "", **more: Any) -> KeyFigure:  # noqa: ANN401, fields of it
    """Return a key figure that is in the data as it stands, under the name `variable`, by default its own.

    Where not every run of the setups that name it has that variable, `only_with` says which do (`values_or_nan`).
    """
    return KeyFigure(name, words, values_or_nan(variable or name, only_with), **more)


CAPTURED = (
    KeyFigure("captured", "captured", is_captured, smooth=False, number=bool),
    stored_figure("capture_time_s", "capture time", "capture_time", only_with=LATCHED),
)
OUTCOME = (
    stored_figure(
        "outcome_open", "whether the outcome is open at the end", "outcome_is_open", smooth=False, number=bool
    ),
    stored_figure("approach_left_s", "time that the approach would still take", "approach_left"),
)
MOTION = (
    stored_figure("kinetic_energy_start_J", "kinetic energy at the start", "kinetic_energy_start"),
    KeyFigure("linear_momentum_error", "error of linear momentum", _momentum_error("linear"), "samples", smooth=False),
    KeyFigure(
        "angular_momentum_error", "error of angular momentum", _momentum_error("angular"), "samples", smooth=False
    ),
    KeyFigure("energy_error", "error of energy", energy_error, "samples", smooth=False, where="conservative"),
    KeyFigure(
        "work_energy_error", "error of work and energy", work_energy_error, "samples", smooth=False, where="undamped"
    ),
)
CONTACTS = (
    KeyFigure("contact.count", "contact count", contact_count, smooth=False, number=int),
    KeyFigure("peak_force_N", "peak force", lambda data: _largest_force(data)[0]),
    KeyFigure("contact.impulse_N_s", "contact impulse", _contact_impulse),
    KeyFigure(
        "contact.friction_loss_J",
        "energy that friction took",
        lambda data: sum_in_order(data["friction_loss"]),
        needs="friction_loss",
    ),
    KeyFigure("contact.onset_s", "time of the first contact", first_contact),
    KeyFigure("peak_time_s", "time of the peak force", lambda data: _largest_force(data)[1]),
    KeyFigure("contact.approach_speed_m_s", "largest approach speed", _largest_approach_speed),
)
SOLVER = (
    stored_figure("step_s", "step", smooth=False),
    stored_figure("step_error", "largest error of a step", smooth=False),
    stored_figure("steps", "steps", smooth=False, number=int),
    stored_figure("end_time_s", "end of the run", smooth=False),
)
