"""A rigid body held by a wheel and thrusters: attitude by PD, or rates damped; place and velocity likewise.

Units: rad, rad/s, m, m/s, N m, N.
Source: PD in the rotation vector, Wie 2008, Space Vehicle Dynamics and Control, chapter 7.
"""

from __future__ import annotations

from dockdyn.control.controller import Command, Controller, Measured
from dockdyn.control.plant import attitude_error
from dockdyn.control.reference import Reference
from dockdyn.deferred import Array, Float, PyTree
from dockdyn.mechanics.rotation import Quaternion


class PoseControl(Controller):
    """Torque −Kp δ − Kd ω, δ the rotation from the reference; force −kp (r − r₀) − kd (v − v₀) at the centre of mass.

    With a reference that turns, ω is the rate over its own. Knows place, attitude and their rates; not the masses, and of the
    other body what the reference takes of it.
    """

    stiffness: Float[Array, ""]  # Kp, N m/rad
    damping: Float[Array, ""]  # Kd, N m s/rad
    position_stiffness: Float[Array, ""]  # kp, N/m
    velocity_damping: Float[Array, ""]  # kd, N s/m
    reference: Reference

    def act(self, memory: PyTree, seen: Measured) -> tuple[PyTree, Command]:
        body, wanted = seen.chaser, self.reference.of(seen.target)
        turned = attitude_error(wanted.attitude, body.attitude)
        between = Quaternion.of(wanted.attitude).conjugate() * Quaternion.of(body.attitude)
        rate = body.rate - between.matrix().array().T @ wanted.rate
        away, drift = body.position - wanted.position, body.velocity - wanted.velocity
        force = -self.position_stiffness * away - self.velocity_damping * drift
        return memory, Command(force, -self.stiffness * turned - self.damping * rate)
