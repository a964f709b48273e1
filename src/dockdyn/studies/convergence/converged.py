"""Whether a run has converged: it again with a tenfold tighter tolerance, finer meshes, one more mode."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dockdyn.api import simulate, summarise
from dockdyn.dataset import Dataset, GivenDataset, as_dataset
from dockdyn.report.notebook import ShownAnswer
from dockdyn.report.wording import MET
from dockdyn.results.requirements import is_of_member
from dockdyn.scenario.language.errors import ScenarioError
from dockdyn.scenario.language.keys import leaves
from dockdyn.scenario.load import Scenario, scenario_from
from dockdyn.studies.convergence.passing import passed_through
from dockdyn.studies.convergence.refine import ABOUT, Changes, refine_scenario

if TYPE_CHECKING:
    from dockdyn.results.drive import Progress

ENOUGH = 1e-2  # relative: a figure that moves by more has not converged
SMALL = 1e-3  # of the largest figure of the same unit: what is smaller is compared with that
OF_COMPUTING = (
    "wall_time",
    "step",
    "error",
    "residual",
    "drift",
    "iterations",
    "warnings",
    "requirements",
    "events",
    "position",
    "prediction",
    "margin",
)
PEAK = re.compile(r"peak.*_N(_m)?$|^port\.")
MODAL = re.compile(r"(bend|side|twist|mode)\d*$")  # coordinates of modes, which depend on what other modes there are
LISTS = ("contacts.", "impacts.")  # what figures of one entry of a list begin with
NO_FIGURE = ("setup", "title", "status", "integrator")


def check_convergence(
    scenario: Scenario | str | Path, dataset: GivenDataset | None = None, progress: Progress | None = None
) -> ShownAnswer:
    """Run a scenario again with finer numbers, and tell which figures of its summary move by how much.

    Everything that is a matter of computing is made finer: the tolerance is ten times tighter, or the step shorter; a rig moves
    between the instants of its loop, which stay where they are, in four times as many parts; the fields of meshes are twice as
    fine and their points half as far apart; flexible links have one more mode. Each by itself, in a run of its own; `dataset`
    is the run itself, which is made where it is not given.

    Returns a dictionary ready for JSON: whether it `converged` (no figure moves by more than 1 %), the `largest_change`
    (relative), the figure that it is of, which figures are `required`, what was `refined`, `changes` by figure (its value and
    relative changes; those that are required first, then peak forces and moments), and `warnings`: what appears or vanishes
    with finer numbers, requirements that are decided otherwise, and bodies that pass through each other without a contact
    that could hold them. A change is relative to the figure, or to a thousandth of the largest one of its unit if that is
    larger; of a required one to its limit if that is larger. Where contacts touch is left out: of several places alike
    rounding decides which is first.

    Raises ScenarioError for what cannot be run, and for a setup that has no numbers to refine.
    """
    scenario = scenario_from(scenario)
    finer = refine_scenario(scenario)
    own = simulate(scenario) if dataset is None else as_dataset(dataset)
    judged = summarise(own).get("requirements", [])
    limits = {one["figure"]: float(one["limit"]) for one in judged if not isinstance(one["limit"], bool)}
    figures = figures_of(own, limits)
    warnings = [] if own.attrs["finished"] else [f"the run itself ended early: {own.attrs['status']}"]
    moved: dict[str, dict[str, float]] = {}
    refined: dict[str, Changes] = {}
    for place, (name, changes) in enumerate(finer.items(), start=1):
        run, stated = _finer_run(scenario, changes)
        if run is None:
            warnings.append(f"{ABOUT[name]}: could not be refined; {stated}")
            continue
        refined[name] = changes
        others = figures_of(run, limits)
        warnings += _figures_that_appeared(ABOUT[name], figures, others) + _judged_otherwise(ABOUT[name], judged, run)
        for key, change in relative_changes(figures, others, limits).items():
            moved.setdefault(key, {})[name] = change
        if progress is not None:
            progress(place / (len(finer) + 1))
    warnings += passed_through(scenario, own)
    largest = {key: max(changes.values()) for key, changes in moved.items()}
    first = max(largest, key=lambda key: largest[key], default=None)
    order = sorted(moved, key=lambda key: (_table_rank(key, limits), -largest[key]))
    answer = {
        "converged": bool(refined) and not any(math.isnan(x) or x > ENOUGH for x in largest.values()) and not warnings,
        "largest_change": None if first is None else largest[first],
        "largest_change_of": first,
        "required": sorted(limits.keys() & moved.keys()),
        "refined": refined,
        "changes": {key: {"value": figures[key]} | moved[key] for key in order},
        "warnings": warnings,
    }
    return ShownAnswer(answer).under(convergence_verdict(answer))


def convergence_verdict(answer: dict[str, Any]) -> str:
    """Return what it comes to, in a sentence."""
    ways = " and ".join(ABOUT[name] for name in answer["refined"])
    if answer["largest_change"] is None:
        return "Nothing was refined: whether the run has converged is not known."
    most, which = f"{format_share(answer['largest_change'])} %", figure_label(answer["largest_change_of"])
    moved = f"no figure moves by more than {most} ({which})"
    if answer["converged"]:
        return f"Converged: with finer numbers ({ways}) {moved}."
    if answer["largest_change"] <= ENOUGH:
        return f"With finer numbers ({ways}) {moved}, but see the warnings."
    return f"Not converged: with finer numbers ({ways}) {which} moves by {most}.{_of_requirements(answer)}"


def _of_requirements(answer: dict[str, Any]) -> str:
    """Return how far the required figures of a run that has not converged are to be trusted; empty without any."""
    changes = {
        key: max(change for way, change in answer["changes"][key].items() if way != "value")
        for key in answer["required"]
    }
    if not changes or answer["largest_change_of"] in changes:
        return ""
    worst = max(changes, key=lambda key: changes[key])
    most = format_share(changes[worst])
    return f" What is required moves by at most {most} % of its limit or itself ({figure_label(worst)})."


def format_share(share: float) -> str:
    """Return a share in percent, with two digits and no exponent: 0.012, 3.4, 200."""
    return f"{float(f'{100 * share:.2g}'):g}"


def figure_label(key: str) -> str:
    """Return a figure's key as tables and reports count: "contacts.0.peak" is of contact 1, Q1 in the figures."""
    parts = key.split(".")
    if not key.startswith(LISTS) or not parts[1].isdigit():
        return key
    number = int(parts[1]) + 1
    return " ".join(
        [f"contact {number} (Q{number})" if parts[0] == "contacts" else f"impact {number}", ".".join(parts[2:])]
    )


def _finer_run(scenario: Scenario, changes: Changes) -> tuple[Dataset | None, str]:
    """Return the run with changed keys; None, and why, where there is none."""
    try:
        return simulate(scenario.at(changes)), ""
    except ScenarioError as error:
        return None, str(error).removeprefix(f"{scenario.name}: ")


def figures_of(dataset: Dataset, required: Collection[str] = ()) -> dict[str, float]:
    """Return the figures of a run's summary that tell of the docking, by dotted keys, and all that are `required`."""
    found = {}
    for key, value in leaves(dict(summarise(dataset))):
        last = key.rpartition(".")[2]
        own = any(word in part for part in key.split(".") for word in OF_COMPUTING)  # of the run, not of the docking
        told = key in required or (not own and key not in NO_FIGURE)
        number = isinstance(value, float | int) and not isinstance(value, bool)
        if told and number and not MODAL.search(last) and last not in ("contact", "number", "seed"):
            found[key] = float(value)
    return found


def relative_changes(
    own: dict[str, float], others: dict[str, float], limits: Mapping[str, float] | None = None
) -> dict[str, float]:
    """Return by how much each figure of both runs moves, relative to its size, or to its limit if that is larger."""
    sizes: dict[str, float] = {}
    limits = limits or {}
    for figures in (own, others, limits):
        for key, value in figures.items():
            sizes[_unit_of_figure(key)] = max(sizes.get(_unit_of_figure(key), 0.0), abs(value))
    found = {}
    for key in own.keys() & others.keys():
        scale = max(abs(own[key]), abs(others[key]), abs(limits.get(key, 0.0)), SMALL * sizes[_unit_of_figure(key)])
        found[key] = abs(others[key] - own[key]) / scale if scale else 0.0
    return found


def _table_rank(key: str, limits: Mapping[str, float]) -> int:
    """Return where a figure stands in a table: what is required, then the largest forces and moments of all, then the rest."""
    return 0 if key in limits else 1 if PEAK.search(key) and not key.startswith(LISTS) and not is_of_member(key) else 2


def _judged_otherwise(way: str, judged: list[dict[str, Any]], run: Dataset) -> list[str]:
    """Return which requirements a finer run meets and this one does not, or the other way round."""
    finer = {one["name"]: one["met"] for one in summarise(run).get("requirements", [])}
    return [
        f"{way}: requirement {one['name']} is {MET[one['met']]}, and {MET[finer[one['name']]]} with finer numbers"
        for one in judged
        if finer.get(one["name"]) != one["met"]
    ]


def _unit_of_figure(key: str) -> str:
    """Return the unit at the end of a figure's name, such as N of peak_force_N."""
    words = [part for part in key.split(".") if not part.isdigit()][-1].split("_")
    begins = [i for i, word in enumerate(words) if word[:1].isupper() or word in ("m", "s", "kg", "rad", "deg")]
    return "_".join(words[begins[0] :]) if begins else ""


def _figures_that_appeared(way: str, own: dict[str, float], others: dict[str, float]) -> list[str]:
    """Return that figures come or go with finer numbers: another number of contacts or impacts."""
    counts = {
        table: [len({key.split(".")[1] for key in figures if key.startswith(f"{table}.")}) for figures in (own, others)]
        for table in {key.split(".")[0] for key in own.keys() ^ others.keys() if key.startswith(LISTS)}
    }
    return [
        f"{way}: {before} {table} become {after}"
        for table, (before, after) in sorted(counts.items())
        if before != after
    ]
