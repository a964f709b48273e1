"""Roots of delay equations and stable windows, beside other ways to compute them.

The references are: tdcpy (spectral discretisation, another implementation), the scalar equation solved by Lambert's
function, the argument principle, the Kronecker sum of a single delay, and published windows.
"""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
import pytest
import scipy.linalg
from numpy.testing import assert_allclose
from scipy.special import lambertw

from dockdyn.stability import rightmost_roots, stable_windows
from dockdyn.stability.characteristic import characteristic_matrix, characteristic_slope

COUNT = 6  # roots asked for
STRUCTURES = [(2, 1), (3, 3), (4, 2), (6, 1)]  # states, delays
ALL_STRUCTURES = [(n, q) for n in range(2, 7) for q in range(1, 4)]


# --- systems ---------------------------------------------------------------------------------------------------------


def some_systems(states, delays, number, seed):
    """Random systems, about half of them stable."""
    rng = np.random.default_rng([seed, states, delays])
    matrices = rng.normal(size=(number, delays + 1, states, states))
    matrices[::2, 0] -= 3 * np.eye(states)
    return matrices, rng.uniform(0.05, 1.5, (number, delays))


def stiff_systems(number, seed):
    """Time scales of the states over four decades: the rates span 0.03 to 300 1/s."""
    rng = np.random.default_rng(seed)
    matrices = rng.normal(size=(number, 2, 3, 3))
    matrices[:, 0] -= 2 * np.eye(3)
    rates = 10 ** np.array([-1.5, 0.5, 2.5])
    return matrices * rates[:, None], rng.uniform(0.05, 0.5, (number, 1))


def delta(s, matrices, delays):
    """Characteristic matrices at many s."""
    s = np.asarray(s)[..., None, None]
    whole = s * np.eye(matrices.shape[-1]) - matrices[0]
    for matrix, delay in zip(matrices[1:], delays, strict=True):
        whole = whole - np.exp(-s * delay) * matrix
    return whole


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


@pytest.mark.parametrize(("states", "delays"), STRUCTURES)
def test_roots_are_those_of_tdcpy(states, delays):
    check_against_tdcpy(*some_systems(states, delays, 2 if delays == 3 else 4, seed=1))


def test_roots_of_stiff_systems_are_those_of_tdcpy():
    check_against_tdcpy(*stiff_systems(4, seed=2), stiff=True)


@pytest.mark.full
@pytest.mark.parametrize(("states", "delays"), ALL_STRUCTURES)
def test_roots_are_those_of_tdcpy_in_full(states, delays):
    check_against_tdcpy(*some_systems(states, delays, 40, seed=3))


@pytest.mark.full
def test_roots_of_stiff_systems_are_those_of_tdcpy_in_full():
    check_against_tdcpy(*stiff_systems(100, seed=4), stiff=True)


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


@pytest.mark.parametrize(("states", "delays"), STRUCTURES)
def test_no_root_is_missed(states, delays):
    check_none_missed(*some_systems(states, delays, 2 if delays == 3 else 4, seed=1))


def test_no_root_of_a_stiff_system_is_missed():
    check_none_missed(*stiff_systems(4, seed=2))


@pytest.mark.full
@pytest.mark.parametrize(("states", "delays"), ALL_STRUCTURES)
def test_no_root_is_missed_in_full(states, delays):
    check_none_missed(*some_systems(states, delays, 30, seed=5))


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


def test_one_characteristic_matrix_in_numpy_and_in_jax():
    """Of many systems and several numbers at once in NumPy, one by one in JAX, and written out."""
    rng = np.random.default_rng(3)
    matrices, delays = rng.normal(size=(4, 3, 2, 2)), rng.uniform(0, 2, (4, 2))
    s = rng.normal(size=(4, 5)) + 1j * rng.normal(size=(4, 5))
    for function in (characteristic_matrix, characteristic_slope):
        together = function(s, matrices[:, None], delays[:, None])
        assert isinstance(together, np.ndarray) and together.shape == (4, 5, 2, 2)
        for i, j in np.ndindex(s.shape):
            alone = function(jnp.asarray(s[i, j]), matrices[i], delays[i])
            assert_allclose(together[i, j], alone, rtol=0, atol=1e-15 * np.abs(alone).max() * 8)
    by_hand = s[1, 2] * np.eye(2) - matrices[1, 0]
    for matrix, delay in zip(matrices[1, 1:], delays[1], strict=True):
        by_hand = by_hand - matrix * np.exp(-s[1, 2] * delay)
    assert_allclose(characteristic_matrix(s, matrices[:, None], delays[:, None])[1, 2], by_hand, rtol=0, atol=1e-14)


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


# --- stable windows --------------------------------------------------------------------------------------------------

# Olgac and Sipahi, IEEE Trans. Autom. Control 47 (2002): two stable windows
POCKETS = np.array(
    [[[-1, 13.5, -1], [-3, -1, -2], [-2, -1, -4]], [[-5.9, 7.1, -70.3], [2, -1, 5], [2, 0, 6]]],
)


def kronecker_windows(matrices, longest):
    """Crossings (delay, frequency) and stable intervals of a single delay, without any sweep.

    At a root jω with z = exp(−jω h), jω and −jω are eigenvalues of A + B z and A + B / z: their Kronecker sum is singular,
    a quadratic eigenvalue problem in z. Directions of crossing come from the perturbation of a simple root.
    """
    own, late = matrices
    order = len(own)
    eye, big = np.eye(order), np.eye(order**2)
    middle = np.kron(own, eye) + np.kron(eye, own)
    nought = np.zeros_like(big)
    left = np.block([[nought, big], [-np.kron(eye, late), -middle]])
    right = np.block([[big, nought], [nought, np.kron(late, eye)]])
    turns = scipy.linalg.eigvals(left, right)
    crossings = []
    for z in turns[np.abs(np.abs(turns) - 1) < 1e-7]:
        z = z / abs(z)
        values, left_vectors, right_vectors = scipy.linalg.eig(own + late * z, left=True)
        for s, u, v in zip(values, left_vectors.T, right_vectors.T, strict=True):
            if s.imag > 1e-6 and abs(s.real) < 1e-6 * (1 + abs(s)):
                drive = (u.conj() @ late @ v) * z
                first = (-np.angle(z)) % (2 * np.pi) / s.imag
                for h in np.arange(first, longest, 2 * np.pi / s.imag):
                    slope = -s * drive / (u.conj() @ v + h * drive)
                    crossings.append((h, s.imag, np.sign(slope.real)))
    crossings.sort()
    unstable = int((np.linalg.eigvals(own + late).real > 0).sum())
    edges, stable = [0.0, *(h for h, _, _ in crossings), longest], []
    for start, end, direction in zip(edges[:-1], edges[1:], [*(d for _, _, d in crossings), 0], strict=True):
        if unstable == 0:
            stable.append((start, end))
        unstable += int(2 * direction)
    return [(h, w) for h, w, _ in crossings], stable


def check_against_kronecker(matrices, longest):
    windows = stable_windows(matrices, [0.0], longest=longest)
    crossings, stable = kronecker_windows(matrices, longest)
    assert windows.longest == longest
    assert len(windows.crossings) == len(crossings)
    if crossings:
        assert_allclose(windows.crossings, crossings, rtol=1e-6, atol=1e-8)
    assert_allclose(np.reshape(windows.stable, (-1, 2)), np.reshape(stable, (-1, 2)), rtol=1e-6, atol=1e-8)
    return windows


def single_delays(number, seed):
    """Systems of three states; every third has a delayed term of rank one, as a single force gives."""
    rng = np.random.default_rng(seed)
    for index in range(number):
        own, late = rng.normal(size=(2, 3, 3))
        late = np.outer(late[0], late[1]) if index % 3 == 0 else late
        yield np.stack([own - (np.linalg.eigvals(own + late).real.max() + 0.3) * np.eye(3), late])


def test_windows_of_a_single_delay_are_those_of_the_kronecker_sum():
    for matrices in single_delays(8, seed=9):
        check_against_kronecker(matrices, longest=4.0)


@pytest.mark.full
def test_windows_of_a_single_delay_are_those_of_the_kronecker_sum_in_full():
    several = 0
    for matrices in single_delays(300, seed=10):
        several += len(check_against_kronecker(matrices, longest=6.0).stable) > 1
    assert several > 0


def test_several_stable_windows():
    windows = check_against_kronecker(POCKETS, longest=1.0)
    assert_allclose(windows.stable, [(0, 0.1624), (0.1859, 0.2219)], atol=1e-4)  # as published
    assert windows.critical_delay == windows.stable[0][1]
    assert_allclose(windows.crossing_frequency, 3.0352, atol=1e-4)
    # unstable at first, stable later: x″ + x = x(t − h)/2 − x′(t − h)/10 is not stable for the shortest delays
    late = check_against_kronecker(np.array([[[0, 1], [-1, 0.05]], [[0, 0], [0.5, 0]]]), longest=6.0)
    assert late.stable
    assert late.stable[0][0] > 0
    assert late.critical_delay == 0


def test_no_crossing_at_any_delay():
    for own, late, stable in ((-2.0, 0.5, [(0, np.inf)]), (-2.0, -1.5, [(0, np.inf)]), (2.0, 0.5, [])):
        windows = stable_windows([[[own]], [[late]]], [0.0])
        assert windows.stable == stable
        assert windows.crossings == []
        assert windows.critical_delay == (np.inf if stable else 0)
        assert windows.crossing_frequency is None


@pytest.mark.parametrize("varied", [0, 1])
def test_windows_among_several_delays_are_where_the_roots_are_left(varied):
    """Direct evaluation on a fine sweep: edges of the windows lie where the sign changes, and nowhere else."""
    rng = np.random.default_rng(11)
    changes = 0
    for _ in range(4):
        own, *late = rng.normal(size=(3, 2, 2))
        own -= (np.linalg.eigvals(own + late[0] + late[1]).real.max() + 0.2) * np.eye(2)
        delays = rng.uniform(0.1, 1.0, 2)
        windows = stable_windows([own, *late], delays, varied, longest=2.0)
        sweep = np.repeat(delays[None], 128, axis=0)
        sweep[:, varied] = (np.arange(128) + 0.5) / 64
        growth = rightmost_roots([own, *late], sweep, count=1)[:, 0].real
        inside = np.any([(low < sweep[:, varied]) & (sweep[:, varied] < high) for low, high in windows.stable], axis=0)
        decided = np.abs(growth) > 1e-3
        assert ((growth < 0) == inside)[decided].all()
        changes += len(windows.crossings)
        for h, w in windows.crossings:  # jω is a root there
            delays[varied] = h
            assert np.linalg.svd(delta(1j * w, np.array([own, *late]), delays))[1][-1] < 1e-10
    assert changes > 0


# --- what is refused -------------------------------------------------------------------------------------------------

WELL = np.array([[[0.0, 1.0], [0.0, 0.0]], [[0.0, 0.0], [-3.0, -0.5]]])


@pytest.mark.parametrize(
    ("matrices", "delays", "words"),
    [
        (WELL, [-0.1], "delay is -0.1"),
        (WELL, [0.1, 0.2], "2 delays"),
        (WELL, [np.nan], "finite"),
        (WELL + np.inf, [0.1], "finite"),
        (WELL[:, :1], [0.1], "shape"),
        (WELL[0], [], "shape"),
    ],
)
def test_what_is_no_delay_equation(matrices, delays, words):
    for ask in (rightmost_roots, stable_windows):
        with pytest.raises(ValueError, match=words):
            ask(matrices, delays)


@pytest.mark.filterwarnings("error::numpy.exceptions.ComplexWarning")
def test_complex_matrices_are_not_taken_for_real_ones():
    for ask in (rightmost_roots, stable_windows):
        with pytest.raises((TypeError, ValueError)):
            ask(WELL * 1j, [0.1])


@pytest.mark.parametrize("others", [{"varied": 1}, {"varied": -1}, {"longest": -1.0}, {"longest": np.nan}], ids=str)
def test_what_windows_cannot_be_asked_for(others):
    with pytest.raises(ValueError, match=next(iter(others))):
        stable_windows(WELL, [0.1], **others)
