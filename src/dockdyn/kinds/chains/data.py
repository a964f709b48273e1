"""What a run of two chains of masses leaves: velocities of the systems, impacts with their prediction, the latch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from dockdyn.contact.latch import HELD, ON_RAMP, OUT
from dockdyn.impact.formulas.contact_duration import first_order_correction, validity_warnings
from dockdyn.impact.formulas.effective_mass import effective_masses
from dockdyn.integrate.model import State
from dockdyn.kinds.assembly.data import describe as describe_assembly
from dockdyn.kinds.chains.schema import FourMassSection, LatchSection, LineSection
from dockdyn.kinds.impact_prediction import law_restitution
from dockdyn.kinds.latching import least_speed_of
from dockdyn.results.episodes import SLACK, Moments, episodes
from dockdyn.results.measures import Either
from dockdyn.results.plan import jit_once
from dockdyn.results.run import (
    Described,
    Layout,
    Run,
    capture_variables,
    contact_variables,
    energies_after,
    episode_variable,
    forces_act,
    outcome_variables,
    sampled_variables,
    scalar,
)
from dockdyn.scenario.load import Scenario
from dockdyn.scenario.made import made, ramp_of

RAMP_VARIABLES: Layout = {
    "depth": (("contact",), "m", "travel of the probe into the latch"),
    "depth_rate": (("contact",), "m/s", "rate of that travel"),
    "normal_force": (
        ("contact",),
        "N",
        "force that pushes probe and latch apart, negative where it holds them together",
    ),
}


def describe(scenario: Scenario, run: Run) -> Described:
    """What a run of the kinds `four-mass` and `latch` leaves in its dataset: what its assembly does, and what is of a line."""
    content = scenario.content
    found = describe_assembly(replace(scenario, content=content.assembly()), run)
    lossless = not any(side.damping for side in (content.chaser, content.target))
    velocity = (("time", "system"), system_velocity(content, run.sampled), SPEED)
    variables = without_turning(found.variables) | {"system_velocity": velocity}
    coordinates = found.coordinates | {"system": ["chaser", "target"]}
    if scenario.kind == "latch":
        own = _latch_variables(scenario, run)
        variables = {name: one for name, one in variables.items() if not {"contact", "episode"} & set(one[0])} | own
        coordinates |= {"contact": [" on ".join(content.front())]}
        keeps = not content.latch.friction and not np.isfinite(own["capture_time"][1])
    else:
        variables |= _impact_variables(content)
        keeps = found_lossless(content)
    return replace(
        found,
        variables=variables,
        coordinates=coordinates,
        conservative=lossless and keeps,
        capture_law="plastic, locked",
        attributes={name: words for name, words in found.attributes.items() if name != "rigid_grips"},
    )


# of what moves in space: on a line it is nothing, or the same all the time
TURNING = (
    *("rotation", "rate", "azimuth", "sliding_speed", "contact_moment", "load_force", "load_moment", "joint_moment"),
    *("angular_momentum", "angular_momentum_scale"),
)
SPEED = {"units": "m/s", "long_name": "velocity of the centre of mass along the line"}


def without_turning(found: Mapping[str, Any]) -> dict[str, Any]:
    """What is known of a run, by name, without that of what turns."""
    return {name: value for name, value in found.items() if name not in TURNING}


def system_velocity(content: LineSection, seen: Mapping[str, Either]) -> Either:
    """Velocities (m/s) of the centres of mass of chaser and target, of what is observed of their masses."""
    velocity, count = seen["velocity"][:, :, 0], len(content.chaser.masses)
    xp = velocity.__array_namespace__()
    sides = (velocity[:, :count], content.chaser.masses), (velocity[:, count:], content.target.masses)
    return xp.stack([own @ xp.asarray(masses) / sum(masses) for own, masses in sides], axis=1)


def found_lossless(content: FourMassSection) -> bool:
    """Whether the law of the contact keeps energy."""
    return bool(made(content.contact.normal).lossless())


def _impact_variables(content: FourMassSection) -> dict[str, Any]:
    """What Paraskevas et al. say of the first impact of these masses, whether there is one or not."""
    chains, law = (content.chaser.masses, content.target.masses), content.contact.normal
    masses = effective_masses_of(*chains)
    restitution = law_restitution(law, float(masses.contact))
    return {
        "effective_mass_ratio": scalar(masses.contact / masses.system, "1", "ratio of effective masses"),
        "restitution": scalar(restitution, "1", "restitution of the contact's law"),
        "first_order_correction": scalar(
            correction(content), "m/s", "what finite stiffness adds to the velocity after the first impact"
        ),
    }


def correction(content: FourMassSection) -> float:
    """First-order correction (m/s) of the first impact; NaN unless nothing damps and the contact is linear."""
    law = content.contact.normal
    if law.law != "spring-dashpot" or law.damping or content.chaser.damping or content.target.damping:
        return np.nan
    chains = (content.chaser.masses, content.target.masses)
    inside = [side.stiffness or 0.0 for side in (content.chaser, content.target)]
    return float(_correction(*chains, content.speed, law.stiffness, *inside))


def impact_doubts(content: FourMassSection) -> list[str]:
    """Why the prediction by effective masses may fail."""
    law = content.contact.normal
    found = []
    if not np.isfinite(law_restitution(law, 1.0)):
        found.append(f"no formula gives the restitution of the law {law.law}: impacts are simulated, not predicted")
    if law.law == "spring-dashpot":
        chaser, target = content.chaser, content.target
        inside = (chaser.stiffness or 0.0, target.stiffness or 0.0)
        found += validity_warnings(chaser.masses, target.masses, law.stiffness, inside[0], inside[1], law.damping)
    return found


effective_masses_of = jit_once(effective_masses)
_correction = jit_once(first_order_correction)


def on_ramp(seen: Mapping[str, Either]) -> dict[str, Either]:
    """What is observed of a probe on the ramp, and in the latch, as of a contact: its travel is the depth."""
    force = -(seen["latch_force"] + seen["hold_force"])[:, :1]
    return {"depth": seen["latch_travel"][:, None], "depth_rate": seen["latch_rate"][:, None], "normal_force": force}


def _latch_variables(scenario: Scenario, run: Run) -> dict[str, Any]:
    """What the latch did, and what it takes; the ramp as a contact."""
    content, names = scenario.content, scenario.content.front()
    moments = run.at_moments | on_ramp(run.at_moments)
    touching = (moments["latch_mode"] != OUT)[:, None]
    peaks, peak_times, integrals = (run.log[name] for name in ("peaks", "peak_times", "integrals"))
    kept = Moments(run.moment_times, touching, peaks, peak_times, integrals, SLACK)
    run = replace(run, sampled=run.sampled | on_ramp(run.sampled), at_moments=moments, episodes=episodes(kept, 0.0))
    speed = moments["latch_rate"]
    needed, length = float(_rigid_speed(content)), ramp_of(content.latch).length
    captured = bool((moments["latch_mode"] == HELD).any())
    at_end = {name: moments[name][-1] for name in ("latch_travel", "latch_rate")}
    return {
        **sampled_variables(RAMP_VARIABLES, run),
        **contact_variables(run),
        **{
            f"episode_{key}": episode_variable(np.full(len(run.episodes), name), "1", f"mass of the {side}")
            for key, name, side in zip(("feature", "surface"), names, ("chaser", "target"), strict=True)
        },
        "episode_energy": episode_variable(energies_after(run)[0], "J", "energy after, relative to t = 0"),
        **outcome_variables(sprung(content) and forces_act(run, 0.0), captured, at_end, length),
        **capture_variables(run, speed, np.full(len(speed), needed)),
        "latch_rigid_speed": scalar(needed, "m/s", "least speed that latches two rigid bodies"),
        "latch_least_speed": scalar(
            least_speed_of(content, _at_ramp(content)), "m/s", "least speed that latches, simulated"
        ),
        "latch_length": scalar(length, "m", "travel until the latch falls in"),
        "greatest_travel": scalar(greatest(run), "m", "how far the probe came into the latch"),
    }


@jit_once
def _at_ramp(content: LatchSection) -> State:
    """Return the state in which the ramp begins: springs relaxed, whether the run comes to it or not."""
    model = content.model_copy(update={"gap": jnp.zeros(())}).model()
    x, (latch,) = model.initial(), model.ramps
    modes = list(x.mode)
    modes[latch.number] = modes[latch.number]._replace(stage=jnp.full_like(modes[latch.number].stage, ON_RAMP))
    return State(x.q, x.v, tuple(modes), x.memory)


@jit_once
def _rigid_speed(content: LatchSection) -> Array:
    """Return the least speed (m/s) that latches two rigid bodies."""
    return content.ramp().needed_speed(effective_masses(content.chaser.masses, content.target.masses).system)


def sprung(content: LineSection) -> bool:
    """Whether there are springs inside: without any, what comes out of the ramp does not turn again."""
    return any(side.stiffness is not None for side in (content.chaser, content.target))


def greatest(run: Run) -> float:
    """The largest depth (m): that of the cubics through the samples' depths and rates."""
    depth, rate, step = run.sampled["latch_travel"], run.sampled["latch_rate"], np.diff(run.time)
    turning = np.flatnonzero((rate[:-1] > 0) & (rate[1:] < 0))
    start, end, slope = rate[turning] * step[turning], rate[turning + 1] * step[turning], np.diff(depth)[turning]
    # the rate along the interval's share: start + second · share + third · share²
    second, third = 6 * slope - 4 * start - 2 * end, 3 * (start + end) - 6 * slope
    share = 2 * start / (-second + np.sqrt(second**2 - 4 * third * start))
    tops = depth[turning] + share * (start + share * (second / 2 + share * third / 3))
    return float(np.max(np.concatenate([depth, tops])))
