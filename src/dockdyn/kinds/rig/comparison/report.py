"""The report of a comparison: what each compensator makes of the amplitude, over stiffness."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from dockdyn.kinds.rig.comparison.choice import Choice, advice, amount, facts_by_law, oracles
from dockdyn.kinds.rig.comparison.compare import worst_amplitudes
from dockdyn.report.drawing import COLOURS, DASHES, SERIES, align_label, arrange, legend, plain, styled
from dockdyn.report.report import Block, Plot, Report, Table, result_report
from dockdyn.report.wording import NOTHING, significant

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLUMNS = 7  # stiffnesses in a table
PRINTED = 5  # on the terminal
FINE = 0.02  # error of the amplitude that the close-up marks
MOST = 1e4  # amplitude ratios beyond are off the figure


def comparison_report(dataset: xr.Dataset) -> Report:
    """The report of a comparison."""
    verdict = _comparison_verdict(dataset)
    note = (
        "A column is a stiffness of the contact; “worst” is the largest error over all of them, a half counting as much as "
        "twice; of a bounce, the last column is the largest error of its restitution, which decides. The result file has "
        "every measure of a run’s summary."
    )
    return result_report(
        dataset,
        verdict=verdict,
        warnings=_doubts(dataset),
        key=overview(dataset),
        blocks=[
            Block("Amplitude over stiffness", table=_ratios(dataset), notes=[note]),
            Block("The compensators", table=laws(dataset), where="after"),
        ],
        plots=figures(dataset),
        made=[("Wall time", f"{significant(float(dataset.wall_time.sum()), 3)} s")],
        terminal=[dataset.attrs["title"], Block(table=_ratios(dataset, PRINTED)), verdict],
    )


def figures(dataset: xr.Dataset) -> Iterator[Plot]:
    """What to draw, and what to look for in it."""
    yield Plot(
        "amplitudes",
        partial(amplitudes, dataset),
        "Amplitude at the end, rig over that without rig, by compensator: 1 is right. The dotted line is the stiffness that "
        "they were tuned at.",
    )
    if np.isfinite(dataset.phase_error_rad.values).any():
        yield Plot(
            "phases",
            partial(_phases, dataset),
            "Phase at the end that the rig has gained: no gain on a velocity mends it.",
        )
    else:
        yield Plot(
            "restitutions",
            partial(_restitutions, dataset),
            "Restitution of the first bounce, rig less that without rig: 0 is right.",
        )


def _comparison_verdict(dataset: xr.Dataset) -> str:
    """Which compensator to take, and by how much it is better than the next, in words."""
    return advice(Choice.of_dataset(dataset), dataset.attrs.get("own"))


def overview(dataset: xr.Dataset) -> list[tuple[str, str]]:
    low, high = float(dataset.stiffness.min()), float(dataset.stiffness.max())
    return [
        ("Compensators", str(dataset.sizes["compensator"])),
        ("Stiffnesses", f"{dataset.sizes['stiffness']}, {significant(low)} to {significant(high)} N/m"),
        ("Tuned at", f"{significant(float(dataset.attrs['tuned_at_N_m']))} N/m"),
        ("Each run", f"{significant(float(dataset.attrs['duration_s']))} s"),
    ]


def _doubts(dataset: xr.Dataset) -> list[str]:
    """What to know before trusting the comparison."""
    seen = [f"{law} sees the motion without rig (an oracle): it works in simulation only" for law in oracles(dataset)]
    left_out = json.loads(dataset.attrs.get("left_out", "{}"))
    return seen + [f"{law} is left out: {reason}" for law, reason in left_out.items()]


def _ratios(dataset: xr.Dataset, columns: int = COLUMNS) -> Table:
    """Amplitude ratios, a row each compensator, over a few of the stiffnesses; and the worst over all."""
    count = dataset.sizes["stiffness"]
    chosen = np.unique(np.round(np.linspace(0, count - 1, min(count, columns))).astype(int))
    worst, choice = worst_amplitudes(dataset), Choice.of_dataset(dataset)
    bounces = choice.of == "restitution"
    rows: list[list[str]] = []
    for law in dataset.compensator.values:
        values = dataset.amplitude_ratio.sel(compensator=law).values[chosen]
        ranked = choice.known(str(law))
        last = [NOTHING if ranked is None else missed(choice, ranked.error)] if bounces else []
        rows.append([str(law), *(ratio(float(value)) for value in values), off(worst[str(law)]), *last])
    heads = [(significant(float(value), 3), "N/m") for value in dataset.stiffness.values[chosen]]
    ends = [("worst", ""), *([("restitution", "off")] if bounces else [])]
    return Table([("compensator", ""), *heads, *ends], rows, worded={0}, look="dense")


def missed(choice: Choice, error: float) -> str:
    """The largest error of restitution."""
    return amount(choice, error) if np.isfinite(error) else "no bounce"


def ratio(value: float) -> str:
    """An amplitude ratio: close to one with more digits."""
    return significant(value, 4 if 0.1 <= value < 10 else 3)


def off(error: float) -> str:
    """The largest error of a ratio, as a share or as a factor."""
    if not np.isfinite(error):
        return "diverges"
    return f"{100 * error:.2g} %" if error < 1 else f"× {1 + error:.2g}"


def laws(dataset: xr.Dataset) -> Table:
    """What each compensator was set to, and must know."""
    settings = json.loads(dataset.attrs["settings"])
    rows = [
        [law, settings_in_words(settings[law], facts["units"]), facts["knows"] or NOTHING]
        for law, facts in facts_by_law(dataset).items()
    ]
    return Table([("compensator", ""), ("set to", ""), ("must know", "")], rows, worded={0, 1, 2})


def settings_in_words(settings: dict[str, Any], units: dict[str, str]) -> str:
    """Numbers of a compensator's table, written with units there or not, for readers; and what its gain multiplies."""
    words = []
    for name, unit in units.items():
        if name in settings:
            value = float(str(settings[name]).partition(" ")[0])
            words.append(f"{name.replace('_', ' ')} {significant(value, 5)} {written(unit)}".strip())
    if "velocity" in settings:
        how = "of the" if settings["velocity"] in ("model", "robot") else "by"
        words.append(f"velocity {how} {settings['velocity']}")
    return ", ".join(words) or NOTHING


def written(unit: str) -> str:
    """A unit for readers."""
    return unit.replace("**2", "²").replace("*", " ")


def _style(place: int) -> dict[str, Any]:
    return {
        "color": SERIES[place % len(SERIES)],
        "linestyle": DASHES[place // len(SERIES) % len(DASHES)],
        "marker": "o" if place % 2 else "s",
        "markersize": 2.5,
        "linewidth": 1.0,
    }


def logarithmic(ax: Axes, name: str, subs: tuple[int, ...] = (1,)) -> None:
    """Makes an axis, "x" or "y", logarithmic, with plain numbers."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

    ax.set(**{f"{name}scale": "log"})
    axis: Any = getattr(ax, f"{name}axis")
    axis.set_major_locator(LogLocator(subs=subs))
    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter(FuncFormatter(plain))


def _over_stiffness(dataset: xr.Dataset, name: str, height: float) -> tuple[Figure, Axes]:
    """A measure over stiffness, a line each compensator."""
    from matplotlib.figure import Figure

    figure = Figure()
    ax = figure.subplots()
    arrange(figure, [height], dataset.sizes["compensator"])
    align_label(ax)
    for place, law in enumerate(dataset.compensator.values):
        ax.plot(dataset.stiffness, dataset[name].sel(compensator=law), label=str(law), **_style(place))
    ax.axvline(float(dataset.attrs["tuned_at_N_m"]), color=COLOURS["muted"], linewidth=0.8, linestyle=DASHES[2])
    logarithmic(ax, "x", (1, 2, 5))
    ax.set_xlabel("stiffness of the contact, N/m")
    return figure, ax


@styled
def amplitudes(dataset: xr.Dataset) -> Figure:
    """Amplitude ratio over stiffness, both logarithmic; close to one linearly, in a panel below."""
    from matplotlib.figure import Figure

    figure = Figure()
    axes = figure.subplots(2, 1, sharex=True, height_ratios=[2.4, 1.8])
    arrange(figure, [2.4, 1.8], dataset.sizes["compensator"])
    for ax in axes:
        align_label(ax)
        for place, law in enumerate(dataset.compensator.values):
            values = dataset.amplitude_ratio.sel(compensator=law)
            ax.plot(dataset.stiffness, values, label=str(law), **_style(place))
        ax.axvline(float(dataset.attrs["tuned_at_N_m"]), color=COLOURS["muted"], linewidth=0.8, linestyle=DASHES[2])
        ax.axhline(1, color=COLOURS["muted"], linewidth=0.6)
        logarithmic(ax, "x", (1, 2, 5))
    finite = dataset.amplitude_ratio.values[np.isfinite(dataset.amplitude_ratio.values)]
    logarithmic(axes[0], "y")
    axes[0].set_ylabel("amplitude ratio")
    if finite.size:
        low, high = max(float(finite.min()), 1 / MOST), min(float(finite.max()), MOST)
        axes[0].set_ylim(low / 1.3, high * 1.3)
    axes[1].set(ylim=(1 - 5 * FINE, 1 + 5 * FINE), ylabel="close up", xlabel="stiffness of the contact, N/m")
    axes[1].axhspan(1 - FINE, 1 + FINE, color=COLOURS["contact"], linewidth=0)
    legend(figure, axes[0])
    return figure


@styled
def _phases(dataset: xr.Dataset) -> Figure:
    """Phase gained over stiffness."""
    figure, ax = _over_stiffness(dataset, "phase_error_rad", 2.2)
    ax.axhline(0, color=COLOURS["muted"], linewidth=0.6)
    limit = np.nanquantile(np.abs(dataset.phase_error_rad.values), 0.9)
    ax.set(ylabel="phase, rad", ylim=(-1.2 * limit, 1.2 * limit) if limit > 0 else None)
    legend(figure, ax)
    return figure


@styled
def _restitutions(dataset: xr.Dataset) -> Figure:
    """Error of the restitution over stiffness."""
    away = dataset.assign(away=dataset.apparent_restitution - dataset.ideal_restitution)
    figure, ax = _over_stiffness(away, "away", 2.2)
    ax.axhline(0, color=COLOURS["muted"], linewidth=0.6)
    ax.set_ylabel("restitution, error")
    legend(figure, ax)
    return figure
