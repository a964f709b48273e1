"""What a controller of a free body is: from what is measured it commands a force and a torque.

Units: N, N m, m, m/s, rad/s, N s, N m s.
Source: definition of the interface.
"""

from __future__ import annotations

import abc
from typing import NamedTuple

from dockdyn.deferred import Array, Float, PyTree, jnp
from dockdyn.mechanics.rotation import Quaternion
from dockdyn.trees import Module, map_leaves

type Three = Float[Array, "3"]


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

    def turning(self) -> Three:
        """Return the chaser's angular velocity (rad/s, its axes)."""
        return self.chaser.rate


class Command(NamedTuple):
    """What a controller asks for; actuators give it within their limits."""

    force: Three  # N, at the chaser's centre of mass, inertial axes
    torque: Three  # N m, chaser's axes


class Controller(Module):
    """A law that commands the force and the torque on a body of a mechanism, seen as the chaser.

    Without a sampling period it acts continuously: the integrator asks it wherever it evaluates the motion, also at trial
    points. So it must answer from what it is given alone, and smoothly. What it remembers (an integral, a filter, a clock) is
    a state like any other: it says the rate at which that changes. Its numbers are fields, declared as `dockdyn.parameter`,
    and are the keys of the table `[control]`; so are its static fields.
    """

    def init(self, seen: Measured) -> PyTree:
        """Return what it remembers at t = 0: an array of floats, or a tree of them; nothing unless it says so."""
        return ()

    @abc.abstractmethod
    def act(self, memory: PyTree, seen: Measured) -> tuple[PyTree, Command]:
        """Return the rate (1/s) at which what it remembers changes, of the same structure, and what it commands."""


def in_body_axes(vector: Three, body: FreeBody) -> Three:
    """Return a vector in inertial axes, in those of a body."""
    return Quaternion.of(body.attitude).matrix().array().T @ vector


def as_floats(tree: PyTree) -> PyTree:
    """Return the numbers of a tree as arrays of floats."""
    return map_leaves(lambda number: jnp.asarray(number, float), tree)
