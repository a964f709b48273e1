"""All compensators on one rig, over a range of stiffness of what it touches."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from importlib.metadata import version
from typing import Any

import numpy as np
import xarray as xr
from pydantic import TypeAdapter, ValidationError

from dockdyn.scenario.compensators import LAWS, CompensatorLaw
from dockdyn.scenario.errors import ScenarioError, nearest, shown
from dockdyn.scenario.load import Scenario
from dockdyn.scenario.parts import Stiffness
from dockdyn.scenario.units import whole_number
from dockdyn.study.measures import number
from dockdyn.study.rig_compensator import Maker
from dockdyn.study.rig_judgement import frequency
from dockdyn.study.rig_lanes import Lanes
from dockdyn.study.rig_measures import Motion, measures
from dockdyn.study.rig_run import loop_of

NONE = "none"  # the rig without a compensator
STIFFNESS = "contact.normal.stiffness"
DECADES, COUNT = 1.0, 21  # below and above the scenario's own stiffness; values, where no range is given
MOST = 200  # stiffnesses
DEFAULT = "lead-energy"  # the recommended compensator
FINE = 0.02  # error of the amplitude that is taken for none
ORACLES = ("variable-gain",)  # see the motion without rig

# variable: (units, long name)
VARIABLES = {
    "amplitude_ratio": ("1", "amplitude at the end, rig over that without rig"),
    "phase_error_rad": ("rad", "phase that the rig has gained at the end"),
    "peak_force_error_N": ("N", "largest force, rig less that without rig"),
    "end_force_error_N": ("N", "largest error of force at the end"),
    "end_velocity_error_m_s": ("m/s", "largest error of velocity at the end"),
    "recovery_coefficient": ("1", "speed over that without rig, where that was largest for the last time"),
    "apparent_restitution": ("1", "restitution of the first bounce on the rig"),
    "ideal_restitution": ("1", "restitution of the first bounce without rig"),
    "spectral_radius": ("1", "largest factor by which a motion in contact grows in a cycle"),
}

Progress = Callable[[float], None]


def laws_of(names: str) -> list[str]:
    """`all`, or laws separated by commas; ScenarioError for one that there is not."""
    known = [NONE, *LAWS]
    chosen = known if names.strip() == "all" else [name.strip() for name in names.split(",") if name.strip()]
    if not chosen:
        raise ScenarioError(f"--compensators {names!r}: names none; must be all, or some of {', '.join(known)}")
    for name in chosen:
        if name not in known:
            raise ScenarioError(f"--compensators {name}: no such compensator; {nearest(name, known)}")
    return list(dict.fromkeys(chosen))


def stiffness_range(given: Any) -> list[float] | None:
    """Stiffnesses (N/m) of a list, or of `LOW:HIGH:COUNT`, spread evenly by ratio; None for a single one."""
    if isinstance(given, list):
        if not 1 <= len(given) <= MOST:
            raise ScenarioError(f"--set {STIFFNESS}: a list of {len(given)}; must have 1 to {MOST} stiffnesses")
        return [stiffness(value) for value in given]
    if not isinstance(given, str) or ":" not in given:
        return None
    low, high, count = (*given.split(":"), "", "")[:3]
    if given.count(":") != 2 or not 2 <= (whole_number(count) or 0) <= MOST:
        allowed = f"must be a stiffness, a list, or LOW:HIGH:COUNT with COUNT from 2 to {MOST}"
        raise ScenarioError(f"--set {STIFFNESS}={given}: {allowed}")
    ends = stiffness(low.strip()), stiffness(high.strip())
    if not ends[0] < ends[1]:
        raise ScenarioError(f"--set {STIFFNESS}={given}: must rise from LOW to HIGH")
    return [float(value) for value in np.geomspace(*ends, int(count))]


def stiffness(value: Any) -> float:
    """A stiffness (N/m), units allowed."""
    try:
        return float(TypeAdapter(Stiffness).validate_python(value))
    except ValidationError as error:
        raise ScenarioError(f"--set {STIFFNESS}: {shown(value)}: {error.errors()[0]['ctx']['allowed']}") from None


def default_stiffnesses(own: float) -> list[float]:
    """A range around the scenario's own stiffness (N/m)."""
    return [float(value) for value in own * np.logspace(-DECADES, DECADES, COUNT)]


def section_of(scenario: Scenario, law: str) -> CompensatorLaw:
    """The settings of a law: those of `[[compare]]`, else of `[loop.compensator]`, else what is left to the tuning."""
    content = scenario.content
    stated = [*content.compare, content.loop.compensator]
    return next((section for section in stated if section is not None and section.law == law), LAWS[law](law=law))


def compare(
    scenario: Scenario, laws: Sequence[str], stiffnesses: Sequence[float] | None, progress: Progress | None = None
) -> xr.Dataset:
    """Measures of a rig with each compensator (and `none`), over stiffnesses (N/m) of what it touches.

    Tuned is at the stiffness that `[loop.tuning]` states or the scenario's contact has, once for all of them.

    Raises:
        ScenarioError: another kind, a contact whose law has no stiffness, a rig that cannot be simulated or tuned.
    """
    if scenario.kind != "rig":
        raise ScenarioError(f"{scenario.name}: kind: {scenario.kind} has no rig to compensate; must be rig")
    own = loop_of(scenario)
    tried = default_stiffnesses(float(own.stiffness)) if stiffnesses is None else list(stiffnesses)
    lanes, maker = Lanes(scenario, tried), Maker(scenario, own)
    rates = np.array([frequency(loop) for loop in lanes.loops])
    bilateral = bool(getattr(scenario.content.contact, "bilateral", False))
    found: dict[str, list[np.ndarray]] = {name: [] for name in VARIABLES}
    told, settings = [], {}
    for place, law in enumerate(laws):
        section = maker.complete(None if law == NONE else section_of(scenario, law))
        settings[law] = {name: value for name, value in section or () if isinstance(value, float)}
        course, radii = lanes.course(maker.make(section), None if section is None else section.period)
        ideal = Motion(*(course.ideal[f"ideal_{name}"] for name in ("position", "velocity", "force")))
        rig = Motion(*(course.seen[name] for name in ("position", "velocity", "total_force")))
        with np.errstate(invalid="ignore", over="ignore"):
            row = measures(course.time, ideal, rig, rates, bilateral) | {"spectral_radius": radii}
        for name in VARIABLES:
            found[name].append(row[name])
        told.append(course.wall_time)
        if progress is not None:
            progress((place + 1) / len(laws))
    return dataset_of(scenario, laws, tried, found, told, settings)


def dataset_of(
    scenario: Scenario,
    laws: Sequence[str],
    stiffnesses: Sequence[float],
    found: dict[str, list[np.ndarray]],
    told: list[float],
    settings: dict[str, Any],
) -> xr.Dataset:
    """The dataset of a comparison."""
    dims = ("compensator", "stiffness")
    variables: dict[str, Any] = {
        name: (dims, np.stack(found[name]), {"units": units, "long_name": words})
        for name, (units, words) in VARIABLES.items()
    }
    variables["wall_time"] = ("compensator", np.array(told), {"units": "s", "long_name": "time that its runs took"})
    coordinates = {
        "compensator": list(laws),
        "stiffness": ("stiffness", np.array(stiffnesses), {"units": "N/m", "long_name": STIFFNESS}),
    }
    stated = scenario.content.loop.tuning.stiffness
    attributes: dict[str, Any] = {
        "title": scenario.title,
        "kind": scenario.kind,
        "source": scenario.name,
        "scenario": scenario.text(),
        "dockdyn_version": version("dockdyn"),
        "settings": json.dumps(settings),
        "tuned_at_N_m": float(loop_of(scenario).stiffness) if stated is None else float(stated),
        "duration_s": float(scenario.content.duration),
        "bilateral": int(getattr(scenario.content.contact, "bilateral", False)),
    }
    return xr.Dataset(variables, coordinates, attributes)


def rows_of(dataset: xr.Dataset) -> list[dict[str, Any]]:
    """A row for every compensator and stiffness, by the keys of a run's summary."""
    return [
        {
            "compensator": str(law),
            "stiffness_N_m": float(stiffness),
            **{name: number(dataset[name].values[i, j]) for name in VARIABLES},
        }
        for i, law in enumerate(dataset.compensator.values)
        for j, stiffness in enumerate(dataset.stiffness.values)
    ]


def answer(dataset: xr.Dataset) -> dict[str, Any]:
    """A comparison, ready for JSON."""
    return {
        "title": dataset.attrs["title"],
        "tuned_at_N_m": float(dataset.attrs["tuned_at_N_m"]),
        "recommended": recommended(dataset),
        "worst_amplitude_error": {law: number(error) for law, error in worst_errors(dataset).items()},
        "settings": json.loads(dataset.attrs["settings"]),
        "rows": rows_of(dataset),
    }


def best(dataset: xr.Dataset) -> tuple[str, float]:
    """Which compensator stays nearest to the motion without rig over the range, and its largest error of amplitude.

    One that needs an oracle is left out: no rig can have it.
    """
    errors = {law: error for law, error in worst_errors(dataset).items() if law not in ORACLES}
    return min((errors or worst_errors(dataset)).items(), key=lambda item: item[1])


def recommended(dataset: xr.Dataset) -> str:
    """The default where it serves: it bears a lead that is wrong, which no comparison shows; else the nearest."""
    return DEFAULT if worst_errors(dataset).get(DEFAULT, np.inf) <= FINE else best(dataset)[0]


def worst_errors(dataset: xr.Dataset) -> dict[str, float]:
    """By compensator, the largest error of the amplitude ratio over the range; a half counts as much as twice."""
    found = {}
    for law in dataset.compensator.values:
        ratio = dataset.amplitude_ratio.sel(compensator=law).values
        with np.errstate(divide="ignore", invalid="ignore"):
            error = np.where(ratio >= 1, ratio, 1 / ratio) - 1
        found[str(law)] = float(np.where(np.isfinite(error), error, np.inf).max())
    return found
