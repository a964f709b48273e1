"""Contacts that are slow, or far from the origin: the same contact, to what the digits of a place can carry."""

import math

import jax.numpy as jnp
import numpy as np
import pytest
from plain_tables import contacts_by_name
from scipy.optimize import brentq, minimize_scalar
from scipy.spatial.transform import Rotation

import dockdyn
from dockdyn.integrate.hybrid import located
from dockdyn.results.plan import settings_for

STIFFNESS, CHASER, TARGET, DURATION = 500.0, 40.0, 60.0, 3.0  # N/m, kg, s
REDUCED = CHASER * TARGET / (CHASER + TARGET)
FREQUENCY = math.sqrt(STIFFNESS / REDUCED)  # rad/s
DIGIT = np.finfo(float).eps  # of a place or speed of order one
SPEEDS = [1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6]  # m/s


def plates(speed, feet=1, damping=0.0, seed=0, far=0.0, drift=0.0, delay=0.0):
    """Feet that fly square onto a plate: a motion along one line, in axes that lie, stand and drift anyhow."""
    turn, random = Rotation.random(random_state=seed), np.random.default_rng(seed)
    away, along = (direction / np.linalg.norm(direction) for direction in random.normal(size=(2, 3)))
    normal, names = turn.apply([1.0, 0.0, 0.0]), [f"foot{i}" for i in range(feet)]
    angles = 2 * np.pi * np.arange(feet) / feet
    law = {"law": "spring-dashpot", "stiffness": STIFFNESS / feet, "damping": damping / feet}
    return {
        "duration": DURATION,
        "chaser": {
            "mass": CHASER,
            "inertia": [4.0, 4.0, 4.0],
            "position": (away * far + normal * (1.7 + 0.3 * speed)).tolist(),
            "velocity": (along * drift - normal * speed).tolist(),
            "attitude": (turn * Rotation.from_quat([0, 0, 1, 0])).as_quat(scalar_first=True).tolist(),
            "feature": {
                name: {"position": [1.0, math.cos(angle) * (feet > 1), math.sin(angle)]}
                for name, angle in zip(names, angles, strict=True)
            },
        },
        "target": {
            "mass": TARGET,
            "inertia": [8.0, 8.0, 8.0],
            "position": (away * far).tolist(),
            "velocity": (along * drift).tolist(),
            "attitude": turn.as_quat(scalar_first=True).tolist(),
            "surface": {"plate": {"shape": "plane", "point": [0.7, 0.0, 0.0], "normal": [1.0, 0.0, 0.0]}},
        },
        "contact": contacts_by_name([{"between": [name, "plate"], "normal": law} for name in names]),
        "loop": {"delay": delay},
    }


def bounced(run, content):
    """The contacts of a run, and its restitution."""
    found = run(content)
    assert found.attrs["finished"], found.attrs["status"]
    contacts = dockdyn.summarise(found)["contacts"]
    assert len(contacts) == len(content["contact"])
    before, after = (np.linalg.norm(found.velocity.values[i, 0] - found.velocity.values[i, 1]) for i in (0, -1))
    return contacts, after / before


def lasted(contact):
    return contact["release_s"] - contact["onset_s"]


def rounding(speed, drift=0.0):
    """Relative tolerance: that of the steps, and some twenty last digits against a contact's depth v/ω and speed v.

    Bodies that drift are as far away at the end as they have drifted.
    """
    return 1e-10 + 20 * DIGIT * (FREQUENCY / speed * (1 + drift * DURATION) + drift / speed)


def check_half_sine(contacts, restitution, speed, close):
    """m ẍ = −k x: a contact lasts for π √(m/k), presses with v √(k m) at most, and gives all back."""
    for contact in contacts:
        assert lasted(contact) == pytest.approx(math.pi / FREQUENCY, rel=close)
        force = speed * math.sqrt(STIFFNESS * REDUCED) / len(contacts)
        assert contact["peak_force_N"] == pytest.approx(force, rel=close)
    assert restitution == pytest.approx(1, rel=close)


@pytest.mark.full
@pytest.mark.parametrize(("far", "drift"), [(0, 0), (1e3, 0), (1e4, 0), (1e5, 0), (0, 10)])
@pytest.mark.parametrize("speed", SPEEDS)
@pytest.mark.parametrize("feet", [1, 3])
def test_an_undamped_contact_is_a_half_sine(run, feet, speed, far, drift):
    """Several feet touch within rounding of one instant, in an order that rounding chooses."""
    for seed in range(5):
        found = bounced(run, plates(speed, feet, seed=seed, far=far, drift=drift))
        check_half_sine(*found, speed, rounding(speed, drift))


def test_what_lands_on_an_event_is_as_long_as_what_found_it(load):
    """The attempt that finds an event may ask for shorter steps from now on: three feet that part from a plate 100 km away
    at 1 µm/s did so 10 µs too early."""
    content = load({"schema": 2, **plates(1e-3, 1)}, {}).content
    model, settings = content.model(), settings_for(content)
    solver = located.initial_solver(model, settings)
    landing = solver.landing.at[0].set(True)
    solver = solver._replace(refresh=jnp.asarray(False), landing=landing, limit=1e-3, step_limit=jnp.asarray(9e-4))
    step, end, _ = located._next_step(model, settings, solver, jnp.asarray(settings.step), None)
    assert (float(step), float(end)) == (1e-3, 1e-3)


@pytest.mark.full
def test_feet_that_part_far_away(run):
    """The case by which the one above was found, where the error of a step is rounding's."""
    check_half_sine(*bounced(run, plates(1e-6, 3, seed=3, far=1e5)), 1e-6, rounding(1e-6))


@pytest.mark.full
@pytest.mark.parametrize("far", [0.0, 1e3, 1e4, 1e5])
@pytest.mark.parametrize("speed", SPEEDS)
def test_a_damped_contact_is_a_damped_oscillation(run, speed, far):
    """Until the force is zero; then the bodies part freely. All of it goes with the speed."""
    damping = 20.0  # N s/m
    decay = damping / (2 * REDUCED)
    turning = math.sqrt(FREQUENCY**2 - decay**2)

    def depth(t):
        return math.exp(-decay * t) * math.sin(turning * t) / turning

    def rate(t):
        return math.exp(-decay * t) * math.cos(turning * t) - decay * depth(t)

    def force(t):
        return STIFFNESS * depth(t) + damping * rate(t)

    half = math.pi / turning
    peak = minimize_scalar(lambda t: -force(t), bounds=(0, half / 2), method="bounded", options={"xatol": 1e-9})
    ends = brentq(force, half / 2, half, xtol=1e-14)
    (contact,), restitution = bounced(run, plates(speed, damping=damping, far=far))
    close = rounding(speed)
    assert contact["peak_force_N"] == pytest.approx(-peak.fun * speed, rel=close)
    assert lasted(contact) == pytest.approx(ends - depth(ends) / rate(ends), rel=close)
    assert restitution == pytest.approx(-rate(ends), rel=close)


def in_cone(speed, far, delay):
    """The probe of Sazawal et al. 0.3 s before it touches the cone, without damping."""
    away = far * np.array([0.36, 0.48, 0.8])
    gap = 0.533 / 2 - 0.25 * math.sqrt(3) / 2
    place = [3.533 - 2 * (gap - 0.3 * speed), 0, 0.25]
    changes = {
        "body.chaser.position": (away + place).tolist(),
        "body.target.position": away.tolist(),
        "body.chaser.velocity": [-2 * speed, 0, 0],
        "contact.probe.normal.damping": 0,
        "loop.delay": delay,
        "duration": 3,
    }
    run = dockdyn.simulate(dockdyn.load("sazawal-spring-dashpot", changes))
    assert run.attrs["finished"], run.attrs["status"]
    (contact,) = dockdyn.summarise(run)["contacts"]
    energy = run.kinetic_energy.values
    return contact, float(energy[-1] / energy[0])


@pytest.mark.full
@pytest.mark.parametrize("delay", [0.0, 0.016])
@pytest.mark.parametrize("speed", [1e-2, 1e-4, 1e-6])
def test_a_probe_in_a_cone_is_the_same_far_away(speed, delay):
    """But for the instant of its onset, which the digits of the stated places leave open."""
    near, energy = in_cone(speed, 0.0, delay)
    close = rounding(speed)
    for far in (1e3, 1e4, 1e5):
        contact, kept = in_cone(speed, far, delay)
        assert lasted(contact) == pytest.approx(lasted(near), rel=close)
        assert contact["peak_force_N"] == pytest.approx(near["peak_force_N"], rel=close)
        assert kept == pytest.approx(energy, rel=close)
        assert contact["onset_s"] == pytest.approx(near["onset_s"], abs=(4 * far + 20) * DIGIT / speed)


@pytest.mark.full
def test_a_slow_probe_feels_the_effective_mass():
    """1/m† = 1/m + |r_C × n|²/J + |r_T × n|²/J of Sazawal et al., Tables 1–3: the limit of a slow contact."""
    into = np.array([-0.5, 0.0, math.sqrt(3) / 2])
    tip, place = np.array([-2.0, 0, 0]), np.array([1 + 0.25 * math.sqrt(3), 0, 0.25])
    yields = 1 / 1500 + sum(np.sum(np.cross(arm, into) ** 2) / 500 for arm in (tip, place))
    speed = 1e-6
    contact, energy = in_cone(speed, 1e4, 0.0)
    # the bodies turn while they touch: a share of the order of what they move, some v/ω of a lever
    assert lasted(contact) == pytest.approx(math.pi / math.sqrt(1000 * yields), rel=2 * speed)
    assert contact["peak_force_N"] == pytest.approx(speed * math.sqrt(1000 / yields), rel=2 * speed)
    assert energy == pytest.approx(1, rel=rounding(speed))


@pytest.mark.full
def test_margins_are_the_same_far_away():
    near, far = (
        dockdyn.margins(
            dockdyn.load("sazawal-spring-dashpot", {"body.chaser.position": chaser, "body.target.position": target})
        )
        for chaser, target in (([3.533, 0, 0.25], [0, 0, 0]), ([1003.533, 2000, 0.25], [1000, 2000, 0]))
    )
    for name in ("critical_delay_s", "delay_margin_s", "effective_mass_kg"):
        assert far[name] == pytest.approx(near[name], rel=1e-9), name
