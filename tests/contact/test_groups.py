"""Groups of contacts: beside single contacts one by one, and in both ways of compiling."""

import functools
from dataclasses import replace

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from pair_cases import SURFACES, motion_of, pair_of, placed, rows_of
from single_contact import SingleContact
from translated import traced

from dockdyn import backend
from dockdyn.contact import Coulomb, ForceStroke, Hertz, HuntCrossley, Plane, SpringDashpot
from dockdyn.contact.contact_modes import APART, GATED, PRESSING, SLACK
from dockdyn.contact.group import ContactGroup
from dockdyn.contact.pairs import BallOnSurface
from dockdyn.mechanics.vector import Vector
from dockdyn.programs import Program
from dockdyn.scenario.tables.parts import compliance_device
from dockdyn.translate.jaxpr import translate_function
from dockdyn.translate.scalar_program import Block

MANY, SAME = 300, 1e-12
QUICK = ("ball on cone", "ball on box", "ring on plane")  # whose members are never left out
FRICTION = Coulomb(jnp.asarray(0.3), jnp.asarray(1e-3))


def numbers(*values):
    return [jnp.asarray(value, float) for value in values]


class Anchored:
    """A spring of a compliance device."""

    def __init__(self, anchor):
        self.anchor, self.stiffness = anchor, None


LAWS = {
    "spring-dashpot": SpringDashpot(*numbers(5e3, 300.0), adhesion=False),
    "adhering": SpringDashpot(*numbers(5e3, 300.0), adhesion=True),
    "hertz": Hertz(*numbers(2e5, 1.5)),
    "hunt-crossley": HuntCrossley(*numbers(5e4, 1.3, 0.4)),
    "force-stroke": ForceStroke(
        *numbers([0.0, 0.1, 0.3], [0.0, 50.0, 400.0], [0.0, 20.0, 300.0], 10.0, 4e3, 30.0, 1e-2)
    ),
    "compliance-device": compliance_device(
        *numbers([0.3, 0.2, 1.0], 0.4, 0.3, 2e3),
        [Anchored([0.1 * np.cos(a), 0.1 * np.sin(a), 0.0]) for a in 2 * np.pi * np.arange(3) / 3],
        "as-published",
    ),
}


def shown(state):
    """What a group says, as arrays; the deepest member's part only where the group overlaps."""
    inside = state.depth > 0
    return {
        "force": state.wrench.force.array(),
        "moment": state.wrench.moment.array(),
        "normal": state.normal_force,
        "depth": state.depth,
        "rate": jnp.where(inside, state.rate, 0.0),
        "sliding": jnp.where(inside, state.sliding_speed, 0.0),
        "point": jnp.where(inside, state.point.array(), 0.0),
    }


def assert_equal(found, expected, size):
    """The same to rounding, of the largest number of each sort or of `size`."""
    for name, value in expected.items():
        scale = max(np.abs(np.asarray(value)).max(), size)
        np.testing.assert_allclose(found[name], value, rtol=0, atol=SAME * scale, err_msg=name)


def row_by_row(function, rows):
    """A function of each row, in machine code of dockdyn's own."""
    return Program(lambda rows: jax.lax.map(function, rows))(rows)


@functools.cache
def balls(surface, count):
    """Balls on a surface, and motions of both bodies, `count` of each."""
    return rows_of(f"ball on {surface}", count, seed=17)


def guards_of(contact, modes, touch):
    """The event functions of a contact in some modes."""
    return jnp.array([contact.guards(mode, touch) for mode in modes])


@pytest.mark.full
@pytest.mark.parametrize(
    "surface",
    [name if name in ("plane", "cone", "grid") else pytest.param(name, marks=pytest.mark.full) for name in SURFACES],
)
def test_a_group_of_one_is_a_contact(surface):
    """Under every law, in every mode, at random places, half of which overlap; its moment is about the ball's centre."""

    def both(row):
        ball, *motions = row
        own, other = map(placed, motions)
        found = {}
        for name, law in LAWS.items():
            group = ContactGroup.of([ball], (0, 1), law, FRICTION)
            contact = SingleContact(
                ball=ball,
                law=law,
                friction=FRICTION,
            )
            touch = contact.touch(own, other)
            own_modes = [jnp.asarray(mode) for mode in (PRESSING, SLACK)]
            pressing = [contact.normal_force(mode, touch) for mode in own_modes]
            near = [group.state(mode, own, other, exact=True) for mode in own_modes]
            normal = contact.normal_force(jnp.asarray(GATED), touch)
            force = contact.force(normal, touch)
            point = contact.point(own, other)
            lever = point - own.point(Vector.of(ball.centre))
            inside = touch.depth > 0
            expected = {
                "force": force.array(),
                "moment": lever.cross(force).array(),
                "normal": normal,
                "depth": touch.depth,
                "rate": jnp.where(inside, touch.rate, 0.0),
                "sliding": jnp.where(inside, jnp.sqrt(touch.sliding.dot(touch.sliding)), 0.0),
                "point": jnp.where(inside, point.array(), 0.0),
            }
            states = shown(group.state(jnp.asarray(GATED), own, other, exact=True))
            if group.alone:
                guards = [group.guards(mode, state) for mode, state in zip(own_modes, near, strict=True)]
                expected |= {"in modes": jnp.stack(pressing), "guards": guards_of(contact, own_modes, touch)}
                states |= {"in modes": jnp.stack([state.normal_force for state in near]), "guards": jnp.array(guards)}
            found[name] = states, expected
        return found

    found = row_by_row(both, balls(surface, 3 * MANY))
    for name, (group, contact) in found.items():
        assert np.sum(np.asarray(contact["normal"]) > 0) > 10, name
        assert_equal(group, contact, 1.0)


def group_of(kind, count, seed):
    """A weighted group of one kind of pairs."""
    rng = np.random.default_rng(seed)
    pairs = [pair_of(kind, rng) for _ in range(count)]
    return ContactGroup.of(pairs, (0, 1), LAWS["hunt-crossley"], FRICTION, rng.uniform(0.5, 2.0, count))


def one_by_one(group, own, other):
    """The sum of single groups, each about a reference of its own, and the state of each."""
    about = group.reference(own)

    def single(row):
        member, weight = row
        place = eqx.combine(member, group.common).place()
        one = replace(group, members=jax.tree.map(lambda a: a[None], member), weights=weight[None], place=place)
        state = one.state(jnp.asarray(GATED), own, other, exact=True)
        moment = state.wrench.moment + (one.reference(own) - about).cross(state.wrench.force)
        return {**shown(state), "moment": moment.array()}

    singles = jax.lax.map(single, (group.members, group.weights))
    best = jnp.argmax(singles["depth"])
    total = {name: jnp.sum(singles[name], axis=0) for name in ("force", "moment", "normal")}
    return {name: total[name] if name in total else value[best] for name, value in singles.items()}, singles["depth"]


SUMMED = [
    "ball on cone",
    "ball on box",
    "ball on grid",
    "capsule on capsule",
    "capsule on ring",
    "ring on plane",
    "capsule on cone",
]


@pytest.mark.full
@pytest.mark.parametrize("kind", SUMMED)
def test_a_group_is_the_sum_of_its_members(kind):
    """One by one, exactly and with members that are surely apart left out; the two differ in depths outside only."""
    group = group_of(kind, 7, seed=8)
    rng = np.random.default_rng(9)
    spread = np.linspace(0.3, 60.0, MANY)  # bodies also far apart, so that members are left out
    rows = [
        ((position * far, *rest), motion_of(rng))
        for far, (position, *rest) in zip(spread, map(motion_of, [rng] * MANY), strict=True)
    ]
    motions = jax.tree.map(lambda *leaves: np.stack(leaves), *rows)

    def all_ways(motions):
        own, other = map(placed, motions)
        quick, exact = (shown(group.state(jnp.asarray(PRESSING), own, other, exact)) for exact in (False, True))
        loads = group.signal(jnp.asarray(PRESSING), own, other)
        return (
            quick,
            exact,
            {"force": loads.force.array(), "moment": loads.moment.array()},
            *one_by_one(group, own, other),
        )

    quick, exact, loads, expected, depths = jax.tree.map(np.array, row_by_row(all_ways, motions))
    for name, found in loads.items():
        np.testing.assert_array_equal(found, quick[name])
    depths = np.sort(depths, axis=1)
    alone = depths[:, -1] - depths[:, -2] > 1e-9  # else rounding chooses whose rate it is
    inside = exact["depth"] > 0
    assert inside.sum() > MANY / 20
    for name in ("rate", "sliding", "point"):
        for part in (quick, exact, expected):
            part[name] = part[name][alone]
    assert_equal(exact, expected, 1.0)
    deepest, outside = quick.pop("depth"), exact.pop("depth")
    np.testing.assert_array_equal(deepest > 0, inside)
    np.testing.assert_allclose(deepest[inside], outside[inside], rtol=0, atol=SAME)
    assert (deepest[~inside] >= outside[~inside] - SAME).all()
    if kind not in QUICK and kind != "ball on grid":  # a ball's bound is the distance of its centre
        assert (deepest[~inside] > outside[~inside] + 1e-3).any()
    assert_equal(quick, exact, 1.0)


@pytest.mark.full
def test_a_group_that_is_apart_does_nothing():
    group = group_of("ball on plane", 4, seed=3)
    own, other = placed(motion_of(np.random.default_rng(0))), placed(motion_of(np.random.default_rng(1)))
    assert float(group.state(jnp.asarray(PRESSING), own, other).normal_force) > 0
    silent = shown(group.state(jnp.asarray(APART), own, other))
    assert not silent["force"].any() and not silent["moment"].any() and silent["normal"] == 0
    assert silent["depth"] > 0


STEEP = {name: LAWS[name] for name in ("spring-dashpot", "adhering")} | {
    "hunt-crossley": HuntCrossley(*numbers(5e4, 1.0, 0.4)),
    "hertz": Hertz(*numbers(2e5, 1.0)),
}  # whose force has a slope at zero depth


@pytest.mark.full_cases("spring-dashpot", "hunt-crossley", "hertz")
@pytest.mark.parametrize("law", STEEP)
def test_at_its_events_a_group_presses_as_from_within(law):
    """Where one of several touches and where it parts, rounding leaves a depth of either sign: they are the law's own."""
    ball = BallOnSurface(jnp.zeros(3), jnp.asarray(0.1), Plane.of((0.0, 0.0, 0.0), (0.0, 0.0, 1.0)))
    group = ContactGroup.of([ball, replace(ball, centre=jnp.array([0.0, 0.0, 1.0]))], (0, 1), STEEP[law])
    level = jnp.array([1.0, 0.0, 0.0, 0.0])
    other = placed((jnp.zeros(3), level, jnp.zeros(3), jnp.zeros(3)))

    def force(depth, rate):
        place, velocity = (jnp.array([0.0, 0.0, 1.0]) * size for size in (0.1 - depth, -rate))
        own = placed((place, level, velocity, jnp.zeros(3)))
        return group.state(jnp.asarray(PRESSING), own, other).normal_force

    def both(row):
        depth, rate = row
        moving = jax.jvp(lambda depth: force(depth, rate), (depth,), (1.0,))
        return moving, jax.value_and_grad(STEEP[law].force)(0.0, rate)

    depths, rates = np.array([1e-14, -1e-14, -1e-6]), np.array([0.2, -0.2])
    cases = np.repeat(rates, 3), np.tile(depths, 2)
    (values, slopes), known = row_by_row(both, cases[::-1])
    for number, (rate, depth) in enumerate(zip(*cases, strict=True)):
        expected = [part[number] for part in known]
        if law == "spring-dashpot" and rate < 0:  # it has ended before
            expected = [0.0, 0.0]
        if depth == -1e-6:
            assert values[number] == 0
        else:
            assert (values[number], slopes[number]) == pytest.approx(tuple(expected), rel=1e-9, abs=1e-3)


def flat_state(group):
    """A function of arrays: what the group does, of its numbers and of two motions."""
    arrays, structure = jax.tree.flatten(group)

    def state(leaves, own, other):
        return shown(jax.tree.unflatten(structure, leaves).state(jnp.asarray(PRESSING), placed(own), placed(other)))

    return state, arrays


@pytest.mark.full
@pytest.mark.parametrize("kind", ["ball on cone", "capsule on capsule"])
def test_both_ways_of_compiling_agree(kind, monkeypatch):
    """One member after another in machine code of dockdyn's own, side by side where XLA compiles."""
    group = group_of(kind, 6, seed=12)
    state, arrays = flat_state(group)
    rng = np.random.default_rng(5)
    motions = [(motion_of(rng), motion_of(rng)) for _ in range(40)]
    stacked = jax.tree.map(lambda *leaves: np.stack(leaves), *motions)
    states = Program(lambda leaves, rows: jax.lax.map(lambda row: state(leaves, *row), rows))
    monkeypatch.setenv(backend.VARIABLE, "native")
    native = states(arrays, stacked)
    monkeypatch.setenv(backend.VARIABLE, "xla")
    by_xla = states(arrays, stacked)
    assert_equal(native, by_xla, 1.0)


@pytest.mark.full
@pytest.mark.parametrize("kind", ["ball on cone", "capsule on capsule"])
def test_the_program_does_not_grow_with_the_members(kind, monkeypatch):
    monkeypatch.setenv(backend.VARIABLE, "native")

    def sizes(count):
        state, arrays = flat_state(group_of(kind, count, seed=4))
        rng = np.random.default_rng(0)
        leaves, structure = jax.tree.flatten((arrays, motion_of(rng), motion_of(rng)))
        jaxpr = traced(lambda *rows: state(*jax.tree.unflatten(structure, rows)), *leaves)
        return equations(jaxpr), statements(translate_function(jaxpr))

    few, many = sizes(4), sizes(400)
    assert few[0] == many[0] > 50 and few[1] >= many[1] > 100  # a few short copies are spelt out


def equations(jaxpr):
    """How many equations there are in a jaxpr and in all that is called in it."""
    return sum(
        1
        + sum(
            equations(inner)
            for value in equation.params.values()
            for inner in (value if isinstance(value, tuple) else (value,))
            if hasattr(getattr(inner, "jaxpr", inner), "eqns")
        )
        for equation in getattr(jaxpr, "jaxpr", jaxpr).eqns
    )


def statements(program):
    """How many statements there are in a scalar program, those in loops and branches counted once."""

    def count(block):
        inner = [part for one in block.lines for part in vars(one).values() if isinstance(part, Block)]
        return len(block.lines) + sum(map(count, inner))

    return count(program.builder.body)
