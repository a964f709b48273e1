"""Logs of a robot and of a bounce, made up, as files that `dockdyn identify` reads."""

import numpy as np
from scipy.signal import lsim, zpk2tf

PERIOD = 0.002  # s
ZEROS, POLES, GAIN = [-206.5679], [-181.7836 + 185.4564j, -181.7836 - 185.4564j], 326.4756


def log(noise: float = 0.0, count: int = 1501) -> np.ndarray:
    """Time (s), command and position (m) of the preset's robot in a sweep."""
    t = np.arange(count) * PERIOD
    command = 0.025 * np.sin(2 * np.pi * 10 * t / 3 * t)
    top, bottom = zpk2tf(ZEROS, POLES, GAIN)
    _, actual, _ = lsim((np.real(top), np.real(bottom)), command, t, interp=False)
    return np.stack([t, command, actual + noise * np.random.default_rng(8).standard_normal(count)], axis=1)


def lines(rows: np.ndarray, header: str = "time [s],command [mm],actual [mm]", scale: float = 1e3) -> list[str]:
    return [header, *(f"{t:.3f},{scale * command:.9g},{scale * actual:.9g}" for t, command, actual in rows)]


def written(folder, text: list[str], name: str = "log.csv"):
    file = folder / name
    file.write_text("\n".join(text) + "\n", encoding="utf-8")
    return name


# --- a bounce -------------------------------------------------------------------------------------------------------


def bounced(peak: float = 150.0, noise: float = 0.2) -> list[str]:
    """Half a sine of 20 kN/m, undamped, between stretches of 50 mm/s."""
    t = np.arange(0, 1.1, 1e-3)
    frequency = 0.05 / (peak / 2e4)  # of the sine, rad/s
    inside = (t > 0.3) & (t < 0.3 + np.pi / frequency)
    x = np.where(t < 0.3 + 1e-9, 0.05 * (t - 0.3), -0.05 * (t - 0.3 - np.pi / frequency))
    x[inside] = peak / 2e4 * np.sin(frequency * (t[inside] - 0.3))
    force = 2e4 * np.maximum(x, 0) + noise * np.random.default_rng(1).standard_normal(len(t))
    return [
        "time [ms],position [mm],force [kN]",
        *(f"{1e3 * a:.1f},{1e3 * b:.7f},{c / 1e3:.7f}" for a, b, c in zip(t, x, force, strict=True)),
    ]
