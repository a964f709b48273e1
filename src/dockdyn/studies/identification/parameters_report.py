"""The report of numbers of a scenario that were identified from a log, for the page and the terminal."""

from __future__ import annotations

from functools import partial
from typing import Any

from dockdyn.installed import version
from dockdyn.report.charts.chart import ZERO, Chart, Line, Panel
from dockdyn.report.charts.time_chart import TIME
from dockdyn.report.drawing import short_label
from dockdyn.report.report import Plot, Report, ReportBlock, Table
from dockdyn.report.wording import NOTHING, format_significant, format_unit
from dockdyn.studies.identification.parameters import Fit, Identified
from dockdyn.studies.identification.wording import plus_minus

TOGETHER = 0.95  # correlation of two numbers: more is told


def parameters_report(fit: Fit, answer: dict[str, Any], again: str = "") -> Report:
    """Return what `dockdyn identify parameters` found; `again` is what was typed for it."""
    verdict, table = _fit_verdict(fit), _parameter_table(fit)
    columns = Table(
        [("column of the log", ""), ("noise", ""), ("explained", "%")],
        [
            [name, format_significant(fit.noise[name], 3), format_significant(fit.percent[name], 4)]
            for name in fit.noise
        ],
        worded={0},
    )
    note = "95 % intervals: 1.96 standard errors to each side, or where the sum of squares, all else refitted, rises by 3.84."
    return Report(
        title=f"{fit.scenario.title}: numbers from a log",
        verdict=verdict,
        key=[("Log", fit.log.file), ("Samples", str(len(fit.time))), ("Runs", str(fit.runs))],
        blocks=[
            ReportBlock("Numbers", table=table, notes=[note, *_correlated_numbers(fit)], where="after"),
            ReportBlock("What is left", table=columns, where="after"),
        ],
        plots=[
            Plot(
                f"fit-{index}",
                partial(_column_chart, fit, name),
                f"Measured (dots) and fitted: {name}; below, what is left.",
            )
            for index, name in enumerate(fit.simulated)
        ],
        made=[
            ("Method", "least squares on the run, derivatives through its events"),
            ("dockdyn", version("dockdyn")),
        ],
        warnings=fit.warnings,
        scenario=fit.scenario.text(),
        again=again,
        terminal=[verdict, ReportBlock(table=table), *_correlated_numbers(fit)],
    )


def _fit_verdict(fit: Fit) -> str:
    """Return how many numbers the log bounds, in a sentence."""
    lost = [one.key for one in fit.parameters if not one.bounded]
    worst = min(fit.percent.values())
    words = f"The scenario explains {format_significant(worst, 4)} % of the log" + (
        " or more" if len(fit.percent) > 1 else ""
    )
    if not lost:
        return f"{words}; all numbers are bounded by it."
    return f"{words}; it does not bound {', '.join(lost)}."


def _parameter_table(fit: Fit) -> Table:
    """Return the numbers with their standard errors and intervals."""
    rows = [
        [
            one.key,
            f"{format_significant(one.start, 5)} {format_unit(one.unit)}".rstrip(),
            f"{plus_minus(one.value, one.error if one.error < float('inf') else None)} {format_unit(one.unit)}".rstrip(),
            _format_interval(one),
            "profile" if one.profiled else "error",
        ]
        for one in fit.parameters
    ]
    return Table([("key", ""), ("start", ""), ("value", ""), ("95 % interval", ""), ("by", "")], rows, worded={0, 4})


def _format_interval(one: Identified) -> str:
    """Return both ends of an interval; a dash for one that there is not."""
    return " to ".join(NOTHING if end is None else format_significant(end, 5) for end in one.interval)


def _correlated_numbers(fit: Fit) -> list[str]:
    """Return numbers that the log hardly tells apart."""
    keys = [one.key for one in fit.parameters]
    return [
        f"{keys[i]} and {keys[j]} are hardly told apart (correlation {fit.correlation[i, j]:.3f})"
        for i in range(len(keys))
        for j in range(i)
        if abs(fit.correlation[i, j]) > TOGETHER
    ]


def _column_chart(fit: Fit, name: str) -> Chart:
    """Return a column of the log as dots under the fitted run, and what is left."""
    inside = (fit.log.time >= fit.time[0]) & (fit.log.time <= fit.time[-1])
    measured, simulated = fit.log.columns[name][inside], fit.simulated[name]
    above = [
        Line(fit.time, measured, "ink", "measured", marker=".", size=5.0, joined=False),
        Line(fit.time, simulated, "blue", "fitted"),
    ]
    left = Line(fit.time, simulated - measured, "green", width=0.7)
    panels = [Panel(short_label(name, 24), above, 2.1), Panel("fitted less measured", [left], 1.3, levels=[ZERO])]
    return Chart(panels, whole=(float(fit.time[0]), float(fit.time[-1])), over=TIME)
