"""The table `[loop.compensator]`, one section a law: what is added against the loop's delays."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Union

from pydantic import Discriminator, Tag

from dockdyn.scenario.section import Section
from dockdyn.scenario.units import quantity

DEFAULT = "fixed-gain"  # the law of a table that names none

Gain = quantity("N*s/m", "a gain")
Lead = quantity("s", "a time")
SecondLead = quantity("s**2", "a time squared")
Limit = quantity("N*s/m", "a gain", above=0)
Velocity = Literal["robot", "model", "tracking-differentiator", "filtered-difference"]


class CompensatorLaw(Section):
    """What all laws have. Numbers left out (None) of those in `tuned` come from the rig's tuning."""

    def tuned(self) -> tuple[str, ...]:
        """Names of the numbers that are left to the tuning."""
        return tuple(name for name in TUNED if name in type(self).model_fields and getattr(self, name) is None)


TUNED = ("gain", "slope", "switch_time", "inertia", "lead", "second_lead")


class WithVelocity(CompensatorLaw):
    """A law that multiplies a velocity: of model or robot, or one estimated from the robot's measured position."""

    velocity: Velocity = "robot"
    differentiator_rate: quantity("m/s**2", "an acceleration", above=0) = 1000.0
    differentiator_step: quantity("s", "a time", above=0) = 3.4e-3
    filter_time: quantity("s", "a time", above=0) = 5e-3
    gated: bool = True


class FixedGainSection(WithVelocity):
    """−gain · velocity."""

    law: Literal["fixed-gain"] = "fixed-gain"
    gain: Gain | None = None


class LinearGainSection(WithVelocity):
    """The gain grows with time."""

    law: Literal["linear-gain"]
    gain: Gain | None = None
    slope: quantity("N/m", "a gain per time") | None = None


class VariableGainSection(WithVelocity):
    """The gain grows with time until it switches, and follows an observed energy from there on."""

    law: Literal["variable-gain"]
    gain: Gain | None = None
    slope: quantity("N/m", "a gain per time") | None = None
    switch_time: quantity("s", "a time", least=0) | None = None
    energy_gain: quantity("N*s/m/J", "a gain per energy") = 0.3
    form: Literal["bumpless", "as-printed"] = "bumpless"


class VelocityAccelerationSection(WithVelocity):
    """−gain · velocity − inertia · acceleration of the model."""

    law: Literal["velocity-acceleration"]
    gain: Gain | None = None
    inertia: quantity("kg", "an inertia") | None = None


class ForceLeadSection(CompensatorLaw):
    """The measured force, extrapolated by a lead."""

    law: Literal["force-lead"]
    lead: Lead | None = None
    filter_time: quantity("s", "a time", above=0) = 5e-3


class OnlineStiffnessSection(WithVelocity):
    """The contact's stiffness, identified while touching, times a lead is the gain."""

    law: Literal["online-stiffness"]
    lead: Lead | None = None
    forgetting: quantity("", "a share", above=0, most=1) = 0.999


class PassivitySection(WithVelocity):
    """Damps only as much as keeps the port from giving energy."""

    law: Literal["passivity"]
    limit: Limit = 2000.0
    dead_zone: quantity("J", "an energy", least=0) = 0.0
    bound: quantity("J", "an energy", least=0) = 0.0


class CommandLeadSection(CompensatorLaw):
    """The command is where the model will be."""

    law: Literal["command-lead"]
    lead: Lead | None = None
    second_lead: SecondLead | None = None


class EnergyLayerSection(CompensatorLaw):
    """What the port gave too much or too little in a half-cycle is taken or given in the next."""

    law: Literal["energy-layer"]
    limit: Limit = 2000.0


class LeadEnergySection(CompensatorLaw):
    """Command lead, with the energy layer for what it leaves."""

    law: Literal["lead-energy"]
    lead: Lead | None = None
    second_lead: SecondLead | None = None
    limit: Limit = 2000.0


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
