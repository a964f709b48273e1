"""The planar reference's parameters, as an `OrbitalArm`."""

from __future__ import annotations

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import planar_arm_reference as planar

from dockdyn.contact.surfaces.plane import Plane
from dockdyn.control.schedule import Schedule
from dockdyn.impact.laws.by_name import StatedLaw
from dockdyn.kinds.orbital_arm.model import Latch, Law, OrbitalArm, Touch
from dockdyn.mechanics.orbit import Orbit
from dockdyn.mechanics.trees.assembly import Link, tree_of
from dockdyn.mechanics.trees.planar import PlanarTree
from dockdyn.mechanics.trees.spatial import SpatialTree

PAYLOAD, GUEST = 4, 5  # links


def rod(mass, length):
    return np.diag([0.0, 1.0, 1.0]) * mass * length**2 / 12


def tree(p, base, guest=False):
    """Station, three links, the payload, and, for a latch, the place it is handed over to."""
    links = [Link("station", mass=p.station_mass, inertia=rod(p.station_mass, p.station_length))]
    parent, mount = "station", (*p.root, 0.0)
    for name, mass, length in zip(("psi", "alpha", "beta"), p.masses, p.lengths, strict=True):
        own = {"mass": mass, "centre": (length / 2, 0.0, 0.0), "inertia": rod(mass, length)}
        links.append(Link(name, parent, mount=mount, **own))
        parent, mount = name, (length, 0.0, 0.0)
    links.append(Link("payload", parent, joint="locked", mount=mount, mass=p.payload))
    if guest:
        links.append(Link("guest", "station", joint="locked"))
    return tree_of(links, base=base)


def spun(bodies, p, joints, rates, spin):
    """Configuration and velocities with the station's centre in the origin and no momentum."""
    joints, rates = jnp.asarray(joints, float), jnp.asarray(rates, float)
    if isinstance(bodies, PlanarTree):
        _, middle, _ = bodies.middle(bodies.placed(joints, jnp.asarray(spin), rates))
        return jnp.concatenate([jnp.stack(middle), jnp.zeros(1), joints]), jnp.array([0.0, 0.0, spin, *rates])
    _, middle = bodies.middle(bodies.poses(joints))
    q = jnp.concatenate([middle, jnp.array([1.0, 0.0, 0.0, 0.0]), joints])
    return q, jnp.array([0.0, 0.0, 0.0, 0.0, 0.0, spin, *rates])


def schedule(p):
    """The set-point, and, where a latch catches the payload, the retreat after it."""
    points = [p.docked] if p.retreat is None else [p.docked, p.retreat]
    return Schedule(
        jnp.asarray(p.kp),
        jnp.asarray(p.kd),
        jnp.full(3, jnp.inf if p.torque_limit is None else p.torque_limit),
        jnp.asarray(points, float),
        jnp.asarray([p.start, *points[:-1]], float),
        None,
        jnp.full(len(points), jnp.inf),
    )


def arm(p, space=False, law="frictionless", control=True, orbit=True, touch=True, dissipative=False, weld=False):
    """The model. A latch is on the second wall; gravity that is off is one of no strength, in the same program."""
    latched = p.latch_wall is not None
    bodies = (SpatialTree if space else PlanarTree.of)(tree(p, "free" if space else "planar", latched))
    q, v = spun(bodies, p, p.start, p.start_rates, p.orbital_rate)
    strength = p.mu if p.gravity else 0.0
    reference = Orbit(*map(jnp.asarray, (strength, p.orbit_radius, 0.0, 0.0)), p.gravity_gradient, True)
    planes = tuple(Plane.of((c.real, c.imag, 0.0), (n.real, n.imag, 0.0)) for c, n in p.planes)
    return OrbitalArm(
        bodies=bodies,
        start=q,
        velocity=v,
        stiffness=jnp.zeros(3),
        damping=jnp.zeros(3),
        rest=jnp.zeros(3),
        orbit=reference if orbit else None,
        touch=Touch(jnp.zeros((1, 3)), planes, PAYLOAD) if touch else None,
        law=Law(StatedLaw({"restitution": jnp.asarray(p.restitution)}, law), jnp.asarray(1e-4)),
        latch=Latch(p.latch_wall, weld, GUEST) if latched else None,
        control=schedule(p) if control else None,
        loops=(),
        release=(False,) if p.retreat is None else (False, True),
        waits=(False,) if p.retreat is None else (True, False),
        dissipative=dissipative,
        passive=True,
    )


def boosted(model, offset, velocity):
    """The same, elsewhere and on the way."""
    return eqx.tree_at(
        lambda m: (m.start, m.velocity),
        model,
        (model.start.at[:2].add(jnp.asarray(offset)), model.velocity.at[:2].add(jnp.asarray(velocity))),
    )


REFERENCE = planar.Parameters()
