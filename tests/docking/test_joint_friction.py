"""Dry friction and end stops of joints beside closed forms: how long and how far a body slides, how it rebounds."""

import numpy as np
import pytest
from mechanism_cases import energy_error, momentum_error, simulated
from places import DOCS
from plain_tables import by_name
from scipy.optimize import brentq

BUS, WING = {"mass": 50.0, "inertia": 11.0}, {"mass": 12.0, "inertia": 1.0}
FRICTION, RATE = 0.6, 0.5  # N m and rad/s, or N and m/s
KINDS = {"revolute": "inertia", "prismatic": "mass"}


def on_one_axis(kind, phase=None, **joint):
    """Two bodies whose joint acts through both centres of mass, about or along a principal axis, and nothing else."""
    bodies = [
        {"name": name, "mass": body["mass"], "inertia": [2.0 * body["inertia"]] * 2 + [body["inertia"]]}
        for name, body in (("bus", BUS), ("wing", WING))
    ]
    held = {"kind": kind, "position": [0.0, 0.0, 0.0], "axis": [0.0, 0.0, 1.0], "start_rate": RATE, **joint}
    bodies[0] |= {"velocity": [0.02, 0.01, -0.03], "rate": [0.0, 0.0, 0.2]}
    bodies[1] |= {"on": "bus", "position": [0.0, 0.0, 1.0], "joint": held}
    return {
        "schema": 2,
        "duration": 3.0 * reduced(kind) * RATE / FRICTION,
        "body": by_name(bodies),
        "output": {"interval": reduced(kind) * RATE / FRICTION / 40},
        **({"phase": phase} if phase else {}),
    }


def reduced(kind):
    """Of both bodies (kg m² or kg)."""
    return 1 / (1 / BUS[KINDS[kind]] + 1 / WING[KINDS[kind]])


def slowed(rate, inertia, small, time):
    """Rate and way after a time under friction alone: J dv/dt = −F v / √(v² + ε²)."""

    def duration(end):
        ends = np.array([rate, end])
        went = np.hypot(ends, small) - small * np.arcsinh(small / ends)
        return inertia / FRICTION * (went[0] - went[1])

    end = brentq(lambda log: duration(np.exp(log)) - time, np.log(small) - 150, np.log(rate), xtol=1e-14)
    ends = np.array([rate, np.exp(end)])
    way = ends * np.hypot(ends, small) + small**2 * np.arcsinh(ends / small)
    return ends[1], inertia / (2 * FRICTION) * (way[0] - way[1])


@pytest.mark.full
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("small", [1e-3, 0.05])
def test_a_body_slides_until_friction_has_stopped_it(load, kind, small):
    """As the regularised law says, and near what dry friction without it says: J v₀ / F and J v₀² / 2F."""
    data = simulated(load, on_one_axis(kind, friction=FRICTION, regularisation=small))
    inertia, times = reduced(kind), data.time.values
    sliding = times < 1.2 * inertia * RATE / FRICTION
    expected = np.array([slowed(RATE, inertia, small, time) for time in times[sliding]])
    np.testing.assert_allclose(data.joint_rate.values[sliding, 0], expected[:, 0], rtol=0, atol=1e-9)
    np.testing.assert_allclose(data.joint_angle.values[sliding, 0], expected[:, 1], rtol=0, atol=1e-9)
    stops = inertia * RATE / FRICTION
    assert np.interp(stops, times, data.joint_rate[:, 0]) < 2 * small
    share = small / RATE
    np.testing.assert_allclose(data.joint_angle[-1, 0], RATE * stops / 2, rtol=share**2 * (1 + np.log(2 / share)))
    assert energy_error(data) < 1e-9 and momentum_error(data) < 1e-12


@pytest.mark.full
def test_under_a_load_it_creeps_and_above_it_slides(load):
    """A motor below the friction turns the joint with ε T / √(F² − T²) only; above it, by what is left."""
    small, inertia = 1e-3, reduced("revolute")
    held = simulated(
        load, on_one_axis("revolute", friction=FRICTION, regularisation=small, torque=0.8 * FRICTION, start_rate=0.0)
    )
    np.testing.assert_allclose(held.joint_rate[-1, 0], small * 0.8 / 0.6, rtol=1e-6)
    loose = simulated(
        load, on_one_axis("revolute", friction=FRICTION, regularisation=small, torque=2 * FRICTION, start_rate=0.0)
    )
    way = FRICTION / (2 * inertia) * loose.time.values[-1] ** 2
    np.testing.assert_allclose(loose.joint_angle[-1, 0], way, rtol=1e-2)


@pytest.mark.full
def test_a_phase_closes_a_brake(load):
    """Without friction at first, and stopped within J v₀ / F after the phase has begun."""
    small, inertia, closes = 1e-3, reduced("revolute"), 0.4
    brake = {"when": {"lasting": closes}, "set": {"body.wing.joint.friction": FRICTION}}
    phases = {"free": {}, "brake": brake}
    data = simulated(load, on_one_axis("revolute", phases, friction=0.0, regularisation=small))
    free = data.time.values <= closes
    np.testing.assert_allclose(data.joint_rate.values[free, 0], RATE, rtol=1e-12)
    later = data.time.values[~free][:10]
    expected = [slowed(RATE, inertia, small, time - closes)[0] for time in later]
    np.testing.assert_allclose(data.joint_rate.values[~free, 0][:10], expected, rtol=0, atol=1e-9)
    assert energy_error(data) < 1e-9


@pytest.mark.full_cases("0.0-prismatic", "0.2-prismatic", "0.0-revolute")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("damping", [0.0, 0.2])  # of critical
def test_a_body_rebounds_from_an_end_stop(load, kind, damping):
    """A spring and damper that push and never pull: restitution and duration of a Kelvin–Voigt contact until its force ends
    (Schwager and Pöschel 2007, Granular Matter 9:465)."""
    inertia, gap, stiffness = reduced(kind), 0.1, 400.0
    decay = damping * np.sqrt(stiffness / inertia)
    swing = np.sqrt(stiffness / inertia - decay**2)
    stops = {"stroke": [-40.0, gap], "stop_stiffness": stiffness, "stop_damping": 2 * decay * inertia}
    data = simulated(load, on_one_axis(kind, **stops))
    lasting = (np.pi - np.arctan2(2 * decay * swing, swing**2 - decay**2)) / swing
    restitution = np.exp(-decay * lasting)
    if damping == 0.2:
        assert f"fifth of critical damping {restitution:.2f}" in (DOCS / "theory-contact.md").read_text(
            encoding="utf-8"
        )
    times, rates, ways = data.time.values, data.joint_rate.values[:, 0], data.joint_angle.values[:, 0]
    before = times < gap / RATE
    np.testing.assert_allclose(rates[before], RATE, rtol=1e-12)
    left = gap / RATE + lasting
    parted = RATE * np.exp(-decay * lasting) * np.sin(swing * lasting) / swing
    back = times > left + 0.01
    np.testing.assert_allclose(rates[back], -restitution * RATE, rtol=1e-8)
    np.testing.assert_allclose(ways[back], gap + parted - restitution * RATE * (times[back] - left), rtol=0, atol=1e-8)
    assert energy_error(data) < 1e-9
