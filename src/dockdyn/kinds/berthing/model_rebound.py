"""Contact that trees of links find again once they have parted: further impacts, and rest against each other.

Units: SI: m, m/s, N, N s.
Source: impact laws of `impact`; rest as a constraint, own derivation, in the page of theory.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from dockdyn.contact.feature import Feature
from dockdyn.contact.gate import APART
from dockdyn.contact.laws.friction import Friction
from dockdyn.contact.pair import ContactKinematics, contact_kinematics
from dockdyn.contact.surfaces.surface import Surface
from dockdyn.impact.laws.contact_matrix import constrained_contact_matrix, contact_matrix, velocity_jump
from dockdyn.impact.laws.result import Impact, settled
from dockdyn.integrate.model import Scalar, State
from dockdyn.mechanics.constrained import constrained
from dockdyn.mechanics.rigid_body import Placed, Pose, Twist
from dockdyn.mechanics.rotation import Quaternion
from dockdyn.mechanics.trees.composite_bodies import Motion
from dockdyn.mechanics.trees.screws import cross_matrix
from dockdyn.mechanics.vector import Matrix, Vector

if TYPE_CHECKING:
    from dockdyn.control.tree_plant import TreePlant
    from dockdyn.kinds.berthing.model import Berthing, Side

RESTING = 1  # mode, besides APART


class Rebound(eqx.Module):
    """A feature of the chaser and a surface of the target that meet in impacts.

    An impact that would leave less than `rest_speed` of normal velocity leaves none; what is pressed together then rests:
    the normal velocity is held at zero until the force that does it would pull. Friction at rest is regularised, `friction`.
    """

    feature: Feature
    surface: Surface
    friction: Friction | None
    rest_speed: Scalar  # m/s


class Hit(NamedTuple):
    """The impact that came last; zeros before there is one."""

    speed: Scalar  # m/s, of approach
    normal: Scalar  # N s
    tangential: Scalar
    loss: Scalar  # J

    @staticmethod
    def nothing() -> Hit:
        return Hit(*[jnp.zeros(())] * 4)

    @staticmethod
    def of(velocity: Float[Array, "rows"], found: Impact, tangents: int) -> Hit:
        sideways = jnp.linalg.norm(found.impulse[1 : 1 + tangents])
        return Hit(-velocity[0], found.impulse[0], sideways, found.energy_loss)


def _at_origin(twist: Float[Array, "6"], side: Side) -> Float[Array, "6"]:
    """A twist of the grip, or its rate, as that of the axes fixed to it in which feature or surface are given."""
    return twist.at[:3].add(jnp.cross(twist[3:], side.origin))


def placed(motion: Motion, side: Side) -> Placed:
    """A side as a body that features and surfaces are attached to; the origin of their axes stands for the centre of mass."""
    turn, twist = motion.rotation[side.grip], _at_origin(motion.twist[side.grip], side)
    rotation = Matrix(Vector.of(turn[0]), Vector.of(turn[1]), Vector.of(turn[2]))
    pose = Pose(Vector.of(motion.position[side.grip] + turn @ side.origin), Quaternion.from_matrix(rotation))
    return Placed(pose, Twist(Vector.of(turn @ twist[:3]), Vector.of(twist[3:])), rotation, Vector.of(turn @ twist[3:]))


def point_rows(model: Berthing, motions: Sequence[Motion], point: Vector) -> Float[Array, "3 n"]:
    """Velocity (m/s, inertial) at a point of what touches of the chaser less that of the target, by all velocities."""
    parts = []
    for side, motion, sign in zip(model.sides, motions, (1.0, -1.0), strict=True):
        own, turn = side.tree.jacobian(motion, side.grip), motion.rotation[side.grip]
        lever = point.array() - motion.position[side.grip]
        parts.append(sign * (turn @ own[:3] - cross_matrix(lever) @ turn @ own[3:]))
    return jnp.concatenate(parts, axis=1)


def drift(model: Berthing, rebound: Rebound, x: State, motions: Sequence[Motion]) -> Scalar:
    """Rate of the depth's rate at constant velocities of the trees (m/s²)."""
    now = model.places(x, motions)

    def moving(body: Placed, motion: Motion, side: Side) -> Placed:
        turn = motion.rotation[side.grip]
        twist, bias = (_at_origin(rates[side.grip], side) for rates in (motion.twist, motion.bias))
        linear = turn @ (bias[:3] + jnp.cross(twist[3:], twist[:3]))
        turning = Matrix(*(Vector.of(row) for row in cross_matrix(turn @ twist[3:]) @ turn))
        still = jax.tree.map(jnp.zeros_like, body.pose.attitude)
        return Placed(
            Pose(body.twist.velocity, still),
            Twist(Vector.of(linear), Vector.of(bias[3:])),
            turning,
            Vector.of(turn @ bias[3:]),
        )

    change = tuple(moving(body, motion, side) for body, motion, side in zip(now, motions, model.sides, strict=True))
    return jax.jvp(lambda *pair: contact_kinematics(rebound.feature, rebound.surface, *pair).rate, now, change)[1]


def _pushed(rebound: Rebound, meeting: ContactKinematics) -> Vector:
    """Force on the chaser per unit of normal force: along the normal, and of friction."""
    if rebound.friction is None:
        return meeting.normal
    return meeting.normal + rebound.friction.force(jnp.ones(()), meeting.sliding)


class Accelerated(NamedTuple):
    """Rates of velocities, and the forces that come with them."""

    v: Float[Array, "n"]  # of both trees
    held: Float[Array, "rows"]  # along the constraints' rows
    power: Scalar  # W, of the contact
    normal: Scalar  # N, normal force that would keep at rest what touches; of rebounding contacts


def resting(model: Berthing, rebound: Rebound, x: State, plant: TreePlant, load: Float[Array, "n"]) -> Accelerated:
    """The rates under `load`, and, where the two rest against each other, a normal force that keeps the depth's rate.

    Where the force is negative it would have to pull.
    """
    meeting = contact_kinematics(rebound.feature, rebound.surface, *model.places(x, plant.motions))
    rows = point_rows(model, plant.motions, meeting.point)
    along, push = meeting.normal.array() @ rows, _pushed(rebound, meeting).array() @ rows
    drifts = jnp.stack([plant.drift, jnp.zeros_like(plant.drift)], axis=1)
    (free, moved), held = (
        found.T for found in constrained(plant.mass, plant.rows, drifts, jnp.stack([load, push], axis=1))
    )
    # the depth shrinks as the normal velocity grows
    force = (drift(model, rebound, x, plant.motions) - along @ free) / (along @ moved)
    acting = jnp.where(x.mode[0] == RESTING, force, 0.0)
    return Accelerated(free + acting * moved, held[0] + acting * held[1], acting * (push @ plant.v), force)


def _struck_again(model: Berthing, rebound: Rebound, x: State) -> tuple[Any, Int[Array, ""], Hit]:
    """Velocities after an impact of the model's law where the two touch now, the mode then, and the impact."""
    mass, _, motions = model.dynamics(x.q, x.v)
    meeting = contact_kinematics(rebound.feature, rebound.surface, *model.places(x, motions))
    rows = model.contact_axes(meeting.normal.array(), turning=False) @ model.in_plane(
        point_rows(model, motions, meeting.point)
    )
    held = model.lock_rows() if model.locks.shape[0] else None
    matrix = contact_matrix(rows, mass) if held is None else constrained_contact_matrix(rows, mass, held)
    v = jnp.concatenate(x.v)
    velocity = rows @ v
    found = by_law_or_stopped(model, matrix, velocity)
    after = model.split(v + velocity_jump(rows, mass, found.impulse, held))
    hit = Hit.of(velocity, found, len(velocity) - 1)
    state = State(x.q, after, x.mode, x.memory)
    return after, mode_after(model, rebound, state, found.velocity[0]), hit


def by_law_or_stopped(model: Berthing, matrix: Float[Array, "rows rows"], velocity: Float[Array, "rows"]) -> Impact:
    """The impact by the model's law, or, where that would leave less than `rest_speed`, one that leaves no normal velocity."""
    by_law = model.law.resolve(matrix, velocity)
    if not isinstance(model.contact, Rebound):
        return by_law
    return settled(by_law, matrix, velocity, model.contact.rest_speed)


def mode_after(model: Berthing, rebound: Rebound, x: State, parting: Scalar) -> Int[Array, ""]:
    """Whether the two rest against each other after an impact that left them with the normal velocity `parting`."""
    rests = (parting < rebound.rest_speed) & (model.needed(State(x.q, x.v, (jnp.asarray(RESTING),), x.memory)) > 0)
    return jnp.where(rests, RESTING, APART)


def next_state(
    model: Berthing, rebound: Rebound, x: State, fired: tuple[Bool[Array, ""], ...]
) -> tuple[Any, Int[Array, ""], Hit]:
    """Velocities, mode and impact after the depth has risen through zero (first guard), or the rest has ended."""
    return jax.lax.cond(
        fired[0],
        lambda: _struck_again(model, rebound, x),
        lambda: (x.v, jnp.full_like(x.mode[0], APART), x.memory.hit),
    )
