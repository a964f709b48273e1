"""A mechanism as the variational integrator takes it: the equations of its Lagrangian and forces are the mechanism's own."""

import jax.numpy as jnp
import numpy as np
import pytest
from mechanisms import random_mechanism

from dockdyn.integrate.variational.mechanical import unconstrained_accelerations
from dockdyn.mechanism.mechanism import Mechanism
from dockdyn.mechanism.variational import VariationalMechanism
from dockdyn.programs import Program
from dockdyn.scenario.load import load


def disagreement(mechanism, q, v, mode):
    """How far the accelerations of Lagrange's equations are from the mechanism's, over the largest of them."""
    model = VariationalMechanism(mechanism)
    t = jnp.asarray(2.0)

    def both(q, v):
        x = model.state(t, q, v, mode)
        return unconstrained_accelerations(model, t, q, v, mode), model.row(
            mechanism.flow(t, x, mechanism.signal(t, x)).v
        )

    lagrange, newton = Program(both)(q, v)
    return np.abs(lagrange - newton).max() / np.abs(newton).max()


@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.full), pytest.param(2, marks=pytest.mark.full)])
def test_lagrange_and_newton_agree_on_random_arms(seed):
    """Free bodies and an arm of three joints in a random state, without forces: two derivations of one motion."""
    moving, q, v = random_mechanism(np.random.default_rng(seed), free=1, joints=3)
    placed = moving.placed(q, v)
    mechanism = Mechanism(
        bodies=moving.bodies,
        groups=(),
        poses=tuple(one.pose for one in placed.bodies),
        twists=tuple(one.twist for one in placed.bodies),
        delay=None,
        trees=moving.trees,
        joints=placed.joints,
    )
    begun = VariationalMechanism(mechanism).initial()
    assert disagreement(mechanism, *begun) < 1e-12


@pytest.mark.full
@pytest.mark.parametrize("preset", ["flexible-panels", "adapter-gripper", "elastic-arm"])
def test_lagrange_and_newton_agree_on_presets(preset):
    """Flexible links, springs, dampers, latches and gravity, in a random state of the joints and modes."""
    mechanism = load(preset).content.model()
    model, draw = VariationalMechanism(mechanism), np.random.default_rng(3)
    q, v, mode = model.initial()
    joints = 7 * len(model.attitudes)
    q = q.at[joints:].add(0.05 * draw.normal(size=q.size - joints))
    v = v + 0.3 * draw.normal(size=v.size)
    assert disagreement(mechanism, q, v, mode) < 1e-11
