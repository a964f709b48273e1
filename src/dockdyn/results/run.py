"""What a run leaves, and how it is described in a dataset: units and long names on every variable."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, SupportsFloat

import numpy as np
from numpy.typing import ArrayLike

from dockdyn.integrate.solution import Status
from dockdyn.records import record
from dockdyn.results.episodes import Episode
from dockdyn.results.log_data import Log

Variable = tuple[str | tuple[str, ...], Any, dict[str, Any]]  # as xarray takes it: dimensions, values, attributes
Layout = dict[str, tuple[tuple[str, ...], str, str]]  # name: (dimensions after time, units, long name)


@dataclass
class Run:
    """What a run left, in NumPy arrays."""

    time: Any  # s, of the samples
    sampled: dict[str, Any]
    log: Log
    episodes: list[Episode]
    status: Status
    stopped_at: float  # s
    first_nonfinite: str
    steps: int
    iterations: int
    step: float  # s
    watched: bool = True  # whether the log has peaks and integrals
    pace: float = math.nan  # s, how long the last steps were allowed to be
    largest_local_error: float = 0.0  # largest estimate of a step's error, relative to the motion
    states: Any = None  # of the model at the moments, rows of a tree
    sample_states: Any = None  # of it at the samples, likewise; those of a located run
    wall_time: float = 0.0  # s
    prediction: str = ""  # a warning from linear theory

    def at_onset(self, name: str) -> list[Any]:
        """Return an observed quantity of every contact at its onset."""
        return [self.log.seen[name][episode.onset_row, episode.contact] for episode in self.episodes]


@record
class Described:
    """A setup's own part of a dataset."""

    variables: dict[str, Any]
    coordinates: dict[str, Any]  # besides time
    conservative: bool  # whether energy should return to its value after every contact
    undamped: bool = True  # whether nothing but contacts takes energy
    capture_law: str = ""  # what holds the bodies together once a latch has fallen in
    attributes: dict[str, Any] = field(default_factory=dict)  # besides what all runs have


def sampled_variables(layout: Layout, run: Run) -> dict[str, Any]:
    """Return variables over time."""
    return {
        name: (("time", *dims), run.sampled[name], {"units": units, "long_name": words})
        for name, (dims, units, words) in layout.items()
    }


def episode_variable(values: ArrayLike, units: str, words: str, *dims: str) -> Variable:
    return (("episode", *dims), np.asarray(values), {"units": units, "long_name": words})


def scalar_variable(value: SupportsFloat, units: str, words: str) -> Variable:
    """Return a single number of a run; NaN where there is none."""
    return ((), float(value), {"units": units, "long_name": words})


def variables_of(described: Mapping[str, Sequence[str]], data: Mapping[str, Any]) -> dict[str, Any]:
    """Return those single numbers of a run that are in its data, by what they are `described` as: unit and words first."""
    return {name: scalar_variable(data[name], *words[:2]) for name, words in described.items() if name in data}


def contact_variables(run: Run) -> dict[str, Any]:
    """Return what every contact has, over the dimension `episode`."""
    found = run.episodes

    def each(name: str) -> np.ndarray:
        return np.array([getattr(episode, name) for episode in found], float)

    variable = episode_variable
    return {
        "episode_contact": variable(np.array([e.contact for e in found], int), "1", "which contact pair"),
        "episode_onset": variable(each("onset"), "s", "onset, depth zero"),
        "episode_release": variable(each("release"), "s", "release, depth zero"),
        "episode_approach_speed": variable(
            np.array(run.at_onset("depth_rate"), float), "m/s", "approach speed at onset"
        ),
        "episode_peak_force": variable(each("peak"), "N", "peak normal force"),
        "episode_peak_time": variable(each("peak_time"), "s", "time of the peak"),
        "episode_impulse": variable(each("impulse"), "N s", "impulse of the normal force"),
        **(
            {"episode_friction_loss": variable(each("friction_loss"), "J", "energy that friction took")}
            if run.log.friction_losses() is not None
            else {}
        ),
    }


def energies_after(run: Run, delay: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the energy (J) after each contact relative to t = 0, and relative to its onset; NaN where the run ended before."""
    rows, contacts = (np.array([getattr(one, key) for one in run.episodes], int) for key in ("onset_row", "contact"))
    return run.log.energies_after(delay)[rows, contacts], run.log.energy_gains(delay)[rows, contacts]
