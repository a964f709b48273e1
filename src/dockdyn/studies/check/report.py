"""The report of a scenario before it is run, with its scene from the start to the first touch."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from dockdyn.dataset import DataArray, Dataset
from dockdyn.records import record
from dockdyn.report.report import Report, ReportBlock, Table
from dockdyn.report.scene.scene import RunScene, ShownPart
from dockdyn.report.scene.solids import TubeSolid
from dockdyn.report.tile import Tile
from dockdyn.report.verdict import Advice
from dockdyn.report.wording import NOTHING, format_significant
from dockdyn.results.overlap import overlaps_too_deep
from dockdyn.scenario.compile_cost import CompileCost, compile_cost
from dockdyn.scenario.language.errors import ScenarioError
from dockdyn.scenario.sanity.check import check_numbers
from dockdyn.scenario.sanity.mesh_units import placed_meshes
from dockdyn.scenario.sanity.stated import stated_numbers
from dockdyn.scenario.setups import setup_named
from dockdyn.studies.check.start import StraightStart, begin_straight
from dockdyn.trees import structure_of

if TYPE_CHECKING:
    from dockdyn.scenario.load import Scenario

MOST = 6  # contacts in a tile
LISTED = 40  # contacts in the table
AXIS = 0.25  # of the reach of what touches: length of a drawn axis of a port
OVER_TIME = ("position", "attitude")


@record
class ScenarioCheck:
    """What is known of a scenario before it is run."""

    report: Report
    scene: RunScene | None


def check_scenario(scenario: Scenario, again: str = "") -> ScenarioCheck:
    """Return what can be said of a scenario before it is run; `again` is what was typed for it.

    Raises ScenarioError for what cannot be begun.
    """
    setup_named(scenario.setup).refuse_requirements(scenario)
    begun, began = begin_straight(scenario), time.perf_counter()
    scene = _scene(scenario, begun)
    ready = None if scene is None else time.perf_counter() - began
    cost = compile_cost([structure_of(scenario.content)], by_xla=False)
    about = [*_touch_tiles(begun), *_mass_tiles(scenario.content), _cost_tile(cost, ready)]
    words = _verdict(begun)
    report = Report(
        title=str(scenario.content.title),
        headline=_headline(begun),
        verdict=words,
        advice=[Advice("Next", "Run it:", f"dockdyn run {scenario.name}")],
        tiles=about,
        alarming=_too_deep(scenario.content, begun),
        neutral=bool(begun.overlapping and not _too_deep(scenario.content, begun)),
        warnings=check_numbers(scenario),
        key=[
            ("Duration", f"{float(scenario.content.duration):g} s"),
            ("Memory of the first run, about", f"{cost.memory / 1e9:.1f} GB"),
        ],
        blocks=[
            ReportBlock("What may touch", table=_contacts_table(begun), notes=[STRAIGHT], where="before"),
            ReportBlock("Bodies", table=_bodies_table(scenario.content), notes=[BOX], where="before"),
            ReportBlock("Meshes", table=_meshes_table(scenario.content), where="before"),
            ReportBlock(
                "Ports, features and surfaces", table=_places_table(scenario.content), notes=[PLACES], where="before"
            ),
        ],
        scenario=scenario.text(),
        again=again,
    )
    terminal: list[str | ReportBlock] = [report.title, f"{report.headline}.", words, *report.blocks[:3]]
    return ScenarioCheck(replace(report, terminal=terminal), scene)


STRAIGHT = (
    "If nothing acted and every body went straight on and turned evenly as it does at t = 0; a negative gap is overlap. What "
    "acts, and joints, change the time."
)
BOX = "The box is of even density with this mass and these moments; a body is hardly smaller, and none has moments without."
PLACES = "In the axes of the body, from its origin; the axis points out of the body."


def _cost_tile(cost: CompileCost, ready: float | None) -> Tile:
    """Return what the first run has to compile: how long it took to have its programs `ready` (s), else by the estimate."""
    memory = f"about {cost.memory / 1e9:.1f} GB of memory"
    if ready is None:
        return Tile("First run compiles", format_significant(cost.seconds, 2), "s or more", f"by its parts; {memory}")
    return Tile(
        "Programs of the run", format_significant(ready, 2), "s", f"until they were ready; a run now has them; {memory}"
    )


def _headline(begun: StraightStart) -> str:
    if not begun.names:
        return "Nothing can touch"
    if over := begun.overlapping:
        deep = format_significant(1e3 * begun.depths[0][over[0]], 3)
        return f"{begun.names[over[0]]} overlaps by {deep} mm at the start"
    if begun.first is None:
        return "Nothing touches on a straight way within the duration"
    when = begun.touches[begun.first]
    at = f"first, at {format_significant(when, 4)} s" if when else "at the start"
    return f"Contact {begun.names[begun.first]} touches {at}"


def _verdict(begun: StraightStart) -> str:
    """Return what overlaps, and what touches when, in sentences."""
    if not begun.names:
        return "There are no contacts to look at."
    over, count = begun.overlapping, len(begun.names)
    nearest = int(begun.depths[0].argmax())
    words = (
        f"{len(over)} of {count} contacts overlap at the start."
        if over
        else f"Nothing overlaps: the smallest gap is {'at least ' * begun.at_least[nearest]}{_gap_in_words(begun, nearest)} mm."
    )
    later = int(np.isfinite(begun.touches).sum())
    if later:
        words += f" {later} of {count} contacts close on a straight way within the duration."
    return words


def _gap_in_words(begun: StraightStart, number: int) -> str:
    """Return the gap of a contact at the start, in mm."""
    return format_significant(-1e3 * float(begun.depths[0][number]), 4)


def _too_deep(content: Any, begun: StraightStart) -> bool:  # noqa: ANN401, of any setup
    """Return whether a run would refuse the overlap."""
    return bool(overlaps_too_deep(content.meetings(), begun.depths[0]))


def _touch_tiles(begun: StraightStart) -> Iterator[Tile]:
    """Yield when something first touches, with the way there, and the gaps at the start."""
    if not begun.names:
        return
    first = begun.first
    if first is not None:
        gap = np.maximum(-begun.depths[:, first], 0.0) * 1e3
        value = format_significant(begun.touches[first], 4)
        yield Tile("First touch, straight on", value, "s", begun.names[first], begun.time, gap)
    gaps = -begun.depths[0] * 1e3
    order = np.argsort(gaps)
    largest = float(np.abs(gaps[order[:MOST]]).max()) or 1.0
    bars = [(begun.names[one], abs(gaps[one]) / largest, format_significant(gaps[one], 3)) for one in order[:MOST]]
    least = float(gaps[order[0]])
    name = "Smallest gap at the start" if least >= 0 else "Deepest overlap at the start"
    name += ", at least" * begun.at_least[order[0]]
    yield Tile(name, format_significant(abs(least), 4), "mm", begun.names[order[0]], bars=bars, alarming=least < 0)


def _free_bodies(content: Any) -> list[Any]:  # noqa: ANN401, of any setup
    """Return the bodies that move and have a mass, liquids among them."""
    return [body for body in content.bodies if not body.fixed and body.mass > 0]


def _mass_tiles(content: Any) -> Iterator[Tile]:  # noqa: ANN401, of any setup
    """Yield the masses of bodies."""
    masses = [(body.name, float(body.mass)) for body in _free_bodies(content)]
    total, largest = sum(mass for _, mass in masses), max(mass for _, mass in masses)
    bars = [(name, mass / largest, format_significant(mass, 4)) for name, mass in masses[:MOST]]
    yield Tile("Mass of all bodies", format_significant(total, 4), "kg", f"of {len(masses)} that move", bars=bars)


def _contacts_table(begun: StraightStart) -> Table:
    """Return gaps at the start and when each closes, the first one first."""
    order = np.lexsort((-begun.depths[0], np.nan_to_num(begun.touches, nan=np.inf)))
    rows = []
    for one in order[:LISTED]:
        depth, touch = float(begun.depths[0][one]), float(begun.touches[one])
        when = "at the start" if depth > 0 else NOTHING if np.isnan(touch) else format_significant(touch, 5)
        gap = "≥ " * begun.at_least[one] + _gap_in_words(begun, one)
        rows.append([begun.names[one], gap, when, "overlaps" if depth > 0 else ""])
    columns = [("contact", ""), ("gap at the start", "mm"), ("closes, straight on", "s"), ("", "")]
    return Table(columns, rows, worded={0, 3}, alarming={"overlaps"}, left_out=max(len(order) - LISTED, 0))


def _bodies_table(content: Any) -> Table:  # noqa: ANN401, of any setup
    """Return masses and moments of inertia against the box of even density that has them."""
    rows = []
    for body in _free_bodies(content):
        mass, stated = float(body.mass), getattr(body, "inertia", None)
        if stated is None:
            rows.append([body.name, format_significant(mass, 5), *[NOTHING] * 3, ""])
            continue
        inertia = np.asarray(stated, float)
        moments = np.linalg.eigvalsh(np.diag(inertia) if inertia.ndim == 1 else inertia)
        slack = float(moments[0] + moments[1] - moments[2])
        sizes = np.sqrt(np.maximum(6 * (moments.sum() - 2 * moments) / mass, 0.0))
        words = "in no body: the largest is more than the others together" if slack < -1e-9 * moments[2] else ""
        rows.append(
            [
                body.name,
                format_significant(mass, 5),
                " · ".join(format_significant(one, 3) for one in moments),
                " × ".join(format_significant(one, 3) for one in sizes),
                format_significant(float(np.sqrt(moments[2] / mass)), 3),
                words,
            ]
        )
    columns = [
        ("body", ""),
        ("mass", "kg"),
        ("principal moments", "kg m²"),
        ("box", "m"),
        ("radius of gyration", "m"),
        ("", ""),
    ]
    return Table(columns, rows, worded={0, 2, 3, 5}, alarming={row[5] for row in rows if row[5]})


def _meshes_table(content: Any) -> Table:  # noqa: ANN401, of any setup
    """Return how large the units of mesh files make the meshes."""
    rows = [
        [mesh.key, Path(mesh.file).name, mesh.unit or "m", format_significant(mesh.size, 4)]
        for mesh in placed_meshes(stated_numbers(content))
    ]
    return Table([("mesh", ""), ("file", ""), ("read in", ""), ("largest extent", "m")], rows, worded={0, 1, 2})


def _places_table(content: Any) -> Table:  # noqa: ANN401, of any setup
    """Return where features, surfaces and ports are, and their axes."""
    rows = []
    for body in content.body:
        for kind, name, place, axis in _places(body):
            rows.append([f"{body.name}.{name}", kind, _vector(place), _vector(axis)])
    return Table([("name", ""), ("is a", ""), ("place", "m"), ("axis", "")], rows, worded={0, 1})


def _places(body: Any) -> Iterator[tuple[str, str, np.ndarray | None, np.ndarray | None]]:  # noqa: ANN401, of any setup
    """Yield what a body has that is somewhere: what it is, its name, its place and its axis as far as they are stated."""
    for kind in ("feature", "surface", "port"):
        for one in getattr(body, kind, None) or []:
            place = next(
                (getattr(one, key) for key in ("position", "apex", "centre", "point") if hasattr(one, key)), None
            )
            yield kind, one.name, _triple(place), _triple(getattr(one, "axis", None))


def _triple(value: object) -> np.ndarray | None:
    """Return three numbers; None of what is none."""
    try:
        found = np.asarray(value, float)
    except (TypeError, ValueError):
        return None
    return found if found.shape == (3,) else None


def _vector(value: np.ndarray | None) -> str:
    return NOTHING if value is None else f"({', '.join(format_significant(float(one), 4) for one in value)})"


def _scene(scenario: Scenario, begun: StraightStart) -> RunScene | None:
    """Return the scene from the start to the first touch, with axes of ports; None where it cannot be drawn before a run."""
    setup = setup_named(scenario.setup)
    try:
        dataset = setup.begin(scenario)
    except ScenarioError:
        return None
    if dataset is None or "position" not in dataset or dataset.position.values.shape[1:] != begun.places.shape[1:]:
        return None
    scene = setup.scene(_straight(dataset, begun), scenario.content)
    return replace(scene, parts=[*scene.parts, *_axes(scenario.content, scene)])


def _straight(dataset: Dataset, begun: StraightStart) -> Dataset:
    """Return the first sample of a dataset at all instants, its bodies where they would be going straight on."""
    still = dataset.isel(time=np.zeros(len(begun.time), int))
    moved = {"position": begun.places, "attitude": begun.attitudes}
    return still.assign(
        {"time": ("time", begun.time), **{name: _like(dataset[name], moved[name]) for name in OVER_TIME}}
    )


def _like(array: DataArray, values: np.ndarray) -> tuple[Any, ...]:
    return array.dims, values, array.attrs


def _axes(content: Any, scene: RunScene) -> Iterator[ShownPart]:  # noqa: ANN401, of any setup
    """Yield the axes of ports and surfaces as rods, which the tree of the scene names."""
    length = AXIS * scene.focus.reach
    for body in content.body:
        for _, name, place, axis in _places(body):
            if place is not None and axis is not None and body.name in scene.bodies and np.linalg.norm(axis) > 0:
                end = place + length * axis / np.linalg.norm(axis)
                rod = TubeSolid(place, end, 0.012 * length)
                yield ShownPart(f"axis of {name}", [rod], scene.bodies[body.name], "look", body.name)
