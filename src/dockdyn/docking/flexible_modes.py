"""Modes of flexible links as numbers: each computed by one compiled program, as it is checked before any run.

Units: masses kg, inertias kg m², frequencies rad/s.
Source: Rayleigh–Ritz: modes of a clamped link beside its rigid motion.
"""

from __future__ import annotations

from dockdyn.deferred import Array, ArrayLike, Float, jnp
from dockdyn.docking.schema.flexible import FlexibleSection
from dockdyn.mechanics.rigid_body import RigidBody
from dockdyn.mechanics.trees.cantilever_modes import CantileverModes, Deflection, UniformBeam
from dockdyn.results.plan import jit_once


@jit_once
def modes_of(section: FlexibleSection) -> CantileverModes:
    """Return the modes of a flexible link."""
    link = section.link()
    return link.modes() if isinstance(link, UniformBeam) else link


@jit_once
def deflection_of(section: FlexibleSection, place: Float[Array, "3"]) -> Deflection:
    """Return how a flexible link moves what sits at a place (m, link axes, from its centre of mass)."""
    return section.deflection(place)._replace(shortening=None)


@jit_once
def mass_beside(section: FlexibleSection, mass: ArrayLike, inertia: ArrayLike) -> Float[Array, "modes modes"]:
    """Return what is left of the modal masses beside the mean motion of a link of this mass (kg) and inertia
    (3 × 3, kg m²), over the modal masses."""
    modes = section.modes()
    scale = jnp.sqrt(modes.mass)
    return modes.vibrating_mass(RigidBody.of(mass, inertia)) / jnp.outer(scale, scale)
