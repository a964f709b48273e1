"""Thrusters on bodies of a mechanism: closed forms of a free body, the account of what they gave, what they do to loads."""

import re

import numpy as np
import pytest
from mechanism_cases import FOUR, changed, energy_error, simulated
from plain_tables import acting, by_name
from scipy.integrate import quad
from scipy.spatial.transform import Rotation

import dockdyn
from dockdyn.scenario.language.errors import ScenarioError
from dockdyn.scenario.language.keys import number_at
from dockdyn.studies.cases.batch import run_cases
from dockdyn.studies.sensitivity.table import sensitivity

MASS, INERTIA, RATE, FORCE, DURATION = 100.0, 20.0, 0.1, 4.0, 8.0
PLACE, DIRECTION = np.array([-0.5, 0.3, 0.0]), np.array([0.8, 0.6, 0.0])
VELOCITY = np.array([0.1, -0.05, 0.02])
TORQUE = FORCE * np.cross(PLACE, DIRECTION)[2]
JET = {"kind": "thruster", "name": "jet", "body": "craft", "position": PLACE.tolist(), "direction": [1.6, 1.2, 0.0]}


def craft(*, links, boost=(0.0, 0.0, 0.0), force=FORCE):
    """A free body that turns about z with a thruster off its centre of mass, or the same mass as two bodies that are welded."""
    whole = {"mass": MASS, "inertia": [15.0, 15.0, INERTIA]}
    motion = {"position": [0, 0, 0], "velocity": (VELOCITY + boost).tolist(), "rate": [0.0, 0.0, RATE]}
    bodies = [{"name": "craft", **whole, **motion}]
    if links:
        half, arm = MASS / 2, 0.25
        part = {"mass": half, "inertia": [7.5, 7.5, INERTIA / 2 - half * arm**2]}
        centre = (VELOCITY + boost + np.cross([0, 0, RATE], [-arm, 0, 0])).tolist()
        bus = {"name": "bus", **part, **motion, "position": [-arm, 0, 0], "velocity": centre}
        bodies = [bus, {"name": "craft", **part, "on": "bus", "position": [2 * arm, 0, 0], "joint": {"kind": "locked"}}]
    place = PLACE - [0.25, 0, 0] if links else PLACE
    jet = JET | {"position": place.tolist(), "force": force}
    return {"schema": 2, "duration": DURATION, "body": by_name(bodies), **acting(jet)}


def pushed(t):
    """Velocity (m/s) and angle (rad) under a force that turns with the body: ω = ω₀ + τ t / I."""
    start = np.arctan2(DIRECTION[1], DIRECTION[0])

    def angle(s):
        return RATE * s + TORQUE * s**2 / (2 * INERTIA)

    gained = [
        quad(lambda s, turn=turn: FORCE / MASS * turn(start + angle(s)), 0, t, epsabs=1e-13)[0]
        for turn in (np.cos, np.sin)
    ]
    return [*(VELOCITY[:2] + gained), VELOCITY[2]], angle(t)


@pytest.mark.full
@pytest.mark.parametrize("links", [False, True])
def test_a_force_off_the_centre_turns_and_drives_a_body(load, links):
    """As the closed form says, of one body and of two that are welded; momenta and energy change by what was given."""
    data = simulated(load, craft(links=links))
    velocity, angle = pushed(DURATION)
    np.testing.assert_allclose(data.linear_momentum[-1] / MASS, velocity, atol=1e-10)
    np.testing.assert_allclose(data.rotation[-1, 0], [0, 0, angle], atol=1e-9)
    np.testing.assert_allclose(data.rate[-1, 0], [0, 0, RATE + TORQUE * DURATION / INERTIA], atol=1e-10)
    gained = data.linear_momentum.values - data.linear_momentum.values[0]
    np.testing.assert_allclose(data.thruster_impulse, gained, atol=1e-10)
    np.testing.assert_allclose(data.thruster_turning_impulse[-1], [0, 0, TORQUE * DURATION], atol=1e-10)
    energy = data.kinetic_energy.values - float(data.kinetic_energy[0])
    np.testing.assert_allclose(data.work, energy, atol=1e-10)
    assert float(data.thrust_spent[-1, 0]) == pytest.approx(FORCE * DURATION, rel=1e-12)


def test_a_body_that_rests_begins_to_move(load):
    """Straight through its centre of mass, where the motion about the common centre of mass is none."""
    case = craft(links=False)
    case["body"]["craft"] |= {"velocity": [0, 0, 0], "rate": [0, 0, 0]}
    case["thruster"]["jet"] |= {"position": [0, 0, 0], "direction": [1, 0, 0]}
    data = simulated(load, case)
    way = FORCE / MASS * data.time.values**2 / 2
    np.testing.assert_allclose(data.position[:, 0, 0], way, rtol=1e-10, atol=1e-12)


def test_a_frame_that_moves_fast_asks_for_no_more_steps(load):
    """Nor changes the motion: 7.5 km/s is that of an orbit."""
    still, fast = (simulated(load, craft(links=False, boost=boost)) for boost in ((0, 0, 0), (0, 7500.0, 0)))
    assert fast.attrs["steps"] == still.attrs["steps"]
    np.testing.assert_allclose(fast.rotation, still.rotation, atol=1e-11)


@pytest.mark.full
def test_a_weld_carries_what_moves_the_body_that_has_no_thruster(load):
    """The thruster itself is no load at named points: nothing of a single body, half the force through a weld of halves."""
    alone = simulated(load, craft(links=False))
    assert not alone.load_force.values.any() and not alone.load_moment.values.any()
    case = craft(links=True)
    case["body"]["bus"]["velocity"], case["body"]["bus"]["rate"] = [0, 0, 0], [0, 0, 0]
    case["thruster"]["jet"] |= {"position": [-0.25, 0, 0], "direction": [0, 1, 0]}
    data = simulated(load, case)
    np.testing.assert_allclose(data.joint_force[:, 0], [[0, -FORCE / 2, 0]] * data.sizes["time"], atol=1e-10)
    np.testing.assert_allclose(data.load_force[:, 0, 1], FORCE / 2, atol=1e-10)


def pulses():
    """A thruster that pushes for 3 s, coasts for 1.5 s, and pushes again for 3.5 s."""
    case = craft(links=False)
    case["phase"] = {
        "push": {"set": {"thruster.jet.force": 2.0}},
        "coast": {"when": {"lasting": 3.0}, "set": {"thruster.jet.force": "0 N"}},
        "again": {"when": {"lasting": 1.5}, "set": {"thruster.jet.force": 3.0}},
    }
    return case


@pytest.mark.full
def test_what_a_phase_sets_has_a_key(load):
    """By it the number is changed, drawn and differentiated: the impulse changes by how long the phase lasts."""
    key = "phase.again.set.thruster.jet.force"
    scenario = load(pulses(), {key: "4 N"})
    found = number_at(scenario, key)
    assert (found.key, found.value, found.unit) == (key, 4.0, "N")
    rows = sensitivity(
        scenario, "thruster.impulse_N_s", ["phase.push.set.thruster.jet.force", "phase.again.set.thruster.jet.force"]
    )["to"]
    found = {row["key"]: (row["derivative"], row["unit"]) for row in rows}
    assert found == {
        "phase.push.set.thruster.jet.force": (pytest.approx(3.0, rel=1e-9), "N"),
        key: (pytest.approx(3.5, rel=1e-9), "N"),
    }
    cases = run_cases(scenario, [key], np.array([[1.0], [5.0]]), figures=["thruster.impulse_N_s"])
    np.testing.assert_allclose(cases.figures["thruster.impulse_N_s"], [6 + 3.5, 6 + 17.5], rtol=1e-11)


@pytest.mark.parametrize(
    ("key", "words"),
    [
        ("phase.again.set.jet.forse", "unknown key; did you mean 'set.thruster.jet.force'?"),
        ("phase.again.values.0", "unknown key; allowed: name, over, set, when"),
    ],
)
def test_a_wrong_key_of_a_phase_is_one_line(load, key, words):
    with pytest.raises(ScenarioError, match=re.escape(f"{key}: {words}")):
        number_at(load(pulses()), key)


@pytest.mark.full
def test_phases_switch_thrusters(load):
    """The impulse is the force times how long each phase lasts; what a phase does not set stays."""
    case = pulses()
    case["thruster"]["other"] = case["thruster"]["jet"] | {"force": 1.0}
    case["phase"]["again"]["set"]["thruster.other.force"] = 0.0
    data = simulated(load, case)
    np.testing.assert_allclose(data.thrust_spent[-1], [2.0 * 3 + 3.0 * 3.5, 4.5], rtol=1e-11)
    assert [float(data.thrust[i, 0]) for i in (0, -1)] == [2.0, 3.0]
    assert energy_error(data) < 1e-10


ELBOW = {"kind": "revolute", "position": [0.8, 0, 0], "axis": [0.2, 1.0, 0.3], "stiffness": 120.0, "damping": 4.0}


@pytest.mark.full
@pytest.mark.parametrize("joint", [None, ELBOW])
def test_balances_in_space_are_kept(load, joint):
    """Of bodies that touch, on elements and on a hinge, pushed on a link and on a free body, any way they turn."""
    case = changed(FOUR, duration=4.0)
    if joint is not None:
        case["body"]["arm"]["joint"] = joint
        del case["bushing"]
    push = {"position": [0.2, -0.3, 0.1], "direction": [0.3, 1.0, -0.5]}
    case["thruster"] = {"a": push | {"body": "arm", "force": 3.0}, "b": push | {"body": "target", "force": 8.0}}
    data = simulated(load, case)
    assert energy_error(data) < 1e-6
    for name, given in (("linear", "thruster_impulse"), ("angular", "thruster_turning_impulse")):
        momentum = data[f"{name}_momentum"].values - data[given].values
        error = np.abs(momentum - momentum[0]).max() / float(data[f"{name}_momentum_scale"].max())
        assert error < 1e-10
        assert np.abs(data[given].values[-1]).max() > 1.0
    attitudes = [Rotation.from_quat(data.attitude.values[:, body], scalar_first=True) for body in (1, 2)]
    unit = np.array(push["direction"]) / np.linalg.norm(push["direction"])
    force = sum(size * turn.apply(unit) for size, turn in zip((3.0, 8.0), attitudes, strict=True))
    rate = np.gradient(data.thruster_impulse.values, data.time.values, axis=0)[1:-1]
    np.testing.assert_allclose(rate, force[1:-1], atol=2e-3)


PUSHED = {
    "thruster": {"thruster": {"jet": {"body": "base", "position": [0, 0, 0], "direction": [0, 1, 1], "force": 8.0}}},
    "control": {
        "control": {
            "law": "attitude-hold",
            "body": "base",
            "base_stiffness": 30.0,
            "base_damping": 60.0,
            "position_stiffness": 20.0,
            "velocity_damping": 30.0,
            "position": [0, 0.5, 0.5],
        }
    },
}


@pytest.mark.full_cases("control")
@pytest.mark.parametrize("by", PUSHED)
def test_what_turns_a_beam_that_bends_far_is_about_the_common_centre_as_it_is_bent(by):
    beam = {
        "kind": "beam",
        "basis": "craig-bampton",
        "length": 2.4,
        "mass_per_length": 4.0,
        "bending_stiffness": [20.0, 25.0],
        "bending_modes": [1, 1],
    }
    joint = {"kind": "revolute", "position": [0.5, 0, 0], "axis": [0, 0, 1], "stiffness": 60.0, "damping": 1.0}
    boom = {"on": "base", "position": [1.7, 0, 0], "mass": 12.0, "inertia": [0.2, 6.0, 6.0]}
    bodies = {
        "base": {"mass": 30.0, "inertia": [3.0, 3.0, 3.0]},
        "boom": boom | {"joint": joint, "flexible": beam},
        "other": {"mass": 1.0, "inertia": [1.0, 1.0, 1.0], "position": [0, 50, 0]},
    }
    tables = {"schema": 2, "duration": 3.0, "body": bodies, "integrator": {"tolerance": 1e-12}} | PUSHED[by]
    run = dockdyn.simulate(dockdyn.load(tables))
    assert np.abs(run["modal_coordinate"]).max() > 5e-3
    assert dockdyn.summarise(run)["angular_momentum_error"] < 1e-12
