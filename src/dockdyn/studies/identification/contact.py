"""The contact from a measured bounce: stiffness, damping, how late the force is measured, restitution.

    F(t) = bias + law(x(t − τ) − x₀, v(t − τ))

with the scenario's spring and dashpot, pressing only. Of a free mass m a delay is nearly other
numbers, F ≈ K(1 + Bτ/m) x + (B − Kτ + B²τ/m) v: what tells them apart is the first instant, when the spring has no
force yet, and the last.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
from scipy.interpolate import BSpline, make_interp_spline, make_smoothing_spline

from dockdyn.contact.laws.spring_dashpot import SpringDashpot
from dockdyn.deferred import Float
from dockdyn.records import record
from dockdyn.scenario.language.errors import ScenarioError
from dockdyn.scenario.language.given import number_from
from dockdyn.studies.identification.bounce_log import QUIET, Bounce, read_bounce
from dockdyn.studies.identification.residuals import parameter_covariance
from dockdyn.studies.identification.robot_orders import rounding_deviation

LONGEST = 0.25  # of the contact's duration: delay that is tried
EARLIER = 0.06  # of that duration: by how much contact may begin before its force is seen
COARSE, FINE = 40, 120  # delays that are tried
FAINT = 1e-4  # of the largest force: residuals below which say nothing of the delay
SURE = 2.0  # standard deviations
CREATED = 0.02  # the same of a restitution above one
MIDDLE = 0.6745  # of a standard deviation: half of all normal numbers are within
SHORT = 0.1  # of a period: a delay that fits best and is negative by more is told, however little is known of it
EXACT = 1e-9  # of a number: what rounding leaves of it
type Row = Float[np.ndarray, "n"]


@record
class IdentifiedNumber:
    """A number and its standard deviation."""

    value: float
    deviation: float

    def above(self, bound: float) -> bool:
        return self.value - bound > SURE * self.deviation

    def doubt(self) -> str:
        """Return the deviation as a comment in a scenario; nothing where it is known better than numbers are written."""
        return f"  # ± {self.deviation:.2g}" if self.deviation > EXACT * abs(self.value) else ""


@record
class IdentifiedContact:
    """An identified contact."""

    bounce: Bounce
    stiffness: IdentifiedNumber  # N/m
    damping: IdentifiedNumber  # N s/m
    delay: IdentifiedNumber  # s
    surface: IdentifiedNumber  # m, where contact begins
    bias: IdentifiedNumber  # N, of the force as the log has it
    noise: float  # N, root mean square of the residuals
    speed_before: IdentifiedNumber | None  # m/s
    restitution: IdentifiedNumber | None
    told_apart: float  # correlation of damping and delay
    fitted: Row  # N
    percent: float
    warnings: list[str]


def identify_contact(bounce: Bounce | str | Path, delay: float | str | None = None) -> IdentifiedContact:
    """Return estimates with standard deviations from a bounce, as of `read_bounce`, or its file.

    `delay`, in s or with its unit, where it is known. A force is never before its depth: where a negative delay fits best, all
    is fitted with 0. ScenarioError where nothing fits.
    """
    if not isinstance(bounce, Bounce):
        bounce = read_bounce(bounce)
    if delay is not None:
        delay = number_from("delay", delay, "s", "a delay", least=0)
    search = ContactSearch(bounce)
    theta, spread = free = search.weighed(delay)
    if theta[2] < 0:
        theta, spread = search.with_no_delay(free[1][2, 2])
    if not (np.isfinite(theta).all() and theta[0] > 0):
        raise ScenarioError(f"{bounce.name}: no spring and dashpot fits: the force does not grow with the depth")
    fitted = search.pressed(theta)
    deviations = np.sqrt(np.maximum(np.diag(spread), 0.0))
    estimates = [IdentifiedNumber(float(value), float(sigma)) for value, sigma in zip(theta, deviations, strict=True)]
    both = deviations[1] * deviations[2]
    before, ratio = identify_restitution(bounce, theta[3], search.place)
    force = bounce.force
    percent = 100 * (1 - float(np.linalg.norm(force - fitted) / np.linalg.norm(force - force.mean())))
    contact = IdentifiedContact(
        bounce,
        estimates[0],
        estimates[1],
        estimates[2],
        estimates[3],
        replace(estimates[4], value=bounce.force_sign * estimates[4].value),
        noise=float(np.sqrt(np.mean((force - fitted) ** 2))),
        speed_before=before,
        restitution=ratio,
        told_apart=float(spread[1, 2] / both) if both else 0.0,
        fitted=fitted,
        percent=percent,
        warnings=[],
    )
    contact.warnings.extend([*bounce.notes, *contact_doubts(contact, IdentifiedNumber(free[0][2], deviations[2]))])
    return contact


class ContactSearch:
    """Least squares over stiffness, damping, delay, surface (m) and bias (N): the five parameters, in this order.

    The sum of squares jumps wherever a sample enters or leaves the contact. So the sample that enters first is tried in
    turn, the delay is searched, and the rest is linear.
    """

    def __init__(self, bounce: Bounce):
        self.bounce = bounce
        self.place, self.speed = smooth_motion(bounce)
        self.moved: dict[float, tuple[Row, Row]] = {}  # by delay

    def pressed(self, theta: Row) -> Row:
        """Return the force (N) that the parameters give."""
        depth, raw = self.law(theta)
        return theta[4] + np.where(depth > 0, np.maximum(raw, 0.0), 0.0)

    def law(self, theta: Row) -> tuple[Row, Row]:
        """Return the depth (m), and force by the law alone (N)."""
        late = self.bounce.time - theta[2]
        depth = self.place(late) - theta[3]
        return depth, pressing_force(theta[0], theta[1], depth, self.speed(late))

    def weighed(self, delay: float | None) -> tuple[Row, Float[np.ndarray, "5 5"]]:
        """Return the parameters, and their covariance.

        Means over all delays and first samples, each as likely as its sum of squares says. For within a period the samples
        in contact hardly tell the delay (a free mass moves the same with more of it and other numbers, as of `alike`), and
        the one that fits best may be anywhere there.
        """
        bounce = self.bounce
        back = min(bounce.first - 1, max(4, round(EARLIER * bounce.duration / bounce.period)))
        entries = list(range(bounce.first - back, bounce.first + 2))
        lates = np.linspace(-bounce.period, LONGEST * bounce.duration, COARSE) if delay is None else np.array([delay])
        costs = [(self.at(late, entry)[0], late, entry) for entry in entries[:: max(1, back // 12)] for late in lates]
        _, late, entry = min(costs)
        if delay is None:
            width = 2 * max(float(lates[1] - lates[0]), bounce.period)
            lates = np.linspace(late - width, late + width, min(FINE, 2 * round(20 * width / bounce.period)) + 1)
        around = [each for each in entries if abs(each - entry) <= max(3, back // 12)]
        found = [self.at(value, each) for each in around for value in lates]
        squares, thetas = np.array([cost for cost, _, _ in found]), np.stack([theta for _, theta, _ in found])
        free = np.array([within for _, _, within in found])
        if delay is None:  # with one first sample, delays that fit freely differ by how the motion was smoothed only
            shape = len(around), len(lates)
            for costs_there, free_there in zip(squares.reshape(shape), free.reshape(shape), strict=True):
                costs_there[free_there] = costs_there[free_there].min(initial=math.inf)
        force = bounce.force
        best = thetas[np.argmin(squares)]
        noise = max(squares.min() / max(len(force) - 5, 1), (FAINT * float(np.ptp(force))) ** 2) + self.of_motion(best)
        likely = np.exp((squares.min() - squares) / (2 * noise))
        likely /= likely.sum()
        theta = likely @ thetas
        apart = (thetas - theta) * np.sqrt(likely)[:, None]
        spread = apart.T @ apart + self.spread(theta)
        if delay is None:  # the instant of the first force is known to a period
            alike = self.alike(theta)
            spread += max(bounce.period**2 / 12 - spread[2, 2], 0.0) * np.outer(alike, alike)
        return theta, spread

    def with_no_delay(self, variance: float) -> tuple[Row, Float[np.ndarray, "5 5"]]:
        """Return the parameters with a delay of zero and their covariance, that delay being known to a `variance` (s²)."""
        theta, spread = self.weighed(0.0)
        alike = self.alike(theta)
        return theta, spread + variance * np.outer(alike, alike)

    def alike(self, theta: Row) -> Row:
        """Return what parameters change by for each second of delay, with the same force: that of a free mass.

        Its acceleration is −(K x + B v)/m, m the force's impulse over the speed that it takes.
        """
        bounce, stiffness, damping = self.bounce, theta[0], theta[1]
        contact = slice(bounce.first, bounce.last + 1)
        before, after = self.speed(bounce.time[[bounce.first, bounce.last]] - theta[2])
        impulse = bounce.period * float(np.sum(bounce.force[contact] - theta[4]))
        rate = damping * (before - after) / impulse  # B/m, 1/s
        return np.array([-stiffness * rate, stiffness - damping * rate, 1.0, 0.0, 0.0])

    def of_motion(self, theta: Row) -> float:
        """Return the variance (N²) of a force whose noise tells as much as that of the measured motion does.

        Smoothed, the noise of a position has neighbours alike: less of it is left at each sample, and as much over many.
        """
        bounce = self.bounce
        place = white_deviation(bounce.position)
        speed = np.pi / bounce.duration * place if bounce.velocity is None else white_deviation(bounce.velocity)
        return float((theta[0] * place) ** 2 + (theta[1] * speed) ** 2)

    def at(self, late: float, entry: int) -> tuple[float, Row, bool]:
        """Return the sum of squares (N²) and parameters with this delay (s) and first sample in contact, and whether the
        surface that fits best lies between that sample and the one before.
        """
        force = self.bounce.force
        if late not in self.moved:
            at = self.bounce.time - late
            self.moved[late] = self.place(at), self.speed(at)
        x, v = self.moved[late]
        inside = np.zeros(len(force), bool)
        inside[entry : self.bounce.last + 1] = True
        cell = x[entry - 1], x[entry]
        for _ in range(3):  # the end of contact is where the law's force ends
            gate = inside.astype(float)
            columns = np.stack([x * gate, v * gate, -gate, np.ones(len(force))], axis=1)
            stiffness, damping, rest, bias = _least_squares(columns, force)
            surface = rest / stiffness if stiffness else math.inf
            free = cell[0] <= surface <= cell[1]
            if not free:  # then on the nearer side of the cell
                surface = cell[0] if surface < cell[0] else cell[1]
                columns = np.stack([(x - surface) * gate, v * gate, np.ones(len(force))], axis=1)
                stiffness, damping, bias = _least_squares(columns, force)
            raw = pressing_force(stiffness, damping, x - surface, v)
            touching = (x > surface) & (raw > 0)
            touching[:entry] = False
            touching[entry] = True
            middle = (entry + self.bounce.last) // 2
            ended = np.flatnonzero(~touching[middle:])
            if len(ended):
                touching[middle + ended[0] :] = False
            if (touching == inside).all():
                break
            inside = touching
        left = force - bias - np.where(inside, raw, 0.0)
        return float(left @ left), np.array([stiffness, damping, late, surface, bias]), bool(free)

    def spread(self, theta: Row) -> Float[np.ndarray, "5 5"]:
        """Return the covariance of all parameters but the delay, were that known and the samples in contact, too."""
        depth, raw = self.law(theta)
        inside = (depth > 0) & (raw > 0)
        left = self.bounce.force - self.pressed(theta)
        # by finite steps in all that the law is linear in
        steps = (
            np.diag([theta[0], theta[0] * self.bounce.duration, 0.0, float(np.ptp(self.bounce.position)), 0.0]) * 1e-3
        )
        slopes = [
            np.where(inside, (self.law(theta + steps[i])[1] - self.law(theta - steps[i])[1]) / 2 / steps[i, i], 0.0)
            for i in (0, 1, 3)
        ]
        spread = np.zeros((5, 5))
        part = [0, 1, 3, 4]
        spread[np.ix_(part, part)] = parameter_covariance(
            np.stack([*slopes, np.ones(len(left))], axis=1), left, self.of_motion(theta)
        )
        return spread


def pressing_force(stiffness: float, damping: float, depth: Row, rate: Row) -> Row:
    """Return the scenario's law (N), not yet cut off at zero."""
    force: Any = SpringDashpot.force
    # sooner made than a law, of which thousands are tried
    return force(SimpleNamespace(stiffness=stiffness, damping=damping), depth, rate)


def _least_squares(columns: Float[np.ndarray, "n p"], right: Row) -> Row:
    size = np.linalg.norm(columns, axis=0)
    size[size == 0] = 1.0
    scaled = columns / size
    return np.linalg.lstsq(scaled.T @ scaled, scaled.T @ right, rcond=None)[0] / size


def smooth_motion(bounce: Bounce) -> tuple[Callable[[Row], Row], Callable[[Row], Row]]:
    """Return the position and velocity as functions of time, measurement noise smoothed out (generalised cross-validation)."""

    def curve(values: Row) -> BSpline:
        size = float(np.ptp(values)) or 1.0
        # in samples and shares of the range, so that the penalty's search is well scaled
        places = np.arange(len(values), dtype=float)
        rough = np.diff(values, 4)
        if np.sqrt(np.mean(rough**2) / 70) < 1e-7 * size:  # the noise left after four differences
            return make_interp_spline(bounce.time, values, k=3)
        found = make_smoothing_spline(places, values / size)
        return make_interp_spline(bounce.time, found(places) * size, k=3)

    place = curve(bounce.position)
    return place, place.derivative() if bounce.velocity is None else curve(bounce.velocity)


def white_deviation(values: Row) -> float:
    """Return the standard deviation of the noise of a smooth motion, by what four differences leave of most samples."""
    rough = np.diff(values, 4) / math.sqrt(70)
    return min(float(np.median(np.abs(rough))) / MIDDLE, float(np.sqrt(np.mean(rough**2))))


def identify_restitution(
    bounce: Bounce, surface: float, place: Callable[[Row], Row]
) -> tuple[IdentifiedNumber | None, IdentifiedNumber | None]:
    """Return the speed before (m/s) and its share after, from free motion as long as half the contact on either side."""
    inside = place(bounce.time) > surface
    middle = (bounce.first + bounce.last) // 2
    outside = np.flatnonzero(~inside)
    before, after = outside[outside < middle], outside[outside > middle]
    if not bounce.ends or not len(before) or not len(after):
        return None, None
    length = max(QUIET, (bounce.last - bounce.first + 1) // 2)
    speeds = []
    for window in (np.arange(before[-1] - length, before[-1]), np.arange(after[0] + 1, after[0] + 1 + length)):
        kept = window[(window >= 0) & (window < len(inside))]
        if len(kept) < QUIET or inside[kept].any():
            return None, None
        speeds.append(steady_velocity(bounce, kept))
    came, left = speeds
    if came.value <= 0:  # it does not come, as where a log begins at rest
        return None, None
    ratio = -left.value / came.value
    relative = math.hypot(left.deviation / left.value if left.value else 0.0, came.deviation / came.value)
    return came, IdentifiedNumber(ratio, abs(ratio) * relative)


def steady_velocity(bounce: Bounce, kept: np.ndarray) -> IdentifiedNumber:
    """Return the velocity over some samples: their mean, or the slope of the position; no surer than the log's digits are."""
    if bounce.velocity is not None:
        values = bounce.velocity[kept]
        scatter = float(values.std(ddof=1)) / math.sqrt(len(values))
        return IdentifiedNumber(float(values.mean()), max(scatter, rounding_deviation(bounce.velocity)))
    t = bounce.time[kept] - bounce.time[kept].mean()
    x = bounce.position[kept] - bounce.position[kept].mean()
    slope = float(t @ x / (t @ t))
    left = x - slope * t
    scatter = math.sqrt(float(left @ left) / (len(t) - 2))
    return IdentifiedNumber(slope, max(scatter, rounding_deviation(bounce.position)) / math.sqrt(float(t @ t)))


def contact_doubts(contact: IdentifiedContact, free: IdentifiedNumber) -> Iterator[str]:
    """Yield what an engineer should know before the numbers go into a scenario; `free` is the delay (s) that fits best."""
    if contact.percent < 95:
        yield f"a spring and dashpot explains {contact.percent:.3g} % of the force: another law may fit better"
    if -contact.damping.value > SURE * contact.damping.deviation + EXACT * contact.stiffness.value:
        yield "the damping is negative: the contact puts energy in; is the delay right? The scenario is given 0"
    if -free.value > min(SURE * free.deviation, SHORT * contact.bounce.period) + EXACT:
        yield (
            f"the delay that fits best is negative: {1e3 * free.value:.2g} ± {1e3 * free.deviation:.2g} ms; is the position"
            " that of the encoders, and measured later than the force? All numbers are those that fit best with a delay of 0"
        )
    if contact.delay.deviation > contact.bounce.period:
        yield "damping and delay are hardly told apart by this bounce; give --delay if it is known"
    if contact.restitution is None:
        yield "no restitution: the log must hold free motion before and after, as long as half the contact"
    elif contact.restitution.above(1.0 + EXACT) or contact.restitution.value > 1.0 + CREATED:
        yield "the restitution is above one: what moves the contact puts energy in"


def figures_of(contact: IdentifiedContact) -> dict[str, Any]:
    """Return the numbers of an identified contact, as JSON has them."""

    def told(name: str, estimate: IdentifiedNumber | None, unit: str) -> dict[str, float | None]:
        value, deviation = (None, None) if estimate is None else (estimate.value, estimate.deviation)
        return {f"{name}{unit}": value, f"{name}_deviation{unit}": deviation}

    return {
        "samples": len(contact.bounce.time),
        "samples_in_contact": contact.bounce.last - contact.bounce.first + 1,
        "period_s": contact.bounce.period,
        **told("stiffness", contact.stiffness, "_N_m"),
        **told("damping", contact.damping, "_N_s_m"),
        **told("delay", contact.delay, "_s"),
        **told("restitution", contact.restitution, ""),
        **told("speed_before", contact.speed_before, "_m_s"),
        **told("force_bias", contact.bias, "_N"),
        "force_noise_N": contact.noise,
        "damping_delay_correlation": contact.told_apart,
        "fit_percent": contact.percent,
        "warnings": contact.warnings,
    }


def contact_toml(contact: IdentifiedContact) -> str:
    """Return the part of a scenario that is this contact."""
    stiffness, damping, delay = contact.stiffness, contact.damping, contact.delay
    lines = [
        f"# identified from {Path(contact.bounce.name).name}, fit {contact.percent:.4g} %",
        "[contact_law.identified.normal]",
        'law = "spring-dashpot"',
        f'stiffness = "{stiffness.value!r} N/m"{stiffness.doubt()}',
        f'damping = "{max(damping.value, 0.0)!r} N s/m"{damping.doubt()}',
        "",
        "[loop.sensor]",
        f'delay = "{delay.value!r} s"{delay.doubt()}',
        f'# noise = "{contact.noise:.3g} N"  # for a sensor with a period, or digital dynamics',
    ]
    return "\n".join(lines) + "\n"
