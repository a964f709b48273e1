"""What every report shares: the page around its parts, its tables, its figures with captions."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import xarray as xr

from dockdyn.output.wording import MET, requirement
from dockdyn.study.summarise import stated_requirements, summarise

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass
class Table:
    """A table as it is printed: groups of columns (words, span), columns (words, unit), rows of text."""

    columns: list[tuple[str, str]]
    rows: list[list[str]]
    groups: list[tuple[str, int]]
    worded: set[int]  # columns of words, set left
    alarming: set[str] = field(default_factory=set)  # words of the last column that are set in the colour of alarm


def render(template: str, dataset: xr.Dataset, **parts: Any) -> str:
    """The page of a result as HTML, styles and figures inside; `template` extends `base.html`."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    from dockdyn.output.drawing import COLOURS

    environment = Environment(
        loader=PackageLoader("dockdyn", "output"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
    )
    attributes = dataset.attrs
    return environment.get_template(template).render(
        title=attributes["title"],
        scenario=attributes["scenario"],
        colours=COLOURS,
        judged=requirements_table(dataset),
        **parts,
    )


def requirements_table(dataset: xr.Dataset) -> Table | None:
    """The requirements of a run; None where there are none."""
    if "status" not in dataset.attrs or not stated_requirements(dataset):
        return None
    columns = [("Required", ""), ("Value", ""), ("Margin", ""), ("", "")]
    rows = [list(requirement(one)) for one in summarise(dataset)["requirements"]]
    return Table(columns, rows, [], worded={0, 3}, alarming={MET[False]})


def pictures(drawings: Iterable[tuple[Callable[[], Figure], str]]) -> list[dict[str, Any]]:
    """Figures, each with what to look for in it, as parts of the page with captions."""
    from dockdyn.output.picture import inline

    return [
        {"picture": inline(draw(), f"figure{number}", caption), "caption": caption}
        for number, (draw, caption) in enumerate(drawings, start=1)
    ]


def versions(dataset: xr.Dataset) -> list[tuple[str, str]]:
    """What computed a result, by name."""
    found = {name.removesuffix("_version"): value for name, value in dataset.attrs.items() if "_version" in name}
    return [(name, str(value)) for name, value in sorted(found.items())]
