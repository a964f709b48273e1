"""A mechanism as the variational integrator takes it: the equations of its Lagrangian and forces are the mechanism's own."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from mechanisms import random_mechanism
from scipy.spatial.transform import Rotation
from tree_cases import branches, case, configuration

from dockdyn.integrate.model import over_rows
from dockdyn.integrate.variational.mechanical import unconstrained_accelerations
from dockdyn.mechanics.trees.moving_bodies import MovingBodies
from dockdyn.mechanics.trees.tree_bodies import TreeBodies
from dockdyn.mechanism.mechanism import Mechanism
from dockdyn.mechanism.variational import VariationalMechanism
from dockdyn.programs import Program
from dockdyn.scenario.load import load
from dockdyn.scenario.made import model_of


def disagreement(mechanism, q, v, mode):
    """How far the accelerations of Lagrange's equations are from the mechanism's, over the largest of them."""
    model = VariationalMechanism(mechanism)
    t = jnp.asarray(2.0)

    def both(q, v):
        x = model.state(t, q, v, mode)
        rate = mechanism.flow(t, x, mechanism.signal(t, x))
        _, moved = jax.jvp(model.row, (x.q, x.v), (rate.q, rate.v))
        return unconstrained_accelerations(model, t, q, v, mode), moved

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


def at_random(model, draw):
    """A state of a model, away from that at t = 0: numbers, a row of velocities, and its mode."""
    q, v, mode = jax.tree.map(jnp.asarray, begin(model))
    turned = [place + which + part for which, place in enumerate(model.attitudes) for part in range(4)]
    others = np.setdiff1d(np.arange(q.size), turned)
    return q.at[others].add(0.05 * draw.normal(size=others.size)), v + 0.3 * draw.normal(size=v.size), mode


begin = Program(VariationalMechanism.initial)


@pytest.mark.full
@pytest.mark.parametrize(
    "preset", ["flexible-panels", "adapter-gripper", "elastic-arm", "cyril-elastic", "berthing-3d"]
)
def test_lagrange_and_newton_agree_on_presets(preset):
    """Flexible links, large beams, springs, dampers, latches that are open and gravity, in a random state."""
    apart = {"latch.grip.closed": False} if preset == "berthing-3d" else {}
    mechanism = model_of(load(preset, apart).content)
    assert disagreement(mechanism, *at_random(VariationalMechanism(mechanism), np.random.default_rng(3))) < 1e-10


@Program
def alone(tree, start):
    """A tree of links with large beams by itself, as the variational integrator takes it."""
    own = TreeBodies.of(tree, range(len(tree.layout.names)), locked=tree.joint_columns()[:1])
    moving = MovingBodies(own.bodies, (own,))
    placed = moving.placed(*moving.begun((), (), (), [start])).bodies
    poses, twists = tuple(one.pose for one in placed), tuple(one.twist for one in placed)
    found = Mechanism(
        bodies=own.bodies, groups=(), poses=poses, twists=twists, delay=None, trees=(own,), linked=(start,)
    )
    return VariationalMechanism(found)


@Program
def both_masses(model, q, mode):
    """The mass matrix by the row of velocities, and the tree's own in terms of it."""
    places, (row,) = model.coordinates(q), model.trees
    (own,), tree = places.trees, row.bodies.tree
    size = q.shape[0] - len(model.attitudes)
    moves = over_rows(lambda v: row.velocities(own, v), jnp.eye(size))
    mass, _, _ = tree.dynamics(own, jnp.zeros(moves.shape[1]))
    return model.mass_matrix(jnp.zeros(()), q, mode, size), moves @ mass @ moves.T


@pytest.mark.full
@pytest.mark.parametrize("base", ["free", "planar"])
def test_the_mass_matrix_is_that_of_the_tree(base):
    """Links with large beams, ball joints and a joint that is held: the same kinetic energy by other velocities."""
    draw = np.random.default_rng([6, len(base)])
    drawn = case(draw, branches(draw), base)
    if base == "planar":
        drawn = drawn._replace(origin=Rotation.identity())
    model = alone(drawn.tree, (configuration(drawn), jnp.asarray(drawn.rates)))
    q, _, mode = begin(model)
    ours, theirs = both_masses(model, q, mode)
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-13 * np.abs(theirs).max())
    mass, axes = np.trace(ours[:2, :2]) / 2, 3 if base == "free" else 2
    expected = np.concatenate([mass * np.eye(axes), np.zeros((axes, ours.shape[0] - axes))], axis=1)
    np.testing.assert_allclose(ours[:axes], expected, rtol=0, atol=1e-13 * np.abs(theirs).max())  # it moves as a point


@pytest.mark.full
@pytest.mark.parametrize("base", ["free", "planar"])
def test_lagrange_and_newton_agree_on_large_beams(base):
    """Beams that bend far and twist, springs and dampers inside, ball joints and one that is held, in a random state."""
    draw = np.random.default_rng([7, len(base)])
    drawn = case(draw, branches(draw), base)
    if base == "planar":
        drawn = drawn._replace(origin=Rotation.identity())
    v = jnp.asarray(drawn.rates).at[drawn.tree.joint_columns()[0]].set(0.0)
    model = alone(drawn.tree, (configuration(drawn), v))
    q, v, mode = jax.tree.map(jnp.asarray, begin(model))
    assert disagreement(model.mechanism, q, v, mode) < 1e-10
