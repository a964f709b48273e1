"""A rigid body held by a wheel and thrusters: attitude by PD, or rates damped; place and velocity likewise.

Units: rad, rad/s, m, m/s, N m, N.
Source: PD in the rotation vector, Wie 2008, Space Vehicle Dynamics and Control, chapter 7.
"""

from __future__ import annotations

from typing import NamedTuple

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from dockdyn.control.actuators import Actuation, Actuators
from dockdyn.control.plant import attitude_error
from dockdyn.mechanics.rotation import Quaternion

Three = Float[Array, "3"]


class FreeBody(NamedTuple):
    """A free rigid body at an instant, as control sees it."""

    position: Three  # m, centre of mass, inertial axes, from the origin that a reference counts from
    velocity: Three  # m/s, inertial
    attitude: Float[Array, "4"]  # body to inertial
    rate: Three  # rad/s, body axes
    wheel: Three  # N m s, momentum of its wheel, body axes
    used: Float[Array, "2"]  # N s, N m s: what thrusters have used


class BodyHold(eqx.Module):
    """Torque −Kp δ − Kd ω, δ the rotation from the reference; force −kp (r − r₀) − kd (v − v₀) at the centre of mass.

    The wheel gives what it can of the torque, thrusters the rest, and the force; each within its limits. Knows place,
    attitude and their rates; neither masses nor the other body. A law like those of `Law`, of a body alone.
    """

    stiffness: Float[Array, ""]  # Kp, N m/rad
    damping: Float[Array, ""]  # Kd, N m s/rad
    attitude: Float[Array, "4"]  # reference
    position_stiffness: Float[Array, ""]  # kp, N/m
    velocity_damping: Float[Array, ""]  # kd, N s/m
    position: Three  # r₀, m, inertial axes
    velocity: Three  # v₀, m/s, inertial

    def act(self, body: FreeBody, actuators: Actuators) -> Actuation:
        """What the actuators give, within their limits."""
        torque = -self.stiffness * attitude_error(self.attitude, body.attitude) - self.damping * body.rate
        away, drift = body.position - self.position, body.velocity - self.velocity
        force = -self.position_stiffness * away - self.velocity_damping * drift
        own_axes = Quaternion.of(body.attitude).matrix().array().T
        wheel = actuators.turn(torque, body.rate, body.wheel)
        thrust, jets = actuators.thruster(own_axes @ force, torque - wheel, body.used)
        return Actuation(jnp.zeros(0), wheel, thrust, jets)


class BodyControl(eqx.Module):
    """A law of a free body and what it acts through."""

    law: BodyHold
    actuators: Actuators

    def act(self, body: FreeBody) -> Actuation:
        return self.law.act(body, self.actuators)
