"""Margins of two free bodies that are given as a free flight and as an assembly: drawn at random, they are the same."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from numpy.testing import assert_allclose
from plain_tables import plain
from random_contacts import IN_CONE, inertia, law, log_uniform, uniform

import dockdyn

APEX, AXIS = [0.85, 0.0, 0.0], [1.0, 0.0, 0.0]
ROBOT = {"zeros": [-206.5679], "poles": [[-181.7836, 185.4564], [-181.7836, -185.4564]], "gain": 326.4756}


def in_flight(chance):
    """Balls of a body on a plate, or one in a cone, and where and through which loop margins are asked for."""
    count, masses = int(chance.integers(1, 4)), [log_uniform(chance, 100, 2000) for _ in range(2)]
    plate = {"name": "wall", "shape": "plane", "point": AXIS, "normal": [1.0, 0.1, -0.05]}
    conical = count == 1 and chance.random() < 0.6
    if conical:
        plate = {"name": "wall", "shape": "cone", "apex": APEX, "axis": AXIS, "half_angle": 0.7, "rim_radius": 1.0}
    balls = [
        {"name": f"ball {i}", "position": [-1.0, *chance.uniform(-0.3, 0.3, 2)], "radius": uniform(chance, 0.01, 0.05)}
        for i in range(count)
    ]
    late = loop(chance)
    force = law(chance, masses[0] * masses[1] / sum(masses), 0.05, count, late["delay"], IN_CONE)
    chaser = {"mass": masses[0], "inertia": inertia(chance, masses[0]), "feature": balls}
    chaser |= {"position": [2.2, *chance.uniform(-0.05, 0.05, 2)], "velocity": [-0.05, 0.004, 0.003]}
    target = {"mass": masses[1], "inertia": inertia(chance, masses[1]), "position": [0.0] * 3, "surface": [plate]}
    target["attitude"] = [1.0, *chance.uniform(-0.02, 0.02, 3)]
    contacts = [{"name": f"c{i}", "feature": f"ball {i}", "surface": "wall", "normal": force} for i in range(count)]
    return {
        "schema": 1,
        "duration": 12.0,
        "chaser": chaser,
        "target": target,
        "contact": contacts,
        "loop": late,
        "stability": asked(chance, contacts, conical),
    }


def loop(chance):
    """A delay alone, or with a robot, or with a hold, too."""
    parts = [{}, {}, {"robot": ROBOT}, {"robot": ROBOT, "hold": {"period": 4e-3}}]
    return {"delay": uniform(chance, 2e-3, 5e-2)} | parts[int(chance.integers(4))]


def asked(chance, contacts, conical):
    """The first contact, a place on the cone's wall, a time with contacts that are stated, or the largest force."""
    depth = {"depth": 1e-3}
    if conical and chance.random() < 0.5:
        return depth | {"distance": uniform(chance, 0.2, 1.0), "azimuth": uniform(chance, -3, 3)}
    closed = [one["name"] for one in contacts if chance.random() < 0.7] or ["c0"]
    ways = [{}, {}, {"time": uniform(chance, 0.1, 10.0), "closed": closed}, {"at": "peak-force"}]
    return depth | ways[int(chance.integers(4))]


def as_assembly(flight):
    """The same bodies as those of an assembly."""
    tables = copy.deepcopy(flight)
    return tables | {"kind": "assembly", "body": [{"name": name} | tables.pop(name) for name in ("chaser", "target")]}


def compared(found, known, key="", tolerance=1e-10):
    """Refuse what differs: words and names, and numbers by more than a part of the largest beside them."""
    if isinstance(known, dict):
        assert found.keys() == known.keys(), key
        for name in known:
            compared(found[name], known[name], f"{key}.{name}", tolerance)
    elif isinstance(known, list) and known and all(isinstance(one, int | float) for one in known):
        # of pairs of conjugate roots either may come first, of axes either way
        assert_allclose(
            np.abs(found), np.abs(known), rtol=0, atol=tolerance * max(map(abs, known)) + 1e-12, err_msg=key
        )
    elif isinstance(known, list):
        assert len(found) == len(known), key
        for number, pair in enumerate(zip(found, known, strict=True)):
            compared(*pair, f"{key}.{number}", tolerance)
    elif isinstance(known, float):
        assert_allclose(found, known, rtol=tolerance, atol=1e-14, err_msg=key)
    else:
        assert found == known, key


SEEDS = [0, *(pytest.param(seed, marks=pytest.mark.full) for seed in range(1, 13))]


@pytest.mark.parametrize("seed", SEEDS)
def test_two_free_bodies_have_the_same_margins_in_both_kinds(load, seed):
    flight = plain(in_flight(np.random.default_rng(seed)))
    known, found = ({**dockdyn.margins(load(one))} for one in (flight | {"kind": "free-flight"}, as_assembly(flight)))
    slopes, others = (one.pop("sensitivities") for one in (found, known))
    bodies = {"chaser.": "body.0.", "target.": "body.1."}
    for old, new in bodies.items():
        others = {key.replace(old, new): value for key, value in others.items()}
    size = max(map(abs, others.values()), default=0.0)
    for key in slopes | others:
        assert abs(slopes.get(key, 0.0) - others.get(key, 0.0)) <= 2e-6 * size, key
    roots, known_roots = (np.array(one.pop("rightmost_roots")[:2]) for one in (found, known))
    assert_allclose(np.abs(roots), np.abs(known_roots), rtol=0, atol=1e-10 * np.abs(known_roots).max())
    pades = found.pop("pade"), known.pop("pade")
    compared(*pades, "pade", 1e-8)
    compared(found, known)
