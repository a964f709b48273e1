"""What acts in a joint of one coordinate besides its reaction: spring, damper, friction, motor and end stops, each if wanted.

Units: of a hinge rad, rad/s, N m and J, of a slide m, m/s, N and J.
Source: own construction of the parts named; friction as that of contacts, Sazawal et al., eqs. 14 and 15.
"""

from __future__ import annotations

from dockdyn.contact.laws.friction import regularised_speed
from dockdyn.deferred import Array, Bool, Float, jnp
from dockdyn.elements.actor import Actor, ElementMemory, nothing_yet
from dockdyn.elements.end_stops import EndStops, Modes, StopLoad
from dockdyn.mechanics.vector import Scalar


class JointDrive(Actor[Scalar, Scalar]):
    """Spring, damper, friction, motor and end stops side by side, all between the body and the one that carries it.

    It is told the coordinate of its joint and the rate of that. The motor keeps its effort whatever the speed. Stops limit the
    coordinate itself.
    """

    rest: Float[Array, ""]  # of the spring
    stiffness: Float[Array, ""] | None = None
    damping: Float[Array, ""] | None = None
    effort: Float[Array, ""] | None = None  # of the motor, along or about the axis
    stops: EndStops | None = None
    friction: Float[Array, ""] | None = None  # its largest effort
    regularisation: Float[Array, ""] | None = None  # ε, a rate; with `friction`

    def init(self, coordinate: Scalar, rate: Scalar) -> ElementMemory:
        """Return what it remembers at t = 0."""
        lossy = any(part is not None for part in (self.damping, self.stops, self.friction))
        parts = {"work": self.effort is not None, "dissipated": lossy}
        return nothing_yet(*(name for name, there in parts.items() if there))

    def act(
        self, mode: Modes | None, memory: ElementMemory, coordinate: Scalar, rate: Scalar
    ) -> tuple[Scalar, ElementMemory]:
        """Return its effort, along or about the axis on the body, and the rate of what it remembers."""
        stop = self._stop(mode, coordinate, rate)
        effort, changing = -stop.tension, memory
        if self.stiffness is not None:
            effort += self.stiffness * (self.rest - coordinate)
        if self.damping is not None:
            effort -= self.damping * rate
        rubbing = self._friction_effort(rate)
        if rubbing is not None:
            effort -= rubbing
        if self.effort is not None:
            effort += self.effort
            changing = changing._replace(work=self.effort * rate)
        if memory.dissipated is not None:
            lost = jnp.zeros(()) if self.damping is None else self.damping * rate**2
            lost = lost if rubbing is None else lost + rubbing * rate
            changing = changing._replace(dissipated=lost + stop.power)
        return effort, changing

    def stored_energy(self, mode: Modes | None, memory: ElementMemory, coordinate: Scalar, rate: Scalar) -> Scalar:
        """Return the energy (J) that it can give back."""
        stored = self._stop(mode, coordinate, rate).stored
        if self.stiffness is not None:
            stored += 0.5 * self.stiffness * (coordinate - self.rest) ** 2
        return stored

    def settle(self, memory: ElementMemory, coordinate: Scalar, rate: Scalar) -> tuple[Modes | None, ElementMemory]:
        """Return the modes of the stops that fit the state."""
        return None if self.stops is None else self.stops.first_modes(self.stops.touches(coordinate, rate)), memory

    def guards(self, mode: Modes | None, memory: ElementMemory, coordinate: Scalar, rate: Scalar) -> tuple[Scalar, ...]:
        """Return the event functions that rise through zero, as many in every mode."""
        if self.stops is None or mode is None:
            return ()
        return self.stops.guards(mode, self.stops.touches(coordinate, rate))

    def jump(
        self,
        mode: Modes | None,
        fired: tuple[Bool[Array, ""], ...],
        memory: ElementMemory,
        coordinate: Scalar,
        rate: Scalar,
    ) -> tuple[Modes | None, ElementMemory]:
        """Return modes and memory after the guards in `fired` have fired."""
        if self.stops is None or mode is None:
            return mode, memory
        return self.stops.next_modes(mode, fired, rate), memory

    def _friction_effort(self, rate: Scalar) -> Scalar | None:
        """Return what friction takes off the effort at a `rate`; None without friction."""
        if self.friction is None or self.regularisation is None:
            return None
        return self.friction * rate / regularised_speed(rate**2, self.regularisation)

    def _stop(self, mode: Modes | None, coordinate: Scalar, rate: Scalar) -> StopLoad:
        if self.stops is None or mode is None:
            return StopLoad(jnp.zeros(()), jnp.zeros(()), jnp.zeros(()))
        return self.stops.load(mode, self.stops.touches(coordinate, rate))
