"""Sampled control in free flight: exact recursions of a held command, memory, contacts, references at a port, refusals."""

import numpy as np
import pytest
from helpers.ball_before_plate import ball_before_plate
from helpers.refusals import refused

import dockdyn

PERIOD = 0.25
MODULE = '''
import dockdyn
import jax.numpy as jnp
from dockdyn import parameter
from dockdyn.control import Command


class Integral(dockdyn.Controller):
    """PID along x."""

    stiffness: float = parameter("N/m", "a gain", least=0)
    damping: float = parameter("N*s/m", "a gain", least=0)
    integral: float = parameter("N/(m*s)", "a gain", least=0)

    def init(self, seen):
        return jnp.zeros(3)

    def act(self, memory, seen):
        away = seen.chaser.position - jnp.array([50.0, 0.0, 0.0])
        force = -self.stiffness * away - self.damping * seen.chaser.velocity - self.integral * memory
        return away, Command(force, jnp.zeros(3))
'''


def flight(control, **changes):
    """A ball that turns about a principal axis, before a plate."""
    start = {"position": [50.4, 0.0, 0.0], "velocity": [0.05, 0.0, 0.0], "rate": [0.0, 0.0, -0.1]}
    tables = {"duration": 10.0, "control": {"period": PERIOD, **control}, "output": {"interval": PERIOD}}
    return ball_before_plate(start, **tables | changes)


HOLD = {"law": "attitude-hold", "base_stiffness": 40.0, "base_damping": 30.0}
PLACE = {"position_stiffness": 50.0, "velocity_damping": 60.0, "position": [50.0, 0.0, 0.0]}


def held(stiffness, damping, inertia, place, speed, count):
    """Places at samples of a double integrator under a held PD: x⁺ = x + v T + u T²/2, v⁺ = v + u T."""
    found = []
    for _ in range(count):
        found.append(place)
        pull = -(stiffness * place + damping * speed) / inertia
        place, speed = place + speed * PERIOD + pull * PERIOD**2 / 2, speed + pull * PERIOD
    return np.array(found)


@pytest.mark.full
def test_a_held_command_moves_a_free_body_by_its_recursion(run):
    """Place in inertial axes (the force is held in the chaser's, which do not turn here), angle about a principal axis."""
    still = flight(HOLD | PLACE)
    still["chaser"]["rate"] = [0.0, 0.0, 0.0]
    found = run(still)
    wanted = held(50.0, 60.0, 300.0, 0.4, 0.05, found.sizes["time"])
    np.testing.assert_allclose(found.position[:, 0, 0] - 50, wanted, rtol=0, atol=1e-11)
    found = run(flight(HOLD))
    wanted = held(40.0, 30.0, 90.0, 0.0, -0.1, found.sizes["time"])
    np.testing.assert_allclose(found.attitude_error[:, 2], wanted, rtol=0, atol=1e-11)


@pytest.mark.full
def test_what_a_law_remembers_advances_at_samples(run, own_files):
    own_files({"own_integral.py": MODULE})
    gains = {"stiffness": 50.0, "damping": 60.0, "integral": 4.0}
    still = flight({"law": "own_integral:Integral", **gains})
    still["chaser"]["rate"] = [0.0, 0.0, 0.0]
    found = run(still)
    place, speed, integral, wanted = 0.4, 0.05, 0.0, []
    for _ in range(found.sizes["time"]):
        wanted.append(place)
        pull = -(50.0 * place + 60.0 * speed + 4.0 * integral) / 300.0
        integral += place * PERIOD
        place, speed = place + speed * PERIOD + pull * PERIOD**2 / 2, speed + pull * PERIOD
    np.testing.assert_allclose(found.position[:, 0, 0] - 50, wanted, rtol=0, atol=1e-11)


@pytest.mark.full
def test_a_short_period_tends_to_continuous_control(run):
    """The difference falls with the period, as half a period of delay does."""
    end = {}
    for period in (None, 0.02, 0.01):
        content = flight(HOLD | PLACE, duration=4.0)
        content["control"] |= {"period": period}
        if period is None:
            del content["control"]["period"]
        end[period] = run(content).position.values[-1, 0, 0]
    ratio = (end[0.02] - end[None]) / (end[0.01] - end[None])
    assert 1.9 < ratio < 2.1


@pytest.mark.full
def test_momentum_and_energy_are_kept_through_a_contact_in_a_delayed_loop(run):
    """A sampled push against the plate: what control gave is all that the bodies' momentum and energy change by."""
    content = flight(
        HOLD | {"velocity_damping": 60.0, "velocity": [-0.1, 0.02, 0.0]},
        loop={"delay": 0.02},
        integrator={"max_events": 60},  # samples are no events: there are 40
    )
    content["chaser"] |= {"position": [2.3, 0.1, 0.0], "velocity": [-0.1, 0.0, 0.0], "rate": [0.05, -0.1, 0.08]}
    found = run(content)
    assert found.attrs["finished"] and found.sizes["episode"] > 0
    for kind, given in (("linear", "thruster_impulse"), ("angular", "thruster_turning_impulse")):
        left = found[f"{kind}_momentum"] - found[given]
        np.testing.assert_allclose(left, np.broadcast_to(left[0], left.shape), rtol=0, atol=1e-9)
    change = found.kinetic_energy - found.kinetic_energy[0]
    np.testing.assert_allclose(change, found.work + found.control_work, rtol=0, atol=1e-8)


APPROACH = {
    "of": "probe",
    "to": "cone",
    "closing_speed": 0.03,
    "distance": 0.4,
    "lateral_offset": [0.05, -0.02],
    "lateral_velocity": [0.01, 0.0],
    "yaw": "4 deg",
}


@pytest.mark.full
@pytest.mark.parametrize("period", [None, 0.25])
def test_a_reference_at_the_port_is_the_pose_that_an_approach_begins_with(period):
    """Nothing is asked for there, however the target is turned and moves; then it is followed."""
    half = np.radians(2.0)
    control = {
        "law": "attitude-hold",
        "base_stiffness": 400.0,
        "base_damping": 3000.0,
        "position_stiffness": 200.0,
        "velocity_damping": 2000.0,
        "frame": "port",
        "position": [0.4, 0.05, -0.02],
        "velocity": [-0.03, 0.01, 0.0],
        "attitude": [np.cos(half), 0.0, 0.0, np.sin(half)],
    }
    target = {"body.target.attitude": [0.5, 0.5, -0.5, 0.5], "body.target.velocity": [0.1, -0.2, 0.3]}
    changes = {"control": control | ({} if period is None else {"period": period})}
    approach = {"approach": APPROACH}
    found = dockdyn.simulate(dockdyn.load("probe-cone", {**changes, **target, **approach, "duration": 3.0}))
    for name in ("attitude_error", "thruster_force", "wheel_torque"):
        np.testing.assert_allclose(found[name].values[0], 0, rtol=0, atol=1e-9)
    # the place is held against the speed: the chaser settles where the place pulls as hard as the speed pushes
    calm = {"control.velocity": [0.0, 0.0, 0.0], "duration": 60.0, "body.target.rate": [0.0, 0.0, 0.01]}
    found = dockdyn.simulate(dockdyn.load("probe-cone", {**changes, **target, **approach, **calm}))
    error = np.linalg.norm(found.attitude_error.values[-1])
    assert error < 1e-4 and found.sizes["episode"] == 0
    turning = found.rate.values[-1]
    np.testing.assert_allclose(np.linalg.norm(turning[0]), np.linalg.norm(turning[1]), rtol=2e-3)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"control.period": -1.0}, "control.period = -1.0"),
        ({"control.period": 0.1, "integrator.method": "fixed"}, "must be located: control.period has steps end"),
        ({"control.period": 1e-7}, "must take at most integrator.max_steps = 5000000"),
        ({"control.frame": "port", "control.position_stiffness": 1.0}, "position is missing"),
        ({"control.frame": "target"}, "must be 'port'"),
        ({"control.modulation": {"law": "on-off"}}, "control.modulation: law on-off needs switch_on"),
    ],
)
def test_refusals_in_one_line(changes, words):
    with refused(words):
        dockdyn.load("probe-cone", {"control": dict(HOLD), **changes})


@pytest.mark.full_cases("False")
@pytest.mark.parametrize("thrusters", [False, True])
def test_a_wheel_of_control_that_idles_keeps_its_spin(load, thrusters):
    """In the body's axes, whichever way the body turns, as that of a law that acts at every instant: no motor turns it."""

    def flown(**control):
        tables = {
            "schema": 2,
            "duration": 4.0,
            "body": {
                "ship": {"mass": 100.0, "inertia": [10.0, 20.0, 30.0], "rate": [0.2, -0.1, 0.05]},
                "other": {"mass": 1.0, "inertia": [1.0, 1.0, 1.0], "position": [10.0, 0.0, 0.0]},
            },
            "thruster": {"puff": {"body": "other", "position": [0, 0, 0], "direction": [1, 0, 0], "force": 0.0}},
            "control": {
                "body": "ship",
                "law": "attitude-hold",
                "base_stiffness": 20.0,
                "base_damping": 40.0,
                "base_limit": 10.0,
                "attitude": {"axis": [0, 0, 1], "angle": 0.8},
                "phases": ["held"],
                **control,
            },
            "phase": {"held": {}, "free": {"when": {"lasting": 1.0}, "set": {"thruster.puff.force": 0.0}}},
            "output": {"interval": 0.01},
        }
        return dockdyn.simulate(load(tables))

    continuous = None if thrusters else flown()
    jet = {"position": [1, 0, 0], "direction": [0, 1, 0], "force": 0.5}
    pulsed = {"thruster": {"jet": jet}} if thrusters else {}
    sampled = flown(period=0.005, **pulsed)
    idles = sampled.time.values > 1.0 + 0.005
    spin = sampled.wheel_momentum.values[idles]
    assert np.abs(spin).max() > 1.0
    np.testing.assert_allclose(spin, np.broadcast_to(spin[0], spin.shape), rtol=1e-12, atol=1e-12)
    if thrusters:
        pulses = sampled.thruster_pulses.values
        assert pulses[-1].sum() == pulses[np.argmax(idles)].sum()
    if continuous is not None:  # beside it, but for what a sample is late
        ends = [one.rate.sel(body="ship").values[-1] for one in (continuous, sampled)]
        np.testing.assert_allclose(ends[1], ends[0], atol=2e-3)
