"""Damping by a gain that follows the stiffness found on the way.

Units: stiffness N/m, times s, gain N s/m.
Source: recursive least squares, Åström and Wittenmark 1995, Adaptive Control; own construction of the gain.
"""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

from dockdyn.deferred import jnp
from dockdyn.hil.compensators.compensator import (
    Axes,
    Compensation,
    Compensator,
    CompensatorInput,
    Source,
    TuningProblem,
)
from dockdyn.hil.compensators.linear import LinearCompensator
from dockdyn.hil.compensators.tuned import matching_gain
from dockdyn.hil.velocity_sources import RobotVelocity, VelocitySource
from dockdyn.integrate.model import Scalar
from dockdyn.parameters import parameter

SPREAD = 1e-12  # m², weight of the first guess: positions spread over a micrometre outweigh it


class LeastSquares(NamedTuple):
    """What recursive least squares has gathered so far."""

    velocity: Any
    products: Scalar  # N m, forgetting sum of −force · position
    squares: Scalar  # m², of position²


class OnlineStiffness(Compensator):
    """F = −K̂ l V with K̂ by recursive least squares with forgetting (Qi 2016): K̂ = −Σ F · X / Σ X².

    X is the robot's position when the force was measured, with the contact's surface at zero. It needs a linear contact
    whose place is known, and it learns only while it touches: a first bounce has begun before K̂ is known.
    """

    knows: ClassVar[str] = (
        "the whole delay of the loop and where the contact begins; needs a linear contact, cannot mend the phase"
    )
    beyond_small: ClassVar[bool] = True
    steady_gain: ClassVar[bool] = True
    lead: Scalar = parameter("s", "a time", tuned=True)  # l
    # of the sums, from one instant to the next
    forgetting: Scalar = parameter("", "a share", above=0, below=1, default=0.999)
    velocity: VelocitySource = RobotVelocity()

    def init(self, position: Axes, velocity: Axes) -> LeastSquares:
        return LeastSquares(self.velocity.init(position, velocity), jnp.zeros(()), jnp.asarray(SPREAD))

    def small(self) -> LinearCompensator:
        return LinearCompensator.of()

    def tune(self, problem: TuningProblem) -> dict[str, float]:
        return {"lead": matching_gain(self.velocity, problem) / problem.stiffness}

    def step(self, memory: LeastSquares, seen: CompensatorInput) -> tuple[LeastSquares, Compensation]:
        kept, velocity = self.velocity.step(memory.velocity, seen)
        product, square = -jnp.sum(seen.force * seen.touched_position), jnp.sum(seen.touched_position**2)
        products = jnp.where(seen.touching, self.forgetting * memory.products + product, memory.products)
        squares = jnp.where(seen.touching, self.forgetting * memory.squares + square, memory.squares)
        squares = jnp.maximum(squares, SPREAD)
        gain = jnp.where(seen.touching, jnp.maximum(products / squares, 0.0) * self.lead, 0.0)
        action = Compensation.nothing(seen.force.size)._replace(gain=gain, velocity=velocity)
        return LeastSquares(kept, products, squares), action

    @property
    def source(self) -> Source:
        return self.velocity.source

    def report(self, memory: LeastSquares) -> dict[str, Scalar]:
        return {"stiffness_estimate": memory.products / memory.squares}
