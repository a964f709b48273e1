"""Trees of links by Lagrange's equations, from coordinates alone."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from tree_cases import Case, own_size

from dockdyn.mechanics.trees.beam import Beam


def rodrigues(turn):
    """Rotation matrix of a rotation vector that is not zero."""
    angle = jnp.sqrt(turn @ turn)
    across = jnp.cross(jnp.eye(3), turn / angle)
    return jnp.eye(3) + jnp.sin(angle) * across + (1 - jnp.cos(angle)) * across @ across


def clamped(power, degree, x):
    """ξ^power P_degree(2ξ − 1) and two derivatives."""
    unit = np.eye(degree + 1)[degree]
    p, d, dd = (
        np.polynomial.legendre.legval(2 * x - 1, np.polynomial.legendre.legder(unit, k)) * 2**k for k in range(3)
    )
    if power == 1:
        return x * p, p + x * d, 2 * d + x * dd
    return x**2 * p, 2 * x * p + x**2 * d, 2 * p + 4 * x * d + x**2 * dd


def clamped_free(index, x):
    """The modes of a cantilever as textbooks print them, one at the tip, and two derivatives."""
    root = (1.8751040687119611, 4.694091132974175, 7.854757438237613)[index]
    sigma = (np.cosh(root) + np.cos(root)) / (np.sinh(root) + np.sin(root))
    c, s, cosine, sine = np.cosh(root * x), np.sinh(root * x), np.cos(root * x), np.sin(root * x)
    raw = c - cosine - sigma * (s - sine), s + sine - sigma * (c - cosine), c + cosine - sigma * (s + sine)
    return tuple(value * root**order / (2 * (-1) ** index) for order, value in enumerate(raw))


POINTS, WEIGHTS = np.polynomial.legendre.leggauss(24)
POINTS, WEIGHTS = (POINTS + 1) / 2, WEIGHTS / 2


def rows(beam: Beam, x, order):
    """Derivatives by ξ of the displacement along y and z and of the twist, by modal coordinate; ξ along the first axis."""
    y, z, twist = beam.modes
    found = np.zeros((*np.shape(x), 3, beam.count))
    for axis, first, modes in ((0, 0, y), (1, y, z), (2, y + z, twist)):
        for k in range(modes):
            bending = clamped_free(k, x) if beam.basis == "cantilever" else clamped(2, k, x)
            found[..., axis, first + k] = (clamped(1, k, x) if axis == 2 else bending)[order]
    return found


class Bent(NamedTuple):
    """A beam from its modal coordinates."""

    beam: Beam
    eta: jax.Array

    def place(self, x):
        """Of sections; the arc keeps its length to second order: they fall short by half the integral of slope²."""
        across = rows(self.beam, x, 0)[..., :2, :] @ self.eta
        along = self.beam.length * x
        if self.beam.stiffening:
            slopes = rows(self.beam, np.multiply.outer(x, POINTS), 1)[..., :2, :] @ self.eta / self.beam.length
            along = along - 0.5 * along * (jnp.sum(slopes**2, axis=-1) @ WEIGHTS)
        return jnp.concatenate([along[..., None], across], axis=-1)

    def turn(self, x):
        """Rotation vector of the section (rad): the slopes themselves."""
        y, z = rows(self.beam, x, 1)[:2] @ self.eta / self.beam.length
        return jnp.stack([rows(self.beam, x, 0)[2] @ self.eta, -z, y])

    def energy(self):
        """Of bending and twisting (J)."""
        curvature = rows(self.beam, POINTS, 2)[:, :2] @ self.eta / self.beam.length**2
        twist = rows(self.beam, POINTS, 1)[:, 2] @ self.eta / self.beam.length
        stiff = jnp.stack([self.beam.bending_y, self.beam.bending_z])
        return 0.5 * self.beam.length * WEIGHTS @ (curvature**2 @ stiff + self.beam.torsion * twist**2)


def frames(case: Case, x):
    """Place and rotation of every link frame, with its beam bent, from the coordinates."""
    found, start = {}, 0
    modes = len(x) - sum(link.beam.count for link in case.links if link.beam is not None)
    for link in case.links:
        own = x[start : start + own_size(case, link)]
        start += own_size(case, link)
        if link.parent is None:
            place, rotation = jnp.zeros(3), jnp.asarray(case.origin.as_matrix())
            if case.base == "free":
                place, rotation = rotation @ own[:3], rotation @ rodrigues(own[3:])
            elif case.base == "planar":
                place = rotation @ jnp.array([own[0], own[1], 0.0])
                rotation = rotation @ rodrigues(jnp.array([0.0, 0.0, 1.0]) * own[2])
        else:
            place, rotation, parent = found[link.parent]
            if link.at is not None:
                place = place + rotation @ parent.place(link.at)
                rotation = rotation @ rodrigues(parent.turn(link.at))
            place = place + rotation @ jnp.asarray(link.mount)
            rotation = rotation @ link.mount_turn
            axis = jnp.asarray(link.axis) / jnp.linalg.norm(jnp.asarray(link.axis))
            if link.joint == "revolute":
                rotation = rotation @ rodrigues(axis * own[0])
            elif link.joint == "prismatic":
                place = place + rotation @ axis * own[0]
            elif link.joint == "spherical":
                rotation = rotation @ rodrigues(own)
        bent = None
        if link.beam is not None:
            bent = Bent(link.beam, x[modes : modes + link.beam.count])
            modes += link.beam.count
        found[link.name] = place, rotation, bent
    return found


def angular_velocity(rotation, rotating):
    """In body axes, from a rotation matrix and its rate."""
    own = rotation.T @ rotating
    return jnp.stack([own[2, 1], own[0, 2], own[1, 0]])


def velocities(case: Case, x, rates):
    """The library's velocities: base twist in base axes, joints' rates, those of balls in body axes, modes."""
    found, start = [], 0
    base = case.links[0].name
    (_, rotation), (moving, rotating) = jax.jvp(lambda x: frames(case, x)[base][:2], (x,), (rates,))
    twist = jnp.concatenate([rotation.T @ moving, angular_velocity(rotation, rotating)])
    for link in case.links:
        part = slice(start, start + own_size(case, link))
        start = part.stop
        if link.parent is None:
            own = twist if case.base == "free" else twist[jnp.array([0, 1, 5])] if case.base == "planar" else twist[:0]
        elif link.joint == "spherical":
            own = angular_velocity(*jax.jvp(rodrigues, (x[part],), (rates[part],)))
        else:
            own = rates[part]
        found.append(own)
    return jnp.concatenate([*found, rates[start:]])


def energy(case: Case, x, rates):
    """Kinetic energy (J) of rigid bodies and of the points of beams.

    A section turns about the link's x axis only, at the link's angular velocity about it plus the rate of twist: what
    bending makes of that axis is left out, as it is in the library.
    """

    def seen(x):
        found, centres, points, twists = frames(case, x), [], [], []
        for link in case.links:
            place, rotation, bent = found[link.name]
            centres.append(place + rotation @ jnp.asarray(link.centre))
            if bent is not None:
                points.append(place + bent.place(POINTS) @ rotation.T)
                twists.append(rows(link.beam, POINTS, 0)[:, 2] @ bent.eta)
        return [found[link.name][1] for link in case.links], centres, points, twists

    now, (rotating, moving, flowing, twisting) = jax.jvp(seen, (x,), (rates,))
    total, flexible = 0.0, 0
    for index, link in enumerate(case.links):
        omega = angular_velocity(now[0][index], rotating[index])
        total += 0.5 * link.mass * moving[index] @ moving[index] + 0.5 * omega @ jnp.asarray(link.inertia) @ omega
        if link.beam is not None:
            squares = jnp.sum(flowing[flexible] ** 2, axis=1)
            spin = link.beam.polar_inertia * link.beam.length * (omega[0] + twisting[flexible]) ** 2
            total += 0.5 * WEIGHTS @ (link.beam.mass * squares + spin)
            flexible += 1
    return total


def potential(case: Case, x):
    """Of beams and joint springs (J)."""
    total, start = 0.0, 0
    found = frames(case, x)
    for link in case.links:
        own = x[start : start + own_size(case, link)]
        start += own_size(case, link)
        if link.parent is not None and link.joint in ("revolute", "prismatic"):
            total += 0.5 * link.stiffness * (own[0] - link.rest) ** 2
        if link.beam is not None:
            total += found[link.name][2].energy()
    return total


def lagrange(case: Case, x, rates):
    """Velocities of the library, and in them mass matrix and bias; potential and kinetic energy. Undamped."""

    def function(x, rates):
        stored, kinetic = potential(case, x), energy(case, x, rates)
        return kinetic - stored, (stored, kinetic)

    def slopes(x, rates):
        return jax.grad(function, argnums=(0, 1), has_aux=True)(x, rates)

    count = len(x)
    along_x = jnp.zeros((count + 1, count)).at[count].set(rates)
    along_rates = jnp.eye(count + 1, count)
    (force, _), (_, changes), energies = jax.vmap(
        lambda dx, dr: jax.jvp(slopes, (x, rates), (dx, dr), has_aux=True), out_axes=(None, 0, None)
    )(along_x, along_rates)
    mass, bias = changes[:count], changes[count] - force
    inverse = jnp.linalg.inv(jax.jacfwd(lambda r: velocities(case, x, r))(rates))
    v, changing = jax.jvp(lambda x: velocities(case, x, rates), (x,), (rates,))
    here = inverse.T @ mass @ inverse
    return v, here, inverse.T @ bias - here @ changing, *energies
