"""The summary of a run of the kind `berthing`."""

from __future__ import annotations

from typing import Any

import xarray as xr

from dockdyn.kinds.berthing.control import control_warnings, detumbling, settling
from dockdyn.results.linear_contact import ACCURACY, ENOUGH, FEW
from dockdyn.results.measures import drift, kept, number


def summarise_berthing(dataset: xr.Dataset) -> dict[str, Any]:
    """The impacts, peak deflections, settling, errors of conserved quantities."""
    energy = dataset.kinetic_energy + dataset.potential_energy - dataset.work - dataset.contact_work
    joined, controlled = bool(dataset.attrs["joined"]), bool(dataset.attrs["controlled"])
    peaks = dataset.tip_deflection.max("time")
    flexible = {str(m).split(".")[0] for m in dataset.mode.values}
    return {
        "kind": dataset.attrs["kind"],
        "title": dataset.attrs["title"],
        "status": dataset.attrs["status"],
        "contacts": [contact(dataset.isel(episode=i)) for i in range(dataset.sizes["episode"])],
        "impacts": impacts(dataset),
        "total_normal_impulse_N_s": float(dataset.impact_normal_impulse.sum() + dataset.episode_impulse.sum()),
        "captured": joined,
        "capture_time_s": 0.0 if joined else None,
        "peak_force_known": not dataset.sizes["impact"],
        "kinetic_energy_start_J": float(dataset.kinetic_energy[0]) + float(dataset.impact_energy_loss),
        "linear_momentum_error": float(drift(kept(dataset, "linear"), dataset.linear_momentum_scale)),
        "angular_momentum_error": float(drift(kept(dataset, "angular"), dataset.angular_momentum_scale)),
        "energy_error": float(abs(energy - energy[0]).max() / dataset.kinetic_energy.max())
        if dataset.attrs["undamped"]
        else None,
        "peak_tip_deflection_m": {str(n): float(peaks.sel(link=n)) for n in dataset.link.values if str(n) in flexible},
        "settling_time_s": settling(dataset) if controlled else None,
        **detumbling(dataset),
        "warnings": warnings(dataset),
        "integrator": dataset.attrs["integrator"],
        "stiffness": number(dataset.attrs["stiffness"]),
        "steps": int(dataset.attrs["steps"]),
        "end_time_s": float(dataset.time[-1]),
        "wall_time_s": float(dataset.attrs["wall_time_s"]),
    }


def contact(one: xr.Dataset) -> dict[str, Any]:
    """A contact that lasted: compliant, or rest after impacts."""
    return {
        "onset_s": float(one.episode_onset),
        "release_s": number(one.episode_release),
        "approach_speed_m_s": float(one.episode_approach_speed),
        "peak_normal_force_N": float(one.episode_peak_force),
        "peak_time_s": number(one.episode_peak_time),
        "impulse_N_s": float(one.episode_impulse),
    }


def impacts(dataset: xr.Dataset) -> list[dict[str, Any]]:
    """All impacts; that at t = 0 says more of itself."""
    found = [impact(dataset.isel(impact=i)) for i in range(dataset.sizes["impact"])]
    if found:
        found[0] |= {
            "energy_loss_J": float(dataset.impact_energy_loss),
            "energy_created": bool(dataset.energy_created),
            "stick": bool(dataset.sticks),
            "normal_impulse_of_fewer_modes_N_s": number(dataset.impulse_of_fewer_modes[0])
            if "impulse_of_fewer_modes" in dataset
            else None,
            "restitution": {name: number(dataset[name]) for name in ("newton", "poisson", "energetic")},
        }
    return found


def impact(one: xr.Dataset) -> dict[str, Any]:
    after = {
        f"{prefix}{name}": float(value)
        for prefix, names, values in (
            ("", one.coordinate, one.impact_coordinate_rate),
            ("target.", one.target_coordinate, one.impact_target_coordinate_rate),
        )
        for name, value in zip(names.values, values.values, strict=True)
    }
    return {
        "time_s": float(one.impact_time),
        "law": str(one.attrs["law"]),
        "approach_speed_m_s": float(one.impact_approach_speed),
        "impulse_N_s": {
            "normal": float(one.impact_normal_impulse),
            "tangential": float(one.impact_tangential_impulse),
        },
        "energy_loss_J": float(one.impact_loss),
        "post_impact_velocities": after,
    }


def warnings(dataset: xr.Dataset) -> list[str]:
    """What the reader should know before trusting the numbers."""
    found = []
    if not dataset.attrs["finished"]:
        found.append(str(dataset.attrs["status"]))
    if bool(dataset.energy_created):
        found.append("the impact law created energy")
    if "impulse_of_fewer_modes" in dataset:
        now, fewer = float(dataset.impulse[0]), float(dataset.impulse_of_fewer_modes[0])
        found.append(
            f"the impulse of a single impact of flexible links depends on the number of modes (flexible.modes): {now:.4g} N s "
            f"along the normal, {fewer:.4g} N s with one mode fewer"
        )
    if "mode_excess" in dataset and float(dataset.mode_excess) > FEW:
        found.append(
            f"the contact's first peak force is about {100 * float(dataset.mode_excess):.2g} % too large, as what it bends has "
            f"too few flexible.modes; state more, up to {ENOUGH} {ACCURACY}"
        )
    return found + control_warnings(dataset)
