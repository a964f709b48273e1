"""What a campaign answers: probabilities, percentiles, what decides them, and how sure all that is."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from dockdyn.dataset import GivenDataset
from dockdyn.deferred import Bool, Float
from dockdyn.report.notebook import ShownAnswer
from dockdyn.results.key_figures import names_in_cases
from dockdyn.results.measures import finite_or_none
from dockdyn.results.outcome import deciding_duration, ways_undecided
from dockdyn.results.requirements import KNOWN, ends_of, is_bounded, judge_values, with_lists
from dockdyn.results.store import result_from
from dockdyn.scenario.setups import SETUPS, setup_named
from dockdyn.studies.campaign.best_stretch import best_stretch
from dockdyn.studies.campaign.cases import CampaignCases, Required, campaign_cases
from dockdyn.studies.campaign.first_failure import NOT_CAPTURED, Judged, judge_cases, missed_captures, ways_missed
from dockdyn.studies.campaign.influence import influence_of_keys
from dockdyn.studies.cases.statistics import logarithmic_milestones, percentile_interval, wilson_interval

PERCENTILES = (50, 90, 95, 99)
WORST = 10  # cases listed
MISSING = 12  # the same, of those that miss something
NUMBER = re.compile(r"(?<== )[-+]?[\d.]+(?:e[-+]?\d+)?")  # in a reason, behind what has it
DECIDED = 8  # figures whose influences are estimated


def campaign_answers(dataset: GivenDataset | str | Path, folder: str = "DIR") -> ShownAnswer:
    """Return the answers of a campaign, or of its file, as plain Python types; `folder` is what commands name.

    Raises `ScenarioError` for what is no campaign.
    """
    cases = campaign_cases(result_from(dataset))
    return ShownAnswer(answers_of(cases, judge_cases(cases), folder))


def answers_of(cases: CampaignCases, judged: Judged, folder: str) -> dict[str, Any]:
    """Return the same, of cases that have been judged."""
    captured = cases.captured
    force = cases.figures[cases.peak_force] if cases.peak_force else np.empty(0)
    peak = _figure_spread(force)
    wall = float(cases.attributes.get("wall_time_s", 0.0))
    sensitivity = sensitivity_of_figures(cases, judged)
    return {
        "setup": cases.attributes["setup"],
        "title": cases.attributes["title"],
        "runs": cases.count,
        "failed": int(cases.failed.sum()),
        "failures": failure_reasons(cases, folder),
        "doubtful": doubt_reasons(cases, folder),
        "seed": int(cases.attributes.get("seed", 0)),
        "sampling": str(cases.attributes.get("sampling", "random")),
        "wall_time_s": wall,
        "runs_per_second": cases.count / wall if wall > 0 else None,
        "undecided": int(cases.undecided.sum()),
        "undecided_cases": ways_undecided(cases.figures, cases.undecided),
        "deciding_duration_s": deciding_duration(cases.figures, cases.undecided),
        **(
            estimate_probability("capture", captured, cases.undecided)
            if captured is not None
            else dict.fromkeys(CAPTURE)
        ),
        "released": _released_in(cases),
        "missed_captures": missed_captures(cases),
        "peak_force": cases.peak_force,
        "peak_force_not_known": _not_known_in(cases),
        "peak_force_percentiles_N": peak["percentiles"],
        "peak_force_intervals_N": peak["intervals_95"],
        "figures": {
            name: {"unit": cases.units[name], **_figure_spread(cases.figures[name])} for name in cases.measured
        },
        "requirements": _requirement_answers(cases, judged),
        **(
            estimate_probability("requirements", judged.all_met, judged.all_open)
            if cases.requirements
            else dict.fromkeys(REQUIREMENTS)
        ),
        "first_failures": judged.first_failures if cases.requirements else {},
        "sensitivity": sensitivity,
        "best_stretch": best_stretch(cases, judged, sensitivity),
        "convergence": convergence_of_estimates(cases, judged),
        "worst": _worst_cases(cases, judged, folder),
        "missing": _missing_cases(cases, judged, folder),
    }


def _released_in(cases: CampaignCases) -> int:
    """Return in how many of the cases that were captured not all latches hold at the end."""
    held = cases.figures.get("held_at_end")
    return 0 if held is None or cases.captured is None else int(np.sum(cases.captured & (held == 0)))


def _not_known_in(cases: CampaignCases) -> int:
    """Return in how many cases the largest force is but a lower bound; none where there is no such figure."""
    if not any(is_bounded(name) for name in cases.figures):
        return 0
    return int(np.sum(cases.figures.get(KNOWN, np.ones(cases.count)) == 0))


CAPTURE = ("capture_probability", "capture_interval_95")
REQUIREMENTS = ("requirements_probability", "requirements_interval_95")


def failure_reasons(cases: CampaignCases, folder: str) -> list[dict[str, Any]]:
    """Return why cases failed, the most frequent reason first, and what runs the first of each again.

    Reasons that differ in a number alone, such as when a run stopped, are one.
    """
    alike: dict[str, list[int]] = {}
    for place, reason in enumerate(cases.reasons):
        if reason:
            alike.setdefault(NUMBER.sub("…", reason), []).append(place)
    return [
        {
            "reason": reason if len(places) > 1 else cases.reasons[places[0]],
            "cases": len(places),
            "command": rerun_command(folder, int(cases.number[places[0]])),
        }
        for reason, places in sorted(alike.items(), key=lambda pair: -len(pair[1]))
    ]


def doubt_reasons(cases: CampaignCases, folder: str) -> list[dict[str, Any]]:
    """Return why cases that did not fail are not to be trusted, the most frequent reason first, and what runs the first
    again."""
    setup = str(cases.attributes["setup"])
    known = setup_named(setup).key_figures() if setup in SETUPS else None
    found = []
    for name, figure in names_in_cases(known.figures).items() if known is not None else ():
        beyond = np.flatnonzero(cases.figures.get(name, np.empty(0)) >= figure.doubtful_from)
        if beyond.size:
            command = rerun_command(folder, int(cases.number[beyond[0]]))
            found.append({"reason": figure.doubt, "cases": int(beyond.size), "command": command})
    return sorted(found, key=lambda one: -int(one["cases"]))


def estimate_probability(
    name: str, holds: Bool[np.ndarray, "cases"], undecided: Bool[np.ndarray, "cases"]
) -> dict[str, Any]:
    """Return the share of the cases in which something holds, with its interval.

    The lower end counts the undecided cases as if it did not hold in them, the upper end as if it did.
    """
    low, high = (
        wilson_interval(count, holds.size)[end] for end, count in enumerate((holds.sum(), (holds | undecided).sum()))
    )
    return {f"{name}_probability": float(holds.mean()), f"{name}_interval_95": [float(low), float(high)]}


def _figure_spread(values: Float[np.ndarray, "cases"]) -> dict[str, Any]:
    """Return how a figure is distributed over the cases that have it: percentiles with intervals, mean, both ends."""
    known = np.sort(values[np.isfinite(values)])
    if not known.size:
        return {"cases": 0, "mean": None, "std": None, "min": None, "max": None, "percentiles": {}, "intervals_95": {}}
    return {
        "cases": int(known.size),
        "mean": float(known.mean()),
        "std": float(known.std(ddof=1)) if known.size > 1 else None,
        "min": float(known[0]),
        "max": float(known[-1]),
        "percentiles": {str(place): float(np.percentile(known, place)) for place in PERCENTILES},
        "intervals_95": {str(place): list(percentile_interval(known, place / 100)) for place in PERCENTILES},
    }


def _requirement_answers(cases: CampaignCases, judged: Judged) -> list[dict[str, Any]]:
    """Return each requirement: how probable it is to be met, and with what margin."""
    firsts = judged.first_failures
    answers = []
    for row, requirement in enumerate(cases.requirements):
        held = estimate_probability("", judged.met[row], judged.open[row])
        margin = judged.margin[row][~judged.open[row]]
        there = margin[np.isfinite(margin)]
        answers.append(
            {
                "name": requirement.name,
                "figure": requirement.figure,
                "relation": requirement.relation,
                "limit": requirement.limit if np.isfinite(requirement.limit) else None,
                "unit": requirement.unit,
                "text": requirement.text,
                **_middle_and_worst(cases, requirement),
                "probability": held["_probability"],
                "interval_95": held["_interval_95"],
                "undecided": int(judged.open[row].sum()),
                "margin_cases": int(there.size),
                "mean_margin": float(there.mean()) if there.size else None,
                "margin_5_percent": _low_margin(margin),
                "failed_first": firsts.get(requirement.name, 0),
            }
        )
    return answers


def _middle_and_worst(cases: CampaignCases, requirement: Required) -> dict[str, float | None]:
    """Return the median of a requirement's figure, the value nearest to missing it, or furthest beyond, and the case it is of.

    Of a list the worst entry of each case counts; None for a yes or no and a figure that no case has.
    """
    above = not requirement.relation.startswith(">")  # what is worst; of == as of <
    names = (requirement.figure, ends_of(requirement.figure)[above])
    found = next((cases.figures[name] for name in names if name in cases.figures), np.empty(0))
    there = np.flatnonzero(np.isfinite(found))
    if not there.size or isinstance(requirement.limit, bool):
        return {"median": None, "worst": None, "worst_case": None}
    known = found[there]
    beyond = np.abs(known - requirement.limit) if requirement.relation == "==" else known if above else -known
    place = there[beyond.argmax()]
    return {
        "median": float(np.median(known)),
        "worst": float(found[place]),
        "worst_case": int(cases.number[place]),
    }


def _low_margin(margin: Float[np.ndarray, "cases"], share: float = 0.05) -> float | None:
    """Return the margin that this share of the decided cases falls short of; None where it is that of cases without the figure.

    What did not happen (NaN) does not meet a requirement by any margin, and is less than all of them.
    """
    known = np.sort(np.where(np.isnan(margin), -np.inf, margin))
    place = share * (known.size - 1)
    low = int(place)
    if not known.size or not np.isfinite(known[low]):
        return None
    return float(known[low] + (place - low) * (known[min(low + 1, known.size - 1)] - known[low]))


def _decided_figures(cases: CampaignCases, judged: Judged) -> dict[str, Float[np.ndarray, "cases"]]:
    """Return the figures whose influences are asked for: capture, all requirements, loads, what requirements are about."""
    found: dict[str, Float[np.ndarray, "cases"]] = {}
    if cases.captured is not None:
        found["captured"] = np.where(cases.undecided, np.nan, cases.captured)
    if cases.requirements:
        found["requirements"] = np.where(judged.all_open, np.nan, judged.all_met)
    required = [requirement.figure for requirement in cases.requirements if requirement.figure in cases.figures]
    names = dict.fromkeys([*([cases.peak_force] if cases.peak_force else []), *required, *cases.measured])
    found |= {name: cases.figures[name] for name in names if name != "captured"}
    return dict(list(found.items())[:DECIDED])


def sensitivity_of_figures(cases: CampaignCases, judged: Judged) -> dict[str, dict[str, dict[str, Any]]]:
    """Return by figure and key first-order index, rank correlation, whether they are more than chance."""
    found = {name: influence_of_keys(cases.values, figure) for name, figure in _decided_figures(cases, judged).items()}
    return {
        name: {
            key: {
                "first_order": influence.first_order,
                "rank_correlation": finite_or_none(influence.rank_correlation),
                "significant": influence.significant,
            }
            for key, influence in by_key.items()
        }
        for name, by_key in found.items()
        if by_key
    }


def convergence_of_estimates(cases: CampaignCases, judged: Judged) -> dict[str, Any]:
    """Return estimates from the first cases only: how they settle, and their intervals, over the number of cases."""
    counts = logarithmic_milestones(cases.count)
    answer: dict[str, Any] = {"runs": counts}
    for name, holds, undecided in (
        ("capture", cases.captured, cases.undecided),
        ("requirements", judged.all_met if cases.requirements else None, judged.all_open),
    ):
        if holds is not None:
            found = [estimate_probability(name, holds[:count], undecided[:count]) for count in counts]
            answer |= {key: [each[key] for each in found] for key in found[0]}
    if cases.peak_force:
        force = cases.figures[cases.peak_force]
        prefixes = [np.sort(force[:count][np.isfinite(force[:count])]) for count in counts]
        answer["peak_force_95_N"] = [float(np.percentile(known, 95)) if known.size else None for known in prefixes]
        answer["peak_force_95_interval_N"] = [list(percentile_interval(known, 0.95)) for known in prefixes]
    return answer


def worst_first(cases: CampaignCases, judged: Judged) -> list[int]:
    """Return places of the cases that did not fail and are decided, the worst first; none where nothing says which is worse.

    Margins of several requirements are compared relative to their limits; a yes or no that is not met counts −1. Of equal
    margins the larger force comes first.
    """
    if not cases.requirements and cases.peak_force is None:
        return []
    force = cases.figures[cases.peak_force] if cases.peak_force else np.full(cases.count, np.nan)
    least = judged.relative.min(axis=0) if cases.requirements else np.zeros(cases.count)
    order = np.lexsort((cases.number, -np.nan_to_num(force, nan=-np.inf), least))
    left_out = cases.failed | (judged.all_open if cases.requirements else cases.undecided)
    return [int(place) for place in order if not left_out[place]]


def _worst_cases(cases: CampaignCases, judged: Judged, folder: str) -> list[dict[str, Any]]:
    """Return the cases with the least margin to a requirement, or the largest force where there is none; failed ones aside."""
    force = cases.figures[cases.peak_force] if cases.peak_force else np.full(cases.count, np.nan)
    answers = []
    for place in worst_first(cases, judged)[:WORST]:
        case = int(cases.number[place])
        answer: dict[str, Any] = {"case": case, "command": rerun_command(folder, case)}
        if cases.requirements:
            row = int(judged.relative[:, place].argmin())
            answer |= {
                "requirement": cases.requirements[row].name,
                "met": bool(judged.met[row, place]),
                "margin": finite_or_none(judged.margin[row, place]),
            }
        answer["peak_force_N"] = finite_or_none(force[place])
        answer["values"] = {key: float(values[place]) for key, values in cases.values.items()}
        answers.append(answer)
    return answers


def _missing_cases(cases: CampaignCases, judged: Judged, folder: str) -> dict[str, Any]:
    """Return how many cases miss a requirement or were not captured, and the worst of them: what each missed, by how much.

    Cases that failed, and what is not decided, are not among them. What a case missed most, relative to its limit, comes first.
    """
    ways = ways_missed(cases)
    missed = ~judged.met & ~judged.open & ~cases.failed
    those = missed.any(axis=0) | np.array([bool(way) for way in ways], dtype=bool)
    order = dict.fromkeys([*worst_first(cases, judged), *range(cases.count)])
    offered = with_lists(cases.figures)
    listed = []
    for place in [place for place in order if those[place]][:MISSING]:
        rows = sorted(np.flatnonzero(missed[:, place]), key=lambda row: judged.relative[row, place])
        required = [(cases.requirements[row], float(judged.margin[row, place])) for row in rows]
        case = int(cases.number[place])
        listed.append(
            {
                "case": case,
                "command": rerun_command(folder, case),
                "capture": ways[place] or None,
                "missed": [
                    {
                        "name": one.name,
                        "figure": one.figure,
                        "text": one.text,
                        "unit": one.unit,
                        "value": _value_that_counts(offered.get(one.figure), place, one),
                        "margin": finite_or_none(margin),
                    }
                    for one, margin in required
                ],
            }
        )
    return {"cases": int(those.sum()), "reasons": _count_reasons(cases, missed, ways), "listed": listed}


def _count_reasons(cases: CampaignCases, missed: np.ndarray, ways: Sequence[str]) -> dict[str, int]:
    """Return in how many cases what was missed, that of most cases first: a case that was not captured counts as that, and not
    for a requirement of it, too."""
    counts = {NOT_CAPTURED: sum(map(bool, ways))}
    rows = zip(cases.requirements, missed.sum(axis=1), strict=True)
    counts |= {one.name: int(count) for one, count in rows if not (counts[NOT_CAPTURED] and one.figure == "captured")}
    return {name: count for name, count in sorted(counts.items(), key=lambda each: -each[1]) if count}


def _value_that_counts(values: np.ndarray | None, place: int, required: Required) -> float | None:
    """Return the value of a case that a requirement judges: of a list the worst entry; None where there is none."""
    if values is None:
        return None
    known = np.atleast_1d(values[place])
    _, margins = judge_values(known, required.relation, required.limit)
    return finite_or_none(known[0] if np.isnan(margins).any() else known[margins.argmin()])


def rerun_command(folder: str, case: int) -> str:
    """Return what runs one case of a campaign again, with its full result and report."""
    return f"dockdyn campaign rerun {shlex.quote(folder)} {case}"
