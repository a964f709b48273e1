"""A ball on a fixed plane: its tables, and its bounce with friction that sticks by other means: NumPy, small even steps, slices
of its own."""

from typing import NamedTuple

import numpy as np
from scipy.spatial.transform import Rotation

RADIUS, MASS = 0.04, 1.3
INERTIA = 0.37 * MASS * RADIUS**2
GAP = 1e-6  # m, before they touch


def ball_on_plane(velocity, rate, normal, friction, turn=None, **tables):
    """Return the tables of a ball that flies onto a fixed plane, all of it turned."""
    turn = Rotation.identity() if turn is None else turn
    return {
        "schema": 2,
        "duration": 0.2,
        "integrator": {"tolerance": 1e-11},
        "body": {
            "ball": {
                "mass": MASS,
                "inertia": [INERTIA] * 3,
                "position": turn.apply([0.0, 0.0, RADIUS + GAP]),
                "velocity": turn.apply(velocity),
                "attitude": turn.as_quat(scalar_first=True),
                "rate": rate,
                "feature": {"tip": {"position": [0.0, 0.0, 0.0], "radius": RADIUS}},
            },
            "anvil": {
                "fixed": True,
                "position": [0.0, 0.0, 0.0],
                "attitude": turn.as_quat(scalar_first=True),
                "surface": {"top": {"shape": "plane", "point": [0.0, 0.0, 0.0], "normal": [0.0, 0.0, 1.0]}},
            },
        },
        "contact": {"hit": {"between": ["ball.tip", "anvil.top"], "normal": normal, "friction": friction}},
        **tables,
    }


class Sticking(NamedTuple):
    """The contact: springs k (N/m) side by side that touch at depths g (m), and friction between them and the ball."""

    places: np.ndarray
    stiffness: np.ndarray
    damping: object  # of depth and rate: the force (N) beside the springs
    ratio: float
    coefficient: float
    static: float
    speed: float

    def pressing(self, depth, rate):
        elastic = np.sum(self.stiffness * np.maximum(depth - self.places, 0))
        return elastic, max(elastic + self.damping(depth, rate), 0.0)

    def slip(self, depth, rate, sliding, stretch):
        """Return the normal force, the tangential one and the stretch that is left."""
        elastic, pressing = self.pressing(depth, rate)
        if elastic <= 0:
            return 0.0, np.zeros(2), 0 * stretch
        fall = np.exp(-np.sum(sliding**2) / self.speed**2)
        limit = self.coefficient + (self.static - self.coefficient) * fall
        most = limit / self.ratio * np.maximum(depth - self.places, 0) * pressing / elastic
        size = np.sqrt(np.sum(stretch**2, axis=1))
        share = np.where(size > most, most / np.where(size > 0, size, 1.0), 1.0)
        left = stretch * share[:, None]
        return pressing, -self.ratio * self.stiffness @ left, left


def bounce(contact, mass, inertia, radius, velocity, spin, step):
    """Return velocity and spin after a ball, which touches at t = 0 the plane z = 0, has left it.

    Steps by Störmer and Verlet, each ending in a return to the friction cone.
    """
    velocity, spin = np.array(velocity, float), np.array(spin, float)
    depth, stretch = 0.0, np.zeros((len(contact.places), 2))

    def surface():
        return np.array([velocity[0] - spin[1] * radius, velocity[1] + spin[0] * radius])

    def kick(normal, along, length):
        velocity[:] += np.array([*along, normal]) * length / mass
        spin[:] += np.array([along[1], -along[0], 0.0]) * radius * length / inertia

    normal, along = contact.pressing(0.0, -velocity[2])[1], np.zeros(2)
    while True:
        kick(normal, along, step / 2)
        before = depth
        depth -= velocity[2] * step
        if depth <= 0 and velocity[2] > 0:
            return velocity, spin
        later = contact.places > before
        since = np.where(later, np.clip((depth - contact.places) / max(depth - before, 1e-30), 0, 1), 1.0)
        tried = stretch + surface() * step * since[:, None]
        normal, along, stretch = contact.slip(depth, -velocity[2], surface(), tried)
        kick(normal, along, step / 2)
