"""Observers of the energy that delays feed into a motion: one that can be measured, and an oracle.

Units: energies J, positions m, forces N.
Source: Hannaford and Ryu 2002 for the port; SITS, eq. 45 corrected, for the oracle.
"""

from __future__ import annotations

from typing import NamedTuple

from dockdyn.deferred import jnp
from dockdyn.hil.block import DiscreteBlock
from dockdyn.hil.compensators.compensator import Axes, CompensatorInput
from dockdyn.integrate.model import Scalar
from dockdyn.trees import field


class Port(NamedTuple):
    """What an observer keeps: the last instant, and sums since the start (J, J²)."""

    position: Axes  # m, model
    touched: Axes  # m, robot when the force was measured
    force: Axes  # N, measured
    excess: Scalar  # J, work of the measured force on the model less that of the contact on the robot
    change: Axes  # m, of `touched` in the last period
    bend: Axes  # m, change of that
    earlier: Axes  # N, force one instant further back
    doubt: Scalar  # J², variance of `excess` that the encoders' noise can have made


class PortEnergy(DiscreteBlock):
    """Energy (J) that the loop has put into the model beyond what the contact gave: from measured quantities alone.

    The force on the model is constant over a period where the dynamics are digital: its work is F · ΔX, exactly. The
    contact's is the trapezoid of force over robot position. Continuous dynamics feel the force as it comes: with `held`
    false both are trapezoids; to mix the two is an error of K T/2 in damping. How much of the sum can be noise is judged by
    the third differences of the position, in which smooth motion is of the order (ω T)³.
    """

    held: bool = field(static=True, default=True)  # whether the force on the model is constant over a period

    def init(self, position: Axes, velocity: Axes) -> Port:
        none = jnp.zeros_like(position)
        return Port(position, position, none, jnp.zeros(()), none, none, none, jnp.zeros(()))

    def step(self, memory: Port, seen: CompensatorInput) -> tuple[Port, Axes]:
        """Return the memory after an instant, and the way (m) of the model since the last one."""
        first = seen.time <= 0
        way = jnp.where(first, 0.0, seen.position - memory.position)
        change = jnp.where(first, 0.0, seen.touched_position - memory.touched)
        mean = (seen.force + memory.force) / 2
        excess = jnp.sum((memory.force if self.held else mean) * way - mean * change)
        bend = change - memory.change
        known = seen.time > 3.5 * seen.period  # four positions have been seen
        third = jnp.where(known, bend - memory.bend, 0.0)  # m; of white noise it has 20 times the variance
        doubt = jnp.sum(third * (seen.force - memory.earlier) / 2) ** 2 / 20
        after = Port(
            seen.position,
            seen.touched_position,
            seen.force,
            memory.excess + excess,
            change,
            bend,
            memory.force,
            memory.doubt + doubt,
        )
        return after, way


class Oracle(DiscreteBlock):
    """ε = E · X − F_x · X_R (J; SITS, eq. 45): it needs the force E and position X of the contact without rig.

    So it exists in simulation only. Positive where force times position of the rig has outgrown the ideal one.
    """

    def init(self, position: Axes, velocity: Axes) -> tuple[()]:
        return ()

    def step(self, memory: tuple[()], seen: CompensatorInput) -> tuple[tuple[()], Scalar]:
        return memory, jnp.sum(seen.ideal_force * seen.ideal_position - seen.force * seen.robot_position)
