"""Since when the limits of a rig have held something back: its robot's commands, or what its sensor reads.

Units: ticks are whole numbers.
Source: own construction.
"""

from __future__ import annotations

from typing import NamedTuple, Self

from dockdyn.deferred import Array, Bool, Int, jnp
from dockdyn.hil.robot import RobotAxes
from dockdyn.hil.sensor import SensorModel

NEVER = -1


class LimitsReached(NamedTuple):
    """The tick at which each limit has first held something back, by axis, or `NEVER`; None of a limit that there is not."""

    rate: Int[Array, "axes"] | None  # of the robot's commands
    position: Int[Array, "axes"] | None  # likewise
    range: Int[Array, "forces"] | None  # of the sensor

    @staticmethod
    def begun(robot: RobotAxes, sensor: SensorModel, axes: int) -> LimitsReached | None:
        """Return it for a robot with so many `axes` where none has done so yet; None where there is no limit."""
        sizes = (robot.rate_limit, axes), (robot.position_limit, axes), (sensor.range, sensor.forces)
        found = LimitsReached(*(None if limit is None else jnp.full(size, NEVER) for limit, size in sizes))
        return None if found == (None, None, None) else found

    def held(self, tick: Array, **now: Bool[Array, "axes"] | None) -> Self:
        """Return it after a `tick` at which the named limits hold something back or do not, by axis."""

        def first(name: str, holds: Bool[Array, "axes"]) -> Int[Array, "axes"]:
            before = getattr(self, name)
            return jnp.where(holds & (before == NEVER), tick, before)

        return self._replace(**{name: first(name, holds) for name, holds in now.items() if holds is not None})
