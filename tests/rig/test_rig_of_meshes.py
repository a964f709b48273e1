"""Rigs whose mock-ups are meshes."""

from __future__ import annotations

import numpy as np
import pytest
import tomlkit
from starter_files import write_box

from dockdyn.programs import Program
from dockdyn.rig.build import rig_of
from dockdyn.rig.model.rig import IdealContact
from dockdyn.rig.model.run import NoiseDraws, run_cycles
from dockdyn.rig.resting import loop_of
from dockdyn.scenario.load import parse


@pytest.mark.full
def test_a_cycle_reads_a_few_nodes_of_a_mesh_and_copies_none_of_its_field(tmp_path, monkeypatch):
    """However many nodes there are: all that a cycle works with takes less memory than they do."""
    monkeypatch.chdir(tmp_path)
    write_box(tmp_path / "box.stl", (0.2, 0.15, 0.09))
    chaser = {
        "mass": 150.0,
        "inertia": [22.0, 12.0, 26.0],
        "position": [0.125, 0.0, 0.0],
        "velocity": [-0.03, 0.0, 0.0],
    }
    target = {"mass": 400.0, "inertia": [102.0, 160.0, 208.0], "position": [0.0, 0.0, 0.0]}
    hull = {"shape": "mesh", "file": "box.stl", "unit": "m", "tip_radius": 0.02, "tolerance": 2e-3}
    cycle = {"period": "4 ms"}
    tables = {
        "schema": 2,
        "rig": {"carries": "chaser", "against": "target"},
        "duration": 1.0,
        "body": {
            "chaser": chaser | {"feature": {"tip": {"position": [0.0, 0.0, 0.0], "radius": 0.02}}},
            "target": target | {"surface": {"hull": hull}},
        },
        "contact": {"tip": {"between": ["tip", "hull"], "normal": {"law": "spring-dashpot", "stiffness": 400.0}}},
        "loop": {"delay": "16 ms", "hold": cycle, "dynamics": cycle},
    }
    scenario = parse(tomlkit.dumps(tables), "meshes")
    (surface,) = (each for body in scenario.content.body for each in body.surface)
    rig = rig_of(scenario, loop_of(scenario), None)
    nothing = IdealContact(*(np.zeros((4, rig.plant.port_axes)),) * 2)
    code, _ = Program(run_cycles, static=("rows", "stride")).code(rig, nothing, NoiseDraws(None, None), 4, 1)
    assert code.work < surface.field.coefficients.nbytes
