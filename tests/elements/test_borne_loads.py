"""What elements do beyond what they bear at rest: that of their springs alone, beside own differences of their stretch."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from element_system import anchors, numbers, pose
from scipy.spatial.transform import Rotation

from dockdyn.elements import Bushing, Cable, ElementGroup, ForceElement, Strut, one_sided
from dockdyn.mechanics.rigid_body import Placed, Twist

STEP = 1e-5  # m, rad
STILL = Twist.of([0.0] * 3, [0.0] * 3)
TURNED, SIDEWAYS = Rotation.from_rotvec([0.3, -0.2, 0.5]), Rotation.from_rotvec([-0.4, 0.1, 0.2])


def line(draw):
    """Strut and cable, stretched; how long they are, and the stiffness."""
    own, other = draw.uniform(-0.5, 0.5, (2, 3))
    stiffness = 10 ** draw.uniform(2, 4)
    elements = [
        Strut(anchors(own, other), **numbers(free_length=draw.uniform(0.2, 3.0), stiffness=stiffness)),
        Cable(anchors(own, other), jnp.asarray(0.01), one_sided(stiffness, 3.0)),
    ]

    def stretch(first, second):
        return np.linalg.norm(first[0] + first[1].apply(own) - second[0] - second[1].apply(other), keepdims=True)

    return elements, stretch, np.array([[stiffness]])


def frames(draw):
    """A bushing, stretched and turned."""
    own, other = draw.uniform(-0.5, 0.5, (2, 3))
    mixed = 0.2 * draw.normal(size=(6, 6)) + np.diag(draw.uniform(2, 8, 6))
    stiffness = mixed @ mixed.T
    ends = pose(own, TURNED.as_rotvec()), pose(other, SIDEWAYS.as_rotvec())

    def stretch(first, second):
        base = second[1] * SIDEWAYS
        apart = first[0] + first[1].apply(own) - second[0] - second[1].apply(other)
        return np.concatenate([base.inv().apply(apart), (base.inv() * first[1] * TURNED).as_rotvec()])

    return [Bushing(*ends, jnp.asarray(stiffness))], stretch, stiffness


def moved(bodies, way):
    """Both bodies after a small motion of each: m, rad, inertial."""
    parts = zip(bodies, np.split(way, 2), strict=True)
    return [(place + part[:3], Rotation.from_rotvec(part[3:]) * turn) for (place, turn), part in parts]


def differences(function, bodies):
    ways = STEP * np.eye(12)
    return np.stack([(function(*moved(bodies, way)) - function(*moved(bodies, -way))) / (2 * STEP) for way in ways], 1)


@pytest.mark.parametrize("kind", [line, frames])
def test_only_springs_act_around_rest(kind):
    for seed in range(3):
        draw = np.random.default_rng([74, seed])
        bodies = [(draw.uniform(-1, 1, 3), Rotation.from_rotvec(draw.uniform(-0.6, 0.6, 3))) for _ in range(2)]
        elements, stretch, stiffness = kind(draw)
        ways = differences(stretch, bodies)
        expected = -ways.T @ stiffness @ ways
        for element in [*elements, ElementGroup.of([elements[0]] * 3)]:
            count = element.size if isinstance(element, ElementGroup) else 1
            found = around_rest(element, bodies)
            np.testing.assert_allclose(found, count * expected, atol=1e-6 * count * np.abs(expected).max())


def around_rest(element: ForceElement, bodies):
    """How force and torque on both bodies, beyond those at rest, change with their motions."""

    def on(first, second):
        return [Placed.of(pose(place, turn.as_rotvec()), STILL) for place, turn in (first, second)]

    sides = on(*bodies)
    known = element.settle(element.init(*sides), *sides)
    borne = element.borne(*known, *sides)
    beyond = jax.jit(lambda *sides: element.act_beyond(borne, *known, *sides)[0])

    def loads(*bodies):
        action = jax.tree.map(np.asarray, beyond(*on(*bodies)))
        force, moment, point = (np.asarray(part.array()) for part in (action.force, action.moment, action.point))
        levers = [np.concatenate([force, np.cross(point - place, force) + moment]) for place, _ in bodies]
        return np.concatenate([levers[0], -levers[1]])

    assert np.abs(loads(*bodies)).max() < 1e-9
    return differences(loads, bodies)
