"""Loads at a port are of all that acts on its body: where that is not what goes through it, a run says so if they are asked."""

import numpy as np
import pytest

import dockdyn

LAW = {"normal": {"law": "spring-dashpot", "stiffness": 1e4}}


def station(draw, collars, visitors):
    """A station that `visitors` meet, one or two; its ports on itself, or on light collars that it carries."""
    bodies = {"station": {"mass": draw.uniform(500, 5000), "inertia": [1e3] * 3, "position": [0.0] * 3}}
    contacts = {}
    for number, side in zip(range(visitors), (1.0, -1.0), strict=False):
        face = {"surface": {f"face{number}": {"shape": "plane", "point": [0.0] * 3, "normal": [side, 0.0, 0.0]}}}
        face["port"] = {f"port{number}": {"position": [0.0] * 3, "axis": [side, 0.0, 0.0]}}
        if collars:
            bodies[f"collar{number}"] = face | {"mass": draw.uniform(0.5, 5), "inertia": [0.1] * 3, "on": "station"}
            bodies[f"collar{number}"] |= {"position": [side, 0.0, 0.0], "joint": {"kind": "locked"}}
        else:
            face["surface"][f"face{number}"]["point"] = face["port"][f"port{number}"]["position"] = [side, 0.0, 0.0]
            for kind, parts in face.items():
                bodies["station"].setdefault(kind, {}).update(parts)
        visitor = {
            "mass": draw.uniform(50, 500),
            "inertia": [100.0] * 3,
            "position": [side * draw.uniform(1.5, 3), 0.0, 0.0],
        }
        visitor["velocity"] = [-side * draw.uniform(0.05, 0.3), 0.0, 0.0]
        bodies[f"visitor{number}"] = visitor | {"feature": {f"tip{number}": {"position": [0.0] * 3, "radius": 0.01}}}
        contacts[f"meets{number}"] = {"between": [f"tip{number}", f"face{number}"]} | LAW
    ports = [f"body.{name}.port.{port}.compression" for name, body in bodies.items() for port in body.get("port", {})]
    asked = ports if draw.integers(2) else ["port.compression"]
    tables = {"schema": 2, "duration": 60.0, "body": bodies, "contact": contacts}
    return tables | {"requirements": dict.fromkeys(asked, "< 1 MN")}


@pytest.mark.full_cases("0-1-False", "0-2-True", "0-2-False")
@pytest.mark.parametrize("collars", [False, True])
@pytest.mark.parametrize("visitors", [1, 2])
@pytest.mark.parametrize("seed", range(2))
def test_a_port_whose_load_is_not_its_own_is_told(load, seed, visitors, collars):
    """On a light collar contact and joint cancel; two ports of one station have the sum of both visitors; one has its own."""
    tables = station(np.random.default_rng([4, seed, visitors]), collars, visitors)
    run = dockdyn.simulate(load(tables))
    told = [words for words in dockdyn.summarise(run)["warnings"] if "port" in words]
    if collars:
        assert len(told) == visitors
        for number, words in enumerate(told):
            assert (
                f"port 'collar{number}.port{number}' has the sum" in words and f"contact 'meets{number}' alone" in words
            )
    elif visitors == 2:
        (words,) = told
        assert "ports 'station.port0', 'station.port1' are of one body, on which 'visitor0', 'visitor1' act" in words
    else:
        assert not told
        peak = dockdyn.summarise(run)["peak_force_N"]
        assert dockdyn.summarise(run)["body.station.port.port0.compression_N"] == pytest.approx(peak, rel=1e-9)
    del tables["requirements"]
    silent = dockdyn.summarise(dockdyn.simulate(load(tables)))["warnings"]
    assert not [words for words in silent if "port" in words]
