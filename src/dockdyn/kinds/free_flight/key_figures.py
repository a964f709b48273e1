"""The key figures of free flight: what all runs with contacts have, energies, what control did."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

from dockdyn.integrate.solution import Solution
from dockdyn.kinds.free_flight.data import conservative
from dockdyn.kinds.free_flight.schema import FreeFlightSection
from dockdyn.kinds.impact_prediction import FIGURES as PREDICTED
from dockdyn.kinds.impact_prediction import relative_data
from dockdyn.mechanism.mechanism import Mechanism
from dockdyn.results.capture_loads import capture_loads
from dockdyn.results.contact_figures import COMMON, figure
from dockdyn.results.control.figures import CONTROL
from dockdyn.results.key_figures import LocatedFigures
from dockdyn.results.log_data import capture_data, ever_held, log_data, read_log
from dockdyn.results.outcome import outcome_left

ENERGIES = (
    figure("kinetic_energy_end_J", "kinetic energy at the end", "kinetic_energy_end"),
    figure("kinetic_energy_change_J", "change of kinetic energy by a contact", "episode_energy", each=True),
)
FIGURES = (*COMMON, *CONTROL, *ENERGIES, *PREDICTED)


def _flight_data(model: Mechanism, solution: Solution) -> dict[str, Any]:
    """The data of a run of free flight from its log."""
    log, delay = read_log(model, solution), 0.0 if model.delay is None else model.delay
    found = log_data(log, solution, delay)
    length = None
    for one in model.ramps:
        length, seen = one.latch.entry.length, log.seen
        found |= capture_loads(jnp, log._asdict(), seen, seen["latch_mode"], log.time, log.last)
        found |= capture_data(log, seen["latch_rate"], seen["latch_needed_speed"])
    found |= relative_data(model, solution, log, delay)
    return found | outcome_left(log.acting(delay), ever_held(log), log.at_end(), length)


def stated(content: FreeFlightSection) -> dict[str, bool]:
    """What the scenario is, as far as figures depend on it."""
    holds = content.control is not None and content.control.law == "attitude-hold"
    return {"conservative": conservative(content), "undamped": True, "attitude-hold": holds}


FLIGHT = LocatedFigures(FIGURES, _flight_data, stated)
