"""The energy that friction took: against a quadrature of samples that knows nothing of laws, and in closed forms."""

import numpy as np
import pytest
from plain_tables import by_name, contacts_by_name
from scipy.integrate import simpson
from scipy.spatial.transform import Rotation
from sticking_ball import ball_on_plane

import dockdyn

FINE = 2e-6  # s, between samples
QUADRATURE = 1e-5  # of what friction took, where no power jumps


def drawn_laws(draw):
    """Return a normal law and a friction law, drawn of all that touch, with what resists turning or without."""
    stiffness = draw.uniform(1e5, 1e6)
    normal = [
        {"law": "spring-dashpot", "stiffness": stiffness, "damping": draw.uniform(0, 100)},
        {"law": "hertz", "stiffness": stiffness * 1e-3**-0.5},
        {"law": "hunt-crossley", "stiffness": stiffness * 1e-3**-0.5, "damping": draw.uniform(0.0, 1.5)},
        {"law": "zener", "stiffness": stiffness, "series_stiffness": stiffness, "relaxation_time": 1e-3},
    ][draw.integers(4)]
    coefficient = draw.uniform(0.05, 0.6)
    friction = {"law": draw.choice(["coulomb", "stick-slip", "lugre"]), "coefficient": coefficient}
    if friction["law"] == "coulomb":
        friction |= {"regularisation": 2e-3}
    else:
        friction |= {"static_coefficient": coefficient * draw.choice([1.0, 1.4]), "stribeck_speed": 0.05}
        if friction["law"] == "lugre":
            return normal, friction | {"presliding": 1e-6, "retardation_time": 1e-5}
        friction |= {"stiffness": draw.uniform(1e5, 5e5)}
    if draw.integers(2):
        friction |= {"rolling": draw.uniform(1e-5, 1e-3), "spinning": draw.uniform(1e-5, 1e-3)}
        friction |= {"turning_regularisation": 0.05} if friction["law"] == "coulomb" else {}
    return normal, friction


def rubbing_power(run):
    """Return the power (W) that friction takes from a ball on a fixed plane: all that acts on it less what the normal force
    takes."""
    ball = run.sel(body="ball")
    turned = Rotation.from_quat(ball.attitude.values, scalar_first=True).apply(ball.rate.values)
    force, moment = run.contact_force.values[:, 0], run.contact_moment.values[:, 0]
    whole = -np.einsum("ij,ij->i", force, ball.velocity.values) - np.einsum("ij,ij->i", moment, turned)
    return whole - run.normal_force.values[:, 0] * run.depth_rate.values[:, 0]


@pytest.mark.full
@pytest.mark.parametrize("seed", range(60), ids=str)
def test_friction_took_what_samples_of_its_power_say(load, seed):
    draw = np.random.default_rng(5400 + seed)
    normal, friction = drawn_laws(draw)
    tables = ball_on_plane([*draw.uniform(-0.3, 0.3, 2), -0.4], draw.uniform(-8, 8, 3), normal, friction)
    run = dockdyn.simulate(load(tables | {"duration": 0.03, "output": {"interval": FINE}}))
    assert run.depth.values[-1] < 0 < run.depth.values.max()
    power = rubbing_power(run)
    summary = dockdyn.summarise(run)
    took = summary["contact.friction_loss_J"]
    pressed = run.normal_force.values[:, 0] * run.depth_rate.values[:, 0]
    jumps = normal["law"] == "spring-dashpot"  # as it touches, between two samples
    near = FINE * np.abs(power).max() if jumps else QUADRATURE * took
    assert took == pytest.approx(simpson(power, dx=FINE), abs=near)
    near = FINE * np.abs(pressed).max() if jumps else QUADRATURE * run.kinetic_energy.values[0]
    assert run.contact_loss.values[-1, 0] == pytest.approx(took + simpson(pressed, dx=FINE), abs=near)
    assert took == summary["contact.hit.friction_loss_J"] == run.friction_loss.values[0]
    assert took == pytest.approx(sum(one["friction_loss_J"] for one in summary["contacts"]), rel=1e-12)
    assert took > 0


def test_a_delay_gives_nothing_of_what_friction_took(load):
    """It is told where it is generated: the force one delay later, at the sliding now."""
    late = 400
    normal, friction = (
        {"law": "hertz", "stiffness": 1e7},
        {"law": "coulomb", "coefficient": 0.3, "regularisation": 2e-3},
    )
    tables = ball_on_plane([0.3, -0.2, -0.4], [1.0, 2.0, -1.0], normal, friction)
    tables |= {"duration": 0.03, "output": {"interval": FINE}, "loop": {"delay": late * FINE}}
    run = dockdyn.simulate(load(tables))
    along = run.contact_force.values[late:, 0, :2]
    size = np.linalg.norm(along, axis=1)
    power = size * run.sliding_speed.values[: len(size), 0]
    took = dockdyn.summarise(run)["contact.friction_loss_J"]
    assert took == pytest.approx(simpson(power, dx=FINE), rel=1e-5)


def sliding_block(friction):
    """Return the tables of a block between two rails that press it, far from where it would stop."""
    rails = {"lower": 1.0, "upper": -1.0}
    surfaces = [
        {"name": name, "shape": "plane", "point": [0, 0, -0.096 * up], "normal": [0, 0, up]}
        for name, up in rails.items()
    ]
    shoes = [{"name": f"{name}-shoe", "position": [0, 0, -0.1 * up]} for name, up in rails.items()]
    law = {"law": "spring-dashpot", "stiffness": 5e4}
    contacts = [
        {"between": [f"{name}-shoe", name], "normal": law, **({"friction": friction} if friction else {})}
        for name in rails
    ]
    bodies = {
        "block": {"mass": 12.0, "inertia": [1e6] * 3, "velocity": [0.24, 0.1, 0.0], "feature": by_name(shoes)},
        "rails": {"fixed": True, "surface": by_name(surfaces)},
    }
    return {"schema": 2, "duration": 1.0, "body": bodies, "contact": contacts_by_name(contacts)}


@pytest.mark.full
@pytest.mark.parametrize("law", ["coulomb", "stick-slip"])
def test_a_block_that_slides_to_rest_loses_its_motion_to_friction(load, law):
    friction = {"law": law, "coefficient": 0.3} | ({"regularisation": 1e-4} if law == "coulomb" else {"stiffness": 1e6})
    friction |= {} if law == "coulomb" else {"retardation_time": 1e-3}
    run = dockdyn.simulate(load(sliding_block(friction)))
    motion = 0.5 * 12.0 * (0.24**2 + 0.1**2)
    assert run.kinetic_energy.values[0] == pytest.approx(motion, rel=1e-12)
    assert run.kinetic_energy.values[-1] < 1e-12 * motion
    summary = dockdyn.summarise(run)
    assert summary["contact.friction_loss_J"] == pytest.approx(motion, rel=1e-7)
    halves = [summary[f"contact.{contact}.friction_loss_J"] for contact in run.contact.values]
    assert halves == pytest.approx([motion / 2] * 2, rel=1e-7)


@pytest.mark.full
def test_without_friction_nothing_is_told_of_it(load):
    run = dockdyn.simulate(load(sliding_block(None)))
    assert not [name for name in [*run.data_vars, *dockdyn.summarise(run)] if "friction" in name]


BALL, PLATE, RADIUS, PULL = 1.5, 40.0, 0.1, 4.0  # kg, kg, m, m/s²


def falling_ball(impact, height, duration):
    """Return the tables of a ball onto which a force drives a plate that hardly turns, as if the ball fell sideways."""
    plate = {"mass": PLATE, "inertia": [1e13] * 3}
    top = {"top": {"shape": "plane", "point": [0, 0, 0], "normal": [0, 0, 1]}}
    ball = {"mass": BALL, "inertia": [0.4 * BALL * RADIUS**2] * 3, "velocity": [0.6, 0, 0]}
    ball |= {"position": [0, 0, RADIUS + height], "feature": {"skin": {"position": [0, 0, 0], "radius": RADIUS}}}
    engine = {"body": "plate", "position": [0, 0, 0], "direction": [0, 0, 1], "force": PULL * PLATE}
    return {
        "schema": 2,
        "duration": duration,
        "body": {"plate": plate | {"surface": top}, "ball": ball},
        "contact": {"skin": {"between": ["skin", "top"], "impact": impact}},
        "thruster": {"engine": engine},
    }


@pytest.mark.full
@pytest.mark.parametrize("height", [0.0, pytest.param(0.4, marks=pytest.mark.full)])
def test_friction_of_impacts_and_of_rest_takes_what_rolling_leaves(load, height):
    """Of a ball the slip falls by the impulse of friction, s − J (3.5/m + 1/M), to zero: its work is J s/2, however it is
    shared by impacts and rest."""
    law = {"law": "energetic", "restitution": 0.3, "friction": 0.04, "rest_speed": 1e-3}
    run = dockdyn.simulate(load(falling_ball(law, height, 6.0)))
    impulse = 0.6 / (3.5 / BALL + 1 / PLATE)
    took = dockdyn.summarise(run)["contact.friction_loss_J"]
    assert took == pytest.approx(impulse * 0.6 / 2, rel=1e-6)


@pytest.mark.full
def test_requirements_and_campaigns_know_it(load, tmp_path):
    tables = sliding_block({"law": "coulomb", "coefficient": 0.3, "regularisation": 1e-4})
    motion = 0.5 * 12.0 * (0.24**2 + 0.1**2)
    asked = {"contact": {"friction_loss": "<= 400 mJ", "lower-shoe": {"friction_loss": "<= 300 mJ"}}}
    run = dockdyn.simulate(load(tables | {"requirements": asked}))
    judged = dockdyn.summarise(run)["requirements"]
    assert [one["met"] for one in judged] == [False, True]
    assert [one["value"] for one in judged] == pytest.approx([motion, motion / 2], rel=1e-7)
    spread = tables["contact"]["lower-shoe"] | {"friction": {"law": "coulomb", "regularisation": 1e-4}}
    spread["friction"]["coefficient"] = {"distribution": "uniform", "low": 0.25, "high": 0.35}
    tables |= {"contact": tables["contact"] | {"lower-shoe": spread}}
    cases = dockdyn.campaign(load(tables | {"requirements": asked}), tmp_path / "cases", runs=3)
    assert cases["contact.friction_loss_J"].values == pytest.approx([motion] * 3, rel=1e-6)
