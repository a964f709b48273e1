"""Surfaces as figures show them: what meets them, where their docking axis is, and a wire frame.

They are known by their signed distance alone, so that a new or user's own shape needs nothing here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from dockdyn.dataset import Dataset
from dockdyn.docking.schema.bodies import kind_of
from dockdyn.report.charts.round_numbers import round_numbers
from dockdyn.report.charts.section import level_curves
from dockdyn.report.drawing import scenario_content
from dockdyn.report.sampled_surface import plain_components, signed_distances
from dockdyn.scenario.made import made

if TYPE_CHECKING:
    from dockdyn.contact.surfaces.surface import Surface

GRID = 161  # points a side on which a surface's distance is sampled
STATIONS = 6  # steps between them, at most


@dataclass
class Shown:
    """A surface with the contact pairs that meet it; positions are from its reference point, in its body's axes."""

    name: str
    pairs: list[int]
    radius: float  # m, of the largest spherical tip
    axis: np.ndarray  # unit docking axis
    reference: np.ndarray  # m, the reference point, in the same axes from the body's own
    distance: Callable[[np.ndarray], np.ndarray] | None  # signed distance (m) of points (…, 3); None when unknown


def shown_surfaces(dataset: Dataset) -> list[Shown]:
    """Return the surfaces of a result in space that single balls or points meet, those with most contacts first."""
    content = scenario_content(dataset)
    if content is None:
        names = map(str, dataset.contact.values)
        return [Shown(name, [i], 0.0, np.eye(3)[0], np.zeros(3), None) for i, name in enumerate(names)]
    if content.motion != "space":
        return []
    found: dict[tuple[str, str], Shown] = {}
    for index, contact in enumerate(content.contact):
        (_, feature), (carrier, section) = content.sides(contact)
        if kind_of(section) != "surface" or not is_single_ball(feature):
            continue
        key = (section.name, carrier)
        if key not in found:
            found[key] = Shown(section.name, [], 0.0, *_surface_geometry(made(section)))
        found[key].pairs.append(index)
        found[key].radius = max(found[key].radius, float(feature.radius))
    met = dataset.episode_contact.values
    return sorted(found.values(), key=lambda surface: -int(np.isin(met, surface.pairs).sum()))


def is_single_ball(feature: Any) -> bool:  # noqa: ANN401, a section of a feature
    """Return whether a feature is one ball or one point."""
    return feature.shape in ("ball", "point") and feature.member_count() == 1


def _surface_geometry(surface: Surface) -> tuple[np.ndarray, np.ndarray, Callable[[np.ndarray], np.ndarray]]:
    """Return docking axis and reference point of a surface, and its signed distance around that."""
    reference, (_, axis) = plain_components(surface.reference()), surface.docking_frame()
    return plain_components(axis), reference, lambda points: signed_distances(surface, points + reference)


def round_stations(limits: np.ndarray) -> np.ndarray:
    """Return a few round numbers within limits, and not on them."""
    places = round_numbers(limits[0], limits[1], STATIONS)
    return places[(places > limits[0]) & (places < limits[1])]


def wire_frame(surface: Shown, box: np.ndarray) -> list[np.ndarray]:
    """Return curves (n, 3) on a surface: across its docking axis at several stations, and in planes through the axis."""
    if surface.distance is None:
        return []
    axis = surface.axis
    one = np.cross(axis, np.eye(3)[np.abs(axis).argmin()])
    one /= np.linalg.norm(one)
    other = np.cross(axis, one)
    corners = np.stack(np.meshgrid(*box, indexing="ij"), axis=-1).reshape(-1, 3)
    along = np.linspace((corners @ axis).min(), (corners @ axis).max(), GRID)
    radii = np.linspace(0, 0.5 * float(box[0, 1] - box[0, 0]), GRID)
    turns = np.linspace(0, 2 * np.pi, GRID)

    def place(station: np.ndarray, radius: np.ndarray, turn: np.ndarray) -> np.ndarray:
        """Return points; of three coordinates at least one has a number for each, the others may be one number for all."""
        radial = np.cos(turn)[..., None] * one + np.sin(turn)[..., None] * other
        return station[..., None] * axis + radius[..., None] * radial

    def lines(first: np.ndarray, second: np.ndarray, order: Callable[..., tuple[np.ndarray, ...]]) -> list[np.ndarray]:
        assert surface.distance is not None
        grids = np.meshgrid(first, second)
        flat = level_curves(grids, surface.distance(place(*order(*grids))))
        return [place(*order(*line.T)) for line in flat]

    found = []
    for station in round_stations(along[[0, -1]]):
        found += lines(turns, radii, lambda turn, radius, s=station: (s, radius, turn))
    if not found:  # a plane across the axis: circles on it
        for radius in round_stations(radii[[0, -1]]):
            found += lines(turns, along, lambda turn, station, r=radius: (station, r, turn))
    for turn in turns[: -1 : GRID // 12]:
        found += lines(radii, along, lambda radius, station, t=turn: (station, radius, t))
    return found
