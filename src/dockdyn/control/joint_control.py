"""Joint and base torques from angles and rates: PD, rate damping, a wheel that holds the base's attitude.

Units: rad, rad/s, N m.
Source: PD control of joints, e.g. Siciliano et al. 2009, Robotics, section 8.5.
"""

from __future__ import annotations

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from dockdyn.control.actuators import Actuation, Actuators
from dockdyn.control.plant import Plant, attitude_error, turning_axes, turning_columns


def proportional_derivative(
    stiffness: Float[Array, "n"], damping: Float[Array, "n"], error: Float[Array, "n"], rate: Float[Array, "n"]
) -> Float[Array, "n"]:
    """Torques (N m, N) −Kp e − Kd ė."""
    return -stiffness * error - damping * rate


class JointControl(eqx.Module):
    """Torques −Kp (x − reference) − Kd ẋ: on joints by motors, on the base by a wheel. A `Law`.

    Knows the angles and rates of joints and the base's attitude and rate; neither masses, nor the target, nor vibration.
    One gain and damping for every velocity of the chaser; those of the base's translation and of modes are zero.
    """

    stiffness: Float[Array, "n"]  # Kp, N m/rad
    damping: Float[Array, "n"]  # Kd, N m s/rad
    attitude: Float[Array, "4"]  # reference of the base
    joints: Float[Array, "joints"]  # references, rad or m

    def act(self, plant: Plant, actuators: Actuators) -> Actuation:
        tree, q = plant.trees[0], plant.q[0]
        at = jnp.array(turning_columns(tree), int)
        axes = jnp.array(turning_axes(tree), int)
        v = plant.v[: plant.own]
        error = jnp.zeros_like(v).at[jnp.array(tree.joint_columns(), int)].set(q.joints - self.joints)
        error = error.at[at].set(attitude_error(self.attitude, q.attitude)[axes])
        wanted = proportional_derivative(self.stiffness, self.damping, error, v)
        wheel = actuators.turn(jnp.zeros(3).at[axes].set(wanted[at]), plant.turning(), plant.wheel)
        return Actuation(actuators.drive(wanted.at[at].set(0.0)), wheel, jnp.zeros(3), jnp.zeros(3))
