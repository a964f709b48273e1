"""From the table of a compensator to the compensator, with what it leaves open found by tuning."""

from __future__ import annotations

from functools import partial
from typing import Any

import jax.numpy as jnp

from dockdyn.loop.compensator import Compensator
from dockdyn.loop.compensators.force_lead import ForceLead
from dockdyn.loop.compensators.linear import Linear
from dockdyn.loop.velocity_sources import VelocitySource
from dockdyn.scenario.errors import ScenarioError
from dockdyn.scenario.load import Scenario
from dockdyn.stability.loop import Loop
from dockdyn.study.rig_tuning import Tuning, tuning_of

SWEEP = 0.02  # share by which a tuned gain that is to grow does so over a run, half of it below what matches
SWITCH = 0.6  # of the duration: when a variable gain switches, if the scenario does not say


class Maker:
    """Compensators of one scenario, whose loop along the contact normal is `loop`."""

    def __init__(self, scenario: Scenario, loop: Loop):
        self.scenario, self.loop = scenario, loop
        self.known: dict[float | None, Tuning] = {}

    def tuning(self, asked: float | None) -> Tuning:
        """Of compensators that are asked every `asked` seconds."""
        if asked not in self.known:
            self.known[asked] = tuning_of(self.scenario, self.loop, asked)
        return self.known[asked]

    def complete(self, section: Any | None) -> Any | None:
        """A compensator's table with all its numbers: those left out are tuned at the stiffness that is believed.

        ScenarioError where the contact does not oscillate, or no numbers make the rig's motion its.
        """
        if section is None or not section.tuned():
            return section
        try:
            return section.completed(**self.tuned(section))
        except ValueError as error:
            words = f"{error}; state {', '.join(section.tuned())}"
            raise ScenarioError(f"{self.scenario.name}: loop.compensator: {section.law}: {words}") from None

    def tuned(self, section: Any) -> dict[str, float]:
        """Numbers that a law leaves open (N s/m, kg, s, s²). ValueError where there are none."""
        law, tuning = section.law, self.tuning(section.period)
        damping = float(tuning.loop.stiffness) * tuning.lag
        if law in ("command-lead", "lead-energy"):
            lead, second = tuning.undamped().solve(leading, (tuning.lag, tuning.lag**2), "leads")
            return {"lead": float(lead), "second_lead": float(second)}
        if law == "force-lead":
            return {"lead": float(tuning.solve(partial(force_leading, section.filter_time), (tuning.lag,), "lead")[0])}
        source = section.source()
        if law == "velocity-acceleration":
            gain, inertia = tuning.solve(partial(accelerated, source), (damping, damping * tuning.lag), "numbers")
            return {"gain": float(gain), "inertia": float(inertia)}
        gain = float(tuning.solve(partial(fixed, source), (damping,), "gain")[0])
        if law == "online-stiffness":
            return {"lead": gain / float(tuning.loop.stiffness)}
        if law == "fixed-gain":
            return {"gain": gain}
        duration = self.scenario.content.duration
        grows = {"slope": SWEEP * gain / duration, "switch_time": SWITCH * duration}
        return {"gain": (1 - SWEEP / 2) * gain, **grows}

    def make(self, section: Any | None) -> Compensator | None:
        """The compensator of a complete table; None of none."""
        return None if section is None else section.make(self.loop.stepped() or self.loop.sensor_period is not None)


def fixed(velocity: VelocitySource, gain: Any) -> Compensator:
    return Linear.of(velocity, gain=gain)


def accelerated(velocity: VelocitySource, gain: Any, inertia: Any) -> Compensator:
    return Linear.of(velocity, gain=gain, inertia=inertia)


def leading(lead: Any, second_lead: Any) -> Compensator:
    return Linear.of(lead=lead, second_lead=second_lead)


def force_leading(constant: float, lead: Any) -> Compensator:
    return ForceLead(lead, jnp.asarray(constant))
