"""The robot of a rig: what its axes do with commands that are held, exactly, and the limits of what it may be told."""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from dockdyn.integrate.model import Scalar
from dockdyn.stability.loop import Robot

TERMS = 20  # of the exponential's series; enough for a robot's state to 1e-15 where |A| · age is at most 2

Row = Float[Array, "width"]  # of a robot's state and command: what an output is of them


class Reading(eqx.Module):
    """Position and velocity of an axis, some time after its state and its command were known, as rows that multiply both."""

    position: Row
    velocity: Row

    def at(self, index: int) -> Reading:
        """One of a stack of readings."""
        return Reading(self.position[index], self.velocity[index])

    def of(self, known: Float[Array, "axes width"]) -> tuple[Float[Array, "axes"], Float[Array, "axes"]]:
        """Positions and velocities of all axes from their states and commands."""
        return (known * self.position).sum(-1), (known * self.velocity).sum(-1)


class RobotAxes(eqx.Module):
    """Equal and independent axes, each with the dynamics of `robot`, or following at once where that is None.

    What is known of an axis at an instant is its state with the command that holds from then on; without dynamics the
    command with its velocity. Limits act on commands: their change in a hold period, and their size.
    """

    robot: Robot | None
    rate_limit: Float[Array, ""] | None = None  # m/s
    position_limit: Float[Array, ""] | None = None  # m

    @property
    def order(self) -> int:
        """Number of states of an axis besides its command."""
        return 1 if self.robot is None else self.robot.input.shape[0]

    def flow(self) -> Float[Array, "width width"]:
        """Rate (1/s) of state and held command of an axis."""
        whole = jnp.zeros((self.order + 1, self.order + 1))
        if self.robot is None:
            return whole
        return whole.at[:-1, :-1].set(self.robot.state).at[:-1, -1].set(self.robot.input)

    def known(
        self, state: Float[Array, "axes order"], command: Float[Array, "axes"], velocity: Float[Array, "axes"]
    ) -> Float[Array, "axes width"]:
        """What is known of the axes; `velocity` (m/s) goes with the command and counts for a robot without dynamics."""
        if self.robot is None:
            return jnp.stack([command, velocity], axis=-1)
        return jnp.concatenate([state, command[:, None]], axis=-1)

    def command(self, known: Float[Array, "axes width"]) -> Float[Array, "axes"]:
        return known[:, 0] if self.robot is None else known[:, -1]

    def reading(self, age: Scalar) -> Reading:
        """Position and velocity `age` (s) after what is known."""
        if self.robot is None:
            return Reading(jnp.array([1.0, 0.0]), jnp.array([0.0, 1.0]))
        grown = jax.scipy.linalg.expm(self.flow() * age)
        return Reading(self.output() @ grown, self.output() @ self.flow() @ grown)

    def reading_soon(self, age: Scalar) -> Reading:
        """As `reading`, by the series of the exponential: for ages that are decided inside a loop."""
        if self.robot is None:
            return self.reading(age)
        flow, term = self.flow(), self.output()
        total = term
        for power in range(1, TERMS):
            term = (term[:, None] * flow).sum(0) * (age / power)
            total = total + term
        return Reading(total, (total[:, None] * flow).sum(0))

    def output(self) -> Row:
        assert self.robot is not None
        return jnp.concatenate([self.robot.output, jnp.zeros(1)])

    def advance(self, age: Scalar) -> Float[Array, "order width"]:
        """State `age` (s) after what is known, as a matrix that multiplies that."""
        return jax.scipy.linalg.expm(self.flow() * age)[:-1]

    def limited(self, wanted: Float[Array, "axes"], last: Float[Array, "axes"], period: Scalar) -> Float[Array, "axes"]:
        """The command that is given when `wanted` is asked for, a hold `period` (s) after the `last` one."""
        if self.rate_limit is not None:
            most = self.rate_limit * period
            wanted = last + jnp.clip(wanted - last, -most, most)
        if self.position_limit is not None:
            wanted = jnp.clip(wanted, -self.position_limit, self.position_limit)
        return wanted

    def following(
        self, place: Float[Array, "axes"], velocity: Float[Array, "axes"], time: Scalar
    ) -> tuple[Float[Array, "axes order"], Float[Array, "axes"]]:
        """State and command at `time` (s) of axes that have long followed a command place + velocity · time."""
        command = place + velocity * time
        if self.robot is None:
            return command[:, None], command
        inverse = jnp.linalg.inv(self.robot.state)
        still, lagging = -inverse @ self.robot.input, inverse @ inverse @ self.robot.input
        return command[:, None] * still - velocity[:, None] * lagging, command
