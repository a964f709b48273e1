"""Margins of one scenario: is its loop stable, by how much, and what decides it?"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from dockdyn.deferred import Array
from dockdyn.docking.operating_point import Judged, Nominal, later_sets
from dockdyn.docking.resting import (
    closed_contacts,
    motion_shares,
    names_of,
    nominal_place,
    of_whole_model,
    rest_remarks,
    seen_matrices,
    undamped_remark,
)
from dockdyn.mechanism.rest import RestingContact
from dockdyn.report.notebook import ShownAnswer
from dockdyn.results.plan import jit_once
from dockdyn.scenario.language.errors import ScenarioError
from dockdyn.scenario.load import Scenario, scenario_from
from dockdyn.scenario.sanity.check import check_numbers
from dockdyn.scenario.setups import setup_named
from dockdyn.scenario.tables.rig.compensators import WithVelocity
from dockdyn.scenario.tables.rig.loop import LoopSection, aliasing, loop_of
from dockdyn.stability.loop import Loop
from dockdyn.stability.loop_margins import (
    amplitude_ratio,
    gains_take_long,
    ideal_root,
    phase_error,
    restitution_of_loop,
    stabilising_gains,
    steady_state_error,
)
from dockdyn.stability.multirate import hyperperiod_of
from dockdyn.stability.sampled_loop import SampledLoop
from dockdyn.stability.windows import Windows
from dockdyn.studies.margins.approximation import left_out as left_out_by_pade
from dockdyn.studies.margins.approximation import pade_approximations
from dockdyn.studies.margins.derivatives import margin_sensitivities
from dockdyn.studies.margins.judged_loop import JudgedLoop, judge_loop, roots_with_delay
from dockdyn.studies.margins.wording import margins_verdict

OFF = 0.01  # a robot's gain at rest that is further from 1 is told


def margins(scenario: Scenario | str | Path) -> ShownAnswer:
    """Return the stability margins of a scenario's loop around its nominal contact.

    Returns a dictionary ready for JSON, which a notebook shows as a table; keys carry their units. `critical_delay_s` is the
    delay at which a stable loop becomes unstable, and that up to which an unstable one would be stable: 0 where it is
    unstable with the shortest delay already, None where no delay destabilises it. `delay_margin_s` is what may still be
    added, negative where the loop is unstable.

    A loop of which only a delay is stated is linearised from the model itself, both bodies and all contacts that are closed
    together; one with a hold, robot, sensor or digital dynamics is taken along the normal of one contact, with the effective
    mass found there, or, of a mechanism, with all that is behind the contacts that it measures. `later_sets` are the margins
    with the contacts that close while the first is still closed.

    Raises:
        ScenarioError: no contact at the nominal state, or one without stiffness; periods that never meet.
    """
    stated = scenario_from(scenario)
    tuned, untuned = _tuned_or_not(stated)
    judged = judge_loop(tuned)
    content, nominal, loop, found = judged.scenario.content, judged.nominal, judged.loop, judged.roots
    several, delay, stable = judged.several, judged.delay, judged.stable
    critical, doubts = critical_delay(found.windows, delay, stable)
    doubts += untuned
    slopes = margin_sensitivities(content, nominal, loop, critical)
    gains_found = None if several or gains_take_long(loop) else stabilising_gains(loop)
    if gains_found is None and not several:
        doubts.append(
            "the stabilising gains are left out: with a delay of so many hold periods they take long to compute"
        )
    own = judged.own_root()
    if own is None and not several and ideal_root(loop) is not None:
        doubts.append(_other_motion(loop, found.roots[0]))
    later = _margins_of_later_sets(judged.scenario, nominal, delay)
    if judged.scenario is not stated:
        doubts.append("the sensitivities are those of the loop with the compensator's tuned numbers held")
    doubts += slopes.doubts
    answer = {
        **_stability_figures(judged, critical),
        **_contact_figures(judged, own),
        "stabilising_gains_N_s_m": gains_found,
        "sensitivity_of": "growth_rate_1_s" if critical in (None, 0.0) else "delay_margin_s",
        "sensitivities": slopes.slopes,
        "loop": "sampled" if loop.sampled() else "delay",
        "counted": counted_parts(content, loop),
        "not_counted": (missing := not_counted(content.loop, loop)),
        "growth_rate_of_run_1_s": _growth_of_run(judged.scenario, missing),
        "pade": None if several else pade_approximations(content, loop, stable),
        "nominal": nominal_place(content, nominal),
        "closed_contacts": [] if not nominal.others else closed_contacts(content, nominal),
        "later_sets": later,
        "drift_modes": found.drift,
        "mode": _mode_of(content, nominal, found.roots[0], delay),
        "warnings": [*check_numbers(stated), *_warnings_of(judged, later), *doubts],
    }
    found = without_infinities(answer)
    return ShownAnswer(found).under(margins_verdict(found))


def _stability_figures(judged: JudgedLoop, critical: float | None) -> dict[str, Any]:
    """Return whether the loop is stable, its delays about the `critical` one (s), and its roots."""
    loop, found, delay = judged.loop, judged.roots, judged.delay
    return {
        "stable": judged.stable,
        "delay_margin_s": None if critical is None else critical - delay,
        "critical_delay_s": critical,
        "delay_s": delay,
        "stable_delays_s": [[low, high if np.isfinite(high) else None] for low, high in found.windows.stable],
        "growth_rate_1_s": judged.growth,
        "crossing_frequency_rad_s": next((w for h, w in found.windows.crossings if h == critical), None),
        "spectral_radius": SampledLoop(loop).spectral_radius() if loop.sampled() else None,
        "rightmost_roots": [[float(root.real), float(root.imag)] for root in found.roots if np.isfinite(root)],
    }


def _contact_figures(judged: JudgedLoop, own: complex | None) -> dict[str, Any]:
    """Return what the contact is to the loop, and how it swings there; `own` is the root (1/s) of its own motion."""
    loop, several = judged.loop, judged.several
    # axes across the normal are those of a docking axis
    contact = None if several or not np.isfinite(judged.contact.radius) else judged.contact
    return {
        "effective_mass_kg": float(loop.effective_mass),
        "stiffness_N_m": float(loop.stiffness),
        "damping_N_s_m": float(loop.damping),
        "contact_matrix": None if contact is None else contact.matrix.tolist(),
        **_dynamics_of(contact),
        "apparent_restitution": None if several else restitution_of_loop(loop),
        "amplitude_ratio_per_oscillation": amplitude_ratio(loop, own),
        "phase_error_rad_per_oscillation": phase_error(loop, own),
        "steady_state_force_error": steady_state_error(loop) if judged.stable and loop.behind is None else None,
    }


def _warnings_of(judged: JudgedLoop, later: list[dict[str, Any]]) -> list[str]:
    """Return what is to be known of the contacts that were taken, of the `later` sets and of the roots."""
    content, nominal = judged.scenario.content, judged.nominal
    return [
        *closed_together(content, nominal, judged.delay, judged.several),
        *(_later_words(content, nominal, one) for one in later),
        *_margin_remarks(content, judged.loop, nominal),
        *judged.roots.doubts,
    ]


def _tuned_or_not(stated: Scenario) -> tuple[Scenario, list[str]]:
    """Return the scenario with what its compensator leaves to tuning; without, and why, where no numbers are found."""
    law = None if (loop := loop_of(stated.content)) is None else loop.compensator
    try:
        return setup_named(stated.setup).tuned(stated), []
    except ScenarioError as error:
        if law is None or not law.tuned():
            raise
        return stated, [str(error).removeprefix(f"{stated.name}: ")]


def _mode_of(content: Judged, nominal: Nominal, root: complex, delay: float) -> list[dict[str, Any]]:
    """Return which bodies move in the motion that decides; nothing where the loop is taken along a normal, or nothing moves."""
    if not of_whole_model(content, nominal) or not np.isfinite(root) or not abs(root):
        return []
    return motion_shares(content, nominal, root, delay)


@jit_once
def _dynamics_once(contact: RestingContact) -> dict[str, Array]:
    return {"normal": contact.normal(), "radial": contact.radial(), "tangential": contact.tangential()}


def _dynamics_of(contact: RestingContact | None) -> dict[str, list[float] | None]:
    """Return how a contact moves along its axes; None for none."""
    if contact is None:
        return dict.fromkeys(f"{axis}_dynamics" for axis in ("normal", "radial", "tangential"))
    return {f"{axis}_dynamics": np.asarray(found).tolist() for axis, found in _dynamics_once(contact).items()}


def _margins_of_set(content: Judged, nominal: Nominal, delay: float) -> dict[str, Any]:
    """Return the growth rate and delays of a set of closed contacts whose forces come a `delay` (s) late and nothing else
    does."""
    found = roots_with_delay(seen_matrices(content, nominal), delay)
    growth = float(found.roots[0].real)
    critical, _ = critical_delay(found.windows, delay, growth < 0)
    margin = None if critical is None else critical - delay
    names = {"contacts": names_of(content, nominal), "stable": growth < 0, "growth_rate_1_s": growth}
    return names | {"critical_delay_s": critical, "delay_margin_s": margin}


def _margins_of_later_sets(scenario: Scenario, nominal: Nominal, delay: float) -> list[dict[str, Any]]:
    """Return margins of the sets of contacts that close while the nominal ones are closed, with a `delay` (s) alone."""
    found = later_sets(scenario, nominal)
    return [{"after_s": one.after} | _margins_of_set(scenario.content, one.nominal, delay) for one in found]


def closed_together(content: Judged, nominal: Nominal, delay: float, all_count: bool) -> list[str]:
    """Return which contacts are closed together where the loop is linearised, and what that counts for, if `all_count` or
    one."""
    if not nominal.others:
        return []
    count, names = len(nominal.closed), names_of(content, nominal)
    words = f"{count} contacts are closed together ({', '.join(names)})"
    if all_count:
        words += ": all are linearised; effective mass, stiffness and damping are those of the first alone"
        each = zip(names, closed_contacts(content, nominal), strict=True)
        soft = [name for name, contact in each if not contact["stiffness_N_m"] > 0]
        return [words, *(f"{name} has no stiffness at the depth taken; state stability.depth" for name in soft)]
    every, one = (
        _margins_of_set(content, some, delay)["critical_delay_s"] for some in (nominal, nominal.without_others())
    )
    words += (
        f", and the loop is taken along the normal of {names[0]} alone; with a delay and nothing else the critical "
    )
    return [
        f"{words}delay is {_format_critical_delay(every)} with all of them and {_format_critical_delay(one)} with one"
    ]


def _later_words(content: Judged, nominal: Nominal, found: dict[str, Any]) -> str:
    """Return what a later set of closed contacts means for the loop."""
    own = names_of(content, nominal)
    new = [name for name in found["contacts"] if name not in own]
    still = [name for name in found["contacts"] if name in own]
    words = f"{' and '.join(new)} closed {1e3 * found['after_s']:.4g} ms after the first contact, while {' and '.join(still)} "
    words += f"{'is' if len(still) == 1 else 'are'} closed: with these {len(found['contacts'])} contacts and the delay alone "
    words += "the loop is stable" if found["stable"] else "the loop is unstable"
    if found["critical_delay_s"] is None:
        return words
    return f"{words}, the critical delay {_format_critical_delay(found['critical_delay_s'])}"


def _format_critical_delay(time: float | None) -> str:
    """Return a critical delay (s) in words; None where none that destabilises was found."""
    return "none found" if time is None else f"{1e3 * time:.4g} ms"


def critical_delay(windows: Windows, delay: float, stable: bool) -> tuple[float | None, list[str]]:
    """Return the delay (s) that ends the stable window with the loop's own `delay`, or the first one where that is unstable.

    None where the window has no end, or none up to where delays were looked at; zero where the loop is unstable from the
    shortest delay on. With it, what makes it doubtful.
    """
    if not stable:
        return min(windows.critical_delay, delay), []
    high = next((high for low, high in windows.stable if low <= delay < high), np.nan)
    if np.isnan(high) and delay < windows.longest:
        return delay, []  # on an edge, to rounding
    if np.isnan(high):
        return None, ["the loop's delay is longer than delays were looked at: what more it tolerates is not known"]
    crosses = any(edge == high for edge, _ in windows.crossings)
    if high == windows.longest and np.isfinite(high) and not crosses:
        words = f"delays were looked at up to {high:g} s only: the critical delay is longer, or there is none"
        return None, [f"{words}; to look further takes long"]
    return (high if np.isfinite(high) else None), []


def _other_motion(loop: Loop, root: complex) -> str:
    """Return that the root (1/s) which decides is not that of the contact's oscillation."""
    ideal = ideal_root(loop)
    assert ideal is not None
    words = f"the motion that decides ({root.real:.4g} 1/s, {abs(root.imag):.4g} rad/s) is not the oscillation of the contact "
    return words + f"({ideal.imag:.4g} rad/s), whose amplitude and phase errors are left out"


def counted_parts(content: Judged, loop: Loop) -> list[str]:
    """Return the parts of the loop that its margins are of."""
    law = content.loop.compensator
    parts = {
        "delay": float(loop.delay) > 0,
        "hold": loop.hold is not None,
        "sensor's period": loop.sensor_period is not None,
        "sensor's averaging": loop.sampled() and hyperperiod_of(loop).averages,
        f"{loop.dynamics} dynamics": loop.dynamics != "continuous",
        "robot": loop.robot is not None,
        "commands that wait": loop.applies_after > 0,
        "tool's inertia": loop.tool_mass is not None,
        "virtual contact": bool(float(loop.virtual_stiffness) or float(loop.virtual_damping)),
    }
    if law is not None:
        parts[f"compensator ({law.law})"] = law.made.in_margins and not law.tuned()
    return [part for part, there in parts.items() if there]


def without_infinities(data: Any) -> Any:  # noqa: ANN401, what JSON holds
    """Return `data` with None for every number that is not finite: JSON has no others."""
    if isinstance(data, dict):
        return {key: without_infinities(value) for key, value in data.items()}
    if isinstance(data, list):
        return [without_infinities(value) for value in data]
    return None if isinstance(data, float) and not np.isfinite(data) else data


def _margin_remarks(content: Judged, loop: Loop, nominal: Nominal) -> list[str]:
    """Return what a reader of the margins should know."""
    setup = setup_named(content.setup)
    found = setup.left_out_of_margins(content)
    found += rest_remarks(content, nominal)
    felt = [loop.damping] if not nominal.others else [one["damping_N_s_m"] for one in closed_contacts(content, nominal)]
    undamped = (undamped_remark(content, *one) for one in zip(nominal.closed, map(float, felt), strict=True))
    found += filter(None, undamped)
    if content.loop.robot is not None and not abs((gain := content.loop.robot.transfer().dc_gain()) - 1) < OFF:
        found.append(f"the robot's gain at rest is {gain:g}, not 1: it does not go where it is told")
    normal = not nominal.others and loop.behind is None
    along = normal and (setup.along_normal or content.loop.beyond_delay())
    if along and len(content.contact) > 1:
        found.append("several contacts are possible; the loop is taken along the normal of the nominal one alone")
    found += left_out(content.loop, loop)
    if parts := left_out_by_pade(loop):
        found.append(f"the Padé approximations leave out {' and '.join(parts)}")
    return found


def not_counted(section: LoopSection, loop: Loop) -> list[str]:
    """Return what of the compensator is not in the margins, each in words; empty where the loop judged is the one that runs."""
    law = section.compensator
    if law is None:
        return []
    if not law.made.in_margins:
        return [f"its compensator ({law.law}), which margins cannot count"]
    if missing := law.tuned():
        return [
            f"its compensator ({law.law}), as {' and '.join(missing)} {'is' if len(missing) == 1 else 'are'} not stated"
        ]
    velocity = law.velocity if isinstance(law, WithVelocity) else "model"
    parts = {
        law.made.beside_small: bool(law.made.beside_small),
        "the inertia of its compensator": loop.behind is not None and bool(float(loop.inertia)),
        "the period of its compensator, which is taken to act continuously": law.period is not None
        and loop.dynamics == "continuous",
        "the lag of the estimated velocity": velocity not in ("model", "robot"),
    }
    return [part for part, there in parts.items() if there]


def _growth_of_run(scenario: Scenario, missing: list[str]) -> float | None:
    """Return the growth rate (1/s) of small motions with all of the compensator, where margins leave something of it out.

    None where nothing is missing, where small motions do not tell what the law does, and for a setup without a map of its run.
    """
    law = scenario.content.loop.compensator
    if not missing or law is None or law.made.beyond_small:
        return None
    return setup_named(scenario.setup).growth_of_small_motions(scenario)


def left_out(section: LoopSection, loop: Loop) -> list[str]:
    """Return what of `[loop]` margins do not count."""
    found = list(filter(None, [aliasing(loop)]))
    if parts := not_counted(section, loop):
        found.append(f"these margins leave out {' and '.join(parts)}")
    if section.sensor is not None and section.sensor.averaging is not None and not hyperperiod_of(loop).averages:
        found.append(
            "the force is taken as it is at an instant: the sensor's averaging is left out, not being its period"
        )
    return found
