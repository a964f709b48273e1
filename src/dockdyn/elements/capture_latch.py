"""A capture latch: it catches a striker near its seat, holds it by a spring and damper with play, may draw it in, and lets go.

Units: lengths m, forces N, energies J, powers W.
Source: Kelvin–Voigt element beyond a play; own construction.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from dockdyn.elements.force_element import Action, ElementMemory, ForceElement
from dockdyn.mechanics.rigid_body import Placed
from dockdyn.mechanics.vector import Scalar, Vector, once

OPEN, LOOSE, TAUT = 0, 1, 2  # modes: nothing caught; caught, within the play; caught, beyond it
AT_THE_END = 1e-6  # of the play: how near to its end counts as there
TINY = 1e-30  # m², of the square of a way: no direction


class LatchMode(NamedTuple):
    """The modes of a latch that draws its striker in."""

    hold: Int[Array, ""]
    draws: Int[Array, ""]  # 1 while the motor runs, else 0


class _Way(NamedTuple):
    """How a caught striker is away from where it was caught."""

    length: Scalar  # m
    apart: Vector  # m, from where it was caught, inertial
    velocity: Vector  # m/s, of it, inertial
    striker: Vector  # m, inertial


Mode = Int[Array, ""] | LatchMode


class CaptureLatch(ForceElement):
    """The striker of the first body is caught once it is within `lateral` of the seat's axis, and no farther out along it than
    `reach` beyond the seat; how far inwards does not count. Then a spring and damper hold it, beyond the play, at the place
    where it was caught, as seen from the other body, for as long as it is `closed`: once it is not, it lets go and catches
    nothing.

    With a `speed` a motor draws that place along the axis until it is as deep as the seat, whatever the load. The damper takes
    the rate of the way, without the motor's speed.
    """

    striker: Float[Array, "3"]  # m, axes of the first body
    seat: Float[Array, "3"]  # m, axes of the other body
    axis: Float[Array, "3"]  # unit vector out of the seat, axes of the other body
    reach: Float[Array, ""]  # m, out of the seat along the axis
    lateral: Float[Array, ""]  # m, from the axis
    stiffness: Float[Array, ""]  # N/m
    damping: Float[Array, ""]  # N s/m
    play: Float[Array, ""]  # m
    speed: Float[Array, ""] | None = None  # m/s, with which the motor draws in
    closed: Float[Array, ""] | float = 1.0  # 0: it lets go

    def init(self, own: Placed, other: Placed) -> ElementMemory:
        begun = ElementMemory(dissipated=jnp.zeros(()), caught=Vector.zero(), held=jnp.zeros(()))
        return begun if self.speed is None else begun._replace(travel=jnp.zeros(()), work=jnp.zeros(()))

    def settle(self, memory: ElementMemory, own: Placed, other: Placed) -> tuple[Mode, ElementMemory]:
        """A latch that holds goes on holding while it is closed; one that is open catches a striker that is there already."""
        assert memory.held is not None
        memory = memory._replace(held=jnp.where(self.closed > 0, memory.held, 0.0))
        near = nearness(self, own, other) > 0
        falls = (memory.held == 0) & near & (self.closed > 0)
        memory = self._caught(falls, memory, own, other)
        hold = jnp.where((memory.held == 0), OPEN, self._entered(memory, own, other)).astype(int)
        return hold if self.speed is None else LatchMode(hold, self._draws(hold, memory)), memory

    def act(self, mode: Mode, memory: ElementMemory, own: Placed, other: Placed) -> tuple[Action, ElementMemory]:
        way = self._way(memory, own, other)
        force, power = self._load(mode, way, other)
        rate = ElementMemory(dissipated=power, caught=Vector.zero(), held=jnp.zeros(()))
        if isinstance(mode, LatchMode):
            rate = rate._replace(travel=self._motor_speed(mode), work=force.dot(self._drawn(mode, other)))
        return Action(force, Vector.zero(), way.striker), rate

    def guards(self, mode: Mode, memory: ElementMemory, own: Placed, other: Placed) -> tuple[Scalar, ...]:
        hold, beyond = _hold(mode), self._way(memory, own, other).length - self.play
        slack = jnp.where(self.play > 0, -beyond, -1.0)  # without play it is never loose
        near = jnp.where(self.closed > 0, nearness(self, own, other), -1.0)
        holds = jnp.where(hold == OPEN, near, jnp.where(hold == LOOSE, beyond, slack))
        if not isinstance(mode, LatchMode):
            return (holds,)
        return holds, jnp.where(mode.draws == 1, -self._still_to_draw(memory), -1.0)

    def jump(
        self,
        mode: Mode,
        fired: tuple[Bool[Array, ""], ...],
        memory: ElementMemory,
        own: Placed,
        other: Placed,
    ) -> tuple[Mode, ElementMemory]:
        changes, hold = fired[0], _hold(mode)
        falls = changes & (hold == OPEN)
        memory = self._caught(falls, memory, own, other)
        other_mode = jnp.where(hold == LOOSE, TAUT, LOOSE)
        after = jnp.where(hold == OPEN, self._entered(memory, own, other), other_mode)
        after = jnp.where(changes, after, hold).astype(hold.dtype)
        if not isinstance(mode, LatchMode):
            return after, memory
        draws = jnp.where(fired[1], 0, jnp.where(falls, self._draws(after, memory), mode.draws))
        return LatchMode(after, draws.astype(mode.draws.dtype)), memory

    def stored_energy(self, mode: Mode, memory: ElementMemory, own: Placed, other: Placed) -> Scalar:
        beyond = self._way(memory, own, other).length - self.play
        return jnp.where(_hold(mode) == TAUT, 0.5 * self.stiffness * beyond**2, 0.0)

    def observe(self, mode: Mode, memory: ElementMemory, own: Placed, other: Placed) -> dict[str, Array]:
        """Whether it `held` (1 or 0), the `length` (m) by which the striker is away, whether that is `at_end` of the play (1
        or 0), and the `tension` (N) that holds it.

        Of an open one also the `gap` (m) from the striker to the space in which it is caught, along the seat's axis, and the
        speed `closing` it (m/s); zeros once it holds.
        """
        way = self._way(memory, own, other)
        force, _ = self._load(mode, way, other)
        held, is_open = (_hold(mode) != OPEN) * 1.0, (_hold(mode) == OPEN) * 1.0
        gap = (self._seen(own, other) - Vector.of(self.seat)).dot(Vector.of(self.axis)) - self.reach
        closing = -(other.rotation @ Vector.of(self.axis)).dot(way.velocity)
        at_end = (self.play > 0) & (jnp.abs(held * way.length - self.play) <= AT_THE_END * self.play)
        return {
            "held": held,
            "at_end": at_end * 1.0,
            "length": held * way.length,
            "tension": jnp.sqrt(force.dot(force)),
            "gap": is_open * gap,
            "closing": is_open * closing,
        }

    def _entered(self, memory: ElementMemory, own: Placed, other: Placed) -> Int[Array, ""]:
        """The mode of a latch that holds."""
        return jnp.where(self._way(memory, own, other).length < self.play, LOOSE, TAUT)

    def _caught(self, falls: Bool[Array, ""], memory: ElementMemory, own: Placed, other: Placed) -> ElementMemory:
        """The memory once a striker has been caught, where it `falls` in."""
        assert memory.caught is not None and memory.held is not None
        seen = self._seen(own, other)
        caught = jax.tree.map(lambda new, old: jnp.where(falls, new, old), seen, memory.caught)
        travel = None if memory.travel is None else jnp.where(falls, 0.0, memory.travel)
        return memory._replace(caught=caught, held=jnp.where(falls, 1.0, memory.held), travel=travel)

    def _seen(self, own: Placed, other: Placed) -> Vector:
        """Where the striker is (m, axes of the other body)."""
        return other.local(own.point(Vector.of(self.striker)))

    def _way(self, memory: ElementMemory, own: Placed, other: Placed) -> _Way:
        assert memory.caught is not None
        kept = memory.caught
        if memory.travel is not None:
            kept = kept - Vector.of(self.axis) * memory.travel
        striker, hold = once((own.point(Vector.of(self.striker)), other.point(kept)))
        apart, velocity = striker - hold, own.velocity(striker) - other.velocity(striker)
        squared = apart.dot(apart)
        away = squared > TINY
        length = jnp.where(away, jnp.sqrt(jnp.where(away, squared, 1.0)), 0.0)
        return once(_Way(length, apart, velocity, striker))

    def _load(self, mode: Mode, way: _Way, other: Placed) -> tuple[Vector, Scalar]:
        """Force (N, inertial) on the first body at the striker, and the power (W) that the damper takes."""
        taut, velocity = _hold(mode) == TAUT, way.velocity
        if isinstance(mode, LatchMode):
            velocity = velocity - self._drawn(mode, other)
        away = way.length > 0
        share = jnp.where(away, 1 - self.play / jnp.where(away, way.length, 1.0), jnp.where(self.play > 0, 0.0, 1.0))
        spring, damper = jnp.where(taut, self.stiffness * share, 0.0), jnp.where(taut, self.damping, 0.0)
        return -(way.apart * spring + velocity * damper), damper * velocity.dot(velocity)

    def _motor_speed(self, mode: LatchMode) -> Scalar:
        """How fast (m/s) the motor draws in."""
        assert self.speed is not None
        return jnp.where(mode.draws == 1, self.speed, 0.0)

    def _drawn(self, mode: LatchMode, other: Placed) -> Vector:
        """The velocity (m/s, inertial) of the place that the motor draws in, against the other body."""
        return other.rotation @ Vector.of(self.axis) * -self._motor_speed(mode)

    def _still_to_draw(self, memory: ElementMemory) -> Scalar:
        """How far (m) the place of the striker is from the depth of the seat."""
        assert memory.caught is not None and memory.travel is not None
        return (memory.caught - Vector.of(self.seat)).dot(Vector.of(self.axis)) - memory.travel

    def _draws(self, hold: Int[Array, ""], memory: ElementMemory) -> Int[Array, ""]:
        """Whether the motor of a latch that holds thus runs."""
        return ((hold != OPEN) & (self._still_to_draw(memory) > 0)).astype(hold.dtype)


class Entry(Protocol):
    """Where a latch catches a striker."""

    @property
    def striker(self) -> Float[Array, "3"]: ...

    @property
    def seat(self) -> Float[Array, "3"]: ...

    @property
    def axis(self) -> Float[Array, "3"]: ...

    @property
    def reach(self) -> Float[Array, ""]: ...

    @property
    def lateral(self) -> Float[Array, ""]: ...


def nearness(entry: Entry, own: Placed, other: Placed) -> Scalar:
    """Return how far (m) the striker is inside the space in which it is caught; negative outside."""
    place = other.local(own.point(Vector.of(entry.striker))) - Vector.of(entry.seat)
    along = place.dot(Vector.of(entry.axis))
    across = place - Vector.of(entry.axis) * along
    return jnp.minimum(entry.reach - along, entry.lateral - jnp.sqrt(across.dot(across) + TINY))


def _hold(mode: Mode) -> Int[Array, ""]:
    """How a latch holds."""
    return mode.hold if isinstance(mode, LatchMode) else mode
