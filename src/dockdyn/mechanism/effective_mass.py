"""Effective masses of contacts: what two bodies, and all that joints hold to them, oppose to a force along a contact's normal.

Units: kg; normals dimensionless.
Source: μ = 1/(n M⁻¹ nᵀ), contact space, Khatib 1987; for masses on a line Paraskevas et al., eq. 2.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from dockdyn.contact.group import ContactGroup
from dockdyn.contact.laws.relative_damping import RelativeLaw
from dockdyn.deferred import Array, Float, PyTree, jnp
from dockdyn.elements.actor import Actor
from dockdyn.elements.force_element import ForceElement, Opposing
from dockdyn.integrate.model import State, over_rows
from dockdyn.mechanics.lines import Lines, Rows
from dockdyn.mechanics.trees.moving_bodies import Placement
from dockdyn.mechanics.vector import Scalar, Vector
from dockdyn.mechanism.connections import point_rows, turning_rows
from dockdyn.mechanism.head_on import law_between
from dockdyn.mechanism.mechanism import Mechanism
from dockdyn.mechanism.mounts import Tie
from dockdyn.mechanism.strikes import delassus_matrix


class _Between(Opposing):
    """What two bodies of a model by number oppose in a placement, as `effective_masses` counts it."""

    def __init__(self, model: Mechanism, here: Placement, kept: Lines | None, tie: Tie):
        self.model, self.here, self.kept, self.tie = model, here, kept, tie

    def along(self, point: Vector, end: Vector, axis: Vector) -> Scalar:
        tie, places = self.tie, self.here.bodies
        rows = point_rows(places, tie.first, tie.second, point, (axis,))
        others = point_rows(places, tie.first, tie.second, end, (axis,))
        return self._mass(rows.at[:, tie.second].set(others[:, tie.second]))

    def about(self, axis: Vector) -> Scalar:
        return self._mass(turning_rows(self.here.bodies, self.tie.first, self.tie.second, (axis,)))

    def _mass(self, rows: Rows) -> Scalar:
        matrix, _ = delassus_matrix(self.model.moving, self.here, rows, self.kept)
        yields = matrix[0, 0] > 0
        return jnp.where(yields, 1 / jnp.where(yields, matrix[0, 0], 1.0), jnp.inf)


def _masses_of_elements(model: Mechanism) -> dict[str, Array]:
    """Return the effective masses (kg, kg m²) at t = 0 along the lines of elements that state their damping relative to them,
    by the names of their mounts."""
    waiting = [one for one in model.elements if isinstance(one, Tie) and one.element.is_damped_relatively]
    if not waiting:  # then nothing of t = 0 is needed
        return {}
    x = model.initial()
    here = model.placement(x)
    kept = model.kept_lines(x, here)
    return {
        one.name: one.element.effective_masses(*one.sides(here), _Between(model, here, kept, one)) for one in waiting
    }


def damp_relatively(model: Mechanism) -> Mechanism:
    """Return a model whose contacts and elements have the damping that was stated relative to the effective mass at t = 0."""
    return _with_damped_elements(_with_damped_laws(model))


def _with_damped_elements(model: Mechanism) -> Mechanism:
    masses = _masses_of_elements(model)
    if not masses:
        return model

    def damp(elements: Sequence[Actor]) -> tuple[Actor, ...]:
        return tuple(
            one.with_damping_of(masses[mount.name]) if mount.name in masses and isinstance(one, ForceElement) else one
            for mount, one in zip(model.elements, elements, strict=True)
        )

    def damp_rows(rows: PyTree) -> PyTree:
        return over_rows(damp, rows)

    damped = damp([one.element for one in model.elements])
    elements: list[Any] = [replace(one, element=new) for one, new in zip(model.elements, damped, strict=True)]
    phases = model.phases
    if phases is not None:
        ramps = None if phases.ramps is None else replace(phases.ramps, begun=damp_rows(phases.ramps.begun))
        phases = replace(phases, variants=damp_rows(phases.variants), ramps=ramps)
    return replace(model, elements=tuple(elements), phases=phases)


def _with_damped_laws(model: Mechanism) -> Mechanism:
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
        matrix, _ = delassus_matrix(model.moving, here, rows, kept)
        masses.append(1 / matrix[0, 0])
        normals.append(Vector.array(normal))
    return jnp.stack(masses), jnp.stack(normals)
