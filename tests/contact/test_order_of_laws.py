"""Error against step, from onset to release, of laws that are smooth within a contact and remember what was."""

import numpy as np
import pytest
from mechanical_models import slope
from sticking_ball import ball_on_plane

import dockdyn

SPRING = {"law": "spring-dashpot", "stiffness": 1e3, "damping": 5.0}
ELASTIC = {"law": "spring-dashpot", "stiffness": 1e3}
SMOOTH = {"law": "coulomb", "coefficient": 0.2, "regularisation": 0.02}
LAWS = {  # and the velocity along the plane; friction that sticks is of first order where sliding turns or begins
    "spring and dashpot": (SPRING, SMOOTH, [0.9, 0.3]),
    "standard linear solid": (
        {"law": "zener", "stiffness": 1e3, "series_stiffness": 500.0, "relaxation_time": 0.05},
        SMOOTH,
        [0.9, 0.3],
    ),
    "slides straight on": (ELASTIC, {"law": "stick-slip", "coefficient": 0.05, "stiffness": 500.0}, [0.9, 0.0]),
}
STEPS = np.array([1.6e-3, 8e-4, 4e-4, 2e-4])  # s


@pytest.mark.full_cases("spring and dashpot", "slides straight on")
@pytest.mark.parametrize("name", LAWS)
def test_errors_fall_with_the_fourth_power_of_the_step(load, name):
    normal, friction, along = LAWS[name]
    spin = [0.0, 3.0, 0.0] if along[1] == 0 else [1.0, 8.0, -5.0]
    tables = ball_on_plane([*along, -0.1], spin, normal, friction) | {"duration": 0.16, "output": {"interval": 8e-3}}

    def end(step):
        last = dockdyn.simulate(load(tables | {"integrator": {"step": step}})).isel(time=-1).sel(body="ball")
        return np.concatenate([last[key].values for key in ("position", "velocity", "rate")])

    best = end(STEPS[-1] / 8)
    errors = [np.abs(end(step) - best).max() for step in STEPS]
    assert slope(STEPS, errors) >= 3.5
    assert errors[-1] < 1e-9
