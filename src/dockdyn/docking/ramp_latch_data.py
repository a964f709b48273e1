"""A latch behind a ramp in a run: travel of the probe, least speeds that latch, loads of the catch.

It is told where there is one such latch, as the speed at which the probe comes is against one ramp.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from dockdyn.contact.latch import HELD, ON_RAMP
from dockdyn.deferred import Array
from dockdyn.docking.latching import least_speed_of, rigid_speed
from dockdyn.integrate.model import State
from dockdyn.mechanism.mechanism import Mechanism
from dockdyn.results.capture_loads import CAPTURE, LOADS, capture_data, capture_loads
from dockdyn.results.contact_figures import stored_figure
from dockdyn.results.key_figures import KeyFigure
from dockdyn.results.log_data import Log
from dockdyn.results.plan import jit_once
from dockdyn.results.requirements import KNOWN
from dockdyn.results.run import Layout, Run, sampled_variables, scalar_variable, variables_of
from dockdyn.scenario.made import model_of
from dockdyn.trees import map_leaves

WITHOUT_TAKEN = ("latch_travel", "latch_rate", "latch_force", "hold_force")
SWING = "time within which every mode of the catch has swung once"
BEHIND = "latch_length"  # runs with one latch behind a ramp have it
SIMULATED = "latch_least_speed"  # and those where attempts take little time


def _speed_margin(data: Mapping[str, Any]) -> Any:  # noqa: ANN401, of NumPy or JAX
    """Return the speed at which the probe met the ramp above the least that latches rigid bodies."""
    return data["latch_entry_speed"] - data["latch_needed_speed"]


FIGURES: tuple[KeyFigure, ...] = (
    KeyFigure("latch.speed_margin_m_s", "capture speed margin", _speed_margin, needs=BEHIND),
    stored_figure("latch.entry_speed_m_s", "speed at the beginning of the ramp", "latch_entry_speed", needs=BEHIND),
    stored_figure("latch.least_speed_m_s", "least speed that latches", SIMULATED, source="run", needs=SIMULATED),
    stored_figure(
        "latch.least_speed_rigid_m_s", "least speed that latches rigid bodies", "latch_head_on_speed", needs=BEHIND
    ),
    stored_figure(
        "latch.impulse_along_N_s", "capture impulse along the docking axis", "capture_impulse_along", needs=BEHIND
    ),
    stored_figure(
        "latch.impulse_across_N_s", "capture impulse across the docking axis", "capture_impulse_across", needs=BEHIND
    ),
    stored_figure("latch.energy_loss_J", "energy lost in the capture", "capture_loss", needs=BEHIND),
    stored_figure(
        "latch.travel_m", "how far the probe came into the latch", "greatest_travel", source="run", needs=BEHIND
    ),
    *(stored_figure(name, words, variable, needs=variable) for variable, (_, words, name) in LOADS.items()),
    stored_figure(
        "peak_force_known",
        "whether the largest force is known",
        smooth=False,
        number=bool,
        needs="peak_force_known",
    ),
)
RAMP_VARIABLES: Layout = {
    "latch_travel": ((), "m", "travel of the probe along the docking axis since the ramp began"),
    "latch_rate": ((), "m/s", "rate of that travel"),
    "latch_force": (
        ("axis",),
        "N",
        "force of the latch's ramp on its first body where it is generated, before the delay, inertial",
    ),
    "hold_force": (("axis",), "N", "force by which the latch holds its first body, inertial"),
    "catch_taken": ((), "J", "energy that the capture has taken: in the catch's springs, by its dampers, or at once"),
    "catch_travel": ((), "m", "how far the catch has yielded"),
    "catch_moment": (("axis",), "N m", "moment about the striker by which the catch holds the first body, inertial"),
    "catch_stored": ((), "J", "energy in the catch"),
    "catch_dissipated": ((), "J", "energy that the catch's dampers have taken"),
}


def ramp_layout(content: Any) -> Layout:  # noqa: ANN401, of a mechanism
    """Return what a run with one latch behind a ramp may have over time; nothing where there is none, or several."""
    ramps = [one for one in content.latch if one.ramp is not None]
    if len(ramps) != 1:
        return {}
    told = ramps[0].rigid or ramps[0].tells_loads
    return RAMP_VARIABLES if told else {name: RAMP_VARIABLES[name] for name in WITHOUT_TAKEN}


def ramp_variables(content: Any, run: Run) -> dict[str, Any]:  # noqa: ANN401, of a mechanism
    """Return what the latch behind a ramp did and what it takes; nothing where there is none, or several."""
    if "latch_travel" not in run.log.seen or not run.watched:
        return {}
    model = model_of(content)
    if len(model.ramps) != 1:
        return {}
    latch, data = model.ramps[0].latch, _without_rigid_speed(model, run.log)
    needed, length = float(_rigid_latching_speed(content)), float(latch.entry.length)
    told = ramp_layout(content)
    found = variables_of(CAPTURE | LOADS | {KNOWN: ("1", "whether the largest force is known: 1 yes, 0 no")}, data)
    found |= sampled_variables({name: told[name] for name in told if name in run.sampled}, run)
    if latch.swing is not None:
        found |= {
            "catch_stroke": scalar_variable(run.log.seen["catch_stroke"][0], "m", "way that the catch can yield"),
            "catch_swing": scalar_variable(run.log.seen["catch_swing"][0], "s", SWING),
        }
    found |= {
        "latch_head_on_speed": scalar_variable(needed, "m/s", "least speed that latches two rigid bodies, head on"),
        BEHIND: scalar_variable(length, "m", "travel until the latch falls in"),
        "greatest_travel": scalar_variable(greatest_travel(model, run.log), "m", "how far the probe came in"),
    }
    if content.motion != "line":  # where attempts take as long as runs do
        return found
    entry = _ramp_entry(model, run)
    least = np.nan if entry is None else least_speed_of(content, entry)
    return found | {SIMULATED: scalar_variable(least, "m/s", "least speed that latches, simulated")}


def ramp_data(model: Mechanism, log: Log) -> dict[str, Any]:
    """Return the same of the log of a run, as far as it tells it."""
    if "latch_travel" not in log.seen or len(model.ramps) != 1:
        return {}
    found = {"latch_head_on_speed": rigid_speed(model), BEHIND: model.ramps[0].latch.entry.length}
    return _without_rigid_speed(model, log) | found


def _without_rigid_speed(model: Mechanism, log: Log) -> dict[str, Any]:
    """Return when and how the one latch behind a ramp was met and fell in, and the loads of its capture, as `capture_loads`:
    NaN of a rigid grip, of which they are not known, and nothing of one that does not tell them."""
    xp, latch = log.time.__array_namespace__(), model.ramps[0].latch
    found = capture_data(log, log.seen["latch_rate"], log.seen["latch_needed_speed"])
    del found["capture_time"]  # that of all latches
    if latch.rigid:
        held = (log.seen["latch_mode"] >= HELD) & log.valid
        return found | dict.fromkeys(LOADS, xp.asarray(xp.nan)) | {KNOWN: 1.0 - xp.any(held)}
    if latch.swing is None:
        return found
    watched = len(model.groups) + model.latch_sizes
    return found | capture_loads(log._replace(peaks=log.peaks[:, :watched]))


@jit_once
def _rigid_latching_speed(content: Any) -> Array:  # noqa: ANN401, of a mechanism
    """Return the least speed (m/s) that latches rigid bodies."""
    return rigid_speed(content.model())


def _ramp_entry(model: Mechanism, run: Run) -> State | None:
    """Return the state in which the probe came to the ramp for the first time; None where it did not."""
    (ramp,) = model.ramps
    stage = np.asarray(run.states.mode[len(model.groups) + ramp.number].stage)
    rows = np.flatnonzero(stage == ON_RAMP)
    if not len(rows):
        return None
    state: State = map_leaves(lambda leaf: np.asarray(leaf)[rows[0]], run.states)
    return state


def greatest_travel(model: Mechanism, log: Log) -> float:
    """Return the largest travel (m) of the one probe along its ramp, as watched along the steps of a run."""
    watched = log.peaks[1:, model.timed][log.valid[1:]]
    return float(np.max(watched, initial=float(log.seen["latch_travel"][0])))
