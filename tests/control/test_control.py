"""Control after a capture: regulator, detumbling, reaction null space, budgets, refusals."""

import jax
import numpy as np
import pytest
from helpers.refusals import refused
from places import results_pages
from scipy.linalg import expm, solve_continuous_are
from scipy.spatial.transform import Rotation

import dockdyn
from dockdyn.control.lqr import solve_riccati
from dockdyn.docking.regulators import regulator_of_arm
from dockdyn.results.requirements import is_of_member

LIMITS = [30, 30, 10]
RIGID = {"body.link1.flexible.bending_modes": [0, 0], "body.link2.flexible.bending_modes": [0, 0]}
ROUNDED = 1 + 1e-9  # the integrator works to 1e-10


def energy_error(dataset):
    """How far energy and work differ, of the energy at the start."""
    total = (dataset.kinetic_energy + dataset.internal_energy - dataset.work - dataset.control_work).values
    return np.ptp(total) / total[0]


def simulate(law, name="cyril-controlled", **changes):
    return dockdyn.simulate(dockdyn.load(name, {"control": {"body": "spacecraft", **law}, **changes}))


# Riccati equations


@pytest.mark.full_cases("10-3")
@pytest.mark.parametrize(("states", "inputs"), [(4, 1), (10, 3)])
def test_the_riccati_equation_is_solved_as_by_scipy(states, inputs):
    random = np.random.default_rng(states)
    a, b = random.normal(size=(states, states)), random.normal(size=(states, inputs))
    q, r = np.diag(10.0 ** random.uniform(-3, 3, states)), np.diag(10.0 ** random.uniform(-2, 2, inputs))
    found, wanted = np.asarray(solve_riccati(a, b, q, r)), solve_continuous_are(a, b, q, r)
    np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-9 * np.abs(wanted).max())


@pytest.mark.full
def test_the_riccati_equation_of_an_oscillator_by_hand():
    """ẍ = −x + u at cost x² + u²: X₁₂ = √2 − 1, X₂₂ = √(2 X₁₂); and its derivative by the weight."""
    a, b = np.array([[0.0, 1.0], [-1.0, 0.0]]), np.array([[0.0], [1.0]])

    def solution(weight):
        return solve_riccati(a, b, np.array([[1.0, 0.0], [0.0, 0.0]]) * weight, np.eye(1))

    off = np.sqrt(2) - 1
    x, slope = jax.jvp(solution, (1.0,), (1.0,))
    assert float(x[0, 1]) == pytest.approx(off, rel=1e-12)
    assert float(x[1, 1]) == pytest.approx(np.sqrt(2 * off), rel=1e-12)
    assert float(slope[0, 1]) == pytest.approx(1 / (2 * np.sqrt(2)), rel=1e-9)  # X₁₂ = √(1 + weight) − 1


# the regulator


ONE = {"body.link1.flexible.bending_modes": [1, 0], "body.link2.flexible.bending_modes": [1, 0]}
REGULATED = {"law": "lqr", "limit": LIMITS, "base_limit": 5, "body": "spacecraft"}


@pytest.mark.full
def test_the_regulator_is_that_of_scipy_and_brings_to_rest():
    """Its gain; and small deviations from the start at rest decay as the designed roots say, in the nonlinear run."""
    scenario = dockdyn.load("cyril-controlled", {"control": REGULATED, **ONE})
    plant, q, r, gain = jax.tree.map(np.asarray, regulator_of_arm(scenario.content))
    wanted = np.linalg.solve(r, plant.b.T @ solve_continuous_are(plant.a, plant.b, q, r))
    np.testing.assert_allclose(gain, wanted, rtol=0, atol=1e-6 * np.abs(wanted).max())
    roots = np.linalg.eigvals(plant.a - plant.b @ gain)
    assert roots.real.max() < -1e-3
    still = {f"body.{name}.joint.start_rate": 0.0 for name in ("link1", "link2")}
    small = {**still, "body.hand.joint.start_rate": 1e-5, "body.payload.rate": [0, 0, 0], "duration": 20.0}
    run = dockdyn.simulate(dockdyn.load("cyril-controlled", {"control": REGULATED, **ONE, **small}))
    deviation = np.concatenate(
        [
            run.attitude_error.values[:, 2:],
            run.joint_angle.values - run.joint_angle.values[0],
            run.modal_coordinate.values,
            run.rate.sel(body="spacecraft").values[:, 2:],
            run.joint_rate.values,
            run.modal_rate.values,
        ],
        axis=1,
    )
    interval = float(run.time[1])
    expected = expm((plant.a - plant.b @ gain) * interval * 50) @ deviation[0]
    # the start that is not at rest adds a drift of all, which does not count
    np.testing.assert_allclose(deviation[50], expected, rtol=0, atol=2e-3 * np.abs(deviation).max())


# detumbling


@pytest.fixture(scope="module")
def detumbled():
    return dockdyn.simulate(dockdyn.load("detumble"))


@pytest.mark.full
def test_the_wheel_takes_the_tumble(detumbled):
    """All angular momentum about the common centre ends in the wheel; arm and bodies are at rest; nothing is exceeded."""
    attitude = Rotation.from_quat(detumbled.attitude.values[-1, 0], scalar_first=True)
    start = detumbled.angular_momentum.values[0]
    assert np.linalg.norm(start) > 20
    taken = attitude.apply(detumbled.wheel_momentum.values[-1])
    assert np.linalg.norm(taken - start) < 1e-6 * np.linalg.norm(start)
    assert np.abs(detumbled.rate.values[-1]).max() < 1e-7
    assert np.abs(detumbled.joint_rate.values[-1]).max() < 1e-7
    assert (np.abs(detumbled.motor_effort.values).max(axis=0) <= [80, 80, 60, 40]).all()
    # the limit is that of the wheel's motor: the change of its momentum
    motor = detumbled.wheel_torque.values + np.cross(detumbled.rate.values[:, 0], detumbled.wheel_momentum.values)
    assert 0.99 * 2 < np.abs(motor).max() <= 2 * (1 + 1e-12)
    assert np.abs(detumbled.wheel_momentum.values).max() < 40
    summary = dockdyn.summarise(detumbled)
    assert not [words for words in summary["warnings"] if "turn" in words or "budget" in words]
    assert summary["remaining_momentum_N_m_s"] < 1e-4
    assert summary["angular_momentum_error"] < 1e-9 and summary["linear_momentum_error"] < 1e-9
    assert energy_error(detumbled) < 1e-8


@pytest.mark.full
def test_a_wheel_that_is_too_small_says_so():
    dataset = dockdyn.simulate(dockdyn.load("detumble", {"control.base_capacity": 8}))
    summary = dockdyn.summarise(dataset)
    wheel = np.abs(dataset.wheel_momentum.values)
    assert 7.9 < wheel.max() <= 8 * ROUNDED
    assert any("does not suffice" in text and "of 8 N m s" in text for text in summary["warnings"])
    assert summary["remaining_rate_rad_s"] == pytest.approx(np.linalg.norm(dataset.rate.values[-1], axis=1).max())
    assert summary["remaining_momentum_N_m_s"] > 10
    assert summary["angular_momentum_error"] < 1e-9


@pytest.mark.full
def test_thrusters_within_their_budgets():
    """Their impulse is what momentum changes by; budgets are used up and never exceeded."""
    law = {"law": "detumble", "limit": LIMITS, "base_limit": 5, "base_capacity": 4, "time": 20, "thruster_force": 1}
    law |= {"thruster_impulse": 2.5, "thruster_torque": 1, "thruster_angular_impulse": 1}
    dataset = simulate(law, duration="60 s", **RIGID)
    summary = dockdyn.summarise(dataset)
    assert summary["linear_momentum_error"] < 1e-9 and summary["angular_momentum_error"] < 1e-9
    assert energy_error(dataset) < 1e-8
    used = dataset.thruster_use.values
    assert 2.49 < used[-1, 0] <= 2.5 * ROUNDED and 0.99 < used[-1, 1] <= ROUNDED
    assert np.abs(dataset.thruster_force).max() <= 1 and np.abs(dataset.thruster_torque).max() <= 1
    change = dataset.linear_momentum.values[-1] - dataset.linear_momentum.values[0]
    np.testing.assert_allclose(change, dataset.thruster_impulse.values[-1], atol=1e-9)
    assert np.linalg.norm(dataset.linear_momentum.values[-1]) < 0.7 * np.linalg.norm(dataset.linear_momentum.values[0])
    assert any("thrusters have used 1 of 1 N m s" in words for words in summary["warnings"])


# reaction null space


@pytest.mark.full
def test_the_base_does_not_feel_the_arm():
    """Its rate stays as the impact left it, where plain damping without a wheel changes it; the arm is damped."""
    changes = {}
    for law in ("reaction-null-space", "rate-damping"):
        control = {"law": law, "damping": [1500, 800, 80], "limit": LIMITS}
        dataset = simulate(control, duration="30 s", **RIGID)
        rate = dataset.rate.values[:, 0, 2]
        changes[law] = np.abs(rate - rate[0]).max()
        if law == "reaction-null-space":
            assert float(dataset.control_work[-1]) < -0.2 * float(dataset.kinetic_energy[0])
            assert (np.abs(dataset.motor_effort.values).max(axis=0) <= LIMITS).all()
            assert dockdyn.summarise(dataset)["angular_momentum_error"] < 1e-8 and energy_error(dataset) < 1e-7
    assert changes["rate-damping"] > 1e-5
    assert changes["reaction-null-space"] < 1e-9 * changes["rate-damping"]


# what is refused, and what is written down


@pytest.mark.parametrize(
    ("control", "others", "words"),
    [
        ({"law": "lqr"}, {}, "lqr needs limit"),
        ({"law": "lqr", "limit": LIMITS, "damping": [1, 1, 1]}, {}, "lqr has no damping"),
        ({"law": "lqr", "limit": [30, 30]}, {}, "2 entries for 3 joints"),
        ({"law": "lqr", "limit": LIMITS, "rate_error": 0}, {}, "rate_error = 0.*greater than"),
        ({"law": "detumble", "limit": LIMITS, "base_limit": 5}, {}, "detumble needs time"),
        ({"law": "detumble", "limit": LIMITS, "time": 20}, {}, "base_limit .* or thruster_torque"),
        (
            {"law": "detumble", "limit": LIMITS, "time": 20, "base_limit": 5, "thruster_impulse": 9},
            {},
            "budget of thruster_force",
        ),
        ({"law": "reaction-null-space", "damping": [1, 1, 1], "base_limit": 5}, {}, "has no base_limit"),
        (
            {"law": "reaction-null-space", "damping": [1, 1, 1]},
            {"motion": "space"},
            "3 joints .* 3 axes .*null space is empty.* at least 4",
        ),
        (
            {"law": "reaction-null-space", "damping": [1, 1, 1]},
            {"body.link2.joint.locked": True, "body.hand.joint.locked": True},
            "1 joints .* at least 2",
        ),
    ],
)
def test_wrong_controls_are_refused_in_one_line(control, others, words):
    with refused(match=words):
        dockdyn.load("cyril-controlled", {"control": {"body": "spacecraft", **control}, **others})


def test_gains_of_the_wrong_shape_are_refused():
    law = {"law": "lqr", "limit": LIMITS, "gain": [[1.0, 2.0], [3.0, 4.0]], "body": "spacecraft"}
    with refused(match=r"control.gain: has 2 × 2 numbers; must have 3 × 14"):
        dockdyn.load("cyril-controlled", {"control": law})


@pytest.mark.full
def test_results_are_documented(detumbled):
    results = results_pages()
    for key in [*detumbled.data_vars, *detumbled.attrs, *dockdyn.summarise(detumbled)]:
        assert is_of_member(key) or f"`{key}`" in results, key
