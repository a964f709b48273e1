"""A spring latch and the ramp of a probe: what speed it takes to latch (Paraskevas et al., section 4).

While the ramp pushes the latch aside, the spring's deflection is y = x tan θ (x the travel of the probe into the latch)
and the force along the line of motion F = k x tan²θ (eqs. 37, 38). No friction, no preload. Contact starts at x = 0, so
x = (v/ω) sin ωt with ω = √(k tan²θ/m_ef) (eqs. 41, 42), and the probe latches if x comes to the length of the ramp:
v ≥ ω l_p (eq. 46 as it is meant).
"""

from __future__ import annotations

import jax.numpy as jnp
from jaxtyping import Array, ArrayLike, Float

from dockdyn.impact import checks
from dockdyn.impact.effective_mass import reduced


def latch_frequency(
    chaser_mass: ArrayLike, target_mass: ArrayLike, stiffness: ArrayLike, angle: ArrayLike
) -> Float[Array, ""]:
    """ω = √(k tan²θ/m_ef) (rad/s; eqs. 40, 41). Masses in kg, the latch spring's stiffness in N/m, ramp angle in rad.

    ValueError unless all are above zero and the angle is below a right angle.
    """
    checks.positive(chaser_mass=chaser_mass, target_mass=target_mass, stiffness=stiffness)
    checks.within("angle (rad)", angle, 0.0, jnp.pi / 2, open_ends=True)
    return jnp.tan(jnp.asarray(angle, float)) * jnp.sqrt(jnp.asarray(stiffness) / reduced(chaser_mass, target_mass))


def latch_travel(
    angle: ArrayLike, axial_length: ArrayLike | None = None, lateral_length: ArrayLike | None = None
) -> Float[Array, ""]:
    """Travel (m) along the line of motion until the latch falls in: the ramp's axial length, or its lateral over tan θ.

    The paper's l_p is both ("length", "width"). ValueError unless exactly one is given.
    """
    if (axial_length is None) == (lateral_length is None):
        both = "not both" if axial_length is not None else "one of them"
        raise ValueError(f"give axial_length or lateral_length of the ramp, {both}")
    checks.within("angle (rad)", angle, 0.0, jnp.pi / 2, open_ends=True)
    if lateral_length is None:
        assert axial_length is not None
        checks.positive(axial_length=axial_length)
        return jnp.asarray(axial_length, float)
    checks.positive(lateral_length=lateral_length)
    return jnp.asarray(lateral_length) / jnp.tan(jnp.asarray(angle, float))


def minimum_latching_velocity(
    chaser_mass: ArrayLike,
    target_mass: ArrayLike,
    stiffness: ArrayLike,
    angle: ArrayLike,
    axial_length: ArrayLike | None = None,
    lateral_length: ArrayLike | None = None,
) -> Float[Array, ""]:
    """v_min = ω l (m/s), l the travel to the latch: l_p tan θ √(k/m_ef) of an axial, l_p √(k/m_ef) of a lateral length.

    Arguments in kg, N/m, rad and m; exactly one length.
    """
    travel = latch_travel(angle, axial_length, lateral_length)
    return latch_frequency(chaser_mass, target_mass, stiffness, angle) * travel


def latch_time(speed: ArrayLike, frequency: ArrayLike, travel: ArrayLike) -> Float[Array, ""]:
    """asin(ω l/v)/ω (s), at most a quarter period (eq. 44 is that limit); NaN for a speed that does not latch."""
    checks.positive(speed=speed, frequency=frequency, travel=travel)
    ratio = jnp.asarray(frequency) * travel / speed
    return jnp.where(ratio <= 1, jnp.arcsin(jnp.minimum(ratio, 1.0)), jnp.nan) / frequency


def greatest_travel(speed: ArrayLike, frequency: ArrayLike) -> Float[Array, ""]:
    """How far (m) a probe gets that does not latch: v/ω."""
    checks.positive(speed=speed, frequency=frequency)
    return jnp.asarray(speed) / frequency


def latch_motion(
    time: ArrayLike, speed: ArrayLike, frequency: ArrayLike
) -> tuple[Float[Array, "*shape"], Float[Array, "*shape"]]:
    """Travel (m) and relative speed (m/s) at a `time` (s) after first contact, while it lasts (eqs. 42, 43).

    x = (v/ω) sin ωt and ẋ = v cos ωt; eq. 43 as printed multiplies the sine by the wrong coefficient.
    """
    checks.positive(speed=speed, frequency=frequency)
    speed, frequency = jnp.asarray(speed, float), jnp.asarray(frequency, float)
    phase = frequency * time
    return speed / frequency * jnp.sin(phase), speed * jnp.cos(phase)
