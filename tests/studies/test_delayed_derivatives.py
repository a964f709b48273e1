"""Derivatives of figures through contacts, delayed or not, in machine code, beside differences of the sixth order."""

import numpy as np
import pytest
from masses_on_a_spring import DAMPING, MASSES, STIFFNESS, on_a_spring
from numpy.testing import assert_allclose

from dockdyn import programs
from dockdyn.scenario.language.places import places_of
from dockdyn.scenario.load import parse
from dockdyn.studies.cases.batch import run_cases
from dockdyn.studies.objectives.derivatives import derivatives_of
from dockdyn.studies.sensitivity.table import sensitivity

LAW = ["contact.tip.normal.stiffness", "contact.tip.normal.damping"]
KEYS = ["body.visitor.mass", "body.base.mass", *LAW, "loop.delay"]
FIGURES = ["peak_force_N", "peak_time_s", "contact.impulse_N_s", "kinetic_energy_end_J"]
AGREEMENT = {"peak_time_s": 1e-5}  # the time of a peak is interpolated in a step, whose length differences change
STEP = 1e-3  # of the number
WEIGHTS = np.array([45.0, -9.0, 1.0]) / 60  # of the differences over two, four and six steps


def differences(scenario, figures, keys, values):
    """Derivatives of figures, a row each, by differences of the sixth order."""
    found = []
    for index, value in enumerate(values):
        steps = STEP * value * np.array([1, 2, 3, -1, -2, -3])
        cases = np.tile(values, (6, 1))
        cases[:, index] += steps
        answers = run_cases(scenario, keys, cases, figures=figures).figures
        rows = np.array([answers[figure] for figure in figures])
        found.append((rows[:, :3] - rows[:, 3:]) @ WEIGHTS / (STEP * value))
    return np.array(found).T


def pulling(scenario):
    """The scenario with a contact that pulls until it opens: its force jumps at both ends, and one delay later."""
    scenario["contact"]["tip"]["normal"]["adhesion"] = True
    return scenario | {"duration": 4.0}


def check_near(figure, found, known, values):
    """Holds the derivatives of a figure against others, in proportion to the largest change for 100 % more of a number."""
    scale, nearly = np.abs(known * values).max(), AGREEMENT.get(figure, 1e-6)
    assert_allclose(found * values / scale, known * values / scale, rtol=0, atol=nearly, err_msg=figure)


def check_derivatives(scenario, keys):
    """Holds the derivatives of all figures against differences; they are machine code."""
    for figure in FIGURES:
        rows = {row["key"]: row for row in sensitivity(scenario, figure, keys)["to"]}
        found_keys, values = list(rows), np.array([row["value"] for row in rows.values()])
        (known,) = differences(scenario, [figure], found_keys, values)
        check_near(figure, np.array([row["derivative"] for row in rows.values()]), known, values)
    assert not [name for name in programs.refused if "objectives" in name]


@pytest.mark.full
@pytest.mark.parametrize("element", [True, False])
def test_of_an_mechanism(load, element):
    check_derivatives(load(pulling(on_a_spring(0.01, element))), KEYS)


@pytest.mark.full
def test_of_a_free_flight(load):
    plate = {"shape": "plane", "point": [-0.1, 0, 0], "normal": [-1.0, 0, 0]}
    visitor = {"position": [-0.5, 0, 0], "velocity": [0.05, 0, 0], "feature": {"tip": {"position": [0.3, 0, 0]}}}
    law = {"law": "spring-dashpot", "stiffness": STIFFNESS, "damping": DAMPING}
    scenario = {
        "schema": 2,
        "loop": {"delay": 0.01},
        "chaser": visitor | {"mass": MASSES[0], "inertia": [5.0] * 3},
        "target": {"mass": MASSES[2], "inertia": [5.0] * 3, "surface": {"plate": plate}},
        "contact": {"tip": {"between": ["tip", "plate"], "normal": law}},
    }
    keys = ["body.chaser.mass", "body.target.mass", *LAW, "loop.delay"]
    check_derivatives(load(pulling(scenario)), keys)


# A visitor meets a mounted buffer off its axis, with friction; the base behind the mount has a port, where loads are told.
MOUNTED = """
schema = 2
duration = 3.0
[body.visitor]
mass = 50.0
inertia = [5.0, 6.0, 7.0]
position = [-0.42, 0.05, -0.03]
velocity = [0.05, 0.01, 0.004]
feature.tip = { position = [0.3, 0.02, 0.05] }
[body.buffer]
mass = 20.0
inertia = [5.0, 6.0, 7.0]
surface.plate = { shape = "plane", point = [-0.1, 0, 0], normal = [-1.0, 0, 0] }
[body.base]
mass = 300.0
inertia = [5.0, 6.0, 7.0]
port.port = { position = [-0.05, 0.1, 0], axis = [1, 0, 0] }
[bushing.mount]
between = ["buffer", "base"]
position = [-0.1, 0.03, 0.02]
stiffness = [4000.0, 3000.0, 2500.0]
damping = [30.0, 25.0, 20.0]
turning_stiffness = [300.0, 250.0, 200.0]
turning_damping = [6.0, 5.0, 4.0]
[contact.tip]
between = ["tip", "plate"]
normal = { law = "hunt-crossley", stiffness = 4e5, exponent = 2.0, damping = 1.0 }
friction = { law = "coulomb", coefficient = 0.2, regularisation = 0.02 }
"""
THIRTEEN = [
    *FIGURES,
    "contact.onset_s",
    "contact.approach_speed_m_s",
    "kinetic_energy_start_J",
    "port.tension_N",
    "port.compression_N",
    "port.shear_N",
    "port.torsion_moment_N_m",
    "port.bending_moment_N_m",
    "bushing.turn_rad",
]


MOVED = [
    "body.visitor.mass",
    "body.visitor.velocity.0",
    "contact.tip.normal.stiffness",
    "bushing.mount.stiffness.0",
    "loop.delay",
]


def check_together(scenario, figures, keys):
    """Holds the derivatives of figures, all from one run, against differences."""
    places = {place.key: place for place in places_of(scenario)}
    values = np.array([places[key].value for key in keys])
    found = derivatives_of(scenario, figures, [places[key] for key in keys])
    known = differences(scenario, figures, keys, values)
    for figure, row in zip(figures, known, strict=True):
        check_near(figure, np.array(found[figure][1]), row, values)
    assert not [name for name in programs.refused if "objectives" in name]


@pytest.mark.full
def test_thirteen_figures_of_an_mechanism():
    check_together(parse(MOUNTED, "mounted"), THIRTEEN, MOVED[:-1])


@pytest.mark.full
def test_an_impulse_whose_force_bends_sharply_at_release():
    """The last step may end at the root of the depth by rounding alone: it must move with the root all the same."""
    soft = {"contact.tip.normal.stiffness": 2e4, "contact.tip.normal.exponent": 1.5, "loop": {"delay": 0.01}}
    check_together(parse(MOUNTED, "mounted", soft), ["contact.impulse_N_s"], MOVED)
