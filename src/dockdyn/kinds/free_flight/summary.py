"""The summary of two bodies in free flight."""

from __future__ import annotations

from typing import Any

import xarray as xr

from dockdyn.results.contact_summary import summarise_contacts
from dockdyn.results.key_figures import KeyFigure
from dockdyn.results.measures import number

LOSSLESS = 1e-9  # share of the kinetic energy below which a change of energy counts as none


def summarise_flight(dataset: xr.Dataset, figures: tuple[KeyFigure, ...]) -> dict[str, Any]:
    """The summary of a run with contacts, and what each of them did to the kinetic energy."""
    return summarise_contacts(dataset, figures) | {"energy_class": _energy_classes(dataset)}


def _energy_classes(dataset: xr.Dataset) -> list[str | None]:
    """Whether each contact added energy, took some or neither."""
    start = float(dataset.kinetic_energy[0])
    both = zip(dataset.episode_energy_gain.values, dataset.episode_energy.values, strict=True)
    return [_classify(number(gain), start, number(after)) for gain, after in both]


def _classify(gain: float | None, start: float, after: float | None) -> str | None:
    """A contact by the energy it added (Sazawal et al., after eq. 152); None while it is not over."""
    if gain is None or after is None:
        return None
    if abs(gain) <= LOSSLESS * max(start, start + after):
        return "lossless"
    return "passive" if gain < 0 else "active"
