"""From the table of a compensator to the compensator, with what it leaves open found by tuning, and to the rig that has it."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from dockdyn.hil.compensators.compensator import Compensator
from dockdyn.rig.build import rig_of
from dockdyn.rig.comparison.choice import NONE
from dockdyn.rig.model.rig import Rig
from dockdyn.rig.resting import loop_of
from dockdyn.rig.run import radius_of_cycle_map
from dockdyn.rig.tuning import Tuning, tuning_of
from dockdyn.scenario.language.errors import ScenarioError
from dockdyn.scenario.load import Scenario
from dockdyn.scenario.tables.rig.compensators import CompensatorLaw, WithVelocity, facts_of
from dockdyn.stability.loop import Loop


class CompensatorMaker:
    """Compensators of one scenario, whose loop along the contact normal is `loop`."""

    def __init__(self, scenario: Scenario, loop: Loop):
        self.scenario, self.loop = scenario, loop
        self.known: dict[float | None, Tuning] = {}

    def tuning(self, asked: float | None) -> Tuning:
        """Return the tuning of compensators that are asked every `asked` seconds."""
        if asked not in self.known:
            self.known[asked] = tuning_of(self.scenario, self.loop, asked)
        return self.known[asked]

    def complete(self, section: CompensatorLaw | None) -> CompensatorLaw | None:
        """Return a compensator's table with all its numbers: those left out are tuned at the stiffness that is believed.

        ScenarioError where the contact does not oscillate, no numbers make the rig's motion its, or the law has no rule that
        finds them, and where its velocity cannot be estimated with the period at which it is asked.
        """
        if isinstance(section, WithVelocity):
            self._check_velocity(section)
        if section is None or not section.tuned():
            return section
        try:
            return section.completed(**section.make(self.held()).tune(self.tuning(section.period)))
        except ScenarioError:
            raise
        except ValueError as error:
            words = f"{error}; state {', '.join(section.tuned())}"
            raise ScenarioError(f"{self.scenario.name}: loop.compensator: {section.law}: {words}") from None

    def _check_velocity(self, section: WithVelocity) -> None:
        """Refuse an estimate of the velocity that the period makes useless: raises ScenarioError."""
        period = self.loop.dynamics_period if self.loop.is_stepped() else section.period or self.loop.hold
        if period is not None and (reason := section.source().refusal(float(period))):
            stated = f"loop.compensator.differentiator_step = {section.differentiator_step:g} s"
            raise ScenarioError(f"{self.scenario.name}: {stated}: {reason}; or differentiator_form = 'ramp-invariant'")

    def make(self, section: CompensatorLaw | None) -> Compensator | None:
        """Return the compensator of a complete table; None of none."""
        return None if section is None else section.make(self.held())

    def held(self) -> bool:
        """Return whether the force on the model is constant over a period."""
        return self.loop.is_stepped() or self.loop.sensor_period is not None


class JoinedRig(NamedTuple):
    """A rig as every use of a scenario has it."""

    loop: Loop  # along the contact normal
    section: CompensatorLaw | None  # the table of its compensator, with what is tuned
    rig: Rig

    def facts(self) -> dict[str, Any]:
        """Return what a result says of its compensator."""
        section = self.section
        settings = {} if section is None else section.model_dump(exclude_none=True)
        return {
            "compensator": NONE if section is None else section.law,
            "compensator_law": json.dumps(None if section is None else facts_of(section.made)),
            "compensator_settings": json.dumps(settings),
            "spectral_radius": self.spectral_radius(),
        }

    def spectral_radius(self) -> float:
        """Return that of its map over a cycle, as `radius_of_cycle_map` has it."""
        return radius_of_cycle_map(self.rig, self.loop)


def join_rig(
    scenario: Scenario,
    asked: float | None = None,
    around: Callable[[Compensator | None], Compensator | None] = lambda law: law,
) -> JoinedRig:
    """Return the rig of a scenario with its compensator, or what is put `around` that; asked every `asked` seconds, by default
    as its table says.

    Raises ScenarioError for a rig without contact within the duration, without hold, or whose periods never meet, and where
    the compensator cannot be tuned.
    """
    loop = loop_of(scenario)
    maker = CompensatorMaker(scenario, loop)
    section = maker.complete(scenario.content.loop.compensator)
    period = asked if asked is not None or section is None else section.period
    return JoinedRig(loop, section, rig_of(scenario, loop, around(maker.make(section)), period))


def with_tuned_compensator(scenario: Scenario) -> Scenario:
    """Return the scenario with what its compensator leaves to the rig's tuning, where margins count it."""
    content, law = scenario.content, scenario.content.loop.compensator
    if law is None or not law.made.in_margins or not law.tuned():
        return scenario
    law = CompensatorMaker(scenario, loop_of(scenario)).complete(law)
    section = content.loop.model_copy(update={"compensator": law})
    return replace(scenario, content=content.model_copy(update={"loop": section}))


def growth_of_run(scenario: Scenario) -> float | None:
    """Return the growth rate (1/s) of small motions of the rig that runs, from its own map over a cycle.

    None where that map is not computed (`radius_of_cycle_map`). Raises ScenarioError where the compensator cannot be tuned.
    """
    joined = join_rig(scenario)
    largest, rig = joined.spectral_radius(), joined.rig
    cycle = float(rig.hold) * rig.schedule.hyperperiod.holds
    return float(np.log(largest)) / cycle if np.isfinite(largest) and largest > 0 else None
