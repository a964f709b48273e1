"""The table `[loop.compensator]`, one section a law: what is added against the loop's delays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Literal, Protocol, Self, Union

import jax.numpy as jnp
from pydantic import Discriminator, Tag

from dockdyn.hil.compensators import VELOCITIES
from dockdyn.hil.compensators.command_lead import CommandLead
from dockdyn.hil.compensators.compensator import Compensator
from dockdyn.hil.compensators.energy_layer import EnergyLayer
from dockdyn.hil.compensators.fixed_gain import FixedGain
from dockdyn.hil.compensators.force_lead import ForceLead
from dockdyn.hil.compensators.lead_energy import LeadEnergy
from dockdyn.hil.compensators.linear import Linear
from dockdyn.hil.compensators.linear_gain import LinearGain
from dockdyn.hil.compensators.online_stiffness import OnlineStiffness
from dockdyn.hil.compensators.passivity import Passivity
from dockdyn.hil.compensators.variable_gain import VariableGain
from dockdyn.hil.compensators.velocity_acceleration import VelocityAcceleration
from dockdyn.hil.velocity_sources import FilteredDifference, TrackingDifferentiator, VelocitySource
from dockdyn.scenario.language.section import Section
from dockdyn.scenario.language.units import quantity

DEFAULT = "fixed-gain"  # the law of a table that names none
TUNED = ("gain", "slope", "switch_time", "inertia", "lead", "second_lead")  # numbers that may be left to the tuning
SWEEP = 0.02  # share by which a tuned gain that is to grow does so over a run, half of it below what matches
SWITCH = 0.6  # of the duration: when a variable gain switches, if the scenario does not say

Gain = quantity("N*s/m", "a gain")
Slope = quantity("N/m", "a gain per time")
Lead = quantity("s", "a time")
SecondLead = quantity("s**2", "a time squared")
Velocity = Literal["robot", "model", "tracking-differentiator", "filtered-difference"]

STIFFNESS = "contact.normal.stiffness"  # the key that compensators are compared over


class TuningProblem(Protocol):
    """A rig at rest in a contact that is as stiff as is believed, whose root a law's numbers are to put in its place."""

    @property
    def stiffness(self) -> float:
        """Stiffness (N/m) that is believed."""

    @property
    def lag(self) -> float:
        """A rough size of the loop's delay (s)."""

    @property
    def duration(self) -> float:
        """How long the run is (s)."""

    def undamped(self) -> TuningProblem:
        """The same in a contact without damping."""

    def solve(self, make: Callable[..., Compensator], scales: tuple[float, ...], what: str) -> list[float]:
        """Numbers, of the size of `scales`, with which the rig that `make` completes moves as the contact alone does.

        Raises ValueError, naming `what` is sought, where there are none.
        """


class CompensatorLaw(Section):
    """What all laws have. Numbers of `TUNED` that are left out are None until the rig's tuning has completed them.

    `period`: with continuous dynamics, what the law answers is held between instants that are this far apart (SITS,
    eq. 43); by default it acts continuously. Digital dynamics ask it at every step.
    """

    law: str
    period: quantity("s", "a period", above=0) | None = None

    def tuned(self) -> tuple[str, ...]:
        """Names of the numbers that are left to the tuning."""
        return tuple(name for name in TUNED if name in type(self).model_fields and getattr(self, name) is None)

    def completed(self, **numbers: float) -> Self:
        """With those of the `numbers` that were left out. ValueError where one is not among them."""
        if missing := [name for name in self.tuned() if name not in numbers]:
            raise ValueError(f"its rule finds no {' and no '.join(missing)}")
        return self.model_copy(update={name: float(numbers[name]) for name in self.tuned()})

    def tune(self, problem: TuningProblem) -> dict[str, float]:
        """All numbers that may be left out (SI), found for a rig. ValueError where there are none, or no rule finds them."""
        raise ValueError("has no rule that finds its numbers")

    def make(self, held: bool) -> Compensator:
        """The compensator of complete numbers; `held`: whether the force on the model is constant over a period."""
        raise TypeError

    def numbers(self, *names: str) -> dict[str, Any]:
        return {name: jnp.asarray(getattr(self, name), float) for name in names}


class WithVelocity(CompensatorLaw):
    """A law that multiplies a velocity: of model or robot, or one estimated from the robot's measured position."""

    velocity: Velocity = "robot"
    differentiator_rate: quantity("m/s**2", "an acceleration", above=0) = 1000.0
    differentiator_step: quantity("s", "a time", above=0) = 3.4e-3
    filter_time: quantity("s", "a time", least=0) = 5e-3

    def source(self) -> VelocitySource:
        if self.velocity == "tracking-differentiator":
            return TrackingDifferentiator(jnp.asarray(self.differentiator_rate), jnp.asarray(self.differentiator_step))
        if self.velocity == "filtered-difference":
            return FilteredDifference(jnp.asarray(self.filter_time))
        return VELOCITIES[self.velocity]()

    def matching_gain(self, problem: TuningProblem) -> float:
        """The gain (N s/m) on its velocity with which the rig's amplitude changes as that of the contact alone."""
        source = self.source()
        (gain,) = problem.solve(lambda gain: Linear.of(source, gain=gain), (problem.stiffness * problem.lag,), "gain")
        return gain


def growing(gain: float, problem: TuningProblem) -> dict[str, float]:
    """A gain (N s/m) that grows over the run (N/m), and is the one given in its middle."""
    return {"gain": (1 - SWEEP / 2) * gain, "slope": SWEEP * gain / problem.duration}


def leads(problem: TuningProblem) -> dict[str, float]:
    """Leads of the command (s, s²), of robot, hold and delay alone: found in a contact without damping."""
    lag = problem.lag
    lead, second = problem.undamped().solve(
        lambda lead, second: Linear.of(lead=lead, second_lead=second), (lag, lag**2), "leads"
    )
    return {"lead": lead, "second_lead": second}


class FixedGainSection(WithVelocity):
    """−gain · velocity."""

    law: Literal["fixed-gain"] = "fixed-gain"
    gain: Gain | None = None
    gated: bool = True

    def tune(self, problem: TuningProblem) -> dict[str, float]:
        return {"gain": self.matching_gain(problem)}

    def make(self, held: bool) -> FixedGain:
        return FixedGain(velocity=self.source(), gated=self.gated, **self.numbers("gain"))


class LinearGainSection(WithVelocity):
    """The gain changes with time."""

    law: Literal["linear-gain"]
    gain: Gain | None = None
    slope: Slope | None = None
    gated: bool = True

    def tune(self, problem: TuningProblem) -> dict[str, float]:
        return growing(self.matching_gain(problem), problem)

    def make(self, held: bool) -> LinearGain:
        return LinearGain(velocity=self.source(), gated=self.gated, **self.numbers("gain", "slope"))


class VariableGainSection(WithVelocity):
    """The gain changes with time until it switches, and follows an observed energy from there on."""

    law: Literal["variable-gain"]
    gain: Gain | None = None
    slope: Slope | None = None
    switch_time: quantity("s", "a time", least=0) | None = None
    energy_gain: quantity("N*s/m/J", "a gain per energy") = 0.3
    form: Literal["bumpless", "as-printed"] = "bumpless"
    gated: bool = True

    def tune(self, problem: TuningProblem) -> dict[str, float]:
        return growing(self.matching_gain(problem), problem) | {"switch_time": SWITCH * problem.duration}

    def make(self, held: bool) -> VariableGain:
        numbers = self.numbers("gain", "slope", "switch_time", "energy_gain")
        return VariableGain(velocity=self.source(), form=self.form, gated=self.gated, **numbers)


class VelocityAccelerationSection(WithVelocity):
    """−gain · velocity − inertia · acceleration of the model."""

    law: Literal["velocity-acceleration"]
    gain: Gain | None = None
    inertia: quantity("kg", "an inertia") | None = None
    gated: bool = True

    def tune(self, problem: TuningProblem) -> dict[str, float]:
        source, damping = self.source(), problem.stiffness * problem.lag
        gain, inertia = problem.solve(
            lambda gain, inertia: Linear.of(source, gain=gain, inertia=inertia),
            (damping, damping * problem.lag),
            "numbers",
        )
        return {"gain": gain, "inertia": inertia}

    def make(self, held: bool) -> VelocityAcceleration:
        return VelocityAcceleration(velocity=self.source(), gated=self.gated, **self.numbers("gain", "inertia"))


class ForceLeadSection(CompensatorLaw):
    """The measured force, extrapolated by its own derivative."""

    law: Literal["force-lead"]
    lead: Lead | None = None
    filter_time: quantity("s", "a time", least=0) = 0.0

    def tune(self, problem: TuningProblem) -> dict[str, float]:
        time = jnp.asarray(self.filter_time, float)
        (lead,) = problem.solve(lambda lead: ForceLead(lead, time), (problem.lag,), "lead")
        return {"lead": lead}

    def make(self, held: bool) -> ForceLead:
        return ForceLead(time=jnp.asarray(self.filter_time, float), **self.numbers("lead"))


class OnlineStiffnessSection(WithVelocity):
    """The contact's stiffness, identified while touching, times a lead is the gain."""

    law: Literal["online-stiffness"]
    lead: Lead | None = None
    forgetting: quantity("", "a share", above=0, below=1) = 0.999

    def tune(self, problem: TuningProblem) -> dict[str, float]:
        return {"lead": self.matching_gain(problem) / problem.stiffness}

    def make(self, held: bool) -> OnlineStiffness:
        return OnlineStiffness(velocity=self.source(), **self.numbers("lead", "forgetting"))


class PassivitySection(CompensatorLaw):
    """Damps what the port gave too much, and keeps its net energy within a bound."""

    law: Literal["passivity"]
    limit: quantity("N*s/m", "a gain", above=0) = 2000.0
    dead_zone: quantity("J", "an energy", least=0) = 0.0
    bound: quantity("J", "an energy", least=0) = 0.0

    def make(self, held: bool) -> Passivity:
        return Passivity(**self.numbers("limit", "dead_zone", "bound"))


class CommandLeadSection(CompensatorLaw):
    """The command is where the model will be."""

    law: Literal["command-lead"]
    lead: Lead | None = None
    second_lead: SecondLead | None = None

    def tune(self, problem: TuningProblem) -> dict[str, float]:
        return leads(problem)

    def make(self, held: bool) -> CommandLead:
        return CommandLead(**self.numbers("lead", "second_lead"))


class EnergyLayerSection(CompensatorLaw):
    """What the port gave too much in a half-cycle is taken back in the next."""

    law: Literal["energy-layer"]

    def make(self, held: bool) -> EnergyLayer:
        return EnergyLayer(held=held)


class LeadEnergySection(CompensatorLaw):
    """Command lead, with the energy layer for what it leaves."""

    law: Literal["lead-energy"]
    lead: Lead | None = None
    second_lead: SecondLead | None = None

    def tune(self, problem: TuningProblem) -> dict[str, float]:
        return leads(problem)

    def make(self, held: bool) -> LeadEnergy:
        return LeadEnergy(layer=EnergyLayer(held=held), **self.numbers("lead", "second_lead"))


LAWS: dict[str, type[CompensatorLaw]] = {
    made.model_fields["law"].annotation.__args__[0]: made  # type: ignore[union-attr]
    for made in (
        FixedGainSection,
        LinearGainSection,
        VariableGainSection,
        VelocityAccelerationSection,
        ForceLeadSection,
        OnlineStiffnessSection,
        PassivitySection,
        CommandLeadSection,
        EnergyLayerSection,
        LeadEnergySection,
    )
}


def law_of(value: Any) -> str | None:
    """The law that a table names."""
    return value.get("law", DEFAULT) if isinstance(value, dict) else getattr(value, "law", None)


CompensatorSection = Annotated[
    Union[tuple(Annotated[made, Tag(name)] for name, made in LAWS.items())],  # noqa: UP007
    Discriminator(law_of),
]
