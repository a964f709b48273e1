"""Long steps in free flight: nothing begins within the time that is promised, and what happens is what short steps give."""

import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation
from two_bodies import two_bodies

import dockdyn
from dockdyn.integrate.model import TURN
from dockdyn.mechanism.coasting import time_apart
from dockdyn.programs import Program

RIM, HALF_ANGLE, APEX = 0.3, np.radians(35), 0.8  # m, rad, m
PROBE, TIP = np.array([1.1, 0.2, -0.1]), 0.02  # m
INERTIAS = [np.diag([80.0, 190.0, 240.0]), np.array([[300.0, 30, -20], [30, 500, 10], [-20, 10, 420.0]])]


def scenario(**changes):
    return {
        "schema": 2,
        "title": "Two bodies that turn",
        "duration": 6.0,
        "chaser": {
            "mass": 150.0,
            "inertia": INERTIAS[0].tolist(),
            "position": [3.0, 0, 0],
            "velocity": [-0.3, 0, 0],
            "attitude": [0, 0, 0, 1],
            "rate": [0.0, 0.0, 0.0],
            "feature": {"probe": {"position": PROBE.tolist(), "radius": TIP}},
        },
        "target": {
            "mass": 400.0,
            "inertia": INERTIAS[1].tolist(),
            "surface": {
                "cone": {
                    "shape": "cone",
                    "apex": [APEX, 0, 0],
                    "axis": [1, 0, 0],
                    "half_angle": HALF_ANGLE,
                    "rim_radius": RIM,
                }
            },
        },
        "contact": {
            "probe": {
                "between": ["probe", "cone"],
                "normal": {"law": "spring-dashpot", "stiffness": 3000, "damping": 60},
            }
        },
        **changes,
    }


def moved(content, start):
    """The scenario with the states (both bodies: position, velocity, rotation vector, rate) of `start`."""
    for name, (place, velocity, turn, rate) in zip(("chaser", "target"), start, strict=True):
        x, y, z, w = Rotation.from_rotvec(turn).as_quat()
        content[name] |= {"position": place, "velocity": velocity, "attitude": [w, x, y, z], "rate": rate}
    return content


def distance(point):
    """Of a point in the target's axes from the cut cone: inside of the wall, beyond the rim or outside of its cylinder."""
    along, radius = point[0] - APEX, np.hypot(point[1], point[2])
    wall = along * np.sin(HALF_ANGLE) - radius * np.cos(HALF_ANGLE)
    mouth = RIM / np.tan(HALF_ANGLE)
    past = (along - mouth) * np.cos(HALF_ANGLE) + (radius - RIM) * np.sin(HALF_ANGLE)
    if past > 0 and along > mouth:
        return np.hypot(along - mouth, radius - RIM)
    return max(wall, radius - RIM)


def turned(inertia, turn, rate, times):
    """Attitudes of a body that turns freely: Euler's equations with a quaternion, by SciPy."""
    x, y, z, w = Rotation.from_rotvec(turn).as_quat()

    def flow(_, s):
        q, omega = s[:4], s[4:]
        spin = np.array([[0, *-omega], [omega[0], 0, omega[2], -omega[1]], [omega[1], -omega[2], 0, omega[0]],
                         [omega[2], omega[1], -omega[0], 0]])  # fmt: skip
        return np.r_[0.5 * spin @ q, np.linalg.solve(inertia, -np.cross(omega, inertia @ omega))]

    found = solve_ivp(flow, (0, times[-1]), [w, x, y, z, *rate], t_eval=times, rtol=1e-10, atol=1e-12)
    return Rotation.from_quat(np.roll(found.y[:4].T, -1, axis=1))


@pytest.fixture(scope="module")
def promised(tmp_path_factory):
    """The time that is promised for a scenario as a dictionary."""
    import tomlkit

    file = tmp_path_factory.mktemp("coast") / "case.toml"

    @Program
    def time(content):
        model = content.model()
        start = model.initial()
        return time_apart(model, start, model.outputs(jnp.zeros(()), start))

    def of(content):
        file.write_text(tomlkit.dumps(two_bodies(content)))
        return float(time(dockdyn.load(file).content))

    return of


vectors = st.lists(st.floats(-1, 1), min_size=3, max_size=3).map(np.array)


@pytest.mark.full
@settings(max_examples=60, deadline=None)
@given(vectors, vectors, vectors, vectors, vectors, vectors, vectors, st.floats(0, 2.0), st.floats(0, 1.0))
def test_nothing_is_touched_within_it(
    promised, place, velocity, turn, other_turn, rate, other_rate, drift, spin, speed
):
    start = [
        ((3.5 * place).tolist(), (speed * velocity).tolist(), (3 * turn).tolist(), (spin * rate).tolist()),
        ((0.2 * drift).tolist(), (0.3 * drift).tolist(), (3 * other_turn).tolist(), (spin * other_rate).tolist()),
    ]
    time = promised(moved(scenario(), start))
    times = np.linspace(0, max(time, 1e-9), 40)
    chaser, target = (turned(i, s[2], s[3], times) for i, s in zip(INERTIAS, start, strict=True))
    places = [np.array(s[0]) + times[:, None] * np.array(s[1]) for s in start]
    tips = target.inv().apply(places[0] + chaser.apply(PROBE) - places[1])
    gaps = np.array([distance(tip) - TIP for tip in tips])
    if gaps[0] <= 0:
        assert time == 0
        return
    assert time > 0
    assert gaps.min() > 0
    for body in (chaser, target):
        assert (body[-1] * body[0].inv()).magnitude() <= TURN


def test_a_body_that_flies_straight_gets_nearly_the_whole_time(promised):
    """Without turning, to the wall and to the latch's throat: the gap over the speed."""
    content = scenario()
    content["chaser"] |= {"position": [3.0, 0.2, -0.1]}  # half a turn about z: the tip comes along the axis
    tip = np.array([3.0, 0.2, -0.1]) + PROBE * [-1, -1, 1]
    gap = distance(tip) - TIP
    assert promised(content) == pytest.approx(0.99 * gap / 0.3, rel=1e-9)


@pytest.mark.full
def test_long_steps_give_what_short_steps_give(run):
    """Two bodies that tumble into each other, a tip on a ball: contacts, forces and the end as with steps of 0.5 ms."""
    start = [([2.5, 0.1, 0.0], [-0.25, 0.0, 0.02], [0, 0, np.pi], [0.01, 0.03, -0.04]),
             ([0.0] * 3, [0.0] * 3, [0.0] * 3, [0.02, -0.03, 0.02])]  # fmt: skip
    content = moved(scenario(duration=10.0), start)
    content["target"]["surface"] = {"cone": {"shape": "sphere", "centre": [0.3, 0, 0], "radius": 0.6}}
    free, short = (run({k: v for k, v in content.items() if k not in ("schema", "kind")}, **changed)
                   for changed in ({}, {"integrator.step": 5e-4}))  # fmt: skip
    one, other = dockdyn.summarise(free), dockdyn.summarise(short)
    assert one["contact.count"] == other["contact.count"] > 0
    for figure in ("contact.onset_s", "peak_force_N", "contact.impulse_N_s", "kinetic_energy_end_J"):
        assert one[figure] == pytest.approx(other[figure], rel=1e-8), figure
    for name in ("position", "rotation"):
        assert np.abs(free[name].values - short[name].sel(time=free.time, method="nearest").values).max() < 1e-8
    assert one["steps"] < other["steps"] / 4
