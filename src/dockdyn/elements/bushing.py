"""A bushing: stiffness and damping between a frame on one body and a frame on another, along and about all axes.

Units: forces N, moments N m, lengths m, angles rad, energies J, powers W.
Source: the generalised force of the potential ½ xᵀ K x, x the relative place and rotation vector; derived here.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from dockdyn.contact.laws.relative_damping import damping_of_ratio
from dockdyn.deferred import Array, Bool, Float, Int, jnp
from dockdyn.elements.actor import ElementMemory, nothing_yet
from dockdyn.elements.brake import Brake
from dockdyn.elements.force_element import Action, ForceElement, Opposing
from dockdyn.mechanics.rigid_body import Placed, Pose
from dockdyn.mechanics.rotation import Quaternion, rotation_vector_rate
from dockdyn.mechanics.vector import Matrix, Scalar, Vector, once, unit_vectors

type Row = Float[Array, "6"]
type Mode = Int[Array, ""] | None  # of the brake


class _Instant(NamedTuple):
    """Where the first body's frame is in the other's, x = (r, θ), and how it moves."""

    base: Matrix  # axes of the other's frame → inertial
    point: Vector  # m, inertial: origin of the first body's frame
    turn: Vector  # θ, rad
    stretch: Row  # x: m, rad
    rate: Row  # ẋ


class Bushing(ForceElement):
    """Kelvin–Voigt in six coordinates: three of place and three of the rotation vector, in the axes of the other's frame.

    A rotation vector is unique up to half a turn. A brake limits the elastic force along the x axis of that frame: beyond
    it, the place from which the stretch counts slides along x.
    """

    own_frame: Pose  # on the first body: m from its centre of mass, frame → body axes
    other_frame: Pose  # on the other body
    stiffness: Float[Array, "6 6"]  # K, symmetric: N/m, N, N m/rad
    damping: Float[Array, "6 6"] | None = None  # C: N s/m, N s, N m s/rad
    brake: Brake | None = None
    ratio: Float[Array, ""] | None = None  # ζ along and about every axis alone, until `with_damping_of` makes it C

    def init(self, own: Placed, other: Placed) -> ElementMemory:
        lossy = self.damping is not None or self.brake is not None
        return nothing_yet(*["slide"] * (self.brake is not None), *["dissipated"] * lossy)

    def act(self, mode: Mode, memory: ElementMemory, own: Placed, other: Placed) -> tuple[Action, ElementMemory]:
        now, load, rate = self._load(mode, memory, own, other)
        return self._apply(now, load), rate

    def borne(self, mode: Mode, memory: ElementMemory, own: Placed, other: Placed) -> Row:
        return self._load(mode, memory, own, other)[1]

    def act_beyond(
        self, borne: Row, mode: Mode, memory: ElementMemory, own: Placed, other: Placed
    ) -> tuple[Action, ElementMemory]:
        now, load, rate = self._load(mode, memory, own, other)
        return self._apply(now, load - borne), rate

    def _load(
        self, mode: Mode, memory: ElementMemory, own: Placed, other: Placed
    ) -> tuple[_Instant, Row, ElementMemory]:
        """Return where it is, the load (N, N m) of spring and damper along x, and the rate of what is remembered."""
        now = self._instant(own, other)
        elastic, along = self._elastic_gradient(mode, memory, now)
        drag = jnp.zeros(6) if self.damping is None else self.damping @ now.rate
        rate, power = memory, jnp.dot(drag, now.rate)
        if self.brake is not None and mode is not None:
            rate = rate._replace(slide=self.brake.rate(mode, along))
            power += self.brake.power(mode, along)
        if memory.dissipated is not None:
            rate = rate._replace(dissipated=power)
        return now, elastic + drag, rate

    def _apply(self, now: _Instant, load: Row) -> Action:
        """Return what a load (N, N m) along x does to the bodies."""
        force, moment = Vector.of(load[:3]), rotation_vector_rate(-now.turn, Vector.of(load[3:]))
        return Action(now.base @ -force, now.base @ -moment, now.point)

    def settle(self, memory: ElementMemory, own: Placed, other: Placed) -> tuple[Mode, ElementMemory]:
        if self.brake is None or memory.slide is None:
            return None, memory
        now = self._instant(own, other)
        stretch, rate = self._coordinate_along(now.stretch), self._coordinate_along(now.rate)
        mode, slide = self.brake.settle(memory.slide, self.stiffness[0, 0], stretch, rate)
        lost = 0.5 * self.stiffness[0, 0] * ((stretch - memory.slide) ** 2 - (stretch - slide) ** 2)
        return mode, memory.slid(slide, lost)

    def guards(self, mode: Mode, memory: ElementMemory, own: Placed, other: Placed) -> tuple[Scalar, ...]:
        if self.brake is None or mode is None:
            return ()
        elastic, along = self._elastic_gradient(mode, memory, self._instant(own, other))
        return self.brake.guards(mode, elastic[0], along)

    def jump(
        self,
        mode: Mode,
        fired: tuple[Bool[Array, ""], ...],
        memory: ElementMemory,
        own: Placed,
        other: Placed,
    ) -> tuple[Mode, ElementMemory]:
        if self.brake is None or mode is None:
            return mode, memory
        now = self._instant(own, other)
        memory = memory._replace(slide=self._slide(mode, memory, now))
        return self.brake.next_mode(mode, (fired[0], fired[1]), self._coordinate_along(now.rate)), memory

    def stored_energy(self, mode: Mode, memory: ElementMemory, own: Placed, other: Placed) -> Scalar:
        now = self._instant(own, other)
        elastic, _ = self._elastic_gradient(mode, memory, now)
        return 0.5 * jnp.dot(elastic, self._elastic_stretch(mode, memory, now))

    def observe(self, mode: Mode, memory: ElementMemory, own: Placed, other: Placed) -> dict[str, Array]:
        """Return its `stretch` and the `load` (N, N m) of spring and damper against it, six numbers each; and the angle (rad,
        up to 2π) by which it is `turned`: the stretch goes on from the other side of half a turn, this does not."""
        now = self._instant(own, other)
        elastic, _ = self._elastic_gradient(mode, memory, now)
        drag = jnp.zeros(6) if self.damping is None else self.damping @ now.rate
        turned = self._relative_attitude(own, other)
        angle = 2 * jnp.arctan2(jnp.linalg.norm(turned.vector().array()), turned.w)
        return {"stretch": now.stretch, "load": elastic + drag, "turned": angle}

    @property
    def is_damped_relatively(self) -> bool:
        return self.ratio is not None

    def effective_masses(self, own: Placed, other: Placed, opposing: Opposing) -> Float[Array, "*lines"]:
        now, origin = self._instant(own, other), other.point(self.other_frame.position)
        axes = [now.base @ axis for axis in unit_vectors()]
        along = [opposing.along(now.point, origin, axis) for axis in axes]
        return jnp.stack([*along, *map(opposing.about, axes)])

    def with_damping_of(self, masses: Float[Array, "*lines"]) -> Bushing:
        if self.ratio is None:
            return self
        found = damping_of_ratio(self.ratio, jnp.diag(self.stiffness), masses)
        return replace(self, damping=jnp.diag(found), ratio=None)

    def dashpots(self) -> dict[str, Float[Array, "*lines"]]:
        return {} if self.damping is None else {"damping": jnp.diag(self.damping)}

    def half_versine(self, own: Placed, other: Placed) -> Scalar:
        """Return 1 − cos(α / 2), α the angle that `observe` calls `turned`: it grows with it, smoothly, and is 1 at half a
        turn."""
        return 1.0 - self._relative_attitude(own, other).w

    def _instant(self, own: Placed, other: Placed) -> _Instant:
        point, origin = own.point(self.own_frame.position), other.point(self.other_frame.position)
        turn = self._relative_attitude(own, other).logarithm()
        base = once((other.pose.attitude * self.other_frame.attitude).matrix())
        place = base.transposed_times(point - origin)
        moves = base.transposed_times(own.velocity(point) - other.velocity(point))
        turns = rotation_vector_rate(turn, base.transposed_times(own.rate - other.rate))
        stretch = jnp.concatenate([place.array(), turn.array()])
        return once(_Instant(base, point, turn, stretch, jnp.concatenate([moves.array(), turns.array()])))

    def _relative_attitude(self, own: Placed, other: Placed) -> Quaternion:
        """Return the attitude of the first body's frame in the other's; its sign goes on as those of the bodies do."""
        attitude = other.pose.attitude * self.other_frame.attitude
        return attitude.conjugate() * (own.pose.attitude * self.own_frame.attitude)

    def _coordinate_along(self, row: Row) -> Scalar:
        """Return the coordinate along x that the elastic force there is proportional to, of x or of ẋ."""
        return jnp.dot(self.stiffness[0], row) / self.stiffness[0, 0]

    def _slide(self, mode: Mode, memory: ElementMemory, now: _Instant) -> Scalar:
        if self.brake is None or mode is None or memory.slide is None:
            return jnp.zeros(())
        return self.brake.slide(mode, memory.slide, self.stiffness[0, 0], self._coordinate_along(now.stretch))

    def _elastic_stretch(self, mode: Mode, memory: ElementMemory, now: _Instant) -> Row:
        """Return the elastic part of the stretch."""
        return now.stretch.at[0].add(-self._slide(mode, memory, now))

    def _elastic_gradient(self, mode: Mode, memory: ElementMemory, now: _Instant) -> tuple[Row, Scalar]:
        """Return the potential's gradient, and the rate (m/s) of the coordinate along x."""
        return self.stiffness @ self._elastic_stretch(mode, memory, now), self._coordinate_along(now.rate)
