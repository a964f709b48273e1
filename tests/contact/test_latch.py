"""Spring latches: on a line and in the throat of a cone, against closed forms and SciPy."""

import math

import numpy as np
import pytest
from helpers.refusals import refused
from latched_docking import INERTIA, MASS, SLOPE, TIP, latched, matrix
from on_a_line import SPEED, latching
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

import dockdyn
from dockdyn.impact import latch_motion, latch_ramp, latch_time, latch_travel, minimum_latching_velocity
from dockdyn.scenario.load import parse

CASES = [
    {"chaser": [9.0], "target": [31.0], "stiffness": 240, "angle": 0.6, "length": 0.015, "preload": 0, "friction": 0},
    {"chaser": [120.0], "target": [80.0], "stiffness": 900, "angle": 0.9, "length": 0.03, "preload": 4, "friction": 0},
    {
        "chaser": [9.0],
        "target": [31.0],
        "stiffness": 240,
        "angle": 0.6,
        "length": 0.015,
        "preload": 2,
        "friction": 0.25,
    },
]


def line(speed, chaser, target, length, inside=({}, {}), interval=None, **ramp):
    """A latch on a line, whose ramp is 2 mm away."""
    found = latching(
        chaser, target, ramp | {"axial_length": length}, speed=speed, gap=2e-3, inside=inside, duration="3 s"
    )
    return dockdyn.load(found, {} if interval is None else {"output.interval": interval})


def pushed(case, travel, rate):
    """Force (N) along the line by statics of the latch on the ramp: spring and preload, tilted by the angle of friction."""
    spring = case["preload"] + case["stiffness"] * travel * math.tan(case["angle"])
    return spring * math.tan(case["angle"] + math.copysign(math.atan(case["friction"]), rate))


def farthest(case, speed):
    """How far SciPy's probe comes (m) when nothing catches it."""
    mass = case["chaser"][0] * case["target"][0] / (case["chaser"][0] + case["target"][0])

    def turns(t, y):
        return y[1]

    turns.terminal = True
    turns.direction = -1
    found = solve_ivp(
        lambda t, y: [y[1], -pushed(case, *y) / mass], (0, 60), [0, speed], events=turns, rtol=1e-12, atol=1e-14
    )
    return found.y_events[0][0][0]


@pytest.mark.full
@pytest.mark.parametrize("case", CASES)
def test_least_speed_by_formula_by_simulation_and_by_scipy(case):
    formula = float(
        minimum_latching_velocity(
            case["chaser"][0],
            case["target"][0],
            case["stiffness"],
            case["angle"],
            axial_length=case["length"],
            friction=case["friction"],
            preload=case["preload"],
        )
    )
    summary = dockdyn.summarise(dockdyn.simulate(line(1.2 * formula, **case)))
    independent = brentq(lambda speed: farthest(case, speed) - case["length"], 0.5 * formula, 2 * formula, xtol=1e-11)
    assert formula == pytest.approx(independent, rel=1e-8)
    assert summary["latch.least_speed_m_s"] == pytest.approx(independent, rel=1e-6)
    assert summary["latch.least_speed_rigid_m_s"] == pytest.approx(independent, rel=1e-8)
    assert summary["captured"]
    # what is left of the relative motion is lost in the capture
    mass = case["chaser"][0] * case["target"][0] / (case["chaser"][0] + case["target"][0])
    left = 0.5 * mass * ((1.2 * formula) ** 2 - formula**2)
    assert summary["impacts"][0]["energy_loss_J"] == pytest.approx(left, rel=1e-6)
    assert summary["impacts"][0]["impulse_normal_N_s"] == pytest.approx(math.sqrt(2 * mass * left), rel=1e-6)
    slow = dockdyn.summarise(dockdyn.simulate(line(0.9 * formula, **case)))
    assert not slow["captured"]
    assert slow["latch.speed_margin_m_s"] == pytest.approx(-0.1 * formula, rel=1e-5)
    assert slow["latch.travel_m"] == pytest.approx(farthest(case, 0.9 * formula), rel=1e-5)


def test_the_greatest_travel_is_that_of_scipy_whatever_the_samples():
    """Where a weld ends the motion it is the ramp's length, at the capture; before it, where SciPy's probe turns."""
    draw = np.random.default_rng(7)
    for turn in range(4):
        case = CASES[draw.integers(len(CASES))]
        names = {"axial_length": case["length"]} | {key: case[key] for key in ("friction", "preload")}
        masses = (case["chaser"][0], case["target"][0])
        least = float(minimum_latching_velocity(*masses, case["stiffness"], case["angle"], **names))
        share = draw.uniform(0.4, 0.95) if turn % 2 else draw.uniform(1.05, 2.0)
        scenario = line(share * least, **case, interval=math.exp(draw.uniform(-7.0, -0.7)))
        summary = dockdyn.summarise(dockdyn.simulate(scenario))
        assert summary["captured"] == (share > 1)
        expected = case["length"] if share > 1 else farthest(case, share * least)
        assert summary["latch.travel_m"] == pytest.approx(expected, rel=1e-6)


def test_the_rounded_speed_of_the_paper_does_not_latch():
    summary = dockdyn.summarise(dockdyn.simulate(dockdyn.load("paraskevas-latch", {SPEED: "0.07 m/s"})))
    assert not summary["captured"]
    assert summary["latch.travel_m"] == pytest.approx(0.019760, abs=5e-7)
    assert summary["latch.least_speed_m_s"] == pytest.approx(0.0708492, abs=5e-8)


def test_time_of_capture():
    """x = (v/ω) sin ωt until the end of the ramp; the gap is passed before."""
    case = CASES[0]
    mass = 9 * 31 / 40
    frequency = math.sqrt(240 * math.tan(0.6) ** 2 / mass)
    summary = dockdyn.summarise(dockdyn.simulate(line(0.1, **case)))
    passed = 0.002 / 0.1
    expected = passed + math.asin(frequency * 0.015 / 0.1) / frequency
    assert summary["capture_time_s"] == pytest.approx(expected, abs=1e-10)
    assert float(latch_time(0.1, frequency, 0.015)) == pytest.approx(expected - passed, rel=1e-13)
    travel, _ = latch_motion(expected - passed, 0.1, frequency)
    assert float(travel) == pytest.approx(0.015, rel=1e-12)


@pytest.mark.full
def test_compliant_bodies_need_more_speed():
    """Masses behind springs: SciPy integrates the four masses and bisects the speed."""
    chaser, target, inside = [11.0, 3.0], [2.0, 20.0], (400.0, 250.0)
    case = {**CASES[0], "chaser": chaser, "target": target}
    springs = tuple({"stiffness": stiffness} for stiffness in inside)
    summary = dockdyn.summarise(dockdyn.simulate(line(0.1, inside=springs, **case)))
    masses = np.array([*chaser, *target])
    push = 240 * math.tan(0.6) ** 2

    def rates(t, y):
        q = y[:4]
        left, middle, right = inside[0] * (q[0] - q[1]), push * (q[1] - q[2]), inside[1] * (q[2] - q[3])
        return [*y[4:], *(np.array([-left, left - middle, middle - right, right]) / masses)]

    def depth(speed):
        def turns(t, y):
            return y[5] - y[6]

        turns.terminal, turns.direction = True, -1
        start = [0.0] * 4 + [speed, speed, 0, 0]
        found = solve_ivp(rates, (0, 20), start, events=turns, rtol=1e-11, atol=1e-13)
        return found.y_events[0][0][1] - found.y_events[0][0][2]

    expected = brentq(lambda speed: depth(speed) - 0.015, 0.02, 0.5, xtol=1e-10)
    assert summary["latch.least_speed_m_s"] == pytest.approx(expected, rel=1e-6)
    assert expected > 1.01 * summary["latch.least_speed_rigid_m_s"]


def flown(speed, delay=0.0, grip="pin", **more):
    """Caught by a rigid grip, its forces late by `delay` (s)."""
    text = latched(speed, f"[loop]\ndelay = {delay}", grip, duration=6.0, **more)
    return dockdyn.simulate(parse(text, "cone"))


@pytest.mark.full
def test_a_tip_on_the_axis_is_caught_as_on_a_line():
    least = math.sqrt((2 * 3 + 1000 * 0.025 * SLOPE) * 0.025 * SLOPE / MASS)
    for factor, caught in ((1 + 1e-6, True), (1 - 1e-6, False), (1.7, True)):
        dataset = flown(factor * least)
        summary = dockdyn.summarise(dataset)
        assert summary["captured"] is caught
        assert summary["latch.speed_margin_m_s"] == pytest.approx((factor - 1) * least, abs=1e-12)
        assert summary["linear_momentum_error"] < 1e-13
        assert summary["work_energy_error"] < 1e-9
    assert float(dataset.capture_speed) == pytest.approx(least * math.sqrt(1.7**2 - 1), rel=1e-9)
    assert summary["impacts"][0]["impulse_normal_N_s"] == pytest.approx(MASS * float(dataset.capture_speed), rel=1e-9)
    after = dataset.isel(time=dataset.time > summary["capture_time_s"])
    together = -700 * 1.7 * least / 2200
    np.testing.assert_allclose(after.velocity[:, :, 0], together, rtol=1e-9)
    np.testing.assert_allclose(after.latch_travel, 0.025, atol=1e-12)


@pytest.mark.full
def test_a_delayed_latch_against_the_method_of_steps():
    """m ẍ(t) = −F(x(t − h)): one delay after another, each with the dense solution of the one before."""
    delay, speed = 0.03, 0.2
    dataset = flown(speed, delay=delay)
    push, at_once = 1000 * SLOPE**2, 3 * SLOPE
    # the ramp is met at t = 0; nothing acts until one delay later
    before, start, state = (lambda t: np.array([speed * t, speed])), delay, [speed * delay, speed]

    def falls_in(t, y):
        return y[0] - 0.025

    falls_in.terminal = True
    for _ in range(40):
        found = solve_ivp(
            lambda t, y, before=before: [y[1], -(at_once + push * before(t - delay)[0]) / MASS],
            (start, start + delay),
            state,
            events=falls_in,
            dense_output=True,
            rtol=1e-12,
            atol=1e-14,
        )
        if len(found.t_events[0]):
            break
        before, start, state = found.sol, start + delay, found.y[:, -1]
    assert float(dataset.capture_time) == pytest.approx(0.01 / speed + found.t_events[0][0], abs=1e-9)
    assert float(dataset.capture_speed) == pytest.approx(found.y_events[0][0][1], rel=1e-8)
    assert float(dataset.capture_speed) > math.sqrt(speed**2 - 25e-3 * SLOPE * (6 + 25 * SLOPE) / MASS)


@pytest.mark.full
@pytest.mark.parametrize("hold", ["pin", "weld"])
def test_what_is_caught_off_the_axis_is_held(hold):
    """The tip stays where it was caught; a weld stops all relative turning; momentum is kept and energy lost only there."""
    dataset = flown(0.3, grip=hold, rate=(0.05, -0.02, 0.03), z=0.012, delay=0.03 if hold == "weld" else 0.0)
    summary = dockdyn.summarise(dataset)
    assert summary["captured"]
    assert summary["linear_momentum_error"] < 1e-13
    assert summary["angular_momentum_error"] < 1e-11
    assert summary["work_energy_error"] < 1e-8
    after = dataset.isel(time=dataset.time > summary["capture_time_s"] + 0.031)  # the last delayed force has acted
    energy = after.kinetic_energy.values
    np.testing.assert_allclose(energy, energy[0], rtol=1e-10)
    drop = summary["impacts"][0]["energy_loss_J"]
    assert drop > 0

    places, turning = [], []
    for row in (0, after.sizes["time"] // 2, -1):
        now = after.isel(time=row)
        chaser, target = (matrix(q) for q in now.attitude.values)
        tip = now.position.values[0] + chaser @ TIP
        places.append(target.T @ (tip - now.position.values[1]))
        turning.append(chaser @ now.rate.values[0] - target @ now.rate.values[1])
    np.testing.assert_allclose(places, [places[0]] * 3, atol=1e-10)
    assert np.abs(turning).max() < 1e-12 if hold == "weld" else np.abs(turning).max() > 1e-3


@pytest.mark.full
def test_loads_of_the_hold_turn_and_push_the_chaser():
    """Newton and Euler for the caught chaser, with the reported force and moment about its centre of mass."""
    dataset = flown(0.3, grip="weld", rate=(0.05, -0.02, 0.03), z=0.012, delay=0.03)
    after = dataset.isel(time=dataset.time > float(dataset.capture_time) + 0.04)
    point = list(after.point.values).index("chaser centre of mass")
    rate = after.rate.values[:, 0]
    torque = np.gradient(rate, after.time.values, axis=0, edge_order=2) @ INERTIA + np.cross(rate, rate @ INERTIA)
    scale = np.abs(torque).max()
    np.testing.assert_allclose(after.load_moment.values[5:-5, point], torque[5:-5], atol=1e-4 * scale)
    push = 700 * np.gradient(after.velocity.values[:, 0], after.time.values, axis=0, edge_order=2)
    size = np.linalg.norm(after.load_force.values[:, point], axis=1)
    np.testing.assert_allclose(size[5:-5], np.linalg.norm(push, axis=1)[5:-5], rtol=1e-3)


@pytest.mark.parametrize(
    ("preset", "overrides", "words"),
    [
        (
            "paraskevas-latch",
            {"latch.capture.ramp.axial_length": "20 mm", "latch.capture.ramp.lateral_length": "20 mm"},
            "give not both",
        ),
        ("paraskevas-latch", {"latch.capture.ramp.angle": "95 deg"}, "ramp.angle"),
        ("paraskevas-latch", {"latch.capture.ramp.friction": 1.5}, "where the probe jams"),
        ("paraskevas-latch", {"latch.capture.ramp.stiffness": 0}, "ramp.stiffness"),
        ("paraskevas-latch", {"latch.capture.ramp.preload": "-1 N"}, "ramp.preload"),
        ("paraskevas-latch", {"body.chaser.mass": -3}, "body.chaser.mass"),
        (
            "paraskevas-latch",
            {"latch.capture.lateral": "1 mm"},
            "lateral: on a line nothing is across it; must be left out",
        ),
        ("paraskevas-latch", {"latch.capture.anchor": [[0, 0, 0], [0.02, 0, 0]]}, "anchor"),
        ("probe-cone-latch", {"latch.capture.surface": "nozzle"}, "no such surface"),
        ("probe-cone-latch", {"latch.capture.entry": "30 mm"}, "where the tip cannot come"),
        ("probe-cone-latch", {"latch.capture.grip": "glue"}, "latch.capture.grip"),
        ("probe-cone-latch", {"latch.capture.entry": "-1 mm"}, "latch.capture.entry"),
    ],
)
def test_wrong_latches_are_refused_in_one_line(preset, overrides, words):
    with refused(match=words):
        dockdyn.load(preset, overrides)


def test_lengths_and_ramps_of_the_library():
    assert float(latch_travel(0.5, lateral_length=0.01)) == pytest.approx(0.01 / math.tan(0.5))
    with pytest.raises(ValueError, match="jams"):
        latch_ramp(100.0, 1.2, 0.01, friction=0.5)
