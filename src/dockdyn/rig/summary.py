"""The summary of a run on a rig."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from typing import Any

import numpy as np

from dockdyn.dataset import Dataset
from dockdyn.hil.compensators import COMPENSATORS
from dockdyn.results.measures import finite_or_none
from dockdyn.rig.comparison.choice import CompensatorChoice, amplitude_errors, compensator_advice
from dockdyn.rig.limits import limit_warnings
from dockdyn.rig.measures import MeasuredMotion, motion_measures, recent_force, share_of, vector_size

CLOSE = 0.02  # error of amplitude or restitution that is taken for none
FORCED = 0.1  # error of the largest force that is told, as a share
DRIFTED = 0.1  # rad, likewise of the phase
TURNED = 3.1  # rad, rotation of the chaser seen from the target, near the half turn where its vector jumps
LASTING = 1e-8  # by which the spectral radius of a motion that neither grows nor fades is off 1: the root of round-off
OFF = 0.01  # a robot's gain at rest that is further from 1 is told
PARTS = {
    "delay": "the loop's delay",
    "sensor": "the sensor's delay",
    "sampling": "the sensor's period",
    "jitter": "jitter",
    "waiting": "commands that wait",
    "hold": "the hold",
    "robot": "the robot",
    "integrator": "the integrator",
}

# how far a rig is from the contact without rig: words, name in a summary, how many units are one of SI, unit
MEASURES = (
    ("amplitude, rig over that without rig", "amplitude_ratio", 1, ""),
    ("phase at the end, ahead of that without rig", "phase_error_rad", 1, "rad"),
    ("largest measured force", "peak_measured_force_N", 1, "N"),
    ("largest force on the model, rig less that without rig", "peak_force_error_N", 1, "N"),
    ("largest error of force at the end", "end_force_error_N", 1, "N"),
    ("largest error of velocity at the end", "end_velocity_error_m_s", 1e3, "mm/s"),
    ("speed at its last peak, rig over that without rig", "recovery_coefficient", 1, ""),
    ("restitution of the first bounce, rig", "apparent_restitution", 1, ""),
    ("restitution of the first bounce, without rig", "ideal_restitution", 1, ""),
    ("kinetic energy at the end, rig less that without rig", "kinetic_energy_error_J", 1, "J"),
)


def summarise_rig(dataset: Dataset) -> dict[str, Any]:
    """Return how far the rig is from the contact without rig, where its delay comes from, and what would serve."""
    judged = json.loads(dataset.attrs["judgement"])
    budget = {part: 1e3 * late for part, late in judged["delay_budget"].items()}
    lowest, highest = judged["gains"] or (None, None)
    end = {name: float(dataset[name][-1]) for name in ("kinetic_energy", "ideal_kinetic_energy")}
    summary = {
        "setup": dataset.attrs["setup"],
        "title": dataset.attrs["title"],
        "status": dataset.attrs["status"],
        "contacts": [],
        "impacts": [],
        "compensator": str(dataset.attrs["compensator"]),
        "peak_measured_force_N": finite_or_none(vector_size(dataset.measured_force.values).max()),
        **{name: finite_or_none(value) for name, value in measures_of(dataset).items()},
        **_error_measures(measures_of(dataset)),
        "spectral_radius": finite_or_none(dataset.attrs["spectral_radius"]),
        "amplitude_bound": judged["amplitude_bound"],
        "stiffness_N_m": float(dataset.attrs["stiffness_N_m"]),
        "effective_mass_kg": float(dataset.attrs["mass_kg"]),
        "gain_lowest_N_s_m": lowest,
        "gain_highest_N_s_m": highest,
        "gain_range_stable": judged["stable"],
        "delay_budget_ms": budget,
        "delay_total_ms": sum(budget.values()),
        "delay_restitution": judged["delay_restitution"],
        "sensor_error_N": judged.get("sensor_error_N"),
        "kinetic_energy_start_J": float(dataset.kinetic_energy[0]),
        "kinetic_energy_error_J": end["kinetic_energy"] - end["ideal_kinetic_energy"],
    }
    return summary | {
        "recommendation": recommend_compensator(dataset, summary),
        "warnings": rig_warnings(dataset, summary, judged),
        "integrator": dataset.attrs["integrator"],
        "step_s": float(dataset.attrs["step_s"]),
        "steps": int(dataset.attrs["steps"]),
        "end_time_s": float(dataset.time[-1]),
        "wall_time_s": float(dataset.attrs["wall_time_s"]),
    }


def measured_motions(dataset: Dataset) -> tuple[MeasuredMotion, MeasuredMotion]:
    """Return the motion without rig, and the rig's."""
    names = ("ideal_position", "ideal_velocity", "ideal_force"), ("position", "velocity", "total_force")
    ideal, rig = (MeasuredMotion(*(dataset[name].values for name in three)) for three in names)
    late = json.loads(dataset.attrs.get("judgement", "{}")).get("latest_s")
    if late is None or dataset.sizes["time"] < 2:
        return ideal, rig
    return ideal, replace(
        rig, contact=recent_force(dataset.contact_force.values, float(dataset.attrs["interval_s"]), late)
    )


def measures_of(dataset: Dataset) -> dict[str, Any]:
    """Return the measures of a run."""
    frequency = float(dataset.attrs["frequency_rad_s"])
    return motion_measures(dataset.time.values, *measured_motions(dataset), frequency, bool(dataset.attrs["bilateral"]))


def _error_measures(found: dict[str, Any]) -> dict[str, float | None]:
    """Return by how much the bounce and the amplitude are off, as a comparison counts it; None where one of both has none."""
    bounce = abs(found["apparent_restitution"] - found["ideal_restitution"])
    return {
        "restitution_error": finite_or_none(bounce),
        "amplitude_error": finite_or_none(float(amplitude_errors(np.asarray(found["amplitude_ratio"])))),
    }


def counting_error(summary: dict[str, Any]) -> tuple[str, float]:
    """Return the error that counts, in words, and as a share: of a bounce that ends, else of amplitude; NaN where there is
    neither."""
    ideal, apparent = summary["ideal_restitution"], summary["apparent_restitution"]
    if bounce_counts(summary):
        return f"a bounce shows restitution {apparent:.3f} instead of {ideal:.3f}", apparent / ideal - 1
    ratio = summary["amplitude_ratio"]
    if ratio is None:
        return "the motion cannot be compared", math.nan
    return f"at the end the amplitude is {ratio:.4g} times the true one", ratio - 1


def bounce_counts(summary: dict[str, Any]) -> bool:
    """Return whether the first bounce is what counts, and not the amplitude: of a contact that is left again."""
    bounces = summary["ideal_restitution"] and summary["apparent_restitution"] is not None
    return bool(summary["phase_error_rad"] is None and bounces)


def uncounted_errors(dataset: Dataset, summary: dict[str, Any]) -> dict[str, str]:
    """Return what is far off beside the error that counts, and by how much in words, the worst first: the largest force, and of
    what bounces the speed at the end, which has all later bounces in it."""
    shares = {"largest force": _peak_error(dataset, summary)}
    if bounce_counts(summary) and summary["amplitude_ratio"] is not None:
        shares["speed at the end"] = summary["amplitude_ratio"] - 1
    worst_first = sorted(shares.items(), key=lambda item: -abs(item[1]))
    return {
        name: f"{100 * abs(off):.2g} % too {'high' if off > 0 else 'low'}"
        for name, off in worst_first
        if abs(off) > FORCED
    }


def recommend_compensator(dataset: Dataset, summary: dict[str, Any]) -> str:
    """Return what the rig makes of the bounce, and which compensator is best on it: by a comparison, or how to get one."""
    law, drift = summary["compensator"], summary["phase_error_rad"]
    words, off = counting_error(summary)
    begin = "Without a compensator" if law == "none" else f"With {law}"
    if not abs(off) <= CLOSE:  # or not known
        said = f"{begin} {words}."
    elif drift is not None and abs(drift) > DRIFTED:
        said = (
            f"{begin} the amplitude is right and the phase {drift:.2g} rad off, which only leads of the command mend."
        )
    else:
        off_beside = uncounted_errors(dataset, summary)
        what = "this run" if not off_beside else "the first bounce" if bounce_counts(summary) else "the amplitude"
        said = f"{begin} {what} is within {100 * CLOSE:g} % of the contact without rig, at this one stiffness."
        if off_beside:
            said += f" But its {', its '.join(f'{name} is {words}' for name, words in off_beside.items())}."
    return f"{said} {_best_here(dataset)}".strip()


def _peak_error(dataset: Dataset, summary: dict[str, Any]) -> float:
    """Return by what share the largest force is off, beyond the sensor's own error; 0 where nothing touches."""
    largest, off = float(vector_size(dataset.ideal_force.values).max()), summary["peak_force_error_N"]
    return float(share_of(off, largest)) if largest > 0 and abs(off) > (summary["sensor_error_N"] or 0.0) else 0.0


def _best_here(dataset: Dataset) -> str:
    """Return the advice of the last comparison of this rig; without one, where to get it. Empty where none can be made."""
    found = json.loads(dataset.attrs["comparison"])
    if found is not None:
        choice = CompensatorChoice.of_answer(found["choice"])
        others = [law for law, made in COMPENSATORS.items() if not made.oracle and choice.known(law) is None]
        more = f" Not compared: {', '.join(others)}." if others else ""
        return compensator_advice(choice, found["own"]) + more
    if not json.loads(dataset.attrs["judgement"])["comparable"]:
        return ""
    return "Which compensator is best on this rig: dockdyn compare, over the stiffnesses that it may meet."


def describe_instability(dataset: Dataset, summary: dict[str, Any]) -> str:
    """Return that the loop of a run is unstable, in words; empty where it is not, or where small motions alone do not say
    it."""
    if _motion_grows(summary) and not facts_of_run(dataset).get("beyond_small"):
        return "the loop is unstable"
    return "the loop is unstable at a gain that the run visits" if _unstable_gains(summary, "exact") else ""


def facts_of_run(dataset: Dataset) -> dict[str, Any]:
    """Return what the compensator of a run says of itself, `facts_of`; empty without a compensator."""
    return json.loads(dataset.attrs["compensator_law"]) or {}


def _motion_grows(summary: dict[str, Any]) -> bool:
    """Return whether a small motion in contact grows from cycle to cycle."""
    radius = summary["spectral_radius"]
    return radius is not None and radius > 1 + LASTING


def _unstable_gains(summary: dict[str, Any], way: str) -> list[float]:
    """Return those of the ends of the gains visited (N s/m) at which the loop is unstable, judged in one of the ways."""
    stable = (summary["gain_range_stable"] or {}).get(way) or []
    gains = summary["gain_lowest_N_s_m"], summary["gain_highest_N_s_m"]
    return list(dict.fromkeys(gain for gain, good in zip(gains, stable, strict=False) if not good))


def rig_warnings(dataset: Dataset, summary: dict[str, Any], judged: dict[str, Any]) -> list[str]:
    """Return what the reader should know before trusting the numbers."""
    found = [] if dataset.attrs["finished"] else [str(dataset.attrs["status"])]
    found += [line for line in str(dataset.attrs.get("prediction", "")).splitlines() if line]
    if judged["robot_gain"] is not None and not abs(judged["robot_gain"] - 1) < OFF:
        found.append(f"the robot's gain at rest is {judged['robot_gain']:g}, not 1: it does not go where it is told")
    found += limit_warnings(json.loads(dataset.attrs.get("limits_reached", "{}")))
    told = judged.get("aliasing"), judged.get("undamped"), _latch_remark(judged.get("latches", []))
    found += [words for words in told if words]
    if not np.any(dataset.ideal_force.values):
        found.append("no contact within the duration: there is nothing to compare")
    if "model_pose" in dataset and np.linalg.norm(dataset.model_pose.values[:, 3:], axis=1).max() > TURNED:
        found.append(
            "the bodies turn by half a turn against each other: there the robot's axes jump, a rig cannot follow"
        )
    if float(dataset.time[-1]) * float(dataset.attrs["frequency_rad_s"]) < 2 * np.pi and dataset.attrs["bilateral"]:
        found.append("the run is shorter than an oscillation: its amplitude at the end says nothing")
    bound = summary["amplitude_bound"]
    if bound is not None and _motion_grows(summary):
        but = f", but for what {summary['compensator']} takes back" if facts_of_run(dataset).get("beyond_small") else ""
        words = f"amplitudes can grow within the run to {bound:.4g} times what they were{but}"
        found.append(f"the loop is unstable: in contact, {words}")
    for way, words in (("exact", "the loop is unstable"), ("routh", "Routh's table calls the loop unstable")):
        gains = _unstable_gains(summary, way)
        found += [f"{words} at a gain of {gain:.5g} N s/m, which the run visits" for gain in gains]
    if summary["compensator"] == "variable-gain":
        found.append("variable-gain sees the motion without rig (an oracle): it works in simulation only")
    return found


def _latch_remark(latches: list[str]) -> str:
    """Return that these latches act and that the figures of a rig tell nothing of them; empty without one."""
    if not latches:
        return ""
    several = len(latches) > 1
    return (
        f"{' and '.join(latches)} {'act' if several else 'acts'} in the run, but the figures of a rig tell nothing of capture: "
        "run the mechanism without [rig] for whether it is captured"
    )
