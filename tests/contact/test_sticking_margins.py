"""Margins of contacts that stick beside runs: what swings along and across the surface grows as fast as the margins say, also
where the contacts are the hardware of a rig."""

import numpy as np
import pytest
from contact_benchmarks import pressed_block
from scipy.linalg import expm

import dockdyn

FRICTIONS = {
    "stick-slip": {"law": "stick-slip", "coefficient": 0.3, "stiffness": 3e5, "retardation_time": 1e-3},
    "lugre": {"law": "lugre", "coefficient": 0.3, "presliding": 1e-4, "retardation_time": 1e-3},
}
WAYS = {"along": ([0.6, 0.8, 0.0], 400.0), "across": ([0.0, 0.0, 1.0], 15.0)}  # and the normal damping (N s/m)
SHARES = 0.95, 1.05, 1.1  # of the critical delay
CASES = [f"{share}-{way}-{law}" for share in SHARES for way in WAYS for law in FRICTIONS]
SAMPLE = 5e-4  # s


def growth(motion):
    """Return the growth rate (1/s) of an oscillation by itself, each sample of which follows from the two before."""
    ahead, before, earlier = motion[2:], motion[1:-1], motion[:-2]
    (first, second), *_ = np.linalg.lstsq(np.stack([before, earlier], 1), ahead)
    return np.log(np.abs(np.roots([1.0, -first, -second])).max()) / SAMPLE


@pytest.mark.full_cases(*(case for case in CASES if case != "1.05-along-stick-slip"))
@pytest.mark.parametrize("law", FRICTIONS)
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("share", SHARES)
def test_what_sticks_swings_on_as_its_margins_say(load, share, way, law):
    """With a delay of some share of the critical one, from a motion so small that nothing slips."""
    direction, damping = WAYS[way]
    tables = pressed_block(0.0, FRICTIONS[law], 0.6)
    for contact in tables["contact"].values():
        contact["normal"]["damping"] = damping
    tables["body"]["block"]["velocity"] = (1e-10 * np.array(direction)).tolist()
    tables |= {"loop": {"delay": 1e-4}, "output": {"interval": SAMPLE}}
    tables["loop"]["delay"] = share * dockdyn.margins(load(tables))["critical_delay_s"]
    said = dockdyn.margins(load(tables))
    moves = dockdyn.simulate(load(tables))["velocity"].sel(body="block").values @ direction
    late = moves[len(moves) // 3 :]
    assert said["stable"] == (share < 1)
    if share < 1:  # of what is decaying other ways may be the slowest
        assert growth(late) < 0
    else:
        assert growth(late) == pytest.approx(said["growth_rate_1_s"], rel=1e-3)


PERIOD = 5e-4  # s, of a rig


@pytest.mark.full_cases("lugre")
@pytest.mark.parametrize("law", FRICTIONS)
def test_what_sticks_to_the_hardware_of_a_rig_swings_on_as_its_margins_say(load, law):
    """By its hold, its step and its robot's lag alone; and as the map over a step says that SciPy makes of two springs with
    dampers, the mass and the robot."""
    tables, (direction, damping) = pressed_block(0.0, FRICTIONS[law], 0.08), WAYS["along"]
    tables.pop("thruster")
    for contact in tables["contact"].values():
        contact["normal"]["damping"] = damping
    tables["body"]["block"]["velocity"] = (1e-10 * np.array(direction)).tolist()
    loop = {"hold": {"period": PERIOD}, "dynamics": {"method": "zero-order-hold", "period": PERIOD}}
    robot = {"numerator": [1e8], "denominator": [1.0, 1.4e4, 1e8]}
    case = load(tables | {"rig": {"carries": "block", "against": "frame"}, "loop": loop | {"robot": robot}})
    held, mass = 2 * 3e5, 2.0  # N/m, kg
    flow = np.zeros((3, 3))
    flow[0, 1], flow[1] = 1.0, [-1e8, -1.4e4, 1e8]
    lag, force = expm(flow * PERIOD)[:2], np.array([0.0, 0.0, -held, -held * 1e-3]) / mass
    step = np.array([[1.0, PERIOD, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], *np.c_[lag[:, 2], [0, 0], lag[:, :2]]])
    step[:2] += np.outer([PERIOD**2 / 2, PERIOD], force)
    expected = np.log(np.abs(np.linalg.eigvals(step)).max()) / PERIOD
    assert expected > 100 and dockdyn.margins(case)["growth_rate_1_s"] == pytest.approx(expected, rel=1e-6)
    moves = dockdyn.simulate(case)["velocity"].values @ direction
    late = moves[len(moves) // 2 :]
    assert np.abs(late).max() < 1e-4 and growth(late) == pytest.approx(expected, rel=1e-4)
