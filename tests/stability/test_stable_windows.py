"""Stable windows of delay equations beside the Kronecker sum of a single delay, published windows and a fine sweep; and what
is no delay equation."""

import numpy as np
import pytest
import scipy.linalg
import scipy.special
from delay_systems import delta
from numpy.testing import assert_allclose

from dockdyn.stability import rightmost_roots, stable_windows
from dockdyn.studies.margins.answer import critical_delay
from dockdyn.studies.margins.judged_loop import roots_with_delay

# --- stable windows --------------------------------------------------------------------------------------------------

# Olgac and Sipahi, IEEE Trans. Autom. Control 47 (2002): two stable windows
POCKETS = np.array([[[-1, 13.5, -1], [-3, -1, -2], [-2, -1, -4]], [[-5.9, 7.1, -70.3], [2, -1, 5], [2, 0, 6]]])


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


@pytest.mark.full_cases("2")
@pytest.mark.parametrize("rank", [1, 2])
def test_of_many_states_few_of_which_are_felt_late(rank):
    """In whatever units the states are."""
    rng = np.random.default_rng(rank)
    own, late = rng.normal(size=(8, 8)), 2 * rng.normal(size=(8, rank)) @ rng.normal(size=(rank, 8))
    matrices = np.stack([own - own.T - 0.1 * np.eye(8), late])
    windows = check_against_kronecker(matrices, longest=3.0)
    assert len(windows.crossings) > 1
    units = 10.0 ** rng.uniform(-5, 5, 8)
    assert_allclose(
        stable_windows(matrices * units / units[:, None], [0.0], longest=3.0).crossings, windows.crossings, rtol=1e-7
    )


@pytest.mark.full
def test_windows_of_a_single_delay_are_those_of_the_kronecker_sum_in_full():
    several = 0
    for matrices in single_delays(300, seed=10):
        several += len(check_against_kronecker(matrices, longest=6.0).stable) > 1
    assert several > 0


@pytest.mark.full
def test_looking_around_a_delay_ends_with_the_first_that_is_too_long():
    """What is told is as of all delays; the window that holds the delay is whole, or reaches as far as was looked."""
    shorter = 0
    for matrices in [POCKETS, *single_delays(4, seed=12)]:
        whole = stable_windows(matrices, [0.0], longest=20.0)
        for around in (0.0, 0.1, 1.0):
            near = stable_windows(matrices, [0.0], longest=20.0, around=around)
            assert near.longest <= whole.longest
            assert near.crossings == [one for one in whole.crossings if one[0] <= near.longest]
            clipped = [(low, min(high, near.longest)) for low, high in whole.stable if low < near.longest]
            assert_allclose(np.reshape(near.stable, (-1, 2)), np.reshape(clipped, (-1, 2)), rtol=1e-12)
            own = [window for window in whole.stable if window[0] <= around < window[1]]
            assert all(window in near.stable for window in own)
            shorter += near.longest < whole.longest
    assert shorter > 3


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


@pytest.mark.full
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


def growth_by_lambert(rate, turns, delay):
    """The largest real part of the roots of s + rate = μ exp(−s h) for some complex μ, in closed form."""
    branches = scipy.special.lambertw(turns * delay * np.exp(rate * delay)) / delay - rate
    return branches.real.max()


@pytest.mark.full
def test_eigenvalues_that_tie_in_modulus_at_all_frequencies_cross_each_at_its_own_delay():
    """ẋ = −a x + M x(t − h) with eigenvalues of M on a circle of b > a, beside the roots by Lambert's W.

    Whatever the frequency, eigenvalues of (jω + a)⁻¹ M tie in modulus; all cross at √(b² − a²).
    """
    rng = np.random.default_rng(33)
    several = 0
    for _ in range(25):
        pairs, rate = rng.integers(1, 4), rng.uniform(0.5, 2)
        size, angles = rate * rng.uniform(1.1, 4), rng.uniform(0, np.pi, pairs)
        turned = [[[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]] for angle in angles]
        change = rng.normal(size=(2 * pairs, 2 * pairs))
        late = change @ scipy.linalg.block_diag(*turned) @ np.linalg.inv(change) * size
        turns = size * np.exp(1j * np.concatenate([angles, -angles]))
        frequency = np.sqrt(size**2 - rate**2)
        windows = stable_windows([-rate * np.eye(2 * pairs), late], [0.0])
        first = (np.angle(turns) - np.arctan2(frequency, rate)) % (2 * np.pi) / frequency
        within = first[:, None] + 2 * np.pi / frequency * np.arange(2)
        crossings = np.array([h for h, _ in windows.crossings])
        assert_allclose(crossings[crossings < 2 * np.pi / frequency], np.sort(within[:, 0]), rtol=1e-6)
        ends = np.array([0.0, *np.sort(within.ravel())])
        for delay in (ends[1:] + ends[:-1]) / 2:
            growth = growth_by_lambert(rate, turns, delay)
            inside = any(low <= delay < high for low, high in windows.stable)
            assert inside == (growth < 0) or abs(growth) < 1e-6, (rate, angles, delay, growth, windows)
        several += pairs > 1 and windows.critical_delay > 0
    assert several


def test_a_motion_that_no_delay_moves_from_the_axis_decides_nothing():
    """A mass on a delayed spring and dashpot, and one on an undamped spring at once, in coordinates that mix all four."""
    for seed in range(6):
        draw = np.random.default_rng([75, seed])
        stiffness, damping, free = draw.uniform(5, 50), draw.uniform(1, 4), draw.uniform(0.5, 30)
        own, late = np.zeros((2, 4, 4))
        own[0, 1] = own[2, 3] = 1.0
        own[3, 2], late[1, :2] = -free, [-stiffness, -damping]
        mix = np.linalg.qr(draw.normal(size=(4, 4)))[0] * draw.uniform(0.5, 2, 4)
        mixed = np.array([mix @ part @ np.linalg.inv(mix) for part in (own, late)])
        block = np.stack([own, late])[:, :2, :2]
        square = (damping**2 + np.sqrt(damping**4 + 4 * stiffness**2)) / 2  # ω² where |K + j B ω| = ω²
        critical = np.arctan(damping * np.sqrt(square) / stiffness) / np.sqrt(square)
        assert stable_windows(mixed, [0.0]).critical_delay == pytest.approx(critical, rel=1e-9)
        for share in (0.0, 0.4, 0.99, 1.01):
            found = roots_with_delay(mixed, share * critical)
            assert found.drift == 2
            assert (found.roots[0].real < 0) == (share < 1)
            assert abs(np.linalg.det(delta(found.roots[0], block, [share * critical]))) < 1e-8
            assert critical_delay(found.windows, share * critical, share < 1)[0] == pytest.approx(critical, rel=1e-9)
