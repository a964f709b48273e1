"""The summary of two bodies in free flight."""

from __future__ import annotations

from typing import Any

import xarray as xr

from dockdyn.results.contact_summary import summarise_contacts
from dockdyn.results.measures import drift, kept, number

LOSSLESS = 1e-9  # share of the kinetic energy below which a change of energy counts as none


def summarise_flight(dataset: xr.Dataset) -> dict[str, Any]:
    """Contacts and their energies, errors of what is conserved, capture, control; keys carry their unit."""
    return summarise_contacts(dataset) | {"angular_momentum_error": turning_error(dataset)} | flight_energies(dataset)


def turning_error(dataset: xr.Dataset) -> float:
    """The error of angular momentum."""
    return float(drift(kept(dataset, "angular"), dataset.angular_momentum_scale))


def flight_energies(dataset: xr.Dataset) -> dict[str, Any]:
    """What each contact of two free bodies did to their kinetic energy."""
    start = float(dataset.kinetic_energy[0])
    energy = [number(value) for value in dataset.episode_energy.values]
    gains = [number(value) for value in dataset.episode_energy_gain.values]
    return {
        "kinetic_energy_end_J": float(dataset.kinetic_energy_end),
        "kinetic_energy_change_J": energy,
        "energy_class": [classify(gain, start, after) for gain, after in zip(gains, energy, strict=True)],
    }


def classify(gain: float | None, start: float, after: float | None) -> str | None:
    """A contact by the energy it added (Sazawal et al., after eq. 152); None while it is not over."""
    if gain is None or after is None:
        return None
    if abs(gain) <= LOSSLESS * max(start, start + after):
        return "lossless"
    return "passive" if gain < 0 else "active"
