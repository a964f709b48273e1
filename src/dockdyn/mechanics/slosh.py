"""Liquid in a tank as Abramson's equivalent mechanical model: a mass that stays with the tank, and one a mode that sloshes.

An ideal liquid with a small wave moves in modes φ_n of ω_n² = κ_n a, a being the acceleration that presses it on the bottom.
What it does to the tank is what masses m_n do that slide across the axis on springs m_n ω_n², at heights H_n from the centre
of mass of the liquid, and a mass m_0 with an inertia that is rigid. Hung as pendulums of the length 1/κ_n below hinges at
H_n + 1/κ_n they do the same under the acceleration itself.

For a cylinder all of it is in closed form, for a sphere the potential is a sum of solid harmonics about its centre.

Units: SI: kg, m, kg m²; κ 1/m; heights along the axis, from the bottom to the free surface.
Source: Abramson (editor) 1966, The Dynamic Behavior of Liquids in Moving Containers, NASA SP-106, chapters 2 and 6; Dodge 2000,
The New "Dynamic Behavior of Liquids in Moving Containers", Southwest Research Institute, chapters 1 and 3.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np

from dockdyn.deferred import Array, Float, xp

FILLS = 0.05, 0.92  # of a sphere's diameter, within which its harmonics tell the motion
HARMONICS = 24  # of the potential in a sphere
QUADRATURE = 48  # places of Gauss's rule along the wall and along the free surface
DEGREE = 24  # of the polynomials over the fill that its solutions are put into
SMALL = 1e-11  # of the largest eigenvalue: combinations of harmonics that are none
FLAT_ROOTS = 24  # of the sum for the inertia, whose terms fall as λ⁻⁵
POINTS = 256  # of Bessel's integral, exact to rounding for arguments well below as many


class SloshingMass(NamedTuple):
    """What sloshes in one mode."""

    mass: Float[Array, ""]  # kg
    height: Float[Array, ""]  # m, from the liquid's centre of mass
    wave_number: Float[Array, ""]  # κ = ω²/a, 1/m; as a pendulum it is 1/κ long
    wave: Float[Array, ""]  # rise of the free surface at the wall, m per m that the mass slides


class Liquid(NamedTuple):
    """A liquid as the masses that stand for it; at rest their mass, centre and inertia are those of the liquid."""

    mass: Float[Array, ""]  # kg, of all of it
    centre: Float[Array, ""]  # m, its centre of mass above the bottom
    sloshing: tuple[SloshingMass, ...]
    rigid_mass: Float[Array, ""]  # kg, what stays with the tank
    rigid_height: Float[Array, ""]  # m, of that, from the liquid's centre of mass
    across: Float[Array, ""]  # kg m², its moment of inertia across the axis, about its own centre
    about: Float[Array, ""]  # kg m², about the axis


def liquid_in_cylinder(
    radius: Float[Array, ""], depth: Float[Array, ""], mass: Float[Array, ""], modes: int, ideal: bool
) -> Liquid:
    """Return the model of a liquid of a `mass` (kg) that fills an upright circular cylinder of a `radius` (m) to a `depth` (m),
    with so many `modes`, also from traced numbers.

    An `ideal` liquid slides along the wall, and turns less than if it were frozen: not at all about the axis. Masses and
    frequencies: SP-106, table 6.1; inertia: as its section 6.2, from the potential ψ = x z + Σ A_n J₁(λ_n r/R) cos θ sinh(λ_n
    z/R) of a closed tank that turns.
    """
    sloshing = []
    for root in surface_roots()[:modes]:
        x = root * depth / radius
        share = 2.0 * xp.tanh(x) / (x * (root**2 - 1.0))
        height = depth / 2.0 - 2.0 * radius / root * xp.tanh(x / 2.0)
        wave_number = root / radius * xp.tanh(x)
        # of x = Σ 2 R/((λ²−1) J₁(λ)) J₁(λ r/R) cos θ: the shape of a mode is 2 R/(λ² − 1) at the wall
        wave = wave_number * 2.0 * radius / (root**2 - 1.0)
        sloshing.append(SloshingMass(share * mass, height, wave_number, wave))
    if ideal:
        roots = surface_roots()
        terms = xp.tanh(xp.asarray(roots) * depth / (2.0 * radius)) / (roots**3 * (roots**2 - 1.0))
        across = mass * (depth**2 / 12.0 - 0.75 * radius**2 + 16.0 * radius**3 / depth * xp.sum(terms))
        about = 0.0 * mass
    else:
        across, about = mass * (depth**2 / 12.0 + radius**2 / 4.0), mass * radius**2 / 2.0
    return _with_rigid_rest(mass, depth / 2.0, tuple(sloshing), across, about)


def liquid_in_sphere(radius: Float[Array, ""], depth: Float[Array, ""], mass: Float[Array, ""], ideal: bool) -> Liquid:
    """Return the model of a liquid of a `mass` (kg) that fills a sphere of a `radius` (m) to a `depth` (m), with its first
    mode, also from traced numbers; the depth is within `FILLS` of the diameter.

    Pressure on the wall passes through the sphere's centre: what sloshes hangs there, 1/κ above it.
    """
    fill = depth / radius - 1.0  # height of the free surface above the centre, in radii
    below = 0.75 * (1.0 - fill) ** 2 / (2.0 - fill) * radius  # of the liquid's centre of mass
    wave_number, share, wave, inertia = (xp.exp(one) for one in _over_fills(fill))
    height = below - radius / wave_number
    sloshing = (SloshingMass(share * mass, height, wave_number / radius, wave),)
    if ideal:
        across, about = mass * (inertia * radius**2 - below**2), 0.0 * mass
    else:
        # ∫ a⁴ dz and ∫ a² z² dz of discs of the radius a = √(1 − z²), over the volume's ∫ a² dz
        volume = (1.0 + fill) ** 2 * (2.0 - fill) / 3.0
        fourth = fill - 2.0 * fill**3 / 3.0 + fill**5 / 5.0 + 8.0 / 15.0
        second = fill**3 / 3.0 - fill**5 / 5.0 + 2.0 / 15.0
        about = mass * radius**2 * fourth / (2.0 * volume)
        across = mass * radius**2 * (fourth / 4.0 + second) / volume - mass * below**2
    return _with_rigid_rest(mass, radius - below, sloshing, across, about)


def liquid_volume(shape: str, radius: Float[Array, ""], depth: Float[Array, ""]) -> Float[Array, ""]:
    """Return the volume (m³) of a liquid in a "cylinder" or a "sphere" of a `radius` (m), filled to a `depth` (m)."""
    if shape == "cylinder":
        return np.pi * radius**2 * depth
    return np.pi * depth**2 * (radius - depth / 3.0)


def _over_fills(fill: Float[Array, ""]) -> list[Float[Array, ""]]:
    """Return the logarithms of what `_sphere_at` returns, by Chebyshev's polynomials (Clenshaw's recursion)."""
    low, high = (2.0 * end - 1.0 for end in FILLS)
    x = (2.0 * fill - low - high) / (high - low)
    found = []
    for coefficients in _sphere_polynomials().T:
        last = before = 0.0 * x
        for coefficient in coefficients[:0:-1]:
            last, before = 2.0 * x * last - before + float(coefficient), last
        found.append(x * last - before + float(coefficients[0]))
    return found


@cache
def _sphere_polynomials() -> Float[np.ndarray, "coefficients 4"]:
    nodes = np.cos(np.pi * (np.arange(DEGREE + 1) + 0.5) / (DEGREE + 1))
    low, high = (2.0 * end - 1.0 for end in FILLS)
    values = [_sphere_at((low + high) / 2 + (high - low) / 2 * node) for node in nodes]
    return np.polynomial.chebyshev.chebfit(nodes, np.log(values), DEGREE)


def _sphere_at(fill: float) -> tuple[float, float, float, float]:
    """Return of a sphere of radius 1 and a liquid of mass 1, the free surface `fill` above its centre, four numbers.

    They are κ of the first mode, the mass that sloshes, the rise at the wall for its displacement, and the inertia about the
    centre of an ideal liquid in a closed tank.

    The potential is a sum of harmonics ρˡ Pₗ¹(cos ϑ) cos φ. With K = ∮ φ ∂φ/∂n over wall and free surface, M = ∫ φ² and
    b = ∫ φ x over the free surface, K a = κ M a are the modes, and the turning tank moves the liquid by the lid alone: its
    inertia is bᵀ K⁻¹ b (Rayleigh and Ritz).
    """
    at, weights = np.polynomial.legendre.leggauss(QUADRATURE)
    edge = np.sqrt(1.0 - fill**2)
    order = np.arange(1, HARMONICS + 1)
    across = edge * (at + 1) / 2
    lid = np.pi * weights * edge / 2 * across
    potential, upwards = _solid_harmonics(across, np.full(QUADRATURE, fill))
    angle = np.arccos(fill) + (np.pi - np.arccos(fill)) * (at + 1) / 2
    wall = np.pi * weights * (np.pi - np.arccos(fill)) / 2 * np.sin(angle)
    on_wall, _ = _solid_harmonics(np.sin(angle), np.cos(angle))
    stiffness = (potential * lid) @ upwards.T + (on_wall * wall) @ (on_wall * order[:, None]).T
    scale = 1 / np.sqrt(np.diag(stiffness))
    sizes, axes = np.linalg.eigh((stiffness + stiffness.T) / 2 * scale * scale[:, None])
    kept = sizes > SMALL * sizes[-1]
    basis = scale[:, None] * axes[:, kept] / np.sqrt(sizes[kept])
    push = basis.T @ (potential * lid) @ across
    inverse, shapes = np.linalg.eigh(basis.T @ (potential * lid) @ potential.T @ basis)
    first, lift = inverse[-1], shapes[:, -1] @ push  # of the mode: 1/κ, and b where K is 1
    rise = shapes[:, -1] @ basis.T @ _solid_harmonics(np.array([edge]), np.array([fill]))[0][:, 0]
    volume = np.pi * (1 + fill) ** 2 * (2 - fill) / 3
    return 1 / first, (lift / first) ** 2 / volume, lift * rise / first**2, push @ push / volume


def _solid_harmonics(
    across: Float[np.ndarray, "places"], along: Float[np.ndarray, "places"]
) -> tuple[Float[np.ndarray, "harmonics places"], Float[np.ndarray, "harmonics places"]]:
    """Return ρˡ Pₗ'(cos ϑ) sin ϑ at places `across` and `along` the axis, and their slopes along it."""
    distance = np.hypot(across, along)
    cosine = along / distance
    legendre, slopes = [np.ones_like(cosine), cosine], [np.zeros_like(cosine), np.ones_like(cosine)]
    for order in range(1, HARMONICS):
        legendre.append(((2 * order + 1) * cosine * legendre[order] - order * legendre[order - 1]) / (order + 1))
        slopes.append(slopes[order - 1] + (2 * order + 1) * legendre[order])
    value = [across * distance ** (order - 1) * slopes[order] for order in range(1, HARMONICS + 1)]
    upwards = [np.zeros_like(cosine)]
    upwards += [(order + 1) * across * distance ** (order - 2) * slopes[order - 1] for order in range(2, HARMONICS + 1)]
    return np.array(value), np.array(upwards)


def _with_rigid_rest(
    mass: Float[Array, ""],
    centre: Float[Array, ""],
    sloshing: tuple[SloshingMass, ...],
    across: Float[Array, ""],
    about: Float[Array, ""],
) -> Liquid:
    """Return a liquid whose masses have its mass, centre and moments of inertia (kg m², about its centre of mass) together."""
    rigid = mass - sum(one.mass for one in sloshing)
    height = -sum(one.mass * one.height for one in sloshing) / rigid
    rest = across - rigid * height**2 - sum(one.mass * one.height**2 for one in sloshing)
    return Liquid(mass, centre, sloshing, rigid, height, rest, about)


@cache
def surface_roots() -> Float[np.ndarray, "roots"]:
    """Return the first roots λ of J₁'(λ) = 0, by Newton's method from McMahon's expansion (DLMF 10.21.20).

    J₁ is Bessel's integral (DLMF 10.9.2), by the trapezoidal rule.
    """
    angles = np.arange(POINTS) * 2 * np.pi / POINTS

    def bessel(order: int, x: Float[np.ndarray, "roots"]) -> Float[np.ndarray, "roots"]:
        return np.cos(order * angles - x[:, None] * np.sin(angles)).mean(axis=1)

    first = (np.arange(1, FLAT_ROOTS + 1) - 0.25) * np.pi
    found = first - 7.0 / (8.0 * first)
    for _ in range(8):
        j1 = bessel(1, found)
        slope = bessel(0, found) - j1 / found
        found = found + slope / ((1.0 - 1.0 / found**2) * j1 + slope / found)
    return found
