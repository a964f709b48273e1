"""The table `[loop]`: everything between the model and the force that acts on it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Self

import numpy as np
from pydantic import Field, model_validator

from dockdyn.deferred import ArrayLike, jnp
from dockdyn.parameters import Dynamics
from dockdyn.scenario.language.or_none import OrNone
from dockdyn.scenario.language.section import Section
from dockdyn.scenario.language.units import quantity
from dockdyn.scenario.tables.part import array, refuse
from dockdyn.scenario.tables.rig.compensators import CompensatorSection, WithVelocity
from dockdyn.scenario.tables.rig.robot import RobotSection

if TYPE_CHECKING:
    from dockdyn.stability.loop import Loop

IMPERFECT = (
    "averaging",
    "jitter",
    "delay_amplitude",
    "noise",
    "bias",
    "resolution",
    "range",
    "drop_rate",
    "position_noise",
)
TABLES = ("hold", "sensor", "robot", "dynamics", "virtual_contact", "compensator")
Period = quantity("s", "a period", above=0)
MISSED = 0.05  # share of the contact's damping by which samples may be off before it is told
MOST_WAITING = 100  # periods of the hold


class HoldSection(Section):
    """The command to the robot is renewed once a period and held; it applies some whole periods later."""

    period: Period
    applies_after: Annotated[int, Field(ge=0, le=MOST_WAITING)] = 0


class SensorSection(Section):
    """The measurement of the contact force; what makes it less than perfect counts in runs, not in margins."""

    delay: quantity("s", "a delay", least=0) = 0.0
    period: Period | None = None
    averaging: quantity("s", "a window", above=0) | None = None
    jitter: quantity("s", "a time", least=0) = 0.0
    delay_amplitude: quantity("s", "a time", least=0) = 0.0
    delay_period: Period | None = None
    noise: quantity("N", "a force", least=0) = 0.0
    bias: quantity("N", "a force") = 0.0
    resolution: quantity("N", "a force", least=0) = 0.0
    range: quantity("N", "a force", above=0) | None = None
    drop_rate: quantity("", "a probability", least=0, below=1) = 0.0
    threshold: quantity("N", "a force", least=0) | None = None
    position_noise: quantity("m", "a length", least=0) = 0.0

    @model_validator(mode="after")
    def check_varying_delay(self) -> Self:
        if (self.delay_amplitude > 0) != (self.delay_period is not None):
            refuse("delay_amplitude and delay_period: a delay that varies has both")
        if self.delay_amplitude > self.delay:
            refuse(
                f"delay_amplitude = {self.delay_amplitude:g} s: must be at most the delay of {self.delay:g} s: "
                "no force is measured before it acts"
            )
        return self

    @model_validator(mode="after")
    def check_averaging_window(self) -> Self:
        if self.averaging is not None and self.averaging / 2 > (least := self.delay - self.delay_amplitude):
            refuse(
                f"averaging = {self.averaging:g} s: must be at most twice the delay, {2 * least:g} s: the delay is that of "
                "the window's middle"
            )
        return self

    def latest(self) -> float:
        """Return the longest delay (s) that a sample may have."""
        return self.delay + self.delay_amplitude + self.jitter + (self.averaging or 0.0) / 2

    def imperfect(self) -> list[str]:
        """Return keys by which samples are less than perfect."""
        return [name for name in IMPERFECT if getattr(self, name)]


class DynamicsSection(Section):
    """How the virtual bodies are advanced; without this table, continuously."""

    period: Period | None = None
    method: Dynamics = "zero-order-hold"

    @property
    def stepped(self) -> bool:
        """Whether the virtual bodies advance in steps."""
        return self.method not in ("continuous", "half-period")

    @model_validator(mode="after")
    def with_period(self) -> Self:
        if (self.method == "continuous") != (self.period is None):
            refuse("must have a period with every method but continuous, which has none")
        return self


class VirtualContactSection(Section):
    """A contact computed in software, without delay, that the measured one is added to."""

    stiffness: quantity("N/m", "a stiffness") = 0.0
    damping: quantity("N*s/m", "a damping") = 0.0


class TuningSection(Section):
    """What is believed of the contact where gains and leads are left to be tuned."""

    stiffness: quantity("N/m", "a stiffness", above=0) | None = None


def loop_of(content: Any) -> LoopSection | None:  # noqa: ANN401, of any setup's schema
    """Return the loop in the content of a scenario through which contact forces act; None where they act at once."""
    return getattr(content, "loop", None)


class LoopSection(Section):
    """The loop through which contact forces act."""

    delay: quantity("s", "a delay", least=0) = 0.0
    hold: OrNone[HoldSection] = None
    sensor: OrNone[SensorSection] = None
    robot: OrNone[RobotSection] = None
    dynamics: OrNone[DynamicsSection] = None
    virtual_contact: OrNone[VirtualContactSection] = None
    compensator: OrNone[CompensatorSection] = None
    tuning: TuningSection = TuningSection()
    absent_at_zero: ClassVar = ("delay",)

    def _is_sent_ahead(self) -> bool:
        """Return whether the command is sent ahead of the model."""
        if self.compensator is None:
            return False
        from dockdyn.hil.compensators.command_lead import CommandLead

        return issubclass(self.compensator.made, CommandLead)

    @model_validator(mode="after")
    def of_one_compensator(self) -> Self:
        if self.compensator is not None and self.compensator.name:
            refuse("compensator.name: unknown key")
        return self

    @model_validator(mode="after")
    def with_common_multiple(self) -> Self:
        stepped = self.dynamics is not None and self.dynamics.period is not None
        if self.sensor is not None and self.sensor.period is not None and self.hold is None and not stepped:
            refuse(
                "a sensor with a period needs [loop.hold] or [loop.dynamics], too: the loop is then sampled throughout"
            )
        if self._is_sent_ahead() and self.hold is None and not stepped:
            refuse(
                "a lead of the command needs [loop.hold] or digital dynamics: its acceleration is that of an instant"
            )
        if self.dynamics is not None and self.dynamics.method == "half-period" and self.hold is not None:
            if (self.dynamics.period or 0.0) >= 2 * self.hold.period:
                refuse("half-period dynamics must have a period below twice that of the hold")
        return self

    @model_validator(mode="after")
    def check_sampling(self) -> Self:
        sensor = self.sensor or SensorSection()
        steps = self.dynamics.period if self.dynamics is not None and self.dynamics.stepped else None
        period = sensor.period or steps
        if period is None and (found := sensor.imperfect()):
            refuse(f"sensor.{found[0]}: is of samples; needs sensor.period or digital dynamics")
        if period is not None and sensor.jitter > period:
            refuse(
                f"sensor.jitter = {sensor.jitter:g} s: must be at most the {period:g} s between two samples, "
                "or they change places"
            )
        return self

    def latest(self) -> float:
        """Return the longest delay (s) between a force and its effect on the model, all in all."""
        return self.delay + (self.sensor or SensorSection()).latest()

    def key_of_timing(self, error: ValueError) -> str:
        """Return the key of what is wrong with the instants of the loop, and its value, for a message."""
        of = getattr(error, "of", "")
        if of == "delay":
            if self.sensor is not None and self.sensor.delay > self.delay:
                return f"loop.sensor.delay = {self.sensor.delay:g} s"
            return f"loop.delay = {self.delay:g} s"
        if of == "period" and self.hold is not None:
            return f"loop.hold.period = {self.hold.period:g} s"
        if of == "period" and self.sensor is not None and self.sensor.period is not None:
            return f"loop.sensor.period = {self.sensor.period:g} s"
        return "loop"

    def beyond_delay(self) -> list[str]:
        """Return the tables given besides the delay."""
        return [name for name in TABLES if getattr(self, name) is not None]

    def make(self, effective_mass: ArrayLike, stiffness: ArrayLike, damping: ArrayLike) -> Loop:
        """Return the loop along one direction of contact, also from traced numbers; of compensators, those that margins
        count."""

        from dockdyn.hil.compensators.linear import LinearCompensator
        from dockdyn.stability.loop import Loop

        dynamics, sensor = self.dynamics or DynamicsSection(method="continuous"), self.sensor or SensorSection()
        delay = jnp.asarray(self.delay, float) + jnp.asarray(sensor.delay, float)
        hold = None if self.hold is None else self.hold.period
        law = self.compensator if self.compensator is not None and self.compensator.made.in_margins else None
        small = (
            LinearCompensator.of()
            if law is None
            else law.completed(**dict.fromkeys(law.tuned(), 0.0)).make(held=True).small()
        )
        assert isinstance(small, LinearCompensator)
        virtual = self.virtual_contact or VirtualContactSection()
        return Loop(
            effective_mass=jnp.asarray(effective_mass, float),
            stiffness=jnp.asarray(stiffness, float),
            damping=jnp.asarray(damping, float),
            delay=delay,
            gain=array(small.gain),
            hold=array(dynamics.period if hold is None else hold),
            sensor_period=array(sensor.period),
            dynamics_period=array(dynamics.period),
            robot=None if self.robot is None else self.robot.make(),
            dynamics=dynamics.method,
            velocity="model" if isinstance(law, WithVelocity) and law.velocity == "model" else "robot",
            lead=array(small.lead),
            second_lead=array(small.second_lead),
            inertia=array(small.inertia),
            virtual_stiffness=array(virtual.stiffness),
            virtual_damping=array(virtual.damping),
            averaging=array(sensor.averaging),
            applies_after=0 if self.hold is None else self.hold.applies_after,
        )


def aliasing(loop: Loop) -> str:
    """Return for a warning how much of the contact's damping samples show, and what mends it; empty where it is nearly all."""
    from dockdyn.stability.sampled_velocity import sampled_velocity

    share = None if float(loop.damping) <= 0 else sampled_velocity(loop)
    if share is None or abs(share - 1) <= MISSED:
        return ""
    window = 1e3 * float(np.asarray(loop.hold))
    keys = ["averaging"] if abs(1e3 * float(loop.sample_period()) / window - 1) < 1e-9 else ["averaging", "period"]
    stated = " and ".join(f'loop.sensor.{key} = "{window:g} ms"' for key in keys)
    least = f" with a loop.sensor.delay of at least {window / 2:g} ms" if window > 2e3 * float(loop.delay) else ""
    return (
        f"the robot moves in jerks from command to command, and the force is sampled at instants: in a steady motion it shows "
        f"{100 * share:.3g} % of the contact's damping. Let the sensor average: {stated}{least}"
    )
