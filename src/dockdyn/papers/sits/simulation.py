"""SITS, section 5, in time: Figure 7 (each delay alone), 10 (differentiators), 11 to 16 (compensators)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import xarray as xr

from dockdyn.dataset import as_dataset
from dockdyn.deferred import jnp
from dockdyn.hil.compensators.linear import LinearCompensator
from dockdyn.hil.velocity_sources import ModelVelocity
from dockdyn.papers.reproduction import Made, PaperPart, Progress
from dockdyn.papers.sits import runs
from dockdyn.papers.sits import simulation_pictures as pictures
from dockdyn.papers.sits.delays import delays_in_time
from dockdyn.papers.sits.differentiator import differentiators
from dockdyn.papers.sits.outcomes import (
    MEASURES,
    after_switch,
    best_switch,
    error_of_phase_drift,
    improvement,
    overtakings,
    value,
)
from dockdyn.papers.sits.rig import END, LOOPS, PRINTED_GAINS, STEP, rig, root_of, with_gain
from dockdyn.papers.sits.runs import S1, SWITCHES, T2, largest_between, last_cycle, measure, run
from dockdyn.papers.table import Row
from dockdyn.rig.build import rig_of
from dockdyn.rig.resting import loop_of as loop_of_scenario
from dockdyn.rig.rig_theory import gains_visited
from dockdyn.rig.run import radius_of_cycle_map
from dockdyn.stability import routh_array

BEFORE = 36.0  # s, t_ε of Figs. 12 to 16
NAMES = ("FGC", "FGC of the printed e_R", "LGC", "SCVG", "SCVG as printed", "velocity and acceleration")
IN_S1 = ("FGC", "LGC", "SCVG", "velocity and acceleration")
SOURCES = (
    "FGC on the robot's velocity",
    "FGC on the robot's velocity, sampled",
    "FGC on the tracking differentiator's",
    "FGC on the differentiator's, straight lines",
)
PRINTED = {
    "e_V": {"FGC": "0.16", "FGC of the printed e_R": "0.16", "LGC": "0.23", "SCVG": "0.028"},
    "e_R": {"FGC": "1.0203", "FGC of the printed e_R": "1.0203", "LGC": "0.9756", "SCVG": "0.9995"},
    "e_F": {"FGC": "0.58", "FGC of the printed e_R": "0.58", "LGC": "0.77", "SCVG": "0.29 (0.09 in Fig. 11)"},
}
NO_ACCELERATION = "Printed of no such law: a gain on the acceleration, too, removes the phase drift."


def compare_loops(key: str) -> Iterator[Row]:
    """Yield rows of one measure at 60 s, in both loops."""
    unit = MEASURES[key][2]
    for loop, names in ((T2, NAMES), (S1, IN_S1)):
        for name in names:
            printed = PRINTED[key].get(name) if loop == T2 else None
            note = NO_ACCELERATION if name == IN_S1[-1] and loop == T2 else ""
            yield Row(f"{name}, {loop}: {key} at 60 s", printed, value(f"{name}, {loop}", key), unit, note)
    yield improvement(key)


def _switch_times(progress: Progress) -> Made:
    """Return figure 11."""
    rows, found = [], {}
    errors, drifts = {}, {}
    for time in SWITCHES:
        name = f"SCVG, t_ε = {time:g} s"
        found[name] = run(name)
        error, label = runs.force_error(found[name]), f"t_ε = {time:g} s"
        chosen = time == BEFORE
        note = "At t = 0, when no force has yet been measured and the gain alone acts." if chosen else ""
        most = "6.76" if chosen else None
        rows += [
            Row(f"{label}: largest e_F until t_ε", most, largest_between(found[name], error, 0, time), "N", note),
            Row(f"{label}: largest e_F from 1 s to t_ε", None, largest_between(found[name], error, 1, time), "N"),
            Row(
                f"{label}: largest e_F in the second after t_ε",
                None,
                largest_between(found[name], error, time, time + 1),
                "N",
            ),
        ]
        note = "0.29 N in Fig. 14 for the same quantity; 0.09 N fits the printed e_V and e_R." if chosen else ""
        least = "0.09" if chosen else "more than with 36 s"
        errors[time] = last_cycle(found[name], error)
        rows.append(Row(f"{label}: e_F at 60 s", least, errors[time], "N", note))
        drifts[time] = error_of_phase_drift(name, "e_F")
        rows.append(Row(f"{label}: e_F at 60 s of the phase drift alone", None, drifts[time], "N"))
        rows.append(Row(f"{label}: amplitude ratio at 60 s", None, measure(name)["amplitude_ratio"], "1"))
        progress(0.9 * len(errors) / len(SWITCHES))
    rows += [best_switch(errors, drifts), *after_switch()]
    for name in ("SCVG, continuous", "SCVG as printed, with T/2"):
        rows.append(Row(f"{name}, t_ε = 36 s: e_F at 60 s", None, value(name, "e_F"), "N"))
    coefficients = {name: runs.coefficients(each) for name, each in found.items()}
    return pictures.switch_times(found, coefficients), rows


def _velocity_errors(progress: Progress) -> Made:
    """Return figure 12."""
    rows = [*compare_loops("e_V")]
    progress(0.6)
    for name, printed in (("FGC of the printed e_R", "0.22"), ("LGC", "0.14")):
        found = run(f"{name}, {T2}")
        most = largest_between(found, runs.velocity_error(found), 1, BEFORE)
        rows.append(Row(f"{name}, {T2}: largest e_V from 1 s to 36 s", printed, most, "mm/s"))
    rows += overtakings()
    speed = abs(runs.axis(run(f"FGC, {T2}"), "ideal_velocity"))
    whole = 1e3 * last_cycle(run(f"FGC, {T2}"), speed)
    note = "What a motion of the right amplitude may have. All above drift more, whatever their gain."
    rows.append(Row("phase drift at 60 s that the printed 0.028 mm/s allows", None, 0.028 / whole, "rad", note))
    for name in NAMES:
        drift = measure(f"{name}, {T2}")["phase_error_rad"]
        rows.append(Row(f"{name}, {T2}: phase drift at 60 s", None, drift, "rad"))
    for name in SOURCES:
        gain = float(run(name).gain[-1])
        rows += [
            Row(f"{name}: gain that decays as the contact alone", "110.86 … 111.80", gain, "N s/m"),
            Row(f"{name}: phase drift at 60 s", None, measure(name)["phase_error_rad"], "rad"),
            Row(f"{name}: e_V at 60 s", "0.16", value(name, "e_V"), "mm/s"),
        ]
    return pictures.velocity_errors(_runs_in_pictures(), BEFORE), rows


def _runs_in_pictures() -> dict[str, xr.Dataset]:
    """Return the runs that pictures show."""
    return {
        name: run(f"{name}, {T2}") for name in ("FGC of the printed e_R", "LGC", "SCVG", "velocity and acceleration")
    }


def _recovery(progress: Progress) -> Made:
    """Return figure 13."""
    rows = [*compare_loops("e_R")]
    progress(0.6)
    _, series = runs.coefficients(run(f"SCVG, {T2}"))
    rows.append(Row(f"SCVG, {T2}: least e_R", "0.995", float(series.min()), "1"))
    rows.append(Row(f"SCVG, {T2}: largest e_R", "1.005", float(series.max()), "1"))
    for loop, names in ((T2, NAMES), (S1, IN_S1)):
        for name in names:
            found = measure(f"{name}, {loop}")
            rows.append(Row(f"{name}, {loop}: amplitude ratio at 60 s", None, found["amplitude_ratio"], "1"))
            cosine = float(np.cos(found["phase_error_rad"]))
            rows.append(
                Row(f"{name}, {loop}: cosine of the phase drift", None, cosine, "1", "e_R is about their product.")
            )
    ratio = np.log(value(f"FGC of the printed e_R, {T2}", "e_R") / value(f"LGC, {T2}", "e_R"))
    share = 2 * rig().mass * ratio / END / PRINTED_GAINS[0]
    note = "By exp(−Δg t / 2m): the printed ranking is one of tuning, ± 0.3 % of the gain."
    rows.append(Row("difference of the mean gains of FGC and LGC that makes their e_R", None, 100 * share, "%", note))
    return pictures.recovery(
        {name: runs.coefficients(found) for name, found in _runs_in_pictures().items()}, BEFORE
    ), rows


def _force_errors(progress: Progress) -> Made:
    """Return figure 14."""
    rows = [*compare_loops("e_F")]
    progress(0.6)
    rows.append(Row(f"no compensator, {T2}: e_F at 60 s", None, value(f"none, {T2}", "e_F"), "N"))
    r, found = rig(), run(f"FGC, {S1}")
    staircase = r.stiffness * last_cycle(found, runs.axis(found, "ideal_velocity")) * r.hold / 2
    note = "Not in e_F above, whose forces are means over 2 ms."
    rows.append(Row("staircase of the hold in the force at 60 s, K V T_c / 2", None, staircase, "N", note))
    return pictures.force_errors(_runs_in_pictures(), BEFORE), rows


def _energies(progress: Progress) -> Made:
    """Return figure 15."""
    rows, curves = [], {}
    cycle = 2 * np.pi / rig().frequency
    for name in (f"SCVG, {T2}", f"SCVG as printed, {T2}", "SCVG on the robot's velocity"):
        found = run(name)
        for words, force in runs.acting_forces(found).items():
            energy = runs.observed_energy(found, force)
            label = f"{name}, F_x {words}"
            if words == "the measured force" and "printed" not in name:
                curves[name] = (found.time.values, energy)
            rows += [
                Row(f"{label}: |ε_h| in the first cycle", "0.034", largest_between(found, energy, 0, cycle), "J"),
                Row(f"{label}: |ε_h| in the last cycle", "8.37e-4", last_cycle(found, energy), "J"),
            ]
    progress(0.8)
    found = run(f"SCVG, {T2}")
    whole = last_cycle(found, runs.axis(found, "ideal_force") * runs.axis(found, "ideal_position"))
    note = "From ε_h = K X² sin φ · sin(2 ω t + φ). The printed e_V of 0.028 mm/s allows 0.011 rad: the two figures disagree."
    rows.append(
        Row("phase drift φ that the printed 8.37e-4 J means", None, float(np.arcsin(8.37e-4 / whole)), "rad", note)
    )
    return pictures.energies(curves, BEFORE), rows


def growth(gain: float) -> float:
    """Return the growth rate (1/s) of the loop of the SCVG, with a fixed gain (N s/m) on the sampled velocity, by its
    monodromy."""
    scene = runs.scenario(f"FGC, {T2}")
    loop = loop_of_scenario(scene)
    made = rig_of(scene, loop, LinearCompensator.of(ModelVelocity(), gain=jnp.asarray(gain)), STEP)
    cycle = float(made.hold) * made.schedule.hyperperiod.holds
    return float(np.log(radius_of_cycle_map(made, loop)) / cycle)


def _gain_history(progress: Progress) -> Made:
    """Return figure 16."""
    rows = []
    names = (f"SCVG, {T2}", f"SCVG as printed, {T2}", "SCVG on the robot's velocity", f"SCVG, {S1}")
    ends: dict[str, tuple[float, float]] = {}
    for name in names:
        found = run(name)
        visited = gains_visited(as_dataset(found))
        assert visited is not None  # a gain acts
        ends[name] = (visited[0], visited[1])
        printed = (None, None) if name.endswith(S1) else tuple(f"{gain:.2f}" for gain in PRINTED_GAINS)
        for side, gain, words in zip(("C_l", "C_h"), ends[name], printed, strict=True):
            rows.append(Row(f"{name}: {side}", words, gain, "N s/m"))
        late = found.time.values > BEFORE
        jump = float(found.gain.values[late][0] - found.gain.values[~late][-1])
        rows.append(Row(f"{name}: jump of the gain at t_ε", "none" if name == names[0] else None, jump, "N s/m"))
    progress(0.5)
    tested = {"printed": PRINTED_GAINS, "visited by the SCVG": ends[names[0]], "as printed": ends[names[1]]}
    for words, gains in tested.items():
        for side, gain in zip(("C_l", "C_h"), gains, strict=True):
            rows += stable(f"{side} {words}, {gain:.2f} N s/m", gain)
    return pictures.gain_history({name: run(name) for name in names[:3]}, PRINTED_GAINS, BEFORE), rows


def stable(label: str, gain: float) -> Iterator[Row]:
    """Yield whether the loops are stable at a gain (N s/m): Routh's array of the Padé polynomial, and exactly."""
    least = float(routh_array(rig().polynomial(rig().damping).at(gain)).first_column.min())
    yield Row(f"{label}: least of Routh's first column (Padé)", "> 0", least, "SI")
    for name in LOOPS:
        rate = root_of(with_gain(name, gain)).real
        yield Row(f"{label}: growth rate on the robot's velocity, {name}, exact", "< 0", rate, "1/s")
    yield Row(f"{label}: growth rate on the sampled model's velocity, {T2}, exact", "< 0", growth(gain), "1/s")


COMMON = (
    "“With T/2”: the presets sits-fgc, sits-lgc and sits-scvg, whose command is 1 ms older, as a digital integrator of 2 ms "
    "makes it; their gains multiply the model's velocity, sampled at 2 ms. “Continuous”: the preset sits with the settings of "
    "its comparison. Errors at 60 s are the largest in the last cycle. FGC: fixed gain, 111.06 N s/m, which decays as the "
    "contact alone, and 110.62 N s/m, which gives the printed e_R; LGC: 110.86 N s/m + 0.017 N s/m per s; SCVG: the same until "
    "36 s, then 3 N s/m per J of the summed ε_h."
)
DRIFT = (
    "No gain on a velocity removes the phase drift of this loop, so the printed errors of 0.028 mm/s and 0.09 N are out of "
    "its reach, and what differs between the printed laws is the tuning of gains; one on the acceleration, too, gets there."
)

FIGURES: dict[int | str, PaperPart] = {
    7: PaperPart(
        "SITS, Fig. 7: velocity, force and power under each delay alone",
        delays_in_time,
        "B = 0, simulated for 20 s. Growth rates are those of the simulated motion beside the exact root. The paper finds the "
        "measurement delay worse than the control cycle because its step of 2 ms holds and integrates late itself.",
    ),
    10: PaperPart(
        "SITS, Fig. 10: velocity from the robot's noisy position",
        differentiators,
        "Noise of the position 10 µm, not printed. The recursion is the printed one, read before it is renewed. For motions of "
        "millimetres it stays in its linear zone: with p = T/h it is (z − 1)/T · p²/(z − 1 + p)², and r has no effect there. "
        "Its steady gain is 1; 2 h − T/2 of delay come on top of the loop's. “Straight lines”: the form that scenarios have, "
        "1/(1 + h s)² exact for a position that goes straight between instants, 2 h late: with half the h it lets through as "
        "much noise as the printed one and is 2.4 ms less late.",
    ),
    11: PaperPart("SITS, Fig. 11: error of the force for three switching times", _switch_times, f"{COMMON} {DRIFT}"),
    12: PaperPart("SITS, Fig. 12: error of the velocity", _velocity_errors, f"{COMMON} {DRIFT}"),
    13: PaperPart(
        "SITS, Fig. 13: recovery coefficient",
        _recovery,
        f"{COMMON} e_R mixes amplitude and phase: with a drift φ it is the amplitude ratio times cos φ.",
    ),
    14: PaperPart("SITS, Fig. 14: error of the force", _force_errors, f"{COMMON} {DRIFT}"),
    15: PaperPart(
        "SITS, Fig. 15: the observed energy",
        _energies,
        f"{COMMON} ε_h = E X − F_x X_R is an energy: the paper prints watts. It needs the motion without rig, so it exists in "
        "simulation only. The robot's velocity jumps at every command, and the damper's force with it: a sensor reads just "
        "before a command, the printed first cycle is nearer to the force just after.",
    ),
    16: PaperPart(
        "SITS, Fig. 16: the gain",
        _gain_history,
        f"{COMMON} A positive gain damps; the paper's K_h is its negative. As printed (eq. 46) the sum of ε_h since t = 0 "
        "takes the place of the ramp at t_ε, and the gain jumps. Each end is tested as a gain that stays.",
    ),
}
