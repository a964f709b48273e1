"""What every report shares: the page around its parts, its tables, its figures with captions."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import xarray as xr

from dockdyn.report.wording import MET, requirement

if TYPE_CHECKING:
    from matplotlib.figure import Figure


Drawn = tuple[Callable[[], "Figure"], str]  # a figure, and what to look for in it


@dataclass
class Table:
    """A table as it is printed: groups of columns (words, span), columns (words, unit), rows of text."""

    columns: list[tuple[str, str]]
    rows: list[list[str]]
    groups: list[tuple[str, int]]
    worded: set[int]  # columns of words, set left
    alarming: set[str] = field(default_factory=set)  # words of the last column that are set in the colour of alarm


@dataclass
class Measured:
    """What a log says of a run, for its report: rows of the key figures, figures, which columns were not used."""

    rows: list[tuple[str, str]]
    figures: list[Drawn]
    warnings: list[str]


def render(
    template: str,
    dataset: xr.Dataset,
    *,
    verdict: str,
    warnings: list[str],
    summary: list[tuple[str, str]],
    figures: Iterable[Drawn],
    made: list[tuple[str, str]],
    required: Sequence[dict[str, Any]] = (),
    judged: Table | None = None,
    judged_note: str = "",
    again: str | None = None,
    replay: str = "",
    no_replay: str = "",
    measured: Measured | None = None,
    **parts: Any,
) -> str:
    """The page of a result as HTML, styles and figures inside; `template` extends `report/base.html`, the same for all.

    Args:
        template: of the kind, with sections of its own, which get the other `parts`.
        dataset: the result; of its attributes `title` and `scenario` are shown.
        verdict: in words; the first sentence is set apart.
        warnings: what to know before trusting the numbers.
        summary: the key figures, rows of words and value.
        figures: what to draw, each with its caption.
        made: how it was made, rows of words and value.
        required: the requirements of a run as judged, as in its summary.
        judged: the requirements with their margins, as a table; by default made of `required`.
        judged_note: what to know of them.
        again: what to type to get it again; by default what the result says.
        replay: the packed replay of a run, empty where there is none.
        no_replay: why there is none, where there should be one.
        measured: what a log says of the run.
    """
    from jinja2 import Environment, PackageLoader, StrictUndefined

    from dockdyn.report.again import again as from_result
    from dockdyn.report.drawing import COLOURS
    from dockdyn.report.embedded_replay import PAGE, POLICY, SCRIPT

    environment = Environment(
        loader=PackageLoader("dockdyn", ""),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
    )
    found = measured or Measured([], [], [])
    return environment.get_template(template).render(
        title=dataset.attrs["title"],
        scenario=dataset.attrs["scenario"],
        colours=COLOURS,
        verdict=sentences(verdict),
        judgement=judgement(list(required)),
        warnings=[*warnings, *found.warnings],
        summary=[*summary, *found.rows],
        judged=judged or requirements_table(list(required)),
        judged_note=judged_note,
        figures=pictures([*found.figures, *figures]),
        made=made,
        again=from_result(dataset) if again is None else again,
        scenario_file=again is None,
        replay=replay,
        no_replay=no_replay,
        replay_script=SCRIPT,
        policy=POLICY if replay else PAGE,
        **parts,
    )


def sentences(words: str) -> list[str]:
    """The sentences of a verdict."""
    return re.split(r"(?<=[.!?]) (?=[A-ZÀ-Þ\d])", words)


def judgement(found: list[dict[str, Any]]) -> dict[str, Any] | None:
    """Whether a run meets its requirements, in a sentence; None where it has none."""
    missed = [one["name"] for one in found if one["met"] is False]
    undecided = [one["name"] for one in found if one["met"] is None]
    said = (("✗", "not met", missed), ("?", "not decided", undecided))
    words = " ".join(
        f"{mark} {len(names)} of {len(found)} requirements {what}: {', '.join(names)}."
        for mark, what, names in said
        if names
    )
    if not words:
        words = f"✓ All {len(found)} requirements met." if len(found) > 1 else "✓ The requirement is met."
    return {"met": not (missed or undecided), "words": words} if found else None


def requirements_table(found: list[dict[str, Any]]) -> Table | None:
    """The requirements of a run; None where there are none."""
    rows = [list(requirement(one)) for one in found]
    columns = [("required", ""), ("value", ""), ("margin", ""), ("", "")]
    return Table(columns, rows, [], worded={0, 3}, alarming={MET[False]}) if rows else None


def pictures(drawings: Iterable[Drawn]) -> list[dict[str, Any]]:
    """Figures, each with what to look for in it, as parts of the page with captions."""
    from dockdyn.report.picture import inline

    return [
        {"picture": inline(draw(), f"figure{number}", caption), "caption": caption}
        for number, (draw, caption) in enumerate(drawings, start=1)
    ]


def versions(dataset: xr.Dataset) -> list[tuple[str, str]]:
    """What computed a result, by name."""
    found = {name.removesuffix("_version"): value for name, value in dataset.attrs.items() if "_version" in name}
    return [(name, str(value)) for name, value in sorted(found.items())]
