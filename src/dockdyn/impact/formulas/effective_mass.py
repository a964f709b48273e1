"""What the masses decide when two chains of masses meet head on (Paraskevas et al., section 3).

A chain is given by its masses in the order in which they stand on the line of motion: the last mass of the chaser
meets the first of the target. Springs between them are soft beside the contact, so only the two masses that meet feel
the impulse; the momentum they carry is then shared within each chain. The paper's four masses are
chaser (m₁, m₂) and target (m₃, m₄).

Units: masses kg, velocities m/s, impulses N s, ratios dimensionless.
Source: as named above, eqs. 1–33 with the corrections named in each function.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from dockdyn.deferred import Array, ArrayLike, Float, jnp
from dockdyn.impact.laws import checks

Masses = Sequence[ArrayLike]  # kg


class EffectiveMasses(NamedTuple):
    """In kg."""

    system: Float[Array, ""]  # m_i,ef, of both chains as wholes (eq. 1)
    contact: Float[Array, ""]  # μ_i,ef, of the two masses that meet (eq. 2)
    chaser: Float[Array, ""]  # μ_c, of the mass that meets against the rest of its chain (eq. 3); 0 for a single mass
    target: Float[Array, ""]  # μ_t (eq. 4)


class MassImpact(NamedTuple):
    """What one impact of two chains does."""

    effective_mass_ratio: Float[Array, ""]  # e_l
    impulse: Float[Array, ""]  # N s, on the target
    relative_velocity: Float[Array, ""]  # m/s, of the centres of mass, chaser less target, after
    chaser_velocity: Float[Array, ""]  # m/s, of the chaser's centre of mass, after
    target_velocity: Float[Array, ""]  # m/s


def reduced_mass(first: ArrayLike, second: ArrayLike) -> Float[Array, ""]:
    """Return m₁ m₂/(m₁ + m₂)."""
    first, second = jnp.asarray(first, float), jnp.asarray(second, float)
    return first * second / (first + second)


def total_mass(masses: Masses) -> Float[Array, ""]:
    """Return the sum of the masses (kg)."""
    return sum((jnp.asarray(mass, float) for mass in masses), jnp.zeros(()))


def effective_masses(chaser: Masses, target: Masses) -> EffectiveMasses:
    """Return the four effective masses of two chains (eqs. 1–4). ValueError for masses that are not above zero."""
    checks.require_masses("chaser", chaser)
    checks.require_masses("target", target)
    return EffectiveMasses(
        system=reduced_mass(total_mass(chaser), total_mass(target)),
        contact=reduced_mass(chaser[-1], target[0]),
        chaser=reduced_mass(chaser[-1], total_mass(chaser[:-1])),
        target=reduced_mass(target[0], total_mass(target[1:])),
    )


def effective_mass_ratio(m1: ArrayLike, m2: ArrayLike, m3: ArrayLike, m4: ArrayLike) -> Float[Array, ""]:
    """Return e_l = μ_i,ef/m_i,ef of four masses (kg), m₂ meeting m₃ (eqs. 14, 19–21): between 0 and 1."""
    return chain_mass_ratio((m1, m2), (m3, m4))


def chain_mass_ratio(chaser: Masses, target: Masses) -> Float[Array, ""]:
    """Return e_l = μ_i,ef/m_i,ef of two chains of any number of masses."""
    found = effective_masses(chaser, target)
    return found.contact / found.system


def mass_ratio_coefficient(chaser: ArrayLike, contact: ArrayLike, target: ArrayLike) -> Float[Array, ""]:
    """Return e_l from λ_c = m₁/m₂, λ_i = m₂/m₃ and λ_t = m₄/m₃ (eq. 23): (λ_i/(1 + λ_t) + 1/(1 + λ_c))/(1 + λ_i).

    The paper's special cases are values of the arguments: equal ratios λ_c = λ_t = λ give 1/(1 + λ) (eq. 25), a single
    mass is λ = 0 (eq. 27; eq. 28 as printed is only its limit λ_t → ∞), a fixed wall behind m₃ is λ_t = ∞ (eq. 31).
    Arrays broadcast. ValueError for a negative ratio, and for λ_i = 0 or ∞.
    """
    if checks.is_concrete(chaser, contact, target):
        for name, ratio in (("chaser", chaser), ("target", target)):
            if not jnp.all(jnp.asarray(ratio) >= 0):
                raise ValueError(f"{name} mass ratio must be 0 or more; got {checks.format_number(ratio)}")
    checks.require_positive(contact_mass_ratio=contact)
    contact = jnp.asarray(contact)
    return (contact / (1 + jnp.asarray(target)) + 1 / (1 + jnp.asarray(chaser))) / (1 + contact)


def zero_velocity_target_ratio(
    chaser: ArrayLike, contact: ArrayLike, restitution: ArrayLike = 1.0
) -> Float[Array, "*shape"]:
    """Return λ_t at which no relative velocity of the two systems is left, for λ_c and λ_i; NaN where none is.

    (1 + e*) e_l = 1, solved. For e* = 1 this is (λ_c λ_i + λ_i)(1 − λ_t) + λ_t − λ_c λ_t − λ_c + 1 = 0 (eq. 32, where the
    paper prints λ_i for λ_t), the curves of Fig. 5. Arrays broadcast.
    """
    checks.check_range("restitution", restitution, 0.0, 1.0)
    contact, chaser = jnp.asarray(contact, float), jnp.asarray(chaser, float)
    share = (1 + contact) / (1 + jnp.asarray(restitution)) - 1 / (1 + chaser)
    ratio = contact / jnp.where(share > 0, share, 1.0) - 1
    return jnp.where((share > 0) & (ratio >= 0), ratio, jnp.nan)


def velocity_after_impact(
    chaser: Masses,
    target: Masses,
    speed: ArrayLike,
    restitution: ArrayLike = 1.0,
    internal_speed: ArrayLike = 0.0,
    target_velocity: ArrayLike = 0.0,
) -> MassImpact:
    """Return velocities after one impact, the first or any later one (eqs. 5–18).

    U⁺ = (1 − e_l*) U⁻ − e_l* δU with e_l* = (1 + e*) e_l (eq. 16); P = (1 + e*) μ_i (U⁻ + δU) (eqs. 5, 12). The chaser
    loses P, the target gains it (eq. 8 is printed with the other sign). Exact for a rigid contact; the first impact errs by
    the ratio of internal to contact stiffness (`first_order_correction`), later ones, which find the springs loaded, by its
    root.

    Args:
        speed: U⁻ = V_c − V_t (m/s), of the centres of mass before the impact.
        restitution: e* of the two masses that meet.
        internal_speed: δU (m/s), by how much the two masses that meet close faster than the centres of mass do; zero
            before the first impact.
        target_velocity: V_t (m/s).

    ValueError for masses that are not above zero, restitution outside [0, 1] and masses that do not approach.
    """
    checks.check_range("restitution", restitution, 0.0, 1.0)
    found = effective_masses(chaser, target)
    speed = jnp.asarray(speed, float)
    closing = speed + internal_speed
    if checks.is_concrete(closing) and not jnp.all(closing > 0):
        raise ValueError(
            f"the masses that meet must approach: speed + internal speed is {checks.format_number(closing)} m/s"
        )
    impulse = (1 + jnp.asarray(restitution)) * found.contact * closing
    target_before = jnp.asarray(target_velocity, float)
    return MassImpact(
        effective_mass_ratio=found.contact / found.system,
        impulse=impulse,
        relative_velocity=speed - impulse / found.system,
        chaser_velocity=target_before + speed - impulse / total_mass(chaser),
        target_velocity=target_before + impulse / total_mass(target),
    )


MOTION_CLASSES = {
    "i": "no impact: the relative velocity stays as it was",
    "ii": "the two meet like two rigid bodies",
    "iii": "no relative velocity is left",
    "iv": "the relative velocity keeps its direction: favourable for docking",
    "v": "the relative velocity turns round: the two part",
}


def motion_class(ratio: float, restitution: float = 1.0) -> str:
    """Return the class i–v of the first impact (section 3.2, with (1 + e*) e_l where the paper has 2 e_l): a key of
    `MOTION_CLASSES`.

    Rigid bodies (ii) have e_l = 1, whatever the restitution. Equalities are meant to 1e-12.
    """
    checks.check_range("effective mass ratio", ratio, 0.0, 1.0 + 1e-12)
    checks.check_range("restitution", restitution, 0.0, 1.0)
    if abs(ratio - 1) <= 1e-12:
        return "ii"
    if ratio <= 1e-12:
        return "i"
    excess = (1 + restitution) * float(ratio) - 1
    if abs(excess) <= 1e-12:
        return "iii"
    return "iv" if excess < 0 else "v"
