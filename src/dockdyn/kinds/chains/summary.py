"""The summary of two chains of masses that meet, or of a probe and its latch, on a line."""

from __future__ import annotations

from typing import Any

import xarray as xr

from dockdyn.results.contact_summary import summarise_contacts
from dockdyn.results.measures import number


def summarise_chains(dataset: xr.Dataset) -> dict[str, Any]:
    """Contacts, relative velocities around them or what the latch needed, errors of what is conserved."""
    return summarise_contacts(dataset) | chain_velocities(dataset)


def chain_velocities(dataset: xr.Dataset) -> dict[str, Any]:
    """Relative velocity of the centres of mass of two chains, simulated and predicted, around each contact."""
    if "latch_rigid_speed" in dataset:
        return {
            "minimum_velocity_m_s": number(dataset.latch_least_speed),
            "minimum_velocity_rigid_m_s": float(dataset.latch_rigid_speed),
            "greatest_travel_m": float(dataset.greatest_travel),
        }
    return {
        "effective_mass_ratio": float(dataset.effective_mass_ratio),
        "restitution": number(dataset.restitution),
        **{
            f"relative_velocity_{when}_m_s": [number(value) for value in dataset[f"episode_relative_{when}"].values]
            for when in ("before", "after", "predicted")
        },
        "first_order_correction_m_s": number(dataset.first_order_correction),
    }
