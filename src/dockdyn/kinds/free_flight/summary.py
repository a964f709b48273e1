"""The summary of two bodies in free flight."""

from __future__ import annotations

from typing import Any

import xarray as xr

from dockdyn.results.contact_summary import summarise_contacts
from dockdyn.results.energy_class import energy_summary
from dockdyn.results.key_figures import KeyFigure


def summarise_flight(dataset: xr.Dataset, figures: tuple[KeyFigure, ...]) -> dict[str, Any]:
    """The summary of a run with contacts, and what each of them did to the kinetic energy."""
    summary = summarise_contacts(dataset, figures)
    return summary | energy_summary(dataset, summary)
