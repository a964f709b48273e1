"""Derivatives of figures through delayed contacts, in machine code, beside differences of the sixth order."""

from __future__ import annotations

import numpy as np
import pytest
from masses_on_a_spring import DAMPING, MASSES, STIFFNESS, on_a_spring
from numpy.testing import assert_allclose

from dockdyn import programs
from dockdyn.studies.cases.batch import run_cases
from dockdyn.studies.sensitivity.table import sensitivity

KEYS = ["body.0.mass", "body.2.mass", "contact.normal.stiffness", "contact.normal.damping", "loop.delay"]
FIGURES = ["peak_normal_force_N", "peak_time_s", "contact_impulse_N_s", "kinetic_energy_end_J"]
AGREEMENT = {"peak_time_s": 1e-5}  # the time of a peak is interpolated in a step, whose length differences change
STEP = 1e-3  # of the number
WEIGHTS = np.array([45.0, -9.0, 1.0]) / 60  # of the differences over two, four and six steps


def differences(scenario, figure, keys, values):
    """Derivatives by differences of the sixth order."""
    found = []
    for index, value in enumerate(values):
        steps = STEP * value * np.array([1, 2, 3, -1, -2, -3])
        cases = np.tile(values, (6, 1))
        cases[:, index] += steps
        answers = run_cases(scenario, keys, cases, figures=[figure]).figures[figure]
        found.append(WEIGHTS @ (answers[:3] - answers[3:]) / (STEP * value))
    return np.array(found)


def pulling(scenario):
    """The scenario with a contact that pulls until it opens: its force jumps at both ends, and one delay later."""
    scenario["contact"][0]["normal"]["adhesion"] = True
    return scenario | {"duration": 4.0}


def check_derivatives(scenario, keys):
    """Holds the derivatives of all figures against differences, in proportion to the largest; they are machine code."""
    for figure in FIGURES:
        rows = {row["key"]: row for row in sensitivity(scenario, figure, keys)["to"]}
        found_keys, values = list(rows), np.array([row["value"] for row in rows.values()])
        known = differences(scenario, figure, found_keys, values)
        found = np.array([row["derivative"] for row in rows.values()])
        scale, nearly = np.abs(known * values).max(), AGREEMENT.get(figure, 1e-6)
        assert_allclose(found * values / scale, known * values / scale, rtol=0, atol=nearly, err_msg=figure)
    assert not [name for name in programs.refused if "sensitivity" in name]


@pytest.mark.parametrize("element", [True, pytest.param(False, marks=pytest.mark.full)])
def test_of_an_assembly(load, element):
    check_derivatives(load(pulling(on_a_spring(0.01, element))), KEYS)


def test_of_a_free_flight(load):
    plate = {"name": "plate", "shape": "plane", "point": [-0.1, 0, 0], "normal": [-1.0, 0, 0]}
    visitor = {
        "position": [-0.5, 0, 0],
        "velocity": [0.05, 0, 0],
        "feature": [{"name": "tip", "position": [0.3, 0, 0]}],
    }
    law = {"law": "spring-dashpot", "stiffness": STIFFNESS, "damping": DAMPING}
    scenario = {
        "schema": 1,
        "kind": "free-flight",
        "loop": {"delay": 0.01},
        "chaser": visitor | {"mass": MASSES[0], "inertia": [5.0] * 3},
        "target": {"mass": MASSES[2], "inertia": [5.0] * 3, "surface": [plate]},
        "contact": [{"feature": "tip", "surface": "plate", "normal": law}],
    }
    keys = ["chaser.mass", "target.mass", "contact.normal.stiffness", "contact.normal.damping", "loop.delay"]
    check_derivatives(load(pulling(scenario)), keys)
