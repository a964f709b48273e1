"""Jumps of velocities: momenta kept, laws as `impact` has them for mass matrices, and connections that fall in."""

import jax.numpy as jnp
import numpy as np
import pytest
from mechanisms import added, kinetic_energy, momenta, random_mechanism, twists, vector

from dockdyn import impact
from dockdyn.mechanics.reflected import Reflected, reflected_lines
from dockdyn.mechanism.connections import Connection, point_rows
from dockdyn.mechanism.strikes import stop_motion, strike_bodies

KINDS = [(2, 0), (1, 3), (2, 5), (3, 2)]  # free bodies, joints of an arm
CASES = [pytest.param(seed, *KINDS[seed % 4], marks=[pytest.mark.full] * (seed > 1)) for seed in range(24)]
LAWS = [("newton", {"restitution": 0.4, "friction": 0.2}), ("poisson", {"restitution": 0.6, "friction": 0.3})]


def axes_from(draw):
    turn = np.linalg.qr(draw.normal(size=(3, 3)))[0]
    return [vector(column) for column in turn.T]


@pytest.mark.full_cases("1-1-3")
@pytest.mark.parametrize(("seed", "free", "joints"), CASES)
def test_a_connection_that_falls_in_ends_the_slip_and_keeps_momenta(seed, free, joints):
    draw = np.random.default_rng([52, seed])
    moving, q, v = random_mechanism(draw, free, joints)
    here = moving.placed(q, v)
    hold = ("pin", "weld")[seed % 2]
    connection = Connection(jnp.asarray(draw.normal(size=3)), 0, len(moving.bodies) - 1, hold)
    rows = connection.rows(here.bodies)
    found = strike_bodies(moving, here, rows, stop_motion)
    after = added(v, found.change)
    assert np.abs(jnp.einsum("kbi,bi->k", rows, twists(moving, q, after))).max() < 1e-11
    before, now = ([np.asarray(part) for part in momenta(moving, q, one)] for one in (v, after))
    assert now[0] == pytest.approx(before[0], abs=1e-12 * float(before[2]))
    assert now[1] == pytest.approx(before[1], abs=1e-11 * float(before[3]))
    loss = kinetic_energy(moving, q, v) - kinetic_energy(moving, q, after)
    assert loss == pytest.approx(float(found.impact.energy_loss), rel=1e-9)


@pytest.mark.full
@pytest.mark.parametrize(("law", "given"), LAWS, ids=[name for name, _ in LAWS])
@pytest.mark.parametrize("seed", [0, 3, *(pytest.param(seed, marks=pytest.mark.full) for seed in (1, 2))])
def test_an_impact_beside_what_is_held_is_that_of_the_mass_matrix(law, given, seed):
    """Three free bodies, two of which are held together: `impact` on M and rows of its own, with the hold as constraints."""
    draw = np.random.default_rng([53, seed])
    moving, q, v = random_mechanism(draw, 3, 0)
    here, point, axes = moving.placed(q, v), vector(draw.normal(size=3)), axes_from(draw)
    hold = Connection(jnp.asarray(draw.normal(size=3)), 1, 2, ("pin", "weld")[seed % 2])
    lines = hold.lines(here.bodies, jnp.asarray(True))
    settled = twists(moving, q, added(v, strike_bodies(moving, here, lines.rows, stop_motion).change))
    contact = point_rows(here.bodies, 0, 1, point, axes)
    contact *= -jnp.sign(jnp.einsum("bi,bi->", contact[0], settled))  # so that it approaches
    found = strike_bodies(moving, here, contact, lambda w, u: impact.resolve_impact(law, w, u, **given), lines)

    mass = np.zeros((18, 18))
    for number, body in enumerate(moving.bodies):
        at = 6 * number
        mass[at : at + 3, at : at + 3] = float(body.mass) * np.eye(3)
        mass[at + 3 : at + 6, at + 3 : at + 6] = body.inertia
    jacobian, held = (np.asarray(rows).reshape(rows.shape[0], 18) for rows in (contact, lines.rows))
    before = np.asarray(impact.lock_constraints(mass, held, np.asarray(twists(moving, q, v)).ravel()))
    matrix = impact.constrained_contact_matrix(jacobian, mass, held)
    expected = impact.resolve_impact(law, matrix, jacobian @ before, **given)
    after = before + np.asarray(impact.velocity_jump(jacobian, mass, expected.impulse, held))
    assert np.asarray(found.impact.impulse) == pytest.approx(np.asarray(expected.impulse), rel=1e-10, abs=1e-12)
    assert np.asarray(twists(moving, q, added(v, found.change))).ravel() == pytest.approx(after, rel=1e-10, abs=1e-11)
    open_ = strike_bodies(
        moving,
        here,
        contact,
        lambda w, u: impact.resolve_impact(law, w, u, **given),
        hold.lines(here.bodies, jnp.asarray(False)),
    )
    alone = strike_bodies(moving, here, contact, lambda w, u: impact.resolve_impact(law, w, u, **given))
    assert np.asarray(open_.impact.impulse) == pytest.approx(np.asarray(alone.impact.impulse), rel=1e-12, abs=1e-14)
    assert not np.any(open_.kept)


@pytest.mark.full_cases("1-1-3")
@pytest.mark.parametrize(("seed", "free", "joints"), CASES)
def test_reflected_inertia_resists_what_a_connection_ends(seed, free, joints):
    """A mass along a line keeps its part of the energy as it takes its part of the impulse; momenta are kept."""
    draw = np.random.default_rng([55, seed])
    moving, q, v = random_mechanism(draw, free, joints)
    here, last = moving.placed(q, v), len(moving.bodies) - 1
    mass, points = jnp.asarray(10 ** draw.uniform(0, 3)), [vector(draw.normal(size=3)) for _ in range(2)]

    def inertia(places):
        return Reflected.between(mass, places[0], points[0], places[last], points[1])

    lines = reflected_lines(len(moving.bodies), [(0, last, inertia(here.bodies))])
    connection = Connection(jnp.asarray(draw.normal(size=3)), 0, last, "pin")
    rows = connection.rows(here.bodies)
    found = strike_bodies(moving, here, rows, stop_motion, lines)
    after = added(v, found.change)
    assert np.abs(jnp.einsum("kbi,bi->k", rows, twists(moving, q, after))).max() < 1e-11

    def energy(v):
        return kinetic_energy(moving, q, v) + float(inertia(moving.placed(q, v).bodies).kinetic_energy())

    assert energy(v) - energy(after) == pytest.approx(float(found.impact.energy_loss), rel=1e-9)
    ways = [float(inertia(moving.placed(q, one).bodies).rate) for one in (v, after)]
    assert float(found.kept[0]) == pytest.approx(-float(mass) * (ways[1] - ways[0]), rel=1e-8)
