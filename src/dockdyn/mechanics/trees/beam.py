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
Shape = Callable[[Any, int], Any]  # ξ and order of the derivative → values, of the library that ξ is of

INNER = 40  # Gauss points for integrals of shapes


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
        shift, turn = jnp.zeros((2, *at.shape, 3, self.count))
        for modes, columns, axis, about, sign in ((y, slice(y), 1, 2, 1.0), (z, slice(y, first), 2, 1, -1.0)):
            shift = shift.at[..., axis, columns].set(shape_derivatives(bending[:modes], at, 0))
            turn = turn.at[..., about, columns].set(sign * shape_derivatives(bending[:modes], at, 1))
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
            slope, along = slope[..., None, :], (at[..., None] * weights)[..., None, None]
            whole = (along * slope * slope.swapaxes(-1, -2)).sum(-3)
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

        def energy(shapes: Sequence[Shape], order: int) -> np.ndarray:
            found = shape_derivatives(shapes, points, order)
            return np.einsum("q,qi,qj->ij", weights, found, found)

        bent = energy(_bending_shapes(self.basis, max(y, z)), 2)
        found = jnp.zeros((self.count, self.count))
        found = found.at[:y, :y].set(self.bending_y / self.length**3 * bent[:y, :y])
        found = found.at[y : y + z, y : y + z].set(self.bending_z / self.length**3 * bent[:z, :z])
        return found.at[y + z :, y + z :].set(self.torsion / self.length * energy(_twist_shapes(self.basis, twist), 1))


def unit_gauss(count: int) -> tuple[Float[np.ndarray, "count"], Float[np.ndarray, "count"]]:
    """Return points and weights of Gauss's quadrature on 0 to 1."""
    points, weights = np.polynomial.legendre.leggauss(count)
    return (points + 1) / 2, weights / 2


def shape_derivatives(shapes: Sequence[Shape], at: Float[Place, "*at"], order: int) -> Place:
    """Return shapes' derivatives of an order at ξ, by shape along a new last axis; of the library that ξ is of."""
    library = jnp if is_array_of_jax(at) else np
    return library.stack([f(at, order) for f in shapes], -1) if shapes else library.zeros((*at.shape, 0))


def shape_count(basis: Basis, modes: int) -> int:
    """Return shapes that a basis has in one plane, or of twist, for so many modes; none for none.

    `craig-bampton` has the static shapes of its ends beside as many vibrations between them, so that the frequencies of all
    these modes come out right, whatever holds the root and hangs on the tip. The others have as many as modes.
    """
    return modes + 2 if basis == "craig-bampton" and modes else modes


def _bending_shapes(basis: Basis, count: int) -> list[Shape]:
    """Return shapes of a beam clamped at ξ = 0.

    `polynomial`: ξ² P_k(2ξ − 1), P_k Legendre's: complete, also for loads at the tip, but the last frequency is up to twice
    too high. `craig-bampton`: the static shapes of a force and of a moment at the tip, then the modes of a beam clamped at both
    ends: complete, too, and its later modes are vibrations between the ends (Craig and Bampton, AIAA J. 6 (1968) 1313).
    `cantilever`: the modes of a clamped–free beam, whose sums converge slowly where a load or payload acts at the tip.
    ValueError for another basis.
    """
    if basis == "polynomial":
        return [_polynomial_shape(power=2, degree=k) for k in range(count)]
    if basis == "craig-bampton":
        static = [_shape_of(Polynomial([0.0, 0.0, 1.5, -0.5])), _shape_of(Polynomial([0.0, 0.0, 1.0]))]
        return [*static, *(_clamped_shape(k, free=False) for k in range(count - 2))][:count]
    if basis != "cantilever":
        raise ValueError(f"basis must be 'polynomial', 'craig-bampton' or 'cantilever'; got {basis!r}")
    return [_clamped_shape(k, free=True) for k in range(count)]


def _twist_shapes(basis: Basis, count: int) -> list[Shape]:
    """Return shapes of a shaft clamped at ξ = 0: ξ and sin kπξ of `craig-bampton`, ξ P_k(2ξ − 1) of the others."""
    if basis == "craig-bampton":
        return [_polynomial_shape(power=1, degree=0), *(_sine_shape(k) for k in range(1, count))][:count]
    return [_polynomial_shape(power=1, degree=k) for k in range(count)]


def _sine_shape(half_waves: int) -> Shape:
    """Return sin kπξ, a mode of a shaft clamped at both ends (dimensionless)."""
    rate = half_waves * np.pi

    def shape(at: Place, order: int) -> Place:
        library = jnp if is_array_of_jax(at) else np
        return rate**order * library.sin(rate * at + order * np.pi / 2)

    return shape


def _polynomial_shape(power: int, degree: int) -> Shape:
    """Return ξ^power times Legendre's polynomial of a degree on 0 to 1 (dimensionless)."""
    legendre = Legendre.basis(degree, domain=[0, 1]).convert(kind=Polynomial)
    return _shape_of(Polynomial([0.0] * power + [1.0]) * legendre)


def _shape_of(polynomial: Polynomial) -> Shape:
    """Return the shape function that a polynomial in ξ is, with its derivatives by ξ (dimensionless)."""

    coefficients = [(polynomial.deriv(order) if order else polynomial).coef for order in range(3)]

    def shape(at: Place, order: int) -> Place:
        found = 0.0 * at
        for coefficient in coefficients[order][::-1]:
            found = found * at + coefficient
        return found

    return shape


def _clamped_shape(index: int, free: bool) -> Shape:
    """Return a mode of a beam clamped at ξ = 0 and free, or clamped, at ξ = 1.

    Half of cosh x − cos x − σ (sinh x − sin x), x = β ξ, cos β cosh β = −1 (free) or 1; a free tip moves by 1.
    """
    end = 1.0 if free else -1.0
    root = (index + (0.5 if free else 1.5)) * np.pi
    for _ in range(20):
        root += (np.cos(root) + end / np.cosh(root)) / (np.sin(root) + end * np.tanh(root) / np.cosh(root))
    # 1 − σ, without cancellation
    rest = (end * (np.sin(root) - np.cos(root)) - np.exp(-root)) / (np.sinh(root) + end * np.sin(root))

    def shape(at: Place, order: int) -> Place:
        library = jnp if is_array_of_jax(at) else np
        x, sigma = root * at, 1 - rest
        hyperbolic = rest / 2 * library.exp(x) + (2 - rest) / 2 * library.exp(-x) * (-1) ** order
        cosine, sine = library.cos(x), library.sin(x)
        waves = (-cosine + sigma * sine, sine + sigma * cosine, cosine - sigma * sine)[order]
        return (hyperbolic + waves) * root**order / 2 * (-1) ** index

    return shape
