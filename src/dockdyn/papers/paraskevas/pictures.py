"""Pictures of Paraskevas et al."""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure

COLOURS = ("tab:blue", "tab:orange", "tab:green", "tab:red", "tab:purple")
THIN: dict[str, Any] = {"color": "0.5", "linewidth": 0.9}
KEPT: dict[str, Any] = {"color": "tab:green", "alpha": 0.08, "linewidth": 0}
CHASER, CONTACT, TARGET = r"$\lambda_c = m_1/m_2$", r"$\lambda_i = m_2/m_3$", r"$\lambda_t = m_4/m_3$"


def _two_panels() -> tuple[Figure, Any, Any]:
    figure = Figure(figsize=(12, 5.6), layout="constrained")
    left, right = figure.subplots(1, 2)
    for axes in (left, right):
        axes.grid(alpha=0.3)
    return figure, left, right


def mass_ratios(data: xr.Dataset) -> Figure:
    """Return figures 3 and 4: e_l over λ_i for some λ_c; and what is left of the relative velocity over both, with its zero
    line."""
    figure, curves, plane = _two_panels()
    axis = data.contact_ratio.values
    curves.axhspan(0, 0.5, **KEPT)
    curves.axhline(0.5, **THIN)
    for colour, family, curve in zip(COLOURS, data.family.values, data.curve.values, strict=True):
        curves.plot(axis, curve, color=colour, label=rf"$\lambda_c = {family:g}$")
        if curve.min() < 0.5 < curve.max():
            order = np.argsort(curve)
            curves.plot(np.interp(0.5, curve[order], axis[order]), 0.5, "o", color=colour, markerfacecolor="white")
    curves.set(xscale="log", xlim=(axis[0], axis[-1]), ylim=(0, 1), xlabel=CONTACT, ylabel=r"$e_l$")
    curves.set_title("ratio of effective masses; shaded: the direction is kept")
    curves.legend(loc="best")
    left = 1 - 2 * data.coefficient.values
    levels = np.linspace(-1, 1, 21)
    filled = plane.contourf(axis, data.chaser_ratio.values, left, levels=levels, cmap="RdYlGn", alpha=0.75)
    figure.colorbar(filled, ax=plane, label="relative velocity after over before, e* = 1", ticks=levels[::5])
    plane.plot(data.zero_contact_ratio, data.zero_chaser_ratio, color="k", label="no relative velocity left")
    plane.set(xscale="log", yscale="log", xlim=(axis[0], axis[-1]), ylim=(axis[0], axis[-1]))
    plane.set(xlabel=CONTACT, ylabel=CHASER)
    plane.legend(loc="upper right")
    return figure


def zero_locus(data: xr.Dataset) -> Figure:
    """Return figure 5: what leaves no relative velocity where λ_c is known, as the paper has it, and where λ_i or λ_t is."""
    figure = Figure(figsize=(15, 5.2), layout="constrained")
    sides = (
        ("of_chaser_ratio", r"\lambda_c", CONTACT, TARGET),
        ("of_contact_ratio", r"\lambda_i", CHASER, TARGET),
        ("of_target_ratio", r"\lambda_t", CONTACT, CHASER),
    )
    for axes, (name, family, xlabel, ylabel) in zip(figure.subplots(1, 3), sides, strict=True):
        for colour, value, curve in zip(COLOURS, data.family.values, data[name].values, strict=True):
            axes.plot(data.ratio, curve, color=colour, label=f"${family} = {value:g}$")
        axes.set(xscale="log", yscale="log", xlim=(data.ratio[0], data.ratio[-1]), ylim=(0.05, 20))
        axes.set(xlabel=xlabel, ylabel=ylabel, title=f"${family}$ known")
        axes.grid(alpha=0.3)
        axes.legend(loc="upper left" if name == "of_target_ratio" else "upper right")
    return figure


def relative_velocities(data: xr.Dataset) -> Figure:
    """Return figure 7: the relative velocity through the first contact, and where eq. 18 puts it."""
    figure = Figure(figsize=(9, 5.6), layout="constrained")
    axes: Any = figure.subplots()
    milliseconds = 1e3 * data.time.values
    for colour, case in zip(COLOURS, data.case.values, strict=False):
        one = data.sel(case=case)
        axes.plot(milliseconds, one.relative_velocity, color=colour, label=f"{case}, simulated")
        axes.hlines(one.predicted, 1e3 * one.release, milliseconds[-1], color=colour, linestyle=":")
        axes.plot(1e3 * one.release, one.after, "o", color=colour, markerfacecolor="white")
    axes.plot([], [], color="0.4", linestyle=":", label="eq. 18")
    axes.plot([], [], "o", color="0.4", markerfacecolor="white", label="first release")
    axes.set(xlabel="time since first contact, ms", ylabel="relative velocity of the centres of mass, m/s")
    axes.set_xlim(milliseconds[0], milliseconds[-1])
    axes.grid(alpha=0.3)
    axes.legend(loc="lower left")
    return figure


def latch_motion(data: xr.Dataset) -> Figure:
    """Return figures 8 and 9: velocities of both bodies, and the travel into the latch; a run each."""
    figure, speeds, travel = _two_panels()
    for colour, run in zip(COLOURS, data.run.values, strict=False):
        one = data.sel(run=run)
        speeds.plot(data.time, one.chaser_velocity, color=colour, label=f"chaser, {run}")
        speeds.plot(data.time, one.target_velocity, color=colour, linestyle="--", label=f"target, {run}")
        travel.plot(data.time, 1e3 * one.travel, color=colour, label=run)
    travel.axhline(1e3 * data.attrs["length"], color="k", linestyle=":", label="latch falls in")
    travel.axhline(0, **THIN)
    speeds.set(xlabel="time since first contact, s", ylabel="velocity, m/s")
    travel.set(xlabel="time since first contact, s", ylabel="travel into the latch, mm")
    for axes in (speeds, travel):
        axes.set_xlim(data.time[0], data.time[-1])
        axes.legend(loc="best")
    return figure


def stiffness_map(data: xr.Dataset) -> Figure:
    """Return the error of eq. 18 over both stiffnesses, the line of the lost separation, and where the warning begins."""
    figure = Figure(figsize=(9.4, 7.6), layout="constrained")
    axes: Any = figure.subplots()
    x, y = data.chaser_ratio.values, data.target_ratio.values
    axes.set(xscale="log", yscale="log", xlim=(x[0], x[-1]), ylim=(y[0], y[-1]))
    axes.set(xlabel="chaser stiffness over contact stiffness", ylabel="target stiffness over contact stiffness")
    error = np.abs(data.error.values)
    mesh = axes.pcolormesh(x, y, error, norm=LogNorm(1e-5, 2), cmap="YlOrRd", shading="gouraud", rasterized=True)
    figure.colorbar(mesh, ax=axes, label="error of eq. 18 over the relative velocity before")
    levels = {1e-4: "0.01 %", 1e-3: "0.1 %", 1e-2: "1 %"}
    lines = axes.contour(x, y, error, levels=list(levels), colors="0.25", linewidths=0.8)
    axes.clabel(lines, fmt=levels, fontsize=9)
    axes.plot(
        data.lost_chaser_ratio, data.lost_target_ratio, color="k", linewidth=2.2, label="first separation is lost"
    )
    edge = data.attrs["warning_from"]
    axes.plot(
        [x[0], edge, edge], [edge, edge, y[0]], color="tab:blue", linestyle="--", linewidth=2, label="warning begins"
    )
    axes.plot(*data.attrs["of_case_a"], "k*", markersize=11, linestyle="none", label="case A of Table 1")
    axes.legend(loc="upper left", framealpha=0.9)
    return figure
