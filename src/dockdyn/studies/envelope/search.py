"""The boundary of an outcome, such as capture, over one or two keys of a scenario, located by bisection."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from dockdyn.dataset import Dataset
from dockdyn.deferred import Bool, Float
from dockdyn.results.attributes import study_attributes
from dockdyn.results.drive import Progress
from dockdyn.results.outcome import deciding_duration, still_open
from dockdyn.results.requirements import (
    hidden_by_capture,
    judge_values,
    limit_of,
    resolve_figure,
    unit_of_figure,
    with_lists,
    without_unit,
)
from dockdyn.scenario.axis import Axis, Sweep, axis_of, number
from dockdyn.scenario.language.errors import ScenarioError, nearest, shown
from dockdyn.scenario.language.given import name_from, number_from, table_from
from dockdyn.scenario.language.requirement import Requirement
from dockdyn.scenario.load import Scenario, scenario_from
from dockdyn.scenario.setups import setup_named
from dockdyn.stability.chart import chart_growth, join_polylines, locate_sign_changes
from dockdyn.stability.chart_region import union_of_cells
from dockdyn.studies.cases.batch import run_cases

CAPTURED = "captured"
CAPTURE = Requirement(CAPTURED, CAPTURED, "==", True, "true")
MOST_KEYS = 2
ENDS = 'two ends, such as ("20 mm/s", "60 mm/s")'
TOLERANCE = 1e-3  # of an axis
SMALLEST, LARGEST = 1e-6, 0.1  # tolerances allowed
COARSE = 12  # cells along an axis before refinement
FINE = 48  # cells along a line; of a plane, where the boundary passes, at the default tolerance

TINY = 1e-300  # a margin that is not met, and zero


def _parse_over(text: str) -> tuple[str, tuple[Any, Any]]:
    """Return `KEY=LOW:HIGH`; ScenarioError otherwise."""
    key, equals, values = text.partition("=")
    parts = [part.strip() for part in values.split(":")]
    if not equals or not key.strip() or len(parts) != 2 or not all(parts):
        raise ScenarioError(f"--over {text}: must be KEY=LOW:HIGH, such as approach.closing_speed=20mm/s:60mm/s")
    return key.strip(), (number(parts[0]), number(parts[1]))


def parse_ranges(texts: list[str]) -> dict[str, tuple[Any, Any]]:
    """Return ranges by key of several `KEY=LOW:HIGH`; ScenarioError where a key comes twice."""
    found: dict[str, tuple[Any, Any]] = {}
    for key, ends in map(_parse_over, texts):
        if key in found:
            raise ScenarioError(f"--over {key}: given twice; must be different keys")
        found[key] = ends
    return found


def envelope(
    scenario: Scenario | str | Path,
    over: Mapping[str, tuple[Any, Any]],
    of: str = CAPTURED,
    tolerance: float | str = TOLERANCE,
    progress: Progress | None = None,
) -> Dataset:
    """Return where over one or two keys an outcome changes.

    Args:
        scenario: everything else.
        over: from where to where, by key: `{"approach.closing_speed": ("20 mm/s", "60 mm/s")}`.
        of: "captured", or the name of a requirement of the scenario.
        tolerance: of the boundary's place, as a share of each range.
        progress: is told about the share that is done.

    Returns:
        `boundary_x`, `boundary_y` (vertex), pieces parted by NaN; `region_x`, `region_y` (corner), closed outlines of where
        the outcome is met; `point_x`, `point_y` and `met` (point), every case that was run: 1 or 0, NaN where it failed.
        Without `_y` for one key. `attrs["envelope"]` is the answer as JSON.

    Raises:
        ScenarioError: keys that are no single number or the same, ends that do not rise, an outcome that the scenario
            does not decide, a tolerance out of range.
    """
    scenario, tolerance = scenario_from(scenario), number_from("tolerance", tolerance, "", "a share")
    scenario, axes, outcome = read_envelope(scenario, over, of, tolerance)
    # what follows a capture decides nothing
    ended = setup_named(scenario.setup).ended_by_capture(scenario) if outcome is CAPTURE else scenario
    cases = Evaluated(ended, axes, outcome, _estimate_batches(tolerance), progress)
    cases.check()
    found = _on_line(cases, tolerance) if len(axes) == 1 else _on_plane(cases, tolerance)
    if progress is not None:
        progress(1.0)
    return _dataset_of(scenario, cases, found, tolerance)


def read_envelope(
    scenario: Scenario, over: Mapping[str, tuple[Any, Any]], of: str, tolerance: float
) -> tuple[Scenario, list[Axis], Requirement]:
    """Return the nominal scenario, the axes and the outcome of an envelope; runs nothing. Raises ScenarioError."""
    table_from("over", over, f"a mapping from one or two dotted keys to {ENDS}")
    if not 1 <= len(over) <= MOST_KEYS:
        raise ScenarioError(f"{scenario.name}: --over: {len(over)} keys; must be one or two")
    if not SMALLEST <= tolerance <= LARGEST:
        raise ScenarioError(f"--tolerance = {tolerance:g}: must be from {SMALLEST:g} to {LARGEST:g}")
    scenario = scenario.at({})  # what is distributed is at its nominal value
    axes = [
        axis_of(scenario, Sweep(key, *_both_ends(key, ends), count=2, option="--over")) for key, ends in over.items()
    ]
    if len({axis.leaf for axis in axes}) < len(axes):
        raise ScenarioError(f"{scenario.name}: --over: the same key twice; must be different keys")
    return scenario, axes, _outcome_of(scenario, name_from("of", of))


def _both_ends(key: str, ends: object) -> tuple[Any, Any]:
    """Return from where to where; ScenarioError for anything but two values."""
    if not isinstance(ends, tuple | list) or len(ends) != 2:
        raise ScenarioError(f"over: {key} = {shown(ends)}: must be {ENDS}")
    return ends[0], ends[1]


def _outcome_of(scenario: Scenario, name: str) -> Requirement:
    """Return what `name` asks for: capture, or one of the scenario's requirements."""
    if name == CAPTURED:
        if not setup_named(scenario.setup).can_capture(scenario):
            raise _nothing_captures(scenario)
        return CAPTURE
    found = {one.name: one for one in scenario.requirements}
    fitting = [one for one in found if without_unit(one) == without_unit(name)]  # with its unit or without
    if name not in found and len(fitting) == 1:
        return found[fitting[0]]
    if name not in found:
        raise ScenarioError(f"{scenario.name}: --of {name}: no such requirement; {nearest(name, {CAPTURED, *found})}")
    return found[name]


def _nothing_captures(scenario: Scenario) -> ScenarioError:
    """Say so, and what could be asked for instead."""
    names = [one.name for one in scenario.requirements]
    others = f"; must be one of its requirements: {', '.join(names)}" if names else ", and it has no [requirements]"
    return ScenarioError(f"{scenario.name}: --of {CAPTURED}: nothing in the scenario captures{others}")


def _cells_at(tolerance: float) -> int:
    """Return cells along an axis where the boundary passes: a smooth one leaves its chords by the square of their length."""
    halvings = round(math.log2(FINE / COARSE * math.sqrt(TOLERANCE / tolerance)))
    return COARSE * 2 ** max(halvings, 1)


def _estimate_batches(tolerance: float) -> int:
    """Return about how many batches it takes."""
    cells = _cells_at(tolerance)
    return 3 + round(math.log2(cells / COARSE)) + max(math.ceil(-math.log2(cells * tolerance)), 0)


@dataclass
class Evaluated:
    """The cases that were run, in shares of the axes, and what became of them."""

    scenario: Scenario
    axes: list[Axis]
    of: Requirement
    expected: int  # batches
    progress: Progress | None
    batches: list[tuple[np.ndarray, np.ndarray]] = field(default_factory=list)
    reasons: list[str] = field(default_factory=list)  # of those that failed
    undecided: int = 0
    deciding: float = 0.0  # s, duration by which those should have been decided; 0 where there are none
    unknown: int = 0  # whose capture leaves but a lower bound of the figure

    def values(self, shares: Float[np.ndarray, "points keys"]) -> Float[np.ndarray, "points keys"]:
        """Return the keys' numbers (SI)."""
        return np.stack([axis.at(share) for axis, share in zip(self.axes, shares.T, strict=True)], axis=-1)

    def __call__(self, shares: Float[np.ndarray, "points keys"]) -> Float[np.ndarray, "points"]:
        """Below zero where the outcome is met, above where not, NaN where the case failed or is not decided at its end."""
        found = run_cases(self.scenario, [axis.sweep.key for axis in self.axes], self.values(shares))
        failed = np.array([bool(reason) for reason in found.reasons])
        outcome = np.where(failed, np.nan, self.outcome(found.figures, ~failed))
        self.batches.append((shares, outcome))
        self.reasons += [reason for reason in found.reasons if reason]
        if self.progress is not None:
            self.progress(min(len(self.batches) / self.expected, 0.99))
        return outcome

    def outcome(self, figures: Mapping[str, np.ndarray], run: Bool[np.ndarray, "points"]) -> np.ndarray:
        """Return a number below zero where met, of those that have `run`: by the margin, where there is one. NaN where not
        decided."""
        where = f"{self.scenario.name}: requirements.{self.of.name}"
        if self.of is CAPTURE and np.isnan(figures.get(CAPTURED, np.full(run.shape, np.nan))[run]).any():
            raise _nothing_captures(self.scenario)
        if not run.any():
            return np.full(run.shape, np.nan)
        figures = {name: np.where(run, values, np.nan) for name, values in figures.items()}
        offered = with_lists(figures)
        figure = resolve_figure(self.of.figure, offered, where)
        values = offered[figure]
        limit = limit_of(self.of, figure, unit_of_figure(figure), values[run].ravel().tolist(), where)
        met, margin = judge_values(values, self.of.relation, limit)
        undecided = still_open(figure, self.of.relation, limit, values, met, figures)
        self.undecided += int(undecided.sum())
        self.deciding = max(self.deciding, deciding_duration(figures, undecided) or 0.0)
        unknown = hidden_by_capture(figure, self.of.relation, limit, values, figures) & ~undecided
        self.unknown += int(unknown.sum())
        # NaN: did not happen
        size = np.ones(run.shape) if isinstance(limit, bool) else np.nan_to_num(np.abs(margin), nan=np.inf)
        return np.where(undecided | unknown, np.nan, np.where(met, -size, np.maximum(size, TINY)))

    def check(self) -> None:
        """Run the case in the middle: one that says nothing about the outcome is refused before the others run."""
        self(np.full((1, len(self.axes)), 0.5))

    def points(self) -> tuple[Float[np.ndarray, "points keys"], Float[np.ndarray, "points"]]:
        """Return all of them in shares of the axes; 1 where the outcome was met, 0 where not, NaN where the case failed."""
        places, outcomes = (np.concatenate(parts) for parts in zip(*self.batches, strict=True))
        return places, np.where(np.isnan(outcomes), np.nan, outcomes <= 0)


class Found(NamedTuple):
    """What was located, in shares of the axes."""

    boundary: list[Float[np.ndarray, "vertices keys"]]  # a single point each where there is one key
    region: list[
        Float[np.ndarray, "vertices keys"]
    ]  # where the outcome is met: closed outlines, or from where to where
    share: float | None  # of the range in which it is met, of that where it is known


def _on_plane(cases: Evaluated, tolerance: float) -> Found:
    """Return polylines, and outlines of the region."""
    found = chart_growth(cases, _cells_at(tolerance), tolerance, coarse=COARSE, gaps=True)
    inside = union_of_cells(found)
    share = inside.area / inside.known if inside.known else None
    return Found([piece for piece in found.boundary if len(piece) > 1], inside.outlines, share)


def _on_line(cases: Evaluated, tolerance: float) -> Found:
    """Return crossings, and the stretches between them."""
    share = np.linspace(0, 1, FINE + 1)[:, None]
    found = cases(share)
    known = ~np.isnan(found[:-1]) & ~np.isnan(found[1:])
    changes = ((found[:-1] > 0) != (found[1:] > 0)) & known
    places = np.full(share[1:].shape, np.nan)
    if changes.any():
        at, after = np.flatnonzero(changes), np.flatnonzero(changes) + 1
        places[at] = locate_sign_changes(cases, share[at], share[after], found[at], found[after], tolerance)
    crossings = [place[None] for place in places if not np.isnan(place).any()]
    # from lattice point to lattice point, or to the crossing between them
    low = np.where(found[:-1] <= 0, share[:-1, 0], places[:, 0])
    high = np.where(found[1:] <= 0, share[1:, 0], places[:, 0])
    met = known & ((found[:-1] <= 0) | (found[1:] <= 0)) & ~np.isnan(low + high)
    stretches: list[list[float]] = []
    for start, end in zip(low[met].tolist(), high[met].tolist(), strict=True):
        if stretches and stretches[-1][1] == start:
            stretches[-1][1] = end
        else:
            stretches.append([start, end])
    area = float(np.sum((high - low)[met])) / (float(np.mean(known)) or np.nan)
    return Found(crossings, [np.array(ends)[:, None] for ends in stretches], None if np.isnan(area) else area)


def _dataset_of(scenario: Scenario, cases: Evaluated, found: Found, tolerance: float) -> Dataset:
    places, met = cases.points()
    boundary, inside = ([cases.values(piece) for piece in pieces] for pieces in (found.boundary, found.region))
    answer = {
        "of": cases.of.name,
        "required": cases.of.text,
        "keys": [axis.sweep.key for axis in cases.axes],
        "units": [axis.unit for axis in cases.axes],
        "ranges": [[axis.low, axis.high] for axis in cases.axes],
        "scenario_at": [axis.now for axis in cases.axes],
        "tolerance": tolerance,
        "runs": len(met),
        "grid_runs": (math.ceil(1 / tolerance) + 1) ** len(cases.axes),
        "failed": len(cases.reasons),
        "failures": list(dict.fromkeys(cases.reasons))[:5],
        "undecided": cases.undecided,
        "peak_force_not_known": cases.unknown,
        "deciding_duration_s": cases.deciding or None,
        "share_met": found.share,
        "boundary": [piece.tolist() for piece in boundary],
    }
    values = cases.values(places)
    variables: dict[str, Any] = {"met": ("point", met, {"units": "1", "long_name": f"{cases.of.name}: 1 yes, 0 no"})}
    for place, (name, axis) in enumerate(zip("xy", cases.axes, strict=False)):
        words = {"units": axis.unit or "1", "long_name": axis.sweep.key}
        for group, dimension, numbers in (
            ("boundary", "vertex", join_polylines(boundary, len(cases.axes))),
            ("region", "corner", join_polylines(inside, len(cases.axes))),
            ("point", "point", values),
        ):
            variables[f"{group}_{name}"] = (dimension, numbers[:, place], words)
    return Dataset(variables, attrs=study_attributes(scenario) | {"envelope": json.dumps(answer)})
