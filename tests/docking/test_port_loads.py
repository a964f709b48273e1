"""Loads at ports of arrangements that are even around an axis: nothing acts across it, whatever fires first by rounding."""

import numpy as np
import pytest
from mechanism_cases import moved
from plain_tables import acting

import dockdyn
from dockdyn.studies.cases.batch import run_cases

rng = np.random.default_rng(20261126)
FAR = 10.0  # m, from the base's centre of mass: places are rounded as such lengths are


def around(count, radius, x=0.0):
    """Places evenly around the x axis (m)."""
    angles = 2 * np.pi * np.arange(count) / count
    return [[x, radius * np.cos(angle), radius * np.sin(angle)] for angle in angles]


def even(part, count):
    """A ring pushed along its axis away from a base, held by parts that tighten all at once with a jump of force."""
    tied = {"kind": part, "name": "tie", "between": ["ring", "base"], "damping": 2e3}
    if part == "latch":
        places = [list(pair) for pair in zip(around(count, 0.6), around(count, 0.6, FAR), strict=True)]
        tied |= {"anchors": places, "reach": 0.01, "lateral": 0.01, "stiffness": 3e5, "play": 1e-3}
    else:
        places = [list(pair) for pair in zip(around(count, 0.6), around(count, 0.6, FAR - 0.5), strict=True)]
        tied |= {
            "anchors": places,
            "damping": 10.0,
            "stroke": [-0.002, 0.002],
            "stop_stiffness": 3e5,
            "stop_damping": 2e3,
        }
    return {
        "schema": 2,
        "duration": 2.0,
        "body": {
            "ring": {
                "mass": 40.0,
                "inertia": [8.0, 4.0, 4.0],
                "position": [FAR, 0.0, 0.0],
                "velocity": [0.005, 0.0, 0.0],
                "port": {"face": {"position": [0.0] * 3, "axis": [1, 0, 0]}},
            },
            "base": {
                "mass": 400.0,
                "inertia": [3e4] * 3,
                "port": {"port": {"position": [FAR, 0.0, 0.0], "axis": [1, 0, 0]}},
            },
        },
        **acting(
            tied,
            {
                "kind": "strut",
                "name": "push",
                "between": ["ring", "base"],
                "anchor": [[0.0] * 3, [FAR - 5.0, 0.0, 0.0]],
                "stiffness": 10.0,
                "damping": 2.0,
                "free_length": 5.5,
            },
        ),
        "integrator": {"tolerance": 1e-8},
    }


@pytest.mark.full_cases("latch-3")
@pytest.mark.parametrize(("part", "count"), [("latch", 3), ("strut", 4)])
def test_parts_that_tighten_at_once_load_no_port_across(load, part, count):
    """Turned anyhow in space: rounding decides which fires first, and what acts until the last has is no load."""
    for _ in range(4):
        turn, shift, boost = rng.normal(size=3), rng.normal(size=3), 0.1 * rng.normal(size=3)
        run = dockdyn.simulate(load(moved(even(part, count), turn, shift, boost)))
        along = max(run.interface_tension.values.max(), run.interface_compression.values.max())
        assert along > 5.0
        for name in ("shear", "torsion_moment", "bending_moment"):
            assert run[f"interface_{name}"].values.max() < 1e-6 * along
        assert dockdyn.summarise(run)["angular_momentum_error"] < 1e-12  # though nothing turns


@pytest.mark.full
@pytest.mark.parametrize("of_summary", [True, False])
def test_a_requirement_at_one_port_is_judged_by_that_port(load, of_summary):
    """In a run and in cases: limits just below and above what that port bears, and above what any does."""
    case = even("strut", 4)
    case["body"]["ring"]["port"]["face"]["position"] = [0.0, 0.3, 0.0]  # off the axis: the ports bear different moments
    run = dockdyn.simulate(load(case))
    loads = zip(run.port.values, run.interface_bending_moment.values, strict=True)
    sizes = {"body.{}.port.{}".format(*str(port).split(" ")): float(value) for port, value in loads}
    name, part = "port.bending_moment", "bending_moment"
    least, most = sorted(sizes, key=lambda port: sizes[port])
    assert sizes[most] > 1.01 * sizes[least]
    case["requirements"] = {name: f"< {sizes[most] * 1.001} N m"}
    case["requirements"] |= {f"{port}.{part}": f"< {1.001 * sizes[least]} N m" for port in sizes}
    if of_summary:
        found = {one["name"]: one for one in dockdyn.summarise(dockdyn.simulate(load(case)))["requirements"]}
        assert {key: one["met"] for key, one in found.items()} == {
            name: True,
            f"{least}.{part}": True,
            f"{most}.{part}": False,
        }
        body, port = found[name]["at"].split(".")
        assert f"body.{body}.port.{port}" == most
    else:
        cases = run_cases(load(case), ["body.ring.mass"], np.array([[40.0]]))
        for port, size in sizes.items():
            assert cases.figures[f"{port}.{part}_N_m"][0] == pytest.approx(size, rel=1e-9)
        unasked = run_cases(load(even("strut", 4)), ["body.ring.mass"], np.array([[40.0]]))
        assert not [figure for figure in unasked.figures if figure.startswith("body.")]
