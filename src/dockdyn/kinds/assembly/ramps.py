"""What a run of an assembly with a latch behind a ramp tells: travel, speeds that it takes, what the capture had to take.

It is told where there is one such latch, as the speed at which the probe comes is against one ramp.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from dockdyn.contact.latch import ON_RAMP
from dockdyn.integrate.model import State
from dockdyn.kinds.latching import least_speed_of, rigid_speed
from dockdyn.mechanism.mechanism import Mechanism
from dockdyn.results.contact_figures import figure
from dockdyn.results.key_figures import KeyFigure
from dockdyn.results.log_data import Log, capture_data
from dockdyn.results.plan import jit_once
from dockdyn.results.run import Layout, Run, capture_variables, sampled_variables, scalar
from dockdyn.scenario.made import model_of

BEHIND = "latch_length"  # runs with one latch behind a ramp have it
SIMULATED = "latch_least_speed"  # and those where attempts take little time


def _margin(data: Mapping[str, Any]) -> Any:  # noqa: ANN401, of NumPy or JAX
    """Return the speed at which the probe met the ramp above the least that latches: the simulated one where it is known."""
    return data["latch_entry_speed"] - data[SIMULATED if SIMULATED in data else "latch_needed_speed"]


FIGURES: tuple[KeyFigure, ...] = (
    KeyFigure("capture_speed_margin_m_s", "capture speed margin", _margin, "run", needs=BEHIND),
    figure("latch_entry_speed_m_s", "speed at the beginning of the ramp", "latch_entry_speed", needs=BEHIND),
    figure("minimum_velocity_m_s", "least speed that latches", SIMULATED, source="run", needs=SIMULATED),
    figure("minimum_velocity_rigid_m_s", "least speed that latches rigid bodies", "latch_needed_speed", needs=BEHIND),
    figure(
        "capture_impulse_along_N_s", "capture impulse along the docking axis", "capture_impulse_along", needs=BEHIND
    ),
    figure(
        "capture_impulse_across_N_s", "capture impulse across the docking axis", "capture_impulse_across", needs=BEHIND
    ),
    figure("capture_energy_loss_J", "energy lost in the capture", "capture_loss", needs=BEHIND),
    figure("greatest_travel_m", "how far the probe came into the latch", "greatest_travel", source="run", needs=BEHIND),
)


def ramp_variables(content: Any, run: Run) -> dict[str, Any]:  # noqa: ANN401, of an assembly
    """Return what the latch behind a ramp did and what it takes; nothing where there is none, or several."""
    if "latch_travel" not in run.at_moments or not run.log:
        return {}
    model = model_of(content)
    if len(model.ramps) != 1:
        return {}
    needed, length = float(_rigid(content)), float(model.ramps[0].latch.entry.length)
    speed = run.at_moments["latch_rate"]
    found = capture_variables(run, speed, np.full(len(speed), needed))
    del found["capture_time"]  # that of all latches
    layout: Layout = {"latch_travel": ((), "m", "travel of the probe into the latch since the ramp began")}
    found |= sampled_variables(layout, run) | {
        "latch_needed_speed": scalar(needed, "m/s", "least speed that latches two rigid bodies, head on"),
        BEHIND: scalar(length, "m", "travel until the latch falls in"),
        "greatest_travel": scalar(greatest_travel(run), "m", "how far the probe came into the latch"),
    }
    if content.motion != "line":  # where attempts take as long as runs do
        return found
    entry = _entry(model, run)
    least = np.nan if entry is None else least_speed_of(content, entry)
    return found | {SIMULATED: scalar(least, "m/s", "least speed that latches, simulated")}


def ramp_data(model: Mechanism, log: Log) -> dict[str, Array]:
    """Return the same of the log of a run, as far as it tells it."""
    if "latch_travel" not in log.seen or len(model.ramps) != 1:
        return {}
    speed, needed = log.seen["latch_rate"], rigid_speed(model)
    found = capture_data(log, speed, jnp.full(speed.shape, needed))
    del found["capture_time"]
    (ramp,) = model.ramps
    return found | {"latch_needed_speed": needed, BEHIND: ramp.latch.entry.length}


@jit_once
def _rigid(content: Any) -> Array:  # noqa: ANN401, of an assembly
    """Return the least speed (m/s) that latches rigid bodies."""
    return rigid_speed(content.model())


def _entry(model: Mechanism, run: Run) -> State | None:
    """Return the state in which the probe came to the ramp for the first time; None where it did not."""
    (ramp,) = model.ramps
    stage = np.asarray(run.states.mode[len(model.groups) + ramp.number].stage)
    rows = np.flatnonzero(stage == ON_RAMP)
    if not len(rows):
        return None
    state: State = jax.tree.map(lambda leaf: np.asarray(leaf)[rows[0]], run.states)
    return state


def greatest_travel(run: Run) -> float:
    """Return the largest travel (m): that of the cubics through the samples' travels and their rates."""
    depth, rate, step = run.sampled["latch_travel"], run.sampled["latch_rate"], np.diff(run.time)
    turning = np.flatnonzero((rate[:-1] > 0) & (rate[1:] < 0))
    start, end, slope = rate[turning] * step[turning], rate[turning + 1] * step[turning], np.diff(depth)[turning]
    # the rate along the interval's share: start + second · share + third · share²
    second, third = 6 * slope - 4 * start - 2 * end, 3 * (start + end) - 6 * slope
    share = 2 * start / (-second + np.sqrt(second**2 - 4 * third * start))
    tops = depth[turning] + share * (start + share * (second / 2 + share * third / 3))
    return float(np.max(np.concatenate([depth, tops])))
