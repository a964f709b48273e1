"""Laws of arms that a computer asks once a period: exact recursions, momentum and energy, phases, steps, export.

All bodies of `spindle` turn about one line on which their centres of mass are, so each turns by the torques on it alone:
between two samples angles are parabolas.
"""

import numpy as np
import pytest
from plain_tables import by_name

import dockdyn
from dockdyn.studies.cases.batch import run_cases

STEPS = 24


def spindle(draw, axis, joints):
    """A base and links about one line: their tables, inertias (kg m²), and rates of the base and the joints (rad/s)."""
    inertias, rates = draw.uniform(20, 60, joints + 1), draw.uniform(-0.05, 0.05, joints + 1)
    line, bodies = np.eye(3)[axis], []
    for number, inertia in enumerate(inertias):
        body = {"name": f"b{number}", "mass": draw.uniform(10, 90), "inertia": [inertia] * 3, "position": [0.0] * 3}
        if number == 0:
            body["rate"] = (rates[0] * line).tolist()
        else:
            joint = {"kind": "revolute", "position": [0.0] * 3, "axis": line.tolist()}
            joint |= {"start": draw.uniform(-0.5, 0.5), "start_rate": rates[number]}
            body |= {"on": f"b{number - 1}", "joint": joint}
        bodies.append(body)
    return bodies, inertias, rates


def scenario(bodies, motion, control, period, **more):
    """The motion of such bodies over `STEPS` periods of control."""
    return {
        "schema": 2,
        "motion": motion,
        "duration": STEPS * period,
        "body": by_name(bodies),
        "control": control | {"body": "b0", "period": period},
        "integrator": {"tolerance": 1e-12},
        "output": {"interval": period},
    } | more


def recursion(inertias, rates, period, law):
    """Turns of the base and the joints at all samples (rad, from the start), by what `law` gives of turns and rates: the
    torques on the base and in the joints (N m)."""
    turns, rates, found = np.zeros_like(rates), rates.copy(), []
    for _ in range(STEPS + 1):
        found.append(turns)
        wheel, *motors = law(turns, rates)
        torques = np.array([wheel, *motors]) - np.array([*motors, 0.0])  # on each body: its own less what it carries
        pull = np.diff(torques / inertias, prepend=0.0)
        turns, rates = turns + period * rates + period**2 / 2 * pull, rates + period * pull
    return np.array(found)


def turned(run, axis):
    """The same of a run."""
    base = run.attitude_error.values[:, axis]
    return np.column_stack([base, run.joint_angle.values - run.joint_angle.values[0]])


@pytest.mark.full
@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.full) for seed in range(1, 12))])
def test_a_joint_held_at_samples_moves_by_the_roots_of_its_z_transform(seed):
    """Double integrator, held command: z² − (2 − d T − k T²/2) z + 1 − d T + k T²/2 = 0, gains over the reduced inertia."""
    draw = np.random.default_rng([51, seed])
    motion, axis = (("plane", 2), ("space", int(draw.integers(3))))[int(draw.integers(2))]
    bodies, inertias, rates = spindle(draw, axis, 1)
    period, reduced = draw.uniform(0.05, 0.5), 1 / np.sum(1 / inertias)
    stiff, damp = draw.uniform(0.05, 0.4) / period**2, draw.uniform(0.2, 0.8) / period
    control = {"law": "joint-pd", "stiffness": [reduced * stiff], "damping": [reduced * damp]}
    run = dockdyn.simulate(scenario(bodies, motion, control, period))
    k, d = stiff * period**2, damp * period
    roots = np.roots([1, -(2 - d - k / 2), 1 - d + k / 2])
    first = rates[1] * period * (1 - d / 2)  # angle at the second sample, from zero
    wanted = (
        first * (roots[0] ** np.arange(STEPS + 1) - roots[1] ** np.arange(STEPS + 1)) / (roots[0] - roots[1])
    ).real
    np.testing.assert_allclose(turned(run, axis)[:, 1], wanted, rtol=0, atol=1e-12)


def joint_pd(draw, period, inertias, starts):
    """Within the limits of motors and wheel, which hold at first, about set-points."""
    scale = inertias.min() / period
    stiff, damp = draw.uniform(0.02, 0.1, 3) * scale / period, draw.uniform(0.1, 0.25, 3) * scale
    limit, base = draw.uniform(0.1, 1.5, 2), draw.uniform(0.1, 1.5)
    control = {
        "law": "joint-pd",
        "stiffness": stiff[1:].tolist(),
        "damping": damp[1:].tolist(),
        "limit": limit.tolist(),
    }
    control |= {"base_stiffness": stiff[0], "base_damping": damp[0], "base_limit": base}
    aims, most = np.array([0.0, *draw.uniform(-0.2, 0.2, 2)]), np.array([base, *limit])
    control["set_point"] = (np.array(starts) + aims[1:]).tolist()
    return control, lambda turns, rates: np.clip(-stiff * (turns - aims) - damp * rates, -most, most)


def regulator(draw, period, inertias, starts):
    """A gain that is stated: of base, joints and their rates."""
    scale = inertias.min() / period
    gain = np.hstack([np.diag(draw.uniform(0.02, 0.1, 3)) / period, np.diag(draw.uniform(0.1, 0.25, 3))]) * scale
    gain += 0.01 * scale * draw.normal(size=gain.shape)
    control = {"law": "lqr", "limit": [900.0, 900.0], "base_limit": 900.0, "gain": gain.tolist()}
    return control, lambda turns, rates: -gain @ np.concatenate([turns, rates])


def detumble(draw, period, inertias, starts):
    """Wheel and thrusters take momentum; motors scaled alike within their limits."""
    time, limit, wheel, jets = draw.uniform(20, 60) * period, draw.uniform(0.1, 2, 2), *draw.uniform(0.1, 2, 2)
    control = {"law": "detumble", "time": time, "limit": limit.tolist(), "base_limit": wheel, "thruster_torque": jets}

    def law(turns, rates):
        pace = np.log(100) / time
        torque = np.clip(-pace * inertias @ np.cumsum(rates), -wheel - jets, wheel + jets)
        beside = np.cumsum([0.0, *(-pace * rates[1:])])  # acceleration of each body over the base's
        pull = beside + (torque - inertias @ beside) / inertias.sum()
        motors = np.array([inertias[1:] @ pull[1:], inertias[2:] @ pull[2:]])
        return torque, *(motors * min(1.0, *(limit / np.abs(motors))))

    return control, law


def null_space(draw, period, inertias, starts):
    """The first joint is the one that turns the base: it is left alone."""
    damp, limit = draw.uniform(0.1, 0.25, 3) * inertias.min() / period, draw.uniform(0.05, 1.0)
    control = {"law": "reaction-null-space", "damping": damp.tolist(), "limit": [limit] * 3}

    def law(turns, rates):
        motors = -damp[1:] * rates[2:]
        return 0.0, 0.0, *(motors * min(1.0, *(limit / np.abs(motors))))

    return control, law


LAWS = {"joint-pd": joint_pd, "lqr": regulator, "detumble": detumble, "reaction-null-space": null_space}


@pytest.mark.full_cases("0-reaction-null-space", "0-detumble", "0-lqr")
@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.full) for seed in range(1, 5))])
def test_laws_asked_at_samples_move_an_arm_by_their_recursion(law, seed):
    draw = np.random.default_rng([52, seed])
    joints = 3 if law == "reaction-null-space" else 2
    bodies, inertias, rates = spindle(draw, 2, joints)
    period = draw.uniform(0.1, 0.5)
    control, given = LAWS[law](draw, period, inertias, [one["joint"]["start"] for one in bodies[1:]])
    run = dockdyn.simulate(scenario(bodies, "plane", control, period))
    wanted = recursion(inertias, rates, period, given)
    np.testing.assert_allclose(turned(run, 2), wanted, rtol=0, atol=1e-10 * np.abs(wanted).max())


def by_steps(content):
    """Joint angles at samples, of a scenario that is stepped."""
    stepper = dockdyn.stepper(dockdyn.load(content))
    found = [stepper.observation["joint_angle"]]
    while not np.all(stepper.done):
        found.append(stepper.step()["joint_angle"])
    return np.array(found)


def pd_case(seed):
    draw = np.random.default_rng([53, seed])
    bodies, inertias, _ = spindle(draw, 2, 2)
    return scenario(bodies, "plane", joint_pd(draw, 0.3, inertias, [0.1, -0.2])[0], 0.3)


@pytest.mark.full
def test_steps_of_a_sampled_arm_are_its_run():
    content = pd_case(0)
    np.testing.assert_allclose(by_steps(content), dockdyn.simulate(content).joint_angle, rtol=0, atol=1e-12)


@pytest.mark.full
def test_steps_and_cases_side_by_side_are_runs():
    """Two periods of control, one of which is not the stepper's: the computer keeps its own clock."""
    content = pd_case(1)
    values = [
        {"control.period": 0.3, "control.base_damping": 40.0},
        {"control.period": 0.2, "control.base_damping": 7.0},
    ]
    runs = [dockdyn.simulate(dockdyn.load(content, one)) for one in values]
    stepper = dockdyn.stepper(dockdyn.load(content), period=0.3, batch=2)
    found = [stepper.reset(values)["joint_angle"]]
    while not stepper.done.all():
        found.append(stepper.step()["joint_angle"])
    for row, run in enumerate(runs):
        np.testing.assert_allclose(np.array(found)[:, row], run.joint_angle, rtol=0, atol=1e-11)
    names = ("control.work_J", "control.wheel_momentum_N_m_s")
    rows = np.array([list(one.values()) for one in values])
    cases = run_cases(dockdyn.load(content), list(values[0]), rows, figures=names)
    for name in names:
        found = [dockdyn.summarise(run)[name] for run in runs]
        np.testing.assert_allclose(cases.figures[name], found, rtol=1e-9, err_msg=name)
