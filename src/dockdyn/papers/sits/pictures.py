"""Pictures of the SITS paper's loops."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure

LOOKS = (("tab:blue", (-7, -13), "right"), ("tab:orange", (7, 5), "left"))  # colour, where numbers stand
THIN: dict[str, Any] = {"color": "0.6", "linewidth": 0.8}
STABLE: dict[str, Any] = {"color": "tab:green", "alpha": 0.08, "linewidth": 0}
DOTS = (0, 50, 100, 150)  # N s/m, gains marked on the path of the root


def growth_and_roots(
    gains: np.ndarray,
    roots: dict[str, np.ndarray],
    stable: dict[str, float],
    matching: dict[str, float],
    ideal: complex,
    printed: tuple[float, float],
) -> Figure:
    """Return the growth rate over the gain, and the dominant root as the gain grows; a curve for each loop.

    `stable` is where each loop's stabilising gains begin, `matching` the gain that decays as the contact alone, whose root
    is `ideal`; `printed` the range of gains that the paper used.
    """
    figure = Figure(figsize=(12, 6), layout="constrained")
    growth, plane = figure.subplots(1, 2)
    growth.axhspan(-1, 0, **STABLE)
    growth.axhline(0, **THIN)
    decay = f"decay of the contact alone, {ideal.real:g} 1/s".replace("-", "−")
    growth.axhline(ideal.real, color="0.3", linestyle="--", label=decay)
    band = f"gains printed, {printed[0]:.2f} … {printed[1]:.2f} N s/m"
    growth.axvspan(*printed, color="0.7", alpha=0.6, linewidth=0, label=band)
    plane.axvspan(-1, 0, **STABLE)
    plane.axvline(0, **THIN)
    for (colour, offset, side), (name, found) in zip(LOOKS, roots.items(), strict=True):
        words: dict[str, Any] = {"textcoords": "offset points", "color": colour}
        growth.plot(gains, found.real, color=colour, label=name)
        for gain, level, face in ((stable[name], 0.0, "white"), (matching[name], ideal.real, colour)):
            growth.plot(gain, level, "o", color=colour, markerfacecolor=face)
            growth.annotate(f"{gain:.2f}", (gain, level), offset, ha=side, **words)
        upper = np.abs(found.imag)
        plane.plot(found.real, upper, color=colour, label=name)
        for gain in DOTS:
            at = int(np.argmin(np.abs(gains - gain)))
            plane.plot(found.real[at], upper[at], "o", color=colour, markersize=5)
            if side == "right":
                plane.annotate(f"{gain}", (found.real[at], upper[at]), (-3, -15), ha="center", **words)
    plane.plot(ideal.real, ideal.imag, "k*", markersize=11, linestyle="none", label="contact alone")
    low, high = min(found.real.min() for found in roots.values()), max(found.real.max() for found in roots.values())
    limits = low - 0.12 * (high - low), high + 0.08 * (high - low)
    growth.set(xlabel="gain, N s/m", ylabel="growth rate, 1/s", xlim=(gains[0], gains[-1]), ylim=limits)
    growth.set_title("growth rate; shaded: stable; rings: where stability begins")
    plane.set(xlabel="real part, 1/s", ylabel="imaginary part, rad/s", xlim=limits)
    plane.set_title(f"dominant root; dots: gains {', '.join(map(str, DOTS))} N s/m")
    growth.legend(loc="lower left")
    plane.legend(loc="upper right")
    for axes in (growth, plane):
        axes.grid(alpha=0.3)
    return figure
