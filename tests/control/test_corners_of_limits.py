"""What control gives has corners where limits are reached: steps end beside them, so that runs and derivatives are right."""

import jax
import numpy as np
import pytest

import dockdyn

FIGURE = "kinetic_energy_end_J"
SHARE = 2e-5  # of a number, for differences
SEEDS = [0, *(pytest.param(seed, marks=pytest.mark.full) for seed in (1, 2))]


def steered(random, **control):
    """A body that turns and flies askew, whose wheel and thrusters are too weak for what is asked of them at first."""
    uniform = random.uniform
    return {
        "duration": 12.0,
        "body": {
            "a": {
                "mass": uniform(5, 20),
                "inertia": [uniform(0.6, 1.4), uniform(0.6, 1.4), uniform(1.0, 1.6)],
                "velocity": uniform(-0.1, 0.1, 3).tolist(),
                "rate": (uniform(0.1, 0.3, 3) * random.choice([-1, 1], 3)).tolist(),
            },
            "b": {"mass": 20.0, "inertia": [1.0, 1.0, 1.0], "position": [30.0, 0.0, 0.0]},
        },
        "control": {
            **{"body": "a", "law": "attitude-hold", "base_stiffness": uniform(1, 4), "base_damping": uniform(1, 4)},
            **{"base_limit": uniform(0.03, 0.1), "thruster_force": uniform(0.03, 0.1)},
            **{"velocity_damping": uniform(2, 4), "velocity": uniform(-0.2, 0.2, 3).tolist()},
        }
        | control,
    }


def armed(random, control):
    """A free base with three links in a plane, which turn."""
    uniform, place, on = random.uniform, 0.5, "base"
    bodies = {"base": {"mass": 200.0, "inertia": [30.0, 40.0, 50.0], "rate": [0.0, 0.0, uniform(0.02, 0.05)]}}
    for number in range(3):
        length = uniform(0.6, 1.2)
        bodies[f"link{number}"] = {
            "on": on,
            "position": [place + length / 2, 0.0, 0.0],
            "mass": uniform(4, 10),
            "inertia": [0.05, 0.6 * length**2, 0.6 * length**2],
            "joint": {
                **{"kind": "revolute", "position": [place, 0.0, 0.0], "axis": [0.0, 0.0, 1.0]},
                **{"start": uniform(-0.6, 0.6), "start_rate": uniform(0.1, 0.3) * random.choice([-1, 1])},
            },
        }
        place, on = place + length, f"link{number}"
    bodies["far"] = {"mass": 30.0, "inertia": [1.0, 1.0, 1.0], "position": [50.0, 0.0, 0.0]}
    return {"duration": 6.0, "motion": "plane", "body": bodies, "control": {"body": "base"} | control}


def wheel(random):
    return steered(random), ["base_limit", "thruster_force"]


def budgets(random):
    uniform = random.uniform
    control = {
        **{"base_capacity": uniform(0.1, 0.2), "thruster_impulse": uniform(0.3, 0.6)},
        **{"thruster_torque": 0.02, "thruster_angular_impulse": 0.1},
    }
    return steered(random, **control), ["base_capacity", "thruster_impulse", "thruster_angular_impulse"]


def sampled(random):
    control = {"period": random.uniform(0.05, 0.2), "base_capacity": random.uniform(0.1, 0.2)}
    return steered(random, **control), ["base_capacity", "thruster_force"]


def joints(random):
    uniform = random.uniform
    control = {
        **{"law": "joint-pd", "stiffness": [40.0, 40.0, 20.0], "damping": uniform(10, 30, 3).tolist()},
        **{"limit": uniform(0.5, 3, 3).tolist(), "base_stiffness": 100.0, "base_damping": 100.0},
        **{"base_limit": uniform(0.5, 2)},
    }
    return armed(random, control), ["limit.1", "base_limit"]


def shared(random):
    limits = random.uniform(0.1, 0.5, 3).tolist()
    control = {"law": "reaction-null-space", "damping": random.uniform(20, 40, 3).tolist(), "limit": limits}
    return armed(random, control), ["limit.0", "limit.1", "limit.2"]


def detumbled(random):
    uniform = random.uniform
    control = {
        **{"law": "detumble", "time": uniform(4, 8), "limit": uniform(0.3, 1, 3).tolist()},
        **{"base_limit": uniform(0.5, 2), "base_capacity": uniform(1, 3), "thruster_force": 1.0},
    }
    return armed(random, control), ["limit.0", "base_limit", "base_capacity"]


RARER = [pytest.param(kind, marks=pytest.mark.full) for kind in (sampled, detumbled, budgets, joints)]


@pytest.mark.parametrize("kind", [wheel, *RARER])
@pytest.mark.parametrize("seed", SEEDS)
def test_derivatives_go_across_limits(load, kind, seed):
    """Against differences of the fourth order, of runs at 1e-13."""
    content, keys = kind(np.random.default_rng(seed))
    content = {"schema": 2, "title": "control at its limits", **content}
    found = dockdyn.sensitivity(load(content), of=FIGURE, to=[f"control.{key}" for key in keys])
    assert found["differentiable"]
    rows = {row["key"]: row for row in found["to"]}

    def value_at(key, value):
        changes = {key: value, "integrator.tolerance": 1e-13}
        return dockdyn.summarise(dockdyn.simulate(load(content, changes)))[FIGURE]

    counted = 0
    for key, row in rows.items():
        value = row["value"]
        near, far = (
            (value_at(key, value * (1 + size)) - value_at(key, value * (1 - size))) / (2 * size * value)
            for size in (SHARE, 2 * SHARE)
        )
        difference, least = (4 * near - far) / 3, 1e-9 * found["value"] / value
        assert row["derivative"] == pytest.approx(difference, rel=1e-6, abs=least)
        counted += abs(difference) > 1e3 * least
    assert counted, "no limit is reached"


@pytest.mark.full_cases("0")
@pytest.mark.parametrize("seed", SEEDS)
def test_motors_that_share_what_they_have_take_few_steps(load, seed):
    """While one of them is at its limit its torque is so but for rounding, which is no corner to step to: values are those at
    1e-13. What derivatives there are not is told."""
    content, keys = shared(np.random.default_rng(seed))
    content = {"schema": 2, "title": "motors at their limits", **content}
    run = dockdyn.simulate(load(content))
    fine = dockdyn.simulate(load(content, {"integrator.tolerance": 1e-13}))
    assert run.attrs["steps"] < 10_000
    assert dockdyn.summarise(run)[FIGURE] == pytest.approx(dockdyn.summarise(fine)[FIGURE], rel=1e-7)
    told = dockdyn.sensitivity(load(content), of=FIGURE, to=[f"control.{key}" for key in keys])
    for row in told["to"]:
        near = row["derivative"] == pytest.approx(np.mean(row["differences"]), rel=0.03)
        assert near or (row["differentiable"] is False and "not certain" in row["reason"])


def test_control_without_limits_has_no_corners(load):
    content, _ = joints(np.random.default_rng(0))
    del content["control"]["limit"], content["control"]["base_limit"]
    for changes, some in (({}, False), ({"limit": [1.0, 2.0, 3.0]}, True)):
        content["control"] |= changes
        model = load({"schema": 2, "title": "an arm", **content}).content.model()
        corners = jax.eval_shape(lambda model=model: model.outputs(0.0, model.initial()).corners)
        assert bool(corners) == some
