"""A spring latch and the ramp of a probe: what speed it takes to latch (Paraskevas et al., section 4).

While the ramp pushes the latch aside, the force along the line of motion is that of `contact.latch.Ramp`: without preload
and friction F = k x tan²θ, x the travel into the latch (eqs. 37, 38). Contact starts at x = 0, so x = (v/ω) sin ωt with
ω = √(k tan²θ/m_ef) (eqs. 41, 42), and the probe latches if x comes to the end of the ramp: v ≥ ω l_p (eq. 46 as it is
meant). Friction, with angle φ = atan μ, makes ω = √(k tan θ tan(θ + φ)/m_ef) while the probe goes in; a preload F₀ acts as
if the spring had been pushed aside by x₀ = F₀/(k tan θ) before.

Units: SI: m, m/s, s, N/m, kg, rad.
Source: as named above; preload and friction, own derivation from the wedge.
"""

from __future__ import annotations

from dockdyn.contact.latch import Ramp
from dockdyn.deferred import Array, ArrayLike, Float, jnp
from dockdyn.impact.formulas.effective_mass import reduced_mass
from dockdyn.impact.laws import checks

JAM = 1 - 1e-9  # μ tan θ from which a ramp counts as jamming


def latch_ramp(
    stiffness: ArrayLike, angle: ArrayLike, travel: ArrayLike, friction: ArrayLike = 0.0, preload: ArrayLike = 0.0
) -> Ramp:
    """Return the ramp of a latch spring (N/m) with ramp angle (rad), travel to its end (m), friction coefficient and preload
    (N).

    ValueError for a stiffness or travel not above zero, friction or preload below zero, an angle that is not between zero
    and a right angle, and friction that would jam the probe: θ + atan μ must stay below a right angle.
    """
    checks.require_positive(stiffness=stiffness, travel=travel)
    checks.check_range("angle (rad)", angle, 0.0, jnp.pi / 2, open_ends=True)
    checks.check_range("friction", friction, 0.0)
    checks.check_range("preload (N)", preload, 0.0)
    slope = jnp.tan(jnp.asarray(angle, float))
    if checks.is_concrete(slope, friction) and jnp.any(friction * slope >= JAM):
        limit = float(jnp.max(1 / slope))
        raise ValueError(f"friction must be below 1/tan(angle) = {limit:.6g}, where the probe jams; got {friction:g}")
    return Ramp(
        stiffness=jnp.asarray(stiffness, float),
        slope=slope,
        length=jnp.asarray(travel, float),
        preload=jnp.asarray(preload, float),
        friction=jnp.asarray(friction, float),
        regularisation=jnp.zeros(()),
    )


def latch_frequency(
    chaser_mass: ArrayLike,
    target_mass: ArrayLike,
    stiffness: ArrayLike,
    angle: ArrayLike,
    friction: ArrayLike = 0.0,
) -> Float[Array, ""]:
    """Return ω = √(k tan θ tan(θ + φ)/m_ef) (rad/s; eqs. 40, 41) of a probe that goes in.

    Masses in kg, the latch spring's stiffness in N/m, ramp angle in rad, friction coefficient. ValueError unless masses and
    stiffness are above zero and the angle is below a right angle; what `latch_ramp` raises.
    """
    checks.require_positive(chaser_mass=chaser_mass, target_mass=target_mass)
    ramp = latch_ramp(stiffness, angle, 1.0, friction)
    rise = ramp.stiffness * ramp.slope * ramp.lever(ramp.friction)
    return jnp.sqrt(rise / reduced_mass(chaser_mass, target_mass))


def latch_travel(
    angle: ArrayLike, axial_length: ArrayLike | None = None, lateral_length: ArrayLike | None = None
) -> Float[Array, ""]:
    """Return the travel (m) along the line of motion until the latch falls in: the ramp's axial length, or its lateral over tan
    θ.

    The paper's l_p is both ("length", "width"). ValueError unless exactly one is given.
    """
    if (axial_length is None) == (lateral_length is None):
        both = "not both" if axial_length is not None else "one of them"
        raise ValueError(f"give axial_length or lateral_length of the ramp, {both}")
    checks.check_range("angle (rad)", angle, 0.0, jnp.pi / 2, open_ends=True)
    if lateral_length is None:
        assert axial_length is not None
        checks.require_positive(axial_length=axial_length)
        return jnp.asarray(axial_length, float)
    checks.require_positive(lateral_length=lateral_length)
    return jnp.asarray(lateral_length) / jnp.tan(jnp.asarray(angle, float))


def minimum_latching_velocity(
    chaser_mass: ArrayLike,
    target_mass: ArrayLike,
    stiffness: ArrayLike,
    angle: ArrayLike,
    axial_length: ArrayLike | None = None,
    lateral_length: ArrayLike | None = None,
    friction: ArrayLike = 0.0,
    preload: ArrayLike = 0.0,
) -> Float[Array, ""]:
    """Return v_min = ω l (m/s), l the travel to the latch: l_p tan θ √(k/m_ef) of an axial, l_p √(k/m_ef) of a lateral length.

    With friction and preload √((2 F₀ l + k l² tan θ) tan(θ + φ)/m_ef). Arguments in kg, N/m, rad, m and N; exactly one
    length. ValueError: what `latch_travel` and `latch_ramp` raise.
    """
    checks.require_positive(chaser_mass=chaser_mass, target_mass=target_mass)
    travel = latch_travel(angle, axial_length, lateral_length)
    return latch_ramp(stiffness, angle, travel, friction, preload).needed_speed(reduced_mass(chaser_mass, target_mass))


def latch_time(
    speed: ArrayLike, frequency: ArrayLike, travel: ArrayLike, preload_travel: ArrayLike = 0.0
) -> Float[Array, ""]:
    """Return the time (s) from first contact until the latch falls in; NaN for a speed that does not latch.

    asin(ω l/v)/ω, at most a quarter period (eq. 44 is that limit). With a preload, x₀ = F₀/(k tan θ) its `preload_travel`
    (m), (asin((l + x₀)/A) − asin(x₀/A))/ω, A² = x₀² + (v/ω)².
    """
    checks.require_positive(speed=speed, frequency=frequency, travel=travel)
    checks.check_range("preload travel", preload_travel, 0.0)
    start = jnp.asarray(preload_travel, float)
    swing = jnp.hypot(start, jnp.asarray(speed) / frequency)
    ratio = (jnp.asarray(travel) + start) / swing
    phase = jnp.arcsin(jnp.minimum(ratio, 1.0)) - jnp.arcsin(start / swing)
    return jnp.where(ratio <= 1, phase, jnp.nan) / frequency


def greatest_travel(speed: ArrayLike, frequency: ArrayLike, preload_travel: ArrayLike = 0.0) -> Float[Array, ""]:
    """Return how far (m) a probe gets that does not latch: v/ω, and √(x₀² + (v/ω)²) − x₀ against a preload."""
    checks.require_positive(speed=speed, frequency=frequency)
    checks.check_range("preload travel", preload_travel, 0.0)
    return jnp.hypot(jnp.asarray(preload_travel, float), jnp.asarray(speed) / frequency) - preload_travel


def latch_motion(
    time: ArrayLike, speed: ArrayLike, frequency: ArrayLike
) -> tuple[Float[Array, "*shape"], Float[Array, "*shape"]]:
    """Return the travel (m) and relative speed (m/s) at a `time` (s) after first contact, while it lasts (eqs. 42, 43).

    x = (v/ω) sin ωt and ẋ = v cos ωt; eq. 43 as printed multiplies the sine by the wrong coefficient.
    """
    checks.require_positive(speed=speed, frequency=frequency)
    speed, frequency = jnp.asarray(speed, float), jnp.asarray(frequency, float)
    phase = frequency * time
    return speed / frequency * jnp.sin(phase), speed * jnp.cos(phase)
