"""Controllers that somebody else decides for: one that commands what it is told, one that commands nothing.

Units: N, N m.
Source: definition.
"""

from __future__ import annotations

from dockdyn.control.controller import Command, Controller, Measured, Three
from dockdyn.deferred import PyTree, jnp
from dockdyn.mechanics.rotation import Quaternion
from dockdyn.trees import map_leaves


class Idle(Controller):
    """Commands nothing."""

    def act(self, memory: PyTree, seen: Measured) -> tuple[PyTree, Command]:
        return memory, Command(jnp.zeros(3), jnp.zeros(3))


class Commanded(Controller):
    """Commands what it is told, in the place of a law, whose memory it leaves as it is."""

    command: Command
    law: Controller
    body_force: Three | None = None  # N, more force, in the body's axes

    def init(self, seen: Measured) -> PyTree:
        return self.law.init(seen)

    def act(self, memory: PyTree, seen: Measured) -> tuple[PyTree, Command]:
        force, torque = self.command
        if self.body_force is not None:
            force += Quaternion.of(seen.chaser.attitude).matrix().array() @ self.body_force
        return map_leaves(jnp.zeros_like, memory), Command(force, torque)
