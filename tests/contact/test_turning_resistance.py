"""Rolling and spinning resistance: against closed forms, and itself turned and late."""

import numpy as np
import pytest
from contact_benchmarks import (
    FORCE,
    GRAVITY,
    LENGTH,
    REGULARISATION,
    ROLLS,
    SPEED,
    STIFFNESS,
    ball_between_rails,
    ball_that_rolls,
    disc_that_spins,
    inertial_rates,
    rolling_ball,
    slowed_rate,
    stopping_time,
)
from helpers.refusals import refused
from sticking_ball import INERTIA, MASS, RADIUS

import dockdyn

ROLLING, SPINNING = 4e-5, 6e-5  # m


def smooth(**others):
    """Return friction without sliding friction that resists turning."""
    lengths = {"rolling": ROLLING, "spinning": SPINNING, "turning_regularisation": REGULARISATION}
    return {"law": "coulomb", "coefficient": 0.0} | lengths | others


@pytest.mark.full
@pytest.mark.parametrize("kind", ["rolls", "spins", "both"])
def test_what_turns_between_plates_comes_to_rest(load, kind):
    """Rolling and spinning fade each by itself: of a ball the rates along and about the normal are those of two equations."""
    rolls, spins = (kind != "spins") * np.array([0.9, -1.2, 0.0]), (kind != "rolls") * np.array([0.0, 0.0, 2.0])
    friction = smooth()
    if kind != "both":  # the other length is zero where it is not stated
        del friction["spinning" if kind == "rolls" else "rolling"]
    run = dockdyn.simulate(load(ball_between_rails(rolls + spins, friction)))
    rates = inertial_rates(run)
    for time in (0.5, 1.2, 2.0):
        found = rates[np.searchsorted(run.time.values, time - 1e-9)]
        for start, length, part in ((rolls, ROLLING, found * [1, 1, 0]), (spins, SPINNING, found * [0, 0, 1])):
            size = np.linalg.norm(start)
            if size:
                left = slowed_rate(size, 2 * length * FORCE / INERTIA, time)
                assert part == pytest.approx(left * start / size, abs=1e-8 * size)
            else:
                assert part == pytest.approx(np.zeros(3), abs=1e-12)
    assert np.linalg.norm(rates[-1]) < REGULARISATION
    lost = run.contact_loss.values.sum(axis=1)
    assert run.kinetic_energy.values + lost == pytest.approx(run.kinetic_energy.values[0], rel=1e-9)
    assert np.diff(lost).min() > -1e-12 * lost[-1]


@pytest.mark.full
def test_a_disc_spins_to_rest(load):
    """Its rate and the angle until then."""
    tables, expected = disc_that_spins()
    run = dockdyn.simulate(load(tables))
    assert inertial_rates(run)[50, 2] == pytest.approx(expected["rate"], rel=1e-8)
    assert float(run["rotation"].sel(body="ball", axis="z")[-1]) == pytest.approx(expected["angle"], rel=1e-8)
    assert abs(inertial_rates(run)[-1, 2]) < 1e-6


@pytest.mark.full
def test_a_ball_rolls_to_rest_as_long_and_far_as_it_should(load):
    """After v/a and v²/(2 a), a = g c R / (R² + I/m)."""
    tables, expected = ball_that_rolls()
    slowing, slip = expected["slowing"], expected["slip"]
    run = dockdyn.simulate(load(tables))
    time, rolls = run.time.values, inertial_rates(run)[:, 1]
    quick = rolls > 0.4  # rad/s, of 5: there resistance is full but for 1e-4 of it
    assert quick.sum() > 30
    start = (SPEED - slip) / RADIUS
    assert rolls[quick] == pytest.approx(start - slowing / RADIUS * time[quick], abs=2e-5 * start)
    place = run["position"].sel(body="ball", axis="x").values
    assert place[quick] == pytest.approx(SPEED * time[quick] - slowing * time[quick] ** 2 / 2, rel=1e-4)
    assert place[-1] == pytest.approx(expected["way"], rel=1e-3)
    assert stopping_time(run) == pytest.approx(expected["time"], rel=1e-3)
    assert abs(rolls[-1]) < ROLLS / 50


@pytest.mark.full
def test_a_ball_that_sticks_rolls_to_rest_and_stays(load):
    """The springs take the last θ = c N / K of the way back, or half of it where nothing damps; then it stays."""
    coefficient, ratio = 0.3, 0.8
    friction = {"law": "stick-slip", "coefficient": coefficient, "stiffness_ratio": ratio, "rolling": LENGTH}
    friction["retardation_time"] = 0.02
    run = dockdyn.simulate(load(rolling_ball(friction, 0.0, 5.0)))
    slowing = GRAVITY * LENGTH * RADIUS / (RADIUS**2 + INERTIA / MASS)
    stretch = LENGTH * MASS * GRAVITY / (ratio * STIFFNESS * (LENGTH / coefficient) ** 2)  # rad, at which it slips
    place = run["position"].sel(body="ball", axis="x").values
    full = SPEED**2 / (2 * slowing)
    assert stretch * RADIUS < 1e-3 * full
    assert full - 1.01 * stretch * RADIUS < place[-1] < full - 0.49 * stretch * RADIUS
    assert np.ptp(place[run.time.values > 4.0]) < 1e-3 * stretch * RADIUS
    assert np.abs(inertial_rates(run)[-1]).max() < 1e-4


@pytest.mark.full
@pytest.mark.parametrize("way", ["rolling", "spinning"])
def test_what_turns_less_than_it_may_swings(load, way):
    """Springs of κ k L² on either side with L = c/μ: θ = ω₀ sin(Ω t)/Ω with I Ω² = 2 κ k L²."""
    length, coefficient, stiffness, start = 5e-4, 0.25, 3e5, 0.02
    friction = {"law": "stick-slip", "coefficient": coefficient, "stiffness": stiffness, way: length}
    rate = [0.0, 0.0, start] if way == "spinning" else [0.6 * start, -0.8 * start, 0.0]
    turning = 2 * stiffness * (length / coefficient) ** 2
    if way == "rolling":  # it slides, too, on the plates: they hold it by the same springs at its radius
        turning += 2 * stiffness * RADIUS**2
    frequency = np.sqrt(turning / INERTIA)
    tables = ball_between_rails(rate, friction, 0.5)
    found = inertial_rates(dockdyn.simulate(load(tables)))
    assert 2 * length * FORCE > 1.1 * start / frequency * turning * (
        length / coefficient / RADIUS if way == "rolling" else 1
    )
    expected = np.cos(frequency * np.arange(len(found)) * 0.01)[:, None] * rate
    assert found == pytest.approx(expected, abs=1e-6 * start)


@pytest.mark.full
def test_a_late_torque_acts_one_delay_later(load):
    """Nothing acts before t = h; then a ball slows as its rate one delay ago tells, here by a constant torque."""
    delay, start = 0.03, 2.0
    tables = ball_between_rails([0.0, 0.0, start], smooth(turning_regularisation=1e-4), 0.6)
    run = dockdyn.simulate(load(tables | {"loop": {"delay": delay}}))
    slowing = 2 * SPINNING * FORCE / INERTIA
    expected = start - slowing * np.maximum(run.time.values - delay, 0.0)
    assert expected.min() > 1.0
    assert inertial_rates(run)[:, 2] == pytest.approx(expected, abs=1e-8 * start)
    moment = run["contact_moment"].sel(axis="z").values[run.time.values > delay + 1e-9]
    assert moment == pytest.approx(-SPINNING * FORCE, rel=1e-8)


@pytest.mark.full
def test_the_delay_that_what_sticks_bears_as_it_turns(load):
    """Of I θ̈ = −K (θ + τ θ̇) one delay ago the critical one is atan(ω τ)/ω, with I² ω⁴ = K² (1 + ω² τ²)."""
    time, length, coefficient, stiffness = 2e-3, 1e-2, 0.25, 3e5
    friction = {"law": "stick-slip", "coefficient": coefficient, "stiffness": stiffness, "retardation_time": time}
    tables = ball_between_rails([0.0, 0.0, 0.0], friction | {"spinning": length}, 0.1, loop={"delay": 1e-4})
    for contact in tables["contact"].values():
        contact["normal"]["damping"] = 400.0
    tables["body"]["ball"] |= {"inertia": [1.0, 1.0, INERTIA], "mass": 50.0}  # what rolls and slides bears more
    turning = 2 * stiffness * (length / coefficient) ** 2
    roots = np.roots([INERTIA**2, -((time * turning) ** 2), -(turning**2)])
    frequency = np.sqrt(roots.max())
    assert dockdyn.margins(load(tables))["critical_delay_s"] == pytest.approx(
        np.arctan(frequency * time) / frequency, rel=1e-9
    )


GRIPPING = """
import jax.numpy as jnp

import dockdyn
from dockdyn import parameter


class Gripping(dockdyn.Friction):
    length: float = parameter("m", "a length", least=0)

    def force(self, normal_force, sliding):
        return sliding * 0.0

    def resists_turning(self):
        return True

    def torque(self, normal_force, normal, turning):
        return turning * (-self.length * normal_force)
"""


@pytest.mark.full
def test_a_law_of_ones_own_may_resist_turning(load, own_files):
    """A torque in proportion to the rate: ω falls as exp(−2 c N t / I), whatever the axis."""
    own_files({"gripping.py": GRIPPING})
    tables = ball_between_rails([0.4, -0.3, 1.2], {"law": "gripping:Gripping", "length": 3e-5})
    run = dockdyn.simulate(load(tables))
    left = np.exp(-2 * 3e-5 * FORCE / INERTIA * run.time.values)
    assert inertial_rates(run) == pytest.approx(left[:, None] * [0.4, -0.3, 1.2], abs=1e-9)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"rolling": -1e-3}, ("rolling", "at least 0")),
        ({"spinning": "1 rad"}, ("spinning", "a length")),
        ({"turning_regularisation": 0}, ("turning_regularisation",)),
        ({"turning_regularisation": 1e-3}, ("turning_regularisation", "rolling or spinning")),
        ({"law": "stick-slip", "rolling": 1e-3}, ("rolling", "coefficient must be above 0")),
        ({"law": "stick-slip", "coefficient": 0.1, "turning_regularisation": 1e-3}, ("turning_regularisation",)),
    ],
)
def test_refused_keys(load, change, words):
    with refused("contact.low.friction", *words):
        load(ball_between_rails([0, 0, 0], {"law": "coulomb", "coefficient": 0.0, **change}))
