"""SITS ("Stability Analysis and Delay Compensation for Space Instable Target Simulator"): its sections 2 and 3, recomputed.

Every number comes from the preset `sits`, Table 1 of the paper, with a robot that has all the properties the paper states.
Two loops stand side by side: the paper's idealisation, continuous dynamics with an exact hold and delay, and the same with
half a period T more of delay, which is what a digital integrator adds and what the printed gains fit.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from dockdyn.hil.tuning import matching_gain
from dockdyn.papers import reproduction
from dockdyn.papers.reproduction import Made, PaperPart, Progress
from dockdyn.papers.sits import identification as sits_identification
from dockdyn.papers.sits import pictures as sits_pictures
from dockdyn.papers.sits import simulation as sits_simulation
from dockdyn.papers.sits import tables as sits_tables
from dockdyn.papers.sits.rig import END, LOOPS, PRINTED_GAINS, STEP, loop_of, rig, root_of, with_gain
from dockdyn.papers.table import PaperTable, Row
from dockdyn.stability import (
    crossing_velocity,
    loop_polynomial,
    loop_roots,
    make_loop,
    routh_array,
    sampled_loop,
)
from dockdyn.stability.loop_margins import ideal_root, stabilising_gains, vary_number
from dockdyn.stability.sampled_loop import SampledLoop


def _delays_alone(progress: Progress) -> Made:
    """Return section 2: growth of the undamped loop with each delay alone."""
    r = rig()
    ideal = (r.mass, r.stiffness)
    exact = {
        "measurement delay": root_of(make_loop(*ideal, delay=r.delay)),
        "control cycle": root_of(make_loop(*ideal, hold=r.hold)),
        "response of the robot": root_of(make_loop(*ideal, robot=r.robot)),
    }
    printed = ("diverges, the fastest", "diverges, the second fastest", "diverges, the slowest")
    notes = ("", "With τ_s = T_c / 2 the two tie, to 5e-5.", "By the stand-in for the robot that is not printed.")
    rows = []
    for (name, root), words, note in zip(exact.items(), printed, notes, strict=True):
        rows.append(Row(f"{name} alone, growth rate", words, root.real, "1/s", note))
        rows.append(Row(f"{name} alone, frequency", None, root.imag, "rad/s"))
    for name, delay, hold in (("measurement delay", r.delay, 0.0), ("control cycle", 0.0, r.hold)):
        pade = loop_polynomial(r.mass, r.stiffness, 0.0, delay, hold, None, 1).roots(0.0)
        rows.append(Row(f"{name} alone, growth rate by Padé", None, float(pade.real.max()), "1/s"))
    speed = float(crossing_velocity(0.0, r.stiffness, r.mass))
    rows.append(Row("measurement delay, Re ds/dτ at τ = 0 (eq. 7)", "> 0", speed, "1/s²", "ω_n² / 2."))
    note = "A step is itself a hold, and half a step of integrator: a longer hold adds less to that than a delay does."
    for name, others in (
        ("neither", {}),
        ("measurement delay", {"delay": r.delay}),
        ("control cycle", {"hold": r.hold}),
    ):
        stepped = sampled_loop(*ideal, dynamics="half-period", dynamics_period=STEP, **others)
        rows.append(Row(f"in steps of 2 ms: {name}, growth rate", None, stepped.growth_rate(), "1/s", note))
        note = ""
        progress(len(rows) / 12)
    return None, rows


def _robot_alone(progress: Progress) -> Made:
    """Return section 5.2: what the paper says of the robot."""
    r = rig()
    hertz = np.linspace(0.01, 100, 100_000)
    gain = 20 * np.log10(np.abs(r.robot.at(2j * np.pi * hertz)))
    rows = [
        Row("poles", "2", len(r.robot.poles()), "1"),
        Row("zeros", "1", len(r.robot.zeros()), "1"),
        Row("phase at 10 Hz", "−2.87", float(np.degrees(np.angle(r.robot.at(20j * np.pi)))), "deg"),
        Row("highest gain", "rises, then falls", float(gain.max()), "dB"),
        Row("frequency of the highest gain", None, float(hertz[gain.argmax()]), "Hz"),
        Row("gain at rest", None, r.robot.dc_gain(), "1"),
        Row("delay at ω_n", None, 1e3 * r.robot_delay, "ms"),
        Row("real part of the poles", "< 0", float(r.robot.poles().real.max()), "1/s"),
    ]
    return None, rows


def characteristic(progress: Progress) -> Made:
    """Return section 3.3: characteristic polynomial, Routh's array, roots without compensation, steady-state error."""
    r = rig()
    rows = []
    for damping in (r.damping, 0.0):
        exact = root_of(loop_of({"contact.spring.normal.damping": damping}))
        pade = max(r.polynomial(damping).roots(0.0), key=lambda root: (root.real, root.imag))
        for way, root in (("Padé", pade), ("exact", exact)):
            name = f"no compensation, B = {damping:g} N s/m, {way}: rightmost root"
            rows += [
                Row(f"{name}, real part", "> 0", float(root.real), "1/s"),
                Row(f"{name}, imaginary part", None, abs(float(root.imag)), "rad/s"),
            ]
        progress(len(rows) / 10)
    general = r.polynomial(r.damping).at(0.0)
    ours, printed = r.coefficients(0.0), r.coefficients(0.0, printed=True)
    table = routh_array(general)
    words = {
        6: "m_c stands for m_e.",
        5: "m_c stands for m_e.",
        4: "“+ 4” is missing in the bracket; m_c stands for m_e.",
        2: "B_t and K_t mean B_tc and K_tc.",
        0: "T_c too much in all terms of K_R: the hold without 1 / T_c makes 80 N/m of 20 kN/m.",
    }
    for power, right, wrong in zip(range(6, -1, -1), ours, printed, strict=True):
        rows.append(Row(f"eq. 37, K_h = 0: a{power}", f"{wrong:.6g}", float(right), "SI", words.get(power, "")))
    error = float(np.abs(ours / general - 1).max())
    rows.append(Row("eq. 37 corrected against the general polynomial, largest relative difference", None, error, "1"))
    rows.append(Row("roots with positive real part, K_h = 0", "2", table.sign_changes, "1"))
    names = ("a6", "a5", "A1", "B1", "C1", "D1", "a0")
    gains = (0.0, *PRINTED_GAINS)
    columns = [routh_array(r.polynomial(r.damping).at(gain)).first_column for gain in gains]
    for gain, column in zip(gains, columns, strict=True):
        for name, value in zip(names, column, strict=True):
            if gain == 0 or name == "D1":
                wanted = "not all > 0" if gain == 0 else "> 0"
                rows.append(Row(f"eqs. 38–40, gain {gain:g} N s/m: {name}", wanted, float(value), "SI"))
    for name in LOOPS:
        error = SampledLoop(with_gain(name, PRINTED_GAINS[0])).steady_state_error()
        rows.append(Row(f"steady-state error (eqs. 41, 42), {name}, gain 110.86 N s/m", "0", error, "1"))
    return None, rows


def compensation(progress: Progress) -> Made:
    """Return stabilising gains, gains that match the contact alone, and the printed range of gains."""
    r = rig()
    rows = [*_intervals()]
    progress(0.4)
    loops = {name: loop_of(overrides) for name, overrides in LOOPS.items()}
    alone = ideal_root(loops["continuous"])
    assert alone is not None  # it oscillates
    matching = {name: matching_gain(loop) for name, loop in loops.items()}
    progress(0.6)
    notes = ("Not in the printed range.", "In the printed range: the paper's loop has the integrator's T/2.")
    for (name, gain), note in zip(matching.items(), notes, strict=True):
        rows.append(Row(f"gain that decays as the contact alone, {name}", "110.86 … 111.80", gain, "N s/m", note))
        drift = (root_of(with_gain(name, gain)).imag - alone.imag) * END
        rows.append(
            Row(f"phase drift at 60 s with it, {name}", None, drift, "rad", "No gain on the velocity removes it.")
        )
    for name in LOOPS:
        for gain in PRINTED_GAINS:
            root = root_of(with_gain(name, gain))
            label = f"gain {gain:.2f} N s/m, {name}"
            rows.append(Row(f"{label}: growth rate", "< 0", root.real, "1/s", "By the exact monodromy."))
            ratio = float(np.exp((root.real - alone.real) * END))
            rows.append(Row(f"{label}: amplitude at 60 s over that of the contact alone", None, ratio, "1"))
    for gain in PRINTED_GAINS:
        least = float(routh_array(r.polynomial(r.damping).at(gain)).first_column.min())
        rows.append(Row(f"gain {gain:.2f} N s/m, Padé: least of Routh's first column", "> 0", least, "SI"))
    gains = np.linspace(0, 150, 61)
    roots = {name: loop_roots(vary_number(loop, "gain", gains), 1)[:, 0] for name, loop in loops.items()}
    stable = {name: stabilising_gains(loop)[0][0] or 0.0 for name, loop in loops.items()}
    picture = sits_pictures.growth_and_roots(gains, roots, stable, matching, alone, PRINTED_GAINS)
    return picture, rows


def _intervals() -> Iterator[Row]:
    """Yield stabilising gains by Padé and exactly, and the rule of thumb."""
    r = rig()
    for damping in (0.0, r.damping):
        rule = r.stiffness * (r.delay + r.hold / 2 + r.robot_delay) - damping
        ways: dict[str, Any] = {"Padé": r.polynomial(damping).stabilising_gains()}
        for name, overrides in LOOPS.items():
            ways[f"exact, {name}"] = stabilising_gains(loop_of({**overrides, "contact.spring.normal.damping": damping}))
        for way, ((low, high),) in ways.items():
            note = (
                "K T / 2 = 20 N s/m more." if "T/2" in way else f"About K (τ_s + T_c / 2 + t_R) − B = {rule:.3f} N s/m."
            )
            yield Row(f"B = {damping:g} N s/m, {way}: smallest stabilising gain", None, low, "N s/m", note)
            yield Row(f"B = {damping:g} N s/m, {way}: largest stabilising gain", None, high, "N s/m")


STAND_IN = "The paper does not print its robot; the preset's has every property that it states."
SIGN = "A positive gain damps; the paper's K_h is its negative."

FIGURES: dict[int | str, PaperPart] = {
    "delays": PaperPart(
        "SITS, section 2 and Fig. 7: growth of the undamped loop under each delay alone",
        _delays_alone,
        "Growth rates of the rightmost root, exact unless said otherwise. The proof around eqs. 13–17 finds the spurious "
        "root s = 0 only; its conclusion, that any hold destabilises an undamped target, is true. The hold is "
        "(1 − exp(−s T_c))/(s T_c): eqs. 10, 12 and 22 lack the 1 / T_c.",
    ),
    "robot": PaperPart("SITS, section 5.2: the robot", _robot_alone, STAND_IN),
    "stability": PaperPart(
        "SITS, section 3.3: characteristic polynomial, Routh's array, steady-state error",
        characteristic,
        f"B = 50 N s/m unless said otherwise. {SIGN} Printed coefficients are eq. 37's with m_c = m_e. Padé: first order.",
    ),
    "gains": PaperPart(
        "SITS, section 5.3: damping gains that stabilise the loop, match the contact alone, and are printed",
        compensation,
        f"{SIGN} “Continuous”: exact hold and delay, continuous dynamics; “with T/2”: what is commanded is 1 ms older, as a "
        f"digital integrator of 2 ms makes it. {STAND_IN}",
    ),
    **sits_identification.FIGURES,
    **sits_simulation.FIGURES,
    **sits_tables.FIGURES,
}


def reproduce(figure: int | str | None, folder: Path, progress: Progress | None = None) -> list[PaperTable]:
    """Recompute one of `FIGURES`, or all when None: see `reproduction.reproduce`."""
    return reproduction.reproduce(FIGURES, figure, folder, progress)
