"""A magnet with gaps that its table has not pulls with the force of the nearest end: where that is a force, a run says so."""

import numpy as np
import pytest

import dockdyn


@pytest.mark.full_cases("0-1", "0-2")
@pytest.mark.parametrize("lines", [1, 2])
@pytest.mark.parametrize("seed", range(4))
def test_gaps_beyond_a_table_are_told(load, seed, lines):
    """Of heavy bodies that stay at a drawn gap, within the table, below it and above; with a pole radius and without."""
    draw = np.random.default_rng([6, seed])
    first, last, radius = draw.uniform(0.01, 0.05), draw.uniform(0.3, 0.5), draw.choice([0.0, 0.2])
    forces = [draw.uniform(0.1, 1.0), 0.05, draw.choice([0.0, 0.02])]
    for begins, near, far in (
        (0.5 * (first + last), False, False),
        (0.5 * first, True, False),
        (1.5 * last, False, True),
    ):
        side = np.sqrt((begins + radius) ** 2 - radius**2)  # of a gap √(d² + r²) − r
        body = {"mass": 1e4, "inertia": [1e4] * 3}
        magnet = {
            "between": ["a", "b"],
            "gaps": [first, 0.5 * (first + last), last],
            "forces": forces,
            "pole_radius": radius,
        }
        anchors = [[[0.0, float(one), 0.0]] * 2 for one in range(lines)]
        magnet |= {"anchor": anchors[0]} if lines == 1 else {"anchors": anchors}
        tables = {
            "schema": 2,
            "duration": 0.1,
            "body": {"a": body, "b": body | {"position": [float(side), 0.0, 0.0]}},
            "magnet": {"m": magnet},
        }
        told = [words for words in dockdyn.summarise(dockdyn.simulate(load(tables)))["warnings"] if "magnet" in words]
        expected = near or (far and forces[2] > 0)
        assert len(told) == (lines if expected else 0)
        for words in told:
            assert f"{1e3 * begins:.3g} mm, where it pulls with the {'first' if near else 'last'} force" in words
