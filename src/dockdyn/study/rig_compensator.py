"""From the table of a compensator to the compensator, with what it leaves open found by tuning."""

from __future__ import annotations

from functools import cached_property, partial
from typing import Any

import jax.numpy as jnp

from dockdyn.loop.compensator import Compensator
from dockdyn.loop.compensators import COMPENSATORS, VELOCITIES
from dockdyn.loop.compensators.energy_layer import EnergyLayer
from dockdyn.loop.velocity_sources import VelocitySource
from dockdyn.scenario.errors import ScenarioError
from dockdyn.scenario.load import Scenario
from dockdyn.stability.loop import Loop
from dockdyn.study.rig_tuning import Tuning, tuning_of

SWEEP = 0.02  # share by which a tuned gain that is to grow does so over a run, half of it below what matches
SWITCH = 0.6  # of the duration: when a variable gain switches, if the scenario does not say
GAINS = ("fixed-gain", "linear-gain", "variable-gain", "velocity-acceleration", "online-stiffness")


def velocity_of(section: Any) -> VelocitySource:
    """What a gain multiplies."""
    if section.velocity == "tracking-differentiator":
        return VELOCITIES[section.velocity](
            jnp.asarray(section.differentiator_rate), jnp.asarray(section.differentiator_step)
        )
    if section.velocity == "filtered-difference":
        return VELOCITIES[section.velocity](jnp.asarray(section.filter_time))
    return VELOCITIES[section.velocity]()


class Maker:
    """Compensators of one scenario."""

    def __init__(self, scenario: Scenario, loop: Loop):
        self.scenario, self.loop = scenario, loop

    @cached_property
    def tuning(self) -> Tuning:
        return tuning_of(self.scenario, self.loop)

    def tuned_numbers(self, section: Any) -> dict[str, float]:
        """Numbers that a law leaves open, at the stiffness that is believed (N s/m, kg, s, s²).

        ScenarioError where the contact does not oscillate, or no numbers make the rig's motion its.
        """
        law = section.law
        try:
            return self.found(law, section)
        except ValueError as error:
            raise ScenarioError(f"{self.scenario.name}: loop.compensator: {law}: {error}; state its numbers") from None

    def found(self, law: str, section: Any) -> dict[str, float]:
        tuning = self.tuning
        damping = abs(float(self.tuning.loop.stiffness)) * tuning.lag
        if law == "velocity-acceleration":
            scales = (damping, damping * tuning.lag)
            gain, inertia = tuning.solve(partial(accelerated, velocity_of(section)), scales)
            return {"gain": gain, "inertia": inertia}
        if law in GAINS:
            (gain,) = tuning.solve(partial(fixed, velocity_of(section)), (damping,))
            return self.gains(law, gain)
        if law in ("command-lead", "lead-energy"):
            lead, second = tuning.solve(leading, (tuning.lag, tuning.lag**2))
            return {"lead": lead, "second_lead": second}
        if law == "force-lead":
            (lead,) = tuning.solve(partial(force_leading, section.filter_time), (tuning.lag,))
            return {"lead": lead}
        return {}

    def gains(self, law: str, gain: float) -> dict[str, float]:
        """What a law makes of the gain that matches."""
        duration = self.scenario.content.duration
        if law == "online-stiffness":
            return {"lead": gain / float(self.tuning.loop.stiffness)}
        if law == "fixed-gain":
            return {"gain": gain}
        slope = SWEEP * gain / duration
        return {"gain": (1 - SWEEP / 2) * gain, "slope": slope, "switch_time": SWITCH * duration}

    def settings(self, section: Any) -> dict[str, float]:
        """All numbers of a law: those stated, and for the others those of the tuning."""
        stated = {name: value for name, value in section if isinstance(value, float)}
        left_open = section.tuned()
        found = self.tuned_numbers(section) if left_open else {}
        return stated | {name: found[name] for name in left_open}

    def make(self, section: Any | None) -> Compensator | None:
        """The compensator of a table; None of none."""
        if section is None:
            return None
        numbers = {name: jnp.asarray(value) for name, value in self.settings(section).items()}
        return assembled(section, numbers, self.loop.stepped())


def assembled(section: Any, numbers: dict[str, Any], held: bool) -> Compensator:
    """A compensator from its table and numbers; `held`: the force on the model is constant over a period."""
    law = section.law
    if law == "lead-energy":
        return COMPENSATORS[law](numbers["lead"], numbers["second_lead"], EnergyLayer(held))
    if law == "energy-layer":
        return COMPENSATORS[law](held)
    made = COMPENSATORS[law]
    names = [name for name in made.__dataclass_fields__ if name in numbers]
    others = {name: getattr(section, name) for name in ("gated", "form") if hasattr(section, name)}
    others = {name: value for name, value in others.items() if name in made.__dataclass_fields__}
    if "velocity" in made.__dataclass_fields__:
        others["velocity"] = velocity_of(section)
    if law == "force-lead":
        others["time"] = numbers["filter_time"]
    return made(**{name: numbers[name] for name in names}, **others)


def fixed(velocity: VelocitySource, gain: Any) -> Compensator:
    return COMPENSATORS["fixed-gain"](gain, velocity)


def accelerated(velocity: VelocitySource, gain: Any, inertia: Any) -> Compensator:
    return COMPENSATORS["velocity-acceleration"](gain, inertia, velocity)


def leading(lead: Any, second_lead: Any) -> Compensator:
    return COMPENSATORS["command-lead"](lead, second_lead)


def force_leading(constant: float, lead: Any) -> Compensator:
    return COMPENSATORS["force-lead"](lead, jnp.asarray(constant))
