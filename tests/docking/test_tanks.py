"""Tanks whose liquid sloshes: closed forms of frequency, force and wave, balances of a docking, what is refused."""

import numpy as np
import pytest
from helpers.refusals import refused
from mechanism_cases import at, energy_error, simulated
from scipy.spatial.transform import Rotation
from scipy.special import jnp_zeros
from tank_cases import DENSITY, FILL, FREQUENCY, FUEL, RADIUS, RATIO, STANDING, START, TANKER

import dockdyn
from dockdyn.docking.run_warnings import mechanism_doubts
from dockdyn.studies.cases.batch import run_cases

ROOT = jnp_zeros(1, 1)[0]


def swinging(time, start, rate, ratio):
    """Coordinate of a damped oscillator that is let go, and its acceleration."""
    damped, decay = rate * np.sqrt(1 - ratio**2), ratio * rate
    moved = start * np.exp(-decay * time) * (np.cos(damped * time) + decay / damped * np.sin(damped * time))
    speed = -start * np.exp(-decay * time) * rate**2 / damped * np.sin(damped * time)
    return moved, -(rate**2) * moved - 2 * decay * speed


def test_a_liquid_in_a_tank_that_stands_swings_as_stated(load):
    """Its frequency, decay, force on the tank m ẍ and wave are Abramson's, in both directions across the axis."""
    data = simulated(load, STANDING)
    full = ROOT * FILL / RADIUS
    mass = DENSITY * np.pi * RADIUS**2 * FILL * 2 * np.tanh(full) / (full * (ROOT**2 - 1))
    waves = [swinging(data.time.values, start, 2 * np.pi * FREQUENCY, RATIO) for start in START]
    moved = np.stack([one for one, _ in waves], axis=1)
    needed = mass * np.stack([one for _, one in waves], axis=1)
    joints = [str(name) for name in data.joint.values]
    travel = data.joint_angle.values[:, [joints.index("fuel.guide1"), joints.index("fuel.slosh1")]]
    np.testing.assert_allclose(travel, moved, atol=1e-8)
    force = data.joint_force.values[:, joints.index("fuel")]
    np.testing.assert_allclose(force, np.column_stack([0 * moved[:, 0], needed]), atol=1e-6 * np.abs(needed).max())
    summary = dockdyn.summarise(data)
    assert summary["tank.fuel.frequency_Hz"] == pytest.approx(FREQUENCY, rel=1e-12)
    assert summary["tank.fuel.slosh_mass_kg"] == pytest.approx(mass, rel=1e-12)
    assert summary["tank.fuel.peak_force_N"] == pytest.approx(np.hypot(*needed.T).max(), rel=1e-6)
    rise = 2 * ROOT * np.tanh(full) / (ROOT**2 - 1)  # of the free surface at the wall, for 1 m of the mass
    assert summary["tank.fuel.peak_wave_m"] == pytest.approx(rise * np.hypot(*START), rel=1e-9)


def test_an_acceleration_says_the_frequency(load):
    """ω² = a λ tanh(λ h/R)/R; of several modes one acceleration."""
    tank = {key: value for key, value in FUEL.items() if key != "frequency"} | {"acceleration": 0.03, "modes": 3}
    content = load(at(STANDING, {"tank.fuel": tank})).content
    roots = jnp_zeros(1, 3)
    rates = np.sqrt(0.03 * roots / RADIUS * np.tanh(roots * FILL / RADIUS))
    np.testing.assert_allclose(content.tank[0].frequencies(), rates / (2 * np.pi), rtol=1e-12)


@pytest.mark.full
def test_a_pendulum_swings_as_thrust_presses_it(load):
    """A vehicle so heavy that its liquid does not move it is accelerated: ω² = a λ tanh(λ h/R)/R."""
    mass, acceleration, start = 1e9, 0.05, 1e-3
    liquid = DENSITY * np.pi * RADIUS**2 * FILL
    vehicle = {"mass": mass, "inertia": [1e9, 1e9, 1e9]}
    thrust = {"body": "tug", "position": [0, 0, 0], "direction": [1, 0, 0], "force": (mass + liquid) * acceleration}
    tank = {key: value for key, value in FUEL.items() if key != "frequency"}
    tank |= {"on": "tug", "position": [0, 0, 0], "model": "pendulum", "acceleration": acceleration, "start": [0, start]}
    data = simulated(
        load,
        {"schema": 2, "duration": 12.0, "body": {"tug": vehicle}, "thruster": {"main": thrust}, "tank": {"fuel": tank}},
    )
    wave = ROOT / RADIUS * np.tanh(ROOT * FILL / RADIUS)
    moved, _ = swinging(data.time.values, start, np.sqrt(acceleration * wave), RATIO)
    angle = data.joint_angle.sel(joint="fuel.slosh1").values
    np.testing.assert_allclose(np.sin(angle) / wave, moved, atol=1e-5 * start)


@pytest.mark.full
def test_a_docking_with_two_tanks_keeps_momenta_and_energy(load):
    """One tank across the docking axis, one with two modes; the figures of a batch are those of the run, of its own fill.

    A port bears what touches the vehicle, whatever its liquids do, and samples too far apart for the forces are told."""
    port = {"ring": {"position": [1.5, 0.0, 0.0], "axis": [1.0, 0.0, 0.0]}}
    scenario = load(at(TANKER, {"body.chaser.port": port}))
    data = dockdyn.simulate(scenario)
    assert data.episode_peak_force.values.max() > 50
    for name in ("linear_momentum", "angular_momentum"):
        change = data[name].values - data[name].values[0]
        assert np.abs(change).max() < 1e-10 * data[f"{name}_scale"].values.max()
    assert energy_error(data) < 1e-6
    turn = Rotation.from_quat(data.attitude.sel(body="chaser").values, scalar_first=True)
    touching = turn.apply(data.contact_force.values[:, 0], inverse=True)
    np.testing.assert_allclose(data.load_force.sel(point="chaser ring").values, touching, atol=1e-9)
    assert not mechanism_doubts(data)
    (doubt,) = mechanism_doubts(data.isel(time=slice(None, None, 100)))
    assert "tank.NAME.peak_force may be too small; state output.interval = " in doubt
    summary = dockdyn.summarise(data)
    asked = [f"tank.{tank}.{figure}" for tank in ("fuel", "oxidiser") for figure in ("peak_force_N", "peak_wave_m")]
    found = run_cases(scenario, ["tank.fuel.fill"], np.array([[FILL], [0.3]]), figures=asked).figures
    for name in asked:
        assert found[name][0] == pytest.approx(summary[name], rel=1e-6)
        assert found[name][1] != pytest.approx(summary[name], rel=1e-3)


WRONG = {
    "no body": ({"tank.fuel.on": "stnd"}, ["tank.fuel.on = 'stnd'", "no such body", "'stand'"]),
    "a body's name": ({"tank": {"ledge": FUEL}}, ["tank.ledge", "body.ledge", "must have another"]),
    "no liquid": ({"tank.fuel.density": None}, ["tank.fuel", "mass, density", "one of the two"]),
    "two masses": ({"tank.fuel.mass": 3.0}, ["mass, density", "one of the two"]),
    "no spring": ({"tank.fuel.frequency": None}, ["frequency, acceleration", "one of the two"]),
    "two springs": ({"tank.fuel.acceleration": 0.1}, ["frequency, acceleration", "one of the two"]),
    "a pendulum's frequency": ({"tank.fuel.model": "pendulum"}, ["tank.fuel", "frequency", "as thrust makes it"]),
    "a pendulum's damping": (
        {"tank.fuel.model": "pendulum", "tank.fuel.frequency": None},
        ["tank.fuel", "acceleration: missing", "damping_ratio"],
    ),
    "radius": ({"tank.fuel.radius": "0 m"}, ["tank.fuel.radius", "'0 m'", "greater than 0 m"]),
    "fill": ({"tank.fuel.fill": "2 kg"}, ["tank.fuel.fill", "'2 kg'"]),
    "modes": ({"tank.fuel.modes": 4}, ["tank.fuel.modes = 4", "3"]),
    "a sphere's fill": ({"tank.fuel.shape": "sphere", "tank.fuel.fill": 0.88}, ["tank.fuel", "fill", "5 to 92 %"]),
    "a sphere's modes": ({"tank.fuel.shape": "sphere", "tank.fuel.modes": 2}, ["tank.fuel", "modes", "must be 1"]),
    "millimetres of fill": ({"tank.fuel.fill": 500.0}, ["tank.fuel", "fill: 500 m", "over 20 radii", "mm"]),
    "start": ({"tank.fuel.start": [3.0, 0.0]}, ["tank.fuel", "start: beyond the radius"]),
    "a body on it": (
        {"body.buoy": {"mass": 1.0, "inertia": [1, 1, 1], "position": [0, 0, 0], "on": "fuel"}},
        ["body.buoy.on = 'fuel'", "liquid of a tank", "must be a body"],
    ),
    "axis": ({"tank.fuel.axis": [0, 0, 0]}, ["tank.fuel.axis", "zero vector"]),
    "millimetres": ({"tank.fuel.position": [900.0, 0, 0]}, ["tank.fuel.position.0", "mm"]),
    "on a line": ({"motion": "line"}, ["tank", "across the axis", "'space'"]),
    "out of the plane": ({"motion": "plane", "tank.fuel.axis": [1, 0, 1]}, ["tank.fuel.axis", "x–y plane"]),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_tanks_are_refused_in_one_line(load, name):
    changes, words = WRONG[name]
    with refused(*words):
        load(at(STANDING, changes))
