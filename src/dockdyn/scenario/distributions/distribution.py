"""Distributions that a scenario can name in the place of numbers: one class each.

Numbers of the unit cube become values by the inverse of the distribution function; every class says how many it takes.
"""

from __future__ import annotations

import abc
import math
from typing import Annotated, Any, ClassVar, Literal, Protocol, Self

import numpy as np
from pydantic import Field

from dockdyn.deferred import Float, jnp
from dockdyn.scenario.language.section import Section
from dockdyn.scenario.language.units import Number, quantity
from dockdyn.scenario.tables.parts import Direction

type Cube = Float[np.ndarray, "cases size"]
type Values = Float[np.ndarray, "cases keys"]
SMALLEST = 2.0**-54  # the unit cube is kept off its faces by so much: a normal distribution is infinite there
HALF_TURN = math.pi * (1 + 1e-12)  # rad; 180 deg may be written so
SYMMETRIC = 1e-12  # relative difference of a correlation and its transpose


class Reader(Protocol):
    """What turns what is written into numbers in SI units, and refuses in words that name the place in the file."""

    def value(self, field: str, written: object) -> list[Any]:
        """Return a value of every key, checked by the key's own field."""
        ...

    def spread(self, field: str, written: object, key: int = 0) -> float:
        """Return a difference, above zero, in the unit of one key."""
        ...

    def product(self, field: str, written: object, row: int, column: int) -> float:
        """Return a number in the unit of two keys multiplied."""
        ...

    def one_unit(self) -> str:
        """Return the unit of the keys; different ones are refused."""
        ...

    def checked[Table: Section](self, section: type[Table], table: dict[str, Any]) -> Table:
        """Return what is written as a table of one's own reads it; what that does not allow is refused."""
        ...

    def refuse(self, field: str, written: object, allowed: str) -> None:
        """Refuse what is written."""
        ...


class DistributionSection(Section, abc.ABC):
    """What all have. As read from a file, fields hold what is written; `read` gives one with SI numbers in them."""

    distribution: str
    nominal: Any = None
    start: ClassVar[str] = "low"  # a field that holds some value of the keys
    with_unit: ClassVar[tuple[str, ...]] = ()  # fields written back with the unit of the (first) key
    moved: ClassVar[
        tuple[str, ...]
    ] = ()  # fields that a page can set: what they do to `draws` is in `live/draws.ts`, too

    def count(self) -> int:
        """Return how many numbers it stands for."""
        return 1

    def size(self) -> int:
        """Return how many numbers of the unit cube it takes."""
        return 1

    def somewhere(self) -> tuple[str, Any]:
        """Return some value that it can take, as written, and the field that holds it."""
        return (self.start, getattr(self, self.start)) if self.nominal is None else ("nominal", self.nominal)

    @abc.abstractmethod
    def read(self, keys: Reader) -> Self:
        """Return it with SI numbers in the fields; what the keys do not allow is refused."""

    @abc.abstractmethod
    def middle(self) -> list[Any]:
        """Return the nominal value of every key where none is stated."""

    @abc.abstractmethod
    def inverse(self, cube: Cube) -> Values:
        """Return values of the keys at points of the unit cube."""

    def draws(self, cube: Cube) -> Values:
        """Return what is drawn before the fields of `moved` scale it; without any, the values of the keys."""
        return self.inverse(cube)


class Uniform(DistributionSection):
    """Everything from low to high alike."""

    distribution: Literal["uniform"]
    low: Any
    high: Any
    with_unit: ClassVar = ("nominal", "low", "high")
    moved: ClassVar = ("low", "high")

    def read(self, keys: Reader) -> Self:
        (low,), (high,) = keys.value("low", self.low), keys.value("high", self.high)
        if not low < high:
            keys.refuse("low", self.low, f"must be below high = {self.high}")
        return self.model_copy(update={"low": low, "high": high})

    def middle(self) -> list[Any]:
        return [(self.low + self.high) / 2]

    def inverse(self, cube: Cube) -> Values:
        return self.low + (self.high - self.low) * self.draws(cube)

    def draws(self, cube: Cube) -> Values:
        return cube


class Normal(DistributionSection):
    """Gauss's, by mean and standard deviation."""

    distribution: Literal["normal"]
    mean: Any
    std: Any
    with_unit: ClassVar = ("nominal", "mean", "std")
    moved: ClassVar = ("mean", "std")
    start: ClassVar = "mean"

    def read(self, keys: Reader) -> Self:
        return self.model_copy(update={"mean": keys.value("mean", self.mean)[0], "std": keys.spread("std", self.std)})

    def middle(self) -> list[Any]:
        return [self.mean]

    def inverse(self, cube: Cube) -> Values:
        return self.mean + self.std * self.draws(cube)

    def draws(self, cube: Cube) -> Values:
        return _normal(cube)


class TruncatedNormal(DistributionSection):
    """The normal distribution with this mean and deviation, of which only what lies between low and high is taken."""

    distribution: Literal["truncated-normal"]
    mean: Any
    std: Any
    low: Any
    high: Any
    with_unit: ClassVar = ("nominal", "mean", "std", "low", "high")
    start: ClassVar = "mean"

    def read(self, keys: Reader) -> Self:
        (mean,), (low,), (high,) = (keys.value(name, getattr(self, name)) for name in ("mean", "low", "high"))
        if not low < high:
            keys.refuse("low", self.low, f"must be below high = {self.high}")
        if not low <= mean <= high:
            keys.refuse("mean", self.mean, f"must be from low = {self.low} to high = {self.high}")
        std = keys.spread("std", self.std)
        return self.model_copy(update={"mean": mean, "low": low, "high": high, "std": std})

    def middle(self) -> list[Any]:
        return [self.mean]

    def inverse(self, cube: Cube) -> Values:
        from scipy.stats import truncnorm

        ends = ((end - self.mean) / self.std for end in (self.low, self.high))
        return truncnorm.ppf(inner(cube), *ends, loc=self.mean, scale=self.std)


class LogNormal(DistributionSection):
    """The logarithm is normal: by the median, and the standard deviation sigma of the natural logarithm."""

    distribution: Literal["log-normal"]
    median: Any
    sigma: quantity("", "a standard deviation of the logarithm", above=0)
    with_unit: ClassVar = ("nominal", "median")
    moved: ClassVar = ("median",)
    start: ClassVar = "median"

    def read(self, keys: Reader) -> Self:
        (median,) = keys.value("median", self.median)
        if not median > 0:
            keys.refuse("median", self.median, "must be greater than 0")
        return self.model_copy(update={"median": median})

    def middle(self) -> list[Any]:
        return [self.median]

    def inverse(self, cube: Cube) -> Values:
        return self.median * self.draws(cube)

    def draws(self, cube: Cube) -> Values:
        return np.exp(self.sigma * _normal(cube))


class ValueChoice(DistributionSection):
    """One of some values, all alike or by their weights; for several keys, a list of one value each."""

    distribution: Literal["choice"]
    values: Annotated[list[Any], Field(min_length=1)]
    weights: list[quantity("", "a weight", least=0)] | None = None

    def count(self) -> int:
        return len(self.values[0]) if isinstance(self.values[0], list) else 1

    def somewhere(self) -> tuple[str, Any]:
        return ("values.0", self.values[0]) if self.nominal is None else ("nominal", self.nominal)

    def read(self, keys: Reader) -> Self:
        if self.weights is not None and len(self.weights) != len(self.values):
            keys.refuse("weights", self.weights, f"must be {len(self.values)}, one for each value")
        if self.weights is not None and not any(self.weights):
            keys.refuse("weights", self.weights, "must not all be 0")
        found = [keys.value(f"values.{place}", value) for place, value in enumerate(self.values)]
        return self.model_copy(update={"values": found if self.count() > 1 else [value for (value,) in found]})

    def middle(self) -> list[Any]:
        first = self.values[0]
        return first if isinstance(first, list) else [first]

    def inverse(self, cube: Cube) -> Values:
        weights = np.ones(len(self.values)) if self.weights is None else np.array(self.weights)
        ends = np.cumsum(weights) / weights.sum()
        last = np.flatnonzero(weights)[-1]
        chosen = np.minimum(np.searchsorted(ends, cube[:, 0], side="right"), last)
        return np.array(self.values, float).reshape(len(self.values), -1)[chosen]


class Disc(DistributionSection):
    """Two numbers, uniform over the area of a disc."""

    distribution: Literal["disc"]
    radius: Any
    centre: Annotated[list[Any], Field(min_length=2, max_length=2)] = [0.0, 0.0]  # noqa: RUF012
    with_unit: ClassVar = ("radius",)
    moved: ClassVar = ("radius",)
    start: ClassVar = "centre"

    def count(self) -> int:
        return 2

    def size(self) -> int:
        return 2

    def read(self, keys: Reader) -> Self:
        keys.one_unit()
        return self.model_copy(
            update={"radius": keys.spread("radius", self.radius), "centre": keys.value("centre", self.centre)}
        )

    def middle(self) -> list[Any]:
        return self.centre

    def inverse(self, cube: Cube) -> Values:
        share, cosine, sine = self.draws(cube).T
        away = self.radius * share
        return np.array(self.centre) + away[:, None] * np.stack([cosine, sine], axis=1)

    def draws(self, cube: Cube) -> Values:
        around = 2 * np.pi * cube[:, 1]
        return np.stack([np.sqrt(cube[:, 0]), np.cos(around), np.sin(around)], axis=1)


class DirectionCone(DistributionSection):
    """Three numbers: a direction, uniform in solid angle about an axis, times a length."""

    distribution: Literal["cone"]
    axis: Direction
    half_angle: quantity("rad", "an angle", above=0, most=HALF_TURN)
    length: Any = 1.0
    with_unit: ClassVar = ("length",)
    start: ClassVar = "axis"

    def count(self) -> int:
        return 3

    def size(self) -> int:
        return 2

    def read(self, keys: Reader) -> Self:
        keys.one_unit()
        return self.model_copy(update={"length": keys.spread("length", self.length)})

    def middle(self) -> list[Any]:
        return [float(self.length * part) for part in self.direction()]

    def direction(self) -> Float[np.ndarray, "3"]:
        return np.array(self.axis) / np.linalg.norm(self.axis)

    def inverse(self, cube: Cube) -> Values:
        from dockdyn.mechanics.rotation import from_x_axis
        from dockdyn.mechanics.vector import Vector

        height = 1 - cube[:, 0] * (1 - math.cos(self.half_angle))  # cosine of the angle to the axis
        aside, around = np.sqrt(np.maximum(1 - height**2, 0)), 2 * np.pi * cube[:, 1]
        own = np.stack([height, aside * np.cos(around), aside * np.sin(around)], axis=1)
        frame = np.asarray(from_x_axis(Vector.of(jnp.asarray(self.direction()))).matrix().array())
        return self.length * own @ frame.T


class CorrelatedNormal(DistributionSection):
    """Several numbers, normal together: by means and standard deviations with a correlation, or by the covariance."""

    distribution: Literal["correlated-normal"]
    mean: Annotated[list[Any], Field(min_length=2)]
    std: list[Any] | None = None
    correlation: list[list[Number]] | None = None
    covariance: list[list[Any]] | None = None
    start: ClassVar = "mean"

    def count(self) -> int:
        return len(self.mean)

    def size(self) -> int:
        return len(self.mean)

    def read(self, keys: Reader) -> Self:
        count = self.count()
        whole, half = self.covariance is not None, (self.std is not None, self.correlation is not None)
        if half != ((False, False) if whole else (True, True)):
            keys.refuse("", None, "must give either std and correlation, or covariance")
        name = "covariance" if whole else "correlation"
        matrix = getattr(self, name)
        if [len(row) for row in matrix] != [count] * count:
            keys.refuse(name, matrix, f"must be {count} rows of {count}")
        if self.std is not None and len(self.std) != count:
            keys.refuse("std", self.std, f"must be {count}, one for each mean")
        found: dict[str, Any] = {"mean": keys.value("mean", self.mean)}
        if self.std is not None:
            found["std"] = [keys.spread(f"std.{i}", value, i) for i, value in enumerate(self.std)]
        else:
            found[name] = matrix = [
                [keys.product(f"{name}.{i}.{j}", value, i, j) for j, value in enumerate(row)]
                for i, row in enumerate(matrix)
            ]
        square = np.array(matrix)
        if not np.allclose(square, square.T, rtol=SYMMETRIC, atol=0):
            keys.refuse(name, matrix, "must be symmetric")
        if not whole and not np.array_equal(np.diag(square), np.ones(count)):
            keys.refuse(name, matrix, "must have ones on its diagonal")
        if (least := np.linalg.eigvalsh(square)[0]) <= 0:
            keys.refuse(name, matrix, f"must be positive definite; its smallest eigenvalue is {least:.3g}")
        return self.model_copy(update=found)

    def middle(self) -> list[Any]:
        return self.mean

    def inverse(self, cube: Cube) -> Values:
        if self.std is None:
            covariance = np.array(self.covariance)
        else:
            covariance = np.array(self.correlation) * np.outer(self.std, self.std)
        return np.array(self.mean) + _normal(cube) @ np.linalg.cholesky(covariance).T


def _normal(cube: Cube) -> Values:
    """Return values of the standard normal distribution."""
    from scipy.special import ndtri

    return np.asarray(ndtri(inner(cube)))


def inner(cube: Cube) -> Cube:
    """Return points off the faces of the unit cube."""
    return np.clip(cube, SMALLEST, 1 - 2 * SMALLEST)


LAWS: dict[str, type[DistributionSection]] = {
    "uniform": Uniform,
    "normal": Normal,
    "truncated-normal": TruncatedNormal,
    "log-normal": LogNormal,
    "choice": ValueChoice,
    "disc": Disc,
    "cone": DirectionCone,
    "correlated-normal": CorrelatedNormal,
}
