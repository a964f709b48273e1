"""The preset `flexible-pair-in-orbit`: impact, orbit and controlled motion beside equations that are written down here."""

import numpy as np
import pytest
import tomlkit
from flexible_cases import cantilever, integral
from scipy.integrate import solve_ivp
from scipy.linalg import expm
from scipy.spatial.transform import Rotation
from struck_states import impacts

import dockdyn
from dockdyn import impact
from dockdyn.scenario.preset_files import preset_text

NAME = "flexible-pair-in-orbit"
MU, RADIUS = 3.986004418e14, 6.778e6  # m³/s², m
CHASER, TARGET = 0, 3  # numbers of the buses among the bodies

pytestmark = pytest.mark.full


def tables():
    return tomlkit.parse(preset_text(NAME)).unwrap()


class Modes:
    """Modes of a clamped beam, in the axes of its bus: masses, momenta, angular momenta about the root, frequencies."""

    def __init__(self, beam):
        length, line, axis, across = (
            np.asarray(beam[key], float) for key in ("length_", "mass_per_length", "axis", "across")
        )
        shapes = cantilever(max(beam["bending_modes"]))
        self.rows = []
        for way, stiff, count in zip(
            (across, np.cross(axis, across)), beam["bending_stiffness"], beam["bending_modes"], strict=True
        ):
            for shape, _, beta in shapes[:count]:
                mass = line * length * integral(lambda s, f=shape: f(s) ** 2)
                linear = line * length * integral(shape) * way
                angular = line * length**2 * integral(lambda s, f=shape: s * f(s)) * np.cross(axis, way)
                self.rows.append((mass, linear, angular, beta**2 * np.sqrt(stiff / line / length**4)))
        if beam["twist_modes"]:
            polar = beam["polar_inertia"] * length
            rate = np.pi / 2 * np.sqrt(beam["torsion"] / beam["polar_inertia"]) / length
            self.rows.append((polar / 2, np.zeros(3), polar * 2 / np.pi * axis, rate))


def number(stated):
    """A length, a stiffness … stated as text with its unit, or bare."""
    return float(str(stated).split()[0])


def spacecraft(bodies, bus, panels):
    """Mass matrix of velocity (axes of the bus), rate, the boom's hinge if it has one, and all modes; stiffness and damping."""
    hinges = [body for body in panels if body["joint"]["kind"] == "revolute"]
    first, columns = 6 + len(hinges), []
    inertias = [(number(bus["mass"]), np.diag(bus["inertia"]), np.zeros(3), None)]
    for body in panels:
        inertias.append((number(body["mass"]), np.diag(body["inertia"]), np.array(body["position"], float), body))
        beam = dict(body["flexible"])
        beam |= {"length_": number(beam["length"]), "mass_per_length": number(beam["mass_per_length"])}
        beam |= {"polar_inertia": number(beam["polar_inertia"]), "torsion": number(beam["torsional_stiffness"])}
        root = np.array(body["position"], float) + beam["root"]
        columns += [(body, root, beam["damping_ratio"], *row) for row in Modes(beam).rows]
    size = first + len(columns)
    mass, damping, stiffness = np.zeros((3, size, size))

    def moved(place, body):
        """Velocity of a place of a body and its rate, of all velocities."""
        velocity, rate = np.zeros((2, 3, size))
        velocity[:, :3], velocity[:, 3:6], rate[:, 3:6] = np.eye(3), np.cross(np.eye(3), place).T, np.eye(3)
        if body in hinges:
            axis, pivot = np.array(body["joint"]["axis"], float), np.array(body["joint"]["position"], float)
            velocity[:, 6], rate[:, 6] = np.cross(axis, place - pivot), axis
        return velocity, rate

    for own, inertia, place, body in inertias:
        velocity, rate = moved(place, body)
        mass += own * velocity.T @ velocity + rate.T @ inertia @ rate
    for index, (body, root, ratio, modal, linear, angular, frequency) in enumerate(columns, start=first):
        velocity, rate = moved(root, body)
        coupling = linear @ velocity + angular @ rate
        mass[index] += coupling
        mass[:, index] += coupling
        mass[index, index] += modal
        stiffness[index, index] = modal * frequency**2
        damping[index, index] = 2 * ratio * modal * frequency
    for body in hinges:
        stiffness[6, 6], damping[6, 6] = number(body["joint"]["stiffness"]), number(body["joint"]["damping"])
    return mass, damping, stiffness


def both(content):
    body = list(content["body"].values())
    return [spacecraft(body, body[CHASER], body[1:3]), spacecraft(body, body[TARGET], body[4:5])]


def test_the_impact_is_that_of_the_law_on_the_mass_matrix():
    """So near the start nothing has bent yet: jumps of both buses, impulse and loss by `impact` on matrices of this file."""
    content = tables()
    content["approach"]["distance"] = 1e-7
    del content["integrator"]
    (_, before, after), *_ = impacts(content | {"duration": 1e-3, "output": {"interval": 1e-3}})
    turns, places = before.turn[[CHASER, TARGET]], before.position[[CHASER, TARGET]]
    normal = turns[1] @ [1.0, 0, 0]
    ball = places[0] + turns[0] @ np.array([1.6, 0.3, -0.2])
    axes = [normal, *np.linalg.svd(normal[None])[2][1:]]
    masses, rows = [one[0] for one in both(content)], []
    for turn, place, mass, sign in zip(turns, places, masses, (1, -1), strict=True):
        lever = turn.T @ (ball - 0.02 * normal - place)
        row = np.zeros((3, len(mass)))
        row[:, :3] = [turn.T @ axis for axis in axes]
        row[:, 3:6] = [np.cross(lever, turn.T @ axis) for axis in axes]
        rows.append(sign * row)
    matrix = sum(row @ np.linalg.solve(mass, row.T) for row, mass in zip(rows, masses, strict=True))
    start = [
        np.concatenate([turn.T @ before.velocity[k], before.rate[k]])
        for turn, k in zip(turns, (CHASER, TARGET), strict=True)
    ]
    moving = sum(row[:, :6] @ one for row, one in zip(rows, start, strict=True))
    expected = impact.resolve_impact("energy-pair", matrix, moving, energy_ratio=0.75, friction_ratio=0.9)
    assert after.impulse[0] - before.impulse[0] == pytest.approx(float(expected.impulse[0]), rel=1e-10)
    assert before.work - after.work == pytest.approx(float(expected.energy_loss), rel=1e-9)
    for turn, k, mass, row in zip(turns, (CHASER, TARGET), masses, rows, strict=True):
        jump = np.linalg.solve(mass, row.T @ np.asarray(expected.impulse))[:6]
        found = np.concatenate([turn.T @ (after.velocity[k] - before.velocity[k]), after.rate[k] - before.rate[k]])
        np.testing.assert_allclose(found, jump, rtol=1e-9, atol=1e-10 * np.abs(jump).max())


@pytest.fixture(scope="module")
def flown():
    return dockdyn.simulate(dockdyn.load(NAME))


def test_both_fall_together_as_kepler_says(flown):
    """The common centre of mass is that of a point mass beside the reference, through impact, bending and control."""
    summary = dockdyn.summarise(flown)
    assert max(summary["linear_momentum_error"], summary["angular_momentum_error"]) < 1e-10
    assert summary["work_energy_error"] < 1e-8
    weights = np.array([number(body["mass"]) for body in tables()["body"].values()])
    place, speed = (
        np.einsum("b,tbx->tx", weights, flown[name].values) / weights.sum() for name in ("position", "velocity")
    )

    def rates(time, state):
        angle = np.sqrt(MU / RADIUS**3) * time
        reference = RADIUS * np.array([np.cos(angle), np.sin(angle), 0])
        radius = reference + state[:3]
        return np.concatenate([state[3:], MU * reference / RADIUS**3 - MU * radius / np.linalg.norm(radius) ** 3])

    time = flown.time.values
    found = solve_ivp(
        rates, time[[0, -1]], np.concatenate([place[0], speed[0]]), "DOP853", time, rtol=1e-12, atol=1e-14
    )
    straight = place[0] + np.outer(time, speed[0])
    assert np.abs(found.y[:3].T - straight).max() > 1e-4  # m: gravity does count
    np.testing.assert_allclose(place, found.y[:3].T, rtol=0, atol=3e-8)


def test_the_wheel_turns_the_chaser_back_as_a_linear_model_does(flown):
    """Bus, panels and wheel from the impact on: M q̈ + C q̇ + K q = 0 of this file, by the matrix exponential."""
    content = tables()
    mass, damping, stiffness = both(content)[0]
    control = content["control"]
    stiffness[3:6, 3:6] += number(control["base_stiffness"]) * np.eye(3)
    damping[3:6, 3:6] += number(control["base_damping"]) * np.eye(3)
    size, time = len(mass), flown.time.values
    system = np.block(
        [[np.zeros((size, size)), np.eye(size)], [-np.linalg.solve(mass, stiffness), -np.linalg.solve(mass, damping)]]
    )
    onset = float(flown.episode_onset[0])
    first = int(np.argmax(time > onset))
    turns = Rotation.from_quat(flown.attitude.values[:, CHASER], scalar_first=True)
    error = (turns[0].inv() * turns).as_rotvec()
    modes = [flown[name].values[first, : size - 6] for name in ("modal_coordinate", "modal_rate")]
    moving = turns[first].inv().apply(flown.velocity.values[first, CHASER])
    state = np.concatenate([np.zeros(3), error[first], modes[0], moving, flown.rate.values[first, CHASER], modes[1]])
    step, found = expm(system * (time[first + 1] - time[first])), [state]
    for _ in time[first + 1 :]:
        found.append(step @ found[-1])
    angles = np.array(found)[:, 3:6]
    peak = np.abs(error).max()
    assert peak > np.deg2rad(0.3) and np.linalg.norm(error[-1]) < 0.02 * peak
    np.testing.assert_allclose(error[first:], angles, rtol=0, atol=0.01 * peak)
