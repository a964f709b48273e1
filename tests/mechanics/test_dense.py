"""Jacobians of functions of a row, in both ways of working their columns."""

import jax.numpy as jnp
import numpy as np
import pytest

from dockdyn.backend import BACKENDS, VARIABLE
from dockdyn.mechanics.dense import value_and_jacobian
from dockdyn.programs import Program


@pytest.mark.parametrize("backend", BACKENDS)
def test_value_and_jacobian(backend, monkeypatch):
    monkeypatch.setenv(VARIABLE, backend)

    @Program
    def of(x):
        return value_and_jacobian(lambda x: jnp.stack([x[0] * x[1], jnp.sin(x[2])]), x)

    value, slopes = of(np.array([2.0, -3.0, 0.5]))
    np.testing.assert_allclose(value, [-6.0, np.sin(0.5)], rtol=1e-15)
    np.testing.assert_allclose(slopes, [[-3.0, 2.0, 0.0], [0.0, 0.0, np.cos(0.5)]], rtol=1e-15)
