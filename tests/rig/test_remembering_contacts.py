"""Rigs whose computed contacts remember what was: while the mock-ups are apart, the motion of the mechanism without rig."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sticking_ball import ball_on_plane

import dockdyn

HERTZ = {"law": "hertz", "exponent": 1.5, "stiffness": 1e8}
YIELDING = {"law": "elastic-plastic", "stiffness": 4e6, "yield_force": 300.0, "plastic_stiffness": 5e5}
LAWS = {
    "lugre": (HERTZ, {"law": "lugre", "coefficient": 0.2, "presliding": 2e-5, "retardation_time": 1e-4}),
    "stick-slip": (HERTZ, {"law": "stick-slip", "coefficient": 0.2, "stiffness_ratio": 0.8, "rolling": 1e-3}),
    "yielding": (YIELDING, {"law": "coulomb", "coefficient": 0.1}),
}
METHODS = {
    "zero-order-hold": {"method": "zero-order-hold", "period": "2 ms"},
    "continuous": {"method": "continuous"},
}
MOTION = [0.25, -0.1, -0.4], [3.0, 6.0, -5.0]  # m/s, rad/s


def bouncing(normal, friction):
    """A ball that bounces off an anvil, and a cone that it would meet much later."""
    tables = ball_on_plane(*MOTION, normal, friction)
    cone = {
        "shape": "cone",
        "apex": [0.0, 0.0, 0.0],
        "axis": [-1.0, 0.0, 0.0],
        "half_angle": "40 deg",
        "rim_radius": 1.0,
    }
    tables["body"]["wall"] = {"fixed": True, "position": [5.0, 0.0, 0.0], "surface": {"wall": cone}}
    linear = {"law": "spring-dashpot", "stiffness": 1e4}
    tables["contact"]["far"] = {"between": ["ball.tip", "wall.wall"], "normal": linear}
    return tables


@pytest.mark.full_cases(
    *(f"{law}-{method}" for law in LAWS for method in METHODS if (law, method) != ("lugre", "continuous"))
)
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("law", LAWS)
def test_a_bounce_in_software_is_that_of_the_mechanism(law, method, load):
    tables = bouncing(*LAWS[law])
    free = dockdyn.simulate(load(tables | {"output": {"interval": 4e-3}}))
    around = {"rig": {"carries": "ball", "against": "wall"}, "stability": {"distance": 0.5}}
    loop = {"hold": {"period": "4 ms"}, "sensor": {"delay": "20 ms"}, "dynamics": METHODS[method]}
    tables = {key: value for key, value in tables.items() if key not in ("output", "integrator")} | around
    rig = dockdyn.simulate(load(tables | {"loop": loop}))
    places = free["position"].sel(body="ball").values - free["position"].sel(body="wall").values
    times = min(len(rig.time), len(free.time))
    assert np.ptp(free["velocity"].sel(body="ball", axis="z").values) > 0.5 and np.abs(rig["contact_force"]).max() == 0
    rows = np.searchsorted(rig.time.values, free.time.values[:times] - 1e-9)
    # where sliding turns, stick-slip is of first order in the step, which the loop's instants make others
    near = 2e-8 if law == "stick-slip" else 1e-9
    assert_allclose(rig["model_pose"].values[rows, :3], places[:times], rtol=0, atol=near)
    turned = free["rotation"].sel(body="ball").values[:times]
    assert_allclose(rig["model_pose"].values[rows, 3:], turned, rtol=0, atol=100 * near)  # rad, of a lever of 40 mm
