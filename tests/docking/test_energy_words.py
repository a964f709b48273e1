"""What is said of energy where joints take some beside a contact."""

import pytest
from mechanism_cases import simulated

import dockdyn
from dockdyn.docking.views.report import mechanism_report
from dockdyn.report.report import ReportBlock

SLIDING = {"kind": "prismatic", "position": [0, 0, 0], "axis": [1, 0, 0], "stiffness": 2e3, "damping": 100.0}


def bounce_off_a_pad(joint):
    """A ball that bounces without loss off a plate on a joint."""
    plate = {"shape": "plane", "point": [0, 0, 0], "normal": [1, 0, 0]}
    return {
        "schema": 2,
        "duration": 1.0,
        "body": {
            "bus": {"mass": 500.0, "inertia": [50.0] * 3},
            "pad": {
                "on": "bus",
                "mass": 5.0,
                "inertia": [1.0] * 3,
                "position": [1, 0, 0],
                "joint": joint,
                "surface": {"plate": plate},
            },
            "ball": {
                "mass": 20.0,
                "inertia": [1.0] * 3,
                "position": [1.2, 0, 0],
                "velocity": [-0.3, 0, 0],
                "feature": {"nose": {"position": [0, 0, 0], "radius": 0.1}},
            },
        },
        "contact": {"nose": {"between": ["nose", "plate"], "normal": {"law": "spring-dashpot", "stiffness": 1e4}}},
    }


@pytest.mark.full
def test_a_contact_is_not_said_to_do_what_joints_do(load):
    """On a damped slide, which loses energy meanwhile: the contact has no class, and no table a column for it; the work is
    said to be that of all."""
    data = simulated(load, bounce_off_a_pad(SLIDING))
    summary = dockdyn.summarise(data)
    assert data.sizes["episode"] and set(summary["energy_class"]) == {None}
    assert float(data.episode_energy_gain[0]) < -0.1 * float(data.kinetic_energy[0])
    report = mechanism_report(data, summary)
    tables = [
        block.table for block in (*report.terminal, *report.blocks) if isinstance(block, ReportBlock) and block.table
    ]
    words = [str(column) for table in tables for column in table.columns]
    assert "('energy', 'after, J')" in words and not any("class" in column for column in words)
    said = str(report.blocks)
    assert "work of contacts, elements and joints against change of energy" in said
    assert "says nothing of a contact alone" in said and "active added some" not in said


@pytest.mark.full
def test_a_contact_on_a_weld_is_lossless(load):
    whole = simulated(load, bounce_off_a_pad({"kind": "locked"}))
    assert dockdyn.summarise(whole)["energy_class"] == ["lossless"]
    assert "work of the contact forces against change of kinetic energy" in str(
        mechanism_report(whole, dockdyn.summarise(whole)).blocks
    )
