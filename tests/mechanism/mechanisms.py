"""Bodies in random states, free and joined to arms, and how their velocities stand together."""

import jax
import jax.numpy as jnp
import numpy as np
from scipy.spatial.transform import Rotation

from dockdyn.mechanics.lines import row_of
from dockdyn.mechanics.rigid_body import Pose, RigidBody, Twist, pair_momentum
from dockdyn.mechanics.rotation import Quaternion
from dockdyn.mechanics.trees.jointed_bodies import Joint, JointedBodies
from dockdyn.mechanics.trees.moving_bodies import Coordinates, MovingBodies
from dockdyn.mechanics.vector import Vector


def vector(numbers):
    return Vector.of(jnp.asarray(numbers, float))


def random_inertia(draw, mass):
    """An inertia tensor (kg m²) that some body of that mass (kg) has."""
    turn = Rotation.random(rng=draw).as_matrix()
    return turn @ np.diag(mass * draw.uniform(0.2, 0.35, 3)) @ turn.T


def random_body(draw):
    mass = 10 ** draw.uniform(0, 3)
    return RigidBody.of(mass, random_inertia(draw, mass))


def random_attitude(draw):
    return Quaternion.of(jnp.asarray(Rotation.random(rng=draw).as_quat(scalar_first=True)))


def random_motion(draw):
    twist = Twist(vector(draw.normal(size=3)), vector(draw.normal(size=3)))
    return Pose(vector(draw.normal(size=3)), random_attitude(draw)), twist


def random_mechanism(draw, free, joints):
    """So many free bodies, and an arm of so many joints, turning and sliding, with its root before them; and a state of all."""
    arm = joints + 1 if joints else 0
    bodies = tuple(random_body(draw) for _ in range(arm + free))
    tree = []
    for number in range(joints):
        axis = draw.normal(size=3)
        kind = ("revolute", "prismatic")[int(draw.integers(2))]
        places = vector(draw.normal(size=3)), vector(draw.normal(size=3))
        along = vector(axis / np.linalg.norm(axis))
        tree.append(
            Joint(random_attitude(draw), *places, along, jnp.zeros(()), kind, int(draw.integers(number + 1)), number)
        )
    trees = (JointedBodies(bodies[:arm], tuple(tree), tuple(range(arm))),) if joints else ()
    moving = MovingBodies(bodies, trees)
    starts = [random_motion(draw) for _ in bodies]
    motions = [(jnp.asarray(draw.normal()), jnp.asarray(draw.normal())) for _ in range(joints)]
    q, v = moving.begun([pose for pose, _ in starts], [twist for _, twist in starts], motions)
    return moving, q, v


def added(v, change):
    return jax.tree.map(jnp.add, v, change)


def moved_by(moving, here, v):
    """The rates of all coordinates."""
    roots = tuple(
        Pose(twist.velocity, pose.attitude.rate(twist.rate)) for pose, twist in zip(here.roots, v.roots, strict=True)
    )
    return Coordinates(roots, v.joints)


def twists(moving, q, v):
    """The twists of all bodies, row by row."""
    return jnp.stack([row_of(one.twist.velocity, one.twist.rate) for one in moving.placed(q, v).bodies])


def momenta(moving, q, v):
    """Linear and angular momentum, and the scales of their errors."""
    placed = moving.placed(q, v).bodies
    found = pair_momentum(moving.bodies, tuple(p.pose for p in placed), tuple(p.twist for p in placed))
    return found[0].array(), found[1].array(), found[2], found[3]


def kinetic_energy(moving, q, v):
    placed = moving.placed(q, v).bodies
    return float(sum(body.kinetic_energy(one.twist) for body, one in zip(moving.bodies, placed, strict=True)))
