"""The summary of a run with contacts: what its kinds have in common."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import xarray as xr

from dockdyn.results.capture_loads import LOADS, SWING_SLACK, with_capture
from dockdyn.results.control_budget import control_used_up
from dockdyn.results.measures import (
    capture_totals,
    contact_totals,
    control_totals,
    drift,
    energy_error,
    kept,
    number,
    work_energy_error,
)

COARSE = 1e-4  # relative error above which a run is not to be trusted without a warning
NOT_KNOWN = "the largest force of the run is not known"
CAPTURE = (
    "captured", "capture_time_s", "capture_speed_margin_m_s",
    "capture_impulse_along_N_s", "capture_impulse_across_N_s", "capture_energy_loss_J",
    *(name for _, _, name in LOADS.values()), "peak_force_known",
)  # fmt: skip


def summarise_contacts(dataset: xr.Dataset) -> dict[str, Any]:
    """The figures that every kind of run with contacts has; those of its kind come besides."""
    return {
        "kind": dataset.attrs["kind"],
        "title": dataset.attrs["title"],
        "status": dataset.attrs["status"],
        "contacts": [contact(dataset.isel(episode=i)) for i in range(dataset.sizes["episode"])],
        "impacts": impacts(dataset),
        **capture(dataset),
        **outcome(dataset),
        "kinetic_energy_start_J": float(dataset.kinetic_energy[0]),
        "linear_momentum_error": float(drift(kept(dataset, "linear"), dataset.linear_momentum_scale)),
        "angular_momentum_error": None,  # but of bodies that can turn
        "energy_error": error_of_contacts(dataset),
        "work_energy_error": error_of_work(dataset),
        **totals(dataset),
        **control(dataset),
        "warnings": warnings(dataset),
        "integrator": dataset.attrs["integrator"],
        "step_s": float(dataset.attrs["step_s"]),
        "step_error": float(dataset.attrs["step_error"]),
        "steps": int(dataset.attrs["steps"]),
        "end_time_s": float(dataset.attrs["end_time_s"]),
        "wall_time_s": float(dataset.attrs["wall_time_s"]),
    }


def totals(dataset: xr.Dataset) -> dict[str, Any]:
    """All contacts together: how many, how hard; a capture counts in the largest force."""
    columns = ("onset", "approach_speed", "peak_force", "peak_time", "impulse")
    found = contact_totals(*(dataset[f"episode_{name}"].values for name in columns))
    found |= with_capture(found, dataset)
    return {name: number(value) for name, value in found.items()} | {"contact_count": int(found["contact_count"])}


def capture(dataset: xr.Dataset) -> dict[str, Any]:
    """Whether a latch caught the probe; None throughout where there is none."""
    if "capture_time" not in dataset:
        return dict.fromkeys(CAPTURE)
    least = dataset.latch_least_speed if "latch_least_speed" in dataset else dataset.latch_needed_speed
    captured = bool(np.isfinite(dataset.capture_time))
    found = capture_totals(captured, dataset.capture_time, dataset.latch_entry_speed, least, dataset)
    found |= {name: dataset.get(variable, np.nan) for variable, (_, _, name) in LOADS.items()}
    return {name: number(value) for name, value in found.items()} | {
        "captured": captured,
        "peak_force_known": not doubts(dataset),
    }


def outcome(dataset: xr.Dataset) -> dict[str, Any]:
    """Whether it is open at the end, and how long the probe would still take; None in results of earlier versions."""
    if "outcome_is_open" not in dataset:
        return {"outcome_open": None, "approach_left_s": None}
    return {"outcome_open": bool(dataset.outcome_is_open), "approach_left_s": number(dataset.approach_left)}


def doubts(dataset: xr.Dataset) -> list[str]:
    """Why the largest force of a capture is not known, a sentence each."""
    if "capture_time" not in dataset or not np.isfinite(dataset.capture_time):
        return []
    if "catch_swing" not in dataset:
        return [f"{NOT_KNOWN}: the capture ends the relative motion at an instant"]
    found = []
    travel, stroke = float(dataset.catch_greatest_travel), float(dataset.catch_stroke)
    if not dataset.peak_force_known and travel > stroke:
        found.append(
            f"{NOT_KNOWN}, what is given is a lower bound: the catch yielded {travel * 1e3:.4g} mm, its stroke is "
            f"{stroke * 1e3:.4g} mm, so it bottoms"
        )
    if float(dataset.attrs["end_time_s"]) < float(dataset.capture_time + dataset.catch_swing) - SWING_SLACK:
        found.append(
            f"{NOT_KNOWN}, what is given is a lower bound: the run ends before the catch's first swing is over, "
            f"{float(dataset.catch_swing):.4g} s after the capture"
        )
    return found


def impacts(dataset: xr.Dataset) -> list[dict[str, Any]]:
    """Velocities that jumped: a latch that fell in and holds rigidly."""
    if "capture_time" not in dataset or not np.isfinite(dataset.capture_time) or "catch_swing" in dataset:
        return []
    return [
        {
            "time_s": float(dataset.capture_time),
            "law": str(dataset.attrs["capture_law"]),
            "impulse_normal_N_s": float(dataset.capture_impulse_along),
            "impulse_tangential_N_s": number(dataset.capture_impulse_across),
            "energy_loss_J": float(dataset.capture_loss),
        }
    ]


def contact(episode: xr.Dataset) -> dict[str, Any]:
    """One contact, from onset to release; places and azimuths of free bodies only."""
    flight = "episode_azimuth" in episode
    azimuth = float(episode.episode_azimuth) if flight else math.nan
    return {
        "onset_s": float(episode.episode_onset),
        "release_s": number(episode.episode_release),
        "feature": str(episode.episode_feature.values),
        "surface": str(episode.episode_surface.values),
        "position_m": [float(value) for value in episode.episode_position.values] if flight else None,
        "azimuth_deg": math.degrees(azimuth) % 360 if np.isfinite(azimuth) else None,
        "approach_speed_m_s": float(episode.episode_approach_speed),
        "peak_normal_force_N": float(episode.episode_peak_force),
        "peak_time_s": number(episode.episode_peak_time),
        "impulse_N_s": float(episode.episode_impulse),
    }


def error_of_work(dataset: xr.Dataset) -> float | None:
    """The difference between work and energy; None where dampers inside take some, too."""
    return float(work_energy_error(dataset)) if dataset.attrs["undamped"] else None


def control(dataset: xr.Dataset) -> dict[str, Any]:
    """What control did to the chaser."""
    found = control_totals(dataset, dataset.attrs.get("control") == "attitude-hold")
    return {name: None if value is None else float(value) for name, value in found.items()}


def overlapping(dataset: xr.Dataset) -> list[int]:
    """Numbers of the contacts during which the force of another one acted, too: their energies cannot be told apart."""
    onset, release = dataset.episode_onset.values, dataset.episode_release.values
    over = np.where(np.isfinite(release), release + float(dataset.attrs["delay_s"]), np.inf)
    together = (onset[:, None] < over) & (onset < over[:, None])
    return [int(index) + 1 for index in np.flatnonzero(together.sum(axis=1) > 1)]


def error_of_contacts(dataset: xr.Dataset) -> float | None:
    """Where energy should hold: its largest change over whole contacts, relative to the largest; else None."""
    conservative = dataset.attrs["conservative"]
    return float(energy_error(dataset.episode_energy.values, dataset.kinetic_energy)) if conservative else None


def open_outcome(dataset: xr.Dataset) -> list[str]:
    """A warning where a latch has caught nothing yet, but may."""
    if "capture_time" not in dataset or not outcome(dataset)["outcome_open"]:
        return []
    left = outcome(dataset)["approach_left_s"]
    why = (
        "bodies still touch"
        if left is None
        else f"the probe still approaches and is there in {left:.3g} s at its speed"
    )
    return [f"not captured, but not decided either: {why} at the end of the duration; state a longer one"]


def warnings(dataset: xr.Dataset) -> list[str]:
    """What the reader should know before trusting the numbers."""
    found = []
    if not dataset.attrs["finished"]:
        found.append(dataset.attrs["status"])
    found += [line for line in dataset.attrs["prediction"].splitlines() if line]
    if dataset.attrs["step_error"] > COARSE:
        found.append(
            f"the step is too long for the motion: a step's error reaches {dataset.attrs['step_error']:.1e} of it; "
            "leave integrator.step out to have it chosen"
        )
    work_error = error_of_work(dataset)
    if work_error is not None and work_error > COARSE:
        found.append(f"the work of the contact forces and the change of energy differ by {work_error:.1e}")
    if overlapping(dataset):
        found.append(
            "some contacts overlap in time or within one delay: their energies are those of all of them together"
        )
    found += open_outcome(dataset)
    found += control_used_up(dataset)
    found += doubts(dataset)
    captured = bool(np.isfinite(dataset.get("capture_time", np.nan)))
    if not dataset.sizes["episode"] and not captured:
        found.append("no contact within the duration")
    return found
