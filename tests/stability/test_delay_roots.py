"""Roots of delay equations, beside other ways to compute them.

The references are: tdcpy (spectral discretisation, another implementation), the scalar equation solved by Lambert's
function, and the argument principle.
"""

import numpy as np
import pytest
import scipy.linalg
from delay_systems import delta, some_systems, stiff_systems
from numpy.testing import assert_allclose
from scipy.special import lambertw

from dockdyn.stability import rightmost_roots
from dockdyn.stability.characteristic import characteristic_matrix, characteristic_slope, root_slopes

COUNT = 6  # roots asked for
STRUCTURES = [(2, 1), (3, 3), (4, 2), (6, 1)]  # states, delays
MANY = [pytest.param(n, q, 40, marks=pytest.mark.full) for n in range(2, 7) for q in range(1, 4)]  # systems of each


def far(found, known):
    """Largest distance of a number in `found` from the nearest one in `known`, relative to 1 + its size."""
    gaps = np.abs(np.subtract.outer(np.asarray(found), np.asarray(known)))
    return (gaps.min(axis=-1) / (1 + np.abs(found))).max()


# --- rightmost roots -------------------------------------------------------------------------------------------------


def tdcpy_roots(matrices, delays, right_of):
    """All roots with a real part above `right_of`, by tdcpy."""
    tdcpy = pytest.importorskip("tdcpy", reason="cross-check with tdcpy (GPL, tests only)")
    rdde = pytest.importorskip("tdcpy.rdde")
    system = rdde.RDDE(A=np.stack(list(matrices), axis=-1), hA=np.array([0.0, *delays]))
    found, info = tdcpy.roots(system, r=float(right_of))
    assert not info.max_size_evp_enforced
    return np.asarray(found)


def check_against_tdcpy(matrices, delays, stiff=False):
    """Stiff systems: tdcpy misses roots there, and the error may be infinite; then the roots must solve the equation."""
    found, errors = rightmost_roots(matrices, delays, count=COUNT, errors=True)
    assert found.shape == errors.shape == (len(matrices), COUNT)
    assert (np.diff(found.real, axis=-1) < 1e-9 * (1 + np.abs(found[:, 1:]))).all()  # rightmost first
    for one, error, stack, times in zip(found, errors, matrices, delays, strict=True):
        last = one.real.min()
        known = tdcpy_roots(stack, times, last - 0.02 * (1 + abs(last)))
        assert far(known[known.real > last + 1e-7 * (1 + abs(last))], one) < 1e-9  # none is missed
        finite = np.isfinite(error)
        assert finite.all() or (stiff and not finite.any())
        assert (error < 1e-9 * (1 + np.abs(one)))[finite].all()
        if stiff:
            singular = np.linalg.svd(delta(one, stack, times), compute_uv=False)
            assert (singular[:, -1] < 1e-12 * singular[:, 0]).all()
        else:
            assert far(one, known) < 1e-9


@pytest.mark.parametrize(("states", "delays", "count"), [(2, 1, 4), (4, 2, 4), (6, 1, 4), *MANY])
def test_roots_are_those_of_tdcpy(states, delays, count):
    check_against_tdcpy(*some_systems(states, delays, count, seed=3))


@pytest.mark.parametrize("count", [4, pytest.param(100, marks=pytest.mark.full)])
def test_roots_of_stiff_systems_are_those_of_tdcpy(count):
    check_against_tdcpy(*stiff_systems(count, seed=2), stiff=True)


def roots_right_of(abscissa, matrices, delays):
    """Number of roots with a real part above `abscissa`: turns of det Δ around a rectangle that holds them all."""
    factors = np.exp(-min(abscissa, 0.0) * delays)
    reach = 1 + np.linalg.norm(matrices[0], 2) + factors @ np.linalg.norm(matrices[1:], 2, axis=(1, 2))
    corners = [abscissa - 1j * reach, reach - 1j * reach, reach + 1j * reach, abscissa + 1j * reach]
    turns = 0.0
    for start, end in zip(corners, [*corners[1:], corners[0]], strict=True):
        pace = 0.1 / (matrices.shape[-1] * (1 / reach + delays.max()))
        share = np.linspace(0, 1, int(abs(end - start) / pace) + 10)
        while True:
            phase = np.angle(np.linalg.slogdet(delta(start + (end - start) * share, matrices, delays)).sign)
            change = (np.diff(phase) + np.pi) % (2 * np.pi) - np.pi
            wide = np.flatnonzero(np.abs(change) > 0.7)
            if not len(wide):
                break
            share = np.insert(share, wide + 1, (share[wide] + share[wide + 1]) / 2)
        turns += change.sum() / (2 * np.pi)
    assert abs(turns - round(turns)) < 1e-6
    return round(turns)


def check_none_missed(matrices, delays):
    found = rightmost_roots(matrices, delays, count=COUNT)
    for one, stack, times in zip(found, matrices, delays, strict=True):
        gaps = one.real[:-1] - one.real[1:]
        widest = int(np.argmax(gaps))
        assert gaps[widest] > 1e-3
        abscissa = (one.real[widest] + one.real[widest + 1]) / 2
        assert roots_right_of(abscissa, stack, times) == widest + 1


@pytest.mark.parametrize(("states", "delays", "count"), [(2, 1, 4), (3, 3, 2), (4, 2, 4), (6, 1, 4), *MANY])
def test_no_root_is_missed(states, delays, count):
    check_none_missed(*some_systems(states, delays, count, seed=5))


def test_no_root_of_a_stiff_system_is_missed():
    check_none_missed(*stiff_systems(4, seed=2))


def lambert_roots(own, late, delay, count):
    """Rightmost roots of s = own + late exp(−s delay)."""
    branches = lambertw(late * delay * np.exp(-own * delay), np.arange(-40, 41)) / delay + own
    return branches[np.argsort(-branches.real, kind="stable")][:count]


def test_roots_and_error_estimates_beside_lamberts_function():
    """Three scalar equations behind an arbitrary change of coordinates."""
    rng = np.random.default_rng(6)
    own, late, delay = rng.normal(-1, 1, (12, 3)), rng.normal(size=(12, 3)), rng.uniform(0.3, 1.0, 12)
    frames = rng.normal(size=(12, 3, 3))
    inverses = np.linalg.inv(frames)
    matrices = np.stack([frames @ (row[:, :, None] * inverses) for row in (own, late)], axis=1)
    found, errors = rightmost_roots(matrices, delay[:, None], count=5, errors=True)
    for i in range(12):
        known = np.concatenate([lambert_roots(own[i, j], late[i, j], delay[i], 5) for j in range(3)])
        known = known[np.argsort(-known.real)]
        assert_allclose(found[i].real, known[:5].real, rtol=1e-9, atol=1e-9)
        assert far(found[i], known) < 1e-9
        off = np.abs(found[i][:, None] - known).min(axis=-1)
        blur = 1e-14 * np.linalg.cond(frames[i]) * (1 + np.abs(found[i]))  # of the matrices' own rounding
        assert (off < 10 * errors[i] + blur).all()


def test_double_roots():
    # x' = −x(t − 1)/e has the double root −1, x' = A₀ x − x(t − 1)/2 with a Jordan block only double ones
    found, errors = rightmost_roots([[[0.0]], [[-np.exp(-1)]]], [1.0], count=2, errors=True)
    assert (np.abs(found + 1) < 4 * errors + 1e-12).all()
    assert (errors < 1e-6).all()
    block = np.array([[[-1.0, 1.0], [0.0, -1.0]], [[-0.5, 0.0], [0.0, -0.5]]])
    alike = np.array([-np.eye(2), -0.5 * np.eye(2)])
    for matrices in (block, alike):
        found, errors = rightmost_roots(matrices, [1.0], count=4, errors=True)
        known = lambert_roots(-1.0, -0.5, 1.0, 2)
        off = np.abs(found[:, None] - known).min(axis=-1)
        assert (off < 4 * errors + 1e-12).all()
        assert (errors < 1e-6).all()
        assert (found.imag > 0).sum() == (found.imag < 0).sum() == 2


def test_equal_zero_and_absent_delays_are_those_of_the_merged_system():
    matrices, delays = some_systems(4, 2, 4, seed=1)
    (own, first, second), times = np.moveaxis(matrices, 1, 0), delays[:, :1]
    for two, merged in (
        (np.column_stack([times, times]), [own, first + second]),
        (np.column_stack([0 * times, times]), [own + first, second]),
    ):
        found, known = rightmost_roots(matrices, two), rightmost_roots(np.stack(merged, axis=1), times)
        for one, other in zip(found, known, strict=True):
            assert far(one, other) < 1e-10
            assert far(other, one) < 1e-10
    found, errors = rightmost_roots(matrices, np.zeros((4, 2)), count=6, errors=True)
    for one, error, stack in zip(found, errors, matrices, strict=True):
        known = scipy.linalg.eigvals(stack.sum(axis=0))
        assert_allclose(one[:4].real, np.sort(known.real)[::-1], atol=1e-10)
        assert far(one[:4], known) < 1e-10
        assert np.isnan(one[4:].real).all()  # there are no more
        assert (error[:4] < 1e-10).all()


def test_roots_without_any_delayed_term_are_eigenvalues():
    matrices, _ = some_systems(4, 1, 3, seed=1)
    for one, stack in zip(rightmost_roots(matrices[:, :1], np.zeros((3, 0)), count=4), matrices, strict=True):
        assert far(one, scipy.linalg.eigvals(stack[0])) < 1e-10


def test_a_guess_that_is_a_root_to_the_last_bit_is_kept():
    """Δ(0) = 0 there: Newton's method has nothing to solve."""
    still = np.zeros((2, 1, 1))
    falling = np.array([[[-1.0]], [[0.0]]])
    roots, errors = rightmost_roots(np.stack([still, falling]), [0.5], 1, errors=True)
    assert_allclose(roots, [[0.0], [-1.0]], rtol=0, atol=1e-15)
    assert_allclose(errors, 0, atol=1e-15)


def test_more_roots_than_the_coarsest_collocation_has():
    """ẋ = −x + x(t − 1)/2, whose roots are s = W_k(e/2) − 1."""
    roots, errors = rightmost_roots([[[-1.0]], [[0.5]]], [1.0], 15, errors=True)
    known = np.array([lambertw(np.e / 2, k) for k in range(-8, 9)]) - 1
    known = known[np.argsort(-known.real)][:15]
    assert_allclose(np.sort_complex(roots), np.sort_complex(known), rtol=0, atol=1e-9)
    assert (errors < 1e-9).all()


def test_characteristic_matrices_of_many_systems():
    """Of many systems and several numbers at once, one by one, and written out."""
    rng = np.random.default_rng(3)
    matrices, delays = rng.normal(size=(4, 3, 2, 2)), rng.uniform(0, 2, (4, 2))
    s = rng.normal(size=(4, 5)) + 1j * rng.normal(size=(4, 5))
    for function in (characteristic_matrix, characteristic_slope):
        together = function(s, matrices[:, None], delays[:, None])
        assert together.shape == (4, 5, 2, 2)
        for i, j in np.ndindex(s.shape):
            alone = function(s[i, j], matrices[i], delays[i])
            assert_allclose(together[i, j], alone, rtol=0, atol=1e-15 * np.abs(alone).max() * 8)
    by_hand = s[1, 2] * np.eye(2) - matrices[1, 0]
    for matrix, delay in zip(matrices[1, 1:], delays[1], strict=True):
        by_hand = by_hand - matrix * np.exp(-s[1, 2] * delay)
    assert_allclose(characteristic_matrix(s, matrices[:, None], delays[:, None])[1, 2], by_hand, rtol=0, atol=1e-14)


@pytest.mark.parametrize(("states", "delays"), STRUCTURES)
def test_slopes_of_a_root_are_differences(states, delays):
    step = 1e-5
    for matrices, late in zip(*some_systems(states, delays, 3, seed=8), strict=True):
        found, (by_matrix, by_delay) = root_slopes(root := rightmost_roots(matrices, late, 1)[0], matrices, late)
        assert found == root

        def moved(array, place, side):
            array = array.copy()
            array[place] += side * step
            return array

        def slope(of, array, place, root=root):
            ends = [rightmost_roots(*of(moved(array, place, side)), 4) for side in (1, -1)]
            up, down = (end[np.argmin(np.abs(end - root))] for end in ends)
            return (up - down) / (2 * step)

        size = max(np.abs(by_matrix).max(), np.abs(by_delay).max())
        for place in [(0, 0, 0), (delays, 0, states - 1)]:
            there = slope(lambda array, late=late: (array, late), matrices, place)
            assert_allclose(by_matrix[place], there, rtol=0, atol=1e-6 * size)
        there = slope(lambda array, matrices=matrices: (matrices, array), late, (0,))
        assert_allclose(by_delay[0], there, rtol=0, atol=1e-6 * size)


def test_axes_of_systems_broadcast():
    matrices, delays = some_systems(2, 1, 2, seed=1)
    grid = rightmost_roots(matrices[:, None], delays[None], count=COUNT)
    assert grid.shape == (2, 2, COUNT)
    for i in range(2):
        assert_allclose(grid[i, i], rightmost_roots(matrices[i], delays[i], count=COUNT), rtol=1e-10)


def test_too_long_a_delay_has_an_infinite_error():
    """Roots of modulus up to 2000 1/s at a delay of 10 s: no collocation is fine enough to be sure of all of them."""
    matrices = np.array([[[0.0, 1e3], [-1e3, -100.0]], [[0.0, 0.0], [-300.0, 0.0]]])
    _, errors = rightmost_roots(matrices, [10.0], count=2, errors=True)
    assert np.isinf(errors).all()
