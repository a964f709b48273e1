"""Cross-check with Pinocchio: impacts of two free bodies that meet off their centres, without friction and plastic."""

import numpy as np
import pytest
from pinocchio_bodies import pair, pin

from dockdyn.impact import contact_matrix, resolve_impact, velocity_jump


@pytest.mark.parametrize("seed", range(5))
def test_contact_matrix(seed):
    """W is the inverse of Pinocchio's operational-space inertia of the constraint."""
    two = pair(seed)
    decomposition = pin.ConstraintCholeskyDecomposition(two.model, two.data, *two.constraint)
    decomposition.compute(two.model, two.data, *two.constraint, 0.0)
    expected = decomposition.getInverseOperationalSpaceInertiaMatrix()
    np.testing.assert_allclose(contact_matrix(two.jacobian, two.mass), expected, rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize(
    ("law", "rows", "given"),
    [("frictionless", 1, {"restitution": 0.7}), ("frictionless", 1, {"restitution": 1.0}), ("pin", 3, {})],
)
@pytest.mark.parametrize("seed", range(5))
def test_velocities_after_impact(law, rows, given, seed):
    """One row, the normal, with restitution; all three without."""
    two = pair(seed)
    found = resolve_impact(law, contact_matrix(two.jacobian, two.mass), two.jacobian @ two.speeds, **given)
    after = two.speeds + np.asarray(velocity_jump(two.jacobian, two.mass, found.impulse))

    there = pin.getConstraintJacobian(two.model, two.data, two.constraint[0][0], two.constraint[1][0])[:rows]
    before, e = np.linalg.solve(two.to_here, two.speeds), given.get("restitution", 0.0)
    # given the constraint instead of its Jacobian, Pinocchio 4.1 counts the velocity of the first body alone
    expected = pin.impulseDynamics(two.model, two.data, two.place, before, there, e, 0.0)
    np.testing.assert_allclose(after, two.to_here @ expected, rtol=1e-11, atol=1e-11)
    np.testing.assert_allclose(found.impulse[:rows], two.data.impulse_c, rtol=1e-11, atol=1e-11)
