"""Shock response spectra: the largest absolute acceleration of oscillators of one mass on a base that is accelerated.

Units: m/s², s, Hz.
Source: Smallwood 1981, An improved recursive formula for calculating shock response spectra, Shock and Vibration Bulletin 51:
the ramp-invariant filter, exact where the base's acceleration is linear between samples.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from dockdyn.dataset import Dataset
from dockdyn.deferred import Float
from dockdyn.report.scene.rotation import rotate

PER_OCTAVE = 12
SAMPLES = 10  # of the motion, at least, in a period of the highest frequency: what is shorter the samples do not have
FINE = 64  # looks at the response in a period of the oscillator: its peak is missed by 0.12 % at most
ENDING = 0.1  # of the largest acceleration of a place: with more of it at the end of a run, that ends under load
LOOKS = 8  # at least between two samples, as the base may shake faster than the oscillator


def shock_spectrum(
    acceleration: Float[np.ndarray, "time axes"],
    step: float,
    frequencies: Float[np.ndarray, "frequencies"],
    quality: float,
) -> Float[np.ndarray, "frequencies axes"]:
    """Return the largest absolute acceleration (m/s²) of each oscillator, of so many `frequencies` (Hz) and a `quality` Q, by
    size, while the base has an `acceleration` (m/s²) with samples a `step` (s) apart.

    At the first sample the oscillators are at rest beside their base, which keeps its last acceleration after the last: there
    they vibrate freely for a period of their own, in which they reach the largest that is left. The damping ratio is 1/(2 Q).
    """
    from scipy.signal import lfilter

    found = np.zeros((len(frequencies), acceleration.shape[1]))
    first = acceleration[0]
    for number, frequency in enumerate(frequencies):
        parts = max(
            math.ceil(FINE * frequency * step), LOOKS
        )  # linear between samples, so that finer ones change nothing
        free = math.ceil(1 / (frequency * step)) + 1
        whole = np.pad(acceleration - first, ((0, free), (0, 0)), mode="edge")
        finer = np.linspace(0, len(whole) - 1, parts * (len(whole) - 1) + 1)
        base = np.column_stack([np.interp(finer, np.arange(len(whole)), column) for column in whole.T])
        response = lfilter(*_ramp_invariant(frequency, step / parts, quality), base, axis=0) + first
        found[number] = np.abs(response).max(axis=0)
    return found


def ends_under_load(acceleration: Float[np.ndarray, "time axes"]) -> bool:
    """Return whether a base (m/s²) is still accelerated at the end, beside what it was before."""
    sizes = np.linalg.norm(acceleration, axis=1)
    return bool(sizes[-1] > ENDING * sizes.max())


def _ramp_invariant(frequency: float, step: float, quality: float) -> tuple[list[float], list[float]]:
    """Return numerator and denominator of the filter from the acceleration of the base to that of the mass."""
    ratio = 1 / (2 * quality)
    damped = 2 * math.pi * frequency * math.sqrt(1 - ratio**2) * step
    decay = math.exp(-2 * math.pi * frequency * ratio * step)
    cosine, sine = decay * math.cos(damped), decay * math.sin(damped) / damped
    return [1 - sine, 2 * (sine - cosine), decay**2 - sine], [1.0, -2 * cosine, decay**2]


def spectrum_frequencies(duration: float, step: float) -> Float[np.ndarray, "frequencies"]:
    """Return frequencies (Hz), evenly in their logarithm, from one period in the `duration` (s) to `SAMPLES` steps (s) a
    period; none where these are not apart."""
    low, high = 1 / duration, 1 / (SAMPLES * step)
    if high <= low:
        return np.zeros(0)
    return np.geomspace(low, high, math.ceil(PER_OCTAVE * math.log2(high / low)) + 1)


def accelerations_of(dataset: Dataset, body: int, place: Sequence[float]) -> tuple[float, Float[np.ndarray, "time 3"]]:
    """Return the step (s) of the samples of the acceleration (m/s²) of a `place` (m) on a rigid body, and these, in its axes.

    It is that between each two samples of the motion, as their velocities say, at the middle of both.
    """
    time, turn = dataset.time.values, dataset.attitude.values[:, body]
    velocity, rate = dataset.velocity.values[:, body], dataset.rate.values[:, body]
    moved = velocity + rotate(turn, np.cross(rate, np.asarray(place, float)))
    gained = np.diff(moved, axis=0) / np.diff(time)[:, None]
    back = turn * np.array([1.0, -1.0, -1.0, -1.0])
    seen = (rotate(back[:-1], gained) + rotate(back[1:], gained)) / 2
    middles = (time[1:] + time[:-1]) / 2
    step = float(np.median(np.diff(time)))
    even = np.arange(middles[0], middles[-1] + step / 2, step)
    return step, np.column_stack([np.interp(even, middles, column) for column in seen.T])
