"""What a run of two chains of masses leaves: velocities of the systems, impacts with their prediction, the latch."""

from __future__ import annotations

from typing import Any

import numpy as np
from jaxtyping import Array, Float

from dockdyn.contact.latch import HELD
from dockdyn.impact.formulas.contact_duration import (
    damping_ratio,
    first_order_correction,
    kelvin_voigt_restitution,
    validity_warnings,
)
from dockdyn.impact.formulas.effective_mass import Masses, chain_mass_ratio, effective_masses, velocity_after_impact
from dockdyn.integrate.model import Scalar
from dockdyn.kinds.chains.least_speed import least_latching_speed, rigid_speed
from dockdyn.kinds.chains.schema import FourMassSection
from dockdyn.report.sampled_surface import in_pieces
from dockdyn.results.plan import jit_once
from dockdyn.results.run import (
    Described,
    Layout,
    Run,
    capture_variables,
    contact_variables,
    episode_variable,
    forces_act,
    outcome_variables,
    sampled_variables,
    scalar,
)
from dockdyn.scenario.load import Scenario
from dockdyn.scenario.made import made, ramp_of

VARIABLES: Layout = {
    "position": (("mass",), "m", "position, from where the masses that meet just touch"),
    "velocity": (("mass",), "m/s", "velocity"),
    "system_velocity": (("system",), "m/s", "velocity of the centre of mass"),
    "internal_force": (("spring",), "N", "compression of the spring and damper inside"),
    "depth": (("contact",), "m", "penetration depth, positive is overlap"),
    "depth_rate": (("contact",), "m/s", "penetration rate"),
    "normal_force": (("contact",), "N", "force that pushes the masses that meet apart"),
    "kinetic_energy": ((), "J", "kinetic energy of all masses"),
    "internal_energy": ((), "J", "energy of the springs inside"),
    "work": ((), "J", "work of the contact force, losses of impacts included"),
    "linear_momentum": ((), "N s", "momentum of all masses"),
    "linear_momentum_scale": ((), "N s", "sum of the masses' momenta by magnitude"),
}


def describe(scenario: Scenario, run: Run) -> Described:
    """What a run of the kinds `four-mass` and `latch` leaves in its dataset."""
    content = scenario.content
    sides = {"chaser": content.chaser, "target": content.target}
    count = len(content.chaser.masses)
    coordinates = {
        "mass": [f"mass {n}" for n in range(1, count + len(content.target.masses) + 1)],
        "system": list(sides),
        "spring": [name for name, side in sides.items() if side.stiffness is not None],
        "contact": [f"mass {count} on mass {count + 1}"],
    }
    own = _latch_variables(scenario, run) if scenario.kind == "latch" else _impact_variables(content, run)
    undamped = not any(side.damping for side in sides.values())
    if scenario.kind == "latch":
        keeps = not content.latch.friction and not np.isfinite(own["capture_time"][1])
    else:
        keeps = made(content.contact.normal).lossless()
    kept = sampled_variables(VARIABLES, run)
    variables = {**kept, **contact_variables(run), **_energies(run, count), **_outcome(scenario, run), **own}
    return Described(variables, coordinates, undamped and keeps, undamped, "plastic, locked")


def _outcome(scenario: Scenario, run: Run) -> dict[str, Any]:
    """Whether the outcome is open at the end, and how long the mass in front would still take."""
    at_end = {name: run.at_moments[name][-1] for name in ("depth", "depth_rate")}
    if scenario.kind != "latch":
        return outcome_variables(forces_act(run, 0.0), False, at_end, None)
    captured = bool((run.at_moments["latch_mode"] == HELD).any())
    at_end = {"latch_travel": at_end["depth"], "latch_rate": at_end["depth_rate"]}
    springs = run.sampled["internal_force"].shape[1] > 0  # without any, what comes out of the ramp does not turn again
    return outcome_variables(springs and forces_act(run, 0.0), captured, at_end, ramp_of(scenario.content.latch).length)


def _energies(run: Run, count: int) -> dict[str, Any]:
    """What met what, and the energy of motion and springs after each contact."""
    energy = run.at_moments["kinetic_energy"] + run.at_moments["internal_energy"]
    after = [energy[e.settled_row] - energy[0] if e.settled_row >= 0 else np.nan for e in run.episodes]
    names = [np.full(len(run.episodes), f"mass {n}") for n in (count, count + 1)]
    return {
        "episode_feature": episode_variable(names[0], "1", "mass of the chaser"),
        "episode_surface": episode_variable(names[1], "1", "mass of the target"),
        "episode_energy": episode_variable(
            np.array(after, float), "J", "energy of motion and springs after, relative to t = 0"
        ),
    }


def _impact_variables(content: FourMassSection, run: Run) -> dict[str, Any]:
    """Relative velocities of the systems around each contact, and what eq. 16 says of it (Paraskevas et al.)."""
    speeds = run.at_moments["system_velocity"]
    relative = speeds[:, 0] - speeds[:, 1]
    before = np.array([relative[e.onset_row] for e in run.episodes], float)
    after = np.array([relative[e.settled_row] if e.settled_row >= 0 else np.nan for e in run.episodes], float)
    closing = np.array(run.at_onset("depth_rate"), float)
    chains = (content.chaser.masses, content.target.masses)
    restitution = _law_restitution(content)
    predicted = np.full(len(before), np.nan)
    meets = closing > 0  # all of them, but where a contact is shorter than the clock resolves
    if restitution is not None and meets.any():
        rows = (before[meets], (closing - before)[meets])
        predicted[meets] = in_pieces(lambda *rows: _predicted(*chains, restitution, *rows), *rows)
    variable = episode_variable
    words = "of the centres of mass"
    return {
        "episode_relative_before": variable(before, "m/s", f"relative velocity {words} at onset"),
        "episode_relative_after": variable(after, "m/s", f"relative velocity {words} at release"),
        "episode_relative_predicted": variable(
            predicted, "m/s", f"relative velocity {words} after, by effective masses"
        ),
        "effective_mass_ratio": scalar(_mass_ratio(*chains), "1", "ratio of effective masses"),
        "restitution": scalar(np.nan if restitution is None else restitution, "1", "restitution of the contact's law"),
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
    if _law_restitution(content) is None:
        found.append(f"no formula gives the restitution of the law {law.law}: impacts are simulated, not predicted")
    if law.law == "spring-dashpot":
        chaser, target = content.chaser, content.target
        inside = (chaser.stiffness or 0.0, target.stiffness or 0.0)
        found += validity_warnings(chaser.masses, target.masses, law.stiffness, inside[0], inside[1], law.damping)
    return found


def _law_restitution(content: FourMassSection) -> float | None:
    """Restitution e* of the contact's law between the two masses that meet; None where no formula gives it."""
    law = content.contact.normal
    if made(law).lossless():
        return 1.0
    if law.law != "spring-dashpot":
        return None
    return float(_dashpot_restitution(content))


_mass_ratio = jit_once(chain_mass_ratio)
_correction = jit_once(first_order_correction)


@jit_once
def _predicted(
    chaser: Masses,
    target: Masses,
    restitution: Scalar | float,
    speeds: Float[Array, "impacts"],
    internal_speeds: Float[Array, "impacts"],
) -> Float[Array, "impacts"]:
    """Relative velocities (m/s) of the systems after impacts."""
    return velocity_after_impact(chaser, target, speeds, restitution, internal_speeds).relative_velocity


@jit_once
def _dashpot_restitution(content: FourMassSection) -> Scalar:
    """Restitution of a spring and dashpot between the two masses that meet."""
    law = content.contact.normal
    mass = effective_masses(content.chaser.masses, content.target.masses).contact
    ratio = damping_ratio(law.damping, law.stiffness, mass)
    return kelvin_voigt_restitution(ratio, "zero-depth" if law.adhesion else "zero-force")


def _latch_variables(scenario: Scenario, run: Run) -> dict[str, Any]:
    """What the latch did, and what it takes."""
    content = scenario.content
    speed = run.at_moments["depth_rate"][:, 0]
    needed = float(rigid_speed(content))
    return {
        **capture_variables(run, speed, np.full(len(speed), needed)),
        "latch_rigid_speed": scalar(needed, "m/s", "least speed that latches two rigid bodies"),
        "latch_least_speed": scalar(least_latching_speed(scenario), "m/s", "least speed that latches, simulated"),
        "latch_length": scalar(ramp_of(content.latch).length, "m", "travel until the latch falls in"),
        "greatest_travel": scalar(greatest(run), "m", "how far the probe came into the latch"),
    }


def greatest(run: Run) -> float:
    """The largest depth (m): that of the cubics through the samples' depths and rates."""
    depth, rate, step = run.sampled["depth"][:, 0], run.sampled["depth_rate"][:, 0], np.diff(run.time)
    turning = np.flatnonzero((rate[:-1] > 0) & (rate[1:] < 0))
    start, end, slope = rate[turning] * step[turning], rate[turning + 1] * step[turning], np.diff(depth)[turning]
    # the rate along the interval's share: start + second · share + third · share²
    second, third = 6 * slope - 4 * start - 2 * end, 3 * (start + end) - 6 * slope
    share = 2 * start / (-second + np.sqrt(second**2 - 4 * third * start))
    tops = depth[turning] + share * (start + share * (second / 2 + share * third / 3))
    return float(np.max(np.concatenate([depth, tops])))
