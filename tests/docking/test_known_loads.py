"""Requirements on loads where something acts at an instant: not decided wherever the number may hide either answer."""

import numpy as np
import pytest

import dockdyn
from dockdyn.studies.cases.batch import run_cases

KINDS = ("impact", "weld", "pin", "normal", "compliant", "missed", "other")
AT_AN_INSTANT = ("impact", "weld", "pin")


def meeting(kind, draw):
    """Two bodies that meet, with a port on one of them, by an impact law, a latch or what has a force; and what is required."""
    speed, gap = draw.uniform(0.02, 0.3), draw.uniform(0.01, 0.1)
    bodies = {
        "a": {"mass": draw.uniform(5, 50), "inertia": [1.0] * 3, "velocity": [speed, 0.0, 0.0]},
        "b": {"mass": draw.uniform(5, 50), "inertia": [1.0] * 3, "position": [gap, 0.0, 0.0]},
    }
    bodies["b"]["port"] = {"flange": {"position": [0.0] * 3, "axis": [1.0, 0.0, 0.0]}}
    tables = {"schema": 2, "duration": 2 * gap / speed, "body": bodies}
    if kind in ("impact", "normal", "missed", "other"):
        bodies["a"]["feature"] = {"tip": {"position": [0.0] * 3, "radius": 1e-6}}
        side = [0.0, 0.0, 1.0] if kind == "missed" else [-1.0, 0.0, 0.0]
        bodies["b"]["surface"] = {
            "face": {"shape": "plane", "point": [0.0, 0.0, -1.0 if kind == "missed" else 0.0], "normal": side}
        }
        law = {"normal": {"law": "spring-dashpot", "stiffness": draw.uniform(1e4, 1e5)}}
        if kind in ("impact", "missed"):
            law = {"impact": {"law": "frictionless", "restitution": draw.uniform(0.1, 0.9)}}
        tables["contact"] = {"meets": {"between": ["tip", "face"]} | law}
        if kind == "other":  # an impact law that never strikes
            bodies["a"]["feature"]["far"] = {"position": [-9.0, 0.0, 0.0], "radius": 1e-6}
            tables["contact"]["far"] = {
                "between": ["far", "face"],
                "impact": {"law": "frictionless", "restitution": 0.5},
            }
    else:
        latch = {
            "between": ["a", "b"],
            "anchor": [[0.0] * 3] * 2,
            "axis": [-1.0, 0.0, 0.0],
            "reach": gap / 3,
            "lateral": 1.0,
        }
        tables["latch"] = {"hook": latch | {"grip": kind}}
        if kind == "compliant":
            tables["latch"]["hook"] |= {"stiffness": 1e4, "damping": 100.0}
    return tables


def judged(run):
    return {one["name"]: (one["met"], one["value"]) for one in dockdyn.summarise(run)["requirements"]}


@pytest.mark.full_cases(*(f"{kind}-0" for kind in KINDS))
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", KINDS)
def test_a_load_that_is_not_known_decides_nothing(load, kind, seed):
    """A limit above what is seen is open, one below it is missed; both are decided where forces have a course."""
    tables = meeting(kind, np.random.default_rng([5, seed, KINDS.index(kind)]))
    tables["requirements"] = {
        "port.compression": "< 1 GN",
        "body.b.port.flange.tension": "< 1 GN",
        "port.tension": "> 1 GN",
        "peak_force": "< 0 N",
    }
    if "contact" in tables:
        tables["requirements"]["contact.meets.peak_force"] = "< 1 GN"
    scenario = load(tables)
    found, struck = judged(dockdyn.simulate(scenario)), kind in AT_AN_INSTANT
    expected = None if struck else True
    assert found["port.compression"][0] is expected and found["body.b.port.flange.tension"][0] is expected
    assert found["port.tension"][0] is (None if struck else False) and found["peak_force"][0] is False
    if kind in ("impact", "normal", "other"):
        assert (
            found["contact.meets.peak_force"][0] is expected
            and (found["contact.meets.peak_force"][1] is None) == struck
        )
    summary = dockdyn.summarise(dockdyn.simulate(scenario))
    assert summary.get("peak_force_known", True) == (not struck)
    cases = run_cases(scenario, ["body.a.mass"], np.array([[7.0], [8.0]])).figures
    assert (np.asarray(cases.get("peak_force_known", [1.0, 1.0])) == (0 if struck else 1)).all()


def test_a_contact_with_a_force_is_known_beside_one_that_is_struck(load):
    """Its own force has a course; the largest of all contacts and loads at ports stay open."""
    tables = meeting("normal", np.random.default_rng(3))
    body = {"mass": 4.0, "inertia": [1.0] * 3, "position": [0.0, 5.0, 0.0], "velocity": [0.1, 0.0, 0.0]}
    body["feature"] = {"nose": {"position": [0.0] * 3, "radius": 1e-6}}
    tables["body"]["c"] = body
    tables["contact"]["struck"] = {"between": ["nose", "face"], "impact": {"law": "frictionless", "restitution": 0.5}}
    tables["requirements"] = {
        "contact.meets.peak_force": "< 1 GN",
        "contact.struck.peak_force": "< 1 GN",
        "peak_force": "< 1 GN",
    }
    tables["duration"] = 5.0
    found = judged(dockdyn.simulate(load(tables)))
    assert [found[name][0] for name in tables["requirements"]] == [True, None, None]
    assert found["contact.meets.peak_force"][1] > 0
