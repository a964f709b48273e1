"""How far the rule of effective masses holds: contact stiffness, damping and duration (Paraskevas et al., section 3.1).

Units: SI: s, N/m, kg, m/s; ratios dimensionless.
Source: as named above; restitution of a Kelvin–Voigt contact and the correction for stiffness, own derivations.
"""

from __future__ import annotations

from typing import Literal

from dockdyn.deferred import Array, ArrayLike, Float, jax, jnp
from dockdyn.impact.formulas.effective_mass import Masses, effective_masses
from dockdyn.impact.laws import checks

Release = Literal["zero-force", "zero-depth"]

STIFFNESS_RATIO = 0.1  # internal over contact stiffness; from 0.2 (worst masses) to 0.5 on the masses part much later
WAVE_SPEED = 5000.0  # m/s, aluminium and steel (section 3.1 e)
HALVINGS = 60  # of a bracket: to the last digit
WAVE_PASSAGES = 2.0  # there and back


def damping_ratio(damping: ArrayLike, stiffness: ArrayLike, mass: ArrayLike) -> Float[Array, ""]:
    """Return ζ = c/(2 √(k μ)) of a Kelvin–Voigt contact between masses of effective mass μ (kg)."""
    checks.require_positive(stiffness=stiffness, mass=mass)
    checks.check_range("damping", damping, 0.0)
    return jnp.asarray(damping) / (2 * jnp.sqrt(jnp.asarray(stiffness) * mass))


def kelvin_voigt_restitution(ratio: ArrayLike, release: Release = "zero-force") -> Float[Array, ""]:
    """Return e* of a Kelvin–Voigt contact with damping ratio ζ.

    `zero-force`: the contact cannot pull and ends when its force does: exp(−2 ζ acos ζ/√(1 − ζ²)), with acosh above 1.
    `zero-depth`: the dashpot may pull until the depth is gone: exp(−π ζ/√(1 − ζ²)); nothing rebounds from ζ = 1 on.
    ValueError for a negative ratio and for another `release`. Both numbers are dimensionless.
    """
    checks.check_range("damping ratio", ratio, 0.0)
    ratio = jnp.asarray(ratio, float)
    if release == "zero-force":
        return jnp.exp(-2 * ratio * _half_phase(ratio))
    if release != "zero-depth":
        raise ValueError(f"release must be 'zero-force' or 'zero-depth'; got {release!r}")
    rebounds = ratio < 1
    phase = jnp.pi * ratio / jnp.sqrt(1 - jnp.where(rebounds, ratio, 0.0) ** 2)
    return jnp.where(rebounds, jnp.exp(-phase), 0.0)


def kelvin_voigt_damping_ratio(restitution: ArrayLike, release: Release = "zero-force") -> Float[Array, ""]:
    """Return the damping ratio ζ of a Kelvin–Voigt contact that parts with the restitution e*, 0 < e* ≤ 1.

    The inverse of `kelvin_voigt_restitution`: of `zero-depth` −ln e*/√(π² + ln² e*), of `zero-force` by halving, as ζ lies
    below 1/√e*; one Newton correction then carries the derivatives. ValueError for a restitution outside that range and for
    another `release`. Both numbers are dimensionless.
    """
    checks.require_positive(restitution=restitution)
    checks.check_range("restitution", restitution, 0.0, 1.0)
    asked = -jnp.log(jnp.asarray(restitution, float))
    if release == "zero-depth":
        return asked / jnp.sqrt(jnp.pi**2 + asked**2)
    if release != "zero-force":
        raise ValueError(f"release must be 'zero-force' or 'zero-depth'; got {release!r}")

    def excess(ratio: Float[Array, ""]) -> Float[Array, ""]:
        return 2 * ratio * _half_phase(ratio) - asked

    def halve(_: int, bracket: tuple[Array, Array]) -> tuple[Array, Array]:
        low, high = bracket
        middle = (low + high) / 2
        below = excess(middle) < 0
        return jnp.where(below, middle, low), jnp.where(below, high, middle)

    bracket = jnp.zeros_like(asked), jax.lax.stop_gradient(jnp.exp(asked / 2))
    ratio = sum(jax.lax.fori_loop(0, HALVINGS, halve, bracket)) / 2
    slope = 2 * jax.jvp(lambda at: at * _half_phase(at), (ratio,), (jnp.ones_like(ratio),))[1]
    return ratio - excess(ratio) / jax.lax.stop_gradient(slope)


def _half_phase(ratio: Float[Array, "*shape"]) -> Float[Array, "*shape"]:
    """Return acos ζ/√(1 − ζ²), acosh ζ/√(ζ² − 1) above 1: one smooth function, a series in x = (1 − ζ)/2 near 1."""
    near = jnp.abs(ratio - 1) < 0.05
    x = (1 - jnp.where(near, ratio, 1.0)) / 2
    series, term = jnp.ones_like(x), jnp.ones_like(x)
    for n in range(1, 11):
        term = term * n / (n + 0.5) * x
        series = series + term
    below = jnp.where(near | (ratio > 1), 0.0, ratio)
    above = jnp.where(near | (ratio < 1), 2.0, ratio)
    far = jnp.where(ratio < 1, jnp.arccos(below) / jnp.sqrt(1 - below**2), jnp.arccosh(above) / jnp.sqrt(above**2 - 1))
    return jnp.where(near, series, far)


def contact_duration(
    mass: ArrayLike, stiffness: ArrayLike, damping: ArrayLike = 0.0, release: Release = "zero-force"
) -> Float[Array, ""]:
    """Return the time (s) from touch to release of a Kelvin–Voigt contact between masses of effective mass μ (kg).

    2 acos(ζ)/(ω √(1 − ζ²)) until zero force, π/(ω √(1 − ζ²)) until zero depth (infinite from ζ = 1 on); ω = √(k/μ).
    """
    ratio = damping_ratio(damping, stiffness, mass)
    frequency = jnp.sqrt(jnp.asarray(stiffness) / mass)
    if release == "zero-force":
        return 2 * _half_phase(ratio) / frequency
    return jnp.where(ratio < 1, jnp.pi / (frequency * jnp.sqrt(1 - jnp.minimum(ratio, 1.0) ** 2)), jnp.inf)


def first_order_correction(
    chaser: Masses,
    target: Masses,
    speed: ArrayLike,
    contact_stiffness: ArrayLike,
    chaser_stiffness: ArrayLike,
    target_stiffness: ArrayLike,
) -> Float[Array, ""]:
    """Return what finite stiffness adds (m/s) to the relative velocity after the first impact; undamped, e* = 1, first order.

    ΔU⁺ = −(π²/2 − 4) e_l (μ_i²/k_con)(k_c/m₂² + k_t/m₃²) U⁻, with the stiffnesses (N/m) of the contact and of the springs
    next to the masses that meet. Not in the paper. Zero stiffness for a chain of one mass.
    """
    checks.require_positive(contact_stiffness=contact_stiffness)
    for name, value in (("chaser stiffness", chaser_stiffness), ("target stiffness", target_stiffness)):
        checks.check_range(name, value, 0.0)
    found = effective_masses(chaser, target)
    springs = jnp.asarray(chaser_stiffness) / chaser[-1] ** 2 + jnp.asarray(target_stiffness) / target[0] ** 2
    share = found.contact / found.system * found.contact**2 / contact_stiffness * springs
    return -(jnp.pi**2 / 2 - 4) * share * speed


def validity_warnings(
    chaser: Masses,
    target: Masses,
    contact_stiffness: float,
    chaser_stiffness: float = 0.0,
    target_stiffness: float = 0.0,
    contact_damping: float = 0.0,
    size: float | None = None,
    wave_speed: float = WAVE_SPEED,
) -> tuple[str, ...]:
    """Return why eq. 18 may fail here, one line each; nothing if it should hold.

    Args:
        contact_stiffness, chaser_stiffness, target_stiffness: of the contact and inside the chains (N/m).
        contact_damping: N s/m.
        size: of the larger of the two systems (m): an elastic wave should pass it there and back while they touch.
        wave_speed: m/s.
    """
    checks.require_positive(contact_stiffness=contact_stiffness, wave_speed=wave_speed)
    lines = []
    for name, stiffness in (("chaser", chaser_stiffness), ("target", target_stiffness)):
        checks.check_range(f"{name} stiffness", stiffness, 0.0)
        ratio = stiffness / contact_stiffness
        if ratio > STIFFNESS_RATIO:
            lines.append(
                f"{name} stiffness is {ratio:.3g} of the contact stiffness (above {STIFFNESS_RATIO:g}): the rest of the "
                f"{name} takes part in the impact, and from 0.2 to 0.5 on, as the masses are, they do not part when predicted"
            )
    if size is not None:
        checks.require_positive(size=size)
        duration = float(contact_duration(effective_masses(chaser, target).contact, contact_stiffness, contact_damping))
        passages = duration * wave_speed / size
        if passages < WAVE_PASSAGES:
            lines.append(
                f"contact lasts {duration * 1e3:.3g} ms, in which an elastic wave passes {size:g} m only {passages:.2g} "
                f"times (fewer than {WAVE_PASSAGES:g}): the masses do not move as rigid bodies meanwhile"
            )
    return tuple(lines)
