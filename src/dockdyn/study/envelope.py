"""The boundary of an outcome, such as capture, over one or two keys of a scenario, located by bisection."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import Any

import numpy as np
import xarray as xr
from jaxtyping import Bool, Float, Int

from dockdyn.scenario.errors import ScenarioError
from dockdyn.scenario.load import Scenario
from dockdyn.stability.chart import chart, locate
from dockdyn.study.batch import run_cases
from dockdyn.study.stability_sweep import Axis, Sweep, axis_of, number, parted

CAPTURED = "captured"
MOST_KEYS = 2
TOLERANCE = 1e-3  # of an axis
SMALLEST, LARGEST = 1e-7, 0.1  # tolerances allowed
COARSE = 12  # cells along an axis before refinement
FINE = 48  # cells along an axis where the boundary passes, at the default tolerance

Progress = Callable[[float], None]


def parse_over(text: str) -> tuple[str, tuple[Any, Any]]:
    """`KEY=LOW:HIGH`; ScenarioError otherwise."""
    key, equals, values = text.partition("=")
    parts = [part.strip() for part in values.split(":")]
    if not equals or not key.strip() or len(parts) != 2 or not all(parts):
        raise ScenarioError(f"--over {text}: must be KEY=LOW:HIGH, such as approach.closing_speed=20mm/s:60mm/s")
    return key.strip(), (number(parts[0]), number(parts[1]))


def ranges(texts: list[str]) -> dict[str, tuple[Any, Any]]:
    """Ranges by key of several `KEY=LOW:HIGH`; ScenarioError where a key comes twice."""
    found: dict[str, tuple[Any, Any]] = {}
    for key, ends in map(parse_over, texts):
        if key in found:
            raise ScenarioError(f"--over {key}: given twice; must be different keys")
        found[key] = ends
    return found


def envelope(
    scenario: Scenario,
    over: Mapping[str, tuple[Any, Any]],
    of: str = CAPTURED,
    tolerance: float = TOLERANCE,
    progress: Progress | None = None,
) -> xr.Dataset:
    """Where over one or two keys an outcome changes.

    Args:
        scenario: everything else.
        over: from where to where, by key: `{"approach.closing_speed": ("20 mm/s", "60 mm/s")}`.
        of: "captured".
        tolerance: of the boundary's place, as a share of each range.
        progress: is told about the share that is done.

    Returns:
        `boundary_x`, `boundary_y` (vertex), pieces parted by NaN; `point_x`, `point_y` and `met` (point), every case that
        was run: 1 or 0, NaN where it failed. Without `_y` for one key. `attrs["envelope"]` is the answer as JSON.

    Raises:
        ScenarioError: keys that are no single number or the same, ends that do not rise, an outcome that the scenario
            does not decide, a tolerance out of range.
    """
    if not 1 <= len(over) <= MOST_KEYS:
        raise ScenarioError(f"{scenario.name}: --over: {len(over)} keys; must be one or two")
    if not SMALLEST <= tolerance <= LARGEST:
        raise ScenarioError(f"--tolerance = {tolerance:g}: must be from {SMALLEST:g} to {LARGEST:g}")
    axes = [axis_of(scenario, Sweep(key, *ends, count=2, option="--over")) for key, ends in over.items()]
    if len({axis.leaf for axis in axes}) < len(axes):
        raise ScenarioError(f"{scenario.name}: --over: the same key twice; must be different keys")
    cases = Evaluated(scenario, axes, of, rounds(tolerance), progress)
    cases.check()
    pieces = on_line(cases, tolerance) if len(axes) == 1 else on_plane(cases, tolerance)
    if progress is not None:
        progress(1.0)
    return dataset_of(scenario, cases, pieces, tolerance)


def cells_at(tolerance: float) -> int:
    """Cells along an axis where the boundary passes: a smooth one leaves its chords by the square of their length."""
    halvings = round(math.log2(FINE / COARSE * math.sqrt(TOLERANCE / tolerance)))
    return COARSE * 2 ** max(halvings, 0)


def rounds(tolerance: float) -> int:
    """About how many batches it takes."""
    cells = cells_at(tolerance)
    return 3 + round(math.log2(cells / COARSE)) + max(math.ceil(-math.log2(cells * tolerance)), 0)


@dataclass
class Evaluated:
    """The cases that were run, in shares of the axes, and what became of them."""

    scenario: Scenario
    axes: list[Axis]
    of: str
    expected: int  # batches
    progress: Progress | None
    batches: list[tuple[np.ndarray, np.ndarray]] = field(default_factory=list)
    reasons: list[str] = field(default_factory=list)  # of those that failed

    def values(self, shares: Float[np.ndarray, "points keys"]) -> Float[np.ndarray, "points keys"]:
        """The keys' numbers (SI)."""
        return np.stack([axis.at(share) for axis, share in zip(self.axes, shares.T, strict=True)], axis=-1)

    def __call__(self, shares: Float[np.ndarray, "points keys"]) -> Float[np.ndarray, "points"]:
        """Below zero where the outcome is met, above where not, NaN where the case failed."""
        found = run_cases(self.scenario, [axis.sweep.key for axis in self.axes], self.values(shares))
        failed = np.array([bool(reason) for reason in found.reasons])
        outcome = np.where(failed, np.nan, self.outcome(found.figures, ~failed))
        self.batches.append((shares, outcome))
        self.reasons += [reason for reason in found.reasons if reason]
        if self.progress is not None:
            self.progress(min(len(self.batches) / self.expected, 0.99))
        return outcome

    def outcome(self, figures: Mapping[str, np.ndarray], run: Bool[np.ndarray, "points"]) -> np.ndarray:
        """Below zero where met, of those that have `run`."""
        caught = figures.get(CAPTURED, np.full(run.shape, np.nan))
        if np.isnan(caught[run]).any():
            raise ScenarioError(f"{self.scenario.name}: --of {self.of}: the scenario has no latch to be captured by")
        return np.where(caught > 0, -1.0, 1.0)

    def check(self) -> None:
        """Runs the case in the middle: one that says nothing about the outcome is refused before the others run."""
        self(np.full((1, len(self.axes)), 0.5))

    def points(self) -> tuple[Float[np.ndarray, "points keys"], Float[np.ndarray, "points"]]:
        """All of them in shares of the axes; 1 where the outcome was met, 0 where not, NaN where the case failed."""
        places, outcomes = (np.concatenate(parts) for parts in zip(*self.batches, strict=True))
        return places, np.where(np.isnan(outcomes), np.nan, outcomes <= 0)


def on_line(cases: Evaluated, tolerance: float) -> list[np.ndarray]:
    """Crossings on a line, each a piece of one point, in shares of the axis."""
    share = np.linspace(0, 1, cells_at(tolerance) + 1)[:, None]
    found = cases(share)
    known = ~np.isnan(found)
    at = np.flatnonzero(((found[:-1] > 0) != (found[1:] > 0)) & known[:-1] & known[1:])
    if not len(at):
        return []
    places = locate(cases, share[at], share[at + 1], found[at], found[at + 1], tolerance)
    return [place[None] for place in places if not np.isnan(place).any()]


def on_plane(cases: Evaluated, tolerance: float) -> list[np.ndarray]:
    """Polylines in shares of the axes."""
    found = chart(cases, cells_at(tolerance), tolerance, coarse=COARSE, gaps=True)
    return [piece for piece in found.boundary if len(piece) > 1]


def dataset_of(scenario: Scenario, cases: Evaluated, pieces: list[np.ndarray], tolerance: float) -> xr.Dataset:
    places, met = cases.points()
    boundary = [cases.values(piece) for piece in pieces]
    answer = {
        "of": cases.of,
        "keys": [axis.sweep.key for axis in cases.axes],
        "units": [axis.unit for axis in cases.axes],
        "ranges": [[axis.low, axis.high] for axis in cases.axes],
        "scenario_at": [axis.now for axis in cases.axes],
        "tolerance": tolerance,
        "runs": len(met),
        "grid_runs": (math.ceil(1 / tolerance) + 1) ** len(cases.axes),
        "failed": len(cases.reasons),
        "failures": list(dict.fromkeys(cases.reasons))[:5],
        "share_met": share_met(places, met, pieces),
        "boundary": [piece.tolist() for piece in boundary],
    }
    # not parted by NaN where pieces are single points
    line = parted(boundary) if len(cases.axes) > 1 else np.concatenate([*boundary, np.empty((0, 1))])
    values = cases.values(places)
    variables: dict[str, Any] = {"met": ("point", met, {"units": "1", "long_name": f"{cases.of}: 1 yes, 0 no"})}
    for place, (name, axis) in enumerate(zip("xy", cases.axes, strict=False)):
        words = {"units": axis.unit or "1", "long_name": axis.sweep.key}
        variables[f"boundary_{name}"] = ("vertex", line[:, place], words)
        variables[f"point_{name}"] = ("point", values[:, place], words)
    attributes = {
        "title": scenario.title,
        "kind": scenario.kind,
        "source": scenario.name,
        "scenario": scenario.text(),
        "dockdyn_version": version("dockdyn"),
        "envelope": json.dumps(answer),
    }
    return xr.Dataset(variables, attrs=attributes)


def share_met(places: np.ndarray, met: np.ndarray, pieces: list[np.ndarray]) -> float | None:
    """Share of the range where the outcome is met, of that where it is known; None where every case failed."""
    if np.isnan(met).all():
        return None
    if places.shape[1] == 1:
        return share_of_line(places[:, 0], met, np.array([piece[0, 0] for piece in pieces]))
    corners, triangles, values = outcome_field(places, met, pieces)
    first, second, third = np.moveaxis(corners[triangles], 1, 0)
    sides = np.stack([second - first, third - first])
    area = np.abs(sides[0, :, 0] * sides[1, :, 1] - sides[0, :, 1] * sides[1, :, 0])
    known = ~np.isnan(values[triangles]).any(axis=1)
    inside = np.sign(values[triangles].sum(axis=1)) / 2 + 0.5  # those of met and not met are thinner than the tolerance
    return float((area * inside)[known].sum() / area[known].sum())


def share_of_line(places: np.ndarray, met: np.ndarray, crossings: np.ndarray) -> float:
    """The same of a line."""
    order = np.argsort(np.r_[places, crossings])
    ends = np.r_[places, crossings][order]
    values = np.r_[2 * met - 1, np.zeros(len(crossings))][order]
    length, value = np.diff(ends), values[1:] + values[:-1]
    known = ~np.isnan(value)
    return float((length * (np.sign(value) / 2 + 0.5))[known].sum() / length[known].sum())


def outcome_field(
    places: Float[np.ndarray, "points 2"], met: Float[np.ndarray, "points"], pieces: list[np.ndarray]
) -> tuple[Float[np.ndarray, "corners 2"], Int[np.ndarray, "triangles 3"], Float[np.ndarray, "corners"]]:
    """Triangles between all cases and the boundary's vertices: 1 where met, −1 where not, 0 on the boundary, NaN: failed."""
    from scipy.spatial import Delaunay

    corners = np.concatenate([places, *pieces])
    corners, first = np.unique(corners.round(12), axis=0, return_index=True)
    values = np.concatenate([2 * met - 1, *(np.zeros(len(piece)) for piece in pieces)])[first]
    return corners, Delaunay(corners).simplices, values
