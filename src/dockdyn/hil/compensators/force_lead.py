"""Force extrapolated by its own derivative.

Units: force N, times s.
Source: first-order extrapolation in time; own construction of the filter.
"""

from __future__ import annotations

from typing import ClassVar, NamedTuple

from dockdyn.deferred import jnp
from dockdyn.hil.compensators.compensator import Axes, Compensation, Compensator, CompensatorInput, TuningProblem
from dockdyn.integrate.model import Scalar
from dockdyn.parameters import parameter


class Lagged(NamedTuple):
    """What the lead remembers."""

    force: Axes  # N, behind the filter
    rate: Axes  # N/s


class ForceLead(Compensator):
    """F + l dF/dt (Osaki 2010): the measured force as it will be when the delay is over, to first order.

    The derivative is that of a first-order lag (time constant 0: the difference over a period). Noise is multiplied by
    l / period, the amplitude grows with (ω l)², and at a first touch the derivative knows nothing yet.
    """

    knows: ClassVar[str] = (
        "the whole delay of the loop; multiplies noise of the force, and errs with (frequency × lead)²"
    )
    lead: Scalar = parameter("s", "a time", tuned=True)  # l
    filter_time: Scalar = parameter("s", "a time", least=0, default=0.0)  # of the lag

    def init(self, position: Axes, velocity: Axes) -> Lagged:
        return Lagged(jnp.zeros_like(position), jnp.zeros_like(position))

    def tune(self, problem: TuningProblem) -> dict[str, float]:
        (lead,) = problem.solve(lambda lead: ForceLead(lead, self.filter_time), (problem.lag,), "lead")
        return {"lead": lead}

    def step(self, memory: Lagged, seen: CompensatorInput) -> tuple[Lagged, Compensation]:
        share = -jnp.expm1(-seen.period / jnp.maximum(self.filter_time, 1e-12))
        force = memory.force + share * (seen.force - memory.force)
        rate = (force - memory.force) / seen.period
        extra = jnp.where(seen.touching, self.lead * rate, 0.0)
        return Lagged(force, rate), Compensation.nothing(seen.force.size)._replace(force=extra)
