"""From a list of links to a tree: checks, order, stacked numbers.

Units: SI: kg, m, kg m², rad; shape functions dimensionless.
Source: Cyril et al., section 2; Roberson and Schwertassek 1988, Dynamics of Multibody Systems, for order and
numbering.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from typing import Any

import numpy as np

from dockdyn.deferred import Array, Float, is_traced, jnp
from dockdyn.mechanics.trees.beam import Beam, unit_gauss
from dockdyn.mechanics.trees.composite_bodies import BASES, JOINTS, Links, Tree, TreeLayout
from dockdyn.mechanics.trees.screws import cross_matrix
from dockdyn.records import record

PAST_END = 1e-9  # share of a beam's length by which rounding may put a place beyond its ends


@record
class Link:
    """A link and the joint that holds it. Numbers may be traced.

    The link frame is at the joint; a beam lies along its x axis, clamped there. The joint sits on the parent at `mount` (m,
    parent axes), counted from the parent's frame or, with `at`, from that share of the parent's beam's length; `mount_turn`
    takes joint axes to the parent's there. So without `at` a joint, and always the rigid mass, is fixed to the frame of a
    link that bends; with it the joint moves and turns with the section there, the mount as a rigid arm.
    """

    name: str
    parent: str | None = None  # None: the base
    coordinate: str | None = None  # what the joint's coordinate is called; None: as the link
    joint: str = "revolute"  # of JOINTS; the base has none
    axis: Any = (0.0, 0.0, 1.0)
    mount: Any = (0.0, 0.0, 0.0)
    mount_turn: Any = field(default_factory=lambda: np.eye(3))
    at: Any = None
    mass: Any = 0.0  # kg, of what is rigid
    centre: Any = (0.0, 0.0, 0.0)  # m, its centre of mass, link axes
    inertia: Any = field(default_factory=lambda: np.zeros((3, 3)))  # kg m², about that
    beam: Beam | None = None
    stiffness: Any = 0.0  # of the joint: N m/rad or N/m
    damping: Any = 0.0
    rest: Any = 0.0  # rad or m


def tree_of(links: Sequence[Link], base: str = "free") -> Tree:
    """Return the tree of `links`, the base first or wherever it is; every link after its parent in the tree's own order.

    ValueError for a base or joint that there is not, names twice, parents that are missing, no or several bases, loops.
    """
    if base not in BASES:
        raise ValueError(f"base is {base!r}; must be one of {', '.join(BASES)}")
    ordered = in_order(links)
    names = [link.name for link in ordered]
    width = max(0 if link.beam is None else link.beam.count for link in ordered)
    modes = tuple(0 if link.beam is None else link.beam.count for link in ordered)
    parents = tuple(-1 if link.parent is None else names.index(link.parent) for link in ordered)
    layout = TreeLayout(
        base=base,
        names=tuple(names),
        coordinates=tuple(link.coordinate or link.name for link in ordered),
        parents=parents,
        joints=tuple("locked" if link.parent is None else link.joint for link in ordered),
        modes=modes,
        mode_names=tuple(_mode_names(link.beam) for link in ordered),
        seated=tuple(link.at is not None for link in ordered),
    )
    slices = max([1, *(_beam_slices(link.beam) for link in ordered)])
    rows = [
        {**_own_numbers(link, width, slices), **joint_numbers(link, ordered[parent] if parent >= 0 else None, width)}
        for link, parent in zip(ordered, parents, strict=True)
    ]
    stacked = Links(**{name: jnp.stack([row[name] for row in rows]) for name in Links._fields})
    joints = [link for link in ordered if link.parent is not None and JOINTS[link.joint] == 1]
    _, _, count = layout.columns()
    columns = layout.columns()[0]
    stiffness, damping = jnp.zeros(count), jnp.zeros(count)
    for link, own in zip(ordered, columns, strict=True):
        if own:
            stiffness = stiffness.at[jnp.array(own)].set(jnp.asarray(link.stiffness, float))
            damping = damping.at[jnp.array(own)].set(jnp.asarray(link.damping, float))
    rest = jnp.stack([jnp.asarray(link.rest, float) for link in joints]) if joints else jnp.zeros(0)
    return Tree(stacked, stiffness, damping, rest, layout)


def in_order(links: Sequence[Link]) -> list[Link]:
    """Return the links, each after its parent; ValueError where they are no tree."""
    names = [link.name for link in links]
    if len(set(names)) < len(names):
        raise ValueError(f"two links are called {next(n for n in names if names.count(n) > 1)!r}; names must differ")
    bases = [link.name for link in links if link.parent is None]
    if len(bases) != 1:
        raise ValueError(f"{len(bases)} links have no parent ({', '.join(bases)}); must be one, the base")
    for link in links:
        if link.parent is not None and link.parent not in names:
            raise ValueError(f"link {link.name!r}: its parent {link.parent!r} is no link")
        if link.joint not in JOINTS:
            raise ValueError(f"link {link.name!r}: joint is {link.joint!r}; must be one of {', '.join(JOINTS)}")
        if link.joint == "spherical" and is_known(link.stiffness) and np.any(np.asarray(link.stiffness)):
            raise ValueError(f"link {link.name!r}: a spherical joint has no stiffness; must be 0")
        if is_known(link.axis) and not np.any(np.asarray(link.axis)):
            raise ValueError(f"link {link.name!r}: axis must not be the zero vector")
        if link.at is not None and is_known(link.at) and not -PAST_END <= link.at <= 1 + PAST_END:
            raise ValueError(f"link {link.name!r}: at is {link.at}; must be a share of the parent's beam, 0 to 1")
    found: list[Link] = []
    while len(found) < len(links):
        placed = {link.name for link in found}
        left = [link for link in links if link.name not in placed]
        ready = next((link for link in left if link.parent is None or link.parent in placed), None)
        if ready is None:
            raise ValueError(f"links {', '.join(link.name for link in left)} form a loop; must be a tree")
        found.append(ready)
    return found


def is_known(value: object) -> bool:
    """Return whether a number is there to be looked at, not traced."""
    return not is_traced(value)


def _mode_names(beam: Beam | None) -> tuple[str, ...]:
    """Return names of a link's modes: bend1 ... along y, side1 ... along z, twist1 ..."""
    if beam is None:
        return ()
    kinds = zip(("bend", "side", "twist"), beam.modes, strict=True)
    return tuple(f"{kind}{n}" for kind, count in kinds for n in range(1, count + 1))


def _beam_slices(beam: Beam | None) -> int:
    """Return slices of a link's beam, in each of which mass is lumped; none without modes."""
    return 0 if beam is None or not beam.count else beam.slice_count()


def _own_numbers(link: Link, width: int, slices: int) -> dict[str, Array]:
    """Return the stacked numbers of a link itself; a beam without modes is a rigid rod."""
    mass, centre = jnp.asarray(link.mass, float), jnp.asarray(link.centre, float)
    inertia = _spatial_inertia(mass, centre, jnp.asarray(link.inertia, float))
    zeros = {
        "place": jnp.zeros(slices),
        "slice_mass": jnp.zeros(slices),
        "slice_polar": jnp.zeros(slices),
        "shift": jnp.zeros((slices, 3, width)),
        "turn": jnp.zeros((slices, 3, width)),
        "shortening": jnp.zeros((slices, width, width)),
        "tip_shift": jnp.zeros((3, width)),
        "stiffness": jnp.zeros((width, width)),
        "damping": jnp.zeros((width, width)),
    }
    beam = link.beam
    if beam is None:
        return {"inertia": inertia, **zeros}
    if not beam.count:
        across, polar = beam.mass * beam.length**2 / 12, beam.polar_inertia * beam.length
        rod = jnp.diag(jnp.stack([polar, across, across]))
        middle = jnp.zeros(3).at[0].set(beam.length / 2)
        return {"inertia": inertia + _spatial_inertia(beam.mass, middle, rod), **zeros}
    found, weights = beam.slices()
    count, n = beam.count, weights.shape[0]
    polar = beam.polar_inertia * beam.length
    stiffness = beam.stiffness()
    zeros["place"] = zeros["place"].at[:n].set(found.place)
    zeros["slice_mass"] = zeros["slice_mass"].at[:n].set(weights)
    if beam.modes[2]:
        zeros["slice_polar"] = zeros["slice_polar"].at[:n].set(jnp.asarray(unit_gauss(n)[1]) * polar)
    else:
        inertia = inertia.at[3, 3].add(polar)
    zeros["shift"] = zeros["shift"].at[:n, :, :count].set(found.shift)
    zeros["turn"] = zeros["turn"].at[:n, :, :count].set(found.turn)
    zeros["shortening"] = zeros["shortening"].at[:n, :count, :count].set(found.shortening)
    zeros["tip_shift"] = zeros["tip_shift"].at[:, :count].set(beam.shapes(np.asarray(1.0)).shift)
    zeros["stiffness"] = zeros["stiffness"].at[:count, :count].set(stiffness)
    zeros["damping"] = zeros["damping"].at[:count, :count].set(stiffness * beam.damping)
    return {"inertia": inertia, **zeros}


def joint_numbers(link: Link, parent: Link | None, width: int) -> dict[str, Array]:
    """Return the stacked numbers of a link's joint, and of its parent's modes where it sits.

    ValueError where it sits at a place along a parent that has no beam.
    """
    axis = jnp.asarray(link.axis, float)
    found: dict[str, Any] = {
        "mount": jnp.asarray(link.mount, float),
        "mount_turn": jnp.asarray(link.mount_turn, float),
        "axis": axis / jnp.linalg.norm(axis),
        "attach_place": jnp.zeros(()),
        "attach_shift": jnp.zeros((3, width)),
        "attach_turn": jnp.zeros((3, width)),
        "attach_shortening": jnp.zeros((width, width)),
    }
    if link.at is None or parent is None:
        return found
    if parent.beam is None:
        raise ValueError(f"link {link.name!r}: at = {link.at}: its parent {parent.name!r} has no beam to count along")
    at = np.asarray(link.at, float) if is_known(link.at) else link.at
    seen, count = parent.beam.shapes(at), parent.beam.count
    found["attach_place"] = jnp.asarray(seen.place)
    found["attach_shift"] = found["attach_shift"].at[:, :count].set(seen.shift)
    found["attach_turn"] = found["attach_turn"].at[:, :count].set(seen.turn)
    found["attach_shortening"] = found["attach_shortening"].at[:count, :count].set(seen.shortening)
    return found


def _spatial_inertia(
    mass: Float[Array, ""], centre: Float[Array, "3"], inertia: Float[Array, "3 3"]
) -> Float[Array, "6 6"]:
    """Return the mass matrix for (v, ω) of the frame's origin: mass (kg), centre of mass (m), inertia about it (kg m²)."""
    lever = cross_matrix(centre)
    upper = jnp.concatenate([mass * jnp.eye(3), -mass * lever], axis=1)
    lower = jnp.concatenate([mass * lever, inertia - mass * lever @ lever], axis=1)
    return jnp.concatenate([upper, lower])


def rigid_parts(
    inertia: Float[Array, "links 6 6"],
) -> tuple[Float[Array, "links"], Float[Array, "links 3"], Float[Array, "links 3 3"]]:
    """Return masses, centres of mass and inertias about them, link axes: what `_spatial_inertia` was made of, link by link."""
    mass = inertia[:, 0, 0]
    safe = jnp.where(mass == 0, 1.0, mass)
    first = jnp.stack([inertia[:, 1, 5], inertia[:, 2, 3], inertia[:, 0, 4]], axis=-1)
    centre = first / safe[:, None]
    squared = (centre**2).sum(-1)
    parallel = squared[:, None, None] * jnp.eye(3) - centre[:, :, None] * centre[:, None, :]
    return mass, centre, inertia[:, 3:, 3:] - mass[:, None, None] * parallel
