"""What a run leaves, and how it is described in a dataset: units and long names on every variable."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dockdyn.integrate.solution import Status
from dockdyn.study.episodes import Episode

Layout = dict[str, tuple[tuple[str, ...], str, str]]  # name: (dimensions after time, units, long name)


@dataclass
class Run:
    """What a run left, in NumPy arrays."""

    time: Any  # s, of the samples
    sampled: dict[str, Any]
    moment_times: Any  # s, 0 and the moments of the log
    at_moments: dict[str, Any]  # observed at them
    episodes: list[Episode]
    status: Status
    stopped_at: float  # s
    culprit: str
    steps: int
    iterations: int
    step: float  # s
    roughest: float = 0.0  # largest estimate of a step's error, relative to the motion
    wall_time: float = 0.0  # s
    prediction: str = ""  # a warning from linear theory

    def at_onset(self, name: str) -> list[Any]:
        """An observed quantity of every contact at its onset."""
        return [self.at_moments[name][episode.onset_row, episode.contact] for episode in self.episodes]


@dataclass(frozen=True)
class Described:
    """A kind's own part of a dataset."""

    variables: dict[str, Any]
    coordinates: dict[str, Any]  # besides time
    conservative: bool  # whether energy should return to its value after every contact
    undamped: bool = True  # whether nothing but contacts takes energy
    capture_law: str = ""  # what holds the bodies together once a latch has fallen in


def sampled_variables(layout: Layout, run: Run) -> dict[str, Any]:
    """Variables over time."""
    return {
        name: (("time", *dims), run.sampled[name], {"units": units, "long_name": words})
        for name, (dims, units, words) in layout.items()
    }


def episode_variable(values: Any, units: str, words: str, *dims: str) -> Any:
    return (("episode", *dims), np.asarray(values), {"units": units, "long_name": words})


def contact_variables(run: Run) -> dict[str, Any]:
    """What every contact has, over the dimension `episode`."""
    found = run.episodes

    def each(name: str) -> Any:
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
    }


def lossless(law: Any) -> bool:
    """Whether a normal-force law (its section) gives back all the energy it takes."""
    spring = law.law == "hertz" or (law.law in ("spring-dashpot", "hunt-crossley") and law.damping == 0)
    return spring or getattr(law, "restitution", None) == 1
