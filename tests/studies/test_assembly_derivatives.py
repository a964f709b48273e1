"""Derivatives of the figures of assemblies, in machine code, beside differences of the sixth order."""

from __future__ import annotations

import numpy as np
import pytest
from masses_on_a_spring import on_a_spring
from numpy.testing import assert_allclose

from dockdyn import programs
from dockdyn.studies.cases.batch import run_cases
from dockdyn.studies.sensitivity.table import sensitivity

KEYS = ["body.0.mass", "body.0.velocity.0", "contact.normal.stiffness", "contact.normal.damping", "loop.delay"]
LAW = {"law": "hunt-crossley", "stiffness": 2000.0, "exponent": 1, "damping": 1.5}  # ends where the depth does
FIGURES = ["peak_normal_force_N", "first_contact_s", "contact_impulse_N_s", "kinetic_energy_end_J"]
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


@pytest.mark.parametrize("element", [True, pytest.param(False, marks=pytest.mark.full)])
def test_derivatives_are_those_of_differences(load, element):
    scene = on_a_spring(0.01, element) | {"duration": 4.0}
    scene["contact"][0]["normal"] = LAW
    scenario = load(scene)
    for figure in FIGURES:
        rows = {row["key"]: row for row in sensitivity(scenario, figure, KEYS)["to"]}
        keys, values = list(rows), np.array([row["value"] for row in rows.values()])
        known = differences(scenario, figure, keys, values)
        found = np.array([row["derivative"] for row in rows.values()])
        scale = np.abs(known * values).max()
        assert_allclose(found * values / scale, known * values / scale, rtol=0, atol=1e-6, err_msg=figure)
    assert not [name for name in programs.refused if "sensitivity" in name]
