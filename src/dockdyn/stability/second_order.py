"""A mass on a delayed spring and dashpot, in closed form: m s² + (b s + k) exp(−s h) = 0 (Sazawal et al., eqs. 126, 150, 151).

Functions broadcast over arrays. A damping of zero is never stable under delay: its critical delay is zero.

Units: mass kg, damping N s/m, stiffness N/m, delay s, frequency rad/s.
Source: as named above.
"""

from __future__ import annotations

from dockdyn.deferred import Array, ArrayLike, Float, is_traced, jnp


def crossing_frequency(damping: ArrayLike, stiffness: ArrayLike, effective_mass: ArrayLike) -> Float[Array, "..."]:
    """Return the frequency (rad/s) at which roots cross the imaginary axis, whatever the delay (eq. 150).

    Args: damping (N s/m), stiffness (N/m), effective mass (kg). Raises ValueError for those out of range.
    """
    _check_ranges(damping, stiffness, effective_mass)
    b, k = jnp.asarray(damping) / effective_mass, jnp.asarray(stiffness) / effective_mass
    return jnp.sqrt(b**2 / 2 + jnp.hypot(b**2 / 2, k))


def critical_delay(damping: ArrayLike, stiffness: ArrayLike, effective_mass: ArrayLike) -> Float[Array, "..."]:
    """Return the delay (s) up to which the loop is stable (eq. 151); beyond it, it never is again.

    Args: damping (N s/m, ≥ 0), stiffness (N/m, > 0), effective mass (kg, > 0). Raises ValueError for those out of range.
    """
    frequency = crossing_frequency(damping, stiffness, effective_mass)
    return jnp.arctan2(frequency * damping, stiffness) / frequency


def crossing_velocity(damping: ArrayLike, stiffness: ArrayLike, effective_mass: ArrayLike) -> Float[Array, "..."]:
    """Return real part of ds/dh (1/s²) of the root that crosses at the critical delay: always positive, so roots only leave.

    From s² = −(b s + k) exp(−s h) / m: ds/dh = −s³ / (2 s + h s² − s² b / (b s + k)).
    """
    frequency = crossing_frequency(damping, stiffness, effective_mass)
    delay = jnp.arctan2(frequency * damping, stiffness) / frequency
    s = 1j * frequency
    return jnp.real(-(s**3) / (2 * s + delay * s**2 - s**2 * damping / (damping * s + stiffness)))


def _check_ranges(damping: ArrayLike, stiffness: ArrayLike, effective_mass: ArrayLike) -> None:
    """Raise ValueError for numbers out of range; traced ones pass."""
    for name, value, least in (
        ("damping", damping, "≥ 0"),
        ("stiffness", stiffness, "> 0"),
        ("mass", effective_mass, "> 0"),
    ):
        if is_traced(value):
            continue
        smallest = jnp.min(jnp.asarray(value, float))
        if not (smallest >= 0 if least == "≥ 0" else smallest > 0):
            raise ValueError(f"{name} is {float(smallest):g}; must be {least}")
