"""What was identified, in words and rows, and a planned sweep on the terminal."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from dockdyn.report.report import ReportBlock, Table, number_rows
from dockdyn.report.wording import NOTHING, format_significant
from dockdyn.studies.identification.contact import EXACT

METHODS = {"arx": "least squares", "iv": "instrumental variables", "oe": "output error"}


def plus_minus(value: float | None, deviation: float | None, digits: int = 5) -> str:
    """Return a number with its standard deviation, as far as it is known: 19990 ± 9.1; none below what numbers resolve."""
    if value is None:
        return NOTHING
    if not deviation:
        return format_significant(value, 7)
    if deviation <= EXACT * abs(value):
        return f"{format_significant(value, 7)} (to rounding)"
    places = max(0, 1 - math.floor(math.log10(deviation)))
    if places > 12 or abs(value) >= 1e6:
        return f"{format_significant(value, 7)} ± {format_significant(deviation, 2)}"
    return f"{value:.{min(places, 9)}f} ± {format_significant(deviation, 2)}"


def robot_verdict(answer: dict[str, Any]) -> str:
    """Return the robot in a sentence."""
    late, orders = answer["delay_samples"], answer["orders"]
    words = f"A robot of {orders[0]} poles and {len(answer['zeros'])} "
    words += "zero" if len(answer["zeros"]) == 1 else "zeros"
    if late:
        words += f", late by {late} {'sample' if late == 1 else 'samples'}"
    return f"{words}: explains {format_significant(answer['fit_percent'], 4)} % of the motion."


def format_root(values: list[float]) -> str:
    """Return a pole or a zero."""
    real, imaginary = values
    text = format_significant(real, 6) + (
        f" {'+' if imaginary >= 0 else '-'} {format_significant(abs(imaginary), 6)} i" if imaginary else ""
    )
    return text.replace("-", "−")


def pole_rows(poles: list[list[float]]) -> list[tuple[str, str, str]]:
    """Return poles (1/s) as frequency and damping, a pair in one row; real ones by their time constant."""
    rows: list[tuple[str, str, str]] = []
    for real, imaginary in poles:
        size, name = math.hypot(real, imaginary), f"pole {len(rows) + 1}"
        if imaginary > 0:
            damping = f"{format_significant(size / (2 * math.pi), 4)} Hz, damping {format_significant(-real / size, 3)}"
            rows.append((f"pair of poles {len(rows) + 1}", damping, ""))
        elif imaginary == 0 and real != 0:
            way = "decays" if real < 0 else "grows"
            rows.append((name, f"{way} within {format_significant(1e3 / size, 4)}", "ms"))
        elif imaginary == 0:
            rows.append((name, "integrates", ""))
    return rows


def _tests_in_words(answer: dict[str, Any]) -> list[tuple[str, str]]:
    """Return what the residuals say."""
    if answer["white"] is None:
        return [("residuals", "rounding errors only")]
    found = "no" if answer["white"] else "some"
    structure = f"{found} structure left in them (p = {format_significant(answer['white_probability'], 2)})"
    independent = (
        "independent of the command" if answer["independent_of_command"] else "depend on the command: raise the order"
    )
    return [("residuals over time", structure), ("residuals and command", independent)]


def robot_rows(answer: dict[str, Any]) -> list[tuple[str, str, str]]:
    """Return quantity, value, unit."""
    low, high = answer["excited_hz"]
    rms = ("residuals, root mean square", f"{answer['residual_rms_m']:.3g}", "m")
    rows = [
        ("samples", f"{answer['samples']}", ""),
        ("period", f"{answer['period_s']:.6g}", "s"),
        ("method", METHODS[answer["method"]], ""),
        ("orders", ", ".join(map(str, answer["orders"])), ""),
        ("dead time", f"{answer['dead_time_s']:.6g}", "s"),
    ]
    rows += [
        (f"a{i}", plus_minus(*both), "")
        for i, both in enumerate(zip(answer["a"], answer["a_deviation"], strict=True), 1)
    ]
    rows += [
        (f"b{i}", plus_minus(*both), "")
        for i, both in enumerate(zip(answer["b"], answer["b_deviation"], strict=True), 1)
    ]
    rows += pole_rows(answer["poles"])
    rows += [(f"zero {i}", format_root(values), "1/s") for i, values in enumerate(answer["zeros"], 1)]
    rows += [("gain at rest", plus_minus(answer["gain_at_rest"], answer["gain_at_rest_deviation"]), "")]
    if answer["phase_at_10_hz_deg"] is not None:
        rows.append(("phase at 10 Hz", format_significant(answer["phase_at_10_hz_deg"], 4), "deg"))
    rows += [
        ("excited", f"{format_significant(low, 3)} to {format_significant(high, 3)}", "Hz"),
        ("offset", f"{answer['offset_m']:.3g}", "m"),
        *([] if answer["white"] is None else [rms]),
        *((words, value, "") for words, value in _tests_in_words(answer)),
    ]
    if "validation_fit_percent" in answer:
        rows.append(("fit of the other log", format_significant(answer["validation_fit_percent"], 4), "%"))
    return rows


def contact_verdict(answer: dict[str, Any]) -> str:
    """Return the contact in a sentence."""
    stiffness, damping = format_significant(answer["stiffness_N_m"], 4), format_significant(answer["damping_N_s_m"], 3)
    words = f"A contact of {stiffness} N/m and {damping} N s/m, its force measured "
    words += f"{format_significant(1e3 * answer['delay_s'], 3)} ms late"
    if answer["restitution"] is not None:
        words += f"; the bounce showed a restitution of {format_significant(answer['restitution'], 4)}"
    return words + "."


def contact_rows(answer: dict[str, Any]) -> list[tuple[str, str, str]]:
    """Return quantity, value with its standard deviation, unit."""

    def told(words: str, key: str, unit: str, suffix: str) -> tuple[str, str, str]:
        return words, plus_minus(answer[f"{key}{suffix}"], answer[f"{key}_deviation{suffix}"]), unit

    return [
        ("samples in contact", f"{answer['samples_in_contact']}", ""),
        told("stiffness", "stiffness", "N/m", "_N_m"),
        told("damping", "damping", "N s/m", "_N_s_m"),
        told("delay of the force", "delay", "s", "_s"),
        told("restitution", "restitution", "", ""),
        told("speed before", "speed_before", "m/s", "_m_s"),
        told("bias of the force", "force_bias", "N", "_N"),
        ("residuals, root mean square", f"{answer['force_noise_N']:.3g}", "N"),
        ("fit of the force", format_significant(answer["fit_percent"], 4), "%"),
    ]


def plan_lines(answer: dict[str, Any]) -> Iterator[str | ReportBlock]:
    """Yield what a planned sweep asks of the robot."""
    size, last = 1e3 * answer["largest_position_m"], 1e3 * answer["amplitude_at_end_m"]
    verdict = f"A sweep from {answer['from_hz']:g} to {answer['to_hz']:g} Hz in {answer['duration_s']:g} s, "
    verdict += f"{size:.4g} mm at most"
    yield verdict + (f" and {last:.4g} mm at its end." if last < 0.95 * size else ".")
    rows: list[tuple[str, float | None, str]] = [
        ("samples", answer["samples"], ""),
        ("largest speed", answer["largest_speed_m_s"], "m/s"),
        ("largest acceleration", answer["largest_acceleration_m_s2"], "m/s²"),
        ("ramp at either end", answer["ramp_s"] or None, "s"),
    ]
    if answer["joints"]:
        rows.append(("least singular value of the arm", answer["least_singular_value"], ""))
    yield ReportBlock(rows=number_rows(rows))
    if answer["joints"]:
        held = "its attitude held" if answer["attitude_held"] else "its attitude free: the joints are too few"
        yield f"{answer['tip']} of {answer['arm']}, {held}:"
        yield ReportBlock(table=_joints_table(answer["joints"]))


def _joints_table(joints: list[dict[str, Any]]) -> Table:
    """Return where each joint goes, and how fast; angles in degrees."""
    rows = []
    for joint in joints:
        turns = joint["unit"] == "rad"
        values = [(math.degrees(joint[key]) if turns else joint[key]) for key in ("from", "to", "largest_rate")]
        unit = "deg" if turns else "m"
        rows.append([joint["name"], *(f"{v:.4g} {unit}{'/s' if i == 2 else ''}" for i, v in enumerate(values))])
    return Table([("joint", ""), ("from", ""), ("to", ""), ("largest rate", "")], rows, worded={0})
