"""The table `[loop]`: everything between the model and the force that acts on it."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal, Self

import jax.numpy as jnp
from pydantic import BeforeValidator, Field, model_validator

from dockdyn.scenario.parts import refuse
from dockdyn.scenario.section import Section
from dockdyn.scenario.units import Number, quantity
from dockdyn.stability.loop import Dynamics, Loop, Robot, Velocity
from dockdyn.stability.transfer_function import TransferFunction

Period = quantity("s", "a period", above=0)


def pair(value: Any) -> Any:
    """A real pole or zero as a complex one."""
    return value if isinstance(value, list) else [value, 0.0]


Place = Annotated[
    list[Number], Field(min_length=2, max_length=2), BeforeValidator(pair)
]  # real and imaginary part, 1/s


class HoldSection(Section):
    """The command to the robot is renewed once a period and held."""

    period: Period


class SensorSection(Section):
    """The measurement of the contact force."""

    delay: quantity("s", "a delay", least=0) = 0.0
    period: Period | None = None


class DynamicsSection(Section):
    """How the virtual bodies are advanced; without this table, continuously."""

    period: Period | None = None
    method: Dynamics = "zero-order-hold"

    @model_validator(mode="after")
    def stepped(self) -> Self:
        if (self.method == "continuous") != (self.period is None):
            refuse("must have a period with every method but continuous, which has none")
        return self


class CompensatorSection(Section):
    """A force on the virtual bodies against their velocity; a positive gain damps."""

    law: Literal["fixed-gain"] = "fixed-gain"
    gain: quantity("N*s/m", "a gain")
    velocity: Velocity = "robot"


class RobotSection(Section):
    """Transfer function from commanded to actual position: polynomials, or zeros and poles with a gain."""

    numerator: Annotated[list[Number], Field(min_length=1)] | None = None
    denominator: Annotated[list[Number], Field(min_length=2)] | None = None
    zeros: list[Place] | None = None
    poles: Annotated[list[Place], Field(min_length=1)] | None = None
    gain: Number | None = None

    @model_validator(mode="after")
    def sound(self) -> Self:
        by_polynomials = self.numerator is not None and self.denominator is not None
        by_poles = self.poles is not None and self.gain is not None
        stated = [getattr(self, name) is not None for name in ("numerator", "denominator", "zeros", "poles", "gain")]
        if by_polynomials == by_poles or (by_polynomials and any(stated[2:])) or (by_poles and any(stated[:2])):
            refuse("must give either numerator and denominator, or poles and gain (and zeros)")
        try:
            transfer = self.transfer()
        except ValueError as error:
            refuse(f"must be a transfer function: {error}")
        if not transfer.proper():
            degrees = f"{len(transfer.numerator) - 1} over {len(transfer.denominator) - 1}"
            refuse(f"must be proper, its numerator of no higher degree than its denominator; it is {degrees}")
        if not transfer.stable():
            worst = max(transfer.poles(), key=lambda pole: pole.real)
            refuse(f"must be stable, all poles left of the imaginary axis; it has one at {worst:.6g} 1/s")
        if not transfer.strictly_proper():
            refuse("must be strictly proper: a robot that jumps with each command has no finite velocity")
        return self

    def transfer(self) -> TransferFunction:
        if self.poles is None:
            return TransferFunction(tuple(self.numerator or ()), tuple(self.denominator or ()))
        zeros, poles = ([complex(*place) for place in places or []] for places in (self.zeros, self.poles))
        return TransferFunction.of_zeros(zeros, poles, self.gain or 0.0)

    def make(self) -> Robot:
        """The robot, also from traced numbers."""
        if self.poles is None:
            return Robot.of_polynomials(jnp.asarray(self.numerator, float), jnp.asarray(self.denominator, float))
        zeros = [jnp.asarray(place, float) for place in self.zeros or []]
        top = jnp.asarray(self.gain, float) * polynomial(zeros)
        return Robot.of_polynomials(top, polynomial([jnp.asarray(place, float) for place in self.poles]))


def polynomial(places: list[Any]) -> Any:
    """Coefficients of the monic polynomial with zeros at pairs of real and imaginary part."""
    found = jnp.ones(1, complex)
    for place in places:
        found = jnp.convolve(found, jnp.stack([jnp.ones((), complex), -(place[0] + 1j * place[1])]))
    return found.real


class LoopSection(Section):
    """The loop through which contact forces act."""

    delay: quantity("s", "a delay", least=0) = 0.0
    hold: HoldSection | None = None
    sensor: SensorSection | None = None
    robot: RobotSection | None = None
    dynamics: DynamicsSection | None = None
    compensator: CompensatorSection | None = None
    absent_at_zero: ClassVar = ("delay",)

    @model_validator(mode="after")
    def rhythmical(self) -> Self:
        stepped = self.dynamics is not None and self.dynamics.period is not None
        if self.sensor is not None and self.sensor.period is not None and self.hold is None and not stepped:
            refuse(
                "a sensor with a period needs [loop.hold] or [loop.dynamics], too: the loop is then sampled throughout"
            )
        if self.dynamics is not None and self.dynamics.method == "half-period" and self.hold is not None:
            if (self.dynamics.period or 0.0) >= 2 * self.hold.period:
                refuse("half-period dynamics must have a period below twice that of the hold")
        return self

    def beyond_delay(self) -> list[str]:
        """The tables given besides the delay."""
        return [
            name for name in ("hold", "sensor", "robot", "dynamics", "compensator") if getattr(self, name) is not None
        ]

    def make(self, effective_mass: Any, stiffness: Any, damping: Any) -> Loop:
        """The loop along one direction of contact, also from traced numbers."""

        def number(value: Any) -> Any:
            return None if value is None else jnp.asarray(value, float)

        dynamics, sensor = self.dynamics or DynamicsSection(method="continuous"), self.sensor or SensorSection()
        delay = jnp.asarray(self.delay, float) + jnp.asarray(sensor.delay, float)
        hold = None if self.hold is None else self.hold.period
        return Loop(
            effective_mass=jnp.asarray(effective_mass, float),
            stiffness=jnp.asarray(stiffness, float),
            damping=jnp.asarray(damping, float),
            delay=delay,
            gain=jnp.asarray(0.0 if self.compensator is None else self.compensator.gain, float),
            hold=number(dynamics.period if hold is None else hold),
            sensor_period=number(sensor.period),
            dynamics_period=number(dynamics.period),
            robot=None if self.robot is None else self.robot.make(),
            dynamics=dynamics.method,
            velocity="robot" if self.compensator is None else self.compensator.velocity,
        )
