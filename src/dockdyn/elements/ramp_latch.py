"""A spring latch in the throat of a cone: a probe's tip pushes it aside on a ramp, and it falls in behind the tip and holds it.

Units: lengths m, speeds m/s, rates rad/s, forces N, moments N m, energies J.
Source: Paraskevas et al., section 4 (the ramp); Kelvin–Voigt element or a connection (the hold); own construction.
"""

from __future__ import annotations

from typing import ClassVar, Literal

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from dockdyn.contact.catch import Catch
from dockdyn.contact.latch import HELD, ON_RAMP, SWUNG, Caught, Ramp
from dockdyn.contact.surfaces.cone import Cone
from dockdyn.contact.surfaces.surface import cylindrical
from dockdyn.elements.force_element import Action, ElementMemory, ForceElement
from dockdyn.mechanics.rigid_body import Placed
from dockdyn.mechanics.rotation import Quaternion
from dockdyn.mechanics.vector import Scalar, Vector, once


class RampLatch(ForceElement):
    """The tip of the first body is caught in the cone of the other once it has come to the end of the ramp.

    The ramp's force is late, as those of contacts are; what holds the tip acts at once. That is a compliant `catch` at the
    place where the tip was caught, or without one a connection, which closes with it as that of a rigid latch.
    """

    delays: ClassVar = True

    striker: Float[Array, "3"]  # m, the tip, axes of the first body
    cone: Cone
    ramp: Ramp
    entry: Float[Array, ""]  # m, from the apex along the docking axis: where the ramp meets the latch
    catch: Catch | None  # None: a rigid hold
    swing: Float[Array, ""]  # s, within which every mode of the bodies in the catch has swung once
    hold: Literal["pin", "weld"] = eqx.field(static=True)  # what keeps a caught tip: its place alone, or attitude too
    ends_run: bool = eqx.field(static=True, default=False)

    @property
    def rigid(self) -> bool:
        """Whether a connection holds the tip."""
        return self.catch is None

    def init(self, own: Placed, other: Placed) -> ElementMemory:
        zero = jnp.zeros(())
        begun = ElementMemory(dissipated=zero, held=zero, found=Caught.nothing())
        if self.catch is None:
            return begun
        return begun._replace(
            caught=Vector.zero(),
            turned=None if self.catch.turning is None else Quaternion.level(),
            since=jnp.zeros(()),
        )

    def settle(self, memory: ElementMemory, own: Placed, other: Placed) -> tuple[Int[Array, ""], ElementMemory]:
        assert memory.held is not None
        begun = self.ramp.first_mode(jnp.minimum(*self.travel(own, other)))
        return jnp.where(memory.held > 0, HELD, begun).astype(int), memory

    def tip(self, own: Placed) -> Vector:
        """Return where the latch acts on both bodies (m, inertial)."""
        return own.point(Vector.of(self.striker))

    def axis(self, other: Placed) -> Vector:
        """Return the docking axis, out of the cone (inertial)."""
        return other.rotation @ Vector.of(self.cone.axis)

    def travel(self, own: Placed, other: Placed) -> tuple[Scalar, Scalar]:
        """Travel (m) of the tip along the axis from where the ramp begins, and how far (m) it is inside the throat there."""
        along, radius = cylindrical(other.local(self.tip(own)), Vector.of(self.cone.apex), Vector.of(self.cone.axis))
        return self.entry - along, self.entry * self.cone.sine / self.cone.cosine - radius

    def rate(self, own: Placed, other: Placed) -> Scalar:
        """Return the rate of the travel (m/s)."""
        return -self.slip(own, other)[0].dot(self.axis(other))

    def late(self, mode: Int[Array, ""], own: Placed, other: Placed) -> Vector:
        travel, _ = self.travel(own, other)
        size = jnp.where(mode == ON_RAMP, self.ramp.force(travel, self.rate(own, other)), 0.0)
        return self.axis(other) * size

    def emits(self, mode: Int[Array, ""]) -> Bool[Array, ""]:
        return mode == ON_RAMP

    def ended(self, mode: Int[Array, ""], memory: ElementMemory) -> Bool[Array, ""]:
        return mode == (HELD if self.rigid else SWUNG)

    def slip(self, own: Placed, other: Placed) -> tuple[Vector, ...]:
        """Return what a caught tip must not do: move (m/s), in a weld turn (rad/s), against the cone's body; inertial axes."""
        point = self.tip(own)
        moving = own.velocity(point) - other.velocity(point)
        return (moving,) if self.hold == "pin" else (moving, own.rate - other.rate)

    def act(
        self, mode: Int[Array, ""], memory: ElementMemory, own: Placed, other: Placed
    ) -> tuple[Action, ElementMemory]:
        still = jax.tree.map(jnp.zeros_like, memory)
        point = once(self.tip(own))
        if self.catch is None:
            return Action(Vector.zero(), Vector.zero(), point), still
        catch, held = self.catch, mode >= HELD

        def load() -> tuple[Vector, Vector, Scalar]:
            slip = self.slip(own, other)
            found = catch.load(self.stretch(memory, own, other), slip)
            return found[0], found[1] if len(found) == 2 else Vector.zero(), catch.dissipated(slip)

        nothing = (Vector.zero(), Vector.zero(), jnp.zeros(()))
        force, moment, power = once(jax.lax.cond(held, load, lambda: nothing))
        since = jnp.where(held, 1.0, 0.0)
        return Action(force, moment, point), still._replace(dissipated=power, since=since)

    def stretch(self, memory: ElementMemory, own: Placed, other: Placed) -> tuple[Vector, ...]:
        """How far the tip is from its seat (m), and in a weld how far its body has turned (rotation vector, rad); inertial."""
        assert memory.caught is not None
        moved = self.tip(own) - other.point(memory.caught)
        if memory.turned is None:
            return (moved,)
        turned = own.pose.attitude * (other.pose.attitude * memory.turned).conjugate()
        return moved, turned.logarithm()

    def guards(self, mode: Int[Array, ""], memory: ElementMemory, own: Placed, other: Placed) -> tuple[Scalar, ...]:
        """Two event functions: into the throat or out of it, once it holds the end of the first swing; past the ramp's end."""
        travel, inside = self.travel(own, other)
        across, past = self.ramp.guards(mode, jnp.minimum(travel, inside), travel)
        across = jnp.where(mode >= HELD, -1.0, across)
        if self.ends_run and memory.since is not None:
            across = jnp.where(mode == HELD, memory.since - self.swing, across)
        return across, past

    def jump(
        self,
        mode: Int[Array, ""],
        fired: tuple[Bool[Array, ""], ...],
        memory: ElementMemory,
        own: Placed,
        other: Placed,
    ) -> tuple[Int[Array, ""], ElementMemory]:
        assert memory.held is not None
        after = self.ramp.next_mode(mode, (fired[0], fired[1]))
        after = jnp.where(mode >= HELD, jnp.where((mode == HELD) & fired[0], SWUNG, mode), after).astype(mode.dtype)
        falls = (after == HELD) & (mode < HELD)
        memory = memory._replace(held=jnp.where(falls, 1.0, memory.held))
        if memory.caught is None:
            return after, memory
        seat: tuple[Vector, Quaternion | None] = (
            other.local(self.tip(own)),
            None if memory.turned is None else other.pose.attitude.conjugate() * own.pose.attitude,
        )
        caught, turned = jax.tree.map(lambda new, old: jnp.where(falls, new, old), seat, (memory.caught, memory.turned))
        return after, memory._replace(caught=caught, turned=turned)

    def stored_energy(self, mode: Int[Array, ""], memory: ElementMemory, own: Placed, other: Placed) -> Scalar:
        if self.catch is None:
            return jnp.zeros(())
        return jnp.where(mode >= HELD, self.catch.stored(self.stretch(memory, own, other)), 0.0)

    def sizes(self, mode: Int[Array, ""], memory: ElementMemory, own: Placed, other: Placed) -> tuple[Scalar, ...]:
        """Of a compliant catch the size of its force (N), of the way it has yielded (m), and in a weld of its moment (N m)."""
        if self.catch is None:
            return ()
        action, _ = self.act(mode, memory, own, other)
        yielded = jnp.where(mode >= HELD, size(self.stretch(memory, own, other)[0]), 0.0)
        sizes = (size(action.force), yielded)
        return sizes if self.catch.turning is None else (*sizes, size(action.moment))

    def observe(self, mode: Int[Array, ""], memory: ElementMemory, own: Placed, other: Placed) -> dict[str, Array]:
        """Whether it `held` (1 or 0), and the `tension` (N) of its catch; more is in `observe_capture`."""
        assert memory.held is not None
        return {"held": memory.held, "tension": size(self.act(mode, memory, own, other)[0].force)}

    def observe_capture(
        self, mode: Int[Array, ""], memory: ElementMemory, own: Placed, other: Placed, mass: Scalar
    ) -> dict[str, Array]:
        """Return what results of a capture show: travel, rate, force and mode, the speed it takes, what it did when it caught.

        `mass` (kg) is what the bodies oppose to a force along the docking axis at the tip.
        """
        assert memory.found is not None
        found = {
            "latch_travel": self.travel(own, other)[0],
            "latch_rate": self.rate(own, other),
            "latch_force": self.late(mode, own, other).array(),
            "latch_mode": mode,
            "latch_needed_speed": self.ramp.needed_speed(mass),
            "catch_taken": memory.found.loss,
            **{f"capture_{name}": value for name, value in memory.found._asdict().items()},
        }
        if self.catch is None:
            return found
        action, _ = self.act(mode, memory, own, other)
        stored = self.stored_energy(mode, memory, own, other)
        assert memory.dissipated is not None
        return found | {
            "catch_travel": jnp.where(mode >= HELD, size(self.stretch(memory, own, other)[0]), 0.0),
            "catch_moment": action.moment.array(),
            "catch_stored": stored,
            "catch_dissipated": memory.dissipated,
            "catch_taken": stored + memory.dissipated,
            "catch_stroke": self.catch.stroke,
            "catch_swing": self.swing,
        }


def size(vector: Vector) -> Scalar:
    """Return the length of a vector; its derivative at zero is zero."""
    squared = vector.dot(vector)
    # no choice by the sign: kernels that each compute it may round it to either side of zero
    return squared / jnp.sqrt(jnp.maximum(squared, 1e-300))


def first_swing(catch: Catch, masses: tuple[Scalar, Scalar], about_tip: tuple[Scalar, Scalar]) -> Scalar:
    """Return the time (s) within which every mode of two free bodies in a catch has swung once to one side and back.

    Half the period at which the slowest could swing, π √(m/k + J/kᵩ): m the reduced mass, J the lesser of the bodies'
    largest moments of inertia `about_tip` (kg m²; by Frobenius norm, at least the largest).
    """
    longest = masses[0] * masses[1] / (masses[0] + masses[1]) / catch.stiffness
    if catch.turning is not None:
        longest += jnp.minimum(*about_tip) / catch.turning[0]
    return jnp.pi * jnp.sqrt(longest)
