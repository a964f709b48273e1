"""Cross-check: three bodies with elements between them, beside equations of motion written on their own and SciPy's DOP853.

Nothing of the package is used for the physics: the bodies are those of `dop853_reference`; a bushing's wrench is found by
solving with the Jacobian of the rotation vector, where the product has its inverse in closed form, its angles by SciPy;
reflected inertia by the dense system of all velocities, where the product solves for the forces along the lines.
"""

import jax.numpy as jnp
import numpy as np
import pytest
from bushing_reference import bushing_wrench
from dop853_reference import Body
from element_system import Run, anchors, body, numbers, pose, system
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation
from vectors import cross

from dockdyn.elements import Bushing, Cable, ElementGroup, GapPull, Magnet, Strut, one_sided
from dockdyn.mechanics.rigid_body import Twist

DURATION, AGREEMENT = 2.0, 1e-8
MASSES = (35.0, 420.0, 900.0)
TENSORS = tuple(
    np.array(t, float)
    for t in (
        [[13, 0.4, -0.3], [0.4, 7, 0.2], [-0.3, 0.2, 7.5]],
        [[240, 5, -3], [5, 400, 2], [-3, 2, 410]],
        [[900, 30, 10], [30, 1200, -20], [10, -20, 1400]],
    )
)
PLACES = np.array([[2.85, 0.01, -0.02], [0, 0, 0], [4.6, 0.3, 0.1]])
TURNS = np.array([[0.02, -0.03, 0.05], [0, 0, 0], [0.4, 0.2, -0.1]])
SPEEDS = np.array([[-0.2, 0.05, 0.02], [0.05, 0.0, 0.01], [-0.1, -0.05, 0.02]])
RATES = np.array([[0.1, 0.2, -0.1], [0.01, 0.0, 0.02], [0.02, -0.03, 0.01]])

STRUTS = [  # anchors on body 0 and on body 1, free length, stiffness, damping, motor's speed, mass
    ((-0.1, 0.5, 0.2), (2.3, 0.4, 0.3), 0.5, 900.0, 30.0, 0.04, 8.0),
    ((-0.1, -0.3, 0.4), (2.2, -0.4, 0.1), 0.6, 1200.0, 20.0, -0.03, 15.0),
]
FRAMES = ((0.1, 0.2, -0.1), (0.3, -0.2, 0.5)), ((-1.6, 0.1, -0.05), (-0.4, 0.1, 0.2))  # on body 0 and on body 2
MIXED = np.array([[20.0, 3, 1, 0.5, -1, 2]] * 6) * 0.1 + np.diag([18.0, 14.0, 15.0, 9.0, 8.0, 7.0])
STIFFNESS, DAMPING = MIXED @ MIXED.T, np.diag([9.0, 8.0, 7.0, 3.0, 2.0, 4.0])
MAGNET = ((0.4, -0.3, 0.2), (-1.2, 0.1, -0.4), 300.0, 0.5)  # on bodies 0 and 2, holding force, reach
CABLE = ((0.2, 0.1, 0.0), (-0.5, 0.2, 0.1), 1.5, 60.0, 3.0)  # on bodies 1 and 2, always taut


def product():
    struts = [
        Strut(anchors(own, other), **numbers(free_length=free, stiffness=k, damping=c, speed=v, moved_mass=m))
        for own, other, free, k, c, v, m in STRUTS
    ]
    bushing = Bushing(pose(*FRAMES[0]), pose(*FRAMES[1]), jnp.asarray(STIFFNESS), jnp.asarray(DAMPING))
    pull = GapPull(**numbers(holding=MAGNET[2], reach=MAGNET[3]))
    cable = Cable(anchors(*CABLE[:2]), jnp.asarray(CABLE[2]), one_sided(*CABLE[3:]))
    bodies = [body(m, np.diag(t), (t[0, 1], t[0, 2], t[1, 2])) for m, t in zip(MASSES, TENSORS, strict=True)]
    return system(
        bodies,
        map(pose, PLACES, TURNS),
        map(Twist.of, SPEEDS, RATES),
        (ElementGroup.of(struts), 0, 1),
        (bushing, 0, 2),
        (Magnet(anchors(*MAGNET[:2]), pull, jnp.asarray(0.0)), 0, 2),
        (cable, 1, 2),
    )


# --- the reference ---------------------------------------------------------------------------------------------------


class Reference:
    """State: 13 numbers a body, then motor travels, work, and dissipated energy of all elements."""

    def __init__(self):
        self.bodies = [Body(m, t, None) for m, t in zip(MASSES, TENSORS, strict=True)]

    def rows(self, y):
        return [y[13 * i : 13 * i + 13] for i in range(3)]

    def point(self, y, i, place):
        position, _, turn, _ = self.bodies[i].split(self.rows(y)[i])
        return position + turn @ np.asarray(place)

    def velocity(self, y, i, point):
        return self.bodies[i].point_velocity(self.rows(y)[i], point)

    def line(self, y, i, j, places):
        a, b = self.point(y, i, places[0]), self.point(y, j, places[1])
        along = (a - b) / np.linalg.norm(a - b)
        return a, b, along, np.linalg.norm(a - b), (self.velocity(y, i, a) - self.velocity(y, j, b)) @ along

    def bushing(self, y):
        """Force and moment on body 0 at a point, and what is dissipated."""
        own, other = (self.bodies[i].split(self.rows(y)[i]) for i in (0, 2))
        frames = [(np.array(place), Rotation.from_rotvec(turn).as_matrix()) for place, turn in FRAMES]
        return bushing_wrench(own, other, frames, STIFFNESS, DAMPING)

    def derivative(self, _, y):
        loads = np.zeros((3, 6))  # force and moment about the centre of mass, inertial
        centres = [row[:3] for row in self.rows(y)]

        def push(i, j, force, point, other_point=None):
            other_point = point if other_point is None else other_point
            loads[i] += np.concatenate([force, cross(point - centres[i], force)])
            loads[j] -= np.concatenate([force, cross(other_point - centres[j], force)])

        speeds, works, lost, rows = [], 0.0, 0.0, []
        for (own, other, free, k, c, v, m), travel in zip(STRUTS, y[39:41], strict=True):
            a, b, along, length, rate = self.line(y, 0, 1, (own, other))
            tension = k * (length - free - travel) + c * (rate - v)
            push(0, 1, -tension * along, a, b)
            speeds.append(v)
            works -= tension * v
            lost += c * (rate - v) ** 2
            rows.append((m, a, b, along, length, rate))
        force, moment, point, power = self.bushing(y)
        push(0, 2, force, point)
        loads[0, 3:] += moment
        loads[2, 3:] -= moment
        lost += power
        a, b, along, gap, _ = self.line(y, 0, 2, MAGNET[:2])
        push(0, 2, -MAGNET[2] / (1 + gap / MAGNET[3]) ** 2 * along, a, b)
        a, b, along, length, rate = self.line(y, 1, 2, CABLE[:2])
        tension = CABLE[3] * (length - CABLE[2]) + CABLE[4] * rate
        assert tension > 0 and length > CABLE[2]
        push(1, 2, -tension * along, a, b)
        lost += CABLE[4] * rate**2
        return np.concatenate([*self.moved(y, loads, rows), speeds, [works, lost]])

    def moved(self, y, loads, rows):
        """The bodies' rates, with the masses that move along lines, from the dense system of inertial accelerations."""
        mass, right = np.zeros((18, 18)), np.zeros(18)
        for i, one in enumerate(self.bodies):
            _, _, turn, rate = one.split(self.rows(y)[i])
            tensor, spin = turn @ one.inertia @ turn.T, turn @ rate
            at = 6 * i
            mass[at : at + 3, at : at + 3] = one.mass * np.eye(3)
            mass[at + 3 : at + 6, at + 3 : at + 6] = tensor
            right[at : at + 6] = loads[i] - np.concatenate([np.zeros(3), cross(spin, tensor @ spin)])
        for m, a, b, along, length, rate in rows:
            row, inward = np.zeros(18), np.zeros(3)
            for i, point, sign in ((0, a, 1.0), (1, b, -1.0)):
                position, _, turn, own = self.bodies[i].split(self.rows(y)[i])
                arm, spin = point - position, turn @ own
                row[6 * i : 6 * i + 6] = sign * np.concatenate([along, cross(arm, along)])
                inward += sign * cross(spin, cross(spin, arm))
            velocity = self.velocity(y, 0, a) - self.velocity(y, 1, b)
            drift = inward @ along + (velocity @ velocity - rate**2) / length
            mass += m * np.outer(row, row)
            right -= m * drift * row
        accelerations = np.linalg.solve(mass, right).reshape(3, 6)
        for i, one in enumerate(self.bodies):
            row = self.rows(y)[i]
            _, velocity, turn, rate = one.split(row)
            w, v = row[6], row[7:10]
            attitude = 0.5 * np.concatenate([[-v @ rate], w * rate + cross(v, rate)])
            yield np.concatenate([velocity, accelerations[i, :3], attitude, turn.T @ accelerations[i, 3:]])

    def history(self, times):
        quaternions = Rotation.from_rotvec(TURNS).as_quat(scalar_first=True)
        start = np.concatenate([np.hstack([PLACES, SPEEDS, quaternions, RATES]).ravel(), np.zeros(4)])
        found = solve_ivp(
            self.derivative, (0, DURATION), start, "DOP853", t_eval=times, rtol=1e-12, atol=1e-13, max_step=0.05
        )
        return found.y.T


@pytest.fixture(scope="module")
def histories():
    run = Run(product(), DURATION, samples=41)
    return run, Reference().history(run.times)


@pytest.mark.full
def test_motion_agrees_all_the_way(histories):
    run, reference = histories
    x = run.solution.samples.state
    for i in range(3):
        row = reference[:, 13 * i : 13 * i + 13]
        attitude = row[:, 6:10] / np.linalg.norm(row[:, 6:10], axis=1)[:, None]
        seen = x.q[i].attitude.array().T
        for found, expected in (
            (x.q[i].position.array().T, row[:, :3]),
            (x.v[i].velocity.array().T, row[:, 3:6]),
            (seen * np.sign(np.sum(seen * attitude, axis=1))[:, None], attitude),
            (x.v[i].rate.array().T, row[:, 10:13]),
        ):
            np.testing.assert_allclose(found, expected, rtol=0, atol=AGREEMENT)


def test_travel_work_and_dissipation_agree(histories):
    run, reference = histories
    memory = run.solution.samples.state.memory
    np.testing.assert_allclose(memory[0].travel, reference[:, 39:41], rtol=0, atol=AGREEMENT)
    size = np.abs(run.balance["moving"]).max()
    np.testing.assert_allclose(run.balance["work"], reference[:, 41], rtol=0, atol=AGREEMENT * size)
    np.testing.assert_allclose(run.balance["lost"], reference[:, 42], rtol=0, atol=AGREEMENT * size)
    assert run.events == 0 and run.balance["lost"][-1] > 0.1 * size
