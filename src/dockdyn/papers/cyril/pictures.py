"""Pictures of Cyril et al."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import xarray as xr
from matplotlib import colormaps
from matplotlib.colors import Colormap
from matplotlib.figure import Figure
from matplotlib.patches import Circle, Rectangle

from dockdyn.papers.cyril.runs import (
    BASE_REST,
    JOINTS_REST,
    TIP_REST,
    angle,
    arm,
    base_turned,
    fastest_joint,
    gap,
    largest_deflection,
    payload_rate,
    place,
    tip,
)
from dockdyn.report.drawing import COLOURS, DASHES, SERIES

GREEK = {"link1": r"$\theta_2$, shoulder", "link2": r"$\theta_3$, elbow", "hand": r"$\theta_4$, wrist"}
THIN: dict[str, Any] = {"color": "0.5", "linewidth": 0.8}
INSTANTS = 5  # drawn of a configuration
HALF = np.sqrt(6.0)  # m, half the side of a square plate with the spacecraft's mass and inertia
TIME: Colormap = colormaps["viridis"]  # early dark, late light; its light end is left out


def _stack_panels(count: int, height: float = 2.4) -> tuple[Figure, list[Any]]:
    """Return panels over time, one above the other."""
    figure = Figure(figsize=(9, height * count + 0.8), layout="constrained")
    axes = list(figure.subplots(count, 1, sharex=True, squeeze=False)[:, 0])
    for ax in axes:
        ax.grid(alpha=0.3)
    axes[-1].set_xlabel("time since the impact, s")
    return figure, axes


def look(index: int) -> dict[str, Any]:
    """Return the colour and dashes of a curve, apart without colour, too."""
    return {"color": SERIES[index % len(SERIES)], "linestyle": DASHES[index % len(DASHES)], "linewidth": 1.4}


def motion(run: xr.Dataset) -> Figure:
    """Return figures 2 and 5: joint angles, the spacecraft's pitch, the payload's rate."""
    figure, (joints, pitch, payload) = _stack_panels(3)
    for index, name in enumerate(GREEK):
        joints.plot(run.time, angle(run, name), label=GREEK[name], **look(index))
    pitch.plot(run.time, base_turned(run), **look(3))
    payload.plot(run.time, payload_rate(run), **look(4))
    joints.set_ylabel("joint angle, deg")
    pitch.set_ylabel(r"pitch $\theta_1$, deg")
    payload.set_ylabel("payload's rate, deg/s")
    for ax in (joints, pitch, payload):
        ax.axhline(0, **THIN)
    joints.set_xlim(0, float(run.time[-1]))
    joints.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False)
    return figure


def deflections(run: xr.Dataset) -> Figure:
    """Return figures 3 and 6: deflection of the links' tips, across the link."""
    figure, panels = _stack_panels(run.sizes["beam"])
    for index, (ax, name) in enumerate(zip(panels, run.beam.values, strict=True)):
        ax.plot(run.time, 1e3 * run.signed_deflection.sel(beam=name), **look(index) | {"linestyle": "-"})
        ax.set_ylabel(f"tip of link {index + 1}, mm")
        ax.axhline(0, **THIN)
    panels[0].set_xlim(0, float(run.time[-1]))
    return figure


def configurations(run: xr.Dataset) -> Figure:
    """Return figures 4 and 7 to 10: spacecraft, arm and payload at some instants, and the way of the hand's tip."""
    figure = Figure(figsize=(12, 6.8), layout="constrained")
    whole, near = figure.subplots(1, 2, width_ratios=[1, 1.7])
    path, links = tip(run), arm(run)
    centres = run.position.sel(body="payload").values
    marks = place(run, "payload", tuple(links[0, -1] - centres[0]))  # where it is touched; at t = 0 it is not turned
    near.plot(path[:, 0], path[:, 1], color="0.6", linewidth=1)
    rows = np.linspace(0, run.sizes["time"] - 1, INSTANTS).astype(int)
    for share, row in zip(np.linspace(0, 0.88, INSTANTS), rows, strict=True):
        colour, label = TIME(share), f"{float(run.time[row]):.3g} s"
        chain, payload = links[row, :, :2], np.stack([centres[row, :2], marks[row, :2]])
        pitch = base_turned(run)[row]
        corner = chain[0] - HALF * rotate(pitch, (1.0, 1.0))
        whole.add_patch(Rectangle(tuple(corner), 2 * HALF, 2 * HALF, angle=pitch, fill=False, edgecolor=colour))
        whole.plot(chain[1:, 0], chain[1:, 1], ".-", color=colour, markersize=5, linewidth=1.6, label=label)
        radius = float(np.linalg.norm(payload[1] - payload[0]))
        whole.add_patch(Circle(tuple(payload[0]), radius, fill=False, edgecolor=colour))
        whole.plot(payload[:, 0], payload[:, 1], color=colour, linewidth=0.8)
        near.plot(*path[row], "o", color=colour, label=label)
    whole.set_aspect("equal", adjustable="datalim")
    near.set_aspect("equal", adjustable="datalim")
    whole.set(xlabel="x, m", ylabel="y, m", title="spacecraft, arm, payload")
    near.set(xlabel="x, m", ylabel="y, m", title="way of the hand's tip, inertial axes")
    whole.legend(loc="upper left", frameon=False)
    for ax in (whole, near):
        ax.grid(alpha=0.3)
    return figure


def rotate(degrees: float, vector: tuple[float, float]) -> np.ndarray:
    cosine, sine = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
    return np.array([cosine * vector[0] - sine * vector[1], sine * vector[0] + cosine * vector[1]])


QUANTITIES: dict[str, Callable[[xr.Dataset], np.ndarray]] = {
    r"elbow $\theta_3$, deg": lambda run: angle(run, "link2"),
    r"pitch $\theta_1$, deg": base_turned,
    "payload's rate, deg/s": payload_rate,
    "gap to the payload, mm": lambda run: 1e3 * gap(run),
    "deflection so far, mm": lambda run: np.maximum.accumulate(largest_deflection(run)),
}


def plot_runs(runs: Mapping[str, xr.Dataset], left_out: str) -> Figure:
    """Return all `QUANTITIES` but one, of several runs."""
    quantities = {words: values for words, values in QUANTITIES.items() if not words.startswith(left_out)}
    figure, panels = _stack_panels(len(quantities), 2.1)
    for index, (name, run) in enumerate(runs.items()):
        for ax, values in zip(panels, quantities.values(), strict=True):
            # the first one pale and wide, so that one that lies on it leaves it in sight
            ax.plot(
                run.time, values(run), label=name, **look(index) | ({} if index else {"linewidth": 3.0, "alpha": 0.5})
            )
    for ax, words in zip(panels, quantities, strict=True):
        ax.set_ylabel(words)
        if words.startswith("gap"):
            ax.set_ylim(bottom=-50)
            ax.axhspan(-50, 0, color="0.85", linewidth=0)
    panels[0].set_xlim(0, min(float(run.time[-1]) for run in runs.values()))
    panels[0].legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False)
    figure.align_ylabels()
    return figure


def wedges(data: xr.Dataset) -> Figure:
    """Return pairs (r_E, r_f) that exist, and those of Figs. 8 to 10."""
    figure = Figure(figsize=(13, 5), layout="constrained")
    panels = figure.subplots(1, data.sizes["case"], sharey=True)
    ratios = data.friction_ratio.values
    for ax, name in zip(panels, data.case.values, strict=True):
        one = data.sel(case=name)
        least, greatest = one.least.values, one.greatest.values
        ax.fill_between(ratios, least, np.maximum(greatest, least), color=COLOURS["sky"], alpha=0.35, linewidth=0)
        ax.plot(ratios, greatest, color=COLOURS["blue"], label=r"$1-\kappa(1-r_f)^2$")
        ax.plot(ratios, least, color=COLOURS["orange"], linestyle="--", label=r"$e_N=1$: $\kappa r_f(2-r_f)$")
        for loss, friction, exists in zip(
            one.pair_loss.values, one.pair_friction.values, one.exists.values, strict=True
        ):
            ax.plot(friction, loss, "o" if exists else "x", color=COLOURS["ink"], markersize=9, markeredgewidth=2)
        ax.axvline(1, **THIN)
        ax.set(xlabel=r"$r_f$", xlim=(0, 2), ylim=(0, 1.02), title=f"{name}, κ = {float(one.sliding_share):.3f}")
        ax.grid(alpha=0.3)
    panels[0].set_ylabel(r"$r_E$")
    for marker, words in (("o", "Figs. 8–10: exists"), ("x", "Figs. 8–10: does not")):
        panels[0].plot([], [], marker, color=COLOURS["ink"], markeredgewidth=2, label=words)
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=4, frameon=False)
    return figure


def changes(data: xr.Dataset) -> Figure:
    """Return |e + x| over r_E (eq. 52) and over r_f (eq. 53), of flexible and of rigid links."""
    figure = Figure(figsize=(13, 7.6), layout="constrained")
    panels = figure.subplots(2, 2, sharex="col")
    for row, links in zip(panels, data.links.values, strict=True):
        one = data.sel(links=links)
        sides = (
            (row[0], one.over_loss, "friction", r"r_f", r"$r_E$", "eq. 52: falls"),
            (row[1], one.over_friction, "loss", r"r_E", r"$r_f$", "eq. 53: should grow"),
        )
        for ax, values, other, symbol, xlabel, words in sides:
            for index, value in enumerate(values[other].values):
                curve = 1e3 * values.sel({other: value}).values
                ax.plot(data.ratio, curve, label=f"${symbol}={value:g}$", **look(index))
                if other == "loss" and np.isfinite(curve).any():
                    top = int(np.nanargmax(curve))
                    if top < len(curve) - 1:
                        ax.plot(data.ratio[top], curve[top], "o", color=SERIES[index], markerfacecolor="white")
            ax.set_title(f"{words} ({links} links)")
            ax.set_ylabel("|e + x|, mm/s")
            ax.grid(alpha=0.3)
            ax.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False)
            if links == data.links.values[-1]:
                ax.set_xlabel(xlabel)
    return figure


def control(runs: Mapping[str, xr.Dataset], until: float) -> Figure:
    """Return joint rates, pitch and deflections under the schemes of control, and when they count as at rest."""
    figure, panels = _stack_panels(3, 2.7)
    for index, (name, run) in enumerate(runs.items()):
        shown = (fastest_joint(run), np.abs(base_turned(run)), largest_deflection(run))
        for ax, values in zip(panels, shown, strict=True):
            ax.plot(run.time, values, label=name, **(look(index - 1) if index else {"color": "0.6", "linewidth": 0.7}))
    lines = (
        (JOINTS_REST, "fastest joint, deg/s", (1e-4, 50)),
        (BASE_REST, "pitch, deg", (1e-3, 5)),
        (TIP_REST, "deflection, mm", (0.3, 300)),
    )
    for ax, (limit, word, limits) in zip(panels, lines, strict=True):
        ax.axhline(limit, color="0.3", linestyle=":", linewidth=1.2)
        ax.set(yscale="log", ylabel=word, ylim=limits)
    panels[0].set_xlim(0, until)
    panels[0].plot([], [], color="0.3", linestyle=":", label="counts as at rest")
    panels[0].legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False)
    return figure


def impulses(data: xr.Dataset) -> Figure:
    """Return normal impulses by the number of modes."""
    figure = Figure(figsize=(7, 4), layout="constrained")
    ax = figure.subplots()
    for index, (name, words) in enumerate(
        (("first", "first impact alone"), ("again", "all impacts and rest"), ("compliant", "compliant contact"))
    ):
        ax.plot(data.modes, data[name], marker="osD"[index], label=words, **look(index))
    ax.set_xlabel("modes a link")
    ax.set_ylabel("normal impulse, N s")
    ax.set_xticks(data.modes.values)
    ax.set_ylim(0, None)
    ax.grid(alpha=0.3)
    ax.legend()
    return figure
