"""Slender links that bend and twist: assumed modes, and what they make of mass, stiffness and shortening.

A beam lies along the x axis of its link, from x = 0 to its length. Displacement across it and twist are sums of shape
functions φ(ξ), ξ = x/length, times modal coordinates η, the values of which are metres (bending) or radians
(twist) times φ. All shapes are zero, with zero slope where they bend, at the link's own frame: the beam is clamped there.

Units: SI: m, kg/m, N m², rad; shapes φ and ξ dimensionless.
Source: Meirovitch 1967, Analytical Methods in Vibrations (assumed modes); Cyril et al., section 2; shortening, Kane,
Ryan and Banerjee 1987.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.polynomial import Legendre, Polynomial

from dockdyn.deferred import Array, Float, is_array_of_jax, jnp
from dockdyn.trees import Module, field

Basis = Literal["polynomial", "craig-bampton", "cantilever"]
type Place = np.ndarray | Array  # ξ; JAX's where it may be traced
# ξ (…, 1) and order of the derivative → values (…, shapes), of the library that ξ is of
ShapeFamily = Callable[[Any, int], Any]

INNER = 48  # Gauss points for integrals of shapes: exact to rounding of products of the first 16


class Shapes(NamedTuple):
    """Displacements at places along a beam, per modal coordinate, in link axes."""

    place: Float[Array, "*at"]  # m, x undeformed
    shift: Float[Array, "*at 3 modes"]  # m per unit of η
    turn: Float[Array, "*at 3 modes"]  # rad per unit of η
    shortening: Float[Array, "*at modes modes"]  # H (1/m): the place moves by −½ ηᵀ H η along x


class Beam(Module):
    """A uniform beam with its modes, those of bending along y first, then along z, then twist.

    Bending along y turns about z, against `bending_z`; along z it turns about y.
    """

    length: Float[Array, ""]  # m
    mass: Float[Array, ""]  # kg
    bending_y: Float[Array, ""]  # N m², EI against bending along y
    bending_z: Float[Array, ""]  # N m², EI against bending along z
    torsion: Float[Array, ""]  # N m², GJ
    polar_inertia: Float[Array, ""]  # kg m, about the axis per length
    damping: Float[Array, ""]  # s, structural: damping matrix over stiffness matrix
    modes: tuple[int, int, int] = field(static=True)  # along y, along z, twist
    basis: Basis = field(static=True)
    stiffening: bool = field(static=True)  # whether bending shortens the beam along x

    @property
    def count(self) -> int:
        return sum(self.modes)

    def shapes(self, at: Float[Place, "*at"]) -> Shapes:
        """Return shapes at ξ = `at` (0 to 1)."""
        y, z, twist = self.modes
        bending, first = _bending_shapes(self.basis, max(y, z)), y + z
        value, slope = (shape_derivatives(bending, at, order) for order in (0, 1))
        shift, turn = jnp.zeros((2, *at.shape, 3, self.count))
        for modes, columns, axis, about, sign in ((y, slice(y), 1, 2, 1.0), (z, slice(y, first), 2, 1, -1.0)):
            shift = shift.at[..., axis, columns].set(value[..., :modes])
            turn = turn.at[..., about, columns].set(sign * slope[..., :modes])
        turn = turn.at[..., 0, first:].set(shape_derivatives(_twist_shapes(self.basis, twist), at, 0))
        scaled = turn.at[..., 1:, :].divide(self.length)
        return Shapes(jnp.asarray(at) * self.length, shift, scaled, self.shortening(at))

    def shortening(self, at: Float[Place, "*at"]) -> Float[Array, "*at modes modes"]:
        """Return H(x) = ∫₀ˣ (φ′ᵧ φ′ᵧᵀ + φ′_z φ′_zᵀ) dx (1/m); zero without stiffening."""
        y, z, _ = self.modes
        found = jnp.zeros((*at.shape, self.count, self.count))
        if self.stiffening and y + z:
            points, weights = unit_gauss(INNER)
            slope = shape_derivatives(_bending_shapes(self.basis, max(y, z)), at[..., None] * points, 1)
            whole = (slope * (at[..., None] * weights)[..., None]).swapaxes(-1, -2) @ slope
            found = found.at[..., :y, :y].set(whole[..., :y, :y])
            found = found.at[..., y : y + z, y : y + z].set(whole[..., :z, :z])
        return found / self.length

    def slice_count(self) -> int:
        """Return points of quadrature: exact for polynomials, enough for a cantilever's modes."""
        return 2 * max(self.modes) + (4 if self.basis == "polynomial" else 12)

    def slices(self) -> tuple[Shapes, Float[Array, "slices"]]:
        """Return shapes at the points of Gauss's quadrature, and the mass (kg) that each stands for."""
        points, weights = unit_gauss(self.slice_count())
        return self.shapes(points), jnp.asarray(weights) * self.mass

    def stiffness(self) -> Float[Array, "modes modes"]:
        """Return the stiffness matrix (N/m, and N m for twist)."""
        y, z, twist = self.modes
        points, weights = unit_gauss(INNER)
        bent = ShapeIntegrals.of(self.basis, max(y, z)).curvature
        turning = shape_derivatives(_twist_shapes(self.basis, twist), points, 1)
        found = jnp.zeros((self.count, self.count))
        found = found.at[:y, :y].set(self.bending_y / self.length**3 * bent[:y, :y])
        found = found.at[y : y + z, y : y + z].set(self.bending_z / self.length**3 * bent[:z, :z])
        return found.at[y + z :, y + z :].set(self.torsion / self.length * ((turning.T * weights) @ turning))


class ShapeIntegrals(NamedTuple):
    """Integrals over ξ from 0 to 1 of shapes φ of bending in a plane (dimensionless): what a uniform beam's sums over its
    masses are made of."""

    shape: Float[np.ndarray, "modes"]  # ∫ φ
    lever: Float[np.ndarray, "modes"]  # ∫ ξ φ
    product: Float[np.ndarray, "modes modes"]  # ∫ φ φᵀ
    curvature: Float[np.ndarray, "modes modes"]  # ∫ φ″ φ″ᵀ
    shortening: Float[np.ndarray, "modes modes"]  # ∫ h, h = ∫₀^ξ φ′ φ′ᵀ, which is ∫ (1 − ξ) φ′ φ′ᵀ
    shortening_lever: Float[np.ndarray, "modes modes"]  # ∫ ξ h, which is ∫ ½ (1 − ξ²) φ′ φ′ᵀ

    @staticmethod
    def of(basis: Basis, count: int) -> ShapeIntegrals:
        """Return those of so many shapes of a basis."""
        points, weights = unit_gauss(INNER)
        shapes = _bending_shapes(basis, count)
        value, slope, bend = (np.asarray(shape_derivatives(shapes, points, order)) for order in range(3))

        def product(rows: Float[np.ndarray, "points modes"], by: Float[np.ndarray, "points"]) -> np.ndarray:
            return np.asarray((rows.T * (weights * by)) @ rows)

        ones = np.ones(INNER)
        return ShapeIntegrals(
            weights @ value,
            (weights * points) @ value,
            product(value, ones),
            product(bend, ones),
            product(slope, 1 - points),
            product(slope, (1 - points**2) / 2),
        )


def unit_gauss(count: int) -> tuple[Float[np.ndarray, "count"], Float[np.ndarray, "count"]]:
    """Return points and weights of Gauss's quadrature on 0 to 1."""
    points, weights = np.polynomial.legendre.leggauss(count)
    return (points + 1) / 2, weights / 2


def shape_derivatives(shapes: ShapeFamily, at: Float[Place, "*at"], order: int) -> Place:
    """Return shapes' derivatives of an order at ξ, by shape along a new last axis; of the library that ξ is of."""
    return shapes(at[..., None], order)


def shape_count(basis: Basis, modes: int) -> int:
    """Return shapes that a basis has in one plane, or of twist, for so many modes; none for none.

    `craig-bampton` has the static shapes of its ends beside as many vibrations between them, so that the frequencies of all
    these modes come out right, whatever holds the root and hangs on the tip. The others have as many as modes.
    """
    return modes + 2 if basis == "craig-bampton" and modes else modes


def _bending_shapes(basis: Basis, count: int) -> ShapeFamily:
    """Return shapes of a beam clamped at ξ = 0.

    `polynomial`: ξ² P_k(2ξ − 1), P_k Legendre's: complete, also for loads at the tip, but the last frequency is up to twice
    too high. `craig-bampton`: the static shapes of a force and of a moment at the tip, then the modes of a beam clamped at both
    ends: complete, too, and its later modes are vibrations between the ends (Craig and Bampton, AIAA J. 6 (1968) 1313).
    `cantilever`: the modes of a clamped–free beam, whose sums converge slowly where a load or payload acts at the tip.
    ValueError for another basis.
    """
    if basis == "polynomial":
        return _polynomial_shapes(_legendre(power=2, count=count))
    if basis == "craig-bampton":
        static = [Polynomial([0.0, 0.0, 1.5, -0.5]), Polynomial([0.0, 0.0, 1.0])][:count]
        return _joined(_polynomial_shapes(static), _clamped_shapes(max(count - 2, 0), free=False))
    if basis != "cantilever":
        raise ValueError(f"basis must be 'polynomial', 'craig-bampton' or 'cantilever'; got {basis!r}")
    return _clamped_shapes(count, free=True)


def _twist_shapes(basis: Basis, count: int) -> ShapeFamily:
    """Return shapes of a shaft clamped at ξ = 0: ξ and sin kπξ of `craig-bampton`, ξ P_k(2ξ − 1) of the others."""
    if basis == "craig-bampton":
        return _joined(_polynomial_shapes(_legendre(power=1, count=min(count, 1))), _sine_shapes(max(count - 1, 0)))
    return _polynomial_shapes(_legendre(power=1, count=count))


def _joined(*families: ShapeFamily) -> ShapeFamily:
    """Return the shapes of families, one after another."""

    def shapes(at: Place, order: int) -> Place:
        library = jnp if is_array_of_jax(at) else np
        return library.concatenate([family(at, order) for family in families], -1)

    return shapes


def _sine_shapes(count: int) -> ShapeFamily:
    """Return sin kπξ, the first modes of a shaft clamped at both ends (dimensionless)."""
    rates = np.arange(1, count + 1) * np.pi

    def shapes(at: Place, order: int) -> Place:
        library = jnp if is_array_of_jax(at) else np
        return rates**order * library.sin(rates * at + order * np.pi / 2)

    return shapes


def _legendre(power: int, count: int) -> list[Polynomial]:
    """Return ξ^power times the first of Legendre's polynomials on 0 to 1."""
    found = [Legendre.basis(degree, domain=[0, 1]).convert(kind=Polynomial) for degree in range(count)]
    return [Polynomial([0.0] * power + [1.0]) * one for one in found]


def _polynomial_shapes(polynomials: Sequence[Polynomial]) -> ShapeFamily:
    """Return the shapes that polynomials in ξ are, with their derivatives by ξ (dimensionless)."""
    terms = max([1, *(len(one) for one in polynomials)])
    coefficients = np.zeros((3, terms, len(polynomials)))
    for order in range(3):
        for place, one in enumerate(polynomials):
            derivative = (one.deriv(order) if order else one).coef
            coefficients[order, : len(derivative), place] = derivative

    def shapes(at: Place, order: int) -> Place:
        found = 0.0 * at
        for row in coefficients[order][::-1]:
            found = found * at + row
        return found

    return shapes


def _clamped_shapes(count: int, free: bool) -> ShapeFamily:
    """Return the first modes of a beam clamped at ξ = 0 and free, or clamped, at ξ = 1.

    Half of cosh x − cos x − σ (sinh x − sin x), x = β ξ, cos β cosh β = −1 (free) or 1; a free tip moves by 1.
    """
    end, index = 1.0 if free else -1.0, np.arange(count)
    roots = (index + (0.5 if free else 1.5)) * np.pi
    for _ in range(20):
        roots += (np.cos(roots) + end / np.cosh(roots)) / (np.sin(roots) + end * np.tanh(roots) / np.cosh(roots))
    # 1 − σ, without cancellation
    rest = (end * (np.sin(roots) - np.cos(roots)) - np.exp(-roots)) / (np.sinh(roots) + end * np.sin(roots))

    def shapes(at: Place, order: int) -> Place:
        library = jnp if is_array_of_jax(at) else np
        x, sigma = roots * at, 1 - rest
        hyperbolic = rest / 2 * library.exp(x) + (2 - rest) / 2 * library.exp(-x) * (-1) ** order
        cosine, sine = library.cos(x), library.sin(x)
        waves = (-cosine + sigma * sine, sine + sigma * cosine, cosine - sigma * sine)[order]
        return (hyperbolic + waves) * (roots**order / 2 * (-1.0) ** index)

    return shapes
