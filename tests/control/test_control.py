"""Control after a capture: regulator, detumbling, reaction null space, budgets, refusals."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from places import DOCS
from scipy.integrate import simpson
from scipy.linalg import solve_continuous_are
from scipy.spatial.transform import Rotation

import dockdyn
from dockdyn.control.lqr import riccati
from dockdyn.integrate import adaptive
from dockdyn.integrate.model import State
from dockdyn.kinds.berthing.run import regulate, with_gain
from dockdyn.results.plan import jit_once
from dockdyn.stability.linearise import linearise

LIMITS = [30, 30, 10]
RIGID = {"flexible.modes": 0}
ROUNDED = 1 + 1e-9  # the integrator works to 1e-10


def simulate(law, name="cyril-controlled", **changes):
    return dockdyn.simulate(dockdyn.load(name, {"control": law, **changes}))


# Riccati equations


@pytest.mark.parametrize(("states", "inputs"), [(4, 1), (10, 3)])
def test_the_riccati_equation_is_solved_as_by_scipy(states, inputs):
    random = np.random.default_rng(states)
    a, b = random.normal(size=(states, states)), random.normal(size=(states, inputs))
    q, r = np.diag(10.0 ** random.uniform(-3, 3, states)), np.diag(10.0 ** random.uniform(-2, 2, inputs))
    found, wanted = np.asarray(riccati(a, b, q, r)), solve_continuous_are(a, b, q, r)
    np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-9 * np.abs(wanted).max())


@pytest.mark.full
def test_the_riccati_equation_of_an_oscillator_by_hand():
    """ẍ = −x + u at cost x² + u²: X₁₂ = √2 − 1, X₂₂ = √(2 X₁₂); and its derivative by the weight."""
    a, b = np.array([[0.0, 1.0], [-1.0, 0.0]]), np.array([[0.0], [1.0]])

    def solution(weight):
        return riccati(a, b, np.array([[1.0, 0.0], [0.0, 0.0]]) * weight, np.eye(1))

    off = np.sqrt(2) - 1
    x, slope = jax.jvp(solution, (1.0,), (1.0,))
    assert float(x[0, 1]) == pytest.approx(off, rel=1e-12)
    assert float(x[1, 1]) == pytest.approx(np.sqrt(2 * off), rel=1e-12)
    assert float(slope[0, 1]) == pytest.approx(1 / (2 * np.sqrt(2)), rel=1e-9)  # X₁₂ = √(1 + weight) − 1


# the regulator


@jit_once
def loop(content):
    """All of the controlled model, linearised about the captured configuration at rest, and that state."""
    model = content.model()
    start = model.initial()
    rest = State(start.q, jax.tree.map(jnp.zeros_like, start.v), start.mode, start.memory)
    return linearise(model, rest).state, rest


@pytest.fixture(scope="module")
def regulated():
    law = {"law": "lqr", "limit": LIMITS, "base_limit": 5}
    scenario = dockdyn.load("cyril-controlled", {"control": law, "flexible.modes": 1})
    return with_gain(scenario), jax.tree.map(np.asarray, regulate(scenario.content))


@pytest.mark.full
def test_the_gain_is_that_of_scipy(regulated):
    content, (plant, q, r, _) = regulated
    wanted = np.linalg.solve(r, plant.b.T @ solve_continuous_are(plant.a, plant.b, q, r))
    np.testing.assert_allclose(content.control.gain, wanted, rtol=0, atol=1e-6 * np.abs(wanted).max())


@pytest.mark.full
def test_the_simulated_loop_has_the_regulators_roots(regulated):
    """All states of the model, linearised with control on: the designed roots, and zeros of what is conserved."""
    content, (plant, _, _, gain) = regulated
    designed = np.linalg.eigvals(plant.a - plant.b @ gain)
    assert designed.real.max() < -1e-3
    roots = np.linalg.eigvals(np.asarray(loop(content)[0]))
    for root in designed:
        assert np.abs(roots - root).min() < 1e-5 * abs(root)
    assert roots.real.max() < 1e-6


@jax.jit
def deviated(content, state, times):
    """A run, its deviations from the captured configuration and its torques."""
    model = content.model()
    states = adaptive.solve(model, times, jnp.asarray(1e-12), state).states

    def seen(x):
        plant = model.plant(x)
        given = model.actuation(plant)
        return model.control.law.deviation(plant), jnp.concatenate([given.wheel[2:], given.motors])

    return jax.vmap(seen)(states)


@pytest.mark.full
def test_cost_to_go(regulated):
    """What the nonlinear simulation pays within 10 s is what xᵀ X x falls by, for small deviations."""
    content, (plant, q, r, _) = regulated
    rest = jax.tree.map(np.asarray, loop(content)[1])
    x = solve_continuous_are(plant.a, plant.b, q, r)
    small = rest.q[0].joints + 1e-5 * np.array([1.0, -0.5, 2.0])  # the payload moves along with the hand
    moved = plant.motions @ np.array([3e-6, *(small - rest.q[0].joints), 0, 0])
    chaser, target = rest.q
    turned = np.array([chaser.attitude[0], 0, 0, moved[2] / 2])  # of small angles about z
    turned_target = np.array([1.0, 0, 0, moved[10] / 2])
    q_chaser = replace(chaser, position=chaser.position + np.pad(moved[:2], (0, 1)), attitude=turned, joints=small)
    q_target = replace(target, position=target.position + np.pad(moved[8:10], (0, 1)), attitude=turned_target)
    times = np.linspace(0, 10, 8001)
    deviations, torques = map(
        np.asarray, deviated(content, State((q_chaser, q_target), rest.v, rest.mode, rest.memory), times)
    )
    paid = simpson(
        np.einsum("ti,ij,tj->t", deviations, q, deviations) + np.einsum("ti,ij,tj->t", torques, r, torques), times
    )
    left = np.einsum("ti,ij,tj->t", deviations, x, deviations)
    assert paid > 0.1 * left[0]
    assert paid == pytest.approx(left[0] - left[-1], rel=1e-4)


# detumbling


@pytest.fixture(scope="module")
def detumbled():
    return dockdyn.simulate(dockdyn.load("detumble"))


@pytest.mark.full
def test_the_wheel_takes_the_tumble(detumbled):
    """All angular momentum about the common centre ends in the wheel; arm and bodies are at rest; nothing is exceeded."""
    attitude = Rotation.from_quat(detumbled.base_attitude.values[-1, 0], scalar_first=True)
    start = detumbled.spin_momentum.values[0]
    assert np.linalg.norm(start) > 20
    taken = attitude.apply(detumbled.wheel_momentum.values[-1])
    assert np.linalg.norm(taken - start) < 1e-6 * np.linalg.norm(start)
    turning = [str(name) not in ("base.x", "base.y", "base.z") for name in detumbled.coordinate.values]
    assert np.abs(detumbled.coordinate_rate.values[-1, turning]).max() < 1e-7
    assert np.abs(detumbled.target_coordinate_rate.values[-1, 3:]).max() < 1e-7
    for name, limit in zip(detumbled.joint.values, [80, 80, 60, 40], strict=True):
        assert float(np.abs(detumbled.torque.sel(coordinate=name)).max()) <= limit
    # the limit is that of the wheel's motor: the change of its momentum
    motor = detumbled.wheel_torque.values + np.cross(
        detumbled.coordinate_rate.values[:, 3:6], detumbled.wheel_momentum.values
    )
    assert 0.99 * 2 < np.abs(motor).max() <= 2 * (1 + 1e-12)
    assert np.abs(detumbled.wheel_momentum.values).max() < 40
    summary = dockdyn.summarise(detumbled)
    assert summary["warnings"] == []
    assert summary["remaining_momentum_N_m_s"] < 1e-4
    assert summary["angular_momentum_error"] < 1e-9 and summary["linear_momentum_error"] < 1e-9
    assert summary["energy_error"] < 1e-8


@pytest.mark.full
def test_a_wheel_that_is_too_small_says_so():
    dataset = dockdyn.simulate(dockdyn.load("detumble", {"control.base_capacity": 8}))
    summary = dockdyn.summarise(dataset)
    wheel = np.abs(dataset.wheel_momentum.values)
    assert 7.9 < wheel.max() <= 8 * ROUNDED
    assert any("does not suffice" in text and "of 8 N m s" in text for text in summary["warnings"])
    ends = [dataset.coordinate_rate.values[-1, 3:6], dataset.target_coordinate_rate.values[-1, 3:]]
    assert summary["remaining_rate_rad_s"] == pytest.approx(max(map(np.linalg.norm, ends)))
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
    assert summary["energy_error"] < 1e-8
    used = dataset.thruster_use.values
    assert 2.49 < used[-1, 0] <= 2.5 * ROUNDED and 0.99 < used[-1, 1] <= ROUNDED
    assert np.abs(dataset.thruster_force).max() <= 1 and np.abs(dataset.thruster_torque).max() <= 1
    change = dataset.linear_momentum.values[-1] - dataset.linear_momentum.values[0]
    np.testing.assert_allclose(change, dataset.thruster_impulse.values[-1], atol=1e-9)
    assert np.linalg.norm(dataset.linear_momentum.values[-1]) < 0.7 * np.linalg.norm(dataset.linear_momentum.values[0])
    assert "thrusters have used 1 of 1 N m s" in summary["warnings"][0]


# reaction null space


@pytest.mark.full
def test_the_base_does_not_feel_the_arm():
    """Its rate stays as the impact left it, where plain damping without a wheel changes it; the arm is damped."""
    changes = {}
    for law in ("reaction-null-space", "rate-damping"):
        control = {"law": law, "damping": [1500, 800, 80], "limit": LIMITS}
        dataset = simulate(control, duration="30 s", **RIGID)
        rate = dataset.coordinate_rate.sel(coordinate="base.yaw").values
        changes[law] = np.abs(rate - rate[0]).max()
        if law == "reaction-null-space":
            assert float(dataset.work[-1]) < -0.2 * float(dataset.kinetic_energy[0])
            assert np.all(dataset.torque.sel(coordinate="base.yaw") == 0)
            for name, limit in zip(dataset.joint.values, LIMITS, strict=True):
                assert float(np.abs(dataset.torque.sel(coordinate=name)).max()) <= limit
            summary = dockdyn.summarise(dataset)
            assert summary["angular_momentum_error"] < 1e-8 and summary["energy_error"] < 1e-7
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
        ({"law": "lqr", "limit": LIMITS}, {"impact.law": "pin"}, "what a weld holds together; impact.law is pin"),
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
            {"motion": "free"},
            "3 joints .* 3 axes .*null space is empty.* at least 4",
        ),
        (
            {"law": "reaction-null-space", "damping": [1, 1, 1]},
            {"impact.lock": ["theta3", "theta4"]},
            "1 joints .* at least 2",
        ),
    ],
)
def test_wrong_controls_are_refused_in_one_line(control, others, words):
    with pytest.raises(dockdyn.ScenarioError, match=words) as caught:
        dockdyn.load("cyril-controlled", {"control": control, **others})
    assert "\n" not in str(caught.value)


def test_gains_of_the_wrong_shape_are_refused():
    law = {"law": "lqr", "limit": LIMITS, "gain": [[1.0, 2.0], [3.0, 4.0]]}
    with pytest.raises(dockdyn.ScenarioError, match=r"control.gain: has 2 × 2 numbers; must have 3 × 14") as caught:
        dockdyn.simulate(dockdyn.load("cyril-controlled", {"control": law}))
    assert "\n" not in str(caught.value)


@pytest.mark.full
def test_results_are_documented(detumbled):
    results = (DOCS / "results.md").read_text(encoding="utf-8")
    for key in [*detumbled.data_vars, *detumbled.attrs, *dockdyn.summarise(detumbled)]:
        assert f"`{key}`" in results, key
