"""Two free bodies that meet off their centres, here and in Pinocchio.

Pinocchio knows the bodies as two free flyers, with velocities in body axes at points that are not the centres of mass.
Here they are velocities of the centres of mass and angular velocities, in inertial axes.
"""

from typing import NamedTuple

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

pin = pytest.importorskip("pinocchio", reason="cross-check with Pinocchio (tests only)")


def cross(arm):
    """Matrix of arm × …"""
    return np.cross(np.eye(3), arm)


class Pair(NamedTuple):
    """The same two bodies here and there, before the impact."""

    mass: np.ndarray
    jacobian: np.ndarray  # rows: normal, two tangents
    speeds: np.ndarray
    to_here: np.ndarray  # velocities of Pinocchio's model → velocities here
    model: object
    data: object
    place: np.ndarray  # Pinocchio's configuration
    constraint: tuple  # Pinocchio's, that holds the two points together: models, data


def pair(seed):
    rng = np.random.default_rng(seed)
    contact, axes = rng.normal(size=3), Rotation.random(rng=rng).as_matrix()  # m; rows: normal, two tangents
    mass, jacobian, to_here = np.zeros((12, 12)), np.zeros((3, 12)), np.zeros((12, 12))
    model, place, points = pin.Model(), [], []
    for body, sign in enumerate((1, -1)):
        weight = rng.uniform(1, 9)  # kg
        own = Rotation.random(rng=rng).as_matrix()
        inertia = own @ np.diag(weight * rng.uniform(0.2, 0.35, 3)) @ own.T  # kg m², about the centre of mass
        centre, arm = rng.normal(size=3) * 0.1, rng.uniform(-0.5, 0.5, 3)  # m, body axes
        attitude = Rotation.random(rng=rng)
        turn = attitude.as_matrix()

        linear, angular = slice(6 * body, 6 * body + 3), slice(6 * body + 3, 6 * body + 6)
        mass[linear, linear], mass[angular, angular] = weight * np.eye(3), turn @ inertia @ turn.T
        jacobian[:, linear] = sign * axes
        jacobian[:, angular] = -sign * axes @ cross(turn @ (arm - centre))
        to_here[linear, linear], to_here[linear, angular] = turn, -turn @ cross(centre)
        to_here[angular, angular] = turn

        joint = model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), f"body {body}")
        model.appendBodyToJoint(joint, pin.Inertia(weight, centre, inertia), pin.SE3.Identity())
        place += [contact - turn @ arm, attitude.as_quat()]
        points += [joint, pin.SE3(turn.T @ axes.T, arm)]
    speeds = rng.normal(size=12)
    speeds *= -np.sign(jacobian[0] @ speeds)

    models, datas = pin.StdVec_RigidConstraintModel(), pin.StdVec_RigidConstraintData()
    models.append(pin.RigidConstraintModel(pin.ContactType.CONTACT_3D, model, *points, pin.ReferenceFrame.LOCAL))
    datas.append(models[0].createData())
    data = model.createData()
    pin.initConstraintDynamics(model, data, models, datas)
    place = np.concatenate(place)
    pin.crba(model, data, place)
    pin.computeJointJacobians(model, data, place)
    models[0].calc(model, data, datas[0])
    return Pair(mass, jacobian, speeds, to_here, model, data, place, (models, datas))
