"""Margins of contacts that stick beside runs: what swings along and across the surface grows as fast as the margins say, also
where the contacts are the hardware of a rig."""

import numpy as np
import pytest
from contact_benchmarks import pressed_block
from scipy.linalg import expm
from scipy.optimize import brentq, fsolve
from scipy.spatial.transform import Rotation
from sticking_ball import RADIUS, ball_on_plane

import dockdyn
from dockdyn.scenario.language.places import places_of
from dockdyn.studies.margins.slopes import margin_of, margin_slopes

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


@pytest.mark.full  # what creeps and sticks in hardware is met in a shorter one
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


NORMAL, ALONG, DAMPING, RETARDATION = 3e4, 5e4, 60.0, 1.5e-3  # N/m, N/m, N s/m, s


def two_that_touch(seed):
    """Two free bodies whose only contact sticks, and the matrix (1/kg) of how its point yields to a force: normal first."""
    draw = np.random.default_rng(seed)
    frame = Rotation.random(rng=draw)
    at, normal, bodies, yields = draw.normal(size=3), frame.apply([0.0, 0.0, 1.0]), {}, np.zeros((3, 3))
    axes = frame.apply([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    for name, side in (("chaser", 1), ("target", -1)):
        mass, turn = draw.uniform(2, 9), Rotation.random(rng=draw)
        inertia, arm = mass * draw.uniform(0.05, 0.08, 3), draw.normal(size=3) * 0.2 - side * 0.3 * normal
        bodies[name] = {
            "mass": mass,
            "inertia": inertia.tolist(),
            "position": at - arm,
            "velocity": np.zeros(3),
            "attitude": turn.as_quat(scalar_first=True),
        }
        own = turn.inv().apply(arm)
        if name == "chaser":
            bodies[name]["feature"] = {"tip": {"position": own}}
        else:
            bodies[name]["surface"] = {"wall": {"shape": "plane", "point": own, "normal": turn.inv().apply(normal)}}
        levers = np.array([turn.inv().apply(np.cross(arm, axis)) for axis in axes])
        yields += np.eye(3) / mass + levers / inertia @ levers.T
    friction = {"law": "stick-slip", "coefficient": 0.3, "stiffness": ALONG, "retardation_time": RETARDATION}
    law = {"law": "spring-dashpot", "stiffness": NORMAL, "damping": DAMPING}
    contact = {"touch": {"between": ["chaser.tip", "target.wall"], "normal": law, "friction": friction}}
    return {"schema": 2, "duration": 1.0, "body": bodies, "contact": contact, "loop": {"delay": 1e-4}}, yields


def felt(root):
    """What the contact does to its three motions (N/m), the normal one first, that go with the exponential of a root (1/s)."""
    return np.array([NORMAL + DAMPING * root, *[ALONG * (1 + RETARDATION * root)] * 2])


@pytest.mark.full_cases(*map(str, range(1, 6)))
@pytest.mark.parametrize("seed", range(6))
def test_margins_of_one_contact_that_sticks_between_free_bodies_are_of_three_directions(load, seed):
    """Where s² and an eigenvalue of W K(s) e^(−s h) cancel, found by NumPy and SciPy alone; along the normal alone more delay
    is borne."""
    tables, yields = two_that_touch(seed)

    def missing(frequency, which):
        return np.sort(np.abs(np.linalg.eigvals(yields * felt(1j * frequency))))[which] - frequency**2

    borne = []
    for which in range(3):
        frequency = brentq(missing, 1e1, 1e4, args=(which,), xtol=1e-12, rtol=1e-14)
        values = np.linalg.eigvals(yields * felt(1j * frequency))
        borne.append(np.angle(values[np.argsort(np.abs(values))[which]]) / frequency)
    found = dockdyn.margins(load(tables))
    assert found["critical_delay_s"] == pytest.approx(min(borne), rel=1e-8)

    delay = 1.1 * min(borne)
    tables["loop"]["delay"] = delay
    said = dockdyn.margins(load(tables))

    def characteristic(parts):
        root = complex(*parts)
        rest = np.linalg.det(root**2 * np.eye(3) + yields * felt(root) * np.exp(-root * delay)) / abs(root) ** 6
        return [rest.real, rest.imag]

    start = max((complex(*one) for one in said["rightmost_roots"]), key=lambda one: (one.real, one.imag))
    root = fsolve(characteristic, [start.real * (1 + 1e-3), start.imag * (1 + 1e-3)], xtol=1e-13)
    assert said["growth_rate_1_s"] == pytest.approx(root[0], rel=1e-6) and root[0] > 0

    del tables["contact"]["touch"]["friction"]
    alone = yields[0, 0]
    frequency = brentq(lambda w: alone * abs(NORMAL + 1j * w * DAMPING) - w**2, 1e1, 1e4, xtol=1e-12)
    smooth = dockdyn.margins(load(tables))["critical_delay_s"]
    assert smooth == pytest.approx(np.arctan(frequency * DAMPING / NORMAL) / frequency, rel=1e-8)
    assert smooth > min(borne)


@pytest.mark.full_cases(*(f"{seed}-{period}" for seed in range(1, 6) for period in (2e-4, 2e-3)))
@pytest.mark.parametrize("period", [2e-4, 2e-3])
@pytest.mark.parametrize("seed", range(6))
def test_one_contact_that_sticks_to_the_hardware_of_a_rig_is_stable_where_its_map_is(load, seed, period):
    """Of the three directions of its point over a step, the robot's lag in each; what rolls and spins freely is not counted."""
    tables, yields = two_that_touch(seed)
    loop = {"hold": {"period": period}, "dynamics": {"method": "zero-order-hold", "period": period}}
    robot = {"numerator": [1e8], "denominator": [1.0, 1.4e4, 1e8]}
    tables |= {"rig": {"carries": "chaser", "against": "target"}, "loop": loop | {"robot": robot}}
    flow = np.zeros((3, 3))
    flow[0, 1], flow[1] = 1.0, [-1e8, -1.4e4, 1e8]
    lag, ways, nothing = expm(flow * period)[:2], np.eye(3), np.zeros((3, 3))
    springs = [-yields * np.array([NORMAL, ALONG, ALONG]), -yields * np.array([DAMPING, *[ALONG * RETARDATION] * 2])]
    pushed = [[nothing, nothing, *(share * one for one in springs)] for share in (period**2 / 2, period)]
    free = [[ways, period * ways], [nothing, ways]]
    bodies = np.block(pushed) + np.block([[*row, nothing, nothing] for row in free])
    robots = np.block([[lag[row, 2] * ways, nothing, lag[row, 0] * ways, lag[row, 1] * ways] for row in (0, 1)])
    expected = np.log(np.abs(np.linalg.eigvals(np.concatenate([bodies, robots]))).max()) / period
    said = dockdyn.margins(load(tables))
    assert said["growth_rate_1_s"] == pytest.approx(expected, rel=1e-6)
    assert said["stable"] == (expected < 0) == (period < 1e-3) == (said["critical_delay_s"] > 0)


BALL = (
    {"law": "spring-dashpot", "stiffness": 1e4, "damping": 40.0},
    {"law": "stick-slip", "coefficient": 0.3, "stiffness": 2e4, "retardation_time": 2e-3},
)


def test_slopes_of_a_ball_that_rolls_alike_each_way(load):
    """Two motions decide its margin: its slopes are those of differences, but for what parts them."""
    case = load(ball_on_plane([0, 0, -0.1], [0, 0, 0], *BALL, loop={"delay": 1e-3}))
    keys = ("contact.hit.friction.stiffness", "body.ball.mass", "body.ball.inertia.0.0")
    places = [place for place in places_of(case) if place.key in keys]
    _, slopes = margin_slopes(case, "critical_delay_s", places)
    found = dict(zip((place.key for place in places), slopes, strict=True))
    assert np.isnan(found.pop("body.ball.inertia.0.0"))
    for place in places:
        if place.key in found:
            step = 1e-4 * place.value
            ends = [
                margin_of(case.at(place.written(place.value + side * step)), "critical_delay_s") for side in (1, -1)
            ]
            assert found[place.key] == pytest.approx((ends[0] - ends[1]) / (2 * step), rel=1e-6)


@pytest.mark.full
def test_a_single_ball_that_sticks_rolls_to_and_fro_as_its_margins_say(load):
    """A run of a ball that is pressed on a plane and rolls so little that nothing slips, beside its margins, pressed or not."""
    depth = 1e-4
    tables = ball_on_plane([0, 0, -0.1], [0, 0, 0], *BALL, loop={"delay": 1e-4}, stability={"depth": depth})
    tables["loop"]["delay"] = 1.1 * dockdyn.margins(load(tables))["critical_delay_s"]
    said = dockdyn.margins(load(tables))
    ball = tables["body"]["ball"]
    ball |= {"position": [0.0, 0.0, RADIUS - depth], "velocity": [1e-7, 0.0, 0.0]}
    press = {"body": "ball", "position": [0, 0, 0], "direction": [0, 0, -1], "force": 1e4 * depth}
    tables |= {"thruster": {"press": press}, "duration": 1.2, "output": {"interval": SAMPLE}}
    moves = np.diff(dockdyn.simulate(load(tables))["velocity"].sel(body="ball", axis="x").values)
    assert said["growth_rate_1_s"] > 0
    assert growth(moves[len(moves) // 3 :]) == pytest.approx(said["growth_rate_1_s"], rel=1e-3)
