"""Invariants: momentum, energy, passivity, frames, units, roles and repetition, over random dockings.

Every random docking starts with a ball just off the wall of a cone, closing at a drawn speed, while both bodies, with
full inertia tensors, turn at up to 0.5 rad/s about any axis.
"""

from __future__ import annotations

import copy

import jax.monitoring
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

import dockdyn
from dockdyn.scenario.language.units import SMALLEST

DURATION = 5.0  # s
INTERVAL = 0.1  # s, between samples


def examples(count):
    """Settings of a random test: the same `count` cases in every run, no time limit on any."""
    return settings(
        max_examples=count,
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
    )


# --- random dockings -------------------------------------------------------------------------------------------------


def vector(pick, most):
    """A vector at most `most` long."""
    return np.array([pick(-most, most) for _ in range(3)]) / 3**0.5


def rotation(pick):
    return Rotation.from_rotvec(vector(pick, np.pi * 3**0.5))


def quaternion(turn):
    return turn.as_quat(scalar_first=True)


def inertia(pick, mass):
    """A tensor that a body can have: masses at chosen distances (m) along turned axes."""
    spread = mass * np.array([pick(0.2, 0.8) for _ in range(3)]) ** 2
    turn = rotation(pick).as_matrix()
    tensor = turn @ np.diag(spread.sum() - spread) @ turn.T
    return (tensor + tensor.T) / 2


def docking(pick, law="spring-dashpot", delay=None, friction=None, frequency=None, damped=True):
    """A docking as a scenario; every number that is not given is `pick(low, high)`.

    `frequency` (rad/s) is that of the contact's spring with the reduced mass; the levers make contacts faster.
    """
    masses = np.exp([pick(np.log(200), np.log(5000)) for _ in range(2)])  # kg
    reduced = masses.prod() / masses.sum()
    frequency = pick(0.5, 3.0) if frequency is None else frequency
    rates = [vector(pick, 0.5), vector(pick, 0.5)]  # rad/s, body axes
    turns = [rotation(pick), rotation(pick)]
    origin, drift, tip = vector(pick, 2.0), vector(pick, 0.05), vector(pick, 1.5)

    frame = rotation(pick).as_matrix()  # columns: the cone's axis and two across
    apex, half_angle = vector(pick, 1.0), np.radians(pick(20, 60))
    around, distance = pick(0, 2 * np.pi), pick(0.3, 1.0)
    radius, closing = 0.05, pick(0.02, 0.05)
    gap = 0.01 * closing  # 10 ms away: the turning bodies' accelerations (1 m/s² at most) cannot turn it back
    outward = np.cos(around) * frame[:, 1] + np.sin(around) * frame[:, 2]
    along_wall = np.cos(half_angle) * frame[:, 0] + np.sin(half_angle) * outward
    normal = np.sin(half_angle) * frame[:, 0] - np.cos(half_angle) * outward
    centre = turns[1].apply(apex + distance * along_wall + (radius + gap) * normal)

    # the ball's velocity over the wall: closing, and sliding across
    slope = pick(0, 2 * np.pi)
    across = np.cos(slope) * along_wall + np.sin(slope) * np.cross(normal, along_wall)
    relative = turns[1].apply(pick(0, 0.05) * across - closing * normal)
    velocity = drift + np.cross(turns[1].apply(rates[1]), centre) + relative
    lever = turns[0].apply(tip)

    normal_law = {
        "spring-dashpot": lambda k: {
            "stiffness": k,
            "damping": 2 * pick(0, 0.3) * damped * k / frequency,
            "adhesion": False,
        },
        # at the depth of a few centimetres these are about as stiff
        "hertz": lambda k: {"stiffness": 5 * k, "exponent": 1.5},
        "hunt-crossley": lambda k: {"stiffness": 5 * k, "exponent": 1.5, "damping": pick(0, 20)},
        "force-stroke": lambda k: {
            "stroke": [0.0, 0.01, 0.03],
            "force": [0.0, 0.012 * k, 0.03 * k],
            "unloading_force": [0.0, 0.005 * k, 0.03 * k],
            "bottoming_stiffness": 2 * k,
            "preload": pick(0, 0.003) * k,
            "damping": pick(0, 0.2) * k / frequency,
        },
    }[law](reduced * frequency**2)
    coefficient = pick(0, 0.4) if friction is None else friction
    return {
        "duration": DURATION,
        "chaser": {
            "mass": masses[0],
            "inertia": inertia(pick, masses[0]),
            "position": origin + centre - lever,
            "velocity": velocity - np.cross(turns[0].apply(rates[0]), lever),
            "attitude": quaternion(turns[0]),
            "rate": rates[0],
            "feature": [{"name": "tip", "position": tip, "radius": radius}],
        },
        "target": {
            "mass": masses[1],
            "inertia": inertia(pick, masses[1]),
            "position": origin,
            "velocity": drift,
            "attitude": quaternion(turns[1]),
            "rate": rates[1],
            "surface": [
                {"name": "cone", "shape": "cone", "apex": apex, "axis": frame[:, 0], "half_angle": half_angle},
            ],
        },
        "contact": [
            {
                "feature": "tip",
                "surface": "cone",
                "normal": {"law": law, **normal_law},
                "friction": {"law": "coulomb", "coefficient": coefficient},
            }
        ],
        "loop": {"delay": pick(0.005, 0.08) if delay is None else delay},
        "output": {"interval": INTERVAL},
    }


def drawn(draw):
    """`pick` for a random test; sizes that a scenario may not have are 0."""

    def pick(low, high):
        value = draw(st.floats(low, high, allow_subnormal=False))
        return 0.0 if abs(value) < SMALLEST else value

    return pick


@st.composite
def dockings(draw, **given):
    return docking(drawn(draw), **given)


@st.composite
def frames(draw):
    """A rotation, a shift (m) and a boost (m/s)."""
    pick = drawn(draw)
    return rotation(pick), vector(pick, 5.0), vector(pick, 1.0)


ONE_DOCKING = docking(np.random.default_rng(41).uniform)


CONTACT_KEYS = (
    "onset_s",
    "release_s",
    "position_m",
    "approach_speed_m_s",
    "peak_normal_force_N",
    "peak_time_s",
    "impulse_N_s",
)


def contact_numbers(dataset):
    """Everything the summary says of the contacts, in one row, scaled to order one (times and lengths are so already)."""
    found = dockdyn.summarise(dataset)["contacts"]
    forces = max([contact["peak_normal_force_N"] for contact in found], default=1.0)
    speeds = max([abs(contact["approach_speed_m_s"]) for contact in found], default=1.0)
    scales = dict.fromkeys(CONTACT_KEYS, 1.0) | {
        "peak_normal_force_N": forces,
        "impulse_N_s": forces,
        "approach_speed_m_s": speeds,
    }
    row = [
        np.atleast_1d(np.array(contact[key] if contact[key] is not None else -1.0)) / scales[key]
        for contact in found
        for key in CONTACT_KEYS
    ]
    return np.concatenate(row) if row else np.zeros(0)


# --- momentum and work -----------------------------------------------------------------------------------------------


def momenta_and_energy(content, dataset):
    """Linear momentum, angular momentum about the common centre of mass, kinetic energy, and the momenta's scales."""
    masses = np.array([content[body]["mass"] for body in ("chaser", "target")])
    tensors = [np.array(content[body]["inertia"]) for body in ("chaser", "target")]
    position, velocity = dataset.position.values, dataset.velocity.values
    centre = np.einsum("b,tbi->ti", masses, position) / masses.sum()
    drift = np.einsum("b,tbi->ti", masses, velocity) / masses.sum()
    linear, angular, energy = 0, 0, 0
    linear_scale, angular_scale = 0, 0
    for body in range(2):
        turn = Rotation.from_quat(dataset.attitude.values[:, body], scalar_first=True)
        rate = dataset.rate.values[:, body]
        spin = rate @ tensors[body]
        momentum = masses[body] * velocity[:, body]
        orbital = np.cross(position[:, body] - centre, momentum - masses[body] * drift)
        linear = linear + momentum
        angular = angular + orbital + turn.apply(spin)
        energy = energy + 0.5 * (np.sum(momentum * velocity[:, body], axis=1) + np.sum(spin * rate, axis=1))
        linear_scale = linear_scale + np.linalg.norm(momentum, axis=1)
        angular_scale = angular_scale + np.linalg.norm(orbital, axis=1) + np.linalg.norm(spin, axis=1)
    return linear, angular, energy, linear_scale.max(), angular_scale.max()


def check_conservation(content, dataset):
    linear, angular, energy, linear_scale, angular_scale = momenta_and_energy(content, dataset)
    assert dataset.attrs["finished"]
    assert dataset.sizes["episode"] > 0, "the docking was meant to touch"
    assert np.abs(linear - linear[0]).max() <= 1e-10 * linear_scale
    assert np.abs(angular - angular[0]).max() <= 1e-10 * angular_scale
    assert np.abs(energy - energy[0] - dataset.work.values).max() <= 1e-9 * energy.max()


@examples(25)
@given(content=dockings())
def test_momentum_is_kept_and_work_accounts_for_energy(run, content):
    """With delay, friction and unequal full inertias; the summary's own figures say the same."""
    dataset = run(content)
    check_conservation(content, dataset)
    summary = dockdyn.summarise(dataset)
    assert summary["linear_momentum_error"] <= 1e-10
    assert summary["angular_momentum_error"] <= 1e-10
    assert summary["work_energy_error"] <= 1e-9


@pytest.mark.full
@examples(400)
@given(content=dockings())
def test_momentum_and_work_in_full(run, content):
    check_conservation(content, run(content))


@pytest.mark.full
@examples(60)
@given(content=dockings(), frame=frames())
def test_frames_and_roles_in_full(run, content, frame):
    here = contact_numbers(run(content))
    for other in (moved(content, *frame), swapped(content)):
        assert contact_numbers(run(other)) == pytest.approx(here, rel=0, abs=SAME_CONTACTS)


def test_a_delay_feeds_energy_and_the_account_still_closes(run):
    """A spring whose force comes late returns more than it took; so the balances above are not about a passive case only."""
    content = ONE_DOCKING | {"loop": {"delay": 0.08}}
    dataset = run(content, **{"contact.normal.damping": 0, "contact.friction.coefficient": 0})
    summary = dockdyn.summarise(dataset)
    assert set(summary["energy_class"]) == {"active"}
    check_conservation(content, dataset)


# --- frames, units, roles --------------------------------------------------------------------------------------------


def moved(content, turn, shift, boost):
    """The scene turned, shifted and set in uniform motion."""
    content = copy.deepcopy(content)
    for name in ("chaser", "target"):
        body = content[name]
        body["position"] = turn.apply(body["position"]) + shift
        body["velocity"] = turn.apply(body["velocity"]) + boost
        body["attitude"] = quaternion(turn * Rotation.from_quat(body["attitude"], scalar_first=True))
    return content


# Rounding only: positions are rounded to 1e-15 m here and 1e-14 m in the moved scene, the ball closes at 0.02 m/s or more,
# so times differ by 1e-12 s; every further contact multiplies by ten or so. But rounding also decides, now and then, whether
# a step is accepted, and then the integrator's own error shows: 1e-8, as in the comparison with DOP853.
SAME_CONTACTS = 1e-8


@examples(12)
@given(content=dockings(), frame=frames())
def test_contacts_do_not_depend_on_the_frame(run, content, frame):
    turn, shift, boost = frame
    here, there = run(content), run(moved(content, turn, shift, boost))
    assert here.sizes["episode"] == there.sizes["episode"] > 0
    assert contact_numbers(there) == pytest.approx(contact_numbers(here), rel=0, abs=SAME_CONTACTS)
    carried = turn.apply(here.position.values.reshape(-1, 3)).reshape(here.position.shape)
    expected = carried + shift + here.time.values[:, None, None] * boost
    assert np.abs(there.position.values - expected).max() < SAME_CONTACTS
    assert np.abs(there.rate.values - here.rate.values).max() < SAME_CONTACTS


def in_other_units(content):
    """The same scenario in grams, millimetres, degrees and minutes (kilonewtons and milliseconds where forces come in)."""
    content = copy.deepcopy(content)

    def texts(values, factor, unit):
        if isinstance(values, list | tuple | np.ndarray):
            return [texts(value, factor, unit) for value in values]
        return f"{float(values) * float(factor)!r} {unit}"

    for name in ("chaser", "target"):
        body = content[name]
        body["mass"] = texts(body["mass"], 1e3, "g")
        body["inertia"] = texts(body["inertia"], 1e9, "g mm²")
        body["position"] = texts(body["position"], 1e3, "mm")
        body["velocity"] = texts(body["velocity"], 60e3, "mm/min")
        body["rate"] = texts(body["rate"], np.degrees(60.0), "deg/min")
    tip, wall = content["chaser"]["feature"][0], content["target"]["surface"][0]
    tip["position"], tip["radius"] = texts(tip["position"], 1e3, "mm"), texts(tip["radius"], 1e2, "cm")
    wall["apex"], wall["half_angle"] = (
        texts(wall["apex"], 1e-3, "km"),
        texts(wall["half_angle"], np.degrees(1.0), "deg"),
    )
    law = content["contact"][0]["normal"]
    law["stiffness"] = texts(law["stiffness"], 1e-6, "kN/mm")
    law["damping"] = texts(law["damping"], 1e-6, "kN s/mm")
    content["contact"][0]["friction"]["coefficient"] = texts(
        content["contact"][0]["friction"]["coefficient"], 100, "percent"
    )
    content["duration"] = texts(content["duration"], 1 / 60, "min")
    content["loop"] = {"delay": texts(content["loop"]["delay"], 1e3, "ms")}
    content["integrator"] = {"step": texts(content["integrator"]["step"], 1e6, "us")}
    content["output"] = {"interval": texts(content["output"]["interval"], 1 / 3600, "h")}
    return content


@examples(12)
@given(content=dockings())
def test_units_do_not_matter(run, content):
    """To 1e-12 of everything: unit conversion rounds once, at 1e-16. One contact, since every further one multiplies.

    At a stated step: where the integrator chooses, rounding decides now and then whether a step is accepted, and the
    results differ by the integrator's own error, 1e-10.
    """
    content = content | {"duration": 1.0, "integrator": {"step": 0.005}}
    here, there = run(content), run(in_other_units(content))
    assert here.sizes["episode"] > 0
    for name in ("position", "attitude", "velocity", "rate", "depth", "kinetic_energy", "contact_force"):
        scale = np.abs(here[name].values).max()
        assert np.abs(there[name].values - here[name].values).max() <= 1e-12 * max(scale, 1e-3), name


def swapped(content):
    """Chaser and target exchanged, with what they carry."""
    return content | {"chaser": content["target"], "target": content["chaser"]}


@examples(8)
@given(content=dockings())
def test_roles_can_be_exchanged(run, content):
    """The cone on the chaser and the ball on the target: the same motion, the force on the chaser reversed."""
    here, there = run(content), run(swapped(content))
    assert here.sizes["episode"] == there.sizes["episode"] > 0
    assert contact_numbers(there) == pytest.approx(contact_numbers(here), rel=0, abs=SAME_CONTACTS)
    for name in ("position", "attitude", "velocity", "rate"):
        assert np.abs(there[name].values[:, ::-1] - here[name].values).max() < SAME_CONTACTS, name
    largest = np.abs(here.contact_force.values).max()
    assert np.abs(there.contact_force.values + here.contact_force.values).max() < SAME_CONTACTS * largest


# --- energy ----------------------------------------------------------------------------------------------------------


def spread_of_energy_errors(run, law, steps):
    """Root mean square, over several dockings, of the energy error that each fixed step makes in a lossless contact."""
    errors = []
    for seed in range(6):
        pick = np.random.default_rng(100 + seed).uniform
        content = docking(pick, law, delay=0.0, friction=0.0, frequency=6.0, damped=False)
        errors.append([dockdyn.summarise(run(content, **{"integrator.step": step}))["energy_error"] for step in steps])
    return np.sqrt(np.mean(np.array(errors) ** 2, axis=0))


@pytest.mark.parametrize(
    ("law", "steps", "least", "most"),
    [
        # Smooth inside the contact and located at its ends: the order of the method, or one more, since what the classical
        # Runge–Kutta method loses of a linear oscillation's energy is of fifth order.
        ("spring-dashpot", [32e-3, 16e-3, 8e-3, 4e-3], 3.8, 5.3),
        # k d^1.5 starts as (v τ)^1.5 and its fourth derivative as τ^-2.5. Steps at τ = dt, 2dt ... err by dt⁵ τ^-2.5, a
        # sum that the first steps dominate: dt^2.5, at onset and again at release, once the smooth part is below it.
        ("hertz", [8e-3, 4e-3, 2e-3, 1e-3], 2.2, 2.8),
    ],
)
def test_energy_error_falls_with_the_order(run, law, steps, least, most):
    errors = spread_of_energy_errors(run, law, steps)
    slope = np.polyfit(np.log(steps), np.log(errors), 1)[0]
    assert least <= slope <= most, (slope, errors)
    assert errors[-1] > 1e-12, "round-off would flatten the slope"


@pytest.mark.parametrize("law", ["spring-dashpot", "hertz", "hunt-crossley", "force-stroke"])
def test_undelayed_contacts_are_passive(run, law):
    """Every clamped law with damping ≥ 0 and any friction only takes energy. (A compliance device is left out: its force
    depends on the direction of the normal in the chaser, which turns, and is then not a spring's.)"""

    @examples(10)
    @given(content=dockings(delay=0.0, law=law))
    def check(content):
        dataset = run(content)
        check_conservation(content, dataset)
        start = float(dataset.kinetic_energy[0])
        gains = dataset.episode_energy_gain.values
        assert np.all(gains[np.isfinite(gains)] <= 1e-9 * start)
        assert float(dataset.kinetic_energy.max()) <= start * (1 + 1e-9)

    check()


# --- repetition ------------------------------------------------------------------------------------------------------


@examples(4)
@given(content=dockings())
def test_a_run_repeats_bit_for_bit(run, content, tmp_path_factory):
    """The same scenario twice, and a third time from the text that the result itself carries."""
    first, again = run(content), run(content)
    file = tmp_path_factory.mktemp("again") / "resolved.toml"
    file.write_text(first.attrs["scenario"])
    third = dockdyn.simulate(dockdyn.load(file))
    for name in first.variables:
        assert first[name].values.tobytes() == again[name].values.tobytes() == third[name].values.tobytes(), name


def test_another_number_compiles_nothing(run):
    run(ONE_DOCKING)
    seen = []

    def listener(event, duration, **_):
        if "backend_compile" in event:
            seen.append(event)

    jax.monitoring.register_event_duration_secs_listener(listener)
    try:
        run(
            ONE_DOCKING,
            **{
                "chaser.mass": 1234,
                "contact.normal.stiffness": 777,
                "contact.friction.coefficient": 0.31,
                "target.surface.half_angle": "33 deg",
                "loop.delay": "23 ms",
            },
        )
    finally:
        jax.monitoring.unregister_event_duration_listener(listener)
    assert not seen
