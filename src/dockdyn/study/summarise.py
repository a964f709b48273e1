"""The summary of a run: what `dockdyn run --json` prints."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import xarray as xr

COARSE = 1e-4  # relative error above which a run is not to be trusted without a warning
LOSSLESS = 1e-9  # share of the kinetic energy below which a change of energy counts as none


def summarise(dataset: xr.Dataset) -> dict[str, Any]:
    """Contacts, energy, errors of conserved quantities, warnings. Keys carry their unit; plain Python types throughout."""
    largest = float(dataset.kinetic_energy.max())
    start = float(dataset.kinetic_energy[0])
    energy = [number(value) for value in dataset.episode_energy.values]
    gains = [number(value) for value in dataset.episode_energy_gain.values]
    return {
        "kind": dataset.attrs["kind"],
        "title": dataset.attrs["title"],
        "status": dataset.attrs["status"],
        "contacts": [contact(dataset.isel(episode=i)) for i in range(dataset.sizes["episode"])],
        "impacts": [],
        "captured": None,
        "capture_time_s": None,
        "kinetic_energy_start_J": start,
        "kinetic_energy_change_J": energy,
        "energy_class": [classify(gain, start, after) for gain, after in zip(gains, energy, strict=True)],
        "linear_momentum_error": drift(dataset.linear_momentum, dataset.linear_momentum_scale),
        "angular_momentum_error": drift(dataset.angular_momentum, dataset.angular_momentum_scale),
        "energy_error": energy_error(dataset, largest),
        "work_energy_error": work_energy_error(dataset),
        "peak_normal_force_N": float(dataset.episode_peak_force.max()) if dataset.sizes["episode"] else 0.0,
        "warnings": warnings(dataset),
        "integrator": dataset.attrs["integrator"],
        "step_s": float(dataset.attrs["step_s"]),
        "steps": int(dataset.attrs["steps"]),
        "end_time_s": float(dataset.time[-1]),
        "wall_time_s": float(dataset.attrs["wall_time_s"]),
    }


def contact(episode: xr.Dataset) -> dict[str, Any]:
    """One contact, from onset to release."""
    azimuth = float(episode.episode_azimuth)
    return {
        "onset_s": float(episode.episode_onset),
        "release_s": number(episode.episode_release),
        "feature": str(episode.episode_feature.values),
        "surface": str(episode.episode_surface.values),
        "position_m": [float(value) for value in episode.episode_position.values],
        "azimuth_deg": math.degrees(azimuth) % 360 if np.isfinite(azimuth) else None,
        "approach_speed_m_s": float(episode.episode_approach_speed),
        "peak_normal_force_N": float(episode.episode_peak_force),
        "peak_time_s": number(episode.episode_peak_time),
        "impulse_N_s": float(episode.episode_impulse),
    }


def number(value: Any) -> float | None:
    """A float, or None for what the run did not reach."""
    return float(value) if np.isfinite(value) else None


def ratio(error: float, scale: float) -> float:
    return error / scale if scale > 0 else error


def drift(momentum: xr.DataArray, scale: xr.DataArray) -> float:
    """Largest change of a momentum since t = 0, relative to the largest sum of the bodies' magnitudes."""
    change = np.linalg.norm(momentum.values - momentum.values[0], axis=-1)
    return ratio(float(change.max()), float(scale.max()))


def work_energy_error(dataset: xr.Dataset) -> float:
    """Largest difference between the contact forces' work and the change of kinetic energy, relative to the largest energy."""
    change = dataset.kinetic_energy - dataset.kinetic_energy[0]
    return ratio(float(abs(change - dataset.work).max()), float(dataset.kinetic_energy.max()))


def classify(gain: float | None, start: float, after: float | None) -> str | None:
    """A contact by the energy it added (Sazawal et al., after eq. 152); None while it is not over."""
    if gain is None or after is None:
        return None
    if abs(gain) <= LOSSLESS * max(start, start + after):
        return "lossless"
    return "passive" if gain < 0 else "active"


def overlapping(dataset: xr.Dataset) -> list[int]:
    """Numbers of the contacts during which the force of another one acted, too: their energies cannot be told apart."""
    onset, release = dataset.episode_onset.values, dataset.episode_release.values
    over = np.where(np.isfinite(release), release + float(dataset.attrs["delay_s"]), np.inf)
    together = (onset[:, None] < over) & (onset < over[:, None])
    return [int(index) + 1 for index in np.flatnonzero(together.sum(axis=1) > 1)]


def energy_error(dataset: xr.Dataset, largest: float) -> float | None:
    """Where energy should hold: its largest change over whole contacts, relative to the largest; else None."""
    whole = [value for value in dataset.episode_energy.values if np.isfinite(value)]
    if not dataset.attrs["conservative"]:
        return None
    return ratio(float(np.max(np.abs(whole))), largest) if whole else 0.0


def warnings(dataset: xr.Dataset) -> list[str]:
    """What the reader should know before trusting the numbers."""
    found = []
    if not dataset.attrs["finished"]:
        found.append(dataset.attrs["status"])
    if dataset.attrs["prediction"]:
        found.append(dataset.attrs["prediction"])
    if dataset.attrs["step_error"] > COARSE:
        found.append(
            f"the step is too long for the motion: a step's error reaches {dataset.attrs['step_error']:.1e} of it; "
            "leave integrator.step out to have it chosen"
        )
    if work_energy_error(dataset) > COARSE:
        found.append(
            f"the work of the contact forces and the change of energy differ by {work_energy_error(dataset):.1e}"
        )
    if overlapping(dataset):
        found.append(
            "some contacts overlap in time or within one delay: their energies are those of all of them together"
        )
    if not dataset.sizes["episode"]:
        found.append("no contact within the duration")
    return found
