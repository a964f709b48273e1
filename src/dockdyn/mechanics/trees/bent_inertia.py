"""Inertia of a flexible link in its mean axes, as its modes bend it: to second order in the modal coordinates.

About the centre of mass, in the mean axes, J(η) = J₀ + Σ J′ⱼ ηⱼ + Σ J″ᵢⱼ ηᵢ ηⱼ, and modal rates have the angular momentum
Σ Dⱼ η̇ⱼ, Dⱼ = Σ dᵢⱼ ηᵢ, beside that of the axes. So the link's kinetic energy has ½ ωᵀ J ω + ω·Σ Dⱼ η̇ⱼ: what in it is of third
order in η and η̇ is left out.

Units: SI: kg m², rad/s, N m; modal coordinates those of the caller.
Source: the kinetic energy of a beam that shortens as it bends, Kane, Ryan and Banerjee 1987, J. Guidance 10:139; Lagrange's
equations in quasi-coordinates, Meirovitch 1970, Methods of Analytical Dynamics, section 4.12.
"""

from __future__ import annotations

from typing import NamedTuple

from dockdyn.deferred import Array, Float, jnp
from dockdyn.mechanics.rigid_body import RigidBody
from dockdyn.mechanics.trees.partial_motion import Row
from dockdyn.mechanics.trees.screws import axial_vector, cross_matrix, cross_product
from dockdyn.mechanics.vector import Vector
from dockdyn.programs import trace_once
from dockdyn.trees import Module


class ShapeMoments(Module):
    """Sums over the masses m of a link, of their places r from its centre of mass, shapes φ and shortenings, link axes.

    A place moves by Σ φⱼ ηⱼ and by −½ Σ Hᵢⱼ ηᵢ ηⱼ along `along`.
    """

    along: Float[Array, "3"]  # unit vector
    shortening: Float[Array, "modes modes"]  # Σ m H, kg/m
    place_shift: Float[Array, "modes 3 3"]  # Σ m r φⱼᵀ, kg m
    place_shortening: Float[Array, "modes modes 3"]  # Σ m r H, kg
    shift_shift: Float[Array, "modes modes 3 3"]  # Σ m φᵢ φⱼᵀ, kg


class BentInertia(Module):
    """How the inertia of a link depends on its modal coordinates, and what angular momentum the rates of these have."""

    first: Float[Array, "modes 3 3"]  # J′, kg m
    second: Float[Array, "modes modes 3 3"]  # J″, kg
    spin: Float[Array, "modes modes 3"]  # d, kg

    @staticmethod
    def of(
        moments: ShapeMoments, body: RigidBody, shift: Float[Array, "modes 3"], turn: Float[Array, "modes 3"]
    ) -> BentInertia:
        """Return that of a link which at rest is the `body`, its mean axes moved by modes as `shift` and `turn` say.

        In the axes of the root, about the centre of mass, inertia is I₁ and I₂ and momentum C; the axes turn by ϑ = Σ turn η.
        """
        about, axes = cross_matrix(turn), body.inertia
        spread = moments.shift_shift - body.mass * shift[:, None, :, None] * shift[None, :, None, :]
        sagging = moments.place_shortening[..., :, None] * moments.along
        bent = _inertia_of(spread - sagging)
        rest = _inertia_of(2 * moments.place_shift)
        carried = rest[:, None] @ about[None] - about[None] @ rest[:, None]
        both = about[:, None] @ about[None]
        turned = 0.5 * (axes @ both + both @ axes) - about[:, None] @ axes @ about[None]
        second = bent + carried + turned
        momentum = axial_vector(spread) - cross_product(moments.place_shortening, moments.along)
        behind = jnp.einsum("iab,jb->ija", rest, turn) + 0.5 * cross_product(turn[:, None], turn[None]) @ axes.T
        return BentInertia(
            rest + axes @ about - about @ axes, 0.5 * (second + jnp.swapaxes(second, 0, 1)), momentum - behind
        )

    @trace_once
    def at(self, body: RigidBody, rate: Vector, coordinates: Row, rates: Row) -> Bent:
        """Return the inertia of a link, at rest the `body`, whose mean axes turn at `rate` (rad/s, these axes) and whose modal
        coordinates are those and have these rates."""
        omega, slopes = rate.array(), self.first + 2 * jnp.tensordot(coordinates, self.second, 1)
        inertia = body.inertia + 0.5 * jnp.tensordot(coordinates, self.first + slopes, 1)
        by_mode, swinging = (jnp.tensordot(one, self.spin, 1) for one in (coordinates, rates))
        spin = rates @ by_mode
        moment = jnp.tensordot(rates, slopes, 1) @ omega + rates @ swinging + cross_product(omega, spin)
        efforts = (swinging - jnp.tensordot(self.spin, rates, (1, 0))) @ omega - 0.5 * (slopes @ omega) @ omega
        return Bent(
            RigidBody(body.mass, inertia, body.inverse_inertia),
            Vector.of(by_mode.T),
            Vector.of(spin),
            Vector.of(moment),
            efforts,
        )


class Bent(NamedTuple):
    """The inertia of a link at an instant; vectors in its mean axes."""

    body: RigidBody  # with the present inertia, and the inverse of that at rest
    by_mode: Vector  # D: angular momentum about its centre of mass by the rate of each mode, in rows
    spin: Vector  # N m s, Σ D η̇
    moment: Vector  # N m that it needs beside that of a rigid body, where modes keep their rates
    efforts: Row  # that modes need where they and the mean axes keep their rates


def _inertia_of(moments: Float[Array, "*stack 3 3"]) -> Float[Array, "*stack 3 3"]:
    """Return the inertia, tr P − P, of second moments P = Σ m r rᵀ, of which the symmetric part counts."""
    both = 0.5 * (moments + jnp.swapaxes(moments, -1, -2))
    return jnp.trace(both, axis1=-2, axis2=-1)[..., None, None] * jnp.eye(3) - both
