"""Where a contact's force ends before its depth does, as with a spring and dashpot: an event of a group with one member."""

import numpy as np
import pytest
from mechanism_cases import PARTS, simulated
from plain_tables import contacts_by_name

import dockdyn

DASHPOT = {"law": "spring-dashpot", "stiffness": 2000.0, "damping": 150.0}
CHASER = {"mass": 40.0, "inertia": [4.0] * 3, "position": [-0.5, -0.1, 0.0], "velocity": [0.1, 0.02, 0.0]}
TARGET = {"mass": 60.0, "inertia": [8.0] * 3, "position": [0.0, 0.0, 0.0]}
TIPS = {"upper": [0.2, 0.05, 0.0], "lower": [0.2, 0.12, 0.02]}
BALL = {"shape": "sphere", "centre": [0.0, 0.0, 0.0], "radius": 0.25}


def case(tips):
    """Points that meet a ball, each a contact of its own."""
    features = {name: {"position": TIPS[name]} for name in tips}
    first, second = {**CHASER, "feature": features}, {**TARGET, "surface": {"ball": BALL}}
    contact = [{"between": [name, "ball"], "normal": DASHPOT} for name in tips]
    bodies = {"body": {"chaser": first, "target": second}}
    return {"schema": 2, "duration": 2.5, "contact": contacts_by_name(contact), **bodies}


def final(load, scenario, **integrator):
    data = simulated(load, scenario, {f"integrator.{key}": value for key, value in integrator.items()})
    return np.concatenate([data[name].values[-1].ravel() for name in PARTS]), data


@pytest.mark.full
def test_the_order_is_kept_through_several_groups(load):
    """Two groups, both released by a force that ends: fourth order, where a gate that is not located leaves the second."""
    scenario = case(TIPS)
    best, data = final(load, scenario, tolerance=1e-13)
    assert set(data.episode_contact.values.tolist()) == {0, 1}
    assert np.isfinite(data.episode_release.values).all()
    assert (data.normal_force.values >= 0).all()
    steps = (0.02, 0.01, 0.005)
    errors = [np.abs(final(load, scenario, step=step)[0] - best).max() for step in steps]
    assert np.polyfit(np.log(steps), np.log(errors), 1)[0] >= 3.5, errors
    assert errors[-1] < 1e-7


@pytest.mark.full
def test_members_beside_others_end_between_steps_that_the_tolerance_keeps_short(load):
    """Of several members an end is no event: at the default tolerance that is tens of nanometres in a place."""
    scenario = case(TIPS)
    scenario["body"]["chaser"]["feature"] = {"tips": {"positions": list(TIPS.values())}}
    scenario["contact"] = {"tips": {"between": ["tips", "ball"], "normal": DASHPOT}}
    best, _ = final(load, case(TIPS), tolerance=1e-13)
    errors = [np.abs(final(load, scenario, tolerance=tolerance)[0] - best).max() for tolerance in (1e-7, 1e-11)]
    assert errors[1] < errors[0] and errors[1] < 2e-7


def test_a_force_that_ends_is_never_a_pull(load):
    data = dockdyn.simulate(load(case(["upper"]) | {"output": {"interval": 1e-3}}))
    force, depth = data.normal_force.values[:, 0], data.depth.values[:, 0]
    ended = (depth > 0) & (force == 0)
    assert ended.sum() > 5 and force.min() == 0
    assert (data.contact_force.values[ended] == 0).all()
