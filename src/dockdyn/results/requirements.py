"""Requirements against the figures of a run: met or not, and by which margin."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from dockdyn.results.measures import Either
from dockdyn.scenario.language.errors import ScenarioError, nearest
from dockdyn.scenario.language.requirement import Requirement
from dockdyn.scenario.language.units import convert

# endings of a figure's name, and the unit that each says; N_m is that of a stiffness, of a moment N m
UNITS = {
    "N": "N", "m": "m", "s": "s", "ms": "ms", "J": "J", "kg": "kg", "rad": "rad", "deg": "deg", "Hz": "Hz",
    "m_s": "m/s", "m_s2": "m/s²", "rad_s": "rad/s", "deg_s": "deg/s", "1_s": "1/s",
    "N_s": "N s", "N_m_s": "N m s", "N_m": "N/m", "N_s_m": "N s/m", "kg_m2": "kg m²",
}  # fmt: skip
ENDING = re.compile("_(" + "|".join(sorted(UNITS, key=len, reverse=True)) + ")$")
MOMENT = re.compile("(moment|torque)_N_m$")
# figures of which a capture without a history of its force leaves only a lower bound
BOUNDED = (
    "peak_force_N",
    "latch.peak_force_N",
    "latch.peak_moment_N_m",
    "latch.seat_peak_force_N",
    "latch.grip_travel_m",
)
# figures of one member of a table, as in "contact.faces.peak_force_N"; those of all members have no name between
MEMBER = re.compile(
    r"(?:contact|latch|tank|recovery)\.(?P<member>.+)\.[^.]+|body\.(?P<body>.+)\.port\.(?P<port>[^.]+)\.(?P<load>[^.]+)"
)
LOADS = "port."  # begins the figures of the largest loads over all ports
NOISE = 1e-6  # of the largest of its kind (of moments with a lever of 1 m): less is what rounding leaves
FORCE = re.compile(r"contact\..+\.peak_(force_N|time_s)")  # of one contact: without a number where it has been struck
KNOWN = "peak_force_known"  # the figure that says whether they are more
COMPARED = {
    "<": lambda value, limit: value < limit,
    "<=": lambda value, limit: value <= limit,
    ">": lambda value, limit: value > limit,
    ">=": lambda value, limit: value >= limit,
    "==": lambda value, limit: value == limit,
}


def unit_of_figure(figure: str) -> str:
    """Return the unit that a figure's name ends with: "peak_force_N" is in "N"; empty where there is none.

    Of a figure in a table the table's name may have it, as in "peak_tip_deflection_m.boom".
    """
    for part in figure.split("."):
        if ending := ENDING.search(part):
            return "N m" if MOMENT.search(part) else UNITS[ending[1]]
    return ""


def without_unit(figure: str) -> str:
    """Return a figure's name without its unit."""
    return ".".join(ENDING.sub("", part) for part in figure.split("."))


def judge_requirements(
    requirements: Sequence[Requirement], summary: Mapping[str, Any], name: str = "scenario"
) -> list[dict[str, Any]]:
    """Return every requirement against the figures of a `summary`, or against those of a case by the same names.

    `margin` is how far the figure is from its limit, in the figure's unit, positive where the requirement is met; None
    for a yes or no and where there is no figure: what did not happen does not meet a requirement. Of a list the worst
    entry counts. `met` is None where the figure is but a lower bound that may hide either answer, and `why` says so. Of the
    largest load over all ports `at` is the port that it is of. One that is what `rounding` leaves says so.
    Raises ScenarioError, which calls the scenario `name`: no such figure, a limit of another unit.
    """
    figures = figures_of(summary)
    return [judge_requirement(one, figures, f"{name}: requirements.{one.name}") for one in requirements]


def figures_of(summary: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Return everything of a summary that can be required: numbers, yes or no, None, lists of numbers; of tables by dotted
    names."""
    found: dict[str, Any] = {}
    for name, value in summary.items():
        if isinstance(value, Mapping):
            found |= figures_of(value, f"{prefix}{name}.")
        elif value is None or isinstance(value, bool | int | float):
            found[prefix + name] = value
        elif isinstance(value, list) and all(item is None or isinstance(item, int | float) for item in value):
            if unit_of_figure(name) or any(item is not None for item in value):
                found[prefix + name] = value
    return found


LEAST, LARGEST = ".least", ".largest"  # figures of a case that stand for a list


def ends_of(figure: str) -> tuple[str, str]:
    """Return the names under which a case of a campaign keeps the least and the largest of a figure that is a list."""
    return figure + LEAST, figure + LARGEST


def with_lists(figures: Mapping[str, Any]) -> dict[str, Any]:
    """Return the figures of a case, or arrays over cases, and besides each list of which there is the least and the largest.

    Of a single case a list is one again; of arrays it is one of shape (cases, 2).
    """
    found = dict(figures)
    for name in figures:
        base = name.removesuffix(LEAST)
        if base != name and base + LARGEST in figures:
            both = [figures[end] for end in ends_of(base)]
            found[base] = np.stack(both, axis=-1) if isinstance(both[0], np.ndarray) else both
    return found


def judge_values(values: np.ndarray, relation: str, limit: bool | float) -> tuple[np.ndarray, np.ndarray]:
    """Return which cases meet a limit, and by which margin: NaN for a yes or no and where there is no figure.

    `values` (cases,), or (cases, 2) the least and the largest of a list, of which the worst counts.
    """
    values = np.asarray(values, float).reshape(len(values), -1)
    met = COMPARED[relation](values, limit).all(axis=1)
    if isinstance(limit, bool):
        return met, np.full(len(values), np.nan)
    return met, _margin_of(values, relation, limit).min(axis=1)


def judge_requirement(one: Requirement, figures: Mapping[str, Any], where: str) -> dict[str, Any]:
    """Return one requirement against all figures."""
    figure = resolve_figure(one.figure, figures, where)
    unit = unit_of_figure(figure)
    values = figures[figure] if isinstance(figures[figure], list) else [figures[figure]]
    limit = limit_of(one, figure, unit, [value for value in values if value is not None], where)
    answer = {"name": one.name, "figure": figure, "relation": one.relation, "limit": limit, "unit": unit}
    answer["text"] = one.text
    bounded = is_bounded(figure) and figures.get(KNOWN) in (0, False)
    if not values or any(value is None or math.isnan(value) for value in values):
        return (
            undecided_requirement(answer, None) if bounded else answer | {"value": None, "met": False, "margin": None}
        )
    if isinstance(limit, bool):
        met = all(bool(value) == limit for value in values)
        return answer | {"value": limit if met else not limit, "met": met, "margin": None}
    worst = min(values, key=lambda value: _margin_of(value, one.relation, limit))
    answer |= {"rounding": True} if is_rounding(worst, _largest_of_kind(figure, figures)) else {}
    answer |= {} if "rounding" in answer else decided_at(figure, worst, figures)
    margin = float(_margin_of(worst, one.relation, limit))
    if bounded and is_at_least(figure) and _is_open(worst, one.relation, limit):
        return undecided_requirement(answer, float(worst))
    return answer | {
        "value": float(worst) if math.isfinite(worst) else None,
        "met": COMPARED[one.relation](worst, limit),
        "margin": margin if math.isfinite(margin) else None,
    }


def is_of_member(figure: str) -> bool:
    """Return whether a figure is of one contact, latch, port or tank, and not of all of them."""
    return MEMBER.fullmatch(figure.removesuffix(LEAST).removesuffix(LARGEST)) is not None


def is_bounded(figure: str) -> bool:
    """Return whether of a figure what acts at an instant leaves only a lower bound: of the largest forces and loads. Of the
    force of one contact that was struck it leaves no number."""
    member = MEMBER.fullmatch(figure)
    loads = figure.startswith(LOADS) or (member is not None and member["load"] is not None)
    return figure in BOUNDED or loads or FORCE.fullmatch(figure) is not None


def is_at_least(figure: str) -> bool:
    """Return whether the number of a figure that is bounded is a lower bound; that of one contact is right if there is one."""
    return FORCE.fullmatch(figure) is None


def is_rounding(value: float | None, largest: float) -> bool:
    """Return whether a number is but what rounding leaves beside the `largest` of its kind."""
    return value is not None and 0 < abs(value) < NOISE * largest


def without_rounding(value: float | None, largest: float) -> float | None:
    """Return a number as it is told: 0 where it is but what rounding leaves beside the `largest` of its kind."""
    return 0.0 if is_rounding(value, largest) else value


def _largest_of_kind(figure: str, figures: Mapping[str, Any]) -> float:
    """Return what rounding of a figure is beside: of loads at ports the largest one, of what friction took the energy at the
    start; 0 of others."""
    member = MEMBER.fullmatch(figure)
    if figure.startswith(LOADS) or (member is not None and member["load"]):
        return max((abs(value) for name, value in figures.items() if name.startswith(LOADS) and value), default=0.0)
    return figures.get("kinetic_energy_start_J") or 0.0 if figure.endswith("friction_loss_J") else 0.0


def decided_at(figure: str, value: float, figures: Mapping[str, Any]) -> dict[str, str]:
    """Return under "at" the port, as in "chaser.interface", that a figure, the largest over all ports, is of; nothing for other
    figures."""
    loads = {name: MEMBER.fullmatch(name) for name in figures if figures[name] == value}
    ports = [f"{of['body']}.{of['port']}" for of in loads.values() if of and f"port.{of['load']}" == figure]
    return {"at": ports[0]} if ports else {}


def undecided_requirement(answer: dict[str, Any], value: float | None) -> dict[str, Any]:
    """Return a requirement on a figure that is not known, but at least `value`."""
    return answer | {
        "value": value,
        "met": None,
        "margin": None,
        "why": "the largest force is not known",
    }


def _is_open(value: Either, relation: str, limit: float) -> Either:
    """Return whether a figure that is at least `value` may meet a requirement or not; of each of an array."""
    return value <= limit if relation in ("<=", "==", ">") else value < limit


def hidden_by_capture(
    figure: str, relation: str, limit: bool | float, values: np.ndarray, figures: Mapping[str, Any]
) -> np.ndarray:
    """Return in which cases a capture leaves but a lower bound of a figure, one that may hide either answer; of arrays over
    cases."""
    if not is_bounded(figure):
        return np.zeros(len(values), bool)
    bound = figures.get(KNOWN, np.ones(len(values))) == 0
    return bound & (np.isnan(values) | (_is_open(values, relation, limit) & is_at_least(figure)))


def _margin_of(value: Either, relation: str, limit: float) -> Either:
    """Return how far a value, or each of an array, is on the right side of a limit."""
    if relation == "==":
        return -abs(value - limit)
    return limit - value if relation.startswith("<") else value - limit


def resolve_figure(figure: str, figures: Mapping[str, Any], where: str) -> str:
    """Return the figure in full, unit included."""
    if figure in figures:
        return figure
    fitting = [name for name in figures if without_unit(name) == figure]
    if not fitting:
        raise ScenarioError(f"{where}: no such figure in the summary; {_describe_offered(figure, figures)}")
    if len(fitting) > 1:
        raise ScenarioError(f"{where}: fits several figures; must be one of {', '.join(fitting)}")
    return fitting[0]


def _describe_offered(figure: str, figures: Mapping[str, Any]) -> str:
    """Return for a message which figure may have been meant, and which there are."""
    known = sorted(without_unit(name) for name in figures)
    close = nearest(figure, known)
    return (
        f"{close} There are {', '.join(known)}" if close.startswith("did you mean") else f"allowed: {', '.join(known)}"
    )


def limit_of(one: Requirement, figure: str, unit: str, values: list[Any], where: str) -> bool | float:
    """Return the limit in the figure's unit, in which a number without one is."""
    yes_or_no = [isinstance(value, bool) for value in values]
    if isinstance(one.limit, bool):
        if unit or any(value not in (0, 1) and not math.isnan(value) for value in values):
            raise ScenarioError(f'{where} = {one.text}: {figure} is a number; must be a relation such as "< 5 {unit}"')
        return one.limit
    if any(yes_or_no):
        raise ScenarioError(f"{where} = {one.text!r}: {figure} is a yes or no; must be true or false")
    try:
        return convert(one.limit, unit.replace("²", "**2"))
    except ValueError:
        given = f"in {unit}" if unit else "a number without a unit"
        raise ScenarioError(f"{where} = {one.text!r}: must be {given}, as {figure} is") from None
