"""Trees of flexible links against Lagrange's equations from coordinates alone."""

import numpy as np
import pytest
from lagrangian_tree import lagrange
from tree_cases import beam, branches, case, configuration, dynamics, random_link

from dockdyn.results.plan import jit_once


def planar_arm(rng, **given):
    """A base with an arm of two flexible links and a rigid hand, as a plane robot's."""
    flat = {"axis": (0, 0, 1), "mount": (0, 0, 0), "mount_turn": np.eye(3), "centre": (0.4, 0, 0)}
    light = {**flat, "mass": 0.0, "inertia": np.zeros((3, 3))}
    return [
        random_link(rng, "base", None, "locked"),
        random_link(
            rng, "upper", "base", "revolute", **{**light, "mount": (0, 1, 0)}, beam=beam((3, 0, 0), rng, **given)
        ),
        random_link(rng, "lower", "upper", "revolute", **light, at=1.0, beam=beam((2, 0, 0), rng, **given)),
        random_link(rng, "hand", "lower", "revolute", **flat, at=1.0, stiffness=3.0, rest=0.4),
    ]


def one_link(rng, **given):
    """A base with one link that bends both ways and twists, and a rigid hand."""
    return [
        random_link(rng, "base", None, "locked"),
        random_link(rng, "boom", "base", "revolute", beam=beam((1, 1, 1), rng, **given)),
        random_link(rng, "hand", "boom", "revolute", at=1.0, stiffness=3.0, rest=0.4),
    ]


@pytest.mark.full
@pytest.mark.parametrize(
    ("make", "base", "given"),
    [
        (one_link, "free", {}),
        *(
            pytest.param(*others, marks=pytest.mark.full)
            for others in (
                (planar_arm, "planar", {}),
                (planar_arm, "planar", {"stiffening": False, "polar": 0.0}),
                (planar_arm, "fixed", {"basis": "cantilever"}),
                (branches, "free", {}),
                (branches, "planar", {}),
                (branches, "fixed", {"stiffening": False}),
            )
        ),
    ],
)
def test_equations_of_motion_against_lagrange(make, base, given):
    """Mass matrix, bias and energies from positions alone, differentiated."""
    rng = np.random.default_rng(len(base) + 10 * len(given))
    case_ = case(rng, make(rng, **given), base)
    independent = jit_once(lambda x, r: lagrange(case_, x, r))
    v, mass, bias, stored, kinetic = map(np.asarray, independent(case_.coordinates, case_.rates))
    q = configuration(case_)
    found, h, _, *energies = dynamics(case_.tree, q, v)
    # quadrature of hyperbolic functions is not exact, and accelerations magnify that
    near, nearer = (1e-13, 1e-10) if given.get("basis") != "cantilever" else (1e-12, 1e-10)
    accelerations = np.linalg.solve(mass, bias)
    np.testing.assert_allclose(found, mass, rtol=0, atol=near * np.abs(mass).max())
    np.testing.assert_allclose(h, bias, rtol=0, atol=near * np.abs(bias).max())
    np.testing.assert_allclose(
        np.linalg.solve(found, h), accelerations, rtol=0, atol=nearer * np.abs(accelerations).max()
    )
    np.testing.assert_allclose(energies, [stored, kinetic], rtol=10 * near)
