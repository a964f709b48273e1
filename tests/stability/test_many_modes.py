"""The critical delay of a contact with a body of many modes: beside the sweep of one receptance, and in seconds."""

import numpy as np
import pytest

from dockdyn.stability.windows import stable_windows

STIFFNESS, DAMPING, MASS = 8e4, 60.0, 40.0


def structure(modes):
    """A mass, and modes of a body, on which the force of a contact between them acts late."""
    rng = np.random.default_rng(4)
    frequency = np.geomspace(80.0, 4000.0, modes)
    shape = rng.uniform(-0.3, 0.3, modes) * (80.0 / frequency) ** 0.5
    count = modes + 1
    row = np.concatenate([[1.0], shape])  # of the depth by coordinates
    state = np.zeros((2 * count, 2 * count))
    state[:count, count:] = np.eye(count)
    square, decay = np.concatenate([[900.0], frequency**2]), np.concatenate([[6.0], 0.06 * frequency])
    state[count:, :count], state[count:, count:] = -np.diag(square), -np.diag(decay)
    late = np.zeros_like(state)
    late[count:] = -np.outer(row / MASS, np.concatenate([STIFFNESS * row, DAMPING * row]))
    return np.stack([state, late]), square, decay, row


@pytest.mark.full_cases("60")
@pytest.mark.parametrize("modes", [20, 60])
def test_it_is_where_the_loop_has_gain_one(modes):
    matrices, square, decay, row = structure(modes)

    def loop(w):
        flexibility = (row**2 / MASS / (square - w[:, None] ** 2 + 1j * w[:, None] * decay)).sum(axis=1)
        return flexibility * (STIFFNESS + 1j * w * DAMPING)

    w = np.linspace(1.0, 6000.0, 2_000_001)
    gain = np.abs(loop(w))
    at = np.flatnonzero((gain[:-1] - 1) * (gain[1:] - 1) < 0)
    assert len(at)
    crossing = w[at] + (1 - gain[at]) / (gain[at + 1] - gain[at]) * (w[at + 1] - w[at])
    # 1 + L exp(−jωh) = 0
    delays = np.mod(np.angle(loop(crossing)) - np.pi, 2 * np.pi) / crossing
    found = stable_windows(matrices, np.array([0.01]), longest=float(delays.min()) * 1.5)
    assert found.critical_delay == pytest.approx(delays.min(), rel=1e-6)
