"""The dataset of a run: named dimensions, units and long names on every variable."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

import numpy as np
import xarray as xr

from dockdyn.integrate.solution import Status
from dockdyn.scenario.load import Scenario
from dockdyn.study.episodes import Episode

# name: (dimensions after time, units, long name)
VARIABLES: dict[str, tuple[tuple[str, ...], str, str]] = {
    "position": (("body", "axis"), "m", "position of the centre of mass, inertial"),
    "attitude": (("body", "quaternion"), "1", "attitude, body to inertial, scalar first"),
    "rotation": (("body", "axis"), "rad", "rotation vector since the start, body axes"),
    "velocity": (("body", "axis"), "m/s", "velocity of the centre of mass, inertial"),
    "rate": (("body", "axis"), "rad/s", "angular velocity, body axes"),
    "feature_position": (
        ("contact", "axis"),
        "m",
        "feature from the surface's reference point, axes of the surface's body",
    ),
    "azimuth": (("contact",), "rad", "angle of the feature around the docking axis"),
    "depth": (("contact",), "m", "penetration depth, positive is overlap"),
    "depth_rate": (("contact",), "m/s", "penetration rate"),
    "sliding_speed": (("contact",), "m/s", "speed of the feature over the surface"),
    "normal_force": (("contact",), "N", "normal force where it is generated"),
    "contact_force": (("contact", "axis"), "N", "contact force that acts on the chaser, inertial"),
    "load_force": (("point", "axis"), "N", "force of the contacts on the body, body axes"),
    "load_moment": (("point", "axis"), "N m", "moment of the contacts about the point, body axes"),
    "kinetic_energy": ((), "J", "kinetic energy of both bodies"),
    "work": ((), "J", "work of the contact forces"),
    "linear_momentum": (("axis",), "N s", "linear momentum of both bodies, inertial"),
    "angular_momentum": (("axis",), "N m s", "angular momentum about the common centre of mass, inertial"),
    "linear_momentum_scale": ((), "N s", "sum of the bodies' linear momenta by magnitude"),
    "angular_momentum_scale": ((), "N m s", "sum of the bodies' angular momenta by magnitude"),
}

REASONS = {
    Status.FINISHED: "finished",
    Status.NOT_FINITE: "stopped at t = {time:.6g} s: {culprit} is not finite",
    Status.TOO_MANY_EVENTS: "stopped at t = {time:.6g} s: more than {events} events (integrator.max_events); contacts chatter, "
    "or the delayed loop bounces ever faster",
    Status.DELAY_LINE_FULL: "stopped at t = {time:.6g} s: the delay line is full; too many events within one delay",
    Status.TOO_MANY_ITERATIONS: "stopped at t = {time:.6g} s: too many steps; the motion is too fast for them",
}


@dataclass
class Run:
    """What a run left, in NumPy arrays."""

    time: Any  # s, of the samples
    sampled: dict[str, Any]
    at_moments: dict[str, Any]  # observed at t = 0 and at the moments of the log
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


def build_dataset(scenario: Scenario, run: Run) -> xr.Dataset:
    """The dataset of a run of `scenario`."""
    content = scenario.content
    data: dict[str, Any] = {}
    for name, (dims, units, words) in VARIABLES.items():
        data[name] = (("time", *dims), run.sampled[name], {"units": units, "long_name": words})
    data |= episode_variables(scenario, run)
    reason = REASONS[run.status].format(time=run.stopped_at, culprit=run.culprit, events=content.integrator.max_events)
    coordinates = {
        "time": ("time", run.time, {"units": "s", "long_name": "time"}),
        "body": ["chaser", "target"],
        "axis": ["x", "y", "z"],
        "quaternion": ["w", "x", "y", "z"],
        "contact": contact_names(content),
        "point": [point.name for point in content.points()],
    }
    attributes = {
        "kind": scenario.kind,
        "title": scenario.title,
        "scenario": scenario.text(),
        "dockdyn_version": version("dockdyn"),
        "status": reason,
        "finished": int(run.status == Status.FINISHED),
        "integrator": content.integrator.method,
        "step_s": run.step,
        "steps": run.steps,
        "step_error": run.roughest,
        "iterations": run.iterations,
        "delay_s": float(content.loop.delay),
        "conservative": int(conservative(content)),
        "wall_time_s": run.wall_time,
        "prediction": run.prediction,
    }
    return xr.Dataset(data, coordinates, attributes)


def contact_names(content: Any) -> list[str]:
    """Names of the contacts: their own, or their feature's, with the surface's where that is not enough."""
    features = [contact.feature for contact in content.contact]
    return [
        contact.name
        or (contact.feature if features.count(contact.feature) == 1 else f"{contact.feature} {contact.surface}")
        for contact in content.contact
    ]


def conservative(content: Any) -> bool:
    """Whether energy returns to its value after every contact: no delay, no friction, a lossless law of depth alone."""

    def lossless(contact: Any) -> bool:
        law = contact.normal
        spring = law.law == "hertz" or (law.law in ("spring-dashpot", "hunt-crossley") and law.damping == 0)
        spring = spring or getattr(law, "restitution", None) == 1
        return spring and (contact.friction is None or getattr(contact.friction, "coefficient", 1) == 0)

    return content.loop.delay == 0 and all(lossless(contact) for contact in content.contact)


def episode_variables(scenario: Scenario, run: Run) -> dict[str, Any]:
    """Variables over the dimension `episode`: one entry a contact from onset to release."""
    contacts = scenario.content.contact
    found = run.episodes
    observed = run.at_moments
    energy = observed["kinetic_energy"]

    def at_onset(name: str, width: int = 0) -> Any:
        values = [observed[name][episode.onset_row, episode.contact] for episode in found]
        return np.array(values).reshape((len(found), width) if width else len(found))

    def after(name: str, minus: str) -> Any:
        values = [
            observed[name][e.settled_row] - (energy[0] if minus == "start" else observed[name][e.onset_row])
            if e.settled_row >= 0
            else np.nan
            for e in found
        ]
        return np.array(values, float)

    on_cone = np.array([scenario.content.pair(contacts[e.contact])[1].shape == "cone" for e in found], bool)

    def variable(values: Any, units: str, words: str, *dims: str) -> Any:
        return (("episode", *dims), np.asarray(values), {"units": units, "long_name": words})

    return {
        "episode_contact": variable(np.array([e.contact for e in found], int), "1", "which contact pair"),
        "episode_feature": variable(np.array([contacts[e.contact].feature for e in found], str), "1", "feature"),
        "episode_surface": variable(np.array([contacts[e.contact].surface for e in found], str), "1", "surface"),
        "episode_onset": variable(np.array([e.onset for e in found], float), "s", "onset, depth zero"),
        "episode_release": variable(np.array([e.release for e in found], float), "s", "release, depth zero"),
        "episode_position": variable(
            at_onset("feature_position", 3), "m", "feature at onset, as feature_position", "axis"
        ),
        "episode_azimuth": variable(np.where(on_cone, at_onset("azimuth"), np.nan), "rad", "azimuth at onset (cones)"),
        "episode_approach_speed": variable(at_onset("depth_rate"), "m/s", "approach speed at onset"),
        "episode_peak_force": variable(np.array([e.peak for e in found], float), "N", "peak normal force"),
        "episode_peak_time": variable(np.array([e.peak_time for e in found], float), "s", "time of the peak"),
        "episode_impulse": variable(np.array([e.impulse for e in found], float), "N s", "impulse of the normal force"),
        "episode_energy": variable(after("kinetic_energy", "start"), "J", "kinetic energy after, relative to t = 0"),
        "episode_energy_gain": variable(
            after("kinetic_energy", "onset"), "J", "kinetic energy after, relative to onset"
        ),
    }
