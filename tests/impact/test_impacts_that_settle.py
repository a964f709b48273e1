"""Impacts after which contacts stay together: no normal velocity is left, and what the law does across the normal stays."""

import jax.numpy as jnp
import numpy as np
import pytest
from impact_cases import contacts

from dockdyn.impact import resolve_impact
from dockdyn.impact.laws.result import end_slow_approach


@pytest.mark.full
@pytest.mark.parametrize("law", ["energetic", "poisson"])
def test_a_plastic_impact_keeps_its_friction(law):
    """Without restitution the law itself leaves no normal velocity: it is what it was, sliding and sticking."""
    matrices, velocities, _, frictions = contacts(40, 2, seed=3)
    for matrix, velocity, friction in zip(matrices, velocities, frictions, strict=True):
        plastic = resolve_impact(law, matrix, velocity, restitution=0.0, friction=friction)
        found = end_slow_approach(plastic, jnp.asarray(matrix), jnp.asarray(velocity), jnp.asarray(1e-6))
        np.testing.assert_allclose(found.impulse, plastic.impulse, rtol=1e-12, atol=1e-14)
        assert abs(found.impulse[1]) > 0


def test_a_slow_rebound_is_ended_and_takes_energy():
    """What the normal impulse is more than the law's is what ends the rebound; a faster one is the law's own."""
    matrices, velocities, restitutions, frictions = contacts(40, 2, seed=4)
    ended = 0
    for matrix, velocity, e, friction in zip(matrices, velocities, restitutions, frictions, strict=True):
        by_law = resolve_impact("energetic", matrix, velocity, restitution=e, friction=friction)
        found = end_slow_approach(by_law, jnp.asarray(matrix), jnp.asarray(velocity), jnp.asarray(0.2))
        if by_law.velocity[0] >= 0.2:
            np.testing.assert_array_equal(found.impulse, by_law.impulse)
            continue
        ended += 1
        assert abs(found.velocity[0]) < 1e-13 and found.impulse[1] == by_law.impulse[1]
        assert found.energy_loss >= by_law.energy_loss - 1e-14 * abs(by_law.energy_loss)
    assert 5 < ended < 35


def test_what_parts_slowly_is_not_struck():
    matrix, velocity = jnp.array([[2.0, 0.3], [0.3, 1.0]]), jnp.array([1e-7, 0.5])
    other = resolve_impact("energetic", matrix, np.array([-1.0, 0.5]), restitution=0.0, friction=0.4)
    found = end_slow_approach(
        other, matrix, velocity, jnp.asarray(1e-6)
    )  # whatever a law makes of what does not approach
    np.testing.assert_allclose(found.impulse, [-1e-7 / 2, 0.0], rtol=1e-12)
