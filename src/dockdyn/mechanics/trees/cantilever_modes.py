"""Modes of a link whose root is held: what they do to its momenta, and those of a uniform beam.

Units: SI: kg, m, rad/s, N m²; a modal coordinate is in m, of twist in rad, as its shape is scaled.
Source: Meirovitch 1967, Analytical Methods in Vibrations (Euler and Bernoulli's beam, shafts); participation of modes, Likins
1970, JPL Technical Report 32-1329.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dockdyn.deferred import Array, Float, jnp
from dockdyn.mechanics.rigid_body import RigidBody
from dockdyn.mechanics.trees.beam import Beam, ShapeIntegrals
from dockdyn.mechanics.trees.bent_inertia import BentInertia, ShapeMoments
from dockdyn.mechanics.trees.modal_frame import Shortening
from dockdyn.mechanics.trees.screws import cross_product
from dockdyn.trees import Module, field


class Deflection(NamedTuple):
    """How a place of a link moves with its modes, link axes."""

    place: Float[Array, "3"]  # m, from the link's centre of mass
    shift: Float[Array, "modes 3"]  # m per unit of modal coordinate
    turn: Float[Array, "modes 3"]  # rad per unit of modal coordinate
    shortening: Shortening | None = None  # of a beam


class CantileverModes(Module):
    """Modes of a link whose root is held; they are orthogonal to each other."""

    mass: Float[Array, "modes"]  # modal mass, kg, of twist kg m²
    frequency: Float[Array, "modes"]  # rad/s
    damping_ratio: Float[Array, "modes"]
    translation: Float[Array, "modes 3"]  # linear momentum per unit of modal rate: Σ m φ, link axes
    rotation: Float[Array, "modes 3"]  # angular momentum about the root per unit of modal rate: Σ m r × φ, link axes
    root: Float[Array, "3"]  # m, from the link's centre of mass at rest
    moments: ShapeMoments | None = None  # what of the shapes enters beyond first order; of a beam

    def mean_motion(self, body: RigidBody) -> Deflection:
        """Return how the centre of mass and the mean axes of the link, at rest the `body`, move: with them go all its
        momenta."""
        about_centre = self.rotation + cross_product(self.root, self.translation)
        turn = about_centre @ body.inverse_inertia.T
        moments = self.moments
        shortening = None if moments is None else Shortening(moments.along, moments.shortening / body.mass)
        return Deflection(jnp.zeros(3), self.translation / body.mass, turn, shortening)

    def bent_inertia(self, body: RigidBody) -> BentInertia | None:
        """Return how the link's inertia, at rest that of the `body`, changes with its modes; None where that is not known."""
        if self.moments is None:
            return None
        _, shift, turn, _ = self.mean_motion(body)
        return BentInertia.of(self.moments, body, shift, turn)

    def vibrating_mass(self, body: RigidBody) -> Float[Array, "modes modes"]:
        """Return what is left of the modal masses beside the mean motion; no link has modes for which it is not
        semidefinite."""
        _, shift, turn, _ = self.mean_motion(body)
        return jnp.diag(self.mass) - body.mass * shift @ shift.T - turn @ body.inertia @ turn.T

    def stiffness(self) -> Float[Array, "modes"]:
        """Return the modal stiffness: N/m, of twist N m."""
        return self.mass * self.frequency**2

    def damping(self) -> Float[Array, "modes"]:
        """Return the modal damping: N s/m, of twist N m s."""
        return 2 * self.damping_ratio * self.frequency * self.mass


class UniformBeam(Module):
    """A uniform beam that is held at its root, and its first modes: of bending along two directions, then of twist.

    Shapes are scaled to a deflection of 1 m, or a twist of 1 rad, of the tip. Sections keep their size and have no inertia
    against turning with the slope.
    """

    root: Float[Array, "3"]  # m, link axes, from the link's centre of mass
    along: Float[Array, "3"]  # link axes, from the root, of any length
    across: Float[Array, "3"]  # the first of the two directions of bending, and perhaps something of `along`
    length: Float[Array, ""]  # m
    mass: Float[Array, ""]  # kg
    bending: Float[Array, "2"]  # N m², EI against bending along each direction
    torsion: Float[Array, ""]  # N m², GJ
    polar_inertia: Float[Array, ""]  # kg m, about the beam's axis per length
    damping_ratio: Float[Array, ""] | Float[Array, "modes"]
    counts: tuple[int, int, int] = field(static=True)  # of modes

    def axes(self) -> Float[Array, "3 3"]:
        """Return the unit vectors, right-handed: along the beam, and the two directions of bending."""
        along = self.along / jnp.linalg.norm(self.along)
        across = self.across - along * (along @ self.across)
        across = across / jnp.linalg.norm(across)
        return jnp.stack([along, across, jnp.cross(along, across)])

    def modes(self) -> CantileverModes:
        """Return its modes."""
        axes, rates, ways = self.axes(), self._twist_rates(), self._ways()
        bent, bending = (
            self._integrals(),
            jnp.repeat(self.bending, np.array(self.counts[:2]), total_repeat_length=ways.shape[0]),
        )
        polar = self.polar_inertia * self.length
        about = (polar * self._twist_signs() / rates)[:, None] * axes[0]
        linear = self.mass * bent.shape[:, None] * ways
        angular = self.mass * self.length * bent.lever[:, None] * jnp.cross(axes[0], ways)
        mass = jnp.concatenate([self.mass * bent.product.diagonal(), jnp.full(rates.size, 0.5) * polar])
        stiffness = jnp.concatenate(
            [bending / self.length**3 * bent.curvature.diagonal(), 0.5 * self.torsion / self.length * rates**2]
        )
        return CantileverModes(
            mass=mass,
            frequency=jnp.sqrt(stiffness / mass),
            damping_ratio=jnp.full(mass.size, 1.0) * self.damping_ratio,
            translation=jnp.concatenate([linear, jnp.zeros((rates.size, 3))]),
            rotation=jnp.concatenate([angular, about]),
            root=self.root,
            moments=self._moments(),
        )

    def _moments(self) -> ShapeMoments:
        """Return sums over its masses that its bending enters; twist moves no centre of a section."""
        along, twist, bent = self.axes()[0], (0, self.counts[2]), self._integrals()
        ways = jnp.pad(self._ways(), (twist, (0, 0)))
        whole = ShapeIntegrals(*(np.pad(one, [twist] * one.ndim) for one in bent))
        bow, far = self.mass / self.length * whole.shortening, self.mass * whole.shortening_lever
        heavy = whole.shape[:, None] * self.root + whole.lever[:, None] * (self.length * along)
        return ShapeMoments(
            along=along,
            shortening=bow,
            place_shift=self.mass * heavy[:, :, None] * ways[:, None, :],
            place_shortening=bow[..., None] * self.root + far[..., None] * along,
            shift_shift=self.mass * whole.product[..., None, None] * ways[:, None, :, None] * ways[None, :, None, :],
        )

    def _integrals(self) -> ShapeIntegrals:
        """Return those of its shapes of bending, of both directions; what shortens is bending in one and the same."""
        first, second, _ = self.counts
        plane = ShapeIntegrals.of("cantilever", max(first, second))
        index, way = np.array([*range(first), *range(second)], int), np.arange(first + second) < first
        found = ShapeIntegrals(*(one[np.ix_(*[index] * one.ndim)] for one in plane))
        both = way[:, None] == way
        return found._replace(shortening=found.shortening * both, shortening_lever=found.shortening_lever * both)

    def _ways(self) -> Float[Array, "bending 3"]:
        """Return the unit vector along which each shape of bending moves the beam."""
        first, second, _ = self.counts
        return self.axes()[np.array([1] * first + [2] * second, int)]

    def deflection(self, place: Float[Array, "3"]) -> Deflection:
        """Return how the section moves that is next to a `place` (m, link axes, from the centre of mass)."""
        axes = self.axes()
        share = jnp.clip((place - self.root) @ axes[0] / self.length, 0.0, 1.0)
        shapes, rates = self._beam().shapes(share), self._twist_rates()
        twist = (self._twist_signs() * jnp.sin(rates * share))[:, None] * jnp.eye(3)[0]
        return Deflection(
            place=self.root + axes[0] * self.length * share,
            shift=jnp.concatenate([shapes.shift.T, jnp.zeros((rates.size, 3))]) @ axes,
            turn=jnp.concatenate([shapes.turn.T, twist]) @ axes,
            shortening=Shortening(axes[0], jnp.pad(shapes.shortening, ((0, rates.size), (0, rates.size)))),
        )

    def _beam(self) -> Beam:
        """Return its bending, in its own axes."""
        nothing, (first, second, _) = jnp.zeros(()), self.counts
        return Beam(
            length=self.length,
            mass=self.mass,
            bending_y=self.bending[0],
            bending_z=self.bending[1],
            torsion=nothing,
            polar_inertia=nothing,
            damping=nothing,
            modes=(first, second, 0),
            basis="cantilever",
            stiffening=True,
        )

    def _twist_rates(self) -> Float[np.ndarray, "twist"]:
        """Return κ of the shapes sin κ ξ of a shaft that is held at one end."""
        return (np.arange(self.counts[2]) + 0.5) * np.pi

    def _twist_signs(self) -> Float[np.ndarray, "twist"]:
        """Return their signs, by which the tip turns by 1 rad."""
        return (-1.0) ** np.arange(self.counts[2])
