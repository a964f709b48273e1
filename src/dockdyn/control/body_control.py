"""Continuous control of a free body: a law and what it acts through.

Units: N, N m.
Source: definition.
"""

from __future__ import annotations

from dockdyn.control.actuators import Actuation, Actuators
from dockdyn.control.controller import Controller, Measured, as_floats, in_body_axes
from dockdyn.control.reference import Reference
from dockdyn.deferred import PyTree
from dockdyn.trees import Module


class BodyControl(Module):
    """A law of a free body and what it acts through, at every instant."""

    law: Controller
    actuators: Actuators
    reference: Reference  # from which the error of the attitude is counted

    def init(self, seen: Measured) -> PyTree:
        """Return what the law remembers at t = 0."""
        return as_floats(self.law.init(seen))

    def act(self, memory: PyTree, seen: Measured) -> tuple[PyTree, Actuation]:
        """Return the rate of what the law remembers, and what the actuators give, within their limits."""
        rate, command = self.law.act(memory, seen)
        force = in_body_axes(command.force, seen.chaser)
        return as_floats(rate), self.actuators.give(force, command.torque, seen.chaser.rate, seen.wheel, seen.used)
