"""The derivatives of a figure, for the page and the terminal."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from dockdyn.installed import version
from dockdyn.report.charts.bar_chart import Bar, bar_panel
from dockdyn.report.charts.chart import Chart
from dockdyn.report.drawing import short_label
from dockdyn.report.report import Plot, Report, ReportBlock, Table
from dockdyn.report.wording import NOTHING, format_significant, format_unit, with_unit

BARS = 12  # keys in the figure
LISTED = 20  # rows on the terminal
NEGLIGIBLE = 1e-9  # of the largest change: rounding
CHECK = "smooth"
ERROR = "standard error"
CHECKED = {True: "yes", False: "no", None: NOTHING}


def sensitivity_report(answer: dict[str, Any], scenario: str, again: str = "") -> Report:
    """Return the report of the derivatives of a figure; `again` is what was typed for it."""
    verdict = _sensitivity_verdict(answer)
    caption = (
        f"Change of {answer['of']} for 1 % more of a number, the {BARS} largest: the derivative times a hundredth of the "
        "number. Pale bars: not differentiable here."
    )
    note = (
        "By forward-mode differentiation of the run itself; “by 1 %” is what 1 % more of a number changes. All are "
        "held against differences (of margins the six largest): smooth where they agree, a dash where none were taken or "
        "rounding hides them."
    )
    table = _derivatives_table(answer, answer["to"])
    return Report(
        title=answer["title"],
        verdict=verdict,
        key=[
            ("Figure", answer["of"]),
            ("Value", with_unit(answer["value"], answer["unit"], 6)),
            ("Setup", answer["setup"]),
        ],
        blocks=[ReportBlock("Derivatives", table=table, notes=[_over_cases(answer) or note], where="after")],
        plots=[Plot("bars", partial(_sensitivity_bars, answer), caption)] if rows_to_draw(answer) else [],
        made=[("dockdyn", version("dockdyn"))],
        warnings=answer["warnings"],
        scenario=scenario,
        again=again,
        terminal=[answer["title"], verdict, *sensitivity_lines(answer)],
    )


def sensitivity_lines(answer: dict[str, Any]) -> Iterator[str | ReportBlock]:
    """Yield the ranked table on the terminal; what all rows have in common is said below."""
    found = _derivatives_table(answer, _significant_rows(answer)[:LISTED])
    smooth = answer["differentiable"]
    if found.rows:
        last = len(found.columns) - (smooth and answer["runs"] == 1)
        rows = [row[:last] for row in found.rows]
        yield ReportBlock(table=Table(found.columns[:last], rows, worded={one for one in found.worded if one < last}))
    if more := len(answer["to"]) - len(found.rows):
        yield f"and {more} number{'s' if more > 1 else ''} of less or no effect"
    if words := _over_cases(answer):
        yield words
    if smooth and (compared := sum(one["differentiable"] is True for one in answer["to"])):
        every = compared == len(answer["to"])
        which = "the derivative" if compared == 1 else "all" if every else f"the {compared} that were compared"
        yield f"{which} agree{'s' if compared == 1 else ''} with differences"


def _over_cases(answer: dict[str, Any]) -> str:
    """Return how the derivatives of a figure over cases were found; empty for one of a single run."""
    if answer["runs"] == 1:
        return ""
    spread = f", the numbers spread by {100 * answer['smoothing']:g} % of each" if answer["smoothing"] else ""
    words = f"over {answer['runs']} runs with common random numbers{spread}"
    return f"{words}; standard error of the value {answer['value_error']:.2g}"


def _sensitivity_verdict(answer: dict[str, Any]) -> str:
    """Return what the figure depends on most, in words."""
    name = f"{answer['of']} is {with_unit(answer['value'], answer['unit'])}"
    ranked = [one for one in rows_to_draw(answer) if one["differentiable"] is not False]
    lost = [one["key"] for one in answer["to"] if one["differentiable"] is False]
    if not ranked:
        words = "its derivatives are not known here, see the warnings" if lost else "it depends on none of the numbers"
        return f"{name}; {words}."
    but = (
        f" Its derivative by {lost[0] if len(lost) == 1 else f'{len(lost)} numbers'} is not known: see the warnings."
        if lost
        else ""
    )
    first = ranked[0]
    change = with_unit(first["per_percent"], answer["unit"], 3)
    sign = "+" if first["per_percent"] > 0 else ""
    return f"{name}; it depends most on {first['key']}: {sign}{change} for 1 % more of it.{but}"


def _significant_rows(answer: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the rows with more than rounding in them; of a number that is zero 1 % more says nothing."""
    largest = max((abs(one["per_percent"] or 0) for one in answer["to"]), default=0.0)
    return [
        one
        for one in answer["to"]
        if one["derivative"] is None
        or (abs(one["per_percent"]) > NEGLIGIBLE * largest if one["value"] else one["derivative"])
    ]


def rows_to_draw(answer: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the rows with an effect in proportion, the largest first."""
    return [one for one in _significant_rows(answer) if one["per_percent"]]


def _derivatives_table(answer: dict[str, Any], rows: list[dict[str, Any]]) -> Table:
    """Return the derivatives as a table."""
    unit = format_unit(answer["unit"])
    over_cases = answer["runs"] > 1
    columns = [("key", ""), ("value", ""), ("derivative", ""), ("by 1 %", unit), (ERROR if over_cases else CHECK, "")]
    found = [
        [
            one["key"],
            f"{one['value']:.5g} {format_unit(one['unit'])}".rstrip(),
            with_unit(one["derivative"], unit_of_derivative(unit, format_unit(one["unit"])), 4),
            format_significant(one["per_percent"], 3),
            format_significant(one["error"], 2) if over_cases else CHECKED[one["differentiable"]],
        ]
        for one in rows
    ]
    return Table(columns, found, worded={0} if over_cases else {0, 4}, alarming={"no"})


def unit_of_derivative(figure: str, key: str) -> str:
    """Return the unit of a derivative."""
    below = f"({key})" if "/" in key or " " in key else key
    return f"{figure or '1'}/{below}" if key else figure


def _sensitivity_bars(answer: dict[str, Any]) -> Chart:
    """Return the change of the figure for 1 % more of each number, the largest first."""
    bars = [
        Bar(
            one["key"],
            float(one["per_percent"]),
            "blue" if one["per_percent"] >= 0 else "orange",
            faint=one["differentiable"] is False,
        )
        for one in rows_to_draw(answer)[:BARS]
    ]
    unit = format_unit(answer["unit"])
    return Chart(
        [bar_panel(bars, f"change of {short_label(answer['of'])} for 1 % more" + (f", {unit}" if unit else ""))]
    )
