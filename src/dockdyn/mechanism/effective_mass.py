"""Effective masses of contacts: what two bodies, and all that joints hold to them, oppose to a force along a contact's normal.

Units: kg; normals dimensionless.
Source: μ = 1/(n M⁻¹ nᵀ), contact space, Khatib 1987; for masses on a line Paraskevas et al., eq. 2.
"""

from __future__ import annotations

from dataclasses import replace

from dockdyn.contact.group import ContactGroup
from dockdyn.contact.laws.relative_damping import RelativeLaw
from dockdyn.deferred import Array, Float, jnp
from dockdyn.integrate.model import State
from dockdyn.mechanics.vector import Vector
from dockdyn.mechanism.connections import point_rows
from dockdyn.mechanism.head_on import law_between
from dockdyn.mechanism.mechanism import Mechanism
from dockdyn.mechanism.strikes import space_along


def damp_relatively(model: Mechanism) -> Mechanism:
    """Return a model whose laws of contacts have the damping that was stated relative to the effective mass at t = 0."""
    waiting = [isinstance(group, ContactGroup) and isinstance(group.law, RelativeLaw) for group in model.groups]
    if not any(waiting):
        return model
    masses, _ = effective_masses(model, model.initial())
    groups = (
        replace(group, law=law_between(group.law, mass)) if waits and isinstance(group, ContactGroup) else group
        for group, mass, waits in zip(model.groups, masses, waiting, strict=True)
    )
    return replace(model, groups=tuple(groups))


def contact_normals(model: Mechanism, x: State) -> Float[Array, "groups 3"]:
    """Return the unit normal (inertial) of the first member of each group in a state, as `effective_masses` does."""
    places, found = model.placement(x).bodies, []
    for group in model.groups:
        if not isinstance(group, ContactGroup):
            found.append(jnp.full(3, jnp.nan))
            continue
        _, normal, _ = group.member().touch(places[group.first], places[group.second])
        found.append(Vector.array(normal / normal.norm()))
    return jnp.stack(found)


def effective_masses(model: Mechanism, x: State) -> tuple[Float[Array, "groups"], Float[Array, "groups 3"]]:
    """Return the effective mass (kg) of the first member of each group, and its unit normal (inertial), in a state.

    The normal points from the second body to the first. Springs and contacts do not count, as in an impact; joints, rigid grips
    that hold and inertia that elements reflect do. NaN for what is no group of contacts with a force law.
    """
    here = model.placement(x)
    kept, masses, normals = model.kept_lines(x, here), [], []
    for group in model.groups:
        if not isinstance(group, ContactGroup):
            masses.append(jnp.asarray(jnp.nan))
            normals.append(jnp.full(3, jnp.nan))
            continue
        _, normal, point = group.member().touch(here.bodies[group.first], here.bodies[group.second])
        normal = normal / normal.norm()
        rows = point_rows(here.bodies, group.first, group.second, point, (normal,))
        matrix, _ = space_along(model.moving, here, rows, kept)
        masses.append(1 / matrix[0, 0])
        normals.append(Vector.array(normal))
    return jnp.stack(masses), jnp.stack(normals)
