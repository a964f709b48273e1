"""Groups of many balls with a tree over them, beside the same groups without: what is passed over does not matter."""

from dataclasses import replace

import jax.numpy as jnp
import numpy as np
import pytest
from pair_cases import SURFACES, motion_of, placed

from dockdyn import contact
from dockdyn.contact.contact_modes import APART, GATED
from dockdyn.contact.group import ContactGroup, MemberTree
from dockdyn.contact.laws.coulomb import Coulomb
from dockdyn.contact.pairs import BallOnSurface
from dockdyn.integrate.model import over_rows
from dockdyn.programs import Program
from dockdyn.scenario.meshes.cloud import ball_tree

LAW = contact.HuntCrossley(stiffness=jnp.array(1e4), damping=jnp.array(0.3), exponent=jnp.array(1.5))
FRICTION = Coulomb(coefficient=jnp.array(0.2), regularisation=jnp.array(1e-3))


def group_on(surface, count, radius, rng):
    """Points on a ball of 0.3 m and on a stick out of it, of uneven weights."""
    points = rng.normal(size=(count, 3))
    points *= 0.3 / np.linalg.norm(points, axis=1)[:, None]
    points[::7] *= [0.1, 0.1, 2.0]
    order, balls, children = ball_tree(points)
    geometry = BallOnSurface(jnp.asarray(points[order]), jnp.full(count, radius), surface)
    tree = MemberTree(jnp.asarray(balls), jnp.asarray(children))
    weights = jnp.asarray(rng.uniform(0, 2 / count, count))
    return ContactGroup.of_rows(geometry, (0, 1), LAW, FRICTION, weights, tree)


def states(exact, loads):
    """The state of a group at many places of both bodies."""

    def one(group, own, other):
        found = group.state(jnp.asarray(GATED), placed(own), placed(other), exact=exact, loads=loads)
        return found.wrench.force.array(), found.wrench.moment.array(), found.normal_force, found.depth, found.rate

    return Program(lambda group, own, other: over_rows(lambda *row: one(group, *row), own, other))


def poses(rng, count):
    """Bodies at random, from deep in each other to well apart."""
    own = [motion_of(rng) for _ in range(count)]
    other = [motion_of(rng) for _ in range(count)]
    own = [(place + rng.normal(size=3) * rng.choice([0.1, 0.5, 2.0]), *rest) for place, *rest in own]
    return tuple(tuple(np.stack(parts) for parts in zip(*motions, strict=True)) for motions in (own, other))


@pytest.mark.full
@pytest.mark.parametrize("radius", [0.0, 0.02])
@pytest.mark.parametrize("name", ["grid", "plane", "torus", "box"])
def test_a_tree_changes_nothing_but_the_time(name, radius):
    """Force, moment and, where it is asked for, the depth of the deepest; else its sign, and nothing deeper than that."""
    rng = np.random.default_rng(len(name))
    group, (own, other) = group_on(SURFACES[name], 300, radius, rng), poses(rng, 60)
    for exact, loads in ((True, False), (False, False), (False, True)):
        state = states(exact, loads)
        found, known = (state(one, own, other) for one in (group, replace(group, tree=None)))
        touching = np.asarray(known[3]) > 0
        assert 5 < touching.sum() < 55
        for one, each in zip(found[:3], known[:3], strict=True):
            assert np.asarray(one) == pytest.approx(np.asarray(each), rel=1e-10, abs=1e-12)
        assert np.array_equal(np.asarray(found[3]) > 0, touching)
        assert np.asarray(found[3])[touching] == pytest.approx(np.asarray(known[3])[touching], rel=1e-12)
        if exact:
            assert np.asarray(found[3]) == pytest.approx(np.asarray(known[3]), rel=1e-10)
            assert np.asarray(found[4]) == pytest.approx(np.asarray(known[4]), rel=1e-10)
        else:
            deepest = np.asarray(states(True, False)(group, own, other)[3])
            assert (np.asarray(found[3]) >= deepest - 1e-12).all()


def test_a_tree_holds_every_point_once_within_its_balls():
    rng = np.random.default_rng(0)
    points = rng.uniform(-1, 1, (5000, 3)) ** 3
    points[:50] = points[0]  # as many as a leaf does not take, in one place
    order, balls, children = ball_tree(points)
    assert np.array_equal(np.sort(order), np.arange(5000))
    seen, stack = np.zeros(5000, int), [(0, [])]
    while stack:
        number, above = stack.pop()
        first, count = children[number]
        above = [*above, balls[number]]
        if count == 0:
            stack += [(first, above), (first + 1, above)]
            continue
        mine = points[order[first : first + count]]
        seen[first : first + count] += 1
        for ball in above:
            assert (np.linalg.norm(mine - ball[:3], axis=1) <= ball[3] * (1 + 1e-12)).all()
    assert (seen == 1).all()


def test_what_is_apart_has_no_force():
    rng = np.random.default_rng(1)
    group, (own, other) = group_on(SURFACES["plane"], 300, 0.0, rng), poses(rng, 1)
    sides = (tuple(part[0] for part in motion) for motion in (own, other))
    force = Program(lambda group, *sides: group.state(jnp.asarray(APART), *map(placed, sides)).normal_force)
    assert float(force(group, *sides)) == 0
