"""Impacts of rigid bodies in space: what they keep and lose, whatever the axes; and of bodies with locked joints."""

import numpy as np
import pytest
from impact_cases import COUNTS, ENDS, IN_SPACE, compiles_long, slow
from impact_pairs import cross, pairs, struck
from scipy.spatial.transform import Rotation

from dockdyn.impact import LAWS, constrained_contact_matrix, lock_constraints, velocity_jump


@pytest.mark.full_cases("20-energetic")
@pytest.mark.parametrize("law", [slow(name, when=compiles_long(name, 3)) for name in LAWS if name != "energy-pair"])
@pytest.mark.parametrize("count", COUNTS)
def test_bodies_keep_momentum_and_lose_what_the_law_says(law, count):
    """Linear momentum, angular momentum about the contact, kinetic energy; the relative velocity is that of the law."""
    two, rows = pairs(count), 6 if law == "weld" else 3
    found, after = struck(law, two, rows, 0.6, 0.4)
    before, end = (np.einsum("nij,nj->ni", two.mass, speeds) for speeds in (two.speeds, after))
    size = np.abs(before).max(axis=1)[:, None] + np.abs(found.impulse).max(axis=1)[:, None]
    linear = (end - before).reshape(count, 2, 2, 3)[:, :, 0].sum(axis=1)
    angular = np.einsum("nij,ni->nj", two.turning, end - before)
    np.testing.assert_allclose(linear / size, 0, atol=1e-13)
    np.testing.assert_allclose(angular / size, 0, atol=1e-13)
    relative = np.einsum("nij,nj->ni", two.jacobian[:, :rows], after)
    np.testing.assert_allclose(relative, found.velocity, atol=1e-11)
    energies = [0.5 * np.einsum("ni,ni->n", *part) for part in ((two.speeds, before), (after, end))]
    np.testing.assert_allclose((energies[0] - energies[1] - found.energy_loss) / energies[0], 0, atol=1e-12)


@pytest.mark.full
@pytest.mark.parametrize("rows", [2, 3])
@pytest.mark.parametrize("count", COUNTS)
def test_much_friction_and_no_rebound_is_a_pin(rows, count):
    """e = 0, sticking at the end: the plastic solution of the KKT system [M −Jᵀ; J 0] (v⁺, Λ) = (M v, 0), to 1e-10."""
    mass, jacobian, speeds, _ = two = pairs(count)
    jacobian = jacobian[:, :rows]
    kkt = np.block([[mass, -jacobian.transpose(0, 2, 1)], [jacobian, np.zeros((count, rows, rows))]])
    right = np.concatenate([np.einsum("nij,nj->ni", mass, speeds), np.zeros((count, rows))], axis=1)
    pin = np.linalg.solve(kkt, right[..., None])[:, 12:, 0]
    size = np.linalg.norm(pin, axis=1, keepdims=True)
    for law in ENDS if rows == 2 else ENDS[:1]:  # at e = 0 they are one
        found, _ = struck(law, two, rows, 0.0, 1e4)
        assert found.stick.mean() > 0.3
        np.testing.assert_allclose((found.impulse / size)[found.stick], (pin / size)[found.stick], atol=1e-10)
        assert np.all(pin[found.stick, 0] > 0)  # where the pin has to pull, no friction holds the bodies together


@pytest.mark.full
@pytest.mark.parametrize("law", IN_SPACE)
@pytest.mark.parametrize("count", COUNTS)
def test_neither_tangents_nor_axes_matter(law, count):
    """Other tangents turn the tangential impulse; other inertial axes change nothing in contact axes."""
    rng = np.random.default_rng(5)
    angle, turn = rng.uniform(0, 6, count), Rotation.random(count, rng=rng).as_matrix()
    views = [pairs(count), pairs(count, turn), pairs(count, turn, angle)]
    first, second, third = (struck(law, two, 3, 0.7, 0.3)[0] for two in views)
    there = Rotation.from_rotvec(np.multiply.outer(angle, [1, 0, 0])).as_matrix()
    size = np.linalg.norm(first.impulse, axis=1)
    turned = np.einsum("nij,nj->ni", there, first.impulse)
    np.testing.assert_allclose(second.impulse / size[:, None], first.impulse / size[:, None], atol=1e-11)
    np.testing.assert_allclose(third.impulse / size[:, None], turned / size[:, None], atol=1e-11)
    for other in (second, third):
        np.testing.assert_allclose(other.energy_loss / size, first.energy_loss / size, atol=1e-10)
        np.testing.assert_allclose(other.newton, first.newton, atol=1e-10)
        for flag in ("stick", "reversal", "jam", "energy_created"):
            np.testing.assert_array_equal(getattr(other, flag), getattr(first, flag))


# --- locked joints ------------------------------------------------------------------------------------------------


@pytest.mark.full
def test_locked_joint_makes_one_body_of_two():
    """Two bodies welded by constraint rows hit a third as the rigid body that they form does."""
    rng = np.random.default_rng(4)
    masses, inertias = np.array([3.0, 1.2]), [np.diag([0.4, 0.5, 0.6]), np.diag([0.1, 0.2, 0.15])]
    places, tip = rng.normal(size=(2, 3)), rng.normal(size=3)
    mass = np.zeros((12, 12))
    for i in range(2):
        mass[6 * i : 6 * i + 3, 6 * i : 6 * i + 3] = masses[i] * np.eye(3)
        mass[6 * i + 3 : 6 * i + 6, 6 * i + 3 : 6 * i + 6] = inertias[i]
    jacobian = np.hstack([np.zeros((3, 6)), np.eye(3), -cross(tip - places[1])])
    joint = rng.normal(size=3)
    point = [np.hstack([np.eye(3), -cross(joint - place)]) for place in places]
    spin = np.hstack([np.zeros((3, 3)), np.eye(3)])
    locks = np.block([[point[0], -point[1]], [spin, -spin]])

    centre = masses @ places / masses.sum()
    inertia = sum(
        j + m * (arm @ arm * np.eye(3) - np.outer(arm, arm))
        for j, m, arm in zip(inertias, masses, places - centre, strict=True)
    )
    lever = cross(tip - centre)
    expected = np.eye(3) / masses.sum() - lever @ np.linalg.inv(inertia) @ lever
    found = constrained_contact_matrix(jacobian, mass, locks)
    np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-11)

    speeds = np.asarray(lock_constraints(mass, locks, rng.normal(size=12)))
    np.testing.assert_allclose(locks @ speeds, 0, atol=1e-12)
    impulse = rng.normal(size=3)
    after = speeds + np.asarray(velocity_jump(jacobian, mass, impulse, locks))
    np.testing.assert_allclose(locks @ after, 0, atol=1e-12)
    np.testing.assert_allclose(jacobian @ (after - speeds), expected @ impulse, rtol=1e-10)
    moved = mass @ (after - speeds)
    np.testing.assert_allclose(moved[:3] + moved[6:9], impulse, rtol=1e-10)


def test_locking_keeps_momentum():
    mass, jacobian, speeds, _ = (part[0] for part in pairs(1))
    after = np.asarray(lock_constraints(mass, jacobian, speeds))
    before, end = mass @ speeds, mass @ after
    np.testing.assert_allclose(before[:3] + before[6:9], end[:3] + end[6:9], rtol=1e-12)
    np.testing.assert_allclose(jacobian @ after, 0, atol=1e-12)
