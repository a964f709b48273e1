"""A station with an arm, its payload and a docking bay, in orbit: the kind `orbital-arm`.

Coordinates are the system's centre of mass against the reference orbit, the station's attitude, and the joints. So the
linear momentum stands apart, a moving frame changes nothing, and the momentum of the attitude is the angular momentum
about the centre of mass: without gravity neither has a force, and both are constant to the last digit.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from dockdyn.contact.surface import Surface
from dockdyn.control.schedule import Schedule
from dockdyn.impact.contact_matrix import contact_matrix, holding
from dockdyn.impact.laws import resolve
from dockdyn.impact.result import settled
from dockdyn.integrate.mechanical import Jump, Mechanical, Numbers, Row
from dockdyn.integrate.model import Flag, Scalar
from dockdyn.mechanics.dense import solve_definite
from dockdyn.mechanics.orbit import Orbit
from dockdyn.mechanics.planar_tree import Pair, PlanarTree
from dockdyn.mechanics.rotation import Quaternion
from dockdyn.mechanics.screws import applied
from dockdyn.mechanics.spatial_tree import SpatialTree
from dockdyn.mechanics.vector import Matrix, Vector

Three = Float[Array, "3"]
VARIATIONAL = "variational"  # law of impact, besides those of `impact`
AWAY = -1.0  # m: depth of contacts that are switched off
RECORDS = ("approach_speed", "impulse_normal", "impulse_tangential", "energy_loss", "latches")  # of a jump


class Mode(NamedTuple):
    """What only jumps."""

    phase: Int[Array, ""]  # of the schedule
    since: Scalar  # s, when it began
    latched: Flag
    released: Flag  # the payload belongs to the station
    resting: Bool[Array, "contacts"]
    place: Three  # m, of the payload where it was caught, station axes
    attitude: Float[Array, "4"]  # payload → station axes there


class Touch(eqx.Module):
    """Points of the payload and surfaces of the station."""

    points: Float[Array, "points 3"]  # m, payload axes
    surfaces: tuple[Surface, ...]  # station axes
    link: int = eqx.field(static=True)  # the payload


class Latch(eqx.Module):
    """An impact on one of the surfaces closes it."""

    surface: int = eqx.field(static=True)
    weld: bool = eqx.field(static=True)  # holds the payload's attitude, too
    guest: int = eqx.field(static=True)  # link, locked to the station, that is the payload once it has been handed over


class Law(eqx.Module):
    """How velocities jump at an impact."""

    parameters: dict[str, Scalar]
    rest_speed: Scalar  # m/s
    name: str = eqx.field(static=True)


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
    release: tuple[bool, ...] = eqx.field(static=True)  # by phase: whether the payload changes hands at its beginning
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
        return self.latch is not None

    @property
    def discrete(self) -> bool:
        return self.law.name == VARIATIONAL

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

    def lagrangian(self, t: Scalar, q: Numbers, v: Row, mode: Mode) -> Scalar:
        centre, attitude, joints, moving, spin, rates = self.split(q, v)
        bodies: Any = self.held(mode)
        placed = bodies.placed(joints, spin, rates)
        whole = jnp.sum(bodies.mass) if isinstance(bodies, PlanarTree) else jnp.sum(bodies.mass())
        speed = moving.dot(moving) if self.planar else moving @ moving
        energy = bodies.kinetic(placed) + 0.5 * whole * speed
        if self.orbit is not None:
            energy = energy - bodies.potential(self.orbit, t, centre, attitude, placed)
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

    def pose(self, q: Numbers, link: int) -> tuple[Three, Float[Array, "3 3"]]:
        """Origin (m) and rotation of a link in station axes."""
        _, _, joints, _, spin, rates = self.split(q, jnp.zeros(self.velocity.shape[0]))
        if isinstance(self.bodies, PlanarTree):
            placed = self.bodies.placed(joints, spin, rates)
            zero, one = jnp.zeros(()), jnp.ones(())
            x, y = (jnp.asarray(part[link], float) for part in placed.turn)
            at = (jnp.asarray(part[link], float) for part in placed.origin)
            return jnp.stack([*at, zero]), jnp.stack([x, -y, zero, y, x, zero, zero, zero, one]).reshape(3, 3)
        motion = self.bodies.placed(joints, spin, rates)
        return motion.position[link], motion.rotation[link]

    def places(self, q: Numbers) -> Float[Array, "points 3"]:
        """Contact points (m) in station axes."""
        if self.touch is None:
            return jnp.zeros((0, 3))
        origin, turn = self.pose(q, self.touch.link)
        return origin + applied(turn, self.touch.points)

    def depths(self, q: Numbers) -> Float[Array, "contacts"]:
        """Point by point, over the surfaces (m)."""
        if self.touch is None:
            return jnp.zeros(0)
        surfaces, places = self.touch.surfaces, self.places(q)

        def each(place: Three) -> Float[Array, "surfaces"]:
            return -jnp.stack([surface.signed_distance(Vector.of(place)) for surface in surfaces])

        return each(places[0]) if places.shape[0] == 1 else jax.vmap(each)(places).ravel()

    def guards(self, t: Scalar, q: Numbers, mode: Mode) -> Float[Array, "guards"]:
        """Depths, then how far the phase is over its time."""
        found = self.depths(q)
        if self.latch is not None:
            found = jnp.where(mode.latched, AWAY, found)
        if self.timed and self.control is not None:
            found = jnp.concatenate([found, (t - mode.since - self.control.lasts[mode.phase])[None]])
        return found

    def ties(self, q: Numbers, mode: Mode) -> Float[Array, "ties"]:
        """How far the payload is from where the latch caught it (m, rad)."""
        if self.latch is None or self.touch is None:
            return jnp.zeros(0)
        place, turn = self.pose(q, self.touch.link)
        apart = place - mode.place
        if not self.latch.weld:
            return apart[:2] if self.planar else apart
        caught = Quaternion.of(mode.attitude).matrix().array()
        # half the axial vector of the rotation from the one attitude to the other: zero, and of slope one, where they agree
        off = caught.T @ turn
        twist = 0.5 * jnp.stack([off[2, 1] - off[1, 2], off[0, 2] - off[2, 0], off[1, 0] - off[0, 1]])
        return jnp.concatenate([apart[:2], twist[2:]]) if self.planar else jnp.concatenate([apart, twist])

    def acting(self, mode: Mode) -> tuple[Bool[Array, "guards"], Bool[Array, "ties"]]:
        timers = jnp.zeros(int(self.timed), bool)
        ties = 0
        if self.latch is not None:
            ties = 2 * self.dimensions - (self.dimensions == 2) if self.latch.weld else self.dimensions
        return jnp.concatenate([mode.resting, timers]), jnp.full(ties, mode.latched & ~mode.released)

    @property
    def dimensions(self) -> int:
        return 2 if self.planar else 3

    def records(self) -> int:
        return len(RECORDS)

    def scaled(self, record: Float[Array, "records"], factor: Scalar) -> Float[Array, "records"]:
        speed, impulse = record[0], record[1]
        return record.at[1].multiply(factor).at[3].set(factor * (1 - factor) * speed * impulse)

    def parted(self, mode: Mode, pulled: Bool[Array, "guards"]) -> Mode:
        return mode._replace(resting=mode.resting & ~pulled[: self.contacts])

    def jump(self, t: Scalar, q: Numbers, v: Row, mass: Float[Array, "n n"], mode: Mode, fired: Int[Array, ""]) -> Jump:
        if not self.timed:
            return self.struck(t, q, v, mass, mode, fired)

        def next_phase() -> Jump:
            return Jump(jnp.zeros_like(v), self.following(t, mode), jnp.zeros(len(RECORDS)))

        if not self.contacts:
            return next_phase()
        return jax.lax.cond(fired >= self.contacts, next_phase, lambda: self.struck(t, q, v, mass, mode, fired))

    def following(self, t: Scalar, mode: Mode) -> Mode:
        """The mode as the next phase of the schedule begins."""
        if self.control is None:
            return mode
        phase = jnp.minimum(mode.phase + 1, len(self.release) - 1)
        released = mode.released | (jnp.array(self.release)[phase] & mode.latched)
        return mode._replace(phase=phase, since=t, released=released)

    def struck(
        self, t: Scalar, q: Numbers, v: Row, mass: Float[Array, "n n"], mode: Mode, fired: Int[Array, ""]
    ) -> Jump:
        """The impact of a contact, by the law, or by the latch."""
        rows = self.contact_rows(q, fired)
        matrix, velocity = contact_matrix(rows, mass), rows @ v
        if self.discrete:
            found = resolve("frictionless", matrix, velocity, restitution=1.0)
        else:
            found = resolve(self.law.name, matrix, velocity, **self.law.parameters)
        if self.rests:
            found = settled(found, matrix, velocity, self.law.rest_speed)
        slow = found.velocity[0] < self.law.rest_speed
        resting = jnp.zeros_like(mode.resting).at[fired].set(slow & self.rests)
        sideways = jnp.sqrt(jnp.sum(found.impulse[1:] ** 2))
        record = jnp.stack([-velocity[0], found.impulse[0], sideways, found.energy_loss, jnp.zeros(())])
        by_law = Jump(rows.T @ found.impulse, mode._replace(resting=resting), record)
        if self.latch is None or self.touch is None:
            return by_law
        caught = fired % len(self.touch.surfaces) == self.latch.surface
        return jax.lax.cond(caught, lambda: self.caught(t, q, v, mass, mode, rows), lambda: by_law)

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
        moving = jax.jacfwd(place)(joints)
        at = Vector.of(place(joints))
        normals = jnp.stack([surface.distance_and_normal(at)[1].array() for surface in surfaces])
        normal = normals[fired % len(surfaces)]
        axes = jnp.concatenate([normal[None], across(normal, self.planar)])
        own = axes @ moving
        return jnp.concatenate([jnp.zeros((own.shape[0], self.velocity.shape[0] - size)), own], axis=1)

    def caught(
        self, t: Scalar, q: Numbers, v: Row, mass: Float[Array, "n n"], mode: Mode, rows: Float[Array, "rows n"]
    ) -> Jump:
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
        impulse = gradient.T @ holding(mass, gradient, gradient @ v)
        after = v + solve_definite(mass, impulse)
        loss = -0.5 * (v + after) @ impulse
        share = solve_definite(rows @ rows.T, rows @ impulse)  # what of it acts along the contact's axes
        record = jnp.stack([-(rows @ v)[0], share[0], jnp.sqrt(jnp.sum(share[1:] ** 2)), loss, jnp.ones(())])
        return Jump(impulse, self.following(t, closed), record)

    def tie_rows(self, q: Numbers, mode: Mode) -> Float[Array, "ties n"]:
        """Gradient of the ties."""
        size = self.stiffness.shape[0]
        first = q.shape[0] - size
        own = jax.jacfwd(lambda joints: self.ties(q.at[first:].set(joints), mode))(q[first:])
        return jnp.concatenate([jnp.zeros((own.shape[0], self.velocity.shape[0] - size)), own], axis=1)


def across(normal: Three, planar: bool) -> Float[Array, "tangents 3"]:
    """Unit vectors across a unit normal; one in the plane."""
    if planar:
        return jnp.stack([-normal[1], normal[0], jnp.zeros(())])[None]
    least = jnp.eye(3)[jnp.argmin(jnp.abs(normal))]
    first = jnp.cross(normal, least)
    first = first / jnp.linalg.norm(first)
    return jnp.stack([first, jnp.cross(normal, first)])


def handed_over_in_plane(bodies: PlanarTree, payload: int, guest: int, mode: Mode) -> PlanarTree:
    """The bodies with the payload's mass in the arm's hand or, released, at the station."""
    arm = jnp.where(mode.released, 0.0, 1.0)
    mass, inertia, tensor = bodies.mass, bodies.inertia, bodies.tensor
    station = 1.0 - arm
    turn = Quaternion.of(mode.attitude).matrix().array()
    centre = turn[:2, :2] @ bodies.centre[payload]
    return eqx.tree_at(
        lambda b: (b.mass, b.inertia, b.tensor, b.mount, b.centre),
        bodies,
        (
            mass.at[guest].set(station * mass[payload]).at[payload].multiply(arm),
            inertia.at[guest].set(station * inertia[payload]).at[payload].multiply(arm),
            tensor.at[guest].set(station * (turn @ tensor[payload] @ turn.T)).at[payload].multiply(arm),
            bodies.mount.at[guest].set(mode.place[:2]),
            bodies.centre.at[guest].set(centre),
        ),
    )


def handed_over(bodies: SpatialTree, payload: int, guest: int, mode: Mode) -> SpatialTree:
    """The same in space."""
    arm = jnp.where(mode.released, 0.0, 1.0)
    links = bodies.tree.links
    inertia = links.inertia.at[guest].set((1.0 - arm) * links.inertia[payload]).at[payload].multiply(arm)
    turn = Quaternion.of(mode.attitude).matrix().array()
    return eqx.tree_at(
        lambda b: (b.tree.links.inertia, b.tree.links.mount, b.tree.links.mount_turn),
        bodies,
        (inertia, links.mount.at[guest].set(mode.place), links.mount_turn.at[guest].set(turn)),
    )
