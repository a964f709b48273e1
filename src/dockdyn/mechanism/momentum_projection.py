"""Velocities of a mechanism brought back to the momentum that it must have: by a motion of all of it as one rigid body.

That is the least change by kinetic energy. Of what pushes from outside the momentum that it has given counts, too.

Units: SI: m/s, rad/s, N s, N m s.
Source: projection in the norm of the kinetic energy; own construction.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from dockdyn.deferred import Array, Float, jnp
from dockdyn.integrate.model import Scalar, State
from dockdyn.mechanics.rigid_body import Twist, mean_by_mass, pair_momentum
from dockdyn.mechanics.rotation import Quaternion
from dockdyn.mechanics.trees.moving_bodies import Coordinates, MovingBodies, Placement, Velocities
from dockdyn.mechanics.vector import Vector, unit_vectors
from dockdyn.trees import map_leaves

if TYPE_CHECKING:
    from dockdyn.mechanism.mechanism import Mechanism


class Conserved(NamedTuple):
    """Momentum of all bodies (N s, inertial) and angular momentum about their common centre of mass (N m s)."""

    linear: Vector
    angular: Vector


def momentum_of(model: Mechanism, here: Placement) -> Conserved:
    """Return the momentum of all bodies, without wheels."""
    poses, twists = (tuple(getattr(one, name) for one in here.bodies) for name in ("pose", "twist"))
    linear, angular, _, _ = pair_momentum(model.bodies, poses, twists)
    bent = model.moving.momentum_of_bending(here)
    return Conserved(linear + bent[0], angular + bent[1])


def project_momentum(model: Mechanism, x: State) -> State:
    """Return a state whose velocities have the momentum that is conserved and what was given from outside."""
    assert model.conserved is not None and isinstance(model.moving, MovingBodies)
    moving, q = model.moving, x.q.shifted(-model.base_position(x))
    here = moving.placed(q, x.v)
    centre = mean_by_mass(model.bodies, [one.pose.position for one in here.bodies])
    mass: Scalar = sum((body.mass for body in model.bodies), jnp.zeros(()))
    now, wanted = momentum_of(model, here), _required_momentum(model, x, here)
    axes = unit_vectors()[2:] if moving.planar else unit_vectors()
    still = map_leaves(jnp.zeros_like, x.v)

    def as_one(velocity: Vector, rate: Vector) -> Velocities:
        return _as_one(moving, q, still, velocity, rate, centre)

    # of bent bodies the centre of mass is not quite the mean: each turn is about the true one where its momentum is zero
    ways = [as_one(axis, Vector.zero()) for axis in _base_directions(moving)]
    ways += [as_one(Vector.zero(), axis) for axis in axes]
    answers = [_momentum_row(moving, momentum_of(model, moving.placed(q, way))) for way in ways]
    lacking = _momentum_row(moving, wanted) - _momentum_row(moving, now)
    scale = jnp.stack([mass] * len(_base_directions(moving)) + [jnp.ones(())] * len(axes))
    shares = jnp.linalg.solve(jnp.stack(answers, axis=1) / scale, lacking) / scale
    v = x.v
    for share, way in zip(shares, ways, strict=True):
        v = map_leaves(lambda a, b, by=share: a + by * b, v, way)
    return State(x.q, v, x.mode, x.memory)


def _required_momentum(model: Mechanism, x: State, here: Placement) -> Conserved:
    """Return the momentum that the bodies must have: as at the start, with what was given to them, less that of a wheel."""
    assert model.conserved is not None
    linear, angular = model.conserved
    outside = x.memory.outside
    if outside.thrusters is not None:
        linear, angular = linear + outside.thrusters.impulse, angular + outside.thrusters.turning_impulse
    if outside.steering is not None and model.steered is not None:
        effort = outside.steering.effort
        linear = linear + Vector.of(effort.impulse)
        angular = angular + Vector.of(effort.turning_impulse) - model.steered.wheel(outside.steering, here.bodies)
    return Conserved(linear, angular)


def _base_directions(moving: MovingBodies) -> tuple[Vector, ...]:
    return unit_vectors()[: 2 if moving.planar else 3]


def _momentum_row(moving: MovingBodies, one: Conserved) -> Float[Array, "kept"]:
    linear, angular = one.linear.array(), one.angular.array()
    return jnp.concatenate([linear[:2], angular[2:]] if moving.planar else [linear, angular])


def _as_one(
    moving: MovingBodies, q: Coordinates, still: Velocities, velocity: Vector, rate: Vector, centre: Vector
) -> Velocities:
    """Return the velocities with which all moves as one rigid body."""
    roots = tuple(
        Twist(velocity + rate.cross(pose.position - centre), pose.attitude.matrix().transposed_times(rate))
        for pose in q.roots
    )
    trees = []
    for tree, own, v in zip(moving.linked, q.trees, still.trees, strict=True):
        turn = Quaternion.of(own.attitude).matrix()
        speed = velocity + rate.cross(Vector.of(own.position) - centre)
        twist = jnp.concatenate([turn.transposed_times(speed).array(), turn.transposed_times(rate).array()])
        base = twist[jnp.array([0, 1, 5])] if tree.tree.layout.base == "planar" else twist
        trees.append(v.at[: base.shape[0]].set(base))
    return Velocities(roots, still.joints, tuple(trees), still.modes)
