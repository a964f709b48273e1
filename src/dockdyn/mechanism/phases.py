"""Phases of a capture: numbers of elements that change when something has happened.

Units: speeds m/s, times s.
Source: own construction.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from dockdyn.deferred import Array, Bool, Float, Int, PyTree, jnp
from dockdyn.integrate.model import Scalar
from dockdyn.mechanics.rigid_body import Placed
from dockdyn.programs import trace_once
from dockdyn.trees import Module, field, map_leaves

STOPPED = -1.0  # s: a clock that does not run
AT_REST = 1e-24  # m²/s²: smooths a speed, so that its derivative at rest is finite


class Clock(NamedTuple):
    """What phases remember."""

    began: Scalar  # s, the present phase
    slow: Scalar  # s, since when the speed that the next phase waits for is low; STOPPED while it is not
    elapsed: Scalar | None = None  # s, since the present phase began; None where nothing changes within phases

    @staticmethod
    def started(ramped: bool) -> Clock:
        """Return the clock of a run that begins, of phases within which something changes, or of others."""
        return Clock(jnp.zeros(()), jnp.asarray(STOPPED), jnp.zeros(()) if ramped else None)

    def rate(self) -> Clock:
        """Return its rate."""
        zero = jnp.zeros(())
        return Clock(zero, zero, None if self.elapsed is None else jnp.ones(()))

    def at(self, t: Scalar) -> Clock:
        """Return the clock at `t` (s), of the same phase."""
        return self if self.elapsed is None else self._replace(elapsed=t - self.began)


class PhaseRamp(NamedTuple):
    """How far a phase has taken what it changes, and the rate of that (1/s)."""

    share: Scalar  # 0 as the phase begins, 1 from where it has come there
    rate: Scalar

    @staticmethod
    def of(over: Scalar, elapsed: Scalar) -> PhaseRamp:
        """Return it `elapsed` s after the beginning of a phase that takes `over` s, along a quintic; at once for 0 s."""
        moves = over > 0
        span = jnp.where(moves, over, 1.0)
        u = jnp.clip(elapsed / span, 0.0, 1.0)
        share = jnp.where(moves, u**3 * (10 - u * (15 - 6 * u)), 1.0)
        return PhaseRamp(share, jnp.where(moves, 30 * (u * (1 - u)) ** 2 / span, 0.0))


class Ramps(Module):
    """What changes within phases: from what each of its numbers comes, and how long (s) that takes; 0: at once."""

    begun: PyTree  # as `variants`
    over: Float[Array, "phases"]


class Condition(Module):
    """What a phase waits for: any contact, all latches, a relative speed that stays low, or a time since the one before."""

    of: Literal["contact", "latched", "speed", "time"] = field(static=True)
    lasting: Float[Array, ""]  # s
    speed: Float[Array, ""]  # m/s, below which the relative speed of two bodies' centres of mass must be
    bodies: tuple[int, int] = field(static=True)

    def excess(self, places: tuple[Placed, ...]) -> Scalar:
        """Return the relative speed (m/s) beyond the one it waits for."""
        first, second = (places[number].twist.velocity for number in self.bodies)
        between = first - second
        return jnp.sqrt(between.dot(between) + AT_REST) - self.speed

    def over(self, t: Scalar, clock: Clock) -> Scalar:
        """Return by how long (s) the time that it waits for is over."""
        if self.of == "time":
            return t - (clock.began + self.lasting)
        return jnp.where(clock.slow >= 0, t - (clock.slow + self.lasting), -1.0)


class Phases(Module):
    """Phases one after another; the first is the start."""

    variants: PyTree  # what changes, each number with a leading axis of phases
    conditions: tuple[Condition, ...]  # of the second phase, the third …
    ramps: Ramps | None = None  # None: all is changed at once

    @trace_once
    def current(self, phase: Int[Array, ""], clock: Clock) -> PyTree:
        """Return what holds in a phase."""
        after = map_leaves(lambda leaf: leaf[phase], self.variants)
        if (ramp := self.ramp(phase, clock)) is None or self.ramps is None:
            return after
        begun = map_leaves(lambda leaf: leaf[phase], self.ramps.begun)

        def between(one: Array, other: Array) -> Array:
            return jnp.where(one == other, other, one + ramp.share * (other - one))

        return map_leaves(between, begun, after)

    def ramp(self, phase: Int[Array, ""], clock: Clock) -> PhaseRamp | None:
        """Return how far a phase is with what it changes; None where all is changed at once."""
        if self.ramps is None or clock.elapsed is None:
            return None
        return PhaseRamp.of(self.ramps.over[phase], clock.elapsed)

    def guards(
        self, t: Scalar, phase: Int[Array, ""], clock: Clock, places: tuple[Placed, ...]
    ) -> tuple[Scalar, Scalar]:
        """Return two event functions that rise through zero: a speed becomes low or high (m/s), a time is over (s)."""
        turns, over = jnp.asarray(-1.0), jnp.asarray(-1.0)
        for number, condition in enumerate(self.conditions):
            waits = phase == number
            if condition.of == "speed":
                excess = condition.excess(places)
                turns = jnp.where(waits, jnp.where(clock.slow >= 0, excess, -excess), turns)
            if condition.of in ("speed", "time"):
                over = jnp.where(waits, condition.over(t, clock), over)
        return turns, over

    def advance(
        self,
        t: Scalar,
        phase: Int[Array, ""],
        clock: Clock,
        fired: tuple[Bool[Array, ""], Bool[Array, ""]],
        places: tuple[Placed, ...],
        touching: Bool[Array, ""],
        held: Bool[Array, ""],
    ) -> tuple[Int[Array, ""], Clock]:
        """Return the phase that is due after the guards in `fired`, or other events, at `t` (s), from which on bodies are
        `touching` or all latches `held`: the present one or the next; and the clock."""
        slow = jnp.where(clock.slow >= 0, STOPPED, t)
        clock = clock._replace(slow=jnp.where(fired[0], slow, clock.slow))
        due = phase
        for number, condition in enumerate(self.conditions):
            goes = (phase == number) & {"contact": touching, "latched": held}.get(condition.of, fired[1])
            due = jnp.where(goes, number + 1, due).astype(phase.dtype)
            slow = self._slow_from(t, number + 1, places)
            clock = Clock(jnp.where(goes, t, clock.began), jnp.where(goes, slow, clock.slow), clock.elapsed)
        return due, clock

    def begin(self, places: tuple[Placed, ...]) -> tuple[Int[Array, ""], Clock]:
        """Return the first phase, and the clock of a run that begins."""
        clock = Clock.started(self.ramps is not None)._replace(slow=self._slow_from(jnp.zeros(()), 0, places))
        return jnp.zeros((), int), clock

    def _slow_from(self, t: Scalar, number: int, places: tuple[Placed, ...]) -> Scalar:
        """Return since when the speed that a condition waits for is low, if it begins to wait at `t` (s)."""
        if number >= len(self.conditions) or self.conditions[number].of != "speed":
            return jnp.asarray(STOPPED)
        return jnp.where(self.conditions[number].excess(places) < 0, t, STOPPED)
