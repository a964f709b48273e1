"""Force elements and reflected inertia: machine code of dockdyn's own beside XLA's, over random rows, in all their modes."""

import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from element_system import anchors, body, numbers, pose
from random_rows import Compared, random_rows

from dockdyn.elements import (
    Brake,
    Bushing,
    Cable,
    ElementGroup,
    EndStops,
    GapPull,
    Magnet,
    Strut,
    StrutMode,
    TabulatedPull,
    hexapod_anchors,
    one_sided,
)
from dockdyn.elements.actor import ElementMemory
from dockdyn.mechanics.reflected import coupled_acceleration
from dockdyn.mechanics.rigid_body import Placed, Twist
from dockdyn.mechanics.vector import Vector

COUNT = 400
BRAKES, STOPS = (-2, -1, 0, 1, 2), (0, 1, 2)
ON_RING, ON_BASE = hexapod_anchors(0.6, 0.63, 0.3, 0.3, pose([0, 0, 0]), pose([0, 0, 0]))


def strut(which=0):
    return Strut(
        anchors(ON_RING[which], ON_BASE[which]),
        **numbers(free_length=0.45, stiffness=2e3, damping=60.0, speed=0.05, moved_mass=15.0),
        brake=Brake(jnp.asarray(60.0)),
        stops=EndStops(**numbers(lowest=-0.02, highest=0.03), spring=one_sided(1e4, 200.0)),
    )


def strut_modes(rng, *shape):
    return StrutMode(rng.choice(BRAKES, shape), (rng.choice(STOPS, shape), rng.choice(STOPS, shape)))


def memory(rng, *shape):
    return ElementMemory(*rng.normal(size=(4, *shape)) * 0.1)


def bushing():
    mixed = np.random.default_rng(3).normal(size=(6, 6))
    stiffness = jnp.asarray(40 * mixed @ mixed.T + np.eye(6))
    return Bushing(
        pose([0.1, 0.2, -0.1], [0.3, -0.2, 0.5]),
        pose([0.2, 0, 0.1]),
        stiffness,
        stiffness / 50,
        Brake(jnp.asarray(9.0)),
    )


LINE = anchors([0.5, 0.3, -0.2], [-0.5, 0.2, 0.1])
TABLE = TabulatedPull.of(jnp.array([0.0, 0.3, 0.7, 1.5]), jnp.array([300.0, 150.0, 60.0, 0.0]))
CASES = {
    "strut": (strut(), strut_modes, memory),
    "group": (
        ElementGroup.of([strut(i) for i in range(6)]),
        lambda rng: strut_modes(rng, 6),
        lambda rng: memory(rng, 6),
    ),
    "bushing": (
        bushing(),
        lambda rng: rng.choice(BRAKES),
        lambda rng: ElementMemory(slide=rng.normal(), dissipated=rng.normal()),
    ),
    "cable": (
        Cable(LINE, jnp.asarray(1.0), one_sided(4e3, 80.0)),
        lambda rng: rng.choice(STOPS),
        lambda rng: ElementMemory(dissipated=rng.normal()),
    ),
    "magnet": (
        Magnet(LINE, GapPull(**numbers(holding=400.0, reach=0.5)), jnp.asarray(0.1)),
        lambda rng: (),
        lambda rng: ElementMemory(),
    ),
    "table": (Magnet(LINE, TABLE, jnp.asarray(0.0)), lambda rng: (), lambda rng: ElementMemory()),
}


def answers(element, mode, memory, motions, fired):
    """All that an element is asked."""
    own, other = (Placed.of(*motion) for motion in motions)
    now = mode, memory, own, other
    action, rate = element.act(*now)
    inertia = element.reflected(own, other)
    bodies = (body(35.0, (13.0, 7.0, 7.5), (0.4, -0.3, 0.2)), body(250.0, (240.0, 400.0, 410.0)))
    still = [Vector.zero()] * 2
    twists = [twist for _, twist in motions]
    coupled = None if inertia is None else coupled_acceleration(bodies, twists, still, still, [(0, 1, inertia)])
    return (
        action.on(own),
        rate,
        element.guards(*now),
        element.stored_energy(*now),
        element.observe(*now),
        element.jump(mode, fired, memory, own, other),
        element.settle(memory, own, other),
        coupled,
    )


def trees(name):
    element, mode, remembered = CASES[name]
    rng, found = np.random.default_rng(0), []
    here = pose([0.5, 0.1, 0.0]), Twist.of([0.1, 0, 0])
    guards = len(element.guards(mode(rng), remembered(rng), Placed.of(*here), Placed.of(*here)))
    for _ in itertools.repeat(None, 60):
        motions = [
            (
                pose(rng.normal(size=3) * 0.2 + [0.45 * at, 0, 0], rng.normal(size=3)),
                Twist.of(rng.normal(size=3) * 0.3, rng.normal(size=3)),
            )
            for at in (1, 0)
        ]
        fired = tuple(rng.random(guards) < 0.3)
        tree = (element, mode(rng), remembered(rng), motions, fired)
        found.append(jax.tree.map(np.asarray, tree))
    return found


@pytest.mark.full_cases("strut", "table", "group", "bushing", "cable")
@pytest.mark.parametrize("name", CASES)
def test_elements_are_the_same(name):
    given = trees(name)
    compared = Compared(answers, given, random_rows(given, COUNT), better=True)
    differences = compared.differences()
    assert not differences.wrong, differences.wrong
    assert not (differences.apart & ~differences.wavers & compared.rows.ordinary).any()
    assert differences.loose <= 1e-3
