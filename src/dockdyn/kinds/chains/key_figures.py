"""The key figures of chains of masses on a line that collide, and of a probe and its latch."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import jax.numpy as jnp
from jaxtyping import Array

from dockdyn.contact.latch import OUT, Ramp
from dockdyn.impact.formulas.effective_mass import reduced
from dockdyn.integrate.solution import Solution
from dockdyn.kinds.chains.data import on_ramp, without_turning
from dockdyn.kinds.impact_prediction import FIGURES as PREDICTED
from dockdyn.mechanism.mechanism import Mechanism
from dockdyn.results.contact_figures import COMMON, figure, speed_margin
from dockdyn.results.key_figures import KeyFigure, LocatedFigures
from dockdyn.results.log_data import capture_data, ever_held, log_data, read_log
from dockdyn.results.outcome import outcome_left

# of these, a log tells the number, too: the normal is always the line
IN_LOGS = ("relative_velocity_before_m_s", "relative_velocity_after_m_s")
FOUR_MASS_FIGURES = (
    *COMMON,
    figure("effective_mass_ratio", "ratio of effective masses", source="run"),
    figure("restitution", "restitution of the contact's law", source="run"),
    *(replace(one, source="log", needs="") if one.name in IN_LOGS else one for one in PREDICTED),
    figure("first_order_correction_m_s", "first-order correction", "first_order_correction", source="run"),
)
LATCH_FIGURES = (
    *(one for one in COMMON if one.name != "capture_speed_margin_m_s"),
    KeyFigure("capture_speed_margin_m_s", "capture speed margin", speed_margin("latch_least_speed"), "run"),
    figure("minimum_velocity_m_s", "least speed that latches", "latch_least_speed", source="run"),
    figure("minimum_velocity_rigid_m_s", "least speed that latches rigid bodies", "latch_rigid_speed"),
    figure("greatest_travel_m", "how far the probe came into the latch", "greatest_travel", source="run"),
)


def _four_mass_data(model: Mechanism, solution: Solution) -> dict[str, Any]:
    """The data of a collision of chains from its log."""
    log = read_log(model, solution)
    relative = _relative(model, log.seen)
    return {
        **without_turning(log_data(log, solution, 0.0)),
        **outcome_left(log.acting(0.0), ever_held(log), log.at_end(), None),
        "episode_relative_before": jnp.where(log.began(), relative[:, None], jnp.nan),
        "episode_relative_after": log.after_contacts(relative, 0.0),
    }


def _relative(model: Mechanism, seen: dict[str, Any]) -> Array:
    """By how much (m/s) the centre of mass of the chaser is faster than that of the target, at each row."""
    count = model.groups[0].first + 1
    mass, speed = jnp.stack([body.mass for body in model.bodies]), seen["velocity"][:, :, 0]
    means = [speed[:, part] @ mass[part] / mass[part].sum() for part in (slice(count), slice(count, None))]
    return means[0] - means[1]


def _latch_data(model: Mechanism, solution: Solution) -> dict[str, Any]:
    """The data of a probe and its latch from the log of their run; the ramp counts as a contact."""
    log, (latch,) = read_log(model, solution), model.ramps
    seen = log.seen | on_ramp(log.seen)
    touching = ((seen["latch_mode"] != OUT) & log.valid)[:, None]
    log = log._replace(touching=touching, seated=jnp.zeros_like(touching), seen=seen)
    mass = jnp.stack([body.mass for body in model.bodies])
    ramp, count = latch.latch.entry, latch.first + 1
    assert isinstance(ramp, Ramp)
    needed = ramp.needed_speed(reduced(mass[:count].sum(), mass[count:].sum()))
    springs = bool(model.joint_names)  # without any, it does not turn again
    at_end = {"latch_travel": seen["latch_travel"][log.last], "latch_rate": seen["latch_rate"][log.last]}
    return {
        **without_turning(log_data(log, solution, 0.0)),
        **capture_data(log, seen["latch_rate"], jnp.full(seen["latch_rate"].shape, needed)),
        **outcome_left(log.acting(0.0) & springs, ever_held(log), at_end, ramp.length),
        "latch_rigid_speed": needed,
    }


FOUR_MASS = LocatedFigures(FOUR_MASS_FIGURES, _four_mass_data)
LATCH = LocatedFigures(LATCH_FIGURES, _latch_data)
