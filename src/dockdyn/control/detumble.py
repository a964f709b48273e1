"""Resolved-momentum control: the arm comes to rest while a wheel or thrusters take up the momentum of a tumbling catch.

Dimitrov and Yoshida, “Momentum distribution in a space manipulator for facilitating the post-impact control”, IROS 2004;
Yoshida and Umetani, “Resolved motion rate control of space manipulators with generalized Jacobian matrix”, 1989.

Units: rad/s, N m, N m s, s.
Source: as named above.
"""

from __future__ import annotations

import math

from dockdyn.control.actuators import Actuation, Actuators, join_corners
from dockdyn.control.plant import ArmPlant
from dockdyn.deferred import Array, Float, jnp
from dockdyn.mechanics.rotation import Quaternion
from dockdyn.trees import Module, field

HUNDREDTH = math.log(100)


class Detumble(Module):
    """Momentum and joint rates decay at the rate γ = ln(100)/time where limits allow. A `Law`.

    Angular momentum L of both bodies (the wheel's left out) about their common centre of mass is what torque on the base
    takes, however the arm moves: L̇ = −γ L. The wheel gives what it can, thrusters the rest; their force takes the linear
    momentum the same way. Joint torques then follow from the motion of the whole system as if its links were rigid:
    θ̈ = −γ θ̇ under that torque on the base; where one exceeds its limit, all are scaled down alike.

    Knows angles, rates, the wheel's momentum, and masses and inertias of both trees; does not see vibration.
    """

    time: Float[Array, ""]  # s, in which momentum and joint rates fall to a hundredth
    free: tuple[int, ...] = field(static=True)  # joints that are not locked, by number

    def act(self, plant: ArmPlant, actuators: Actuators) -> Actuation:
        rate, found = HUNDREDTH / self.time, plant.momentum()
        back = Quaternion.of(plant.attitude()).matrix().array().T  # inertial → base
        thrust, _, of_thrust = actuators.thruster(-rate * back @ found.linear, jnp.zeros(3), plant.used)
        lever = back @ (plant.place() - found.centre)
        wanted = -rate * back @ found.spin() - jnp.cross(lever, thrust)
        wheel, of_wheel = actuators.turn(wanted, plant.turning(), plant.wheel)
        _, jets, of_jets = actuators.thruster(jnp.zeros(3), wanted - wheel, plant.used)
        _, rates = plant.joints()
        corners = join_corners([of_thrust, of_wheel, of_jets])
        given = Actuation(jnp.zeros_like(rates), wheel, thrust, jets, corners=corners)
        if not self.free:
            return given
        at, moved = jnp.array(self.free, int), plant.rigid_response(given)
        gain = moved.joint_gain[jnp.ix_(at, at)]
        torques = jnp.linalg.solve(gain, -rate * rates[at] - moved.joints[at])
        share, of_share = actuators.share_within(actuators.motors[at], torques)
        return given._replace(
            motors=given.motors.at[at].set(share * torques), corners=join_corners([corners, of_share])
        )
