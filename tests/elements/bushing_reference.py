"""A bushing's wrench written on its own, in NumPy and SciPy.

It is found by solving with the Jacobian of the rotation vector, where the product has its inverse in closed form.
"""

import numpy as np
from scipy.spatial.transform import Rotation


def skew(v):
    return np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])


def left_jacobian(turn):
    angle, across = np.linalg.norm(turn), skew(turn)
    if angle < 1e-6:
        return np.eye(3) + across / 2
    return np.eye(3) + (1 - np.cos(angle)) / angle**2 * across + (angle - np.sin(angle)) / angle**3 * across @ across


def bushing_wrench(own, other, frames, stiffness, damping):
    """Force and moment on the first body at a point, and what is dissipated.

    A body is position, velocity, rotation matrix and rate in its axes; a frame its place and matrix in the body's axes.
    """
    places, speeds, spins, turns = [], [], [], []
    for (position, velocity, turn, rate), (place, frame) in zip((own, other), frames, strict=True):
        spin = turn @ rate
        places.append(position + turn @ place)
        speeds.append(velocity + np.cross(spin, turn @ place))
        spins.append(spin)
        turns.append(turn @ frame)
    base, apart = turns[1], places[0] - places[1]
    theta = Rotation.from_matrix(base.T @ turns[0]).as_rotvec()
    jacobian = left_jacobian(theta)
    stretch = np.concatenate([base.T @ apart, theta])
    moves = speeds[0] - speeds[1] - np.cross(spins[1], apart)  # seen from the base
    moving = np.concatenate([base.T @ moves, np.linalg.solve(jacobian, base.T @ (spins[0] - spins[1]))])
    load = stiffness @ stretch + damping @ moving
    force, moment = -base @ load[:3], -base @ np.linalg.solve(jacobian.T, load[3:])
    return force, moment, places[0], moving @ damping @ moving
