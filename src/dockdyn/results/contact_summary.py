"""The summary of a run with contacts: what its setups have in common."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dockdyn.dataset import Dataset
from dockdyn.results.capture_loads import SWING_SLACK
from dockdyn.results.contact_figures import STRUCK
from dockdyn.results.control.budget import control_warnings
from dockdyn.results.key_figures import KeyFigure, summary_figures
from dockdyn.results.measures import acts_beside_contacts, describe_work_sources, finite_or_none

COARSE = 1e-4  # relative error above which a run is not to be trusted without a warning
NOT_KNOWN = "the largest force of the run is not known"
OF_THE_SOLVER = ("step_s", "step_error", "steps", "end_time_s")  # numbers that are attributes of a dataset


def summarise_contacts(dataset: Dataset, figures: tuple[KeyFigure, ...]) -> dict[str, Any]:
    """Return the summary of a run with contacts, whose setup has these key figures."""
    found = summary_figures(figures, dataset_data(dataset), _stated_of(dataset))
    return {
        "setup": dataset.attrs["setup"],
        "title": dataset.attrs["title"],
        "status": dataset.attrs["status"],
        "contacts": [contact_row(dataset.isel(episode=i)) for i in range(dataset.sizes["episode"])],
        "impacts": impact_rows(dataset),
        **found,
        "warnings": result_warnings(dataset, found),
        "integrator": dataset.attrs["integrator"],
        "wall_time_s": float(dataset.attrs["wall_time_s"]),
    }


def dataset_data(dataset: Dataset) -> dict[str, Any]:
    """Return what key figures are computed of: the variables of a dataset and what its attributes say of the solver."""
    data = {str(name): variable.values for name, variable in dataset.data_vars.items()}
    data |= {name: dataset.attrs[name] for name in OF_THE_SOLVER}
    if "impact_impulse" in data:
        data[STRUCK] = data["impact_impulse"][-1] > 0
    return data | {"kinetic_energy_start": data["kinetic_energy"][0]}


def _stated_of(dataset: Dataset) -> dict[str, bool]:
    """Return what the scenario of a run is, by the names of `KeyFigure.where`."""
    return {
        "conservative": bool(dataset.attrs["conservative"]),
        "undamped": bool(dataset.attrs["undamped"]),
        "attitude-hold": dataset.attrs.get("control") == "attitude-hold",
    }


def _peak_force_doubts(dataset: Dataset) -> list[str]:
    """Return why the largest force of a capture is not known, a sentence each."""
    if "catch_swing" not in dataset or not np.isfinite(dataset.capture_time):
        return []
    found = []
    travel, stroke = float(dataset.catch_greatest_travel), float(dataset.catch_stroke)
    if not dataset.peak_force_known and travel > stroke:
        found.append(
            f"{NOT_KNOWN}, what is given is a lower bound: the catch yielded {travel * 1e3:.4g} mm, its stroke is "
            f"{stroke * 1e3:.4g} mm, so it bottoms"
        )
    held_since = dataset.capture_onset.values[np.isnan(dataset.capture_release.values)]
    if np.any(float(dataset.attrs["end_time_s"]) < held_since + float(dataset.catch_swing) - SWING_SLACK):
        found.append(
            f"{NOT_KNOWN}, what is given is a lower bound: the run ends before the catch's first swing is over, "
            f"{float(dataset.catch_swing):.4g} s after the capture"
        )
    return found


def impact_rows(dataset: Dataset) -> list[dict[str, Any]]:
    """Return velocities that jumped: a latch that fell in and holds rigidly."""
    rigid = str(dataset.attrs["capture_law"]).startswith("rigid")
    if "capture_impulse_along" not in dataset or not np.isfinite(dataset.capture_impulse_along) or not rigid:
        return []
    return [
        {
            "time_s": float(dataset.capture_time),
            "law": str(dataset.attrs["capture_law"]),
            "impulse_normal_N_s": float(dataset.capture_impulse_along),
            "impulse_tangential_N_s": finite_or_none(dataset.capture_impulse_across),
            "energy_loss_J": float(dataset.capture_loss),
        }
    ]


def contact_row(episode: Dataset) -> dict[str, Any]:
    """Return one contact, from onset to release; places and azimuths of free bodies only."""
    placed = "episode_position" in episode
    azimuth = float(episode.episode_azimuth) if "episode_azimuth" in episode else math.nan
    return {
        "onset_s": float(episode.episode_onset),
        "release_s": finite_or_none(episode.episode_release),
        "feature": str(episode.episode_feature.values),
        "surface": str(episode.episode_surface.values),
        "position_m": [float(value) for value in episode.episode_position.values] if placed else None,
        "azimuth_deg": math.degrees(azimuth) % 360 if np.isfinite(azimuth) else None,
        "approach_speed_m_s": float(episode.episode_approach_speed),
        "peak_force_N": float(episode.episode_peak_force),
        "peak_time_s": finite_or_none(episode.episode_peak_time),
        "impulse_N_s": float(episode.episode_impulse),
        **({"friction_loss_J": float(episode.episode_friction_loss)} if "episode_friction_loss" in episode else {}),
    }


def overlapping_contacts(dataset: Dataset) -> list[int]:
    """Return numbers of the contacts during which the force of another one acted, too: their energies cannot be told apart."""
    onset, release = dataset.episode_onset.values, dataset.episode_release.values
    over = np.where(np.isfinite(release), release + float(dataset.attrs["delay_s"]), np.inf)
    together = (onset[:, None] < over) & (onset < over[:, None])
    return [int(index) + 1 for index in np.flatnonzero(together.sum(axis=1) > 1)]


def _open_outcome(dataset: Dataset, found: dict[str, Any]) -> list[str]:
    """Return a warning where a latch has caught nothing yet, but may."""
    if "capture_time" not in dataset or not found["outcome_open"]:
        return []
    left = found["approach_left_s"]
    why = (
        "bodies still touch"
        if left is None
        else f"the probe still approaches and is there in {left:.3g} s at its speed"
    )
    return [f"not captured, but not decided either: {why} at the end of the duration; state a longer one"]


def result_warnings(dataset: Dataset, figures: dict[str, Any]) -> list[str]:
    """Return what the reader should know before trusting the numbers, of which the key figures are `figures`."""
    found = []
    if not dataset.attrs["finished"]:
        found.append(dataset.attrs["status"])
    found += [line for line in dataset.attrs["prediction"].splitlines() if line]
    if dataset.attrs["step_error"] > COARSE:
        found.append(
            f"the step is too long for the motion: a step's error reaches {dataset.attrs['step_error']:.1e} of it; "
            "leave integrator.step out to have it chosen"
        )
    work_error = figures["work_energy_error"]
    if work_error is not None and work_error > COARSE:
        found.append(
            f"the work of {describe_work_sources(dataset)} and the change of energy differ by {work_error:.1e}"
        )
    if overlapping_contacts(dataset) and not acts_beside_contacts(dataset):
        found.append(
            "some contacts overlap in time or within one delay: their energies are those of all of them together"
        )
    found += _open_outcome(dataset, figures)
    found += control_warnings(dataset)
    found += _peak_force_doubts(dataset)
    if not dataset.sizes["episode"] and not figures["captured"] and np.isnan(dataset.get("latch_entry_speed", np.nan)):
        found.append("no contact within the duration")
    return found
