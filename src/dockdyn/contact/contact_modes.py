"""When a contact presses: its modes, the events that change them, and the force in each.

Units: depth m, rate m/s, force N.
Source: unilateral contact, the clamp that Sazawal et al. leave open; own construction.
"""

from __future__ import annotations

from typing import Protocol

from dockdyn.contact.laws.normal_law import NormalLaw
from dockdyn.deferred import Array, Bool, Int, jnp
from dockdyn.mechanics.vector import Scalar
from dockdyn.trees import AbstractVar, Module

APART, PRESSING, SLACK = 0, 1, 2  # contact modes that are stored: no overlap; overlap under force; overlap, force ended
GATED = 3  # contact mode of fixed-step runs: decided anew from depth and force at every instant
CARRIED = 4  # contact mode that is never stored: a rigid grip carries what presses, and memory follows the depth


class Pressed(Protocol):
    """What the gate needs to know of a contact at an instant."""

    @property
    def depth(self) -> Scalar: ...  # m
    @property
    def raw_force(self) -> Scalar: ...  # N, what the law says without gate or clamp
    @property
    def force_sign(self) -> Scalar: ...  # a number with the sign of that force


def gated_force(law: NormalLaw, depth: Scalar, raw_force: Scalar) -> Scalar:
    """Return the normal force (N) as the state itself says: only where the law acts, and never a pull unless it adheres."""
    return jnp.where(depth > law.acts_from(), raw_force if law.adheres() else jnp.maximum(raw_force, 0.0), 0.0)


def force_in_mode(law: NormalLaw, mode: Int[Array, ""], depth: Scalar, raw_force: Scalar) -> Scalar:
    """Return the normal force (N, ≥ 0 unless the law adheres) in the stored `mode`, or gated by the state itself."""
    inside = gated_force(law, depth, raw_force)
    return jnp.where(mode == PRESSING, raw_force, jnp.where(mode == GATED, inside, 0.0))


def force_guard(mode: Int[Array, ""], force_sign: Scalar) -> Scalar:
    """Return an event function that rises through zero where the force of a law that does not adhere ends, or returns."""
    return jnp.where(mode == APART, -1.0, jnp.where(mode == SLACK, force_sign, -force_sign))


class UnilateralContact(Module):
    """A contact whose law acts inside, and, unless it adheres, only while it presses."""

    law: AbstractVar[NormalLaw]

    def normal_force(self, mode: Int[Array, ""], touch: Pressed) -> Scalar:
        """Return the normal force (N, ≥ 0 unless the law adheres) in the stored `mode`, or gated by the state itself."""
        return force_in_mode(self.law, mode, touch.depth, touch.raw_force)

    def guards(self, mode: Int[Array, ""], touch: Pressed) -> tuple[Scalar, Scalar]:
        """Return two event functions that rise through zero: onset or release (m), and force ending or returning."""
        across = jnp.where(mode == APART, touch.depth, -touch.depth)
        if self.law.adheres():
            return across, jnp.asarray(-1.0)
        return across, force_guard(mode, touch.force_sign)

    def next_mode(
        self, mode: Int[Array, ""], fired: tuple[Bool[Array, ""], Bool[Array, ""]], onset: Pressed
    ) -> Int[Array, ""]:
        """Return the mode after the guards in `fired` have fired.

        `onset` is the contact as it is now, but at a depth of exactly zero: what is left of the depth where an onset was
        located is rounding, and its sign must not say whether the force pulls.
        """
        pulls = jnp.asarray(False) if self.law.adheres() else onset.force_sign < 0
        entered = jnp.where(pulls, SLACK, PRESSING)
        crossed = jnp.where(mode == APART, entered, APART)
        switched = jnp.where(mode == PRESSING, SLACK, PRESSING)
        return jnp.where(fired[0], crossed, jnp.where(fired[1], switched, mode)).astype(mode.dtype)

    def first_mode(self, touch: Pressed) -> Int[Array, ""]:
        """Return the stored mode that fits the state itself, at the start of a run."""
        pulls = jnp.asarray(False) if self.law.adheres() else touch.force_sign < 0
        return jnp.where(touch.depth > 0, jnp.where(pulls, SLACK, PRESSING), APART)
