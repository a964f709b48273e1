"""A rigid body held by a wheel and thrusters: attitude by PD, or rates damped; place and velocity likewise.

Units: rad, rad/s, m, m/s, N m, N.
Source: PD in the rotation vector, Wie 2008, Space Vehicle Dynamics and Control, chapter 7.
"""

from __future__ import annotations

from jaxtyping import Array, Float, PyTree

from dockdyn.control.controller import Command, Controller, Measured, Three
from dockdyn.control.plant import attitude_error


class BodyHold(Controller):
    """Torque −Kp δ − Kd ω, δ the rotation from the reference; force −kp (r − r₀) − kd (v − v₀) at the centre of mass.

    Knows place, attitude and their rates; neither masses nor the other body.
    """

    stiffness: Float[Array, ""]  # Kp, N m/rad
    damping: Float[Array, ""]  # Kd, N m s/rad
    attitude: Float[Array, "4"]  # reference
    position_stiffness: Float[Array, ""]  # kp, N/m
    velocity_damping: Float[Array, ""]  # kd, N s/m
    position: Three  # r₀, m, inertial axes, from where positions count
    velocity: Three  # v₀, m/s, inertial

    def act(self, memory: PyTree, seen: Measured) -> tuple[PyTree, Command]:
        body = seen.chaser
        torque = -self.stiffness * attitude_error(self.attitude, body.attitude) - self.damping * body.rate
        away, drift = body.position - self.position, body.velocity - self.velocity
        return memory, Command(-self.position_stiffness * away - self.velocity_damping * drift, torque)
