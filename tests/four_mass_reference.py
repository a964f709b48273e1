"""Four masses on a line, without damping, by SciPy and by eigenvalues."""

import numpy as np
from scipy.integrate import solve_ivp
from scipy.linalg import eigh

CASE_A = (17.0, 2.0, 1.5, 15.0)  # kg
SPEED, CONTACT = 0.05, 15000.0  # m/s, N/m


class Line:
    """Four masses, undamped, with these stiffnesses of chaser and target over that of the contact."""

    def __init__(self, ratios, masses=CASE_A):
        self.masses = np.array(masses, float)
        stretch = np.diff(np.eye(4), axis=0)
        springs = CONTACT * np.array([ratios[0], 1.0, ratios[1]])  # N/m
        self.closed = (stretch.T * springs) @ stretch / self.masses[:, None]

    def after_first_contact(self):
        """Relative velocity of the centres of mass: integrated until m₂ and m₃ part."""

        def parted(t, y):
            return y[1] - y[2]

        parted.terminal, parted.direction = True, -1
        start = [0, 0, 0, 0, SPEED, SPEED, 0, 0]
        run = solve_ivp(
            lambda t, y: np.r_[y[4:], -self.closed @ y[:4]],
            (0, 2),
            start,
            "DOP853",
            events=parted,
            rtol=1e-11,
            atol=1e-14,
            max_step=2e-4,
        )
        v = run.y[4:, -1]
        return np.average(v[:2], weights=self.masses[:2]) - np.average(v[2:], weights=self.masses[2:])

    def first_minimum(self):
        """Depth (m) when m₂ and m₃, kept together by a contact that pulls, have first come apart the most."""
        squares, shapes = eigh(self.closed * self.masses[:, None], np.diag(self.masses))
        share = (shapes[1] - shapes[2])[1:] * (shapes.T @ (self.masses * [SPEED, SPEED, 0, 0]))[1:]
        frequency = np.sqrt(squares[1:])
        times = np.linspace(0, 0.6, 200_001)
        depth = (share / frequency) @ np.sin(np.outer(frequency, times))
        turns = np.flatnonzero((np.diff(depth)[:-1] < 0) & (np.diff(depth)[1:] >= 0))
        return depth[turns[0] + 1]
