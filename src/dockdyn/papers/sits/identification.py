"""SITS, sections 3.2 and 5.2: the sweep that identifies the robot, its way through space, and what comes of it.

The paper prints neither its robot nor the rate of its sweep. The preset's robot has every property that it states; with
ω̄(t) rising to 10 Hz over the N_R = 1501 samples (20 Hz at the last instant) plain ARX recovers it, and is biased by noise
as much as is stated of it. The arm is a generic one: see `study.arm_path.generic_arm`.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from scipy.signal import cont2discrete, lfilter

from dockdyn.deferred import Float
from dockdyn.papers.reproduction import Made, PaperPart, Progress
from dockdyn.papers.sits.identification_pictures import identification_picture, line_picture, space_picture
from dockdyn.papers.sits.rig import rig
from dockdyn.papers.table import Row
from dockdyn.stability import discrete
from dockdyn.studies.identification.arm_path import Path, generic_arm, lead_tip
from dockdyn.studies.identification.output_error import DifferenceFit, Method, Orders, fit_difference_equation
from dockdyn.studies.identification.plan import SineSweep

PERIOD = 0.002  # T, s
AMPLITUDE = 0.025  # Ā_R, m
SAMPLES = 1501  # N_R
RISE = (0.0, 10.0)  # Hz, of ω̄_R(t); the frequency at an instant, the derivative of ω̄_R t, rises twice as far
ORDERS = Orders(2, 2)
NOISE = 1e-4  # m, of a measured position
SEEDS = 40
DIRECTION = np.array([1.0, 1.0, 1.0]) / np.sqrt(3)  # so that all axes of the arm move, as the paper wants
TEN_HZ = 20j * np.pi  # rad/s


class Experiment(NamedTuple):
    """The sweep and the robot's answer."""

    time: Float[np.ndarray, "n"]  # s
    command: Float[np.ndarray, "n"]  # m
    actual: Float[np.ndarray, "n"]  # m
    a: Float[np.ndarray, "2"]  # of the robot, exactly
    b: Float[np.ndarray, "2"]


@lru_cache(maxsize=1)
def _experiment() -> Experiment:
    """Return the commands of eq. 23, each held for a period, and where they bring the robot."""
    sweep = SineSweep(AMPLITUDE, RISE[0], 2 * RISE[1] - RISE[0], (SAMPLES - 1) * PERIOD)
    time, command = sweep.planned(PERIOD)
    top, bottom, _ = cont2discrete((rig().robot.numerator, rig().robot.denominator), PERIOD, method="zoh")
    top = np.ravel(top)
    return Experiment(time, command, lfilter(top, bottom, command), bottom[1:], top[1:])


@lru_cache(maxsize=1)
def _make_sweep() -> Path:
    """Return the sweep as the generic arm makes it."""
    made = _experiment()
    return lead_tip(generic_arm(), DIRECTION, made.command, made.time)


def phase(found: DifferenceFit) -> float:
    """Return that of the continuous robot at 10 Hz, deg."""
    transfer = discrete.continuous_equivalent(found.a.tolist(), found.b.tolist(), PERIOD)
    return float(np.degrees(np.angle(transfer.at(TEN_HZ))))


def line(progress: Progress) -> Made:
    """Return fig. 5: P₀ → P₁ → P₀ → P₂ → P₀ …"""
    made, path = _experiment(), _make_sweep()
    along = (path.tip - path.tip[0]) @ DIRECTION
    beside = np.linalg.norm(path.tip - path.tip[0] - np.outer(along, DIRECTION), axis=1)
    rows = [
        Row("samples", str(SAMPLES), len(made.time), "1"),
        Row("amplitude, P₀ to P₁ and to P₂", "0.025", float(np.abs(made.command).max()), "m"),
        Row("ω̄_R at the end", None, 2 * np.pi * RISE[1], "rad/s", "Not printed; the frequency there is twice that."),
        Row("speed at the start, Ā_R ω̄_R(0) (eq. 24)", None, AMPLITUDE * 2 * np.pi * RISE[0], "m/s"),
        Row("largest speed", None, float(np.abs(np.gradient(made.command, made.time)).max()), "m/s"),
        Row("distance of P_v from the line, largest", "0", float(beside.max()), "m", "By inverse kinematics, eq. 26."),
        Row("error along the line, largest", "0", float(np.abs(along - made.command).max()), "m"),
    ]
    return line_picture(made.time, made.command, along, beside), rows


def _space(progress: Progress) -> Made:
    """Return fig. 8: the way of P_v, and the joints that lead it."""
    made, path = _experiment(), _make_sweep()
    arm = generic_arm()
    rows = []
    for axis, name in enumerate("xyz"):
        low, high = path.tip[:, axis].min(), path.tip[:, axis].max()
        rows.append(Row(f"{name} of P_v, travel", None, float(high - low), "m"))
    for i, name in enumerate(arm.joints):
        rows.append(Row(f"travel of joint {name[1:]}", "moves", float(np.degrees(np.ptp(path.joints[:, i]))), "deg"))
    rates = np.abs(np.diff(path.joints, axis=0)) / PERIOD
    rows.append(Row("largest rate of a joint", None, float(np.degrees(rates.max())), "deg/s"))
    rows.append(Row("least singular value", None, float(path.manipulability.min()), "1", "Zero is singular."))
    return space_picture(made.time, path, arm.joints), rows


def identification(progress: Progress) -> Made:
    """Return fig. 9: the error of the identified trajectory, and the frequency response."""
    made = _experiment()
    clean = fit_difference_equation(made.command, made.actual, ORDERS, "arx")
    rows = []
    words = ("y(k−1)", "y(k−2)", "u(k−1)", "u(k−2)")
    for name, found, true in zip(words, [*clean.a, *clean.b], [*made.a, *made.b], strict=True):
        rows.append(Row(f"coefficient of {name}", None, float(found), "1", f"The robot's own: {true:.6f}."))
    error = float(np.abs(np.r_[clean.a - made.a, clean.b - made.b]).max())
    transfer = discrete.continuous_equivalent(clean.a.tolist(), clean.b.tolist(), PERIOD)
    rows += [
        Row("coefficients without noise, largest error", None, error, "1", "Rows from k = n_R + 1, without v_k."),
        Row("phase at 10 Hz, without noise", "−2.87", phase(clean), "deg"),
        Row("poles of the continuous robot, real part", "< 0", float(transfer.poles().real.max()), "1/s"),
        Row("trajectory error without noise, largest", None, float(np.abs(clean.residual).max()), "m"),
    ]
    rng = np.random.default_rng(0)
    phases: dict[Method, list[float]] = {"arx": [], "iv": [], "oe": []}
    noisy = made.actual
    for done in range(SEEDS):
        noisy = made.actual + NOISE * rng.standard_normal(SAMPLES)
        for method, found in phases.items():
            found.append(phase(fit_difference_equation(made.command, noisy, ORDERS, method)))
        progress((done + 1) / SEEDS)
    names = {"arx": "plain ARX", "iv": "instrumental variables", "oe": "output error"}
    for method, found in phases.items():
        note = "Biased by the noise." if method == "arx" else f"± {np.std(found) / np.sqrt(SEEDS):.2g}, of the mean."
        label = f"phase at 10 Hz with 0.1 mm of noise, {names[method]}, mean of {SEEDS}"
        rows.append(Row(label, "−2.87", float(np.mean(found)), "deg", note))
    last = fit_difference_equation(made.command, noisy, ORDERS)
    deviation = float(np.sqrt(last.variance))
    rows.append(Row("trajectory error with 0.1 mm of noise, root mean square", None, deviation, "m"))
    plain = fit_difference_equation(made.command, noisy, ORDERS, "arx")
    responses: dict[str, Any] = {
        "the robot": rig().robot,
        "output error": discrete.continuous_equivalent(last.a.tolist(), last.b.tolist(), PERIOD),
        "plain ARX": discrete.continuous_equivalent(plain.a.tolist(), plain.b.tolist(), PERIOD),
    }
    return identification_picture(made.time, clean.residual, last.residual, responses), rows


STAND_IN = (
    "The paper prints neither its robot nor ω̄_R(t): the robot is the preset's, and ω̄_R rises steadily from 0 to 10 Hz."
)
ARM = (
    "The arm stands in for the paper's: six joints with a spherical wrist, shoulder at 0.35 m and 0.75 m, upper arm 1.25 m, "
    "forearm 1.2 m, flange 0.2 m. The line is along (1, 1, 1), the attitude held."
)

FIGURES: dict[int | str, PaperPart] = {
    5: PaperPart("SITS, Fig. 5: the trajectory for the identification, P₀ → P₁ → P₀ → P₂", line, f"{STAND_IN} {ARM}"),
    8: PaperPart("SITS, Fig. 8: the trajectory of P_v in space, and the joints that lead it", _space, ARM),
    9: PaperPart(
        "SITS, Fig. 9: trajectory error of the identified robot, and its frequency response",
        identification,
        f"{STAND_IN} Eqs. 28–30 put the unknown error v_k into the regressor; it is left out. Noise is of the measured "
        "position, white.",
    ),
}
