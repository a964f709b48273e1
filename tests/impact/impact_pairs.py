"""Pairs of rigid bodies in space that strike each other, for tests of impact laws."""

from typing import NamedTuple

import numpy as np
from impact_cases import batched, solver
from scipy.spatial.transform import Rotation

from dockdyn.impact import contact_matrix, velocity_jump


def cross(arm):
    """Matrix of arm × …"""
    return np.cross(np.eye(3), np.asarray(arm)[..., None, :])


class Pairs(NamedTuple):
    """Pairs of bodies that touch off their centres; velocity and rate of the first, then of the second, inertial axes."""

    mass: np.ndarray  # 12 × 12
    jacobian: np.ndarray  # 6 × 12: normal, tangents, then moments about them
    speeds: np.ndarray  # 12
    turning: np.ndarray  # 12 × 3: velocities if all turn about the contact as one


def pairs(count, turn=None, tangent=0.0):
    """`turn` turns everything; `tangent` (rad) turns the tangents about the normal."""
    rng = np.random.default_rng(77)
    turn = np.eye(3) if turn is None else turn
    back = np.swapaxes(turn, -1, -2)
    rows = Rotation.random(count, rng=rng).as_matrix()
    own = Rotation.random(2 * count, rng=rng).as_matrix().reshape(2, count, 3, 3)
    weights = rng.uniform(0.5, 20, (2, count))[..., None, None]
    inertias = weights * own * rng.uniform(0.2, 0.35, (2, count, 1, 3)) @ np.swapaxes(own, -1, -2)
    arms = rng.uniform(-0.6, 0.6, (2, count, 3))
    speeds = rng.normal(size=(count, 12))
    closing = -2 - rng.uniform(size=count)

    rows = Rotation.from_rotvec(np.multiply.outer(tangent, [1, 0, 0])).as_matrix() @ rows @ back
    mass, jacobian, turning = np.zeros((count, 12, 12)), np.zeros((count, 6, 12)), np.zeros((count, 12, 3))
    for body, sign in enumerate((1, -1)):
        linear, angular = slice(6 * body, 6 * body + 3), slice(6 * body + 3, 6 * body + 6)
        arm = cross((turn @ arms[body][..., None])[..., 0])
        mass[:, linear, linear] = weights[body] * np.eye(3)
        mass[:, angular, angular] = turn @ inertias[body] @ back
        jacobian[:, :3, linear], jacobian[:, :3, angular] = sign * rows, -sign * rows @ arm
        jacobian[:, 3:, angular] = sign * rows
        turning[:, linear], turning[:, angular] = arm, np.eye(3)
    speeds = (speeds.reshape(count, 4, 3) @ back).reshape(count, 12)
    speeds[:, :3] += rows[:, 0] * (closing - np.einsum("ni,ni->n", jacobian[:, 0], speeds))[:, None]
    return Pairs(mass, jacobian, speeds, turning)


def struck(law, two, rows, restitution, friction):
    """The impacts of pairs of bodies, and their velocities afterwards."""
    jacobian = two.jacobian[:, :rows]
    matrix = batched(contact_matrix)(jacobian, two.mass)
    velocity = np.einsum("nij,nj->ni", jacobian, two.speeds)
    count = len(velocity)
    found = solver(law)(matrix, velocity, np.full(count, restitution), np.full(count, friction))
    return found, two.speeds + batched(velocity_jump)(jacobian, two.mass, found.impulse)
