"""Velocities that jump: what the masses decide, impact laws for any two systems, latches.

Units: SI throughout; ratios dimensionless.
Source: Paraskevas et al.; Cyril et al.; Routh 1905 and Stronge 1990 for the laws.
"""

from dockdyn.impact.formulas.contact_duration import (
    contact_duration,
    damping_ratio,
    first_order_correction,
    kelvin_voigt_damping_ratio,
    kelvin_voigt_restitution,
    validity_warnings,
)
from dockdyn.impact.formulas.effective_mass import (
    MOTION_CLASSES,
    EffectiveMasses,
    MassImpact,
    chain_mass_ratio,
    effective_mass_ratio,
    effective_masses,
    mass_ratio_coefficient,
    motion_class,
    velocity_after_impact,
    zero_velocity_target_ratio,
)
from dockdyn.impact.formulas.latching import (
    greatest_travel,
    latch_frequency,
    latch_motion,
    latch_ramp,
    latch_time,
    latch_travel,
    minimum_latching_velocity,
)
from dockdyn.impact.laws.by_name import LAWS, Law, resolve_impact, resolve_simultaneous
from dockdyn.impact.laws.contact_matrix import (
    constrained_contact_matrix,
    contact_matrix,
    effective_mass,
    lock_constraints,
    velocity_jump,
)
from dockdyn.impact.laws.impact_law import ImpactLaw
from dockdyn.impact.laws.result import Impact

__all__ = [
    "LAWS",
    "MOTION_CLASSES",
    "EffectiveMasses",
    "Impact",
    "ImpactLaw",
    "Law",
    "MassImpact",
    "chain_mass_ratio",
    "constrained_contact_matrix",
    "contact_duration",
    "contact_matrix",
    "damping_ratio",
    "effective_mass",
    "effective_mass_ratio",
    "effective_masses",
    "first_order_correction",
    "greatest_travel",
    "kelvin_voigt_damping_ratio",
    "kelvin_voigt_restitution",
    "latch_frequency",
    "latch_motion",
    "latch_ramp",
    "latch_time",
    "latch_travel",
    "lock_constraints",
    "mass_ratio_coefficient",
    "minimum_latching_velocity",
    "motion_class",
    "resolve_impact",
    "resolve_simultaneous",
    "validity_warnings",
    "velocity_after_impact",
    "velocity_jump",
    "zero_velocity_target_ratio",
]
