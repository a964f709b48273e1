"""Gravity of a point mass, seen from a frame that follows a reference orbit and does not turn.

The frame's origin falls freely, so what acts on a body beside it is the difference between gravity there and at the origin
(Encke). It is written without cancellation: millimetres at thousands of kilometres keep their digits. In a frame fixed to
the Earth the last digit of the kinetic energy is larger than that of a docking impact.

Units: SI: m, m/s, s, m³/s², J/kg.
Source: Encke's method, e.g. Battin 1999, Introduction to the Mathematics and Methods of Astrodynamics, section 8.4.
"""

from __future__ import annotations

from dockdyn.deferred import Array, Float, jax, jnp
from dockdyn.mechanics.vector import Scalar
from dockdyn.trees import Module, field

KEPLER = 1e-15  # of the eccentric anomaly: change at which its search ends


class Reference(Module):
    """The origin of the frame at an instant; the orbit lies in the x–y plane."""

    radius: Scalar  # m, from the attracting mass
    x: Scalar  # unit vector from there
    y: Scalar


class Orbit(Module):
    """A Kepler orbit in the x–y plane about a point mass, its periapsis on +x."""

    parameter: Scalar  # gravitational parameter, m³/s²
    semi_major_axis: Scalar  # m
    eccentricity: Scalar
    true_anomaly: Scalar  # rad, at t = 0
    gradient: bool = field(static=True)  # whether bodies feel the gradient of gravity over their extent
    circular: bool = field(static=True)  # no Kepler equation to solve

    def mean_motion(self) -> Scalar:
        """Return n = √(μ/a³) (rad/s)."""
        return jnp.sqrt(self.parameter / self.semi_major_axis**3)

    def anomaly(self, t: Scalar) -> Scalar:
        """Return True anomaly (rad) at time t (s)."""
        if self.circular:
            return self.true_anomaly + self.mean_motion() * t
        e = self.eccentricity
        skew = jnp.sqrt((1 - e) / (1 + e))
        start = 2 * jnp.arctan2(skew * jnp.sin(self.true_anomaly / 2), jnp.cos(self.true_anomaly / 2))
        mean = start - e * jnp.sin(start) + self.mean_motion() * t
        whole = 2 * jnp.pi * jnp.round(mean / (2 * jnp.pi))
        eccentric = eccentric_anomaly(mean - whole, e)
        return whole + 2 * jnp.arctan2(jnp.sin(eccentric / 2) / skew, jnp.cos(eccentric / 2))

    def reference(self, t: Scalar) -> Reference:
        anomaly = self.anomaly(t)
        radius = self.semi_major_axis
        if not self.circular:
            e = self.eccentricity
            radius = radius * (1 - e**2) / (1 + e * jnp.cos(anomaly))
        return Reference(radius, jnp.cos(anomaly), jnp.sin(anomaly))

    def tidal(self, radius: Scalar, along: Scalar, squared: Scalar) -> Scalar:
        """Return the potential (J/kg) at an offset ρ from the reference, less that of the frame's own fall.

        Args:
            radius: of the reference, R (m).
            along: r̂·ρ (m).
            squared: ρ·ρ (m²).

        −μ/|r + ρ| + μ/R − μ r·ρ/R³ = μ/R (w/2 − (k − 1)² (k + 2)/(2 k)) with w = ρ²/R² and k = |r + ρ|/R, where
        k − 1 = s/(k + 1) and s = k² − 1 = 2 r̂·ρ/R + w.
        """
        inverse = 1 / radius
        w = squared * inverse**2
        s = 2 * along * inverse + w
        k = jnp.sqrt(1 + s)
        return self.parameter * inverse * 0.5 * (w - s**2 * (k + 2) / (k * (k + 1) ** 2))

    def spread_out(self, radius: Scalar, along: Scalar, squared: Scalar, trace: Scalar, about: Scalar) -> Scalar:
        """Return the potential (J) that a body of extent has beside that of its mass, to second order.

        −μ/(2 r³) (tr I − 3 r̂ᵀ I r̂), I its inertia about its centre of mass: `trace`, and `about` (kg m²) for (r + ρ)/R
        in place of r̂.
        """
        k = jnp.sqrt(1 + (2 * along + squared / radius) / radius)
        return -self.parameter / (2 * (radius * k) ** 3) * (trace - 3 * about / k**2)


def eccentric_anomaly(mean: Scalar, eccentricity: Scalar) -> Float[Array, ""]:
    """Return E of Kepler's equation E − e sin E = M (rad, −π to π) by Newton's method, from where it does not overshoot."""

    def going(carry: tuple[Scalar, Scalar, Scalar]) -> Scalar:
        # changes shrink until they are rounding, which at high eccentricities is more than the tolerance
        return (jnp.abs(carry[1]) > KEPLER * (1 + jnp.abs(carry[0]))) & (jnp.abs(carry[1]) < carry[2])

    def newton(carry: tuple[Scalar, Scalar, Scalar]) -> tuple[Scalar, Scalar, Scalar]:
        e, before, _ = carry
        change = (e - eccentricity * jnp.sin(e) - mean) / (1 - eccentricity * jnp.cos(e))
        return e - change, change, jnp.abs(before)

    # beyond the root the equation's graph is convex on the way back to it
    first = jnp.where(mean < 0, -jnp.pi, jnp.pi)
    far = jnp.asarray(jnp.inf)
    start = newton((first, far, far))
    return newton(jax.lax.while_loop(going, newton, start))[0]
