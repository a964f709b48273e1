"""Joint and base torques from angles and rates: PD, rate damping, a wheel that holds the base's attitude.

Units: rad, rad/s, N m.
Source: PD control of joints, e.g. Siciliano et al. 2009, Robotics, section 8.5.
"""

from __future__ import annotations

from dockdyn.control.actuators import Actuation, Actuators, join_corners
from dockdyn.control.plant import ArmPlant, attitude_error
from dockdyn.deferred import Array, Float, jnp
from dockdyn.trees import Module


def proportional_derivative(
    stiffness: Float[Array, "*n"], damping: Float[Array, "*n"], error: Float[Array, "n"], rate: Float[Array, "n"]
) -> Float[Array, "n"]:
    """Return torques (N m, N) −Kp e − Kd ė."""
    return -stiffness * error - damping * rate


class JointControl(Module):
    """Torques −Kp (x − reference) − Kd (ẋ − its rate): on joints by motors, on the base by a wheel. A `Law`.

    Knows the angles and rates of joints and the base's attitude and rate; neither masses, nor the target, nor vibration.
    """

    stiffness: Float[Array, "joints"]  # Kp, N m/rad or N/m
    damping: Float[Array, "joints"]  # Kd, N m s/rad or N s/m
    base_stiffness: Float[Array, ""]  # N m/rad
    base_damping: Float[Array, ""]  # N m s/rad
    attitude: Float[Array, "4"]  # reference of the base
    joints: Float[Array, "joints"]  # references, rad or m
    moving: Float[Array, "joints"] | None = None  # their rates; None: zero

    def act(self, plant: ArmPlant, actuators: Actuators) -> Actuation:
        coordinates, rates = plant.joints()
        against = rates if self.moving is None else rates - self.moving
        motors = proportional_derivative(self.stiffness, self.damping, coordinates - self.joints, against)
        axes, turning = jnp.array(plant.axes, int), plant.turning()
        error = attitude_error(self.attitude, plant.attitude())[axes]
        wanted = proportional_derivative(self.base_stiffness, self.base_damping, error, turning[axes])
        motors, of_motors = actuators.drive(motors)
        wheel, of_wheel = actuators.turn(jnp.zeros(3).at[axes].set(wanted), turning, plant.wheel)
        corners = join_corners([of_motors, of_wheel])
        return Actuation(motors, wheel, jnp.zeros(3), jnp.zeros(3), corners=corners)
