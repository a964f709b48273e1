"""Trees of all kinds that have nothing to do with each other move, and bear in their joints, as each does alone."""

import itertools

import numpy as np
import pytest

import dockdyn
from dockdyn.scenario.load import load

JOINTS = {
    "hinge": {"kind": "revolute", "axis": [1, 0, 0], "stiffness": 5.0, "start_rate": 0.1},
    "slide": {"kind": "prismatic", "axis": [0, 0.6, 0.8], "stiffness": 40.0, "start_rate": 0.05},
    "ball": {"kind": "spherical", "start_rate": [0.1, -0.2, 0.3]},
    "held ball": {"kind": "spherical", "start_rate": [0.1, -0.2, 0.3], "locked": True},
    "held hinge": {"kind": "revolute", "axis": [0, 0, 1], "start": 0.2, "locked": True},
}
BEAM = {
    "kind": "beam",
    "root": [-0.7, 0, 0],
    "axis": [1, 0, 0],
    "across": [0, 1, 0],
    "length": 1.4,
    "mass_per_length": 2.0,
    "bending_stiffness": [50.0, 60.0],
    "bending_modes": [1, 1],
}
LARGE = {key: value for key, value in BEAM.items() if key not in ("root", "axis", "across")} | {"basis": "polynomial"}
TANK = {"position": [0, 0, -0.3], "axis": [0, 0, 1], "radius": 0.3, "fill": 0.3, "mass": 10.0, "frequency": 0.4}
KINDS = [*JOINTS, "beam on a hinge", "large beam", "tank"]


def tree(kind, name, place, rate):
    """A body and what it carries, and its tanks."""
    base = {"mass": 50.0, "inertia": [5.0, 6.0, 7.0], "position": [place, 0, 0], "rate": rate}
    if kind == "tank":
        return {name: base}, {f"{name}-fuel": {"on": name} | TANK}
    arm = {"on": name, "position": [1.0, 0.2, 0], "mass": 3.0, "inertia": [0.1, 0.6, 0.6]}
    joint = {"position": [0.3, 0.2, 0]} | JOINTS.get(kind, JOINTS["hinge"])
    shape = {"beam on a hinge": {"flexible": BEAM}, "large beam": {"flexible": LARGE}}.get(kind, {})
    return {name: base, f"{name}-arm": arm | {"joint": joint} | shape}, {}


def run(*trees):
    bodies, tanks = ({name: part for one in parts for name, part in one.items()} for parts in zip(*trees, strict=True))
    tables = {"schema": 2, "title": "trees", "duration": 1.0, "body": bodies, "output": {"interval": 0.1}}
    return dockdyn.simulate(load(tables | ({"tank": tanks} if tanks else {})))


PAIRS = list(itertools.product(KINDS, repeat=2))
ALWAYS = [("ball", "hinge"), ("tank", "large beam")]


@pytest.mark.full_cases(*("-".join(pair) for pair in PAIRS if pair not in ALWAYS))
@pytest.mark.parametrize("kinds", PAIRS, ids="-".join)
def test_each_moves_as_it_does_alone(kinds):
    first, other = tree(kinds[0], "first", 0.0, [0.1, 0.2, -0.1]), tree(kinds[1], "other", 9.0, [-0.2, 0.1, 0.15])
    both = run(first, other)
    for alone in (run(first), run(other)):
        for name, values in alone.data_vars.items():
            where = [each for each in ("body", "joint") if each in values.dims]
            if where and values.size:
                again = both[name].sel({where[0]: alone[where[0]].values})
                scale = max(float(np.abs(values).max()), 1e-3)
                np.testing.assert_allclose(again, values, rtol=0, atol=1e-7 * scale, err_msg=name)
