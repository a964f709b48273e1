"""Damping of elements stated by a ratio or a restitution: of which mass it is, what a run does, and what is refused."""

import numpy as np
import pytest
from helpers.refusals import refused

import dockdyn
from dockdyn.scenario.made import model_of

TENSOR = np.array([[90, 4, -3], [4, 140, 6], [-3, 6, 170.0]])
OTHER = np.diag([200.0, 310, 260])


def two_bodies(place, **tables):
    return {
        "schema": 2,
        "title": "Two bodies and what is between them",
        "duration": "1 s",
        "body": {
            "chaser": {"mass": 300, "inertia": TENSOR.tolist(), "position": list(place)},
            "target": {"mass": 800, "inertia": OTHER.tolist()},
        },
        **tables,
    }


def mass_between(place, own, other, axis):
    """1/μ = Σ 1/m + (r × n) I⁻¹ (r × n), of points on both bodies (m, both bodies' axes are the inertial ones)."""
    arms = (own, TENSOR), (other, OTHER)
    turning = [np.cross(arm, axis) @ np.linalg.solve(tensor, np.cross(arm, axis)) for arm, tensor in arms]
    return 1 / (1 / 300 + 1 / 800 + sum(turning))


def dashpots_of(load, stated):
    return {one.name: np.asarray(one.element.dashpots()["damping"]) for one in model_of(load(stated).content).elements}


@pytest.mark.full_cases("0")
@pytest.mark.parametrize("seed", range(3))
def test_a_ratio_is_of_the_mass_along_each_line(load, seed):
    rng = np.random.default_rng(seed)
    place, own, other = np.array([[2, 0, 0], [-0.5, 0, 0], [0.6, 0, 0]]) + rng.uniform(-0.5, 0.5, (3, 3))
    anchor, between = [own.tolist(), other.tolist()], ["chaser", "target"]
    stiffness, turning = rng.uniform(100, 900, 3), [rng.uniform(10, 90), 0, 20]
    line = {"between": between, "anchor": anchor, "stiffness": 4000}
    found = dashpots_of(
        load,
        two_bodies(
            place,
            strut={"leg": line | {"damping_ratio": 0.2}},
            cable={"rope": line | {"damping_ratio": 0.3}},
            latch={"hook": line | {"damping_ratio": 0.4, "reach": 0.01, "lateral": 0.02}},
            bushing={
                "soft": {
                    "between": between,
                    "position": other.tolist(),
                    "stiffness": stiffness.tolist(),
                    "turning_stiffness": turning,
                    "damping_ratio": 0.1,
                }
            },
        ),
    )
    along = (place + own - other) / np.linalg.norm(place + own - other)
    mass = mass_between(place, own, other, along)
    assert found["leg"] == pytest.approx(2 * 0.2 * np.sqrt(4000 * mass), rel=1e-12)
    assert found["rope"] == pytest.approx(2 * 0.3 * np.sqrt(4000 * mass), rel=1e-12)
    seated = mass_between(place, own, other, np.array([1.0, 0, 0]))
    assert found["hook"] == pytest.approx(2 * 0.4 * np.sqrt(4000 * seated), rel=1e-12)
    masses = [mass_between(place, other - place, other, axis) for axis in np.eye(3)]
    inertias = 1 / np.diag(np.linalg.inv(TENSOR) + np.linalg.inv(OTHER))
    expected = 2 * 0.1 * np.sqrt([*(stiffness * masses), *(turning * inertias)])
    assert found["soft"] == pytest.approx(expected, rel=1e-12)


def test_each_of_several_struts_has_its_own(load):
    ends = [[[-0.5, 0.4, 0.1], [0.6, -0.2, 0.3]], [[-0.5, -0.4, 0.1], [0.6, -0.2, -0.3]]]
    both = {"between": ["chaser", "target"], "anchors": ends, "stiffness": 4000, "damping_ratio": 0.2}
    found = dashpots_of(load, two_bodies([2, 0, 0], strut={"legs": both}))["legs"]
    for (own, other), dashpot in zip(np.array(ends), found, strict=True):
        along = np.array([2, 0, 0]) + own - other
        mass = mass_between([2, 0, 0], own, other, along / np.linalg.norm(along))
        assert dashpot == pytest.approx(2 * 0.2 * np.sqrt(4000 * mass), rel=1e-12)


def test_inertia_that_a_motor_reflects_counts(load):
    leg = {"between": ["chaser", "target"], "anchor": [[0, 0, 0], [0, 0, 0]], "stiffness": 4000, "damping_ratio": 0.2}
    found = dashpots_of(load, two_bodies([2, 0, 0], strut={"leg": leg | {"moved_mass": 50}}))["leg"]
    assert found == pytest.approx(2 * 0.2 * np.sqrt(4000 * (300 * 800 / 1100 + 50)), rel=1e-12)


def test_a_weld_that_yields_turns_with_the_damping_it_pulls_with(load):
    hook = {"between": ["chaser", "target"], "anchor": [[-0.5, 0, 0], [0.5, 0, 0]], "reach": 0.01, "lateral": 0.02}
    hook |= {"grip": "compliant-weld", "stiffness": 4000, "damping_ratio": 0.2}
    (tie,) = model_of(load(two_bodies([2, 0, 0], latch={"hook": hook})).content).elements
    assert tie.element.grip.turning[1] == pytest.approx(0.5**2 * tie.element.grip.damping, rel=1e-12)
    (tie,) = model_of(load(two_bodies([2, 0, 0], latch={"hook": hook | {"turning_damping": 7}})).content).elements
    assert tie.element.grip.turning[1] == 7


def test_a_phase_that_sets_the_stiffness_keeps_the_ratio(load):
    leg = {"between": ["chaser", "target"], "anchor": [[0, 0, 0], [0, 0, 0]], "stiffness": 4000, "damping_ratio": 0.2}
    later = {"when": {"lasting": "0.5 s"}, "set": {"strut.leg.stiffness": "9 kN/m"}}
    model = model_of(load(two_bodies([2, 0, 0], strut={"leg": leg}, phase={"first": {}, "later": later})).content)
    expected = 2 * 0.2 * np.sqrt(np.array([4000, 9000]) * 300 * 800 / 1100)
    assert np.asarray(model.phases.variants[0].damping) == pytest.approx(expected, rel=1e-12)


def on_a_line(duration, speed, **tables):
    return {
        "schema": 2,
        "motion": "line",
        "title": "Two masses",
        "duration": duration,
        "body": {
            "chaser": {"mass": 300, "position": 2.0, "velocity": speed},
            "target": {"mass": 800},
        },
        **tables,
    }


def speed_between(dataset):
    """How fast (m/s) the first mass moves away from the second at the end."""
    velocity = dataset.velocity.values[-1, :, 0]
    return velocity[0] - velocity[1]


def test_an_oscillation_decays_as_the_ratio_says(run):
    mass, ratio = 300 * 800 / 1100, 0.15
    damped = np.sqrt(4000 / mass * (1 - ratio**2))  # rad/s
    leg = {"between": ["chaser", "target"], "stiffness": 4000, "damping_ratio": ratio}
    dataset = run(on_a_line(2 * np.pi / damped, 0.1, strut={"leg": leg}))
    t, decay = dataset.time.values[-1], ratio * np.sqrt(4000 / mass)
    swing = np.cos(damped * t) - decay / damped * np.sin(damped * t)
    assert speed_between(dataset) == pytest.approx(0.1 * np.exp(-decay * t) * swing, rel=1e-7)
    soft = {"between": ["chaser", "target"], "stiffness": 4000, "damping_ratio": ratio}
    again = run(on_a_line(2 * np.pi / damped, 0.1, bushing={"soft": soft}))
    assert speed_between(again) == pytest.approx(speed_between(dataset), rel=1e-7)
    assert again.attrs["stated_damping"].endswith(
        f"{2 * ratio * np.sqrt(4000 * mass):.6g} N s/m along, from damping_ratio = 0.15"
    )


@pytest.mark.full
def test_a_cable_and_stops_give_back_the_restitution(run):
    rope = {"between": ["chaser", "target"], "stiffness": 4000, "free_length": 2.1, "restitution": 0.4}
    assert speed_between(run(on_a_line(3.0, 0.1, cable={"rope": rope}))) == pytest.approx(-0.04, rel=1e-6)
    leg = {"between": ["chaser", "target"], "stroke": [-0.1, 0.1], "stop_stiffness": 4000, "stop_restitution": 0.6}
    dataset = run(on_a_line(2.6, -0.1, strut={"leg": leg}))
    assert speed_between(dataset) == pytest.approx(0.06, rel=1e-6)
    assert dataset.attrs["stated_damping"].startswith("strut.leg: ")


LEG = {"between": ["chaser", "target"], "anchor": [[0, 0, 0], [0, 0, 0]], "stiffness": 4000}
WRONG = [
    ({"strut": {"a": LEG | {"damping": 3, "damping_ratio": 0.2}}}, ["strut.a", "damping and damping_ratio"]),
    ({"strut": {"a": LEG | {"damping_ratio": -0.2}}}, ["strut.a.damping_ratio", "at least 0"]),
    ({"strut": {"a": {k: LEG[k] for k in ("between", "anchor")} | {"damping_ratio": 0.2}}}, ["state the stiffness"]),
    ({"strut": {"a": LEG | {"stop_damping": 1, "stop_restitution": 0.5}}}, ["strut.a", "stop_damping and stop_rest"]),
    ({"cable": {"a": LEG | {"restitution": 0.5, "damping_ratio": 0.2}}}, ["cable.a", "damping_ratio and restitution"]),
    ({"cable": {"a": LEG | {"restitution": 1.5}}}, ["cable.a.restitution", "at most 1"]),
    (
        {"latch": {"a": LEG | {"reach": 0.01, "lateral": 0.1, "damping": 2, "damping_ratio": 0.2}}},
        ["latch.a", "damping and damping_ratio"],
    ),
]


@pytest.mark.parametrize(("tables", "words"), WRONG)
def test_what_cannot_be_is_one_line(load, tables, words):
    with refused(*words):
        load(two_bodies([2, 0, 0], **tables))


def test_a_ratio_where_nothing_can_move_is_one_line(run):
    leg = LEG | {"anchor": [[-1.0, 0, 0], [1.0, 0, 0]], "damping_ratio": 0.2}
    with refused("strut.a.damping_ratio", "ends are in one place"):
        run(two_bodies([2, 0, 0], strut={"a": leg}))


OWN_ELEMENT = """
import dockdyn
import jax.numpy as jnp
from dockdyn import parameter
from dockdyn.elements import Action, ElementMemory
from jaxtyping import Array, Float


class Buffer(dockdyn.ForceElement):
    restitution: Float[Array, ""] = parameter("", "a share")

    def init(self, own, other):
        return ElementMemory(dissipated=jnp.zeros(()))

    def act(self, mode, memory, own, other):
        zero = dockdyn.Vector.zero()
        return Action(zero, zero, own.point(zero)), ElementMemory(dissipated=jnp.zeros(()))

    def stored_energy(self, mode, memory, own, other):
        return jnp.zeros(())

    def observe(self, mode, memory, own, other):
        return {}
"""
TWO = """
schema = 2
duration = "0.1 s"
[body.chaser]
mass = "100 kg"
inertia = [10, 10, 10]
[body.target]
mass = "200 kg"
inertia = [20, 20, 20]
position = [1.0, 0, 0]
[element.oil]
kind = "own_buffer_with_restitution:Buffer"
between = ["chaser", "target"]
restitution = 0.5
"""


def test_a_key_of_ones_own_element_is_its_own(tmp_path):
    """Whatever its name: it states no damping beside the masses of the bodies, and the run begins."""
    (tmp_path / "own_buffer_with_restitution.py").write_text(OWN_ELEMENT)
    (tmp_path / "two.toml").write_text(TWO)
    scenario = dockdyn.load(tmp_path / "two.toml")
    assert scenario.content.relative_elements() == []
    assert dockdyn.simulate(scenario).attrs["finished"]
