"""All compensators on one rig, over a range of stiffness of what it touches."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from dockdyn.dataset import Dataset
from dockdyn.results.attributes import study_attributes
from dockdyn.results.drive import Progress
from dockdyn.results.measures import finite_or_none
from dockdyn.rig.batched_rigs import Lanes
from dockdyn.rig.build import sensor_of
from dockdyn.rig.comparison.choice import NONE, CompensatorChoice, amplitude_errors, counting_errors, over_draws
from dockdyn.rig.comparison.stiffnesses import stiffnesses_from
from dockdyn.rig.comparison.store import ComparedLaw, ComparedLaws, store_comparison
from dockdyn.rig.compensator import CompensatorMaker
from dockdyn.rig.limits import first_times, limit_words
from dockdyn.rig.measures import MeasuredMotion, motion_measures, recent_force
from dockdyn.rig.model.rig import Rig
from dockdyn.rig.resting import loop_of
from dockdyn.rig.rig_theory import contact_frequency, latest_action
from dockdyn.rig.run import Course
from dockdyn.scenario.language.errors import ScenarioError, nearest
from dockdyn.scenario.language.given import names_from
from dockdyn.scenario.load import Scenario, scenario_from
from dockdyn.scenario.tables.rig.compensators import CompensatorLaw, facts_of, laws
from dockdyn.scenario.tables.rig.loop import aliasing
from dockdyn.trees import map_leaves

DECADES, COUNT = 1.0, 21  # below and above the scenario's own stiffness; values, where no range is given
DRAWS = 8  # of the noise, where a sensor has any

# variable: (units, long name)
VARIABLES = {
    "amplitude_ratio": ("1", "amplitude at the end, rig over that without rig"),
    "phase_error_rad": ("rad", "phase that the rig has gained at the end"),
    "peak_force_error_N": ("N", "largest force on the model, rig less that without rig"),
    "end_force_error_N": ("N", "largest error of force at the end"),
    "end_velocity_error_m_s": ("m/s", "largest error of velocity at the end"),
    "recovery_coefficient": ("1", "speed over that without rig, where that was largest for the last time"),
    "apparent_restitution": ("1", "restitution of the first bounce on the rig"),
    "ideal_restitution": ("1", "restitution of the first bounce without rig"),
    "spectral_radius": ("1", "largest factor by which a motion in contact grows in a cycle"),
}
ERRORS = {
    "error": ("1", "error of the restitution, of a contact that swings of the amplitude; mean over noise draws"),
    "error_noise": ("1", "standard error of that mean"),
}

type Ideals = dict[float, MeasuredMotion]  # motions without rig, by the time between instants (s)


def _known_laws(scenario: Scenario) -> list[str]:
    """Return what a rig can be compared with: without, every built-in compensator, and those of the user's own that it
    states."""
    return list(dict.fromkeys([NONE, *laws(), *(section.law for section in _stated_laws(scenario))]))


def _stated_laws(scenario: Scenario) -> list[CompensatorLaw]:
    """Return the tables of `[compare.NAME]`, then that of `[loop.compensator]`."""
    content = scenario.content
    return [section.unnamed() for section in (*content.compare, content.loop.compensator) if section is not None]


def laws_of(names: str, scenario: Scenario) -> list[str]:
    """Return `all`, or laws separated by commas; ScenarioError for one that there is not, or a scenario without a rig."""
    _refuse_without_rig(scenario)
    known = _known_laws(scenario)
    chosen = known if names.strip() == "all" else [name.strip() for name in names.split(",") if name.strip()]
    if not chosen:
        raise ScenarioError(f"--compensators {names!r}: names none; must be all, or some of {', '.join(known)}")
    return _checked_laws(chosen, known, "--compensators ")


def _checked_laws(names: Sequence[str], known: Sequence[str], option: str = "") -> list[str]:
    """Return the names, each once; ScenarioError, which begins with the `option`, for one that there is not."""
    for name in names:
        if name not in known:
            raise ScenarioError(f"{option}{name}: no such compensator; {nearest(name, known)}")
    return list(dict.fromkeys(names))


def stiffnesses_of(scenario: Scenario, given: Sequence[float | str] | float | str | None) -> list[float]:
    """Return the stiffnesses (N/m) that are compared over: those given, or a range around the scenario's own."""
    return _default_stiffnesses(float(loop_of(scenario).stiffness)) if given is None else stiffnesses_from(given)


def _default_stiffnesses(own: float) -> list[float]:
    """Return a range around the scenario's own stiffness (N/m)."""
    return [float(value) for value in own * np.logspace(-DECADES, DECADES, COUNT)]


def section_of(scenario: Scenario, law: str) -> CompensatorLaw:
    """Return the settings of a law: those of `[compare.NAME]`, else of `[loop.compensator]`, else what is left to the
    tuning."""
    found = next((section for section in _stated_laws(scenario) if section.law == law), None)
    return laws()[law](law=law) if found is None else found


def own_law(scenario: Scenario) -> str:
    """Return the compensator that a rig has."""
    section = scenario.content.loop.compensator
    return NONE if section is None else str(section.law)


def _as_compared(scenario: Scenario) -> bool:
    """Return whether the rig's compensator is compared with its own settings, and not with others of `[compare.NAME]`."""
    own = scenario.content.loop.compensator
    return own is None or section_of(scenario, own.law) == own


def noise_seeds(scenario: Scenario) -> list[int]:
    """Return seeds of the noise that is drawn, the scenario's own first; that alone where nothing is random."""
    content = scenario.content
    random = sensor_of(content, 1).random
    return [content.seed + draw for draw in range(DRAWS if random else 1)]


def complete_tables(
    maker: CompensatorMaker, scenario: Scenario, laws: Sequence[str]
) -> tuple[dict[str, Any], dict[str, str]]:
    """Return tables of the laws with all their numbers, and why others are left out. ScenarioError where none is left."""
    tables, left_out = {}, {}
    for law in laws:
        try:
            tables[law] = maker.complete(None if law == NONE else section_of(scenario, law))
        except ScenarioError as error:
            left_out[law] = str(error)
    if not tables:
        raise ScenarioError(next(iter(left_out.values())))
    return tables, left_out


def compare(
    scenario: Scenario | str | Path,
    laws: Sequence[str] | str | None = None,
    stiffnesses: Sequence[float | str] | float | str | None = None,
    progress: Progress | None = None,
) -> Dataset:
    """Return measures of a rig with each compensator in `laws` over `stiffnesses` (N/m, or with their unit) of what it touches.

    `laws` are names, `"none"` is the rig without; by default they are all that there are and that the scenario states.

    Tuned is at the stiffness that `[loop.tuning]` states or the scenario's contact has, once for all of them; those that
    cannot be tuned on this rig are left out. Measures are those of the scenario's own noise seed; `error` is the mean over
    several. What is found is kept for later runs of the same rig, and for comparisons with the same compensator.

    Raises:
        ScenarioError: another setup, an unknown compensator, a contact whose law has no stiffness, a rig that cannot be
            simulated, or none of whose compensators can be tuned.
    """
    scenario = scenario_from(scenario)
    _refuse_without_rig(scenario)
    names = _known_laws(scenario)
    laws = names if laws is None else _checked_laws(names_from("laws", laws), names)
    own = loop_of(scenario)
    tried = stiffnesses_of(scenario, stiffnesses)
    lanes, maker = Lanes(scenario, tried), CompensatorMaker(scenario, own)
    tables, left_out = complete_tables(maker, scenario, laws)
    known = ComparedLaws(scenario, tried)
    ideals: Ideals = {}
    found: dict[str, ComparedLaw] = {}
    for place, (law, section) in enumerate(tables.items()):
        compared = known.load(section)
        if compared is None:
            rigs = lanes.rigs(maker.make(section), None if section is None else section.period)
            compared = _compare_law(lanes, rigs, ideals)
            known.store(section, compared)
        found[law] = compared
        if progress is not None:
            progress((place + 1) / len(tables))
    remarks = _limits_in_words(found, len(tried))
    dataset = _dataset_of(scenario, tables, tried, found, left_out, remarks)
    _remember_comparison(scenario, dataset, tables)
    return dataset


def _compare_law(lanes: Lanes, rigs: list[Rig], ideals: Ideals) -> ComparedLaw:
    """Return what rigs with one compensator do, a lane each."""
    scenario, bilateral = lanes.scenario, lanes.scenario.content.bilateral
    rates = np.array([contact_frequency(loop) for loop in lanes.loops])
    rows, wall_time = [], 0.0
    limited: dict[str, dict[str, float]] = {}
    for course in lanes.courses(rigs, noise_seeds(scenario)):
        period = float(course.time[1] - course.time[0])
        for key, runs in _limited_runs(scenario, course, float(rigs[0].tick)).items():
            earlier = limited.setdefault(key, {})
            earlier |= {lane: min(time, earlier.get(lane, np.inf)) for lane, time in runs.items()}
        parts = (course.ideal[f"ideal_{name}"] for name in ("position", "velocity", "force"))
        ideal = ideals.setdefault(period, MeasuredMotion(*parts))
        rig = MeasuredMotion(*(course.seen[name] for name in ("position", "velocity", "total_force")))
        rig = replace(rig, contact=recent_force(course.seen["contact_force"], period, latest_action(scenario.content)))
        with np.errstate(invalid="ignore", over="ignore"):
            rows.append(motion_measures(course.time, ideal, rig, rates, bilateral))
        wall_time += course.wall_time
    off, doubt = over_draws([counting_errors(row, bilateral) for row in rows])
    row = rows[0] | {"spectral_radius": lanes.radii(rigs), "error": off, "error_noise": doubt}
    return ComparedLaw({name: values.tolist() for name, values in row.items()} | {"wall_time": [wall_time]}, limited)


def _limited_runs(scenario: Scenario, course: Course, tick: float) -> dict[str, dict[str, float]]:
    """Return which lanes of a course reached a limit, and when (s), by the limit's key."""
    found: dict[str, dict[str, float]] = {}
    for lane in range(len(course.seen["position"])):
        reached = map_leaves(lambda ticks, lane=lane: ticks[lane], course.reached)
        for key, time in first_times(scenario.content, reached, tick, float(course.time[-1])).items():
            found.setdefault(key, {})[str(lane)] = time
    return found


def _limits_in_words(found: dict[str, ComparedLaw], lanes: int) -> list[str]:
    """Return a warning for every limit that runs of a comparison reached."""
    told = []
    for key in dict.fromkeys(key for law in found.values() for key in law.limited):
        runs = {name: law.limited[key] for name, law in found.items() if key in law.limited}
        whose = "every compensator" if len(runs) == len(found) else ", ".join(runs)
        times = [time for lanes_of_law in runs.values() for time in lanes_of_law.values()]
        when = f"in {len(times)} of {len(found) * lanes} runs, first at t = {min(times):.6g} s, with {whose}"
        told.append(limit_words(key, when))
    return told


def comparison_warnings(dataset: Dataset) -> list[str]:
    """Return what a reader should know before trusting a comparison."""
    aliased = [words for words in (dataset.attrs["aliasing"],) if words]
    return aliased + json.loads(dataset.attrs.get("limit_warnings", "[]"))


def _refuse_without_rig(scenario: Scenario) -> None:
    if scenario.setup != "rig":
        raise ScenarioError(
            f"{scenario.name}: rig: missing; compensators are compared on one, so there must be a [rig]"
        )


def _remember_comparison(scenario: Scenario, dataset: Dataset, tables: dict[str, Any]) -> None:
    """Keep what a comparison says for later runs of the same rig."""
    tables = {law: {} if table is None else table.model_dump(exclude_none=True) for law, table in tables.items()}
    store_comparison(scenario, {"choice": CompensatorChoice.of_dataset(dataset).answer(), "settings": tables})


def _dataset_of(
    scenario: Scenario,
    tables: dict[str, Any],
    stiffnesses: Sequence[float],
    found: dict[str, ComparedLaw],
    left_out: dict[str, str],
    limit_warnings: list[str],
) -> Dataset:
    """Return the dataset of a comparison."""
    dims = ("compensator", "stiffness")
    rows = [law.arrays() for law in found.values()]
    variables: dict[str, Any] = {
        name: (dims, np.stack([row[name] for row in rows]), {"units": units, "long_name": words})
        for name, (units, words) in (VARIABLES | ERRORS).items()
    }
    wall_time = np.concatenate([row["wall_time"] for row in rows])
    variables["wall_time"] = ("compensator", wall_time, {"units": "s", "long_name": "time that its runs took"})
    coordinates = {
        "compensator": list(tables),
        "stiffness": (
            "stiffness",
            np.array(stiffnesses),
            {"units": "N/m", "long_name": scenario.content.stiffness_key},
        ),
    }
    stated = scenario.content.loop.tuning.stiffness
    settings = {
        law: {name: value for name, value in table or () if isinstance(value, float)} for law, table in tables.items()
    }
    attributes: dict[str, Any] = {
        **study_attributes(scenario),
        "settings": json.dumps(settings),
        "left_out": json.dumps(left_out),
        "limit_warnings": json.dumps(limit_warnings),
        "laws": json.dumps({law: facts_of(table.made) for law, table in tables.items() if table is not None}),
        "noise_draws": len(noise_seeds(scenario)),
        "aliasing": aliasing(loop := loop_of(scenario)),
        "tuned_at_N_m": float(loop.stiffness) if stated is None else float(stated),
        "duration_s": float(scenario.content.duration),
        "bilateral": int(scenario.content.bilateral),
        **({"own": own_law(scenario)} if _as_compared(scenario) else {}),
    }
    return Dataset(variables, coordinates, attributes)


def _rows_of(dataset: Dataset) -> list[dict[str, Any]]:
    """Return a row for every compensator and stiffness, by the keys of a run's summary."""
    return [
        {
            "compensator": str(law),
            "stiffness_N_m": float(stiffness),
            **{name: finite_or_none(dataset[name].values[i, j]) for name in VARIABLES},
        }
        for i, law in enumerate(dataset.compensator.values)
        for j, stiffness in enumerate(dataset.stiffness.values)
    ]


def comparison_answer(dataset: Dataset) -> dict[str, Any]:
    """Return a comparison, ready for JSON."""
    choice, own = CompensatorChoice.of_dataset(dataset), dataset.attrs.get("own")
    following, keeps = choice.runner_up(), bool(np.isfinite(choice.best(own).error))
    return {
        "title": dataset.attrs["title"],
        "tuned_at_N_m": float(dataset.attrs["tuned_at_N_m"]),
        "recommended": choice.best(own).law if keeps else None,
        "alike": [each.law for each in choice.alike()] if keeps else [],
        "runner_up": None if following is None else following.law,
        "margin": None if following is None else finite_or_none(following.error - choice.best(own).error),
        "own": own,
        "error_of": choice.of,
        "noise_draws": choice.draws,
        "worst_error": {each.law: finite_or_none(each.error) for each in choice.ranking},
        "worst_error_noise": {each.law: finite_or_none(each.noise) for each in choice.ranking},
        "worst_amplitude_error": {law: finite_or_none(error) for law, error in worst_amplitudes(dataset).items()},
        "left_out": json.loads(dataset.attrs["left_out"]),
        "settings": json.loads(dataset.attrs["settings"]),
        "warnings": comparison_warnings(dataset),
        "rows": _rows_of(dataset),
    }


def worst_amplitudes(dataset: Dataset) -> dict[str, float]:
    """Return by compensator, the largest error of the amplitude ratio over the range; a half counts as much as twice."""
    worst = amplitude_errors(dataset.amplitude_ratio.values).max(axis=1)
    return {str(law): float(error) for law, error in zip(dataset.compensator.values, worst, strict=True)}
