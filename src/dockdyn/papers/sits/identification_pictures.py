"""Pictures of the identification of the SITS paper's robot."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure

from dockdyn.deferred import Float
from dockdyn.studies.identification.arm_path import Path

type Row = Float[np.ndarray, "n"]


def line_picture(time: Row, command: Row, along: Row, beside: Row) -> Figure:
    """Return the position on the line over time, and how far off it the arm's tip is."""
    figure = Figure(figsize=(10, 6), layout="constrained")
    above, below = figure.subplots(2, 1, sharex=True, height_ratios=[2.4, 1])
    above.plot(time, 1e3 * command, color="tab:blue", linewidth=1.2, label="commanded")
    above.plot(time, 1e3 * along, color="tab:orange", linestyle="--", linewidth=1, label="tip of the arm")
    for level, name in ((25, "P₁"), (0, "P₀"), (-25, "P₂")):
        above.axhline(level, color="0.7", linewidth=0.8)
        above.annotate(
            name, (1.0, level), (5, 0), xycoords=("axes fraction", "data"), textcoords="offset points", va="center"
        )
    above.set(ylabel="position on the line, mm")
    above.set_ylim(-38, 30)
    above.legend(loc="lower left", ncols=2)
    below.plot(time, 1e9 * beside, color="tab:green", linewidth=0.8)
    below.set(xlabel="time, s", ylabel="distance from it, nm", xlim=(time[0], time[-1]))
    for axes in (above, below):
        axes.grid(alpha=0.3)
    return figure


def space_picture(time: Row, path: Path, joints: tuple[str, ...]) -> Figure:
    """Return the tip's way in space, and the joints over time."""
    figure = Figure(figsize=(12, 6), layout="constrained")
    space: Any = figure.add_subplot(1, 2, 1, projection="3d")
    middle = path.tip[0]
    moved = 1e3 * (path.tip - middle)
    space.plot(*moved.T, color="tab:blue", linewidth=1.2)
    for name, place in (("P₀", moved[0]), ("P₁", moved[moved[:, 0].argmax()]), ("P₂", moved[moved[:, 0].argmin()])):
        space.plot(*place[:, None], "ko", markersize=4)
        space.text(*(place + np.array([1.5, -1.5, 1.5])), name)
    space.set(xlabel="x, mm", ylabel="y, mm", zlabel="z, mm")
    space.set_title("from P₀ = (" + ", ".join(f"{value:.3f}" for value in middle) + ") m")
    space.set_box_aspect((1, 1, 1), zoom=0.85)
    turned = figure.add_subplot(1, 2, 2)
    for i, name in enumerate(joints):
        turned.plot(time, np.degrees(path.joints[:, i] - path.joints[0, i]), linewidth=0.9, label=f"q{name[1:]}")
    turned.set(xlabel="time, s", ylabel="joint angle from that at P₀, deg", xlim=(time[0], time[-1]))
    turned.legend(loc="upper left", ncols=3)
    turned.grid(alpha=0.3)
    return figure


def identification_picture(time: Row, clean: Row, noisy: Row, responses: dict[str, Any]) -> Figure:
    """Return errors of the trajectory, and frequency responses."""
    figure = Figure(figsize=(12, 6.5), layout="constrained")
    grid = figure.subplots(2, 2)
    (exact, size), (rough, angle) = grid
    exact.plot(time, 1e15 * clean, color="tab:blue", linewidth=0.8)
    exact.set(ylabel="trajectory error, 10⁻¹⁵ m", title="(a) without noise, plain ARX: round-off", xlim=(0, time[-1]))
    rough.plot(time, 1e3 * noisy, color="tab:orange", linewidth=0.6)
    rough.set(
        xlabel="time, s", ylabel="trajectory error, mm", title="with 0.1 mm of noise, output error", xlim=(0, time[-1])
    )
    hertz = np.geomspace(0.5, 100, 400)
    looks = {
        "the robot": ("0.2", "-", 2.4),
        "output error": ("tab:orange", "--", 1.4),
        "plain ARX": ("tab:green", "-.", 1.4),
    }
    for name, transfer in responses.items():
        colour, dash, width = looks[name]
        response = transfer.at(2j * np.pi * hertz)
        style: dict[str, Any] = {"color": colour, "linestyle": dash, "linewidth": width, "label": name}
        size.semilogx(hertz, 20 * np.log10(np.abs(response)), **style)
        angle.semilogx(hertz, np.degrees(np.unwrap(np.angle(response))), **style)
    angle.plot(10, -2.87, "k*", markersize=11, linestyle="none", label="printed: −2.87° at 10 Hz")
    size.set(ylabel="magnitude, dB", title="(b) frequency response")
    angle.set(xlabel="frequency, Hz", ylabel="phase, deg")
    angle.legend(loc="lower left")
    for axes in grid.flat:
        axes.grid(alpha=0.3, which="both" if axes in (size, angle) else "major")
    return figure
