"""Faces flat on each other, whose distances are kept in powers of what they move, beside all of them looked up."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import trimesh
from contact_patches import BLOCK, DEEP, block, body_of, round_bar
from pair_cases import SURFACES, placed
from petal_ring import petal_ring

import dockdyn
from dockdyn.contact.contact_modes import GATED
from dockdyn.contact.expansions import MOST
from dockdyn.integrate.model import over_rows
from dockdyn.mechanics.rotation import Quaternion
from dockdyn.mechanics.vector import Vector
from dockdyn.programs import Program
from dockdyn.results.contact_run import check_runnable

LAW = {
    "normal": {"law": "hunt-crossley", "stiffness": 1e8, "exponent": 1.3, "damping": 2.0},
    "friction": {"law": "coulomb", "coefficient": 0.2, "regularisation": 1e-3},
}


@Program
def spline_and_expansion(surface, places, moves):
    """Distance and normal where places are moved: by the spline, and by its expansions around the places."""

    def one(place, move):
        _, numbers = surface.expand(Vector.of(place))
        origin, turn = surface.expansion_frame()
        there = Vector.of(place + move)
        distance, slopes = surface.near_expansion(numbers, turn.transposed_times(there - origin))
        found, normal = surface.distance_and_normal(there)
        return jnp.array([found, *normal.array()]), jnp.array([distance, *(turn @ slopes).array()])

    return over_rows(one, places, moves)


def test_an_expansion_errs_as_the_fourth_power_of_the_way():
    """Of the distance, and of the normal as the third, but for the jerk that a cubic spline lets jump between cells."""
    rng = np.random.default_rng(5)
    turn = rng.normal(size=4)
    field = replace(
        SURFACES["grid"], attitude=jnp.asarray(turn / np.linalg.norm(turn)), point=jnp.asarray(rng.normal(size=3) / 5)
    )
    places, ways = rng.uniform(-0.5, 0.5, (400, 3)), rng.normal(size=(400, 3))
    ways *= float(field.finest) / np.linalg.norm(ways, axis=1)[:, None]
    lengths, off = 0.5 ** np.arange(3, 7), []
    for length in lengths:
        exact, kept = map(np.asarray, spline_and_expansion(field, places, length * ways))
        off.append(np.median(np.abs(kept - exact), axis=0))
    slopes = np.polyfit(np.log(lengths), np.log(off), 1)[0]
    assert slopes[0] == pytest.approx(4, abs=0.5)
    assert slopes[1:] == pytest.approx(3, abs=0.5)


def group_between(load, file, count, attitude):
    """A cloud of points over a solid, and the field of the same solid, which is turned and faces it."""
    hull = {"shape": "mesh", "file": str(file), "tolerance": 1e-3, "attitude": attitude}
    bodies = {"upper": body_of(file, count, None, position=[0.0, 0.0, 0.0]), "lower": body_of(None, 0, hull)}
    bodies["lower"]["position"] = [0.0, 0.0, -9.0]
    contact = {"skin": {"between": ["upper.skin", "lower.hull"], **LAW}}
    tables = {"schema": 2, "duration": 1e-6, "output": {"interval": 1e-6}, "body": bodies, "contact": contact}
    (group,) = check_runnable(load(tables)).content.model().groups
    return group


@Program
def kept_and_looked_up(group, place, turns, rates, other):
    """Force (N) and moment (N m) where a body has moved, by what was kept before and by all looked up; how many were kept."""

    def at(turn, rate, shift):
        attitude = Quaternion.exponential(Vector.of(turn))
        return placed((place + shift, attitude.array(), rate[:3], rate[3:]))

    start = at(turns[0], rates[0], jnp.zeros(3))
    known = group.first_clearances()
    for _ in range(2):
        known = group.renew_clearances(start, placed(other), known)

    def told(group, where):
        found = group.state(jnp.asarray(GATED), where, placed(other), loads=True).wrench
        return jnp.stack([found.force.array(), found.moment.array()])

    def one(turn, rate):
        where = at(turn, rate, rate[6:])
        found = [told(replace(group, clearances=known._replace(touching=one)), where) for one in (known.touching, None)]
        return jnp.stack(found), (group.depths(where, placed(other)) > 0).sum()

    return over_rows(one, turns, rates), known.touching.many


def check_sums(group, heights, rng, tilts, aside):
    """Compare sums over poses at random, faces on each other, moved by up to how far expansions hold."""
    reach, radius = float(group.surface.expansion_reach()), float(group.reach)
    still = np.zeros(3), np.array([1.0, 0, 0, 0]), np.zeros(3), np.zeros(3)
    for height, tilt in zip(heights, tilts, strict=True):
        place = np.array([*rng.uniform(-aside, aside, 2), height])
        axis = np.array([*rng.normal(size=2), 0.0])
        turn = tilt * axis / np.linalg.norm(axis)
        small = rng.uniform(-1, 1, (12, 3)) * reach / 4 / radius
        rates = np.hstack([rng.normal(size=(12, 6)) * 0.02, rng.uniform(-1, 1, (12, 3)) * reach / 4])
        small[0], rates[0, 6:] = 0, 0
        (found, touching), count = kept_and_looked_up(group, place, turn + small, rates, still)
        found, touching = np.asarray(found), np.asarray(touching)
        assert count >= touching[0] > 50
        kept, exact = found[:, 0], found[:, 1]
        sizes = np.linalg.norm(exact, axis=2)
        assert np.abs(kept - exact)[:, 0].max() < 1e-6 * sizes[:, 0].max()
        assert np.abs(kept - exact)[:, 1].max() < 1e-6 * radius * sizes[:, 0].max()
        assert not np.array_equal(kept[1:], exact[1:])  # it has been asked


@pytest.mark.full
@pytest.mark.parametrize("name", ["block", "punch"])
def test_sums_over_flat_faces_are_those_of_all_looked_up(load, tmp_path, name):
    """To a millionth, flat and tilted, of blocks that overlap in part and of a flat punch."""
    file, height = (block(tmp_path), BLOCK[2]) if name == "block" else (round_bar(tmp_path), 0.08)
    group = group_between(load, file, 7_000, [1.0, 0.0, 0.0, 0.0])
    rng = np.random.default_rng(8)
    check_sums(group, height - np.array([DEEP, 5e-4, 1e-3]), rng, (0.0, np.radians(0.2), np.radians(1.0)), 0.02)


@pytest.mark.full
def test_sums_over_rings_are_those_of_all_looked_up(load, tmp_path):
    petal_ring().export(file := tmp_path / "ring.stl")
    height = trimesh.load_mesh(file).bounds[:, 2]
    group = group_between(load, file, 20_000, {"axis": [1, 0, 0], "angle": "180 deg"})
    heights = -0.12 + np.array([DEEP, 5e-4, 1e-3])
    assert height[0] <= 0
    check_sums(group, heights, np.random.default_rng(9), (0.0, 1e-4, 1e-3), 2e-3)


def test_a_face_that_slides_slowly_is_looked_up_once_for_many_steps(load, tmp_path):
    """Of 200 steps of a micrometre each the field is asked in a few; of larger ones, in each."""
    group = group_between(load, block(tmp_path), 6_000, [1.0, 0.0, 0.0, 0.0])
    reach = float(group.surface.expansion_reach())
    other = placed((np.zeros(3), np.array([1.0, 0, 0, 0]), np.zeros(3), np.zeros(3)))

    @Program
    def looks(group, step):
        def one(known, number):
            own = placed(
                (jnp.array([0.01, 0.02, BLOCK[2] - DEEP]) + number * step, jnp.array([1.0, 0, 0, 0]), step, step)
            )
            after = group.renew_clearances(own, other, known)
            anew = after.touching.seen.place.x != known.touching.seen.place.x
            return after, jnp.where(after.touching.many > 0, anew, True)

        return jax.lax.scan(one, group.first_clearances(), jnp.arange(200.0))[1]

    slow = int(np.asarray(looks(group, np.array([1e-6, 0.0, 0.0]))).sum())
    fast = int(np.asarray(looks(group, np.array([2 * reach, 0.0, 0.0]))).sum())
    assert slow <= 2 + 200 / (reach / 1e-6 - 2)
    assert fast == 200


@pytest.mark.full
def test_too_many_that_touch_are_looked_up(load, tmp_path):
    group = group_between(load, block(tmp_path), 150_000, [1.0, 0.0, 0.0, 0.0])
    still = np.zeros(3), np.array([1.0, 0, 0, 0]), np.zeros(3), np.zeros(3)
    rates = np.zeros((1, 9))
    place = np.array([0.0, 0.0, BLOCK[2] - DEEP])
    (found, touching), count = kept_and_looked_up(group, place, np.zeros((1, 3)), rates, still)
    assert touching[0] > MOST
    assert count == 0
    assert np.array_equal(found[:, 0], found[:, 1])


def test_a_block_that_bounces_flat_loses_no_energy(load, tmp_path):
    """Once it touches with all of its face, a little tilted, and slides: 1e-6 of its energy."""
    file = block(tmp_path)
    hull = {"shape": "mesh", "file": str(file), "tolerance": 1e-3}
    upper = body_of(file, 1_500, None, position=[0.01, 0.02, BLOCK[2] + 1e-5], velocity=[0.002, 0.001, -0.005])
    upper |= {"attitude": [1.0, 1e-4, 2e-4, 0.0], "inertia": [0.01, 0.006, 0.01]}
    normal = {"law": "hertz", "exponent": 1, "stiffness": 1e5}
    tables = {
        "schema": 2,
        "duration": 0.06,
        "body": {"upper": upper, "lower": body_of(None, 0, hull, position=[0.0, 0.0, 0.0], mass=50.0)},
        "contact": {"skin": {"between": ["upper.skin", "lower.hull"], "normal": normal}},
        "integrator": {"tolerance": 1e-9},
    }
    summary = dockdyn.summarise(dockdyn.simulate(load(tables)))
    assert len(summary["contacts"]) >= 1
    assert abs(summary["energy_error"]) < 1e-6
