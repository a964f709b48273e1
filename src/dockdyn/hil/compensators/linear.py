"""All that is linear and constant in a compensator: gain, inertia and leads together.

Units: gain N s/m, inertia kg, leads s and s².
Source: definition.
"""

from __future__ import annotations

from typing import Any, ClassVar

from dockdyn.deferred import ArrayLike, PyTree, jnp
from dockdyn.hil.compensators.compensator import Axes, Compensation, Compensator, CompensatorInput, Source
from dockdyn.hil.velocity_sources import ModelVelocity, VelocitySource
from dockdyn.integrate.model import Scalar


class LinearCompensator(Compensator):
    """F = −g V − j A and the command X + l₁ V + l₂ A: what other compensators are for small motions, and tunings look for."""

    knows: ClassVar[str] = "what its numbers were found from"
    gain: Scalar  # g, N s/m
    inertia: Scalar  # j, kg
    lead: Scalar  # l₁, s
    second_lead: Scalar  # l₂, s²
    velocity: VelocitySource

    @staticmethod
    def of(velocity: VelocitySource | None = None, **numbers: ArrayLike) -> LinearCompensator:
        """Return a compensator with the named numbers, the others zero; the velocity is the model's unless another is given."""
        every: dict[str, Any] = {name: numbers.get(name, 0.0) for name in ("gain", "inertia", "lead", "second_lead")}
        return LinearCompensator(velocity=ModelVelocity() if velocity is None else velocity, **every)

    def init(self, position: Axes, velocity: Axes) -> PyTree:
        return self.velocity.init(position, velocity)

    def step(self, memory: PyTree, seen: CompensatorInput) -> tuple[PyTree, Compensation]:
        memory, velocity = self.velocity.step(memory, seen)
        return memory, Compensation(
            jnp.zeros_like(velocity), self.gain, velocity, self.inertia, self.lead, self.second_lead
        )

    @property
    def source(self) -> Source:
        return self.velocity.source
