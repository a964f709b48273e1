"""Two bodies on a rig with continuous dynamics, in SciPy, for tests: shares no code with the package.

The reference of one axis with other equations: Newton's and Euler's for the bodies; the robot's six axes are the place of
the chaser's centre of mass and the rotation vector of its turn since t = 0, both in the target's axes. A ball of the
chaser meets a sphere or plane of the target, with friction.
"""

from dataclasses import dataclass

import numpy as np
from dop853_reference import PRESSING, Body, Touching, rotation
from rig_continuous_reference import Run
from scipy.spatial.transform import Rotation
from vectors import cross


@dataclass(frozen=True)
class Numbers:
    """A rig of two bodies: SI units. Its contact never pulls."""

    chaser: Body
    target: Body
    contact: Touching
    hold: float
    delay: float
    poles: tuple[complex, ...]
    zeros: tuple[float, ...] = ()
    half: float = 0.0
    sensor_period: float | None = None
    virtual: None = None


def left_jacobian(vector):
    """From the rate of a rotation vector to the angular velocity, in the axes that stand still."""
    angle = np.linalg.norm(vector)
    x, y, z = vector
    skew = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    if angle < 1e-4:
        return np.eye(3) + skew / 2 + skew @ skew / 6
    first, second = (1 - np.cos(angle)) / angle**2, (angle - np.sin(angle)) / angle**3
    return np.eye(3) + first * skew + second * skew @ skew


class BodiesRun(Run):
    """The motion of both bodies; `states` are theirs one after the other: position, velocity, quaternion, rate."""

    @property
    def bodies(self):
        return self.rig.chaser, self.rig.target

    def begin(self):
        y = np.concatenate([body.start for body in self.bodies])
        self.reference = rotation(y[19:23]).T @ rotation(y[6:10])
        return y

    def commanded(self, y):
        (xc, vc, rc, wc), (xt, vt, rt, wt) = self.rig.chaser.split(y[:13]), self.rig.target.split(y[13:])
        place = rt.T @ (xc - xt)
        turn = Rotation.from_matrix(rt.T @ rc @ self.reference.T).as_rotvec()
        spin = np.linalg.solve(left_jacobian(turn), rt.T @ rc @ wc - wt)
        return np.concatenate([place, turn]), np.concatenate([rt.T @ (vc - vt) - cross(wt, place), spin])

    def laboratory(self, place, speed):
        """The mock-ups as the states of two bodies, the target's at rest."""
        turn = Rotation.from_rotvec(place[3:]).as_matrix() @ self.reference
        spin = turn.T @ left_jacobian(place[3:]) @ speed[3:]
        quaternion = Rotation.from_matrix(turn).as_quat(scalar_first=True)
        still = np.concatenate([np.zeros(6), [1.0, 0, 0, 0], np.zeros(3)])
        return np.concatenate([place[:3], speed[:3], quaternion, spin, still])

    def touch(self, place, speed):
        y = self.laboratory(place, speed)
        depth, *_ = self.rig.contact.kinematics(self.bodies, y)
        return depth, self.rig.contact.elastic(self.bodies, y)

    def load(self, place, speed, acts):
        """Force on the chaser and torque about its centre of mass."""
        if not acts:
            return np.zeros(6)
        y = self.laboratory(place, speed)
        _, force = self.rig.contact.force(self.bodies, y, PRESSING)
        *_, point = self.rig.contact.geometry(self.bodies, y)
        return np.concatenate([force, cross(point - place[:3], force)])

    def flow(self, y, load, touches):
        load = np.zeros(6) if np.isscalar(load) else load
        turn = rotation(y[19:23])
        force, torque, lever = turn @ load[:3], turn @ load[3:], y[:3] - y[13:16]
        return np.concatenate(
            [
                self.rig.chaser.derivative(y[:13], force, torque),
                self.rig.target.derivative(y[13:], -force, -torque - cross(lever, force)),
            ]
        )
