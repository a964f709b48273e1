"""The robot of a rig: what its axes do with commands that are held, exactly, and the limits of what it may be told.

Units: positions m or rad, times s.
Source: zero-order hold by matrix exponentials, Åström and Wittenmark 1997, chapter 2.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dockdyn.deferred import Array, Bool, Float, jax, jnp
from dockdyn.integrate.model import Scalar
from dockdyn.stability.loop import RobotStateSpace
from dockdyn.trees import Module, map_leaves

BEYOND = 1 + 1e-9  # times a limit: less is rounding
TERMS = 20  # of the exponential's series; enough for a robot's state to 1e-15 where |A| · age is at most 2

type Row = Float[Array, "*axes width"]  # of a robot's state and command: what an output is of them


class AxisReading(Module):
    """Position and velocity of an axis, some time after its state and its command were known, as rows that multiply both."""

    position: Row
    velocity: Row

    def at(self, index: int) -> AxisReading:
        """Return one of a stack of readings."""
        return AxisReading(self.position[index], self.velocity[index])

    def of(self, known: Float[Array, "axes width"]) -> tuple[Float[Array, "axes"], Float[Array, "axes"]]:
        """Return positions and velocities of all axes from their states and commands."""
        return (known * self.position).sum(-1), (known * self.velocity).sum(-1)


class RobotAxes(Module):
    """Independent axes with the dynamics of `robot`, or following at once where that is None.

    A robot whose matrices have a leading axis has each axis' own; without one all are equal.

    What is known of an axis at an instant is its state with the command that holds from then on; without dynamics the
    command with its velocity. Limits act on commands: their change in a hold period, and their size.
    """

    robot: RobotStateSpace | None
    rate_limit: Float[Array, ""] | None = None  # m/s
    position_limit: Float[Array, ""] | None = None  # m

    @property
    def jumps(self) -> bool:
        """Whether it jumps from command to command."""
        return self.robot is None

    @property
    def order(self) -> int:
        """Number of states of an axis besides its command."""
        return 1 if self.robot is None else self.robot.input.shape[-1]

    def flow(self) -> Float[Array, "*axes width width"]:
        """Return the rate (1/s) of state and held command of an axis."""
        if self.robot is None:
            return jnp.zeros((2, 2))
        driven = jnp.concatenate([self.robot.state, self.robot.input[..., None]], axis=-1)
        return jnp.concatenate([driven, jnp.zeros_like(driven[..., :1, :])], axis=-2)

    def known(
        self, state: Float[Array, "axes order"], command: Float[Array, "axes"], velocity: Float[Array, "axes"]
    ) -> Float[Array, "axes width"]:
        """Return what is known of the axes; `velocity` (m/s) goes with the command and counts for a robot without dynamics."""
        if self.robot is None:
            return jnp.stack([command, velocity], axis=-1)
        return jnp.concatenate([state, command[:, None]], axis=-1)

    def command(self, known: Float[Array, "axes width"]) -> Float[Array, "axes"]:
        return known[:, 0] if self.robot is None else known[:, -1]

    def reading(self, age: Scalar) -> AxisReading:
        """Return the position and velocity `age` (s) after what is known."""
        if self.robot is None:
            return AxisReading(jnp.array([1.0, 0.0]), jnp.array([0.0, 1.0]))
        flow = self.flow()
        grown = jax.scipy.linalg.expm(flow * age)
        place = self.output()[..., None, :]
        return AxisReading((place @ grown)[..., 0, :], (place @ flow @ grown)[..., 0, :])

    def reading_soon(self, age: Scalar) -> AxisReading:
        """Return what `reading` does, by the series of the exponential: for ages that are decided inside a loop."""
        if self.robot is None:
            return self.reading(age)
        flow, term = self.flow(), self.output()
        total = term
        for power in range(1, TERMS):
            term = (term[..., :, None] * flow).sum(-2) * (age / power)
            total = total + term
        return AxisReading(total, (total[..., :, None] * flow).sum(-2))

    def series(self, age: Scalar, unit: Scalar) -> AxisReading:
        """Return `reading` around an `age` (s) as coefficients, in a leading axis, of the powers of time in a `unit` (s).

        Twenty terms: enough for a robot's state to 1e-15 where |A| · time is at most 1.5.
        """
        first = self.reading(age)
        if self.robot is None:
            return AxisReading(first.position[None], first.velocity[None])
        flow, rows = self.flow(), [first.position]
        for power in range(1, TERMS):
            rows.append((rows[-1][..., :, None] * flow).sum(-2) * (unit / power))
        places = jnp.stack(rows)
        return AxisReading(places, (places[..., :, None] * flow).sum(-2))

    def rate_of_row(self, row: Row) -> Row:
        """Return the rate of what a `row` is of state and held command, as a row that multiplies both."""
        return (row[..., :, None] * self.flow()).sum(-2)

    def output(self) -> Row:
        assert self.robot is not None
        return jnp.concatenate([self.robot.output, jnp.zeros_like(self.robot.output[..., :1])], axis=-1)

    def advance(self, age: Scalar) -> Float[Array, "*axes order width"]:
        """Return the state `age` (s) after what is known, as a matrix that multiplies that."""
        return jax.scipy.linalg.expm(self.flow() * age)[..., :-1, :]

    def limit_command(
        self, wanted: Float[Array, "axes"], last: Float[Array, "axes"], period: Scalar
    ) -> Float[Array, "axes"]:
        """Return the command that is given when `wanted` is asked for, a hold `period` (s) after the `last` one."""
        wanted = self._within_rate(wanted, last, period)
        if self.position_limit is not None:
            wanted = jnp.clip(wanted, -self.position_limit, self.position_limit)
        return wanted

    def _within_rate(
        self, wanted: Float[Array, "axes"], last: Float[Array, "axes"], period: Scalar
    ) -> Float[Array, "axes"]:
        """Return what `rate_limit` leaves of a `wanted` command."""
        if self.rate_limit is None:
            return wanted
        most = self.rate_limit * period
        return last + jnp.clip(wanted - last, -most, most)

    def holds_back(
        self, wanted: Float[Array, "axes"], last: Float[Array, "axes"], period: Scalar
    ) -> tuple[Bool[Array, "axes"] | None, Bool[Array, "axes"] | None]:
        """Return whether `rate_limit` and `position_limit` change the `wanted` command, by more than rounding; None without
        one."""
        rate, place = self.rate_limit, self.position_limit
        return (
            None if rate is None else jnp.abs(wanted - last) > rate * period * BEYOND,
            None if place is None else jnp.abs(self._within_rate(wanted, last, period)) > place * BEYOND,
        )

    def follow_long(
        self, place: Float[Array, "axes"], velocity: Float[Array, "axes"], time: Scalar
    ) -> tuple[Float[Array, "axes order"], Float[Array, "axes"]]:
        """Return the state and command at `time` (s) of axes that have long followed a command place + velocity · time."""
        command = place + velocity * time
        if self.robot is None:
            return command[:, None], command
        inverse, drive = jnp.linalg.inv(self.robot.state), self.robot.input[..., None]
        still, lagging = (-inverse @ drive)[..., 0], (inverse @ inverse @ drive)[..., 0]
        return command[:, None] * still - velocity[:, None] * lagging, command

    def in_steps(
        self, command: Float[Array, "axes"], velocity: Float[Array, "axes"], period: Scalar
    ) -> Float[Array, "axes order"]:
        """Return the state of axes just before a `command`, when held commands have long moved on by velocity · period each."""
        if self.robot is None:
            return command[:, None]
        still = (-jnp.linalg.inv(self.robot.state) @ self.robot.input[..., None])[..., 0]
        change = self.advance(period)[..., :-1] - jnp.eye(self.order)
        lagging = period * jnp.linalg.solve(change, still[..., None])[..., 0]
        return command[:, None] * still + velocity[:, None] * lagging


def side_by_side(robots: Sequence[RobotStateSpace]) -> RobotStateSpace:
    """Return one robot of axes that each have their own dynamics; shorter ones get states that nothing drives or sees."""
    most = max(robot.input.shape[0] for robot in robots)

    def with_idle_states(robot: RobotStateSpace) -> RobotStateSpace:
        extra = most - robot.input.shape[0]
        idle = np.diag([0.0] * (most - extra) + [1.0] * extra)  # 1/s
        state = jnp.pad(robot.state, (0, extra)) - idle
        return RobotStateSpace(state, jnp.pad(robot.input, (0, extra)), jnp.pad(robot.output, (0, extra)))

    return map_leaves(lambda *parts: jnp.stack(parts), *map(with_idle_states, robots))
