"""Friction that sticks as differential equations with events, for programs that integrate by steps of their own length.

Which slices slip changes at events alone, and between them their stretches have rates: no step is too long for that.

Units: lengths m, speeds m/s, forces N.
Source: flow rule of perfect plasticity with the friction cone as its limit; own construction.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

from dockdyn.contact.laws.friction import length_of
from dockdyn.contact.laws.normal_law import NormalLaw
from dockdyn.contact.laws.stick_slip import (
    SPINNING,
    FrictionGrip,
    StickSlip,
    cut_to,
    direction_of,
    most_stretch,
    part_along,
)
from dockdyn.deferred import Array, Float, jnp
from dockdyn.mechanics.vector import Scalar, Vector
from dockdyn.programs import over_rows
from dockdyn.trees import Module, map_leaves

UNIT = 1e-2  # m, of remembered stretches: who integrates keeps errors of numbers near one, and stretches are small
OVER = 1e-13  # m, by which a stretch is beyond its limit where that is an event
AT_LIMIT = 1e-9  # of a limit
SHORT = 1e-10  # m: so short stretches have no direction but that of the motion
LAGGING = 1e-2  # of the largest limit: of slices with less, the direction lags as of that
SHORTEST = 1e-8  # m, the same of all

type PerSlice = Float[Array, "slices"]


class SlipMemory(NamedTuple):
    """What friction remembers of a way of moving, in the axes of the second body, or the rate of it."""

    stretch: (
        Vector  # slices: in units of UNIT, of what sticks; of what slips the direction, of length one, in which it is
    )
    slips: PerSlice  # 1 of what slips, else 0; events alone change it

    def between(self, start: SlipMemory) -> SlipMemory:
        """Return it within a step that began with `start`."""
        return start._replace(stretch=self.stretch)


class FlowingSlip(Module):
    """Springs along the surface that slip as those of `friction` do: what sticks is stretched as the bodies move, and what
    slips is stretched as far as it may be, in a direction that turns towards that of the sliding."""

    friction: StickSlip

    def under(self, law: NormalLaw) -> FlowingSlip:
        """Return the friction of a contact that presses by a `law`."""
        return replace(self, friction=self.friction.under(law))

    def lossless(self) -> bool:
        """Return whether it takes no energy; asked of numbers, never while JAX traces."""
        return self.friction.lossless()

    def passive(self) -> bool:
        """Return whether it never gives more than it took; asked of numbers, never while JAX traces."""
        return self.friction.passive()

    def asks_for_steps(self) -> bool:
        """Return whether what it remembers is decided as steps end: no, at events."""
        return False

    def turns(self) -> int:
        """Return how many quantities turn where a step must end: none, that is an event."""
        return 0

    def resists_turning(self) -> bool:
        """Return whether it resists that the bodies roll or spin over each other."""
        return self.friction.resists_turning()

    def unstretched(self) -> tuple[SlipMemory, ...]:
        """Return what it remembers at first, for each way of moving."""
        first = self.friction.unstretched()
        row = jnp.zeros_like(first[0].stretches.x)
        return (SlipMemory(Vector(row, row, row), row),) * len(first)

    def motions(self, normal: Vector, sliding: Vector, turning: Vector) -> tuple[Vector, ...]:
        """Return how fast (m/s) the first body moves over the second, for each way of moving."""
        return self.friction.motions(normal, sliding, turning)

    def grips(
        self, past: tuple[SlipMemory, ...], normal: Vector, depth: Scalar, pressing: Scalar, motions: tuple[Vector, ...]
    ) -> tuple[FrictionGrip, ...]:
        """Return how it holds at a `depth` (m) under a normal force (N) by the law, for each of the `motions` (m/s)."""
        found = []
        for way, (before, motion) in enumerate(zip(past, motions, strict=True)):
            within, reach = self.friction.reach(depth, pressing, motion)
            most = most_stretch(reach, within)
            spins = way == SPINNING

            def one(
                past: SlipMemory, within: Scalar, most: Scalar, motion: Vector = motion, spins: bool = spins
            ) -> tuple[Vector, Vector, Vector]:
                moved = part_along(past.stretch, normal, spins=spins) * UNIT
                cut = (past.slips > 0) | (length_of(moved) > most)
                return moved, *self.friction.held(cut_to(moved, most, cut), within, most, motion)

            moved, pulled, kept = over_rows(one, before, within, most)
            found.append(FrictionGrip(moved, pulled, kept, within, reach, normal, jnp.zeros(())))
        return tuple(found)

    def memory_rates(
        self,
        past: tuple[SlipMemory, ...],
        motions: tuple[Vector, ...],
        turning_normal: Callable[[], tuple[Vector, Vector]],
        grips: Callable[[], tuple[FrictionGrip, ...]],
    ) -> tuple[SlipMemory, ...]:
        """Return the rate of what it remembers at velocities (m/s) that are told as `motions`, as it `grips`.

        Stretches turn with the plane that touches, of which `turning_normal` tells the normal and its rate (1/s).
        """
        normal, turning = turning_normal()
        found = []
        for way, (before, motion, grip) in enumerate(zip(past, motions, grips(), strict=True)):
            spins, largest = way == SPINNING, jnp.max(grip.most)

            def one(
                past: SlipMemory,
                moved: Vector,
                within: Scalar,
                most: Scalar,
                motion: Vector = motion,
                spins: bool = spins,
                largest: Scalar = largest,
            ) -> Vector:
                along = direction_of(moved, motion, SHORT)
                slowest = jnp.maximum(jnp.maximum(most, LAGGING * largest), SHORTEST)
                aside = motion - along * along.dot(motion)
                turned = Vector.zero() if spins else aside * (length_of(moved) / slowest)
                held = motion * jnp.where(within > 0, 1.0, 0.0)
                carried = turning * past.stretch.dot(normal) if spins else -normal * past.stretch.dot(turning)
                return carried + map_leaves(lambda a, b: jnp.where(past.slips > 0, a, b) / UNIT, turned, held)

            rates = over_rows(one, before, grip.moved, grip.within, grip.most)
            found.append(SlipMemory(rates, jnp.zeros_like(before.slips)))
        return tuple(found)

    def slipped(self, past: tuple[SlipMemory, ...], grips: tuple[FrictionGrip, ...]) -> tuple[Scalar, ...]:
        """Return what turns where a step must end: nothing."""
        return ()

    def load(self, grips: tuple[FrictionGrip, ...]) -> tuple[Vector, Vector | None]:
        """Return the force (N) and, where it resists turning, the torque (N m) on the first body, in the second's axes."""
        return self.friction.load(grips)

    def energy_in(self, grips: tuple[FrictionGrip, ...]) -> Scalar:
        """Return the energy (J) of what is stretched."""
        return self.friction.energy_in(grips)

    def renewed(
        self,
        past: tuple[SlipMemory, ...],
        grips: tuple[FrictionGrip, ...],
        depth: Scalar,
        touches: Scalar,
        motions: tuple[Vector, ...],
        growth: tuple[PerSlice, ...],
    ) -> tuple[SlipMemory, ...]:
        """Return what it remembers after an event, where limits grow so fast (m/s): what is at its limit slips if the motion
        stretches it faster than that grows, and sticks else. Where nothing `touches`, 1 or 0, nothing is stretched.

        Where no slice changes, nothing does.
        """
        each = zip(past, grips, motions, growth, strict=True)
        return tuple(_decided(*one, touches) for one in each)

    def guards(
        self,
        past: tuple[SlipMemory, ...],
        grips: tuple[FrictionGrip, ...],
        motions: tuple[Vector, ...],
        growth: tuple[PerSlice, ...],
    ) -> tuple[Scalar, ...]:
        """Return event functions that rise through zero where a slice comes to slip (m), and where one comes to stick (m/s)."""
        found: list[Scalar] = []
        for before, grip, motion, grows in zip(past, grips, motions, growth, strict=True):

            def one(
                slips: Scalar, moved: Vector, within: Scalar, most: Scalar, grows: Scalar, motion: Vector = motion
            ) -> tuple[Scalar, Scalar]:
                beyond, loses = length_of(moved) - most - OVER, grows - direction_of(moved, motion, SHORT).dot(motion)
                touched = within > 0
                return (
                    jnp.where(touched & (slips == 0), beyond, -1.0),
                    jnp.where(touched & (slips > 0), loses, -1.0),
                )

            found += map(jnp.max, over_rows(one, before.slips, grip.moved, grip.within, grip.most, grows))
        return tuple(found)

    def resting_load(
        self, depth: Scalar, pressing: Scalar, stretches: tuple[Vector, ...], rates: tuple[Vector, ...]
    ) -> tuple[Vector, Vector | None]:
        """Return the force (N) and the torque (N m) on the first body of what sticks, as that of its friction."""
        return self.friction.resting_load(depth, pressing, stretches, rates)


def _decided(before: SlipMemory, grip: FrictionGrip, motion: Vector, growth: PerSlice, touches: Scalar) -> SlipMemory:
    """Return what is remembered after an event."""

    def wanted(slips: Scalar, moved: Vector, within: Scalar, most: Scalar, grows: Scalar) -> tuple[Scalar, Scalar]:
        """Return whether a slice comes to slip, and whether it comes to stick."""
        gains = direction_of(moved, motion, SHORT).dot(motion) > grows
        at_limit = length_of(moved) >= most * (1 - AT_LIMIT)
        starts = (within > 0) & (slips == 0) & at_limit & gains
        return jnp.where(starts, 1.0, 0.0), jnp.where((within > 0) & (slips > 0) & ~gains, 1.0, 0.0)

    starts, ends = over_rows(wanted, before.slips, grip.moved, grip.within, grip.most, growth)
    changed = jnp.any(starts + ends > 0)
    # what touches next does as what touched first
    ahead = (grip.within[0] > 0) & (jnp.where(starts[0] > 0, 1.0, before.slips[0] - ends[0]) > 0)

    def decided(
        past: SlipMemory, moved: Vector, within: Scalar, most: Scalar, starts: Scalar, ends: Scalar
    ) -> SlipMemory:
        touched, slips = within > 0, past.slips > 0
        after = jnp.where(touched, (slips & (ends == 0)) | (starts > 0), jnp.where(changed, ahead, slips))
        along = direction_of(moved, motion, SHORT)
        new = after & ~slips
        left = jnp.where(touched, jnp.where(ends > 0, most * ((1 - AT_LIMIT) / UNIT), 0.0), 0.0)
        kept = (slips & after) | (touched & ~slips & ~after)

        def one(along: Scalar, stretch: Scalar) -> Scalar:
            return jnp.where(kept, stretch, along * jnp.where(new, 1.0, left)) * touches

        return SlipMemory(map_leaves(one, along, past.stretch), jnp.where(after, 1.0, 0.0) * touches)

    return over_rows(decided, before, grip.moved, grip.within, grip.most, starts, ends)
