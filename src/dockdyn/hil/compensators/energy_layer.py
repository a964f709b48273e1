"""Damping, renewed every half-cycle, by the energy that the last one gave too much.

Units: energies J, damping N s/m, force N.
Source: own construction, after Hannaford and Ryu 2002, IEEE Trans. Robotics and Automation 18:1 (passivity control).
"""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar, NamedTuple

from dockdyn.deferred import Array, Bool, jnp
from dockdyn.hil.compensators.compensator import Axes, Compensation, Compensator, CompensatorInput
from dockdyn.hil.compensators.linear import LinearCompensator
from dockdyn.hil.energy_observer import Port, PortEnergy
from dockdyn.integrate.model import Scalar
from dockdyn.parameters import NOT_STATED
from dockdyn.trees import field

SURE = 3.0  # standard deviations of its noise from which an excess begins to count
SMALL = 0.05  # of the last half-cycle's largest speed: slower ones are noise about rest
KINETIC = 1.0  # of the half-cycle's largest kinetic energy: the most that c may take in the next
STEP = 0.2  # of the speed: the most that c may take in a period
TURN = 0.9  # share kept of the direction of the force, from one instant to the next


class HalfCycle(NamedTuple):
    """What is known of the half-cycle under way; speeds are along the contact force."""

    port: Port
    direction: Axes  # N, of the contact force, smoothed, whatever its sign
    sign: Scalar  # of the speed since the last reversal; 0: none yet
    touched: Bool[Array, ""]
    before: Scalar  # J, excess at its start
    square: Scalar  # m²/s, ∫V² dt in contact
    peak: Scalar  # m/s, largest speed
    usual: Scalar  # m/s, largest speed of the half-cycles before
    damping: Scalar  # c, N s/m
    taken: Scalar  # J, work of the layer
    force: Axes  # N, of the layer since the last instant


class EnergyLayer(Compensator):
    """F = −c V, c = (W_virtual − W_port + debt)/∫V² dt of the half-cycle just past, renewed when V reverses.

    W_virtual is the work of the measured force on the model, W_port that of the contact on the robot, over the half-cycle;
    the debt is what since the start has been given and not been taken back. So a first bounce pays at rebound for its
    compression, and errors do not add up over many. Only energy that stands out of the encoders' noise counts: c is
    multiplied by 1 − 9σ²/S² where S > 3σ, else by zero, with S the whole excess or the debt, whichever is larger, and σ²
    the observer's doubt. c acts in contact only, is at most what would stop the model in a half-cycle, or take a fifth of
    its speed in one period, and starts from zero at each touch. With several axes V is taken along the contact force.
    """

    knows: ClassVar[str] = (
        "nothing of contact or robot; needs the robot's place when the force was measured, cannot mend the phase"
    )
    beyond_small: ClassVar[bool] = True
    held: bool = field(
        static=True, default=True, metadata=NOT_STATED
    )  # whether the force on the model is constant over a period

    def init(self, position: Axes, velocity: Axes) -> HalfCycle:
        none, zero = jnp.zeros_like(position), jnp.zeros(())
        port = PortEnergy(self.held).init(position, velocity)
        return HalfCycle(port, none, zero, jnp.asarray(False), zero, zero, zero, zero, zero, zero, none)

    def small(self) -> LinearCompensator:
        return LinearCompensator.of()

    def on(self, held: bool) -> EnergyLayer:
        return replace(self, held=held)

    def step(self, memory: HalfCycle, seen: CompensatorInput) -> tuple[HalfCycle, Compensation]:
        port, way = PortEnergy(self.held).step(memory.port, seen)
        taken = memory.taken + jnp.sum(memory.force * way)
        touching = seen.touching
        direction = _smooth_direction(memory.direction, seen.force, touching)
        unit = direction / jnp.sqrt(jnp.maximum(jnp.sum(direction**2), 1e-300))
        speed = jnp.sum(seen.velocity * unit)
        fresh = touching & ~memory.touched  # a new touch begins a half-cycle
        reversed_ = touching & ~fresh & (speed * memory.sign < 0)
        counts = reversed_ & (memory.peak > SMALL * memory.usual) & (memory.square > 0)

        damping = jnp.where(counts, self.damping(memory, port, taken, seen), memory.damping)
        damping = jnp.where(fresh, 0.0, damping)
        begins = counts | fresh
        square = jnp.where(begins, 0.0, memory.square) + jnp.where(touching, speed**2 * seen.period, 0.0)
        gain = jnp.where(touching, damping, 0.0)
        velocity = speed * unit
        after = HalfCycle(
            port=port,
            direction=direction,
            sign=jnp.where(reversed_ | fresh | (memory.sign == 0), jnp.sign(speed), memory.sign),
            touched=touching,
            before=jnp.where(begins, port.excess, memory.before),
            square=square,
            peak=jnp.maximum(jnp.where(reversed_ | fresh, 0.0, memory.peak), jnp.abs(speed)),
            usual=jnp.where(reversed_, jnp.maximum(memory.peak, memory.usual / 2), memory.usual),
            damping=damping,
            taken=taken,
            force=-gain * velocity,
        )
        return after, Compensation.nothing(seen.force.size)._replace(gain=gain, velocity=velocity)

    def damping(self, past: HalfCycle, port: Port, taken: Scalar, seen: CompensatorInput) -> Scalar:
        """Return c (N s/m) of the half-cycle that begins, from the one that is `past`."""
        debt = port.excess + taken
        square = jnp.maximum(past.square, 1e-30)
        largest = jnp.maximum(port.excess**2, debt**2)
        trust = jnp.maximum(1 - SURE**2 * port.doubt / jnp.maximum(largest, 1e-300), 0.0)
        wanted = trust * (port.excess - past.before + debt) / square
        most = jnp.minimum(KINETIC * seen.mass * past.peak**2 / (2 * square), STEP * seen.mass / seen.period)
        return jnp.clip(wanted, -most, most)

    def report(self, memory: HalfCycle) -> dict[str, Scalar]:
        return {"excess_energy": memory.port.excess + memory.taken}


def _smooth_direction(direction: Axes, force: Axes, touching: Bool[Array, ""]) -> Axes:
    """Return the direction of the contact force (N, not a unit vector), which a force the other way round does not turn."""
    same = jnp.where(jnp.sum(direction * force) < 0, -1.0, 1.0)
    return jnp.where(touching, TURN * direction + same * force, direction)
