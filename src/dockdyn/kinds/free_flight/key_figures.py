"""The key figures of free flight: what all runs with contacts have, energies, what control did."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp

from dockdyn.integrate.solution import Solution
from dockdyn.kinds.free_flight.data import conservative
from dockdyn.kinds.free_flight.model import FreeFlight
from dockdyn.kinds.free_flight.schema import FreeFlightSection
from dockdyn.results.capture_loads import capture_loads
from dockdyn.results.contact_figures import COMMON, figure
from dockdyn.results.key_figures import Data, KeyFigure, LocatedFigures
from dockdyn.results.log_data import capture_data, ever_held, log_data, outcome_data, read_log
from dockdyn.results.measures import Either


def _attitude_error_end(data: Data) -> Either:
    """The angle by which the chaser is off at the end."""
    return (data["attitude_error"][-1] ** 2).sum() ** 0.5


def _peak_wheel_momentum(data: Data) -> Either:
    """The largest angular momentum of the wheel along an axis."""
    return abs(data["wheel_momentum"]).max()


def _controlled(name: str, words: str, of: Callable[[Data], Either], where: str = "") -> KeyFigure:
    """A key figure of control, which only runs with control have."""
    return KeyFigure(name, words, of, "samples", needs="control_work", where=where)


CONTROL = (
    _controlled("control_work_J", "work of control", lambda data: data["control_work"][-1]),
    _controlled("attitude_error_end_rad", "attitude error at the end", _attitude_error_end, where="attitude-hold"),
    _controlled("peak_wheel_momentum_N_m_s", "peak wheel momentum", _peak_wheel_momentum),
    _controlled("thruster_use_N_s", "impulse of the thrusters", lambda data: data["thruster_use"][-1, 0]),
    KeyFigure(
        "thruster_pulses",
        "pulses of the thrusters",
        lambda data: data["thruster_pulses"][-1].sum(),
        "samples",
        smooth=False,
        number=int,
        needs="thruster_pulses",
    ),
    _controlled("thruster_use_N_m_s", "angular impulse of the thrusters", lambda data: data["thruster_use"][-1, 1]),
)
ENERGIES = (
    figure("kinetic_energy_end_J", "kinetic energy at the end", "kinetic_energy_end"),
    figure("kinetic_energy_change_J", "change of kinetic energy by a contact", "episode_energy", each=True),
)
FIGURES = (*COMMON, *CONTROL, *ENERGIES)


def _flight_data(model: FreeFlight, solution: Solution) -> dict[str, Any]:
    """The data of a run of free flight from its log."""
    log, delay = read_log(model, solution), 0.0 if model.delay is None else model.delay
    found = log_data(log, solution, delay)
    length = None
    if model.latch is not None:
        length, seen = model.latch.ramp.length, log.seen
        found |= capture_loads(jnp, log._asdict(), seen, seen["latch_mode"], log.time, log.last)
        found |= capture_data(log, seen["latch_rate"], seen["latch_needed_speed"])
    return found | outcome_data(log.acting(delay), ever_held(log), log.at_end(), length)


def stated(content: FreeFlightSection) -> dict[str, bool]:
    """What the scenario is, as far as figures depend on it."""
    holds = content.control is not None and content.control.law == "attitude-hold"
    return {"conservative": conservative(content), "undamped": True, "attitude-hold": holds}


FLIGHT = LocatedFigures(FIGURES, _flight_data, stated)
