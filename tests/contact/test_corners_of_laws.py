"""Steps end where forces of contacts that yield, of measured tables and of magnets are not smooth: derivatives are right."""

import numpy as np
import pytest

import dockdyn

FIGURE = "kinetic_energy_end_J"
SHARE = 2e-4  # of a number, for differences
SEEDS = [0, *(pytest.param(seed, marks=pytest.mark.full) for seed in (1, 2))]


def thrown(random, **tables):
    """A ball that flies towards a plate."""
    return {
        "schema": 2,
        "title": "a force that is not smooth",
        "duration": 1.5,
        "body": {
            "a": {
                "mass": random.uniform(5, 40),
                "inertia": [3.0, 4.0, 5.0],
                "position": [-0.03, 0.0, 0.0],
                "velocity": [random.uniform(0.1, 0.25), 0.0, 0.0],
                "feature": {"tip": {"position": [0.0, 0.0, 0.0], "radius": 0.009}},
            },
            "b": {
                "mass": 113.0,
                "inertia": [19.0, 23.0, 29.0],
                "surface": {"plate": {"shape": "plane", "point": [0.0, 0.0, 0.0], "normal": [-1.0, 0.0, 0.0]}},
            },
        },
    } | tables


def touching(random, **law):
    return thrown(random, contact={"c": {"between": ["tip", "plate"], "normal": law}})


def crushed(random):
    uniform = random.uniform
    law = {"yield_force": uniform(20, 60), "plastic_stiffness": uniform(2e3, 8e3), "damping": uniform(0, 30)}
    keys = ["contact.c.normal.yield_force", "contact.c.normal.plastic_stiffness"]
    return touching(random, law="elastic-plastic", stiffness=2e4, **law), keys


def flattened(random):
    law = {"stiffness": 2e6, "yield_force": random.uniform(20, 60)}
    return touching(random, law="thornton", **law), ["contact.c.normal.yield_force"]


def measured(random):
    depths = [0.0, *np.cumsum(random.uniform(0.3e-3, 1e-3, 3)).tolist()]
    at_rest = [0.0, *np.cumsum(random.uniform(5, 40, 3)).tolist()]
    table = [[0.8 * force, force, 1.3 * force] for force in at_rest]
    return touching(random, law="measured", depth=depths, rate=[-0.2, 0.0, 0.1], force=table), ["body.b.mass"]


def drawn_together(random):
    """Two bodies that a magnet lets pass each other, through all of its table."""
    magnet = {
        **{"between": ["a", "b"], "anchor": [[0.0, 0.0, 0.0], [0.1, 0.0, 0.0]], "pole_radius": 0.02},
        "gaps": np.cumsum(random.uniform(0.02, 0.1, 4)).tolist(),
        "forces": sorted(random.uniform(1, 20, 4).tolist(), reverse=True),
    }
    content = thrown(random, magnet={"m": magnet}, duration=3.0)
    content["body"]["a"]["position"] = [-0.4, 0.03, 0.0]
    return content, ["magnet.m.forces.1", "magnet.m.gaps.2"]


RARER = [pytest.param(kind, marks=pytest.mark.full) for kind in (crushed, flattened, measured)]


@pytest.mark.parametrize("kind", [drawn_together, *RARER])
@pytest.mark.parametrize("seed", SEEDS)
def test_derivatives_go_across_corners(load, kind, seed):
    """Against differences of the fourth order, of runs at 1e-13, to a share of what differences and rates of a table leave."""
    content, keys = kind(np.random.default_rng(seed))
    keys = ["body.a.mass", *keys]
    found = dockdyn.sensitivity(load(content), of=FIGURE, to=keys)
    assert found["differentiable"]

    def value_at(key, value):
        changes = {key: value, "integrator.tolerance": 1e-13}
        return dockdyn.summarise(dockdyn.simulate(load(content, changes)))[FIGURE]

    for row in found["to"]:
        key, value = row["key"], row["value"]
        near, far = (
            (value_at(key, value * (1 + size)) - value_at(key, value * (1 - size))) / (2 * size * value)
            for size in (SHARE, 2 * SHARE)
        )
        assert row["derivative"] == pytest.approx(
            (4 * near - far) / 3, rel=1e-5 if kind is measured else 1e-6, abs=1e-9 * found["value"] / value
        )
