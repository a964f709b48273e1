"""A docking by finite elements as one system of linear equations, all displacements of both vehicles, by Newmark's method.

Written with NumPy and SciPy alone, for small turns: M ü + C u̇ + K u = f in inertial axes, rigid motions among u. A ball on a
node of the first vehicle meets the inside of a cone on a node of the second. Its place and the cone's turn with their nodes;
what the contact does was decided one delay ago, and acts where the ball now touches.
"""

from typing import NamedTuple

import numpy as np
from scipy.linalg import block_diag, eigh, lu_factor, lu_solve
from scipy.spatial.transform import Rotation


class Contact(NamedTuple):
    """A ball in a cone: Hunt and Crossley's law with exponent 1, friction of Coulomb without a jump."""

    stiffness: float  # N/m
    damping: float  # s/m
    coefficient: float
    regularisation: float  # m/s
    radius: float  # m
    half_angle: float  # rad


class Vehicle(NamedTuple):
    """A full model, where it is, and the node of which something is a part that does not bend."""

    mass: np.ndarray
    stiffness: np.ndarray
    ratio: float  # of damping, in each of its free modes
    node: int
    place: np.ndarray  # m, of that node at t = 0
    arm: np.ndarray  # m, from there to the ball, or to the cone's apex
    velocity: np.ndarray  # m/s, of all of it at t = 0

    def damping(self):
        """M Φ diag(2 ζ ω) Φᵀ M over its elastic modes Φ with unit masses."""
        squares, shapes = eigh(self.stiffness, self.mass)
        moved = self.mass @ shapes[:, 6:]
        return moved * (2 * self.ratio * np.sqrt(squares[6:])) @ moved.T


class History(NamedTuple):
    """What came of it."""

    time: np.ndarray  # s
    pressed: np.ndarray  # N, the normal force that the contact decides
    acting: np.ndarray  # N, over time × axis, that acts on the first vehicle


def meeting(parts, contact, place, velocity):
    """What a contact decides (N), of it the normal force, where it is (m), and on which rows, of nodes where, it acts."""
    firsts = 6 * parts[0].node, len(parts[0].mass) + 6 * parts[1].node
    rows = [slice(first, first + 6) for first in firsts]
    at = [one.place + place[row][:3] for one, row in zip(parts, rows, strict=True)]
    turns = [Rotation.from_rotvec(place[row][3:]).as_matrix() for row in rows]
    moving, spin = ([velocity[row][part] for row in rows] for part in (slice(0, 3), slice(3, 6)))
    centre, apex = (p + turn @ one.arm for p, turn, one in zip(at, turns, parts, strict=True))
    axis = turns[1] @ [-1.0, 0.0, 0.0]
    along = (centre - apex) @ axis
    aside = centre - apex - along * axis
    out = aside / np.linalg.norm(aside)
    normal = axis * np.sin(contact.half_angle) - out * np.cos(contact.half_angle)
    depth = contact.radius - (centre - apex) @ normal
    point = centre - contact.radius * normal
    moved = [v + np.cross(w, point - p) for v, w, p in zip(moving, spin, at, strict=True)]
    relative = moved[0] - moved[1]
    rate = -relative @ normal
    sliding = relative + rate * normal
    pressed = max(contact.stiffness * depth * (1 + contact.damping * rate), 0.0) if depth > 0 else 0.0
    rubbed = contact.coefficient * pressed / np.sqrt(sliding @ sliding + contact.regularisation**2)
    return pressed * normal - rubbed * sliding, pressed, point, rows, at


def integrate(first, second, contact, delay, step, duration):
    """Newmark's method (β = 1/4, γ = 1/2), whose steps divide the delay: what acts at an instant is known before it."""
    late, count = round(delay / step), round(duration / step)
    parts = (first, second)
    mass, stiffness, damping = (
        block_diag(*parts_of) for parts_of in ([p.mass for p in parts], [p.stiffness for p in parts],
                                               [p.damping() for p in parts])
    )  # fmt: skip
    factors = lu_factor(mass + step / 2 * damping + step**2 / 4 * stiffness)
    place, velocity, answer = (np.zeros(len(mass)) for _ in range(3))
    for one, start in ((first, 0), (second, len(first.mass))):
        for axis in range(3):
            velocity[start + axis : start + len(one.mass) : 6] = one.velocity[axis]
    decided, acting, pressed = np.zeros((count + 1, 3)), np.zeros((count + 1, 3)), np.zeros(count + 1)
    for k in range(1, count + 1):
        guess, rate = place + step * velocity + step**2 / 4 * answer, velocity + step / 2 * answer
        loads = np.zeros(len(mass))
        if k > late:
            acting[k] = decided[k - late]
            _, _, point, rows, at = meeting(parts, contact, guess + step**2 / 4 * answer, rate + step / 2 * answer)
            for sign, row, origin in zip((1.0, -1.0), rows, at, strict=True):
                loads[row] = sign * np.concatenate([acting[k], np.cross(point - origin, acting[k])])
        answer = lu_solve(factors, loads - stiffness @ guess - damping @ rate)
        place, velocity = guess + step**2 / 4 * answer, rate + step / 2 * answer
        decided[k], pressed[k], *_ = meeting(parts, contact, place, velocity)
    return History(step * np.arange(count + 1), pressed, acting)


def struck_by_spring(mass, stiffness, start, row, gap, spring, step, count):
    """Newmark's method for two models in one, between which a spring acts once `row` @ u exceeds the gap: force over time."""
    free, held = (lu_factor(mass + step**2 / 4 * (stiffness + k * np.outer(row, row))) for k in (0.0, spring))
    place, velocity = np.zeros(len(start)), start.copy()
    answer, found = np.zeros(len(start)), []
    for _ in range(count):
        guess, rate = place + step * velocity + step**2 / 4 * answer, velocity + step / 2 * answer
        answer = lu_solve(free, -stiffness @ guess)
        if row @ (guess + step**2 / 4 * answer) > gap:
            pushed = spring * (row @ guess - gap) * row
            answer = lu_solve(held, -stiffness @ guess - pushed)
        place, velocity = guess + step**2 / 4 * answer, rate + step / 2 * answer
        found.append(spring * max(row @ place - gap, 0.0))
    return np.array(found)
