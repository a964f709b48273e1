"""What a controller of a free body is: from what is measured it commands a force and a torque, which actuators give.

Units: N, N m, m, m/s, rad/s, N s, N m s.
Source: definition of the interface.
"""

from __future__ import annotations

import abc
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PyTree

from dockdyn.control.actuators import Actuation, Actuators
from dockdyn.mechanics.rotation import Quaternion

Three = Float[Array, "3"]


class FreeBody(NamedTuple):
    """A free rigid body at an instant."""

    position: Three  # m, centre of mass, inertial axes, from the target's centre of mass at t = 0
    velocity: Three  # m/s, inertial axes
    attitude: Float[Array, "4"]  # unit quaternion, scalar first, body to inertial
    rate: Three  # rad/s, body axes


class Measured(NamedTuple):
    """What a controller sees, exact and at once."""

    chaser: FreeBody
    target: FreeBody
    wheel: Three  # N m s, momentum of the chaser's wheel, chaser's axes
    used: Float[Array, "2"]  # N s, N m s: what its thrusters have used of their budgets


class Command(NamedTuple):
    """What a controller asks for; actuators give it within their limits."""

    force: Three  # N, at the chaser's centre of mass, inertial axes
    torque: Three  # N m, chaser's axes


class Controller(eqx.Module):
    """A law that commands the force and the torque on a chaser in free flight.

    It acts continuously: the integrator asks it wherever it evaluates the motion, also at trial points, so it must answer
    from what it is given alone, and smoothly. What it remembers (an integral, a filter, a clock) is a state like any other:
    it says the rate at which that changes. Its numbers are fields, declared as `dockdyn.parameter`, and are the keys of the
    table `[control]`; so are its static fields.
    """

    def init(self, seen: Measured) -> PyTree:
        """What it remembers at t = 0: an array of floats, or a tree of them; nothing unless it says so."""
        return ()

    @abc.abstractmethod
    def act(self, memory: PyTree, seen: Measured) -> tuple[PyTree, Command]:
        """The rate (1/s) at which what it remembers changes, of the same structure, and what it commands."""


class BodyControl(eqx.Module):
    """A law of a free body and what it acts through."""

    law: Controller
    actuators: Actuators
    attitude: Float[Array, "4"]  # from which the error of the attitude is counted

    def init(self, seen: Measured) -> PyTree:
        """What the law remembers at t = 0."""
        return as_floats(self.law.init(seen))

    def act(self, memory: PyTree, seen: Measured) -> tuple[PyTree, Actuation]:
        """The rate of what the law remembers, and what the actuators give, within their limits.

        The wheel gives what it can of the torque, thrusters the rest, and the force.
        """
        rate, command = self.law.act(memory, seen)
        own_axes = Quaternion.of(seen.chaser.attitude).matrix().array().T
        wheel = self.actuators.turn(command.torque, seen.chaser.rate, seen.wheel)
        thrust, jets = self.actuators.thruster(own_axes @ command.force, command.torque - wheel, seen.used)
        return as_floats(rate), Actuation(jnp.zeros(0), wheel, thrust, jets)


def as_floats(tree: PyTree) -> PyTree:
    """The numbers of a tree as arrays of floats."""
    return jax.tree.map(lambda number: jnp.asarray(number, float), tree)
