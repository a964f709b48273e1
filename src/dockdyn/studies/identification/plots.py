"""Figures of an identified robot and of an identified contact."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.signal import coherence, csd, welch

from dockdyn.report.charts.chart import ZERO, Band, Chart, Limits, Line, Panel, stem_lines
from dockdyn.studies.identification.contact import smooth_motion

if TYPE_CHECKING:
    from dockdyn.studies.identification.contact import IdentifiedContact
    from dockdyn.studies.identification.robot import IdentifiedRobot

COHERENT = 0.95  # above which a ratio of spectra is shown
SECTIONS = 6  # of a log, for its spectra


def fit_figure(robot: IdentifiedRobot) -> Chart:
    """Return commanded, actual and simulated position, and the residual."""
    records, late = robot.records, robot.fit.orders.delay
    time = np.arange(len(records.command)) * records.period
    scale, unit = _length_unit(robot.fit.residual)
    above = [
        Line(time, 1e3 * records.command, "muted", "commanded", width=0.9),
        Line(time, 1e3 * records.actual, "blue", "actual"),
        Line(time[late:], 1e3 * robot.fit.simulated, "orange", "simulated", dash=1),
    ]
    left = Line(time[late:], scale * robot.fit.residual, "green", width=0.7)
    panels = [Panel("position, mm", above, 2.3), Panel(f"residual, {unit}", [left], 1.3)]
    return Chart(panels, whole=(0.0, float(time[-1])))


def _length_unit(values: np.ndarray) -> tuple[float, str]:
    """Return what takes metres to a unit that suits their size."""
    largest = float(np.abs(values).max())
    for scale, unit in ((1e3, "mm"), (1e6, "µm")):
        if largest * scale >= 0.3:
            return scale, unit
    return 1e9, "nm"


def bode_figure(robot: IdentifiedRobot) -> Chart:
    """Return the frequency response with its 95 % band, the ratio of the measured spectra beside it."""
    band = robot.band
    hertz, measured = _spectral_ratio(robot)
    inside = band.frequency <= 2 * robot.excited[1]
    excited = Band(*robot.excited, legend="excited")
    panels = []
    for label, half, of in (
        ("magnitude, dB", band.magnitude, lambda ratio: 20 * np.log10(np.abs(ratio))),
        ("phase, deg", band.phase, lambda ratio: np.degrees(np.unwrap(np.angle(ratio)))),
    ):
        value, points = of(band.response), of(measured)
        sure = Line(band.frequency, value - half, "sky", "95 % sure", reach=value + half)
        lines = [sure, Line(band.frequency, value, "blue", "model")]
        if len(hertz):
            words = "ratio of the measured spectra"
            lines.append(Line(hertz, points, "orange", words, marker=".", size=8.0, joined=False))
        limits = _response_limits(value, half, points, inside)
        panels.append(Panel(label, lines, 1.8, bands=[excited], limits=limits, **_FREQUENCY))
    widths = [
        Line(band.frequency, band.magnitude, "purple", "± dB"),
        Line(band.frequency, band.phase, "green", "± deg", dash=1),
    ]
    panels.append(Panel("95 %: ± dB and ± deg", widths, 1.2, bands=[excited], scale="log", **_FREQUENCY))
    return Chart(panels, whole=(float(band.frequency[0]), float(band.frequency[-1])))


_FREQUENCY: dict[str, Any] = {"across": "frequency, Hz", "across_scale": "log"}


def _response_limits(value: np.ndarray, half: np.ndarray, points: np.ndarray, inside: np.ndarray) -> Limits:
    """Return limits that hold a response and, where it was excited, its band as far as that is not much wider."""
    shown = np.r_[value, np.clip(half, 0, 2 * np.ptp(value[inside]))[inside] + value[inside], points]
    low, high = float(shown.min()), float(shown.max())
    room = max(0.08 * (high - low), 0.02)
    return low - room, high + room


def _spectral_ratio(robot: IdentifiedRobot) -> tuple[np.ndarray, np.ndarray]:
    """Return frequencies (Hz) at which the log is coherent, and actual over commanded there, without the hold of the
    samples."""
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


def residual_figure(robot: IdentifiedRobot) -> Chart:
    """Return correlation of the residuals with themselves and with the command."""
    tests = robot.tests
    assert tests is not None  # there are residuals
    panels = []
    for label, lags, values, bound in (
        ("residual with itself", tests.lags[1:], tests.own[1:], tests.own_bound),
        ("residual with the command", tests.crossed_lags, tests.crossed, tests.crossed_bound),
    ):
        reach = 1.25 * max(float(np.abs(values).max()), bound)
        chance = Band(-bound, bound, colour="sky", axis="y", alpha=0.25, legend="99 % by chance")
        lines = stem_lines(lags, values, "blue", size=1.5, name="correlation")
        panel = Panel(label, lines, 2.2, across="lag, samples", limits=(-reach, reach), levels=[ZERO], bands=[chance])
        panels.append(panel)
    return Chart(panels, columns=2)


def force_figure(contact: IdentifiedContact) -> Chart:
    """Return the measured and fitted force over time, and what is left."""
    bounce = contact.bounce
    time, across = bounce.time - bounce.time[bounce.first], "time since the force rose, s"
    above = [Line(time, bounce.force, "blue", "measured"), Line(time, contact.fitted, "orange", "fitted", dash=1)]
    below = [Line(time, bounce.force - contact.fitted, "green", width=0.7)]
    panels = [Panel("force, N", above, 2.3, across), Panel("residual, N", below, 1.3, across)]
    return Chart(panels, whole=(float(time[0]), float(time[-1])))


def stroke_figure(contact: IdentifiedContact) -> Chart:
    """Return what the force has beside the spring's, over depth: as measured and with the delay taken back."""
    bounce = contact.bounce
    measured = bounce.position
    place, _ = smooth_motion(bounce)
    late = bounce.time + contact.delay.value
    looks: list[dict[str, Any]] = [
        {"name": "as measured", "colour": "muted", "width": 0.7},
        {"name": "delay taken back", "width": 0.7},
        {"name": "the dashpot alone", "colour": "orange", "dash": 1},
    ]
    columns = (
        (measured, bounce.force),
        (measured, np.interp(late, bounce.time, bounce.force)),
        (place(bounce.time), np.interp(late, bounce.time, contact.fitted)),
    )
    lines = []
    for (position, force), look in zip(columns, looks, strict=True):
        depth = position - contact.surface.value
        inside = depth > -0.1 * depth.max()
        spring = contact.bias.value + contact.stiffness.value * np.maximum(depth, 0.0)
        lines.append(Line(1e3 * depth[inside], (force - spring)[inside], **look))
    return Chart([Panel("force less the spring's, N", lines, 2.9, across="depth, mm", levels=[ZERO])])
