"""The summary of a run of the kind `orbital-arm`."""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr

from dockdyn.results.measures import drift, kept, number, ratio

STRUCK = ("impact", "latch")  # events that are impacts


def summarise_orbital_arm(dataset: xr.Dataset) -> dict[str, Any]:
    """The impacts, the latch, where everything ends, errors of conserved quantities, what the integrator took."""
    caught = first(dataset, "latch")
    return {
        "kind": dataset.attrs["kind"],
        "title": dataset.attrs["title"],
        "status": dataset.attrs["status"],
        "contacts": [],
        "impacts": impacts(dataset),
        "captured": caught is not None if dataset.attrs["latch"] else None,
        "capture_time_s": caught,
        "release_time_s": first(dataset, "release"),
        "peak_force_known": not np.any(np.isin(dataset.what.values, STRUCK)),
        "kinetic_energy_start_J": float(dataset.kinetic_energy[0]),
        "linear_momentum_error": float(drift(kept(dataset, "linear"), dataset.linear_momentum_scale)),
        "angular_momentum_error": float(drift(kept(dataset, "angular"), dataset.angular_momentum_scale)),
        "energy_error": energy_error(dataset),
        "final": final(dataset),
        "newton_iterations_mean": float(dataset.attrs["newton_iterations_mean"]),
        "newton_iterations_max": int(dataset.attrs["newton_iterations_max"]),
        "microseconds_per_step": number(dataset.attrs["microseconds_per_step"]),
        "warnings": warnings(dataset),
        "integrator": dataset.attrs["integrator"],
        "step_s": float(dataset.attrs["step_s"]),
        "steps": int(dataset.attrs["steps"]),
        "end_time_s": float(dataset.time[-1]),
        "wall_time_s": float(dataset.attrs["wall_time_s"]),
    }


def first(dataset: xr.Dataset, what: str) -> float | None:
    """When that happened first (s)."""
    times = dataset.event_time.values[dataset.what.values == what]
    return float(times[0]) if len(times) else None


def impacts(dataset: xr.Dataset) -> list[dict[str, Any]]:
    """Impacts in the order of time, the one that closed the latch among them."""
    found = []
    for row in np.flatnonzero(np.isin(dataset.what.values, STRUCK)):
        one = dataset.isel(event=row)
        point, _, surface = str(dataset.contact.values[int(one.event_contact)]).partition("/")
        found.append(
            {
                "time_s": float(one.event_time),
                "surface": surface,
                "point": point,
                "law": str(dataset.attrs["latch" if one.what == "latch" else "law"]),
                "latch": bool(one.what == "latch"),
                "approach_speed_m_s": float(one.approach_speed),
                "impulse_N_s": float(one.impulse_normal),
                "impulse_tangential_N_s": float(one.impulse_tangential),
                "energy_loss_J": float(one.energy_loss),
            }
        )
    return found


def balance(dataset: xr.Dataset) -> np.ndarray:
    """Change (J) since t = 0 of what a circular orbit keeps, less the work of control, with what impacts took."""
    took = dataset.energy_loss.values * (dataset.event_time.values <= dataset.time.values[:, None])
    constant = (dataset.orbit_invariant - dataset.work).values + took.sum(axis=1)
    return constant - constant[0]


def energy_error(dataset: xr.Dataset) -> float | None:
    """Its largest, relative to the largest kinetic energy; None on an eccentric orbit, which keeps no energy."""
    if not dataset.attrs["conservative"]:
        return None
    return ratio(float(abs(balance(dataset)).max()), float(dataset.kinetic_energy.max()))


def final(dataset: xr.Dataset) -> dict[str, float]:
    """Attitude of the station and the joints at the end (rad, m)."""
    name = "theta" if "theta" in dataset else "attitude_error_orbit"
    joints = {str(joint): float(dataset.joint_angle[-1].sel(joint=joint)) for joint in dataset.joint.values}
    return {name: float(dataset[name][-1]), **joints}


def warnings(dataset: xr.Dataset) -> list[str]:
    """What the reader should know before trusting the numbers."""
    found = [] if dataset.attrs["finished"] else [str(dataset.attrs["status"])]
    if dataset.attrs["latch"] and first(dataset, "latch") is None:
        found.append("the latch has not closed within the duration")
    created = [float(v) for v in dataset.energy_loss.values if v < 0]
    keeps = dataset.attrs["law"] == "variational"  # the step's discrete energy, not that at the instant
    if created and not keeps and min(created) < -1e-9 * float(dataset.kinetic_energy.max()):
        found.append("the impact law created energy")
    return found
