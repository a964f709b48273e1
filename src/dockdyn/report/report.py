"""What a report says, as data. One page (`dockdyn.report.page`) and one printer (`dockdyn.report.terminal`) show it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

from dockdyn.dataset import Dataset
from dockdyn.records import record
from dockdyn.report.again import reproduce_command
from dockdyn.report.charts.chart import Chart
from dockdyn.report.requirement_bar import RequirementBar
from dockdyn.report.tile import Tile
from dockdyn.report.verdict import Advice, Headlines, run_advice
from dockdyn.report.wording import NOTHING, format_significant, requirement_row

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Rows = Sequence[tuple[str, ...]]  # words and value, on the terminal also words, value and unit
METHODS = {
    "located": "Runge–Kutta of order five (four with a delay), contact events and their delayed images located",
    "fixed": "Runge–Kutta of order four with a fixed step, events not located (first order across a contact)",
    "variational": "midpoint variational integrator, steps of one length, contact events located",
}
ENERGY = "the largest kinetic energy"  # what errors of energy are relative to


@record
class Plot:
    """A figure of a report.

    Attributes:
        name: what it is asked for by, and saved under.
        draw: what draws it, as a chart or, where it is more than lines and areas over axes, with Matplotlib.
        caption: what to look for in it.
        replaced: whether a page that computes has a figure of its own in its place.
        asked: whether it is what the command was asked for: it stands right below the verdict.
    """

    name: str
    draw: Callable[[], Chart | Figure]
    caption: str
    replaced: bool = False
    asked: bool = False


def named_apart(plots: Iterable[Plot]) -> list[Plot]:
    """Return figures, those after the first of a name with a number behind it."""
    found: dict[str, Plot] = {}
    for plot in plots:
        name, number = plot.name, 2
        while name in found:
            name, number = f"{plot.name}-{number}", number + 1
        found[name] = replace(plot, name=name)
    return list(found.values())


@record
class Table:
    """A table as it is read: cells are texts.

    Attributes:
        columns: words and unit of each; a table without has no head.
        rows: the cells, a list a row.
        groups: words over several columns and how many these are.
        worded: places of columns of words, which are set left; numbers are set right.
        alarming: words that are set in the colour of alarm where they stand in a column of words.
        chosen: places of rows that are what is recommended.
        first: places of columns that a narrow screen shows right after the first.
        look: how the page sets it, words of its style sheet: `dense` and `broad` for many columns, `wrapped` for long
            words, `matrix` for numbers between brackets.
        code: places of columns of commands.
        left_out: how many rows it has not room for.
        live: what it is of, where a page that computes fills it anew.
        keys: what its columns are then, a dash for what only the report knows.
    """

    columns: Sequence[tuple[str, str]]
    rows: Sequence[Sequence[str]]
    groups: Sequence[tuple[str, int]] = ()
    worded: Collection[int] = ()
    alarming: Collection[str] = ()
    look: str = ""
    code: Collection[int] = ()
    left_out: int = 0
    live: str = ""
    keys: Sequence[str] = ()
    chosen: Collection[int] = ()
    first: Collection[int] = ()


@record
class ReportBlock:
    """A part of a report: words, a table, rows, a text, each where there is one, and notes below them.

    Blocks of one title that follow each other make one section. One that has nothing but notes is left out.

    Attributes:
        title: the heading; of the terminal, that of the table.
        words: a paragraph.
        table: a table.
        rows: words and values.
        text: lines that are kept as they are: a scenario, a command.
        notes: what to know of it, a paragraph each.
        folded: what the text is called that is folded away until a click.
        where: on the page: in the section of key figures, in that of requirements, above what moves and below the map of
            cases, right below it, before or after the figures, or in the section of inputs, instead of the scenario.
    """

    title: str = ""
    words: str = ""
    table: Table | None = None
    rows: Rows = ()
    text: str = ""
    notes: Sequence[str] = ()
    folded: str = ""
    where: Literal["key", "requirements", "above", "below", "before", "after", "inputs"] = "before"

    def __bool__(self) -> bool:
        return bool(self.words or self.text or self.rows or (self.table is not None and self.table.rows))


@record
class Report:
    """A report.

    Attributes:
        title: its heading.
        verdict: what came of it, in sentences.
        headline: the same in a few words; the first sentence where there is none.
        headlines: what the headline is by the figures of a run, where a page that computes can tell it again.
        advice: what decides, and what to do next.
        tiles: the numbers that matter, with small pictures.
        key: the key figures, rows of words and value.
        blocks: what it has besides.
        plots: the figures.
        made: how it was made, rows of words and value.
        warnings: what to know before trusting the numbers.
        requirements: the requirements of a run as judged, as in its summary.
        bars: instead of them: requirements of what is no run, worst first.
        bars_title: what the bars are of.
        shares: how many cases have come to what, with the colour of each, where it is of cases.
        scenario: the input, as a scenario file.
        again: the command that gives it again.
        from_inputs: whether that command reads the input above from `scenario.toml`.
        moment: the time (s) on which the page of a run opens; by default its first contact, or its start.
        alarming: whether the verdict is set in the colour of alarm.
        neutral: whether it is neither good news nor bad.
        terminal: what the terminal shows before the warnings, lines and blocks; by default title and verdict.
    """

    title: str
    verdict: str
    headline: str = ""
    headlines: Headlines = ()
    advice: Sequence[Advice] = ()
    tiles: Sequence[Tile] = ()
    key: Rows = ()
    blocks: Sequence[ReportBlock] = ()
    plots: Sequence[Plot] = ()
    made: Rows = ()
    warnings: Sequence[str] = ()
    requirements: Sequence[dict[str, Any]] = ()
    bars: Sequence[RequirementBar] = ()
    bars_title: str = "Requirements"
    shares: Sequence[tuple[str, str, int]] = ()
    scenario: str = ""
    again: str = ""
    from_inputs: bool = False
    moment: float | None = None
    alarming: bool = False
    neutral: bool = False
    terminal: Sequence[str | ReportBlock] = ()


def result_report(
    dataset: Dataset,
    *,
    made: Rows = (),
    plots: Iterable[Plot] = (),
    **parts: Any,  # noqa: ANN401, fields of it
) -> Report:
    """Return the report of a result: title, scenario, versions and the command that gives it again are those in the dataset.

    `made` is what else is to say of how it was made; the other `parts` are those of `Report`.
    """
    return Report(
        title=str(dataset.attrs["title"]),
        scenario=str(dataset.attrs["scenario"]),
        again=reproduce_command(dataset),
        from_inputs=True,
        made=[*made, *version_rows(dataset)],
        plots=tuple(plots),
        **parts,
    )


def run_report(
    dataset: Dataset,
    summary: dict[str, Any],
    *,
    verdict: str,
    advice: Sequence[Advice] = (),
    made: Rows = (),
    terminal: Sequence[str | ReportBlock] | None = None,
    **parts: Any,  # noqa: ANN401, fields of it
) -> Report:
    """Return the report of a run: `result_report` with warnings and requirements of its `summary` and what it took.

    What decides and comes next is that of every run where no `advice` is given. The terminal shows title and verdict, or
    what is given instead, and under it the errors of what is conserved, the requirements, and steps and wall time, those of
    them that the summary has.
    """
    took = [("Wall time", f"{format_significant(summary['wall_time_s'], 3)} s")] if "wall_time_s" in summary else []
    delay = float(dataset.attrs.get("delay_s", 0.0)) if dataset.sizes.get("contact") else 0.0
    return result_report(
        dataset,
        verdict=verdict,
        warnings=summary["warnings"],
        requirements=summary["requirements"],
        advice=advice or run_advice(summary["requirements"], str(dataset.attrs["scenario"]), delay),
        made=[*made, ("Samples", str(dataset.sizes["time"])), *took],
        terminal=[*((summary["title"], verdict) if terminal is None else terminal), *lines_of_run(summary)],
        **parts,
    )


def lines_of_run(summary: dict[str, Any]) -> list[str]:
    """Return what the terminal says of every run: errors of what is conserved, requirements, what it took."""
    lines = []
    for words, key in (
        ("linear momentum error", "linear_momentum_error"),
        ("angular momentum error", "angular_momentum_error"),
        ("work–energy error", "work_energy_error"),
        ("energy error", "energy_error"),
    ):
        if summary.get(key) is not None:
            lines.append(f"{words}: {summary[key]:.1e}")
    for one in summary["requirements"]:
        asked, value, margin, met = requirement_row(one)
        why = f" ({one['why']})" if "why" in one else ""
        lines.append(f"required {asked}: {met}{why}; value {value}, margin {margin}")
    if {"integrator", "steps", "wall_time_s"} <= set(summary):
        lines.append(f"{summary['integrator']}, {summary['steps']} steps, {summary['wall_time_s']:.2f} s")
    return lines


def integration_rows(summary: dict[str, Any]) -> list[tuple[str, str]]:
    """Return how a run with contacts was integrated."""
    return [
        ("Integrator", METHODS.get(summary["integrator"], summary["integrator"])),
        ("Step", f"{summary['step_s']:.4g} s at most"),
        ("Steps", f"{summary['steps']}"),
    ]


def first_figures(summary: dict[str, Any], motion: str = "") -> list[tuple[str, str]]:
    """Return the key figures that those of every run begin with; a rig says its `motion`."""
    setup = f"{summary['setup']}, {motion}" if motion else summary["setup"]
    return [("Setup", setup), ("Status", summary["status"]), ("End", f"{summary['end_time_s']:g} s")]


def conservation_errors(errors: Sequence[tuple[str, float | None, str]]) -> ReportBlock:
    """Return errors of what should be conserved: the quantity, its error if it is known, and what that is relative to."""
    rows = [
        [words, NOTHING if error is None else format_significant(error, 2), scale] for words, error, scale in errors
    ]
    table = Table([("quantity", ""), ("error", ""), ("relative to", "")], rows, worded={0, 2})
    return ReportBlock("Conserved quantities", table=table, where="after")


def number_rows(rows: Sequence[tuple[str, float | None, str]]) -> Rows:
    """Return words, number and unit for the terminal, of what there is a number for."""
    return [(words, f"{value:.6g}", unit) for words, value, unit in rows if value is not None]


def version_rows(dataset: Dataset) -> list[tuple[str, str]]:
    """Return what computed a result, by name."""
    found = {name.removesuffix("_version"): value for name, value in dataset.attrs.items() if "_version" in name}
    return [(name, str(value)) for name, value in sorted(found.items())]
