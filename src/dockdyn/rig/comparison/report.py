"""The report of a comparison: what each compensator makes of the amplitude, over stiffness."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import partial
from itertools import cycle
from typing import Any

import numpy as np

from dockdyn.dataset import DataArray, Dataset
from dockdyn.report.charts.chart import ZERO, Band, Chart, Level, Line, Panel, line_style
from dockdyn.report.report import Plot, Report, ReportBlock, Table, result_report
from dockdyn.report.wording import NOTHING, format_significant, format_unit
from dockdyn.rig.comparison.choice import (
    CompensatorChoice,
    compensator_advice,
    facts_by_law,
    format_error,
    oracle_compensators,
)
from dockdyn.rig.comparison.compare import comparison_warnings, worst_amplitudes
from dockdyn.rig.comparison.first_screen import comparison_advice, comparison_headline, comparison_tiles, why_chosen
from dockdyn.scenario.language.units import convert

COLUMNS = 7  # stiffnesses in a table
PRINTED = 5  # on the terminal
CAPTION = "Amplitude at the end, rig over that without rig: 1 is right; worst: the largest error of it"
FINE = 0.02  # error of the amplitude that the close-up marks
MOST = 1e4  # amplitude ratios beyond are off the figure


def comparison_report(dataset: Dataset) -> Report:
    """Return the report of a comparison."""
    verdict, choice, own = _comparison_verdict(dataset), CompensatorChoice.of_dataset(dataset), dataset.attrs.get("own")
    few = ReportBlock(CAPTION, words=_range_in_words(dataset), table=_ratio_table(dataset, PRINTED))
    note = (
        "A column is a stiffness of the contact; “worst” is the largest error over all of them, a half counting as much as "
        "twice; of a bounce, the last column is the largest error of its restitution, which decides. The result file has "
        "every measure of a run’s summary."
    )
    return result_report(
        dataset,
        verdict=verdict,
        headline=comparison_headline(choice, own),
        tiles=comparison_tiles(choice, own),
        advice=comparison_advice(choice, own, f"[compare.{choice.best(own).law}]" in str(dataset.attrs["scenario"])),
        alarming=not np.isfinite(choice.best(own).error),
        warnings=comparison_warnings(dataset),
        key=overview_rows(dataset),
        blocks=[
            ReportBlock(
                "Amplitude over stiffness", words=why_chosen(choice, own), table=_ratio_table(dataset), notes=[note]
            ),
            ReportBlock("The compensators", table=law_table(dataset), notes=_remarks_on_others(dataset), where="after"),
        ],
        plots=report_figures(dataset),
        made=[("Wall time", f"{format_significant(float(dataset.wall_time.values.sum()), 3)} s")],
        terminal=[dataset.attrs["title"], few, verdict, *_remarks_on_others(dataset)],
    )


def _range_in_words(dataset: Dataset) -> str:
    """Return over which stiffnesses compensators are compared, and how to have others."""
    low, high = (float(end) for end in dataset.stiffness.values[[0, -1]])
    if low == high:
        return f"At a stiffness of {format_significant(low, 3)} N/m."
    own = f"they are tuned at {format_significant(float(dataset.attrs['tuned_at_N_m']), 3)} N/m"
    return (
        f"Over {dataset.sizes['stiffness']} stiffnesses from {format_significant(low, 3)} to "
        f"{format_significant(high, 3)} N/m; {own}. "
        f"Others: --set {dataset.stiffness.attrs['long_name']}=LOW:HIGH:COUNT"
    )


def report_figures(dataset: Dataset) -> Iterator[Plot]:
    """Yield what to draw, and what to look for in it."""
    yield Plot(
        "amplitudes",
        partial(amplitude_chart, dataset),
        "Amplitude at the end, rig over that without rig, by compensator: 1 is right. The dotted line is the stiffness that "
        "they were tuned at.",
    )
    if np.isfinite(dataset.phase_error_rad.values).any():
        yield Plot(
            "phases",
            partial(_phase_chart, dataset),
            "Phase at the end that the rig has gained: no gain on a velocity mends it.",
        )
    else:
        yield Plot(
            "restitutions",
            partial(_restitution_chart, dataset),
            "Restitution of the first bounce, rig less that without rig: 0 is right.",
        )


def _comparison_verdict(dataset: Dataset) -> str:
    """Return which compensator to take, and by how much it is better than the next, in words."""
    return compensator_advice(CompensatorChoice.of_dataset(dataset), dataset.attrs.get("own"))


def overview_rows(dataset: Dataset) -> list[tuple[str, str]]:
    low, high = float(dataset.stiffness.min()), float(dataset.stiffness.max())
    return [
        ("Compensators", str(dataset.sizes["compensator"])),
        ("Stiffnesses", f"{dataset.sizes['stiffness']}, {format_significant(low)} to {format_significant(high)} N/m"),
        ("Tuned at", f"{format_significant(float(dataset.attrs['tuned_at_N_m']))} N/m"),
        ("Each run", f"{format_significant(float(dataset.attrs['duration_s']))} s"),
    ]


def _remarks_on_others(dataset: Dataset) -> list[str]:
    """Return what to know of compensators that are never recommended, or were not compared."""
    oracles, left_out = oracle_compensators(dataset), json.loads(dataset.attrs["left_out"])
    found = [f"{law} sees the motion without rig (an oracle): it works in simulation only." for law in oracles]
    return found + [f"{law} is left out: {reason}." for law, reason in left_out.items()]


def _ratio_table(dataset: Dataset, columns: int = COLUMNS) -> Table:
    """Return the amplitude ratios, a row each compensator, the nearest first, over a few of the stiffnesses; and the worst over
    all."""
    count = dataset.sizes["stiffness"]
    chosen = np.unique(np.round(np.linspace(0, count - 1, min(count, columns))).astype(int))
    worst, choice = worst_amplitudes(dataset), CompensatorChoice.of_dataset(dataset)
    bounces = choice.of == "restitution"
    taken = choice.best(dataset.attrs.get("own"))
    near = [taken.law, *(one.law for one in choice.ranking if one.law != taken.law)]
    laws = [*near, *(law for law in map(str, dataset.compensator.values) if law not in near)]
    rows: list[list[str]] = []
    for law in laws:
        values = dataset.amplitude_ratio.sel(compensator=law).values[chosen]
        ranked = choice.known(law)
        last = [NOTHING if ranked is None else format_restitution_error(choice, ranked.error)] if bounces else []
        rows.append([law, *(format_ratio(float(value)) for value in values), format_ratio_error(worst[law]), *last])
    heads = [(format_significant(float(value), 3), "N/m") for value in dataset.stiffness.values[chosen]]
    ends = [("worst", ""), *([("restitution", "off")] if bounces else [])]
    marked = [0] if np.isfinite(taken.error) else []
    first = {len(heads) + len(ends)}  # what decides
    return Table([("compensator", ""), *heads, *ends], rows, worded={0}, look="dense", chosen=marked, first=first)


def format_restitution_error(choice: CompensatorChoice, error: float) -> str:
    """Return the largest error of restitution."""
    return format_error(choice, error) if np.isfinite(error) else "no bounce"


def format_ratio(value: float) -> str:
    """Return an amplitude ratio: close to one with more digits."""
    return format_significant(value, 4 if 0.1 <= value < 10 else 3)


def format_ratio_error(error: float) -> str:
    """Return the largest error of a ratio, as a share or as a factor."""
    if not np.isfinite(error):
        return "diverges"
    return f"{100 * error:.2g} %" if error < 1 else f"× {1 + error:.2g}"


def law_table(dataset: Dataset) -> Table:
    """Return what each compensator was set to, and must know."""
    settings = json.loads(dataset.attrs["settings"])
    rows = [
        [law, settings_in_words(settings[law], facts["units"]), facts["knows"] or NOTHING]
        for law, facts in facts_by_law(dataset).items()
    ]
    choice = CompensatorChoice.of_dataset(dataset)
    best = choice.best(dataset.attrs.get("own"))
    chosen = [place for place, row in enumerate(rows) if row[0] == best.law and np.isfinite(best.error)]
    return Table([("compensator", ""), ("set to", ""), ("must know", "")], rows, worded={0, 1, 2}, chosen=chosen)


def settings_in_words(settings: dict[str, Any], units: dict[str, str]) -> str:
    """Return numbers of a compensator's table, written with units there or not, for readers; and what its gain multiplies."""
    words = []
    for name, unit in units.items():
        if name in settings:
            words.append(f"{name.replace('_', ' ')} {_format_number(settings[name], unit)} {format_unit(unit)}".strip())
    if "velocity" in settings:
        how = "of the" if settings["velocity"] in ("model", "robot") else "by"
        words.append(f"velocity {how} {settings['velocity']}")
    return ", ".join(words) or NOTHING


def _format_number(value: float | str | list[Any], unit: str) -> str:
    """Return a number of a `unit`, or a list of such, as it is said without it; a text may have another unit."""
    if isinstance(value, list):
        return f"({', '.join(_format_number(item, unit) for item in value)})"
    return format_significant(convert(value, unit) if isinstance(value, str) else float(value), 5)


def _over_stiffness(dataset: Dataset, values: DataArray) -> list[Line]:
    """Return a measure over stiffness, a line each compensator."""
    return [
        Line(
            dataset.stiffness,
            values.sel(compensator=law),
            name=str(law),
            marker=mark,
            size=2.5,
            width=1.0,
            **line_style(place),
        )
        for place, (law, mark) in enumerate(zip(dataset.compensator.values, cycle("so")))
    ]


def _stiffness_panel(dataset: Dataset, values: DataArray, label: str, *levels: Level, **rest: Any) -> Panel:  # noqa: ANN401, fields of it
    """Return a panel over stiffness, in which the stiffness that they were tuned at is marked."""
    tuned = Level(float(dataset.attrs["tuned_at_N_m"]), "x", dash=2, width=0.8)
    return Panel(
        label,
        _over_stiffness(dataset, values),
        across="stiffness of the contact, N/m",
        across_scale="log",
        levels=[tuned, *levels],
        **rest,
    )


def _stiffness_chart(dataset: Dataset, panels: list[Panel]) -> Chart:
    return Chart(panels, whole=(float(dataset.stiffness.min()), float(dataset.stiffness.max())), over="stiffness")


def amplitude_chart(dataset: Dataset) -> Chart:
    """Return the amplitude ratio over stiffness, both logarithmic; close to one linearly, in a panel below."""
    ratios, one = dataset.amplitude_ratio, Level(1.0)
    finite = ratios.values[np.isfinite(ratios.values)]
    limits: tuple[float | None, float | None] = (None, None)
    if finite.size:
        limits = max(float(finite.min()), 1 / MOST) / 1.3, min(float(finite.max()), MOST) * 1.3
    fine = Band(1 - FINE, 1 + FINE, axis="y")
    close = (1 - 5 * FINE, 1 + 5 * FINE)
    panels = [
        _stiffness_panel(dataset, ratios, "amplitude ratio", one, height=2.4, scale="log", limits=limits),
        _stiffness_panel(dataset, ratios, "close up", one, height=1.8, limits=close, bands=[fine]),
    ]
    return _stiffness_chart(dataset, panels)


def _phase_chart(dataset: Dataset) -> Chart:
    """Return the phase gained over stiffness."""
    limit = float(np.nanquantile(np.abs(dataset.phase_error_rad.values), 0.9))
    limits = (-1.2 * limit, 1.2 * limit) if limit > 0 else (None, None)
    return _stiffness_chart(
        dataset, [_stiffness_panel(dataset, dataset.phase_error_rad, "phase, rad", ZERO, height=2.2, limits=limits)]
    )


def _restitution_chart(dataset: Dataset) -> Chart:
    """Return the error of the restitution over stiffness."""
    away = dataset.apparent_restitution - dataset.ideal_restitution
    return _stiffness_chart(dataset, [_stiffness_panel(dataset, away, "restitution, error", ZERO, height=2.2)])
