"""A station with an arm, its payload and a docking bay, in orbit: the kind `orbital-arm`.

Coordinates are the system's centre of mass against the reference orbit, the station's attitude, and the joints. So the
linear momentum stands apart, a moving frame changes nothing, and the momentum of the attitude is the angular momentum
about the centre of mass: without gravity neither has a force, and both are constant to the last digit.

Units: SI throughout.
Source: Gibson and Murphey; coordinates about the centre of mass, own derivation.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from dockdyn.control.schedule import Schedule
from dockdyn.impact.laws.by_name import resolve
from dockdyn.impact.laws.result import settled
from dockdyn.integrate.model import Scalar
from dockdyn.integrate.variational.mechanical import Jump, Mechanical, Numbers, Row, stopping
from dockdyn.kinds.orbital_arm.model_parts import (
    Latch,
    Law,
    Loop,
    Mode,
    Touch,
    across,
    handed_over,
    handed_over_in_plane,
)
from dockdyn.mechanics.dense import jacobian, solve_definite
from dockdyn.mechanics.frames_apart import apart
from dockdyn.mechanics.orbit import Orbit
from dockdyn.mechanics.rotation import Quaternion
from dockdyn.mechanics.trees.planar import Pair, PlanarTree
from dockdyn.mechanics.trees.screws import applied, product
from dockdyn.mechanics.trees.spatial import SpatialTree
from dockdyn.mechanics.vector import Matrix, Vector
from dockdyn.programs import trace_once

Three = Float[Array, "3"]
VARIATIONAL = "variational"  # law of impact, besides those of `impact`
AWAY = -1.0  # m: depth of contacts that are switched off
RECORDS = (  # of a jump
    "approach_speed",
    "impulse_normal",
    "impulse_tangential",
    "energy_loss",
    "latches",
    "phase",
    "released",
)


class OrbitalArm(Mechanical):
    """Numbers of the configuration: centre of mass (m), attitude (rad in the plane, else a quaternion), joints."""

    bodies: PlanarTree | SpatialTree
    start: Numbers
    velocity: Row  # at t = 0; m/s, rad/s (in space in station axes), joint rates
    stiffness: Float[Array, "joints"]  # of springs in the joints
    damping: Float[Array, "joints"]
    rest: Float[Array, "joints"]
    orbit: Orbit | None
    touch: Touch | None
    law: Law
    latch: Latch | None
    control: Schedule | None
    loops: tuple[Loop, ...]
    release: tuple[bool, ...] = eqx.field(static=True)  # by phase: whether the payload changes hands at its beginning
    waits: tuple[bool, ...] = eqx.field(static=True)  # by phase: whether it lasts until the latch has closed
    dissipative: bool = eqx.field(static=True)  # whether contacts may come to rest
    passive: bool = eqx.field(static=True)  # no springs or dampers in the joints

    @property
    def planar(self) -> bool:
        return isinstance(self.bodies, PlanarTree)

    @property
    def attitudes(self) -> tuple[int, ...]:
        return () if self.planar else (3,)

    @property
    def rests(self) -> bool:
        return self.dissipative

    @property
    def tied(self) -> bool:
        return self.latch is not None or bool(self.loops)

    @property
    def discrete(self) -> bool:
        return self.law.impact.name == VARIATIONAL

    @property
    def contacts(self) -> int:
        return 0 if self.touch is None else self.touch.points.shape[0] * len(self.touch.surfaces)

    @property
    def timed(self) -> bool:
        """Whether a phase may end by time."""
        return self.control is not None and self.control.set_points.shape[0] > 1

    def initial(self) -> tuple[Numbers, Row, Mode]:
        never = jnp.zeros((), bool)
        upright = jnp.zeros(4).at[0].set(1.0)
        resting = jnp.zeros(self.contacts, bool)
        mode = Mode(jnp.zeros((), int), jnp.zeros(()), never, never, resting, jnp.zeros(3), upright)
        return self.start, self.velocity, mode

    def split(self, q: Numbers, v: Row) -> tuple[Any, Any, Any, Any, Any, Any]:
        """Centre, attitude and joints, and their rates."""
        if self.planar:
            return Pair(q[0], q[1]), q[2], q[3:], Pair(v[0], v[1]), v[2], v[3:]
        return q[:3], q[3:7], q[7:], v[:3], v[3:6], v[6:]

    def held(self, mode: Mode) -> PlanarTree | SpatialTree:
        """The bodies, the payload with whoever has it."""
        if self.latch is None or self.touch is None:
            return self.bodies
        guest, payload = self.latch.guest, self.touch.link
        if isinstance(self.bodies, PlanarTree):
            return handed_over_in_plane(self.bodies, payload, guest, mode)
        return handed_over(self.bodies, payload, guest, mode)

    @trace_once
    def lagrangian(self, t: Scalar, q: Numbers, v: Row, mode: Mode) -> Scalar:
        centre, attitude, joints, moving, spin, rates = self.split(q, v)
        bodies = self.held(mode)
        if isinstance(bodies, PlanarTree):
            place: Any = bodies.placed(joints, spin, rates)
            energy = bodies.kinetic(place) + 0.5 * jnp.sum(bodies.mass) * moving.dot(moving)
        else:
            place = joints
            energy = bodies.kinetic(joints, spin, rates) + 0.5 * jnp.sum(bodies.masses()) * (moving @ moving)
        if self.orbit is not None:
            energy = energy - bodies.potential(self.orbit, t, centre, attitude, place)
        if not self.passive:
            energy = energy - 0.5 * jnp.sum(self.stiffness * (joints - self.rest) ** 2)
        return energy

    def force(self, t: Scalar, q: Numbers, v: Row, mode: Mode) -> Row:
        _, _, joints, _, _, rates = self.split(q, v)
        torque = self.torques(t, joints, rates, mode)
        if not self.passive:
            torque = torque - self.damping * rates
        return jnp.concatenate([jnp.zeros(v.shape[0] - joints.shape[0]), torque])

    def torques(self, t: Scalar, joints: Row, rates: Row, mode: Mode) -> Row:
        """Of the motors (N m, N)."""
        if self.control is None:
            return jnp.zeros_like(rates)
        phase = mode.phase if self.timed else jnp.zeros((), int)
        return self.control.torques(phase, t - mode.since, joints, rates)

    @partial(trace_once, static=("link",))
    def pose(self, q: Numbers, link: int) -> tuple[Three, Float[Array, "3 3"]]:
        """Origin (m) and rotation of a link in station axes."""
        _, _, joints, _, spin, rates = self.split(q, jnp.zeros(self.velocity.shape[0]))
        if isinstance(self.bodies, PlanarTree):
            placed = self.bodies.placed(joints, spin, rates)
            zero, one = jnp.zeros(()), jnp.ones(())
            x, y = (jnp.asarray(part[link], float) for part in placed.turn)
            at = (jnp.asarray(part[link], float) for part in placed.origin)
            turn = jnp.stack([x, -y, zero, y, x, zero, zero, zero, one]).reshape(3, 3)
            return jnp.stack([*at, zero]), product(turn, self.bodies.still[link])
        poses = self.bodies.poses(joints)
        return poses.position[link], poses.rotation[link]

    def places(self, q: Numbers) -> Float[Array, "points 3"]:
        """Contact points (m) in station axes."""
        if self.touch is None:
            return jnp.zeros((0, 3))
        origin, turn = self.pose(q, self.touch.link)
        return origin + applied(turn, self.touch.points)

    @trace_once
    def depths(self, q: Numbers) -> Float[Array, "contacts"]:
        """Point by point, over the surfaces (m)."""
        if self.touch is None:
            return jnp.zeros(0)
        surfaces, places = self.touch.surfaces, self.places(q)

        def each(place: Three) -> Float[Array, "surfaces"]:
            return -jnp.stack([surface.signed_distance(Vector.of(place)) for surface in surfaces])

        return each(places[0]) if places.shape[0] == 1 else jax.vmap(each)(places).ravel()

    @trace_once
    def guards(self, t: Scalar, q: Numbers, mode: Mode) -> Float[Array, "guards"]:
        """Depths, then how far the phase is over its time."""
        found = self.depths(q)
        if self.latch is not None:
            found = jnp.where(mode.latched, AWAY, found)
        if self.timed and self.control is not None:
            found = jnp.concatenate([found, (t - mode.since - self.control.lasts[mode.phase])[None]])
        return found

    def ties(self, q: Numbers, mode: Mode) -> Float[Array, "ties"]:
        """How far loops are from closed, and the payload from where the latch caught it (m, rad)."""
        found = [jnp.zeros(0)]
        for loop in self.loops:
            (first, turn), (second, other) = (self.pose(q, link) for link in loop.links)
            ends = (first + turn @ loop.points[0], turn @ loop.off), (second + other @ loop.points[1], other)
            found.append(apart(*ends, loop.weld, self.planar))
        if self.latch is not None and self.touch is not None:
            caught = mode.place, Quaternion.of(mode.attitude).matrix().array()
            found.append(apart(caught, self.pose(q, self.touch.link), self.latch.weld, self.planar))
        return jnp.concatenate(found)

    def acting(self, mode: Mode) -> tuple[Bool[Array, "guards"], Bool[Array, "ties"]]:
        timers = jnp.zeros(int(self.timed), bool)
        ties = jnp.ones(sum(self.rows(loop.weld) for loop in self.loops), bool)
        if self.latch is not None:
            held = jnp.full(self.rows(self.latch.weld), mode.latched & ~mode.released)
            ties = jnp.concatenate([ties, held])
        return jnp.concatenate([mode.resting, timers]), ties

    def rows(self, weld: bool) -> int:
        """Of a tie."""
        if self.planar:
            return 3 if weld else 2
        return 6 if weld else 3

    def records(self) -> int:
        return len(RECORDS)

    def scaled(self, record: Float[Array, "records"], factor: Scalar) -> Float[Array, "records"]:
        speed, impulse = record[0], record[1]
        return record.at[1].multiply(factor).at[3].set(factor * (1 - factor) * speed * impulse)

    def parted(self, mode: Mode, pulled: Bool[Array, "guards"]) -> Mode:
        return mode._replace(resting=mode.resting & ~pulled[: self.contacts])

    def jump(self, t: Scalar, q: Numbers, v: Row, mass: Float[Array, "n n"], mode: Mode, fired: Int[Array, ""]) -> Jump:
        def next_phase() -> Jump:
            ended = mode._replace(phase=mode.phase + 1, since=t)
            return Jump(jnp.zeros_like(v), ended, jnp.zeros((), bool), jnp.zeros(len(RECORDS) - 2))

        if not self.contacts:
            found = next_phase()
        elif not self.timed:
            found = self.struck(q, v, mass, mode, fired)
        else:
            over = fired >= self.contacts
            found = jax.lax.cond(over, next_phase, lambda: self.struck(q, v, mass, mode, fired))
        after = self.following(t, mode.phase, found.mode)
        return found._replace(
            mode=after, record=jnp.concatenate([found.record, jnp.stack([after.phase, after.released]) * 1.0])
        )

    def following(self, t: Scalar, before: Int[Array, ""], mode: Mode) -> Mode:
        """The mode in the phase that it comes to: one that waits for a latch that has closed is over at once."""
        phase = mode.phase
        for index, wait in enumerate(self.waits):
            phase = jnp.where((phase == index) & mode.latched, index + 1, phase) if wait else phase
        entered = (jnp.arange(len(self.release)) > before) & (jnp.arange(len(self.release)) <= phase)
        released = mode.released | (jnp.any(entered & jnp.array(self.release, bool)) & mode.latched)
        return mode._replace(phase=phase, since=jnp.where(phase != before, t, mode.since), released=released)

    def struck(self, q: Numbers, v: Row, mass: Float[Array, "n n"], mode: Mode, fired: Int[Array, ""]) -> Jump:
        """The impact of a contact, by the law, or by the latch."""
        rows = self.contact_rows(q, fired)
        velocity = rows @ v
        free = solve_definite(mass, rows.T)
        closed = self.tie_rows(q, mode)[: sum(self.rows(loop.weld) for loop in self.loops)]
        holds = stopping(mass, closed, closed @ free, jnp.ones(closed.shape[0], bool))
        matrix = rows @ (free + solve_definite(mass, closed.T) @ holds)
        if self.discrete:
            found = resolve("frictionless", matrix, velocity, restitution=1.0)
        else:
            found = self.law.impact.resolve(matrix, velocity)
        if self.rests:
            found = settled(found, matrix, velocity, self.law.rest_speed)
        slow = found.velocity[0] < self.law.rest_speed
        sideways = jnp.sqrt(jnp.sum(found.impulse[1:] ** 2))
        record = jnp.stack([-velocity[0], found.impulse[0], sideways, found.energy_loss, jnp.zeros(())])
        impulse = rows.T @ found.impulse + closed.T @ (holds @ found.impulse)
        # what rests goes on resting, unless it is thrown off or pushed in
        after = v + solve_definite(mass, impulse)
        calm = jnp.abs(self.contact_rates(q, after)) < self.law.rest_speed
        resting = (mode.resting & calm).at[fired].set(slow & self.rests)
        by_law = Jump(impulse, mode._replace(resting=resting), jnp.ones((), bool), record)
        if self.latch is None or self.touch is None:
            return by_law
        caught = fired % len(self.touch.surfaces) == self.latch.surface
        return jax.lax.cond(caught, lambda: self.caught(q, v, mass, mode, rows), lambda: by_law)

    def contact_rows(self, q: Numbers, fired: Int[Array, ""]) -> Float[Array, "rows n"]:
        """Velocity of the contact point against the station by all velocities: along the normal, then across."""
        assert self.touch is not None
        link, surfaces = self.touch.link, self.touch.surfaces
        point = self.touch.points[fired // len(surfaces)]

        def place(joints: Float[Array, "joints"]) -> Three:
            origin, turn = self.pose(q.at[q.shape[0] - joints.shape[0] :].set(joints), link)
            return origin + turn @ point

        size = self.stiffness.shape[0]
        joints = q[q.shape[0] - size :]
        at, moving = jacobian(place, joints)
        normals = jnp.stack([surface.distance_and_normal(Vector.of(at))[1].array() for surface in surfaces])
        normal = normals[fired % len(surfaces)]
        axes = jnp.concatenate([normal[None], across(normal, self.planar)])
        own = axes @ moving
        return jnp.concatenate([jnp.zeros((own.shape[0], self.velocity.shape[0] - size)), own], axis=1)

    def contact_rates(self, q: Numbers, v: Row) -> Float[Array, "contacts"]:
        """Rates of the depths (m/s)."""
        size = self.stiffness.shape[0]
        still = jnp.concatenate([jnp.zeros(q.shape[0] - size), v[v.shape[0] - size :]])
        return jax.jvp(self.depths, (q,), (still,))[1]

    def caught(self, q: Numbers, v: Row, mass: Float[Array, "n n"], mode: Mode, rows: Float[Array, "rows n"]) -> Jump:
        """The latch falls in: what it holds from now on stops, plastically."""
        assert self.touch is not None
        place, turn = self.pose(q, self.touch.link)
        attitude = Quaternion.from_matrix(Matrix.of(turn)).array()
        closed = mode._replace(
            latched=jnp.ones((), bool),
            resting=jnp.zeros_like(mode.resting),
            place=place,
            attitude=attitude,
        )
        gradient = self.tie_rows(q, closed)
        impulse = gradient.T @ stopping(mass, gradient, gradient @ v, jnp.ones(gradient.shape[0], bool))
        after = v + solve_definite(mass, impulse)
        loss = -0.5 * (v + after) @ impulse
        # what of it acts along the contact's axes; in some of them the point may not move at all
        normal = rows @ rows.T
        share = solve_definite(normal + 1e-12 * jnp.trace(normal) * jnp.eye(len(normal)), rows @ impulse)
        record = jnp.stack([-(rows @ v)[0], share[0], jnp.sqrt(jnp.sum(share[1:] ** 2)), loss, jnp.ones(())])
        return Jump(impulse, closed, jnp.zeros((), bool), record)

    def tie_rows(self, q: Numbers, mode: Mode) -> Float[Array, "ties n"]:
        """Gradient of the ties."""
        size = self.stiffness.shape[0]
        first = q.shape[0] - size
        _, own = jacobian(lambda joints: self.ties(q.at[first:].set(joints), mode), q[first:])
        return jnp.concatenate([jnp.zeros((own.shape[0], self.velocity.shape[0] - size)), own], axis=1)
