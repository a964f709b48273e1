"""Damping as soon as the loop has given energy, and a bound on what it may give.

Units: energies J, damping N s/m, force N.
Source: Hannaford and Ryu 2002, IEEE Trans. Robotics and Automation 18:1.
"""

from __future__ import annotations

from typing import ClassVar, NamedTuple

from dockdyn.deferred import jnp
from dockdyn.hil.compensators.compensator import Axes, Compensation, Compensator, CompensatorInput
from dockdyn.hil.compensators.linear import LinearCompensator
from dockdyn.hil.energy_observer import Port, PortEnergy
from dockdyn.integrate.model import Scalar
from dockdyn.parameters import parameter

REST = 1e-12  # m²/s², speeds whose square is below this are rest


class ObservedEnergy(NamedTuple):
    """What the observer remembers of the port."""

    port: Port
    force: Axes  # N, total on the model since the last instant
    added: Axes  # N, of that, the compensator's
    taken: Scalar  # J, work of the compensator's force
    net: Scalar  # J, work of the total force


class Passivity(Compensator):
    """Passivity observer and controller (De Stefano et al. 2020), one step ahead.

    The observer: energy given to the model, the step to come included, less that of the contact on the robot; whatever
    exceeds `dead_zone` is taken back at once by damping of at most `limit`. Energy that only swings counts too, so some of
    the amplitude is lost or left. Over it stands a bound without exception: the net work of the port on the model since the
    start stays at or below `bound`, whatever noise, jitter or drop-outs do to the force; there the limit yields. For a held
    force that work is F · (V T + F T²/2m), so the bound is a ball around zero for the next velocity. Exact for the
    zero-order-hold integrator when no other force acts on the model. A contact preloaded at the start has energy to
    give: `bound` must grant it.
    """

    knows: ClassVar[str] = "the model's mass only; cannot mend the phase, and lets reactive energy pass or takes it"
    beyond_small: ClassVar[bool] = True
    limit: Scalar = parameter("N*s/m", "a gain", above=0, default=2000.0)  # largest gain while the bound is not reached
    dead_zone: Scalar = parameter("J", "an energy", least=0, default=0.0)  # excess that is let pass
    bound: Scalar = parameter(
        "J", "an energy", least=0, default=0.0
    )  # largest net energy given to the model since the start

    def init(self, position: Axes, velocity: Axes) -> ObservedEnergy:
        none = jnp.zeros_like(position)
        return ObservedEnergy(PortEnergy().init(position, velocity), none, none, jnp.zeros(()), jnp.zeros(()))

    def small(self) -> LinearCompensator:
        return LinearCompensator.of()

    def step(self, memory: ObservedEnergy, seen: CompensatorInput) -> tuple[ObservedEnergy, Compensation]:
        port, way = PortEnergy().step(memory.port, seen)
        taken = memory.taken + jnp.sum(memory.added * way)
        net = memory.net + jnp.sum(memory.force * way)
        force, velocity, period, mass = seen.force, seen.velocity, seen.period, seen.mass
        square = jnp.sum(velocity**2)
        coming = jnp.sum(force * (velocity + force * period / (2 * mass))) * period
        excess = port.excess + taken + coming - self.dead_zone
        gain = jnp.clip(excess / (jnp.maximum(square, REST) * period), 0.0, self.limit)
        gain = jnp.where(seen.touching & (square > REST), gain, 0.0)
        damped = force - gain * velocity
        total = self.within_bound(damped, net, seen)
        after = ObservedEnergy(port, total, total - force, taken, net)
        action = Compensation.nothing(force.size)._replace(force=total - damped, gain=gain, velocity=velocity)
        return after, action

    def within_bound(self, force: Axes, net: Scalar, seen: CompensatorInput) -> Axes:
        """Return the total force (N) nearest to `force` whose work until the next instant keeps to the bound."""
        per_mass = seen.period / seen.mass
        square = jnp.sum(seen.velocity**2) + 2 * (self.bound - net) / seen.mass
        most = jnp.sqrt(jnp.maximum(square, 1e-300))  # m/s, speed that the bound allows next
        coming = seen.velocity + per_mass * force
        fast = jnp.sqrt(jnp.maximum(jnp.sum(coming**2), 1e-300))
        return jnp.where(fast > most, (coming * (most / fast) - seen.velocity) / per_mass, force)

    def report(self, memory: ObservedEnergy) -> dict[str, Scalar]:
        return {"excess_energy": memory.port.excess + memory.taken, "net_energy": memory.net}
