"""Outlines of solids of revolution: read from a file, and refused where they enclose none."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from pydantic import Field

from dockdyn.scenario.language.errors import ScenarioError
from dockdyn.scenario.language.given_file import PROFILE, content_of
from dockdyn.scenario.language.units import Coordinate
from dockdyn.scenario.tables.part import refuse

KEY = "profile"
MOST = 200  # corners

Corner = Annotated[list[Coordinate], Field(min_length=2, max_length=2)]


def corners_in(file: Path, label: str) -> list[list[float]]:
    """Return the rows of a CSV file: along the axis and from it, m. ScenarioError for a file that cannot be used."""
    content = content_of(file, label, PROFILE)
    try:
        rows = [row for row in csv.reader(content.decode("utf-8-sig").splitlines()) if row]
        return [[float(one) for one in row] for row in rows]
    except (ValueError, csv.Error):  # also what is no text, and a cell without end
        raise ScenarioError(f"{label}: must be a CSV file of numbers alone, m: along the axis, and from it") from None


def refuse_bad_outline(section: Any) -> None:  # noqa: ANN401, a table that `part` makes
    """Refuse corners that are not those of a closed outline at one side of the axis, or too near for the rounding."""
    corners = np.asarray(section.profile, float)
    if len(corners) > MOST:
        refuse(f"profile: has {len(corners)} corners; must have at most {MOST}")
    if (corners[:, 1] < 0).any():
        refuse("profile: distances from the axis must be at least 0")
    edges = np.roll(corners, -1, axis=0) - corners
    if not (np.linalg.norm(edges, axis=1) > 0).all():
        refuse("profile: two corners that follow each other are the same; the last is joined to the first")
    if _crosses(corners, edges):
        refuse("profile: its pieces cross each other, or fold back; the last corner is joined to the first")
    from dockdyn.contact.surfaces.revolved import core_of

    found = np.asarray(core_of(corners, section.rounding))
    outline = corners if np.sum(_cross(corners, np.roll(corners, -1, axis=0))) > 0 else corners[::-1]
    before, after = (np.roll(one, -1, axis=0) - one for one in (outline, found))
    if not (np.einsum("ij,ij->i", before, after) > 0).all() or (found[:, 1] < 0).any():
        refuse(f"rounding = {section.rounding:g} m: is too large for the profile")


def _cross(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    return one[..., 0] * other[..., 1] - one[..., 1] * other[..., 0]


def _crosses(corners: np.ndarray, edges: np.ndarray) -> bool:
    """Return whether two edges that do not follow each other meet, or two that do fold back."""
    count = len(corners)
    apart = corners[None] - corners[:, None]
    turn = _cross(edges[:, None], edges[None])
    with np.errstate(divide="ignore", invalid="ignore"):
        share, other = _cross(apart, edges[None]) / turn, _cross(apart, edges[:, None]) / turn
    step = (np.arange(count)[None] - np.arange(count)[:, None]) % count
    far = (step > 1) & (step < count - 1)
    following = np.roll(edges, -1, axis=0)
    folds = (_cross(edges, following) == 0) & (np.einsum("ij,ij->i", edges, following) < 0)
    return bool((far & (share >= 0) & (share <= 1) & (other >= 0) & (other <= 1)).any() or folds.any())
