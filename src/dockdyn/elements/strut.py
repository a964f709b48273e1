"""A strut between two bodies: spring, damper, motor, load-limiting brake, end stops and reflected inertia, each if wanted.

Units: forces N, lengths m, speeds m/s, energies J, powers W, mass kg.
Source: own construction of the parts named.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from dockdyn.contact.laws.relative_damping import damping_of_ratio
from dockdyn.deferred import Array, Bool, Float, Int, jnp
from dockdyn.elements.actor import ElementMemory, nothing_yet
from dockdyn.elements.anchor_line import AnchorLine, Anchors, LineElement
from dockdyn.elements.brake import Brake
from dockdyn.elements.end_stops import EndStops, Modes, StopLoad
from dockdyn.elements.force_element import Opposing
from dockdyn.mechanics.reflected import Reflected
from dockdyn.mechanics.rigid_body import Placed
from dockdyn.mechanics.vector import Scalar

BRAKE_GUARDS = 2


class StrutMode(NamedTuple):
    """The modes of a strut's parts; None where it has no such part."""

    brake: Int[Array, ""] | None
    stops: Modes | None


class _Instant(NamedTuple):
    """A strut's kinematics."""

    line: AnchorLine
    stretch: Scalar  # m, of spring and brake together: beyond the free length and what the motor has moved
    rate: Scalar  # m/s, of the stretch


class Strut(LineElement):
    """Motor, then spring and brake in series, a damper beside these two; end stops beside all of it.

    The motor keeps its speed whatever the load. The damper takes the rate of the stretch, without the motor's speed. Stops
    limit the stroke, by which the strut is longer than its free length.
    """

    anchors: Anchors
    free_length: Float[Array, ""]  # m, of the spring before the motor and the brake have moved it
    stiffness: Float[Array, ""] | None = None  # N/m
    damping: Float[Array, ""] | None = None  # N s/m
    speed: Float[Array, ""] | None = None  # m/s, with which the motor moves the free length
    brake: Brake | None = None
    stops: EndStops | None = None
    moved_mass: Float[Array, ""] | None = None  # kg, what motor and screw reflect along the line
    ratio: Float[Array, ""] | None = None  # ζ of spring and damper, until `with_damping_of` makes it the damping

    def __check_init__(self) -> None:
        """A brake limits the force of a spring. Raises ValueError where there is none."""
        if self.brake is not None and self.stiffness is None:
            raise ValueError("a brake limits the force of a spring: the strut needs a stiffness")

    def init(self, own: Placed, other: Placed) -> ElementMemory:
        lossy = any(part is not None for part in (self.damping, self.brake, self.stops))
        parts = {"travel": self.speed, "work": self.speed, "slide": self.brake, "dissipated": lossy or None}
        return nothing_yet(*(name for name, part in parts.items() if part is not None))

    def pull_along(
        self, mode: StrutMode, memory: ElementMemory, own: Placed, other: Placed
    ) -> tuple[AnchorLine, Scalar, ElementMemory]:
        now = self._instant(memory, own, other)
        spring, damper, stop = self._part_tensions(mode, memory, now)
        tension, rate = spring + damper, memory
        if self.speed is not None:
            rate = rate._replace(travel=self.speed, work=-tension * self.speed)
        power = damper * now.rate + stop.power
        if self.brake is not None and mode.brake is not None:
            power += self.brake.power(mode.brake, now.rate)
            rate = rate._replace(slide=self.brake.rate(mode.brake, now.rate))
        if memory.dissipated is not None:
            rate = rate._replace(dissipated=power)
        return now.line, tension + stop.tension, rate

    def settle(self, memory: ElementMemory, own: Placed, other: Placed) -> tuple[StrutMode, ElementMemory]:
        now = self._instant(memory, own, other)
        braked = stopped = None
        if self.brake is not None and self.stiffness is not None and memory.slide is not None:
            before = now.stretch - memory.slide
            braked, slide = self.brake.settle(memory.slide, self.stiffness, now.stretch, now.rate)
            lost = 0.5 * self.stiffness * (before**2 - (now.stretch - slide) ** 2)
            memory = memory.slid(slide, lost)
        if self.stops is not None:
            stopped = self.stops.first_modes(self.stops.touches(now.line.length - self.free_length, now.line.rate))
        return StrutMode(braked, stopped), memory

    def guards(self, mode: StrutMode, memory: ElementMemory, own: Placed, other: Placed) -> tuple[Scalar, ...]:
        now = self._instant(memory, own, other)
        found: tuple[Scalar, ...] = ()
        if self.brake is not None and mode.brake is not None:
            found += self.brake.guards(mode.brake, self._spring(mode, memory, now), now.rate)
        if self.stops is not None and mode.stops is not None:
            touches = self.stops.touches(now.line.length - self.free_length, now.line.rate)
            found += self.stops.guards(mode.stops, touches)
        return found

    def jump(
        self,
        mode: StrutMode,
        fired: tuple[Bool[Array, ""], ...],
        memory: ElementMemory,
        own: Placed,
        other: Placed,
    ) -> tuple[StrutMode, ElementMemory]:
        now = self._instant(memory, own, other)
        if self.brake is not None and mode.brake is not None:
            memory = memory._replace(slide=self._slide(mode, memory, now))
            mode = mode._replace(brake=self.brake.next_mode(mode.brake, (fired[0], fired[1]), now.rate))
            fired = fired[BRAKE_GUARDS:]
        if self.stops is not None and mode.stops is not None:
            mode = mode._replace(stops=self.stops.next_modes(mode.stops, fired, now.line.rate))
        return mode, memory

    def stored_energy(self, mode: StrutMode, memory: ElementMemory, own: Placed, other: Placed) -> Scalar:
        now = self._instant(memory, own, other)
        stored = self._stop(mode, now).stored
        if self.stiffness is not None:
            stored += 0.5 * self.stiffness * (now.stretch - self._slide(mode, memory, now)) ** 2
        return stored

    def observe(self, mode: StrutMode, memory: ElementMemory, own: Placed, other: Placed) -> dict[str, Scalar]:
        """Return its `length` (m), the rate of it (m/s) and its `tension` (N, without that of reflected inertia)."""
        now = self._instant(memory, own, other)
        spring, damper, stop = self._part_tensions(mode, memory, now)
        return {"length": now.line.length, "length_rate": now.line.rate, "tension": spring + damper + stop.tension}

    @property
    def is_damped_relatively(self) -> bool:
        return self.ratio is not None or (self.stops is not None and self.stops.spring.ratio is not None)

    def effective_masses(self, own: Placed, other: Placed, opposing: Opposing) -> Float[Array, "*lines"]:
        return self.anchors.line(own, other).effective_mass(opposing)

    def with_damping_of(self, masses: Float[Array, "*lines"]) -> Strut:
        found = self
        if self.ratio is not None and self.stiffness is not None:
            found = replace(found, damping=damping_of_ratio(self.ratio, self.stiffness, masses), ratio=None)
        if found.stops is not None:
            found = replace(found, stops=replace(found.stops, spring=found.stops.spring.with_damping_of(masses)))
        return found

    def dashpots(self) -> dict[str, Float[Array, "*lines"]]:
        found = {} if self.damping is None else {"damping": self.damping}
        return found if self.stops is None else found | {"stop_damping": self.stops.spring.law.damping}

    def reflected(self, own: Placed, other: Placed) -> Reflected | None:
        if self.moved_mass is None:
            return None
        line = self.anchors.line(own, other)
        return Reflected.between(self.moved_mass, own, line.point, other, line.end)

    def _instant(self, memory: ElementMemory, own: Placed, other: Placed) -> _Instant:
        line = self.anchors.line(own, other)
        stretch, rate = line.length - self.free_length, line.rate
        if self.speed is not None and memory.travel is not None:
            stretch, rate = stretch - memory.travel, rate - self.speed
        return _Instant(line, stretch, rate)

    def _slide(self, mode: StrutMode, memory: ElementMemory, now: _Instant) -> Scalar:
        if self.brake is None or self.stiffness is None or mode.brake is None or memory.slide is None:
            return jnp.zeros(())
        return self.brake.slide(mode.brake, memory.slide, self.stiffness, now.stretch)

    def _spring(self, mode: StrutMode, memory: ElementMemory, now: _Instant) -> Scalar:
        if self.stiffness is None:
            return jnp.zeros(())
        return self.stiffness * (now.stretch - self._slide(mode, memory, now))

    def _stop(self, mode: StrutMode, now: _Instant) -> StopLoad:
        if self.stops is None or mode.stops is None:
            return StopLoad(jnp.zeros(()), jnp.zeros(()), jnp.zeros(()))
        touches = self.stops.touches(now.line.length - self.free_length, now.line.rate)
        return self.stops.load(mode.stops, touches)

    def _part_tensions(self, mode: StrutMode, memory: ElementMemory, now: _Instant) -> tuple[Scalar, Scalar, StopLoad]:
        """Return the tension (N) of spring and brake, of the damper, and the stops' load."""
        damper = jnp.zeros(()) if self.damping is None else self.damping * now.rate
        return self._spring(mode, memory, now), damper, self._stop(mode, now)
