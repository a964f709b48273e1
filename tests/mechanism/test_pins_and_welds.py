"""Connections of any bodies: what is closed does not slip, what is open carries nothing, and momenta are kept."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from mechanisms import momenta, moved_by, random_mechanism, twists, vector

from dockdyn.mechanics.lines import Lines
from dockdyn.mechanism.connections import Connection

KINDS = [(2, 0), (1, 3), (2, 5), (3, 2)]  # free bodies, joints of an arm
CASES = [pytest.param(seed, *KINDS[seed % 4], marks=[pytest.mark.full] * (seed > 1)) for seed in range(24)]


def random_connection(draw, bodies):
    """Of the last body, which is free, to any other, either of them holding the other."""
    pair = draw.permutation([bodies - 1, draw.integers(bodies - 1)]).tolist()
    return Connection(jnp.asarray(draw.normal(size=3)), *pair, ("pin", "weld")[int(draw.integers(2))])


def loads(draw, count):
    return [vector(draw.normal(size=3)) for _ in range(count)], [vector(draw.normal(size=3)) for _ in range(count)]


@pytest.mark.full
@pytest.mark.parametrize(("seed", "free", "joints"), CASES)
def test_what_is_closed_does_not_begin_to_slip(seed, free, joints):
    """The slip's rate along the motion is zero, found by differentiating the velocities and not by the rows' own J̇ v."""
    draw = np.random.default_rng([50, seed])
    moving, q, v = random_mechanism(draw, free, joints)
    here = moving.placed(q, v)
    connection = random_connection(draw, len(moving.bodies))
    efforts = [jnp.asarray(one) for one in draw.normal(size=joints)]
    acting = loads(draw, len(moving.bodies))

    def slip(q, v):
        return jnp.einsum("kbi,bi->k", connection.rows(moving.placed(q, v).bodies), twists(moving, q, v))

    def rate_of_slip(closed):
        lines = connection.lines(here.bodies, jnp.asarray(closed))
        found = moving.respond(here, *acting, efforts, (), lines)
        return jax.jvp(slip, (q, v), (moved_by(moving, q, v), found.rates))[1], found

    ended, held = rate_of_slip(True)
    begun, open_ = rate_of_slip(False)
    alone = moving.respond(here, *acting, efforts, ())
    assert np.abs(ended).max() < 1e-11 * np.abs(begun).max()
    assert not np.any(open_.along)
    for other, one in zip(jax.tree.leaves(open_.rates), jax.tree.leaves(alone.rates), strict=True):
        assert np.asarray(other) == pytest.approx(np.asarray(one), rel=1e-13, abs=1e-13)
    push = np.einsum("k,kbi->bi", held.along, connection.rows(here.bodies))
    assert push[connection.first, :3] == pytest.approx(-push[connection.other, :3])


@pytest.mark.full_cases("1-1-3")
@pytest.mark.parametrize(("seed", "free", "joints"), CASES)
def test_momenta_change_by_loads_alone(seed, free, joints):
    """Rates of both momenta about the origin are those that the loads give, whatever is closed."""
    draw = np.random.default_rng([51, seed])
    moving, q, v = random_mechanism(draw, free, joints)
    here = moving.placed(q, v)
    connection, (forces, torques) = random_connection(draw, len(moving.bodies)), loads(draw, len(moving.bodies))
    lines = Lines.joined([connection.lines(here.bodies, jnp.asarray(True))])
    found = moving.respond(here, forces, torques, [jnp.zeros(())] * joints, (), lines)
    (linear, angular, _, _), (rate, turning, _, _) = jax.jvp(
        lambda q, v: momenta(moving, q, v), (q, v), (moved_by(moving, q, v), found.rates)
    )
    pushed = sum(np.asarray(force.array()) for force in forces)
    assert np.asarray(rate) == pytest.approx(pushed, abs=1e-10 * float(np.abs(linear).max()))
    masses = np.array([float(body.mass) for body in moving.bodies])
    places = np.array([np.asarray(body.pose.position.array()) for body in here.bodies])
    arms = places - masses @ places / masses.sum()
    given = sum(
        np.cross(arm, np.asarray(force.array())) + np.asarray((body.rotation @ torque).array())
        for arm, body, force, torque in zip(arms, here.bodies, forces, torques, strict=True)
    )
    assert np.asarray(turning) == pytest.approx(given, abs=1e-9 * float(np.abs(angular).max()))
