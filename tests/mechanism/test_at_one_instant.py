"""Several contacts struck at one instant, in random contact spaces: energy, friction, nothing pulls, and they have no order."""

from functools import partial

import numpy as np
import pytest

from dockdyn import impact
from dockdyn.mechanism.simultaneous_impacts import Touching, strike_together
from dockdyn.programs import Program

CONTACTS = 4
SLOW = 1e-6  # m/s
LAWS = ("frictionless", "energetic", "poisson", "mixed")
SEEDS = [0, 1, *(pytest.param(seed, marks=pytest.mark.full) for seed in range(2, 16))]


def names_of(name):
    """The law of each contact."""
    return ("frictionless", "energetic", "poisson", "energetic") if name == "mixed" else (name,) * CONTACTS


def laws_of(name, restitution, friction):
    def law(number):
        own, given = names_of(name)[number], {"restitution": restitution[number]}
        given |= {} if own == "frictionless" else {"friction": friction[number]}
        return lambda w, u: impact.resolve_impact(own, w, u, **given)

    return [law(number) for number in range(CONTACTS)]


@partial(Program, static=("name",))
def struck(matrix, velocity, restitution, friction, touch, name):
    touching = Touching(touch, np.full(CONTACTS, SLOW))
    return strike_together(laws_of(name, restitution, friction), touching, matrix, velocity)


def drawn(seed):
    """A contact space of few or many masses, velocities that approach or part, and which contacts touch."""
    draw = np.random.default_rng([91, seed])
    masses = int(draw.integers(4, 20))  # fewer than rows: contacts share loads in ways that rigid bodies leave open
    rows = draw.normal(size=(3 * CONTACTS, masses))
    rows[::3, 0] += 2.0  # normals that leave a way out: in a wedge without one a body bounces on and on
    rows *= 10 ** draw.uniform(-1, 1, masses)
    touch = draw.random(CONTACTS) < 0.8
    moving = draw.normal(size=masses)
    return draw, rows @ rows.T, rows @ moving, touch, moving, rows


@pytest.mark.full_cases("0-mixed", "1-mixed", "0-poisson", "1-poisson", "0-energetic", "1-energetic")
@pytest.mark.parametrize("name", LAWS)
@pytest.mark.parametrize("seed", SEEDS)
def test_no_energy_is_given_and_nothing_pulls(seed, name):
    draw, matrix, velocity, touch, moving, rows = drawn(seed)
    restitution, friction = draw.uniform(0, 1, CONTACTS), draw.uniform(0, 1, CONTACTS)
    found = struck(matrix, velocity, restitution, friction, touch, name)
    impulse = np.asarray(found.impulse).reshape(CONTACTS, 3)
    after = moving + rows.T @ impulse.ravel()
    before, now = moving @ moving / 2, after @ after / 2
    assert now <= before * (1 + 1e-12)
    assert float(found.energy_loss) == pytest.approx(before - now, rel=1e-9, abs=1e-11 * before)
    assert not impulse[~touch].any()
    speeds = (velocity + matrix @ impulse.ravel())[::3]
    assert (speeds[touch] > -1e-9).all()
    slow = SLOW * 1e3 * np.abs(impulse).max()  # what parts too slowly is stopped
    assert impulse[:, 0].min() >= -slow
    bound = np.where([own == "frictionless" for own in names_of(name)], 0.0, friction)
    assert (np.linalg.norm(impulse[:, 1:], axis=1) <= bound * impulse[:, 0] + slow).all()


@pytest.mark.parametrize("seed", SEEDS)
def test_elastic_impacts_keep_energy(seed):
    _, matrix, velocity, touch, moving, rows = drawn(seed)
    found = struck(matrix, velocity, np.ones(CONTACTS), np.zeros(CONTACTS), touch, "frictionless")
    after = moving + rows.T @ np.asarray(found.impulse)
    assert after @ after == pytest.approx(moving @ moving, rel=1e-10)
    speeds = (velocity + matrix @ found.impulse)[::3]
    assert (speeds[touch] > -1e-9).all()


@pytest.mark.full_cases("0-energetic")
@pytest.mark.parametrize("name", ["frictionless", "energetic"])
@pytest.mark.parametrize("seed", SEEDS)
def test_contacts_have_no_order(seed, name):
    draw, matrix, velocity, touch, _, _ = drawn(seed)
    restitution, friction = draw.uniform(0, 1, CONTACTS), draw.uniform(0, 1, CONTACTS)
    order = draw.permutation(CONTACTS)
    turned = np.concatenate([np.arange(3 * one, 3 * one + 3) for one in order])
    u = [
        velocity + matrix @ struck(matrix, velocity, restitution, friction, touch, name).impulse,
        velocity[turned]
        + matrix[np.ix_(turned, turned)]
        @ struck(
            matrix[np.ix_(turned, turned)], velocity[turned], restitution[order], friction[order], touch[order], name
        ).impulse,
    ]
    np.testing.assert_allclose(u[0][turned], u[1], rtol=0, atol=1e-8 * np.abs(velocity).max())
