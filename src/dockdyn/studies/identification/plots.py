"""Figures of an identified robot and of an identified contact."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.signal import coherence, csd, welch

from dockdyn.report.drawing import COLOURS, DASHES, align_label, arrange, legend, power_of_ten, styled
from dockdyn.studies.identification.contact import smooth

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from dockdyn.studies.identification.contact import Contact
    from dockdyn.studies.identification.robot import Robot

BLUE, ORANGE = COLOURS["blue"], COLOURS["orange"]
COHERENT = 0.95  # above which a ratio of spectra is shown
SECTIONS = 6  # of a log, for its spectra


def _panels(heights: list[float], entries: int) -> tuple[Figure, list[Axes]]:
    """Panels one above the other on one axis."""
    from matplotlib.figure import Figure

    figure = Figure()
    axes = list(figure.subplots(len(heights), 1, sharex=True, squeeze=False, height_ratios=heights)[:, 0])
    arrange(figure, heights, entries)
    for ax in axes:
        align_label(ax)
    return figure, axes


@styled
def fit_figure(robot: Robot) -> Figure:
    """Commanded, actual and simulated position, and the residual."""
    records, late = robot.records, robot.fit.orders.delay
    time = np.arange(len(records.command)) * records.period
    figure, (above, below) = _panels([2.3, 1.3], 3)
    above.plot(time, 1e3 * records.command, color=COLOURS["muted"], linewidth=0.9, label="commanded")
    above.plot(time, 1e3 * records.actual, color=BLUE, label="actual")
    above.plot(time[late:], 1e3 * robot.fit.simulated, color=ORANGE, linestyle=DASHES[1], label="simulated")
    scale, unit = _sized(robot.fit.residual)
    below.plot(time[late:], scale * robot.fit.residual, color=COLOURS["green"], linewidth=0.7)
    above.set_ylabel("position, mm")
    below.set(xlabel="time, s", ylabel=f"residual, {unit}", xlim=(0, time[-1]))
    legend(figure, above)
    return figure


def _sized(values: np.ndarray) -> tuple[float, str]:
    """What takes metres to a unit that suits their size."""
    largest = float(np.abs(values).max())
    for scale, unit in ((1e3, "mm"), (1e6, "µm")):
        if largest * scale >= 0.3:
            return scale, unit
    return 1e9, "nm"


@styled
def bode_figure(robot: Robot) -> Figure:
    """Frequency response with its 95 % band, the ratio of the measured spectra beside it."""
    band = robot.band
    figure, (magnitude, phase, width) = _panels([1.8, 1.8, 1.2], 4)
    size, angle = 20 * np.log10(np.abs(band.response)), np.degrees(np.unwrap(np.angle(band.response)))
    hertz, measured = _spectral_ratio(robot)
    points = 20 * np.log10(np.abs(measured)), np.degrees(np.unwrap(np.angle(measured)))
    for ax, value, half, point in (
        (magnitude, size, band.magnitude, points[0]),
        (phase, angle, band.phase, points[1]),
    ):
        ax.axvspan(*robot.excited, color=COLOURS["contact"], linewidth=0, zorder=0, label="excited")
        ax.fill_between(
            band.frequency, value - half, value + half, color=BLUE, alpha=0.25, linewidth=0, label="95 % sure"
        )
        ax.plot(band.frequency, value, color=BLUE, label="model")
        if len(hertz):
            words = "ratio of the measured spectra"
            ax.plot(hertz, point, ".", color=ORANGE, markersize=3.5, label=words, zorder=3)
    inside = band.frequency <= 2 * robot.excited[1]
    for ax, value, half, point in (
        (magnitude, size, band.magnitude, points[0]),
        (phase, angle, band.phase, points[1]),
    ):
        shown = np.r_[value, np.clip(half, 0, 2 * np.ptp(value[inside]))[inside] + value[inside], point]
        low, high = float(shown.min()), float(shown.max())
        room = max(0.08 * (high - low), 0.02)
        ax.set_ylim(low - room, high + room)
    magnitude.set(ylabel="magnitude, dB", xscale="log", xlim=(band.frequency[0], band.frequency[-1]))
    phase.set(ylabel="phase, deg")
    width.axvspan(*robot.excited, color=COLOURS["contact"], linewidth=0, zorder=0)
    for half, words, style in ((band.magnitude, "dB", DASHES[0]), (band.phase, "deg", DASHES[1])):
        width.plot(band.frequency, half, color=BLUE, linestyle=style, label=words)
    width.set(ylabel="95 %: ± dB, deg", xlabel="frequency, Hz", yscale="log")
    width.legend(loc="upper left", ncols=2)
    from matplotlib.ticker import FuncFormatter

    width.yaxis.set_major_formatter(FuncFormatter(power_of_ten))
    width.yaxis.set_minor_formatter(FuncFormatter(lambda *_: ""))
    width.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    legend(figure, magnitude)
    return figure


def _spectral_ratio(robot: Robot) -> tuple[np.ndarray, np.ndarray]:
    """Frequencies (Hz) at which the log is coherent, and actual over commanded there, without the hold of the samples."""
    records = robot.records
    length = max(64, len(records.command) // SECTIONS)
    settings: dict[str, Any] = {
        "fs": 1 / records.period,
        "nperseg": min(length, len(records.command)),
        "detrend": "linear",
    }
    hertz, cross = csd(records.command, records.actual, **settings)
    ratio = cross[1:] / welch(records.command, **settings)[1][1:]
    told = coherence(records.command, records.actual, **settings)[1][1:] > COHERENT
    hertz = hertz[1:]
    told &= (hertz >= robot.excited[0]) & (hertz <= robot.excited[1])
    turn = 2j * np.pi * hertz * records.period
    return hertz[told], (ratio / ((1 - np.exp(-turn)) / turn))[told]


@styled
def residual_figure(robot: Robot) -> Figure:
    """Correlation of the residuals with themselves and with the command."""
    from matplotlib.figure import Figure

    tests = robot.tests
    assert tests is not None  # there are residuals
    figure = Figure()
    own, crossed = figure.subplots(1, 2)
    arrange(figure, [2.2], 2, title=0.0)
    for ax, lags, values, bound in (
        (own, tests.lags[1:], tests.own[1:], tests.own_bound),
        (crossed, tests.crossed_lags, tests.crossed, tests.crossed_bound),
    ):
        ax.axhspan(-bound, bound, color=COLOURS["sky"], alpha=0.25, linewidth=0, label="99 % by chance")
        ax.vlines(lags, 0, values, color=BLUE, linewidth=1.4, label="correlation")
        ax.axhline(0, color=COLOURS["muted"], linewidth=0.8)
        reach = 1.25 * max(float(np.abs(values).max()), bound)
        ax.set(ylim=(-reach, reach), xlabel="lag, samples")
    own.set_ylabel("residual with itself")
    crossed.set_ylabel("residual with the command")
    legend(figure, own)
    return figure


@styled
def force_figure(contact: Contact) -> Figure:
    """Measured and fitted force over time, and what is left."""
    bounce = contact.bounce
    figure, (above, below) = _panels([2.3, 1.3], 2)
    time = bounce.time - bounce.time[bounce.first]
    above.plot(time, bounce.force, color=BLUE, label="measured")
    above.plot(time, contact.fitted, color=ORANGE, linestyle=DASHES[1], label="fitted")
    below.plot(time, bounce.force - contact.fitted, color=COLOURS["green"], linewidth=0.7)
    above.set_ylabel("force, N")
    below.set(xlabel="time since the force rose, s", ylabel="residual, N", xlim=(time[0], time[-1]))
    legend(figure, above)
    return figure


@styled
def stroke_figure(contact: Contact) -> Figure:
    """What the force has beside the spring's, over depth: as measured and with the delay taken back."""
    bounce = contact.bounce
    figure, (ax,) = _panels([2.9], 3)
    measured = bounce.position
    place, _ = smooth(bounce)
    late = bounce.time + contact.delay.value
    for position, force, words, style in (
        (measured, bounce.force, "as measured", {"color": COLOURS["muted"], "linewidth": 0.7}),
        (measured, np.interp(late, bounce.time, bounce.force), "delay taken back", {"color": BLUE, "linewidth": 0.7}),
        (
            place(bounce.time),
            np.interp(late, bounce.time, contact.fitted),
            "the dashpot alone",
            {"color": ORANGE, "linestyle": DASHES[1]},
        ),
    ):
        depth = position - contact.surface.value
        inside = depth > -0.1 * depth.max()
        spring = contact.bias.value + contact.stiffness.value * np.maximum(depth, 0.0)
        ax.plot(1e3 * depth[inside], (force - spring)[inside], label=words, **style)
    ax.axhline(0, color=COLOURS["muted"], linewidth=0.8)
    ax.set(xlabel="depth, mm", ylabel="force less the spring's, N")
    legend(figure, ax)
    return figure
