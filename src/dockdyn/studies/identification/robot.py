"""The robot from a log of commanded and actual positions: orders, dead time, coefficients, and how far to trust them."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, get_args

import numpy as np
from threadpoolctl import threadpool_limits

from dockdyn.deferred import Complex, Float
from dockdyn.records import record
from dockdyn.results.exchange.log_file import SignalLog, period_from, read_log, refuse_saturated, sampling_period
from dockdyn.results.exchange.log_roles import OF_ROBOT
from dockdyn.scenario.language.errors import ScenarioError, shown
from dockdyn.scenario.language.given import path_from, whole_from, wrong_type
from dockdyn.stability import discrete
from dockdyn.stability.transfer_function import TransferFunction
from dockdyn.studies.identification.output_error import DifferenceFit, Method, Samples, fit_difference_equation
from dockdyn.studies.identification.residuals import ResidualTests, residual_tests
from dockdyn.studies.identification.robot_orders import (
    FARTHEST,
    Candidate,
    Records,
    candidate_orders,
    rounding_deviation,
)

ROUNDED = 1e-6  # the same: residuals that are rounding of the log, and tell nothing of the model
BAND = 1.959964  # standard deviations on either side that hold 95 %
POINTS = 200  # frequencies
EXCITED = 0.98  # share of the command's power that lies in the excited range
MUCH_WORSE = 4.0  # times the variance of the best model: what is no substitute for it
HALF = 50.0  # %, of the motion: a robot whose command explains less is none, unless all that is left is noise
TWINS = 0.02  # of its size: how near a zero cancels a pole
UNIT_GAIN = 1e-3  # by how much a gain at rest may be off one before it is said
RIVALS = 6.0  # of the criterion: models that are worse by more are a twentieth as likely
type Row = Float[np.ndarray, "n"]


@record
class FrequencyBand:
    """A frequency response with what is 95 % sure; dead time included, and which orders and which dead time it has."""

    frequency: Row  # Hz
    response: Complex[np.ndarray, "n"]
    magnitude: Row  # dB, half the width
    phase: Row  # deg, half the width


@record
class IdentifiedRobot:
    """An identified robot."""

    records: Records
    fit: DifferenceFit
    transfer: TransferFunction  # continuous, without the dead time
    percent: float  # of the motion's deviation that the simulated one has
    gain: float  # at rest
    gain_deviation: float
    band: FrequencyBand
    excited: tuple[float, float]  # Hz
    tests: ResidualTests | None  # None where residuals are round-off
    candidates: list[Candidate]
    warnings: list[str]

    @property
    def dead_time(self) -> float:
        """s."""
        return self.fit.orders.delay * self.records.period

    @property
    def only_noise_left(self) -> bool:
        """Whether the residuals are round-off, or noise without memory that does not go with the command."""
        return self.tests is None or (self.tests.white and self.tests.independent)

    def percent_of_command(self) -> float:
        """Return how much (%) of the motion the command explains, beside what a start away from rest does by itself."""
        free = self._at_rest()
        size = float(np.linalg.norm(self.fit.residual + self.fit.simulated - free))
        return 100 * (1 - float(np.linalg.norm(self.fit.residual)) / size) if size else 0.0

    def describes_log(self) -> bool:
        """Return whether this is an answer: the command explains half of the motion, or all but noise.

        The first asks that the robot comes to rest within the log, or leaves but noise: of what only drifts anything explains
        half. The second asks for more than chance: that the command is worth its coefficients (Bayesian information criterion).
        """
        percent, count = self.percent_of_command(), len(self.fit.residual)
        if percent >= HALF:
            slowest = max(pole.real for pole in self.transfer.poles())  # rad/s
            return self.only_noise_left or slowest * count * self.records.period < -1
        worth = -2 * count * math.log(max(1 - percent / 100, 1e-300))
        return self.only_noise_left and worth > (self.fit.orders.a + self.fit.orders.b) * math.log(count)

    def _at_rest(self) -> Row:
        """Return the positions (m) that the robot has without a command, from the start that fits best."""
        measured = self.fit.residual + self.fit.simulated
        still = Samples(np.zeros(len(measured)), measured, self.fit.orders)
        return still.replayed(self.fit.a, self.fit.b)


def read_robot_log(
    path: str | Path,
    columns: Mapping[str, str | None] | None = None,
    units: Mapping[str, str] | None = None,
    period: float | str | None = None,
) -> Records:
    """Return the commanded and actual positions in a log, a CSV, MCAP or netCDF file, for `identify_robot`.

    Args:
        path: of the log; its header names the columns and their units, `time [s],command [mm],actual [mm]`.
        columns: the heading of the role `time`, `command` or `actual`, where it is another.
        units: of a role or a heading, where it has none; SI otherwise, which is told.
        period: of the samples, in s or with its unit, where the log has no times.

    Raises:
        ScenarioError: names file and row of what cannot be used.
    """
    log, given = read_log(path_from("log", path), OF_ROBOT, columns or {}, units), period_from(period)
    step, notes = sampling_period(log, given)
    refuse_still_signals(log)
    refuse_saturated(log, "actual", "command", alike=True)
    return Records(log.file, step, log.signals["command"], log.signals["actual"], [*notes, *log.notes])


def refuse_still_signals(log: SignalLog) -> None:
    """Refuse signals that stand still."""
    for name, words in (("command", "nothing excites the robot"), ("actual", "the robot does not move")):
        if np.ptp(log.signals[name]) == 0:
            raise log.refuse(None, f"{log.headings[name]} is the same in all rows: {words}")


@threadpool_limits.wrap(limits=1, user_api="blas")  # the matrices are tall and narrow: threads only wait
def identify_robot(
    records: Records | str | Path,
    orders: tuple[int, int] | None = None,
    delay: int | None = None,
    method: Method = "oe",
) -> IdentifiedRobot:
    """Return the robot behind a log, as of `read_robot_log`, or its file.

    `orders` (a, b) and `delay` (samples) are chosen where they are not given; `method` is `"oe"`, `"iv"` or `"arx"`.
    Raises ScenarioError where the log is too short or tells too little, where no continuous robot behaves as the samples
    do, and where none that was tried describes the log.
    """
    if not isinstance(records, Records):
        records = read_robot_log(records)
    if method not in get_args(Method):
        raise ScenarioError(f"method = {shown(method)}: must be one of {', '.join(get_args(Method))}")
    if orders is not None:
        if not isinstance(orders, tuple | list) or len(orders) != 2:
            raise wrong_type("orders", orders, "two whole numbers, such as (2, 2)")
        orders = whole_from("orders", orders[0], 1), whole_from("orders", orders[1], 1)
    if delay is not None:
        delay = whole_from("delay", delay, 0)
    tried = candidate_orders(records, orders, delay)
    found, passed_over = _usable_models(records, tried, method)
    chosen, transfer = found[0].fit, found[0].transfer
    gain, slope = transfer.dc_gain(), _gain_slope(chosen)
    spread = math.sqrt(max(float(slope @ chosen.covariance @ slope), 0.0))
    tests = None
    if math.sqrt(chosen.variance) > max(
        ROUNDED * float(np.std(records.actual)), 0.9 * rounding_deviation(records.actual)
    ):
        tests = residual_tests(chosen.residual, records.command[: len(chosen.residual)])
    robot = IdentifiedRobot(
        records,
        chosen,
        transfer,
        fit_percent(records.actual[chosen.orders.delay :], chosen.simulated),
        gain,
        spread,
        response_band(found, records.period, len(records.command)),
        _excited_range(records),
        tests,
        tried,
        [
            *(f"{words}; another model, that fits less well, is taken" for words in passed_over[:1]),
            *_doubt_dead_time(found, records.period),
        ],
    )
    if not robot.describes_log():
        raise ScenarioError(
            f"{records.name}: no robot that was tried describes the log: with orders {chosen.orders.words()} the command "
            f"explains {max(robot.percent_of_command(), 0.0):.2g} % of the motion; look at the columns, and at --orders, "
            "--delay and --method where they are given"
        )
    robot.warnings.extend([*records.notes, *robot_doubts(robot)])
    return robot


class _Model(NamedTuple):
    """A model that the log may have."""

    fit: DifferenceFit
    transfer: TransferFunction  # without the dead time
    likelihood: float  # over that of the best one


def _usable_models(records: Records, tried: list[Candidate], method: Method) -> tuple[list[_Model], list[str]]:
    """Return the best candidate that is a stable continuous robot, those that are nearly as likely, and why better ones were
    passed over.

    Of a single candidate stability is not asked. ScenarioError where there is none among those that fit nearly as well.
    Source: likelihoods by the Bayesian information criterion, Kass and Raftery 1995, J. Am. Stat. Assoc. 90:773.
    """
    reach = tried[0].criterion + len(records.command) * math.log(MUCH_WORSE) if tried else 0.0
    unusable: list[str] = []
    best, better = math.inf, 0  # the criterion of the best one, and how many of these come before it
    found: list[_Model] = []
    for candidate in tried:
        if candidate.criterion > reach:
            break
        words = f"orders {candidate.orders.words()}"
        try:
            fit = fit_difference_equation(records.command, records.actual, candidate.orders, method)
            transfer = _continuous_robot(fit.a, fit.b, records.period)
        except (ValueError, np.linalg.LinAlgError) as error:
            unusable.append(f"{words}: {error}")
            continue
        if len(tried) > 1 and not transfer.stable():
            unusable.append(f"{words}: unstable")
        elif found:
            found.append(_Model(fit, transfer, math.exp((best - candidate.criterion) / 2)))
        else:
            found.append(_Model(fit, transfer, 1.0))
            best, better, reach = candidate.criterion, len(unusable), min(reach, candidate.criterion + RIVALS)
    if not found:
        words = unusable[0] if unusable else "nothing fits; the log is too short or tells too little"
        raise ScenarioError(f"{records.name}: {words}")
    return found, unusable[:better]


def _doubt_dead_time(models: Sequence[_Model], period: float) -> Iterator[str]:
    """Yield between which bounds the dead time may be, where models differ in it."""
    late = [1e3 * model.fit.orders.delay * period for model in models]
    if min(late) < max(late):
        yield (
            f"the log does not tell the dead time from the rest: {late[0]:.4g} ms fits best, but from {min(late):.4g} to "
            f"{max(late):.4g} ms nearly as well; faster motion or less noise tells it, or --delay where it is known"
        )


def _continuous_robot(a: Row, b: Row, period: float) -> TransferFunction:
    """Return the continuous robot; ValueError where there is none."""
    return discrete.continuous_equivalent(a.tolist(), b.tolist(), period)


def fit_percent(measured: Row, simulated: Row) -> float:
    """Return 100 % less the size of the error as a share of the motion's."""
    return 100 * (1 - float(np.linalg.norm(measured - simulated) / np.linalg.norm(measured - measured.mean())))


def _gain_slope(found: DifferenceFit) -> Row:
    """Return the derivative of the gain at rest by a and b."""
    bottom, top = 1 + found.a.sum(), found.b.sum()
    return np.r_[np.full(len(found.a), -top / bottom**2), np.full(len(found.b), 1 / bottom)]


def _excited_range(records: Records) -> tuple[float, float]:
    """Return frequencies (Hz) between which nearly all of the command's power lies, its drift aside."""
    command = records.command
    moving = command - np.linspace(command[0], command[-1], len(command))
    power = np.abs(np.fft.rfft(moving)) ** 2
    power[0] = 0.0
    frequency = np.fft.rfftfreq(len(moving), records.period)
    share = np.cumsum(power) / power.sum()
    low = frequency[np.searchsorted(share, (1 - EXCITED) / 2)]
    high = frequency[np.searchsorted(share, (1 + EXCITED) / 2)]
    return float(low), float(high)


def response_band(models: Sequence[_Model], period: float, count: int) -> FrequencyBand:
    """Return the first model's response from the slowest frequency that the log holds to the fastest that it can, and its
    uncertainty: by each model's own and how far it is from the first, as likely as it is.

    Source: Hoeting et al. 1999, Statistical Science 14:382, Bayesian model averaging.
    """
    frequency = np.geomspace(1 / (count * period), 0.5 / period, POINTS)
    first, squares = _response_of(models[0], frequency, period)
    whole = 1.0
    for rival in models[1:]:
        with contextlib.suppress(ValueError):  # numbers next to its own have no continuous robot
            response, variances = _response_of(rival, frequency, period)
            away = np.log(response / first)
            squares += rival.likelihood * (variances + np.stack([away.real, away.imag]) ** 2)
            whole += rival.likelihood
    relative, angle = np.sqrt(squares / whole)
    return FrequencyBand(frequency, first, BAND * relative * 20 / math.log(10), BAND * np.degrees(angle))


def _response_of(
    model: _Model, frequency: Row, period: float
) -> tuple[Complex[np.ndarray, "n"], Float[np.ndarray, "2 n"]]:
    """Return the response, dead time included, and the variances of its relative magnitude and of its phase (rad²).

    By the derivatives of its logarithm: relative magnitude is the real part, phase the imaginary one.
    """
    found, s = model.fit, 2j * np.pi * frequency
    theta = np.r_[found.a, found.b]
    size = np.sqrt(np.maximum(np.diag(found.covariance), 0.0))
    slopes = np.zeros((len(frequency), len(theta)), complex)
    for i in range(len(theta)):
        step = np.zeros(len(theta))
        step[i] = max(0.01 * size[i], 1e-7 * abs(theta[i]))
        sides = []
        for sign in (1, -1):
            moved = theta + sign * step
            sides.append(_continuous_robot(moved[: len(found.a)], moved[len(found.a) :], period).at(s))
        slopes[:, i] = np.log(sides[0] / sides[1]) / (2 * step[i])
    spread = [np.einsum("fi,ij,fj->f", part, found.covariance, part) for part in (slopes.real, slopes.imag)]
    late = np.exp(-s * found.orders.delay * period)
    return model.transfer.at(s) * late, np.maximum(np.stack(spread), 0.0)


def robot_doubts(robot: IdentifiedRobot) -> Iterator[str]:
    """Yield what an engineer should know before the robot goes into a scenario."""
    if not robot.transfer.stable():
        yield "the identified robot is unstable, and a scenario refuses it: check columns, delay and orders"
    if abs(robot.gain - 1) > max(UNIT_GAIN, BAND * robot.gain_deviation):
        yield (
            f"the gain at rest is {robot.gain:.5g}, not 1: the robot ends elsewhere than commanded, or the scales of the "
            "columns differ"
        )
    if robot.percent < 90:
        words = f"the model explains {robot.percent:.3g} % of the motion"
        if robot.only_noise_left:
            yield f"{words}: the rest is noise; with a larger motion the robot is known better"
        else:
            yield f"{words}: a low fit; is the robot linear, the delay right?"
    if robot.tests is not None and not robot.tests.white:
        yield "the residuals are not white: there is noise with memory, or dynamics that the model lacks"
    if robot.tests is not None and not robot.tests.independent:
        yield "the residuals go with the command: dynamics are missing; try higher orders or another delay"
    if robot.fit.orders.delay == FARTHEST and len(robot.candidates) > 1:
        yield f"the delay found is the longest that is tried, {FARTHEST} samples; give --delay for a longer one"
    zeros = robot.transfer.zeros()
    for pole in robot.transfer.poles():
        if pole.imag >= 0 and len(zeros) and np.abs(zeros - pole).min() < TWINS * abs(pole):
            where = f"{pole.real:.4g}" + (f" ± {pole.imag:.4g} i" if pole.imag else "")
            yield f"a pole and a zero nearly cancel, at {where} 1/s: a lower order may do"


def fit_to_other_log(robot: IdentifiedRobot, other: Records) -> float:
    """Fit (percent) of the robot's response to another log, whose start and offset alone are fitted.

    ScenarioError where its period is another one.
    """
    if abs(other.period / robot.records.period - 1) > 1e-6:
        raise ScenarioError(
            f"{other.name}: has a period of {other.period:g} s; must be {robot.records.period:g} s, as the other log"
        )
    late = robot.fit.orders.delay
    u, y = other.command[: len(other.command) - late], other.actual[late:]
    return fit_percent(y, Samples(u, y, robot.fit.orders).replayed(robot.fit.a, robot.fit.b))


def figures_of(robot: IdentifiedRobot) -> dict[str, Any]:
    """Return the numbers of an identified robot, as JSON has them."""
    transfer, tests = robot.transfer, robot.tests
    deviations = np.sqrt(np.maximum(np.diag(robot.fit.covariance), 0.0))
    hertz = float(np.degrees(np.angle(transfer.at(20j * np.pi) * np.exp(-20j * np.pi * robot.dead_time))))
    return {
        "samples": len(robot.records.command),
        "period_s": robot.records.period,
        "method": robot.fit.method,
        "orders": [robot.fit.orders.a, robot.fit.orders.b],
        "delay_samples": robot.fit.orders.delay,
        "dead_time_s": robot.dead_time,
        "a": robot.fit.a.tolist(),
        "b": robot.fit.b.tolist(),
        "a_deviation": deviations[: len(robot.fit.a)].tolist(),
        "b_deviation": deviations[len(robot.fit.a) :].tolist(),
        "offset_m": robot.fit.offset,
        "numerator": list(transfer.numerator),
        "denominator": list(transfer.denominator),
        "poles": [[pole.real, pole.imag] for pole in transfer.poles().tolist()],
        "zeros": [[zero.real, zero.imag] for zero in np.asarray(transfer.zeros(), complex).tolist()],
        "stable": bool(transfer.stable()),
        "gain_at_rest": robot.gain,
        "gain_at_rest_deviation": robot.gain_deviation,
        "phase_at_10_hz_deg": hertz if robot.records.period < 0.05 else None,
        "fit_percent": robot.percent,
        "residual_rms_m": math.sqrt(robot.fit.variance),
        "excited_hz": list(robot.excited),
        "white": None if tests is None else tests.white,
        "white_probability": None if tests is None else tests.white_probability,
        "independent_of_command": None if tests is None else tests.independent,
        "candidates": [
            {"orders": [c.orders.a, c.orders.b], "delay_samples": c.orders.delay, "criterion": c.criterion}
            for c in robot.candidates[:8]
            if not math.isnan(c.criterion)
        ],
        "warnings": robot.warnings,
    }


def robot_table(robot: IdentifiedRobot) -> dict[str, list[float]]:
    """Return the table `[loop.robot]` of a scenario that is this robot."""
    parts = {"numerator": robot.transfer.numerator, "denominator": robot.transfer.denominator}
    return {key: [float(value) for value in part] for key, part in parts.items()}


def robot_toml(robot: IdentifiedRobot) -> str:
    """Return the part of a scenario that is this robot."""
    lines = [f"# identified from {Path(robot.records.name).name}, fit {robot.percent:.4g} %"]
    if robot.fit.orders.delay:
        lines += ["[loop]", f'delay = "{robot.dead_time!r} s"  # dead time of the robot: add what else is late', ""]
    if robot.transfer.relative_degree() == 1:
        window = f"{1e3 * robot.records.period:g} ms"
        lines += [
            f"# Its velocity jumps with each command. Commanded each {window}, a sensor that samples should average:",
            f'# loop.sensor.averaging = "{window}" in the scenario; else the damping of a contact is measured wrong.',
        ]
    lines += ["[loop.robot]", *(f"{key} = {values}" for key, values in robot_table(robot).items())]
    return "\n".join(lines) + "\n"
