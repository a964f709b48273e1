"""Impacts at several contacts at once, as one problem."""

import itertools
from functools import cache

import numpy as np
import pytest
from impact_cases import COUNTS, batched, contacts, slow

from dockdyn.impact import resolve_simultaneous


@cache
def solver_of_several(several):
    return batched(lambda w, u, e, mu: resolve_simultaneous(w, u, several, restitution=e, friction=mu))


@pytest.mark.parametrize("rows", [slow(1), slow(2), slow(3)])
def test_one_contact_at_once_is_the_single_law(rows):
    matrix, velocity, restitution, _ = contacts(200, rows)
    smooth = solver_of_several(1)(matrix, velocity, restitution, np.zeros((200, 1)))
    np.testing.assert_allclose(smooth.impulse[:, 0], -(1 + restitution) * velocity[:, 0] / matrix[:, 0, 0], rtol=1e-12)
    np.testing.assert_array_equal(smooth.impulse[:, 1:], 0)

    pin = -np.linalg.solve(matrix, velocity[..., None])[..., 0]
    pushes = pin[:, 0] > 0
    friction = 1.01 * np.linalg.norm(pin[:, 1:], axis=1) / np.abs(pin[:, 0])
    found = solver_of_several(1)(matrix, velocity, np.zeros(200), friction[:, None])
    size = np.linalg.norm(pin, axis=1)
    stuck = np.abs(found.impulse - pin).max(axis=1) < 1e-10 * size
    assert stuck[pushes].mean() > 0.95
    # the others are second solutions: they slide, and friction is all that there can be, against the sliding
    impulse, after = found.impulse[pushes & ~stuck], found.velocity[pushes & ~stuck]
    most = friction[pushes & ~stuck] * impulse[:, 0]
    against = -np.einsum("ni,ni->n", impulse[:, 1:], after[:, 1:]) / np.linalg.norm(after[:, 1:], axis=1)
    np.testing.assert_allclose(after[:, 0], 0, atol=1e-12)
    np.testing.assert_allclose(against, most, rtol=1e-9)
    np.testing.assert_allclose(np.linalg.norm(impulse[:, 1:], axis=1), most, rtol=1e-9)


@pytest.mark.full
def test_simultaneous_contacts_by_enumeration():
    """Frictionless: (1 + e) times the one set of closed contacts that neither pulls nor penetrates."""
    rng = np.random.default_rng(8)
    root = rng.normal(size=(20, 4, 6))
    matrix, velocity, e = root @ root.transpose(0, 2, 1), -np.abs(rng.normal(size=(20, 4))), rng.uniform(size=20)
    found = solver_of_several(4)(matrix, velocity, e, np.zeros((20, 4)))
    for i in range(20):
        solutions = []
        for closed in itertools.chain.from_iterable(itertools.combinations(range(4), n) for n in range(5)):
            impulse = np.zeros(4)
            if closed:
                impulse[list(closed)] = -np.linalg.solve(matrix[i][np.ix_(closed, closed)], velocity[i, list(closed)])
            if impulse.min() >= 0 and (velocity[i] + matrix[i] @ impulse).min() >= -1e-12:
                solutions.append(impulse)
        assert len(solutions) == 1
        np.testing.assert_allclose(found.impulse[i], (1 + e[i]) * solutions[0], rtol=1e-10, atol=1e-12)


@pytest.mark.full
def test_newtons_cradle_as_one_problem():
    """Five equal balls, e = 1: velocities −3/5, then four times 2/5, the known answer of the simultaneous problem."""
    matrix = 2 * np.eye(4) - np.eye(4, k=1) - np.eye(4, k=-1)
    found = solver_of_several(4)(matrix[None], np.array([[-1.0, 0, 0, 0]]), np.ones(1), np.zeros((1, 4)))
    np.testing.assert_allclose(found.impulse[0], [8 / 5, 6 / 5, 4 / 5, 2 / 5], rtol=1e-12)
    np.testing.assert_allclose(found.energy_loss, 0, atol=1e-14)


@pytest.mark.parametrize(("several", "axes"), [slow(2, 1), (2, 2), slow(2, 3), slow(3, 3)])
@pytest.mark.parametrize("count", COUNTS)
def test_simultaneous_contacts_create_no_energy(several, axes, count):
    """Coulomb's and the unilateral conditions hold in both phases; with one e no energy appears."""
    rng = np.random.default_rng([several, axes])
    root = rng.normal(size=(count, several * axes, several * axes + 2))
    matrix = root @ root.transpose(0, 2, 1)
    velocity = rng.normal(size=(count, several * axes))
    velocity[:, ::axes] = -np.abs(velocity[:, ::axes])
    friction, e = 10 ** rng.uniform(-2, 0.3, (count, several)), rng.uniform(0, 1, count)
    found = solver_of_several(several)(matrix, velocity, e, friction)
    impulse, after = (part.reshape(count, several, axes) for part in (found.impulse, found.velocity))
    size = np.abs(found.impulse).max(axis=1)[:, None]
    assert np.all(impulse[..., 0] >= -1e-12 * size) and np.all(after[..., 0] >= -1e-9)
    # the friction of both phases together is within the cone as well
    assert np.all(np.linalg.norm(impulse[..., 1:], axis=2) <= friction * impulse[..., 0] + 1e-10 * size)
    scale = np.abs(velocity * found.impulse).sum(axis=1)
    assert np.all(found.energy_loss >= -1e-12 * scale) and not np.any(found.energy_created)
