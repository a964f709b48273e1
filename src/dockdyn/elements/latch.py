"""A latch: it catches a striker near its seat, holds it compliantly or rigidly, may draw it in, and lets go.

Units: lengths m, speeds m/s, forces N, moments N m, energies J, powers W.
Source: Paraskevas et al., section 4 (the ramp); Kelvin–Voigt element or a connection (the grip); own construction.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from dockdyn.contact.latch import HELD, ON_RAMP, OUT, SWUNG, Anywhere, Caught, Ramp, Reach
from dockdyn.deferred import Array, Bool, Float, Int, jax, jnp
from dockdyn.elements.actor import ElementMemory
from dockdyn.elements.force_element import Action, ForceElement, Opposing
from dockdyn.elements.grip import Compliant, Hold, Rigid
from dockdyn.mechanics.rigid_body import Placed
from dockdyn.mechanics.rotation import Quaternion
from dockdyn.mechanics.vector import Scalar, Vector, once
from dockdyn.trees import field, map_leaves

TINY = 1e-30  # m², of the square of a way: no direction


class LatchMode(NamedTuple):
    """The modes of a latch; None where it has no such part."""

    stage: Int[Array, ""]  # OUT, ON_RAMP, HELD or SWUNG
    taut: Int[Array, ""] | None = None  # 1 beyond the play, 0 within it
    draws: Int[Array, ""] | None = None  # 1 while the motor runs, else 0


class _Way(NamedTuple):
    """How a caught striker is away from where it was caught."""

    length: Scalar  # m
    stretch: tuple[Vector, ...]  # m, and of a weld the rotation vector (rad), inertial
    slip: tuple[Vector, ...]  # m/s and rad/s, of the striker's body against the other, inertial


class Latch(ForceElement):
    """The striker of the first body is caught near the axis of a seat on the other body, where the `entry` says, and then held
    by the `grip` for as long as the latch is `closed`: once it is not, it lets go and catches nothing.

    Near is within `lateral` of the axis; how far inwards of the seat does not count. The force of a ramp is late, as those of
    contacts are; what holds the striker acts at once. That is a compliant grip at the place where it was caught, as seen from
    the other body, or a connection, which closes with the latch: whoever moves the bodies reads from the memory whether it is
    closed, ends their motion against each other at once and books the loss as `dissipated`.

    A motor of a compliant grip draws that place along the axis until it is as deep as the seat, whatever the load. The damper
    takes the rate of the way, without the motor's speed.
    """

    striker: Float[Array, "3"]  # m, axes of the first body
    seat: Float[Array, "3"]  # m, axes of the other body
    axis: Float[Array, "3"]  # unit vector out of the seat, axes of the other body
    lateral: Float[Array, ""]  # m, from the axis
    entry: Reach | Ramp | Anywhere
    grip: Compliant | Rigid
    closed: Float[Array, ""] | float = 1.0  # 0: it lets go
    ends_run: bool = field(static=True, default=False)

    @property
    def rigid(self) -> bool:
        """Whether a connection holds the striker."""
        return isinstance(self.grip, Rigid)

    @property
    def joins(self) -> bool:
        """Whether it is a connection, which catches nothing on the way."""
        return isinstance(self.entry, Anywhere)

    @property
    def hold(self) -> Hold:
        """Tell what of a caught striker it keeps."""
        return self.grip.hold

    @property
    def swing(self) -> Scalar | None:
        """The time (s) within which all that it holds has swung once; None where that is not told."""
        return None if isinstance(self.grip, Rigid) else self.grip.swing

    @property
    def delays(self) -> bool:
        return isinstance(self.entry, Ramp)

    def init(self, own: Placed, other: Placed) -> ElementMemory:
        zero = jnp.zeros(())
        begun = ElementMemory(dissipated=zero, held=zero, found=Caught.nothing() if self.delays else None)
        if isinstance(self.grip, Rigid):
            return begun
        return begun._replace(
            caught=Vector.zero(),
            turned=None if self.grip.turning is None else Quaternion.level(),
            since=None if self.grip.swing is None else zero,
            travel=None if self.grip.speed is None else zero,
            work=None if self.grip.speed is None else zero,
        )

    def settle(self, memory: ElementMemory, own: Placed, other: Placed) -> tuple[LatchMode, ElementMemory]:
        """Return a latch that holds goes on holding while it is closed; one that is open catches a striker that is there
        already."""
        assert memory.held is not None
        closed = jnp.asarray(self.closed) > 0
        held = jnp.where(closed, memory.held, 0.0)
        memory = memory._replace(held=held)
        holds = memory.holds()
        travel, inside = self.travel(own, other)
        first = jnp.where(closed, self.entry.first_stage(jnp.minimum(travel, inside), travel), OUT)
        memory = self._remember_catch(~holds & (first == HELD), memory, own, other)
        stage = jnp.where(holds, HELD, first)
        if memory.since is not None and self.swing is not None:
            stage = jnp.where((stage == HELD) & (memory.since > self.swing), SWUNG, stage)
        return self._modes_in_stage(stage.astype(int), memory, own, other), memory

    def tip(self, own: Placed) -> Vector:
        """Return where the latch acts on both bodies (m, inertial)."""
        return own.point(Vector.of(self.striker))

    def out(self, other: Placed) -> Vector:
        """Return the axis out of the seat (inertial)."""
        return other.rotation @ Vector.of(self.axis)

    def travel(self, own: Placed, other: Placed) -> tuple[Scalar, Scalar]:
        """Return the travel (m) of the striker along the axis from where the entry begins, and how far (m) within `lateral` it
        is."""
        place, axis = other.local(self.tip(own)) - Vector.of(self.seat), Vector.of(self.axis)
        along = place.dot(axis)
        across = place - axis * along
        return self.entry.length - along, self.lateral - jnp.sqrt(across.dot(across) + TINY)

    def caught_from(self, own: Placed, other: Placed) -> Scalar:
        """Return how far (m) from the seat a striker is that it catches where the bodies begin; zero where it catches none."""
        travel, inside = self.travel(own, other)
        first = self.entry.first_stage(jnp.minimum(travel, inside), travel)
        away = other.local(self.tip(own)) - Vector.of(self.seat)
        return jnp.where((jnp.asarray(self.closed) > 0) & (first == HELD), vector_length(away), 0.0)

    def rate(self, own: Placed, other: Placed) -> Scalar:
        """Return the rate of the travel (m/s)."""
        point = self.tip(own)
        return (other.velocity(point) - own.velocity(point)).dot(self.out(other))

    def late(self, mode: LatchMode, own: Placed, other: Placed) -> Vector:
        if not isinstance(self.entry, Ramp):
            return Vector.zero()
        push = self.entry.force(self.travel(own, other)[0], self.rate(own, other))
        return self.out(other) * jnp.where(mode.stage == ON_RAMP, push, 0.0)

    def without_rest_force(self, own: Placed, other: Placed) -> Latch:
        if not isinstance(self.entry, Ramp):
            return self
        relaxed = -self.entry.stiffness * self.entry.slope * self.travel(own, other)[0]
        return replace(self, entry=replace(self.entry, preload=relaxed))

    def emits(self, mode: LatchMode) -> Bool[Array, ""]:
        return mode.stage == ON_RAMP

    def ended(self, mode: LatchMode, memory: ElementMemory) -> Bool[Array, ""]:
        return mode.stage >= (HELD if self.swing is None else SWUNG)

    def act(self, mode: LatchMode, memory: ElementMemory, own: Placed, other: Placed) -> tuple[Action, ElementMemory]:
        still = map_leaves(jnp.zeros_like, memory)
        grip, held = self.grip, mode.stage >= HELD
        if isinstance(grip, Rigid):
            return Action(Vector.zero(), Vector.zero(), once(self.tip(own))), still
        force, moment, power, striker = self._load(mode, memory, own, other)
        rate = still._replace(dissipated=power)
        if memory.since is not None:
            rate = rate._replace(since=jnp.where(held, 1.0, 0.0))
        if grip.speed is not None:
            rate = rate._replace(travel=self._motor_speed(mode), work=force.dot(self._drawn(mode, other)))
        return Action(force, moment, striker), rate

    def guards(self, mode: LatchMode, memory: ElementMemory, own: Placed, other: Placed) -> tuple[Scalar, ...]:
        """Return the event functions: of the entry, of which the first, once the latch holds, is the grip's; then the end of
        the motor."""
        travel, inside = self.travel(own, other)
        grip, held, closed = self.grip, mode.stage >= HELD, jnp.asarray(self.closed) > 0
        found = self.entry.guards(mode.stage, jnp.minimum(travel, inside), travel)
        first, *rest = (jnp.where(closed & ~held, guard, -1.0) for guard in found)
        if isinstance(grip, Rigid):
            return first, *rest
        if mode.taut is not None and grip.play is not None:
            beyond = self._way(memory, own, other).length - grip.play
            slack = jnp.where(grip.play > 0, -beyond, -1.0)  # without play it is never loose
            first = jnp.where(held, jnp.where(mode.taut == 1, slack, beyond), first)
        elif self.ends_run and memory.since is not None and self.swing is not None:
            first = jnp.where(mode.stage == HELD, memory.since - self.swing, first)
        if mode.draws is not None:
            rest.append(jnp.where(mode.draws == 1, -self._still_to_draw(memory), -1.0))
        return first, *rest

    def jump(
        self,
        mode: LatchMode,
        fired: tuple[Bool[Array, ""], ...],
        memory: ElementMemory,
        own: Placed,
        other: Placed,
    ) -> tuple[LatchMode, ElementMemory]:
        held, changes = mode.stage >= HELD, fired[0]
        stage = jnp.where(held, mode.stage, self.entry.next_stage(mode.stage, fired))
        falls = ~held & (stage == HELD)
        memory = self._remember_catch(falls, memory, own, other)
        entered = self._modes_in_stage(stage, memory, own, other)
        if mode.taut is None or entered.taut is None:
            swung = held & changes & (mode.stage == HELD)
            return entered._replace(stage=jnp.where(swung, SWUNG, stage).astype(stage.dtype)), memory
        turned = jnp.where(held & changes, 1 - mode.taut, mode.taut)
        after = entered._replace(taut=jnp.where(falls, entered.taut, turned).astype(stage.dtype))
        if mode.draws is None:
            return after, memory
        assert entered.draws is not None
        draws = jnp.where(fired[-1], 0, jnp.where(falls, entered.draws, mode.draws))
        return after._replace(draws=draws.astype(stage.dtype)), memory

    def stored_energy(self, mode: LatchMode, memory: ElementMemory, own: Placed, other: Placed) -> Scalar:
        if isinstance(self.grip, Rigid):
            return jnp.zeros(())
        way = self._way(memory, own, other)
        return jnp.where(self._is_taut(mode), self.grip.stored(way.stretch, way.length), 0.0)

    @property
    def is_damped_relatively(self) -> bool:
        return not isinstance(self.grip, Rigid) and self.grip.ratio is not None

    def effective_masses(self, own: Placed, other: Placed, opposing: Opposing) -> Float[Array, "*lines"]:
        """Return the effective mass (kg) along the axis, as if the striker were in the seat."""
        return opposing.along(self.tip(own), other.point(Vector.of(self.seat)), self.out(other))

    def with_damping_of(self, masses: Float[Array, "*lines"]) -> Latch:
        return self if isinstance(self.grip, Rigid) else replace(self, grip=self.grip.with_damping_of(masses))

    def dashpots(self) -> dict[str, Float[Array, "*lines"]]:
        return {} if isinstance(self.grip, Rigid) else {"damping": self.grip.damping}

    def sizes(self, mode: LatchMode, memory: ElementMemory, own: Placed, other: Placed) -> tuple[Scalar, ...]:
        """Return, of a grip that tells its loads, the size of its force (N), of its yielding (m), and of a weld's moment (N
        m)."""
        if isinstance(self.grip, Rigid) or self.swing is None:
            return ()
        action, _ = self.act(mode, memory, own, other)
        yielded = jnp.where(mode.stage >= HELD, vector_length(self._way(memory, own, other).stretch[0]), 0.0)
        sizes = (vector_length(action.force), yielded)
        return sizes if self.grip.turning is None else (*sizes, vector_length(action.moment))

    def observe(self, mode: LatchMode, memory: ElementMemory, own: Placed, other: Placed) -> dict[str, Array]:
        """Return whether it `held` (1 or 0), the `length` (m) by which the striker is away, whether that is `at_end` of the
        play (1 or 0).

        Of an open one also the `gap` (m) from the striker to where it is caught, along the axis, the speed `closing` it
        (m/s), and how far `aside` (m) of what `lateral` allows it is, negative within; zeros once it holds. Of a connection
        whether it is `closed` (1 or 0) alone.
        """
        if self.joins:
            return {"closed": (mode.stage >= HELD) * 1.0}
        held, is_open = (mode.stage >= HELD) * 1.0, mode.stage < HELD
        caught_at = self.entry.length if isinstance(self.entry, Ramp) else 0.0
        travel, inside = self.travel(own, other)
        found = {
            "held": held,
            "taut": jnp.zeros(()),
            "length": jnp.zeros(()),
            "gap": jnp.where(is_open, caught_at - travel, 0.0),
            "aside": jnp.where(is_open, -inside, 0.0),
            "closing": jnp.where(is_open, self.rate(own, other), 0.0),
        }
        if isinstance(self.grip, Rigid):
            return found
        length, play = self._way(memory, own, other).length, self.grip.play
        found |= {"length": held * length}
        return found if play is None else found | {"taut": (self._is_taut(mode) & (play > 0)) * 1.0}

    def observe_capture(
        self, mode: LatchMode, memory: ElementMemory, own: Placed, other: Placed, mass: Scalar
    ) -> dict[str, Array]:
        """Return what a latch behind a ramp shows: travel, rate, force and stage, the speed it takes, what it did as it caught.

        `mass` (kg) is what the bodies oppose to a force along the axis at the striker.
        """
        assert memory.found is not None and isinstance(self.entry, Ramp)
        found = {
            "latch_travel": self.travel(own, other)[0],
            "latch_rate": self.rate(own, other),
            "latch_force": self.late(mode, own, other).array(),
            "latch_mode": mode.stage,
            "latch_needed_speed": self.entry.needed_speed(mass),
            "catch_taken": memory.found.loss,
            **{f"capture_{name}": value for name, value in memory.found._asdict().items()},
        }
        if isinstance(self.grip, Rigid) or self.grip.stroke is None or self.swing is None:
            return found
        assert memory.dissipated is not None
        action, _ = self.act(mode, memory, own, other)
        stored = self.stored_energy(mode, memory, own, other)
        return found | {
            "catch_travel": jnp.where(mode.stage >= HELD, vector_length(self._way(memory, own, other).stretch[0]), 0.0),
            "catch_moment": action.moment.array(),
            "catch_stored": stored,
            "catch_dissipated": memory.dissipated,
            "catch_taken": stored + memory.dissipated,
            "catch_stroke": self.grip.stroke,
            "catch_swing": self.swing,
        }

    def _modes_in_stage(self, stage: Int[Array, ""], memory: ElementMemory, own: Placed, other: Placed) -> LatchMode:
        """Return the modes of a latch in this stage, as its grip is when it begins."""
        if isinstance(self.grip, Rigid) or self.grip.play is None:
            return LatchMode(stage)
        taut = (self._way(memory, own, other).length >= self.grip.play).astype(stage.dtype)
        if self.grip.speed is None:
            return LatchMode(stage, taut)
        draws = (stage >= HELD) & (self._still_to_draw(memory) > 0)
        return LatchMode(stage, taut, draws.astype(stage.dtype))

    def _remember_catch(
        self, falls: Bool[Array, ""], memory: ElementMemory, own: Placed, other: Placed
    ) -> ElementMemory:
        """Return the memory once a striker has been caught, where it `falls` in."""
        assert memory.held is not None
        after = memory._replace(held=jnp.ones(()))
        if memory.caught is not None:
            after = after._replace(
                caught=other.local(self.tip(own)),
                turned=None if memory.turned is None else other.pose.attitude.conjugate() * own.pose.attitude,
                travel=None if memory.travel is None else jnp.zeros(()),
                since=None if memory.since is None else jnp.zeros(()),
            )
        return map_leaves(lambda new, old: jnp.where(falls, new, old), after, memory)

    def _is_taut(self, mode: LatchMode) -> Bool[Array, ""]:
        """Return whether the grip's spring is stretched."""
        held = mode.stage >= HELD
        return held if mode.taut is None else held & (mode.taut == 1)

    def _way(self, memory: ElementMemory, own: Placed, other: Placed) -> _Way:
        assert memory.caught is not None
        kept = memory.caught
        if memory.travel is not None:
            kept = kept - Vector.of(self.axis) * memory.travel
        striker, hold = once((self.tip(own), other.point(kept)))
        apart, velocity = striker - hold, own.velocity(striker) - other.velocity(striker)
        squared = apart.dot(apart)
        away = squared > TINY
        length = jnp.where(away, jnp.sqrt(jnp.where(away, squared, 1.0)), 0.0)
        if memory.turned is None:
            return once(_Way(length, (apart,), (velocity,)))
        turned = own.pose.attitude * (other.pose.attitude * memory.turned).conjugate()
        return once(_Way(length, (apart, turned.logarithm()), (velocity, own.rate - other.rate)))

    def _load(
        self, mode: LatchMode, memory: ElementMemory, own: Placed, other: Placed
    ) -> tuple[Vector, Vector, Scalar, Vector]:
        """Return the force (N) and moment (N m) on the first body at the striker (inertial), the power (W) that dampers take,
        the striker (m, inertial)."""
        grip = self.grip
        assert isinstance(grip, Compliant)
        taut = self._is_taut(mode)

        def load() -> tuple[Vector, Vector, Scalar]:
            way = self._way(memory, own, other)
            slip = way.slip
            if mode.draws is not None:
                slip = (slip[0] - self._drawn(mode, other), *slip[1:])
            return grip.load(way.stretch, way.length, slip, taut)

        nothing = (Vector.zero(), Vector.zero(), jnp.zeros(()))
        force, moment, power = once(jax.lax.cond(taut, load, lambda: nothing))
        return force, moment, power, once(self.tip(own))

    def _motor_speed(self, mode: LatchMode) -> Scalar:
        """Return how fast (m/s) the motor draws in."""
        assert isinstance(self.grip, Compliant) and self.grip.speed is not None
        return jnp.where(mode.draws == 1, self.grip.speed, 0.0)

    def _drawn(self, mode: LatchMode, other: Placed) -> Vector:
        """Return the velocity (m/s, inertial) of the place that the motor draws in, against the other body."""
        return self.out(other) * -self._motor_speed(mode)

    def _still_to_draw(self, memory: ElementMemory) -> Scalar:
        """Return how far (m) the place of the striker is from the depth of the seat."""
        assert memory.caught is not None and memory.travel is not None
        return (memory.caught - Vector.of(self.seat)).dot(Vector.of(self.axis)) - memory.travel


def vector_length(vector: Vector) -> Scalar:
    """Return the length of a vector; its derivative at zero is zero."""
    squared = vector.dot(vector)
    # no choice by the sign: kernels that each compute it may round it to either side of zero
    return squared / jnp.sqrt(jnp.maximum(squared, 1e-300))
