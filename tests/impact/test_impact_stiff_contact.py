"""Impact laws as the limit of stiff contacts: two free bodies in space that meet off their centres, simulated.

While a contact of stiffness k lasts, the bodies move and turn. So the velocities after it differ from those of the law by
an amount that falls as its duration does: with k^(−1/2) for a spring, and with k^(−2/5) for a force k d^(3/2).
"""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from dockdyn.impact import contact_matrix, resolve_impact, velocity_jump
from dockdyn.programs import Program

STIFFNESSES = 10.0 ** np.arange(5, 10)  # N/m
APPROACH = 0.3  # m/s
GAP = 1e-9  # m, at the start


resolved = Program(
    lambda law, matrix, velocity, numbers: resolve_impact(law, matrix, velocity, **numbers), static=("law",)
)


def cross(arm):
    """Matrix of arm × …"""
    return np.cross(np.eye(3), arm)


class Pair:
    """A probe of the chaser, about to touch a plate of the target. Velocities: linear and angular of both, inertial axes."""

    def __init__(self, seed, sliding=0.5):
        rng = np.random.default_rng(seed)
        self.masses = rng.uniform(40, 120, 2)  # kg
        own = Rotation.random(2, rng=rng).as_matrix()
        moments = self.masses[:, None] * rng.uniform(0.06, 0.1, (2, 3))  # kg m²
        self.inertias = [turn @ np.diag(three) @ turn.T for turn, three in zip(own, moments, strict=True)]
        self.attitudes = Rotation.random(2, rng=rng)
        self.turns = self.attitudes.as_matrix()
        self.arms = rng.uniform(-0.7, 0.7, (2, 3))  # m, body axes, from the centres of mass to where they touch
        self.axes = Rotation.random(rng=rng).as_matrix()  # rows: normal, two tangents

        self.mass, self.jacobian = np.zeros((12, 12)), np.zeros((3, 12))
        for body, sign in enumerate((1, -1)):
            linear, angular = slice(6 * body, 6 * body + 3), slice(6 * body + 3, 6 * body + 6)
            turn = self.turns[body]
            self.mass[linear, linear] = self.masses[body] * np.eye(3)
            self.mass[angular, angular] = turn @ self.inertias[body] @ turn.T
            self.jacobian[:, linear] = sign * self.axes
            self.jacobian[:, angular] = -sign * self.axes @ cross(turn @ self.arms[body])
        self.speeds = rng.normal(size=12) * 0.1  # m/s, rad/s
        self.speeds[:3] += self.axes.T @ ([-APPROACH, sliding, 0] - self.jacobian @ self.speeds)
        self.matrix = np.asarray(contact_matrix(self.jacobian, self.mass))

    def impact(self, law, **given):
        """The impact by a law, and the velocities after it."""
        numbers = {name: np.float64(value) for name, value in given.items()}
        impact = resolved(law, self.matrix, self.jacobian @ self.speeds, numbers)
        return impact, self.speeds + np.asarray(velocity_jump(self.jacobian, self.mass, impact.impulse))

    def body(self, index):
        linear, angular = self.speeds[6 * index :][:3], self.speeds[6 * index + 3 :][:3]
        return {
            "mass": self.masses[index],
            "inertia": self.inertias[index],
            "position": (1 - index) * GAP * self.axes[0] - self.turns[index] @ self.arms[index],
            "velocity": linear,
            "attitude": self.attitudes[index].as_quat(scalar_first=True),
            "rate": self.turns[index].T @ angular,
        }

    def contact(self, run, duration, **contact):
        """Velocities after a simulated contact, which must have ended."""
        plate = {"shape": "plane", "point": self.arms[1], "normal": self.turns[1].T @ self.axes[0]}
        result = run(
            {
                "duration": duration,
                "output": {"interval": duration / 100},
                "chaser": {**self.body(0), "feature": {"probe": {"position": self.arms[0]}}},
                "target": {**self.body(1), "surface": {"plate": plate}},
                "contact": {"probe": {"between": ["probe", "plate"], **contact}},
            }
        )
        end = result.isel(time=-1)
        assert result.sizes["episode"] == 1 and end["depth"].item() < -10 * GAP
        turns = Rotation.from_quat(end["attitude"].values, scalar_first=True)
        return np.hstack([end["velocity"].values, turns.apply(end["rate"].values)]).ravel()

    def difference(self, found, expected):
        """Root of the kinetic energy of the difference over that of the jump."""
        wrong, jump = found - expected, expected - self.speeds
        return np.sqrt(wrong @ self.mass @ wrong / (jump @ self.mass @ jump))


def convergence(pair, expected, contact):
    """The errors at all stiffnesses, and the power of the stiffness with which they fall."""
    errors = [pair.difference(contact(stiffness), expected) for stiffness in STIFFNESSES]
    return errors, np.polyfit(np.log(STIFFNESSES), np.log(errors), 1)[0]


@pytest.mark.full
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("damping_ratio", [0.0, 0.3])
def test_spring_and_dashpot(run, damping_ratio, seed):
    """Lossless: e = 1; damped: e = exp(−2ζ/√(1 − ζ²) acos ζ), that of a contact that ends with its force."""
    pair = Pair(seed)
    root = np.sqrt(1 - damping_ratio**2)
    restitution = np.exp(-2 * damping_ratio / root * np.arccos(damping_ratio))
    _, expected = pair.impact("frictionless", restitution=restitution)

    def contact(stiffness):
        mass = 1 / pair.matrix[0, 0]
        damping = 2 * damping_ratio * np.sqrt(stiffness * mass)
        normal = {"law": "spring-dashpot", "stiffness": stiffness, "damping": damping}
        return pair.contact(run, 1.5 * np.pi * np.sqrt(mass / stiffness), normal=normal)

    errors, power = convergence(pair, expected, contact)
    assert -0.52 < power < -0.48 and errors[-1] < 2e-4


@pytest.mark.full_cases("1.0-0", "1.0-1", "1.0-2", "0.6-1", "0.6-2")
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("restitution", [1.0, 0.6])
def test_hunt_crossley(run, restitution, seed):
    """The law with damping for a given restitution, with an exponent of 3/2."""
    pair = Pair(seed)
    _, expected = pair.impact("frictionless", restitution=restitution)

    def contact(stiffness):
        normal = {"law": "hunt-crossley", "stiffness": stiffness, "restitution": restitution, "speed": APPROACH}
        # Hertz: 2.94 × greatest depth / speed
        depth = (1.25 * APPROACH**2 / pair.matrix[0, 0] / stiffness) ** 0.4
        return pair.contact(run, 1.5 * 2.94 * depth / APPROACH, normal=normal)

    errors, power = convergence(pair, expected, contact)
    assert -0.42 < power < -0.38 and errors[-1] < 1e-3


@pytest.mark.full
@pytest.mark.parametrize(
    ("seed", "sliding", "friction", "end"),
    [(0, 0.5, 0.2, "slides"), (1, 0.5, 0.2, "slides"), (0, 0.1, 0.8, "sticks"), (9, 0.1, 0.8, "turns")],
)
def test_friction(run, seed, sliding, friction, end):
    """A lossless spring gives back the work that it took: e = 1 of the energetic law, not Poisson's nor Newton's e = 1."""
    pair = Pair(seed, sliding)
    impact, expected = pair.impact("energetic", restitution=1, friction=friction)
    assert (bool(impact.stick), bool(impact.reversal)) == (end == "sticks", end == "turns")

    def contact(stiffness):
        normal = {"law": "spring-dashpot", "stiffness": stiffness}
        # a sticking contact creeps at about the regularisation; this is far below all errors
        coulomb = {"law": "coulomb", "coefficient": friction, "regularisation": 1e-6}
        duration = 1.5 * np.pi / np.sqrt(pair.matrix[0, 0] * stiffness)
        return pair.contact(run, duration, normal=normal, friction=coulomb)

    errors, power = convergence(pair, expected, contact)
    assert -0.52 < power < -0.48 and errors[-1] < 2e-4
    if end != "slides":
        assert min(abs(impact.newton - 1), abs(impact.poisson - 1)) > 10 * errors[-1]
