"""Mechanisms in orbit: closed forms of relative motion and libration, two attracted bodies by SciPy, what gravity gave."""

import numpy as np
import pytest
from helpers.refusals import refused
from mechanism_cases import FOUR, changed, simulated
from places import results_pages
from plain_tables import by_name
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

import dockdyn
from dockdyn.pages import report_html

MU, RADIUS = 3.986004418e14, 6.8e6  # m³/s², m
MOTION = np.sqrt(MU / RADIUS**3)  # rad/s
PERIOD = 2 * np.pi / MOTION


def in_orbit(bodies, duration, step, **orbit):
    return {
        "schema": 2,
        "duration": duration,
        "body": by_name(bodies),
        "orbit": {"semi_major_axis": RADIUS} | orbit,
        "integrator": {"step": step},
        "output": {"interval": duration / 200},
    }


def ball(name, place, velocity, **keys):
    inertia = {"mass": 100.0, "inertia": [10.0, 10.0, 10.0], "attitude": [1.0, 0, 0, 0], "rate": [0.0, 0, 0]}
    return {"name": name, "position": list(place), "velocity": list(velocity)} | inertia | keys


def test_a_body_drifts_as_clohessy_and_wiltshire_say(load):
    """Radially, along and across: in axes that turn with the orbit, x away from the Earth; to second order in ρ / R."""
    place, speed = np.array([0.08, -0.05, 0.03]), np.array([4e-5, -1e-4, 6e-5])
    velocity = speed + np.cross([0, 0, MOTION], place)  # of the axes that turn, which begin along the inertial ones
    data = simulated(load, in_orbit([ball("visitor", place, velocity)], PERIOD, 2.0))
    angle = MOTION * data.time.values
    sine, cosine = np.sin(angle), np.cos(angle)
    (x, y, z), (u, v, w) = place, speed
    wanted = np.stack(
        [
            (4 - 3 * cosine) * x + sine * u / MOTION + 2 * (1 - cosine) * v / MOTION,
            6 * (sine - angle) * x + y - 2 * (1 - cosine) * u / MOTION + (4 * sine - 3 * angle) * v / MOTION,
            cosine * z + sine * w / MOTION,
        ],
        axis=1,
    )
    found = data.position.values[:, 0]
    turned = Rotation.from_rotvec(np.outer(-angle, [0, 0, 1])).apply(found)
    size = np.abs(wanted).max()
    assert size > 10 * place[0]  # it drifts
    np.testing.assert_allclose(turned, wanted, rtol=0, atol=30 * size**2 / RADIUS)


@pytest.mark.full
@pytest.mark.parametrize("eccentricity", [0.0, 0.3])
def test_two_bodies_fall_as_kepler_says(load, eccentricity):
    """Each about the Earth by itself, by SciPy in axes fixed there; on a circle and on an ellipse."""
    places, speeds = np.array([[300.0, -200.0, 100.0], [0.0, 0.0, 0.0]]), np.array([[0.3, -0.1, 0.2], [0.0, 0.0, 0.0]])
    bodies = [ball(name, *each) for name, *each in zip(("far", "origin"), places, speeds, strict=True)]
    anomaly = 0.7
    data = simulated(load, in_orbit(bodies, 3000.0, 2.0, eccentricity=eccentricity, true_anomaly=anomaly))
    parameter = RADIUS * (1 - eccentricity**2)
    out = np.array([np.cos(anomaly), np.sin(anomaly), 0.0])
    start = parameter / (1 + eccentricity * np.cos(anomaly)) * out
    moving = np.sqrt(MU / parameter) * np.array([-np.sin(anomaly), eccentricity + np.cos(anomaly), 0.0])

    def fallen(place, speed):
        def rates(_, state):
            return np.concatenate([state[3:], -MU * state[:3] / np.linalg.norm(state[:3]) ** 3])

        first = np.concatenate([start + place, moving + speed])
        return solve_ivp(rates, (0, 3000.0), first, "DOP853", data.time.values, rtol=1e-13, atol=1e-9).y.T

    reference = fallen(np.zeros(3), np.zeros(3))
    for number in (0, 1):
        wanted = fallen(places[number], speeds[number]) - reference
        np.testing.assert_allclose(data.position[:, number], wanted[:, :3], rtol=0, atol=2e-6)  # of 6,800 km
        np.testing.assert_allclose(data.velocity[:, number], wanted[:, 3:], rtol=0, atol=2e-9)
    summary = dockdyn.summarise(data)
    assert summary["linear_momentum_error"] < 1e-10 and summary["work_energy_error"] < 1e-8


LEAST, MIDDLE, MOST = 20.0, 90.0, 100.0  # kg m²


def librating(angle):
    """A long body that points almost at the Earth, and turns once a revolution."""
    half = angle / 2
    turn = {"attitude": [np.cos(half), 0.0, 0.0, np.sin(half)], "rate": [0.0, 0.0, MOTION]}
    body = ball("long", [0.0] * 3, [0.0] * 3) | {"inertia": [LEAST, MIDDLE, MOST]} | turn
    return in_orbit([body], PERIOD, 2.0, gravity_gradient=True)


@pytest.mark.full
def test_a_long_body_librates_about_the_vertical(load):
    """A pendulum, θ'' = −(3/2) n² (B − A) / C sin 2θ; of small swings n √(3 (B − A) / C)."""
    stiffness = 1.5 * MOTION**2 * (MIDDLE - LEAST) / MOST

    def angle_of(start):
        data = simulated(load, librating(start))
        turned = Rotation.from_quat(data.attitude.values[:, 0], scalar_first=True)
        back = Rotation.from_rotvec(np.outer(-MOTION * data.time.values, [0, 0, 1]))
        return data, (back * turned).as_rotvec()[:, 2]

    data, small = angle_of(1e-3)
    np.testing.assert_allclose(small, 1e-3 * np.cos(np.sqrt(2 * stiffness) * data.time.values), rtol=0, atol=2e-9)
    data, large = angle_of(0.6)
    swing = solve_ivp(
        lambda _, x: [x[1], -stiffness * np.sin(2 * x[0])],
        (0, PERIOD),
        [0.6, 0.0],
        "DOP853",
        data.time.values,
        rtol=1e-12,
        atol=1e-14,
    )
    np.testing.assert_allclose(large, swing.y[0], rtol=0, atol=1e-7)
    assert dockdyn.summarise(data)["angular_momentum_error"] < 1e-10
    still = librating(0.6)
    still["orbit"]["gravity_gradient"] = False
    np.testing.assert_allclose(simulated(load, still).rate[:, 0], [[0, 0, MOTION]] * 201, rtol=0, atol=1e-15)


@pytest.mark.full
def test_welded_halves_feel_the_gradient_of_the_whole(load):
    """Of points at their own places and of one body with their inertia: torque and force, to the fourth order in l / R."""
    half, arm, turn = 50.0, 6.0, [0.0, 0.0, 0.3]
    attitude = Rotation.from_rotvec(turn)
    small = {"mass": half, "inertia": [1e-3, 1e-3, 1e-3], "rate": [0.0, 0, MOTION]}
    place, speed = attitude.apply([arm, 0, 0]), np.cross([0, 0, MOTION], attitude.apply([arm, 0, 0]))
    near = ball("near", place, speed) | small | {"attitude": attitude.as_quat(scalar_first=True).tolist()}
    far = {"name": "far", "on": "near", "position": [-2 * arm, 0, 0], "joint": {"kind": "locked"}}
    far |= {"mass": half, "inertia": [1e-3, 1e-3, 1e-3]}
    parts = simulated(load, in_orbit([near, far], 3000.0, 2.0))
    across = 2 * half * arm**2
    one = ball("one", [0.0] * 3, [0.0] * 3) | {"mass": 2 * half, "attitude": near["attitude"]}
    one |= {"inertia": [2e-3, across + 2e-3, across + 2e-3], "rate": [0.0, 0.0, MOTION]}
    whole = simulated(load, in_orbit([one], 3000.0, 2.0, gravity_gradient=True))
    assert np.abs(whole.rate.values[:, 0, 2] - MOTION).max() > 0.1 * MOTION
    np.testing.assert_allclose(parts.rate.values[:, 0, 2], whole.rate.values[:, 0, 2], rtol=0, atol=1e-6 * MOTION)
    centre = parts.position.values.mean(axis=1)
    np.testing.assert_allclose(centre, whole.position.values[:, 0], rtol=0, atol=1e-10)


@pytest.fixture(scope="module")
def docking(load):
    """Bodies that touch, on elements and on a hinge, delayed, in an orbit so low and fast that gravity is felt in seconds."""
    case = changed(FOUR, duration=4.0, loop={"delay": 0.02})
    case["body"]["arm"]["joint"] = {
        "kind": "revolute",
        "position": [0.8, 0, 0],
        "axis": [0.2, 1.0, 0.3],
        "stiffness": 120.0,
    }
    del case["bushing"]
    case["orbit"] = {
        "semi_major_axis": 2e4,
        "gravitational_parameter": 8e11,
        "eccentricity": 0.1,
        "gravity_gradient": True,
    }
    return simulated(load, case)


@pytest.mark.full
def test_balances_are_those_without_what_gravity_gave(docking):
    """Its impulses and its work stand beside the momenta and the work of contacts, which gain nothing from it."""
    summary = dockdyn.summarise(docking)
    assert summary["contact.count"] >= 1
    for name in ("linear", "angular"):
        gained = docking[f"{name}_momentum"].values - docking[f"{name}_momentum"].values[0]
        assert np.abs(gained).max() > 1e-2
    assert summary["linear_momentum_error"] < 1e-10 and summary["angular_momentum_error"] < 1e-9
    assert abs(float(docking.gravity_work[-1])) > 1e-2 and summary["work_energy_error"] < 1e-8


@pytest.mark.full
def test_all_of_it_is_documented_and_in_the_report(docking):
    text, page = results_pages(), report_html(docking)
    assert not [name for name in (*docking.data_vars, *docking.attrs) if f"`{name}`" not in text]
    assert "Work of gravity along the orbit" in page
    assert "less gravity’s impulses" in page and "less the work of gravity" in page


@pytest.mark.full
def test_steps_follow_the_motion_where_none_is_stated(load):
    """A single body that rests at the start has no motion of its own, only what gravity gives it, which is no load."""
    case = in_orbit([ball("visitor", [10.0, 0.0, 0.0], [0.0, 0.0, 0.0])], 20.0, 2.0)
    stated, own = simulated(load, case | {"integrator": {"step": 0.01}}), simulated(load, case | {"integrator": {}})
    np.testing.assert_allclose(own.position, stated.position, rtol=0, atol=1e-9)
    assert own.attrs["steps"] < 1e5 and not own.load_force.values.any()


@pytest.mark.parametrize(
    ("orbit", "words"),
    [
        ({}, "orbit.semi_major_axis: missing"),
        ({"semi_major_axis": -1.0}, "orbit.semi_major_axis = -1.0: must be"),
        ({"semi_major_axis": 7e6, "eccentricity": 1.2}, "orbit.eccentricity = 1.2: must be"),
        ({"semi_major_axis": 7e6, "gravity": True}, "orbit.gravity: unknown key"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(load, orbit, words):
    case = in_orbit([ball("visitor", [0.0] * 3, [0.0] * 3)], 10.0, 1.0) | {"orbit": orbit}
    with refused(words):
        load(case)
