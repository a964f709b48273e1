"""Cases of a scenario with distributions: a row of numbers each, the same whatever range of cases is asked for."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import wraps

import numpy as np

from dockdyn.deferred import Float
from dockdyn.installed import version
from dockdyn.kept import cache_root, find_entry, keep_entry
from dockdyn.records import record
from dockdyn.scenario.distributions.dispersion import Dispersion
from dockdyn.scenario.distributions.distribution import Cube, Values
from dockdyn.scenario.language.errors import ScenarioError
from dockdyn.scenario.load import Scenario
from dockdyn.scenario.tables.campaign import Sampling

type CubeMaker = Callable[[int, int, int, int, int], Cube]

MOST_KEPT = 1_000_000  # numbers of a cube
BITS = 32  # of Sobol's points: with more, SciPy cannot skip any; 2^32 cases before they repeat


@record
class Sampled:
    """Cases drawn."""

    keys: tuple[str, ...]  # dotted, as `Scenario.at` takes them
    units: tuple[str, ...]
    values: Float[np.ndarray, "cases keys"]  # SI


def sample(scenario: Scenario, runs: int, seed: int, sampling: Sampling) -> Sampled:
    """Return all `runs` cases of a scenario. Raises ScenarioError where nothing is distributed."""
    return sample_cases(scenario, runs, seed, sampling, 0, runs)


def sample_cases(scenario: Scenario, runs: int, seed: int, sampling: Sampling, first: int, count: int) -> Sampled:
    """Return `count` of `runs` cases from `first` on, without the others but for a Latin hypercube.

    Random and Sobol cases do not depend on `runs` either: more of them continue fewer.
    """
    if not scenario.dispersions:
        words = (
            'has no distribution; must have some number as one, such as {distribution = "uniform", low = 0, high = 1}'
        )
        raise ScenarioError(f"{scenario.name}: {words}")
    sizes = [one.size for one in scenario.dispersions]
    cube = CUBES[sampling](sum(sizes), runs, seed, first, count)
    parts = np.split(cube, np.cumsum(sizes)[:-1], axis=1)
    values = [_values_of(one, part, scenario.name) for one, part in zip(scenario.dispersions, parts, strict=True)]
    return Sampled(
        tuple(key for one in scenario.dispersions for key in one.keys),
        tuple(unit for one in scenario.dispersions for unit in one.units),
        np.concatenate(values, axis=1),
    )


def _values_of(one: Dispersion, cube: Cube, name: str) -> Values:
    """Return values of a distribution's keys. ScenarioError where one of the user's own gives none."""
    try:
        return one.values(cube)
    except ValueError as problem:
        raise ScenarioError(f"{name}: {', '.join(one.keys)}: {problem}") from None


def random_cube(size: int, runs: int, seed: int, first: int, count: int) -> Cube:
    """Return a stream of its own for every case: Philox, keyed by the seed, its counter begun at the case."""
    key = np.random.SeedSequence(seed).generate_state(2, np.uint64)
    rows = np.empty((count, size))
    for row in range(count):
        stream = np.random.Philox(key=key, counter=[0, 0, first + row, 0])  # a case takes fewer than 2^128 numbers
        rows[row] = np.random.Generator(stream).random(size)
    return rows


def kept_once_made(make: CubeMaker) -> CubeMaker:
    """Return a maker of cubes by SciPy, which takes long to load, that keeps what is not large for later processes."""

    @wraps(make)
    def find(size: int, runs: int, seed: int, first: int, count: int) -> Cube:
        if size * count > MOST_KEPT:
            return make(size, runs, seed, first, count)
        facts = (make.__name__, size, runs, seed, first, count, version("numpy"), version("scipy"))
        place, name = cache_root() / "samples", hashlib.sha256(repr(facts).encode()).hexdigest()[:40]
        if (stored := find_entry(place, name)) is not None:
            return np.frombuffer(stored).reshape(count, size).copy()
        points = make(size, runs, seed, first, count)
        keep_entry(place, name, points.tobytes())
        return points

    return find


@kept_once_made
def sobol_cube(size: int, runs: int, seed: int, first: int, count: int) -> Cube:
    """Return Sobol's sequence, scrambled by the seed; best where `runs` is a power of two."""
    from scipy.stats import qmc

    sequence = qmc.Sobol(size, scramble=True, bits=BITS, rng=np.random.default_rng(seed))
    if first:
        sequence.fast_forward(first)
    # one point by itself: SciPy warns of a first draw of other than a power of two, though more of them may follow
    begin = sequence.random(1)[:count]
    points = begin if count < 2 else np.concatenate([begin, sequence.random(count - 1)])
    return points + 0.5**BITS / 2  # from the corner of each cell to its middle: never 0


@kept_once_made
def latin_hypercube(size: int, runs: int, seed: int, first: int, count: int) -> Cube:
    """Return one case in each of `runs` equal layers of every number."""
    from scipy.stats import qmc

    return qmc.LatinHypercube(size, rng=np.random.default_rng(seed)).random(runs)[first : first + count]


CUBES: dict[str, CubeMaker] = {
    "random": random_cube,
    "sobol": sobol_cube,
    "latin-hypercube": latin_hypercube,
}
