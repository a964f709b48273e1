"""What the log of a run tells of a capture: when and how it was, and its loads.

One definition for a run, in NumPy, and for the lanes of a batch, traced by JAX.
"""

from __future__ import annotations

from typing import Any

from dockdyn.contact.latch import HELD, ON_RAMP
from dockdyn.results.log_data import Log
from dockdyn.results.measures import Either, latch_attempt

CAPTURE = {  # by name in a dataset: unit and words
    "capture_time": ("s", "when the latch fell in"),
    "capture_speed": ("m/s", "relative speed when the latch first fell in"),
    "capture_impulse_along": ("N s", "impulse that ends the relative motion then, along the docking axis"),
    "capture_impulse_across": ("N s", "impulse that ends the relative motion then, across the docking axis"),
    "capture_loss": ("J", "energy of the relative motion that it ends"),
    "latch_entry_speed": (
        "m/s",
        "relative speed at the beginning of the ramp, of the attempt that succeeded or came nearest to",
    ),
    "latch_needed_speed": (
        "m/s",
        "least speed there that latches, by the effective mass along the axis, without delay and other contacts",
    ),
}
LOADS = {  # by name in a dataset: unit, words, name in a summary
    "capture_peak_force": ("N", "largest force of the latch's catch", "latch.peak_force_N"),
    "capture_peak_time": ("s", "time of the largest force of the latch's catch", "latch.peak_time_s"),
    "capture_peak_moment": ("N m", "largest moment of the catch, of a weld", "latch.peak_moment_N_m"),
    "catch_greatest_travel": (
        "m", "farthest that the catch yielded, beyond its stroke as without a stop", "latch.grip_travel_m"
    ),
    "catch_stored_end": ("J", "energy in the catch at the end", "latch.grip_stored_energy_J"),
    "catch_dissipated_end": ("J", "energy that the catch's dampers took", "latch.grip_dissipated_energy_J"),
    "seated_contact_peak_force": (
        "N", "largest normal force after the capture of what the latch holds against a surface",
        "latch.seat_peak_force_N",
    ),
    "seated_contact_peak_time": ("s", "time of that largest normal force", "latch.seat_peak_time_s"),
    "seated_contact_force_end": (
        "N", "normal force of what the latch holds against a surface, at the end", "latch.seat_force_end_N"
    ),
}  # fmt: skip
ENTRY = ("latch_entry_speed", "latch_needed_speed")
STROKE_SLACK = 1e-9  # relative
SWING_SLACK = 1e-9  # s


def capture_data(log: Log, speed: Either, needed: Either) -> dict[str, Any]:
    """Return what `CAPTURE` names: when and how a probe met a latch and was caught by it; NaN where it did not.

    Over the rows of a log, `speed` and `needed` being the probe's speed and the least one that latches (m/s) at them. The
    attempt that counts is the one that succeeded, or came nearest to.
    """
    valid, seen, mode = log.valid, log.seen, log.seen["latch_mode"]
    xp = mode.__array_namespace__()
    earlier = xp.concat([xp.full(1, -1, dtype=mode.dtype), mode[:-1]])
    entries = valid & (mode == ON_RAMP) & (earlier != ON_RAMP)
    captured, caught, met, counts = latch_attempt(valid & (mode == HELD), entries, speed - needed)
    at_capture = {"capture_time": log.time} | {
        name: seen[name] for name in CAPTURE if name in seen and name not in ENTRY
    }
    found = {name: xp.where(captured, values[caught], xp.nan) for name, values in at_capture.items()}
    entry = zip(ENTRY, (speed, needed), strict=True)
    return found | {name: xp.where(met, values[counts], xp.nan) for name, values in entry}


def capture_loads(log: Log) -> dict[str, Any]:
    """Return the figures of `LOADS`, NaN where there is none, and `peak_force_known`: 1 or 0.

    The log has peaks of the contacts and then of the catch. The largest force is a lower bound where the catch yielded beyond
    its stroke or the run ended before its first swing was over.
    """
    time, last, seen, mode = log.time, log.last, log.seen, log.seen["latch_mode"]
    xp = time.__array_namespace__()
    rows = xp.arange(time.shape[0])
    held = (mode == HELD) & (rows <= last)
    captured, caught = xp.any(held), xp.argmax(held)
    after = captured & (rows > caught) & (rows <= last)
    contacts = seen["depth"].shape[1]
    nothing = xp.asarray(xp.nan)

    def highest(values: Either, counts: Either) -> Either:
        top = xp.max(xp.where(counts, values, -xp.inf), initial=-xp.inf)
        return xp.where(xp.isfinite(top), xp.maximum(top, 0.0), xp.nan)

    found = dict.fromkeys(LOADS, nothing)
    known = ~captured
    if contacts:
        seated = seen["seated"].astype(bool) & after[:, None]
        standing = xp.max(xp.where(seated[last], seen["normal_force"][last], 0.0), initial=0.0)
        found["seated_contact_peak_force"] = pressed = highest(log.peaks[:, :contacts], seated)
        place = xp.argmax(xp.where(seated, log.peaks[:, :contacts], -xp.inf))
        when = log.peak_times[:, :contacts].ravel()[place]
        found["seated_contact_peak_time"] = xp.where(pressed > 0, when, xp.nan)
        found["seated_contact_force_end"] = xp.where(captured, standing, xp.nan)
    peaks, times = log.peaks[:, contacts:], log.peak_times[:, contacts]
    found["capture_peak_force"] = force = highest(peaks[:, 0], after)
    when = times[xp.argmax(xp.where(after, peaks[:, 0], -xp.inf))]
    found["capture_peak_time"] = xp.where(xp.isfinite(force), when, xp.nan)
    found["catch_greatest_travel"] = travel = highest(peaks[:, 1], after)
    if peaks.shape[1] > 2:
        found["capture_peak_moment"] = highest(peaks[:, 2], after)
    for name in ("stored", "dissipated"):
        found[f"catch_{name}_end"] = xp.where(captured, seen[f"catch_{name}"][last], xp.nan)
    began = held & ~xp.concat([xp.zeros(1, dtype=bool), held[:-1]])
    latest = time[xp.max(xp.where(began, rows, 0))]
    swung = ~held[last] | (time[last] >= latest + seen["catch_swing"][0] - SWING_SLACK)
    known = known | (swung & (travel <= seen["catch_stroke"][0] * (1 + STROKE_SLACK)))
    return found | {"peak_force_known": xp.where(known, 1.0, 0.0)}
