"""The table of a report that says how nearly meshes are met."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from dockdyn.dataset import Dataset
from dockdyn.report.drawing import scenario_content
from dockdyn.report.report import ReportBlock, Table
from dockdyn.report.wording import NOTHING, format_significant
from dockdyn.scenario.tables.mesh import MeshSection

COLUMNS = (
    ("mesh", ""),
    ("file", ""),
    ("bricks", ""),
    ("finest spacing", "mm"),
    ("error of 99 %", "mm"),
    ("largest error", "mm"),
    ("at convex edges", "mm"),
    ("at concave edges", "mm"),
    ("points", ""),
    ("largest piece", "mm"),
    ("smallest piece", "mm"),
    ("area", "m²"),
)
SETTLED = 5e-3  # of a force: once halving the pieces changes it by less, it is known
NOTE = (
    "Errors are those of the distance where tips of the tip_radius touch the mesh: all over its faces, and the largest at its "
    "edges, where it bends by more than 20°. Points touch from inside; three of them stand for each piece of a face, the "
    "smallest of which are at sharp edges."
)


def meshes_of_result(dataset: Dataset, summary: dict[str, Any]) -> ReportBlock:
    """Return how nearly the meshes of the bodies of a run are met: a row for each surface and each cloud, and how far off the
    largest forces of clouds are."""
    content, rows = scenario_content(dataset), []
    several = getattr(content, "body", None) or []
    two = [(name, getattr(content, name)) for name in ("chaser", "target") if hasattr(content, name)]
    for body, section in [*two, *((one.name, one) for one in several)]:
        for surface in section.surface:
            rows += [_surface_row(f"{body}.{surface.name}", mesh) for mesh in _meshes_in(surface)]
        rows += [
            _cloud_row(f"{body}.{one.name}", one) for one in section.feature if getattr(one, "shape", "") == "cloud"
        ]
    notes = [NOTE, *_forces_off(dataset, summary)]
    return ReportBlock("Meshes", table=Table(COLUMNS, rows, worded={0, 1}, look="dense"), notes=notes, where="after")


def errors_by_contact(dataset: Dataset, summary: dict[str, Any]) -> list[tuple[str, float, float]]:
    """Return what a summary says of the clouds that touch: the contact's name, by how much its largest force is off, and to
    what share that is known."""
    rows = zip(
        dataset.contact.values,
        summary.get("sampling_error", []),
        summary.get("sampling_uncertainty", []),
        strict=False,
    )
    return [(str(name), error, known) for name, error, known in rows if error is not None]


def _forces_off(dataset: Dataset, summary: dict[str, Any]) -> list[str]:
    """Return how far off the largest forces of contacts of clouds are, in a sentence; none without such a contact."""
    each = [
        f"of {name} {'+' * (error > 0)}{_format_percent(error)}"
        + (f", known to {_format_percent(known)}" if known > SETTLED else "")
        for name, error, known in errors_by_contact(dataset, summary)
    ]
    return [f"Beside pieces as small as it takes, the largest forces are off: {', '.join(each)}."] if each else []


def _meshes_in(surface: Any) -> Iterator[MeshSection]:  # noqa: ANN401, a surface of any shape
    """Yield the meshes that a surface is, or is composed of."""
    if isinstance(surface, MeshSection):
        yield surface
    for part in getattr(surface, "parts", ()):
        yield from _meshes_in(part)


def _surface_row(name: str, mesh: MeshSection) -> list[str]:
    """Return the row of a mesh that is touched."""
    assert mesh.field is not None
    field = mesh.field
    errors = field.error, field.largest_error, field.convex_error, field.concave_error
    lengths = [_format_millimetres(length) for length in (field.finest, *errors)]
    return [name, Path(mesh.file).name, str(len(field.coefficients)), *lengths, *[NOTHING] * 4]


def _cloud_row(name: str, cloud: Any) -> list[str]:  # noqa: ANN401, a section of a setup
    """Return the row of a mesh that touches at points."""
    sample = cloud.sample
    points = [str(len(sample.points)), _format_millimetres(sample.spacing), _format_millimetres(sample.finest)]
    points.append(format_significant(sample.area))
    return [name, Path(cloud.file).name, *[NOTHING] * 6, *points]


def _format_percent(share: float) -> str:
    return f"{format_significant(100 * share, 2)} %"


def _format_millimetres(length: float) -> str:
    return format_significant(1e3 * length, 3)
