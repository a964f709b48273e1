"""Why a rig was stopped, for its operator: which limit, by what on which axis, when.

Units: SI: m, rad, m/s, rad/s, m/s², rad/s², N, N m, J, s.
Source: own construction; the conditions are those of `dockdyn.hil.supervisor`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from dockdyn.deferred import Float
from dockdyn.hil.supervisor import PLACES, Cause
from dockdyn.realtime.wakeups import SECOND
from dockdyn.scenario.tables.rig.driven import LimitsSection

AXES = ("x", "y", "z", "rx", "ry", "rz")
WORDS = {  # where the name of the cause does not say it
    Cause.RELEASED: "the key of --hold-to-run was let go",
    Cause.OPERATOR: "asked for by the operator",
    Cause.END: "the run is over",
}
Row = np.void  # a cycle of `dockdyn.realtime.ring.record_type`
type Vector = Float[np.ndarray, "axes"]


def cause_words(cause: Cause) -> str:
    """Return the name of a cause in words."""
    return cause.name.lower().replace("_", " ")


def why_stopped(cause: Cause, row: Row, before: Sequence[Row], limits: LimitsSection, period: float) -> str:
    """Return the cause, the value, the limit with its key, the axis and the time of a stop.

    `row` is the cycle in which the cause was found, `before` those before it that were seen, of which two are needed at most;
    `period` (s) is that of the cycle.
    """
    told = WORDS.get(cause) or _Told(row, before, limits, period).of(cause)
    return f"{cause_words(cause)} at {row['time'] / SECOND:.3f} s" + (f": {told}" if told else "")


class _Told:
    """The words of a cause that has a limit."""

    def __init__(self, row: Row, before: Sequence[Row], limits: LimitsSection, period: float):
        self.inputs, self.outputs, self.limits, self.period = row["inputs"], row["outputs"], limits, period
        sent = [each["outputs"]["command"] for each in before[-2:]]
        self.sent = sent[-1] if sent else None
        self.before_rate = (sent[1] - sent[0]) / period if len(sent) > 1 else None

    def of(self, cause: Cause) -> str:
        """Return value, limit and axis; empty for a cause of which nothing more is known."""
        ways: dict[Cause, Callable[[], str]] = {
            Cause.SENSOR_INVALID: lambda: self._no_number("load", "the sensor"),
            Cause.ROBOT_INVALID: lambda: self._no_number("pose", "the robot"),
            Cause.COMMAND: lambda: f"the command is no number on {self._bad(self.outputs['wanted'])}",
            Cause.SENSOR_STATUS: lambda: f"the sensor reports status {int(self.inputs['load_status'])}; 0 is well",
            Cause.ROBOT_STATUS: lambda: f"the robot reports status {int(self.inputs['pose_status'])}; 0 is well",
            Cause.SENSOR_STALE: lambda: self._silent("reading of the sensor", "sensor_silence"),
            Cause.ROBOT_STALE: lambda: self._silent("pose of the robot", "robot_silence"),
            Cause.SENSOR_SATURATED: lambda: self._axis_over(self.inputs["load"][:PLACES], "saturation", "N"),
            Cause.SENSOR_FROZEN: self._frozen,
            Cause.FORCE: lambda: self._over(self.inputs["load"][:PLACES], "force", "N"),
            Cause.TORQUE: lambda: self._over(self.inputs["load"][PLACES:], "torque", "N m", PLACES),
            Cause.POSITION: lambda: self._outside(self.inputs["pose"], "the robot is"),
            Cause.TRACKING: self._behind,
            Cause.LATE: lambda: (
                f"{int(self.inputs['late'])} cycles were missed at once, {self._limit('late_cycles', '')}"
            ),
            Cause.INJECTED_ENERGY: lambda: self._energy("injected_energy", "the delays have put {} into the contact"),
            Cause.PASSIVITY: lambda: self._energy(
                "given_energy", "the measured force has given {} more than it took", "passivity"
            ),
            Cause.SPEED: self._fast,
            Cause.ACCELERATION: self._sudden,
            Cause.WORKSPACE: self._far,
        }
        return ways[cause]() if cause in ways else ""

    def _limit(self, key: str, unit: str) -> str:
        return f"rig.limits.{key} is {getattr(self.limits, key):.6g} {unit}".rstrip()

    def _bad(self, values: Vector) -> str:
        return ", ".join(AXES[at] for at in np.flatnonzero(~np.isfinite(values)))

    def _no_number(self, name: str, who: str) -> str:
        return f"{who} sent what is no number on {self._bad(self.inputs[name])}"

    def _silent(self, what: str, key: str) -> str:
        return f"no new {what} for more than that time; {self._limit(key, 's')}"

    def _frozen(self) -> str:
        return f"the sensor has sent the same numbers more often than that; {self._limit('sensor_frozen', 'readings')}"

    def _over(self, values: Vector, key: str, unit: str, first: int = 0) -> str:
        """Return by what the length of a vector is beyond a limit, and its largest axis."""
        axis = first + int(np.abs(values).argmax())
        most = f", most of it along {AXES[axis]} ({values[axis - first]:.4g})" if len(values) > 1 else ""
        return f"{np.linalg.norm(values):.4g} {unit}{most}, {self._limit(key, unit)}"

    def _axis_over(self, values: Vector, key: str, unit: str) -> str:
        axis = int(np.abs(values).argmax())
        return f"{values[axis]:.4g} {unit} on {AXES[axis]}, {self._limit(key, unit)}"

    def _outside(self, place: Vector, who: str) -> str:
        """Return the axis that is farthest outside what is allowed, in parts of its range."""
        lowest, highest = (np.array(each, float) for each in (self.limits.lowest, self.limits.highest))
        if len(place) > PLACES:
            turn = np.full(len(place) - PLACES, self.limits.turn)
            lowest, highest = np.concatenate([lowest, -turn]), np.concatenate([highest, turn])
        axis = int((np.maximum(lowest - place, place - highest) / (highest - lowest)).argmax())
        unit, key = ("m", "lowest, highest") if axis < PLACES else ("rad", "turn")
        allowed = f"{lowest[axis]:.5g} to {highest[axis]:.5g} {unit}"
        return f"{who} at {place[axis]:.5g} {unit} on {AXES[axis]}, rig.limits.{key} allow {allowed}"

    def _parts(self, values: Vector, places: str, turns: str, unit: str) -> str:
        """Return the part, lengths or angles, of a vector that is beyond its limit by more."""
        found = [(values[:PLACES], places, "m" + unit, 0)]
        if len(values) > PLACES:
            found.append((values[PLACES:], turns, "rad" + unit, PLACES))
        part = max(found, key=lambda one: np.linalg.norm(one[0]) / getattr(self.limits, one[1]))
        return self._over(*part)

    def _behind(self) -> str:
        """Return how far the robot is from what was sent before."""
        if self.sent is None:
            return f"the robot is too far from the command; {self._limit('tracking', 'm')}"
        return "the robot is away from the command by " + self._parts(
            self.inputs["pose"] - self.sent, "tracking", "tracking_turn", ""
        )

    def _rate(self) -> Vector | None:
        """Return the rate of the command that was wanted."""
        return None if self.sent is None else (self.outputs["wanted"] - self.sent) / self.period

    def _fast(self) -> str:
        if (rate := self._rate()) is None:
            return f"the command is too fast; {self._limit('speed', 'm/s')}"
        return "the next command would move at " + self._parts(rate, "speed", "turning_speed", "/s")

    def _sudden(self) -> str:
        """Return the change of the command's speed: what it would have been, less what braking left of it before."""
        rate = self._rate()
        if rate is None or self.before_rate is None:
            return f"the speed of the command changes too suddenly; {self._limit('acceleration', 'm/s²')}"
        change = (rate - self.before_rate) / self.period
        return "the next command would accelerate by " + self._parts(
            change, "acceleration", "turning_acceleration", "/s²"
        )

    def _far(self) -> str:
        """Return where braking from the next command would end, axis by axis."""
        rate = self._rate()
        if rate is None:
            return "braking from the next command would end outside rig.limits.lowest, highest"
        end = self.outputs["wanted"].copy()
        for part, bound in (
            (slice(0, PLACES), self.limits.acceleration),
            (slice(PLACES, None), self.limits.turning_acceleration),
        ):
            if len(rate[part]):
                end[part] += rate[part] * np.linalg.norm(rate[part]) / (2 * float(bound or np.inf))
        return self._outside(end, "braking from the next command would end")

    def _energy(self, name: str, words: str, key: str = "") -> str:
        return words.format(f"{self.outputs[name]:.4g} J") + f", {self._limit(key or name, 'J')}"
