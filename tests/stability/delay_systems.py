"""Systems with delays, for tests of their roots and of their stable windows."""

import numpy as np


def some_systems(states, delays, number, seed):
    """Random systems, about half of them stable."""
    rng = np.random.default_rng([seed, states, delays])
    matrices = rng.normal(size=(number, delays + 1, states, states))
    matrices[::2, 0] -= 3 * np.eye(states)
    return matrices, rng.uniform(0.05, 1.5, (number, delays))


def stiff_systems(number, seed):
    """Time scales of the states over four decades: the rates span 0.03 to 300 1/s."""
    rng = np.random.default_rng(seed)
    matrices = rng.normal(size=(number, 2, 3, 3))
    matrices[:, 0] -= 2 * np.eye(3)
    rates = 10 ** np.array([-1.5, 0.5, 2.5])
    return matrices * rates[:, None], rng.uniform(0.05, 0.5, (number, 1))


def delta(s, matrices, delays):
    """Characteristic matrices at many s."""
    s = np.asarray(s)[..., None, None]
    whole = s * np.eye(matrices.shape[-1]) - matrices[0]
    for matrix, delay in zip(matrices[1:], delays, strict=True):
        whole = whole - np.exp(-s * delay) * matrix
    return whole
