"""What a normal-force law is.

Units: depth m, rate m/s, force N.
Source: definition of the interface.
"""

from __future__ import annotations

import abc

import numpy as np

from dockdyn.deferred import Array, Bool, Float, PyTree, jax, jnp
from dockdyn.mechanics.vector import Scalar, Vector
from dockdyn.trees import Module, map_leaves

NODES, WEIGHTS = np.polynomial.legendre.leggauss(24)  # from −1 to 1


class NormalLaw(Module):
    """Force along the normal as a function of penetration depth and rate.

    A law of your own is a subclass with `force`, parameters as fields. `force` must be smooth through zero depth (it
    is asked slightly outside contact when onset and release are located). A law that pulls is cut off at zero unless it
    `adheres`.
    """

    @abc.abstractmethod
    def force(self, depth: Scalar, rate: Scalar) -> Scalar:
        """Return the normal force (N, positive pushes apart) at `depth` (m) and penetration `rate` (m/s, positive going in)."""

    def force_sign(self, depth: Scalar, rate: Scalar) -> Scalar:
        """Return a number with the sign of the force inside contact (any unit); by default the force itself.

        Its roots say where a force that does not adhere ends. A law whose force fades at zero depth faster than
        linearly gives a factor that does not, since a flat root cannot be located.
        """
        return self.force(depth, rate)

    def stored_energy(self, depth: Scalar) -> Scalar:
        """Return the energy (J) that is stored at a `depth` (m) of at least zero: the work of the force at rest, from zero.

        By Gauss over the root of the depth, in which the powers of laws that begin as d^n are of twice the order. What the
        force is more at a rate is lost. A law whose force at rest depends on what was says for itself what it gives back.
        """
        share = (1 + NODES) / 2
        forces = jax.vmap(lambda part: self.force(depth * part**2, jnp.zeros(())))(jnp.asarray(share))
        return depth * jnp.sum(WEIGHTS * share * forces)

    def adheres(self) -> bool:
        """Return whether the force may pull until the depth is zero."""
        return False

    def acts_from(self) -> Scalar | float:
        """Return the least depth (m) at which it acts on what has touched: zero, or below that of one that holds on."""
        return 0.0

    def lossless(self) -> bool:
        """Return whether the force depends on depth alone, so that a contact gives back all the energy it took.

        The results of a run then have the error of its energy. Asked of numbers, never while JAX traces.
        """
        return False

    def passive(self) -> bool:
        """Return whether it never gives more energy than it took, as where a damper acts beside a force that depends on depth
        alone.

        Asked of numbers, never while JAX traces.
        """
        return self.lossless()

    def first_memory(self) -> PyTree:
        """Return what a law remembers whose force depends on what was, before it was touched: numbers, in any tree; None of one
        that remembers nothing. Its force is that of the law `after` what it remembers."""
        return None

    def remembers(self) -> bool:
        """Return whether the force depends on what was."""
        return self.first_memory() is not None

    def after(self, memory: PyTree) -> NormalLaw:
        """Return the law of a contact with this memory."""
        return self

    def memory_rate(self, memory: PyTree, depth: Scalar, apart: Bool[Array, ""]) -> PyTree:
        """Return the rate (1/s) of what it remembers at a `depth` (m), or while the bodies are `apart`; zero by default."""
        return map_leaves(jnp.zeros_like, memory)

    def carried_rate(self, memory: PyTree, depth: Scalar) -> PyTree:
        """Return the rate (1/s) of what it remembers at a `depth` (m) while a rigid grip carries what it would do; by default
        that of what presses. Nothing that moves depends on it then, so steps may be long."""
        return self.memory_rate(memory, depth, jnp.asarray(False))

    def renewed(self, memory: PyTree, depth: Scalar) -> PyTree:
        """Return what it remembers once a step has ended at a `depth` (m)."""
        return memory

    def memory_within(self, start: PyTree, now: PyTree) -> PyTree:
        """Return what it remembers within a step that began with `start`, where `now` follows the rates: by default that."""
        return start

    def asks_for_steps(self) -> bool:
        """Return whether what it remembers is decided as steps end, however long they are: not where rates say all of it, or
        where what decides is an event, as a depth that turns is."""
        return self.remembers()

    def parts_steeply(self) -> bool:
        """Return whether its force changes ever faster, all but without bound, towards the depth at which bodies part."""
        return False

    def corners(self) -> Float[Array, "corners"] | None:
        """Return the depths (m) at which its force, or how that bends, has corners: there a step ends. None without any."""
        return None

    def turns(self) -> bool:
        """Return whether its force has a corner where the depth turns: then a step ends there."""
        return False

    def at_rest(self, depth: Scalar) -> NormalLaw:
        """Return the law of small motions about a `depth` (m) at which a contact rests; what it remembers first is that of
        rest."""
        return self

    def along(self, normal: Vector) -> NormalLaw:
        """Return the law for contact along `normal` (out of the surface, axes of the body with the feature)."""
        return self


def signed_power(depth: Scalar, exponent: Scalar) -> Scalar:
    """Return |depth|^exponent with the sign of depth; value and slope are zero at zero depth for exponents above 1."""
    touching = jnp.abs(depth) > 0
    size = jnp.where(touching, jnp.abs(depth), 1.0)
    return jnp.where(touching, jnp.sign(depth) * size**exponent, jnp.where(exponent == 1, depth, 0.0))


def work_of_power(depth: Scalar, exponent: Scalar) -> Scalar:
    """Return the integral of depth^exponent from zero to a `depth` of at least zero."""
    return depth * signed_power(depth, exponent) / (exponent + 1)
