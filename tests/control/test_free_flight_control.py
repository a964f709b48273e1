"""Control in free flight: closed forms, saturation, momentum and energy through contact, budgets, refusals."""

from functools import partial

import numpy as np
import pytest
from helpers.ball_before_plate import ball_before_plate
from helpers.refusals import refused
from places import results_pages
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

import dockdyn
from dockdyn.control.actuators import FADING
from dockdyn.results.requirements import is_of_member
from dockdyn.scenario.tables.actuators import ActuatorSection

LARGE = 1e6  # a limit that is not reached
PRINCIPAL = [[60.0, 0, 0], [0, 80.0, 0], [0, 0, 90.0]]
TENSOR = [[60.0, 5.0, -8.0], [5.0, 80.0, 4.0], [-8.0, 4.0, 90.0]]
LIMITS = [name for name in ActuatorSection.model_fields if name.endswith(("limit", "capacity")) or "thruster" in name]


def flight(**changes):
    """A ball far from a plate, its chaser controlled with every key stated: one structure, so one compilation."""
    content = ball_before_plate(
        {"inertia": PRINCIPAL, "velocity": [0.0] * 3, "attitude": [1.0, 0.0, 0.0, 0.0], "rate": [0.0] * 3},
        {"rate": [0.01, -0.02, 0.03]},
        duration=20.0,
        control={
            "law": "attitude-hold",
            "base_stiffness": 40.0,
            "base_damping": 30.0,
            "attitude": [1.0, 0.0, 0.0, 0.0],
            "position_stiffness": 50.0,
            "velocity_damping": 60.0,
            "position": [50.0, 0.0, 0.0],
            "velocity": [0.0, 0.0, 0.0],
            **dict.fromkeys(LIMITS, LARGE),
        },
        loop={"delay": 0.02},
        output={"interval": 0.02},
    )
    content["contact"]["ball"]["friction"] = {"law": "coulomb", "coefficient": 0.2}
    for group, values in changes.items():
        content[group] = content[group] | values if isinstance(values, dict) else values
    return content


def oscillator(time, frequency, share, place, speed):
    """ẍ = −ω² x − 2 ζ ω ẋ from a place and speed."""
    damped, decay = frequency * np.sqrt(1 - share**2), share * frequency
    return np.exp(-decay * time) * (
        place * np.cos(damped * time) + (speed + decay * place) / damped * np.sin(damped * time)
    )


@pytest.mark.full
def test_attitude_and_place_are_damped_oscillators(run):
    """About a principal axis, and along one, far from all limits."""
    turn, rate, away, speed = 0.3, -0.1, 0.4, 0.05
    chaser = {
        "attitude": [np.cos(turn / 2), 0, 0, np.sin(turn / 2)],
        "rate": [0, 0, rate],
        "position": [50 + away, 0, 0],
        "velocity": [speed, 0, 0],
    }
    found = run(flight(chaser=chaser))
    for stiffness, damping, inertia, start, values in (
        (40.0, 30.0, 90.0, (turn, rate), found.attitude_error.values[:, 2]),
        (50.0, 60.0, 300.0, (away, speed), found.position.values[:, 0, 0] - 50),
    ):
        frequency = np.sqrt(stiffness / inertia)
        wanted = oscillator(found.time.values, frequency, damping / (2 * np.sqrt(stiffness * inertia)), *start)
        np.testing.assert_allclose(values, wanted, rtol=0, atol=1e-9)
    turning = 90 * (found.rate.values[:, 0, 2] - rate)
    np.testing.assert_allclose(found.wheel_momentum.values[:, 2], -turning, rtol=0, atol=1e-9)
    np.testing.assert_allclose(found.thruster_impulse[:, 0], 300 * (found.velocity[:, 0, 0] - speed), atol=1e-9)


@pytest.mark.full
def test_the_motor_of_the_wheel_adds_what_carrying_it_along_takes(run):
    """On the body acts the torque that the law asks for; the motor gives ω × h more, from the wheel's momentum alone.

    What the body gets is what the wheel's momentum loses in inertial axes; what the motor gives, what it loses in the body's.
    """
    found = run(flight(chaser={"inertia": TENSOR, "rate": [0.1, -0.05, 0.12]}))
    time, momentum, rate = found.time.values, found.wheel_momentum.values, found.rate.values[:, 0]
    turn = Rotation.from_quat(found.attitude.values[:, 0], scalar_first=True)

    def slope(values):
        return (np.array([1, -8, 8, -1]) @ [values[k : len(time) - 4 + k] for k in (0, 1, 3, 4)]) / (12 * time[1])

    slope = partial(np.apply_along_axis, slope, 0)
    inner = slice(2, -2)
    wanted = -40.0 * turn.as_rotvec() - 30.0 * rate
    on_body = -turn[inner].inv().apply(slope(turn.apply(momentum)))
    np.testing.assert_allclose(on_body, wanted[inner], rtol=0, atol=1e-6)
    np.testing.assert_allclose(on_body, found.wheel_torque.values[inner], rtol=0, atol=1e-6)
    added = np.cross(rate, momentum)
    np.testing.assert_allclose(-slope(momentum), (wanted + added)[inner], rtol=0, atol=1e-6)
    assert np.abs(added).max() > 0.1


def saturated(content, times):
    """The chaser alone, by SciPy and rotation vectors' matrices: rate, wheel, velocity, budgets used at `times`."""
    chaser, control = content["chaser"], content["control"]
    inertia, mass = np.array(chaser["inertia"]), chaser["mass"]

    def rates(_, x):
        place, speed, turn, rate, wheel, used = np.split(x, [3, 6, 15, 18, 21])
        turn = turn.reshape(3, 3)
        torque = -control["base_stiffness"] * Rotation.from_matrix(turn).as_rotvec() - control["base_damping"] * rate
        force = -control["position_stiffness"] * (place - control["position"]) - control["velocity_damping"] * speed
        # the wheel's motor gives the wheel −u, and the wheel is carried along by the turning body
        most = np.minimum(control["base_limit"], np.maximum(control["base_capacity"] + wheel, 0) / FADING)
        least = -np.minimum(control["base_limit"], np.maximum(control["base_capacity"] - wheel, 0) / FADING)
        motor = np.clip(torque + np.cross(rate, wheel), least, most)
        on_body = motor - np.cross(rate, wheel)
        left = np.array([control["thruster_impulse"], control["thruster_angular_impulse"]]) - used
        thrust = np.clip(turn.T @ force, *(s * min(control["thruster_force"], left[0] / 3 / FADING) for s in (-1, 1)))
        jets = np.clip(torque - on_body, *(s * min(control["thruster_torque"], left[1] / 3 / FADING) for s in (-1, 1)))
        spin = np.linalg.solve(inertia, on_body + jets - np.cross(rate, inertia @ rate))
        skew = np.cross(rate, np.eye(3)).T
        uses = [np.abs(thrust).sum(), np.abs(jets).sum()]
        return np.concatenate([speed, turn @ thrust / mass, (turn @ skew).ravel(), spin, -motor, uses])

    start = np.concatenate([chaser["position"], chaser["velocity"], np.eye(3).ravel(), chaser["rate"], np.zeros(5)])
    return solve_ivp(rates, (0, times[-1]), start, "DOP853", times, rtol=1e-11, atol=1e-13, max_step=0.01).y.T


TIGHT = {
    "base_limit": 2.0,
    "base_capacity": 6.0,
    "thruster_force": 4.0,
    "thruster_torque": 1.5,
    "thruster_impulse": 30.0,
    "thruster_angular_impulse": 6.0,
}


@pytest.mark.full
def test_saturation_is_that_of_scipy(run):
    """Full tensor, wheel and thrusters at their limits, wheel full and budgets used up."""
    chaser = {"inertia": TENSOR, "rate": [0.1, -0.05, 0.12], "velocity": [0.2, -0.1, 0.1]}
    content = flight(chaser=chaser, control=TIGHT, duration=12.0)
    found, fine = run(content), run(content | {"integrator": {"step": 5e-4}})
    wanted = saturated(content, found.time.values)

    def errors(result):
        parts = (result.position[:, 0], result.velocity[:, 0], result.rate[:, 0], result.wheel_momentum)
        columns = (slice(0, 3), slice(3, 6), slice(15, 18), slice(18, 21), slice(21, 23))
        pairs = zip((*parts, result.thruster_use), columns, strict=True)
        return [float(abs(values - wanted[:, column]).max()) for values, column in pairs]

    # steps are of 5 ms; where a limit is reached inside of one, its slope breaks off: second order
    assert max(errors(found)) < 1e-5
    for coarse_error, fine_error in zip(errors(found), errors(fine), strict=True):
        assert fine_error < 1e-7 and fine_error < coarse_error / 50
    # limits were reached, and kept
    assert abs(found.wheel_torque).max() > 2 and abs(found.thruster_force).max() == 4.0
    assert 5.9 < abs(found.wheel_momentum).max() < 6
    assert (found.thruster_use[-1] > [29.7, 5.7]).all() and (found.thruster_use < [30, 6]).all()
    assert any("control has run out" in words for words in dockdyn.summarise(found)["warnings"])


@pytest.fixture(scope="module")
def docked(run):
    """A tumbling chaser that thrusters press against the plate, through a delayed loop, until they have used their budget."""
    chaser = {"inertia": TENSOR, "position": [2.1, 0.1, 0.05], "velocity": [-0.1, 0.02, 0], "rate": [0.05, -0.1, 0.08]}
    control = TIGHT | {"position": [0, 0, 0], "velocity": [-0.02, 0, 0], "thruster_force": 20, "thruster_impulse": 150}
    return run(flight(chaser=chaser, control=control))


@pytest.mark.full
def test_momentum_and_energy_through_contact(docked):
    """What thrusters and wheel took counts; of energy, contacts and control give the whole change."""
    summary = dockdyn.summarise(docked)
    assert len(summary["contacts"]) >= 2
    assert summary["linear_momentum_error"] < 1e-11
    assert summary["angular_momentum_error"] < 1e-11
    assert summary["work_energy_error"] < 1e-10
    power = np.einsum("ti,ti->t", docked.wheel_torque + docked.thruster_torque, docked.rate[:, 0])
    turned = Rotation.from_quat(docked.attitude.values[:, 0], scalar_first=True).apply(docked.thruster_force.values)
    power += np.einsum("ti,ti->t", turned, docked.velocity[:, 0])
    work = np.concatenate([[0], np.cumsum((power[1:] + power[:-1]) / 2 * np.diff(docked.time))])
    np.testing.assert_allclose(
        docked.control_work, work, atol=2e-3 * abs(work).max()
    )  # samples of 20 ms, limits between


@pytest.mark.full
def test_energies_of_contacts_are_the_contacts_own(docked):
    """Not what control did meanwhile: the work of the contact forces at release + delay."""
    settled = docked.episode_release.values + 0.02
    for at, energy in zip(settled, docked.episode_energy.values, strict=True):
        if np.isfinite(energy):
            assert energy == pytest.approx(float(docked.work.sel(time=at, method="backfill")), abs=1e-10)


def test_budgets_hold_through_contact(docked):
    assert (docked.thruster_use.values < [150, 6]).all() and (docked.thruster_use.values[-1] > 1).all()
    assert abs(docked.wheel_momentum).max() < 6


def test_everything_in_the_result_is_documented(docked):
    text = results_pages()
    names = [*docked.data_vars, *docked.sizes, *docked.attrs, *dockdyn.summarise(docked)]
    assert not [name for name in names if f"`{name}`" not in text and not is_of_member(name)]


@pytest.mark.full
def test_a_latch_catches_a_controlled_chaser():
    """Momentum with the wheel through the impulse of capture, and held thereafter."""
    control = {"law": "rate-damping", "base_damping": "200 N m s/rad", "base_limit": "5 N m"}
    found = dockdyn.simulate(dockdyn.load("probe-cone-latch", {"control": control}))
    summary = dockdyn.summarise(found)
    assert summary["captured"] and float(abs(found.wheel_momentum).max()) > 0.01
    assert summary["angular_momentum_error"] < 1e-11 and summary["work_energy_error"] < 1e-10
    assert summary["control.attitude_error_rad"] is None and summary["control.thruster_impulse_N_s"] == 0


def test_law_none_is_no_control():
    scenario = dockdyn.load("probe-cone", {"control": {"law": "none"}})
    assert scenario.model().steered is None


@pytest.mark.parametrize(
    ("control", "words"),
    [
        ({"law": "attitude-hold", "base_stiffness": 1.0}, "law attitude-hold needs base_damping"),
        ({"law": "rate-damping", "base_damping": 1.0, "base_stiffness": 1.0}, "law rate-damping has no base_stiffness"),
        ({"law": "rate-damping", "base_damping": 1.0, "base_capacity": 1.0}, "base_capacity is that of a wheel"),
        (
            {"law": "rate-damping", "base_damping": 1.0, "thruster_force": 1.0},
            "thruster_force is the limit of position_",
        ),
        ({"law": "rate-damping", "base_damping": 1.0, "position": [0, 0, 0]}, "position is the reference of position_"),
        (
            {"law": "rate-damping", "base_damping": 1.0, "thruster_impulse": 1.0},
            "thruster_impulse is a budget of thrus",
        ),
        ({"law": "rate-damping", "base_damping": "1 N m"}, "control.base_damping = '1 N m': must be a gain"),
        (
            {"law": "lqr", "limit": [1.0]},
            "control.law: lqr: no joint moves in the tree of 'chaser'; must be a body with an arm",
        ),
        (
            {"law": "StationKeeping", "stiffness": 20},
            """control.law = 'StationKeeping': no such law; allowed: attitude-hold, """,
        ),
        (
            {"law": "attitude-hold", "period": "0.1 s", "thruster": {"a": {"thruster_force": "3 N"}}},
            "control.thruster.a.thruster_force: unknown key; allowed: direction, force, position",
        ),
    ],
)
def test_bad_input_is_one_clear_line(control, words):
    with refused(words):
        dockdyn.load("probe-cone", {"control": control})
