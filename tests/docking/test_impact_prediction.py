"""Predictions by effective masses for any two bodies or trees: beside closed forms and the limit of a stiff contact."""

import numpy as np
import pytest
from plain_tables import by_name
from scipy.spatial.transform import Rotation

import dockdyn
from dockdyn.impact import MOTION_CLASSES
from dockdyn.pages import report_html


def drawn_inertia(draw, mass):
    """An inertia that a body can have, with axes of its own."""
    extents, turn = draw.uniform(0.2, 0.8, 3), Rotation.random(random_state=int(draw.integers(1 << 30))).as_matrix()
    moments = mass / 5 * (np.sum(extents**2) - extents**2)
    return turn @ np.diag(moments) @ turn.T


def skew(v):
    return np.cross(np.eye(3), v)


def case(seed, joint):
    """A ball on the chaser, or on a link that a `joint` holds to it, and a plate on the target; and what the masses say.

    Nothing turns before the first contact, so that all is known there. Bodies in maximal coordinates, joints as constraints.
    """
    draw = np.random.default_rng([71, seed])
    normal, lever = draw.normal(size=3), draw.uniform(-0.3, 0.3, (2, 3))
    normal /= np.linalg.norm(normal)
    names = ["chaser", "target", *(["link"] if joint else [])]
    masses = dict(zip(names, 10 ** draw.uniform(0.5, 1.5, 3), strict=False))
    inertias = {name: drawn_inertia(draw, mass) for name, mass in masses.items()}
    speed, radius, gap = draw.uniform(0.02, 0.2), 0.05, 1e-3
    striker = names[-1] if joint else "chaser"
    ball = -lever[0]  # the ball's centre is at the origin but for the gap
    velocity = -speed * normal + np.cross(normal, draw.normal(size=3)) * 0.02
    coming = velocity * gap / speed  # m, until they touch
    places = {"target": -lever[1] - normal * radius, striker: ball - coming}
    mount, axis = draw.uniform(-0.2, 0.2, 3), draw.normal(size=3)
    axis /= np.linalg.norm(axis)
    if joint:
        places["chaser"] = places["link"] - mount
    bodies = {name: {"name": name, "mass": float(masses[name]), "inertia": inertias[name].tolist()} for name in names}
    for name in ("chaser", "target"):
        bodies[name] |= {"position": places[name].tolist()}
    bodies["chaser"]["velocity"] = velocity.tolist()
    plate = {"shape": "plane", "point": lever[1].tolist(), "normal": normal.tolist()}
    bodies["target"]["surface"] = {"plate": plate}
    bodies[striker]["feature"] = {"ball": {"position": (-ball).tolist(), "radius": radius}}
    if joint:
        stated = {"kind": joint, "axis": axis.tolist(), "stiffness": 5.0}
        if joint == "revolute":
            stated["position"] = mount.tolist()
        bodies["link"] |= {"on": "chaser", "position": mount.tolist(), "joint": stated}
    point = -normal * radius
    size = 6 * len(names)
    inverse, row, at = np.zeros((size, size)), np.zeros(size), {name: 6 * i for i, name in enumerate(names)}
    for name in names:
        inverse[at[name] : at[name] + 3, at[name] : at[name] + 3] = np.eye(3) / masses[name]
        inverse[at[name] + 3 : at[name] + 6, at[name] + 3 : at[name] + 6] = np.linalg.inv(inertias[name])
    onset = {name: places[name] + (coming if name != "target" else 0) for name in names}
    for name, sign in ((striker, 1), ("target", -1)):
        row[at[name] : at[name] + 6] = sign * np.concatenate([normal, np.cross(point - onset[name], normal)])
    if joint:
        across = np.linalg.svd(axis[None])[2][1:]
        held = onset["link"]  # both joints are at the link's centre of mass
        rows = []
        for way in across if joint == "prismatic" else np.eye(3):
            one = np.zeros(size)
            for name, sign in (("link", 1), ("chaser", -1)):
                one[at[name] : at[name] + 6] = sign * np.concatenate([way, np.cross(held - onset[name], way)])
            rows.append(one)
        for way in np.eye(3) if joint == "prismatic" else across:
            one = np.zeros(size)
            one[at["link"] + 3 : at["link"] + 6], one[at["chaser"] + 3 : at["chaser"] + 6] = way, -way
            rows.append(one)
        rows = np.array(rows)
        inverse = inverse - inverse @ rows.T @ np.linalg.solve(rows @ inverse @ rows.T, rows @ inverse)
    mass = 1 / (row @ inverse @ row)
    side = sum(masses[name] for name in names if name != "target")
    whole = side * masses["target"] / (side + masses["target"])
    content = {"schema": 2, "duration": 0.4, "body": by_name(bodies.values())}
    content["contact"] = {"ball": {"between": ["ball", "plate"]}}
    return content, mass, whole, -float(velocity @ normal)


def run(content, stiffness, damping=0.0, duration=None):
    law = {"law": "spring-dashpot", "stiffness": stiffness, "damping": damping}
    stated = {"contact": {"ball": content["contact"]["ball"] | {"normal": law}}}
    return dockdyn.simulate(dockdyn.load(content | stated | ({"duration": duration} if duration else {})))


JOINTS = [None, "prismatic", "revolute"]


@pytest.mark.full
@pytest.mark.parametrize("joint", JOINTS)
@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.full) for seed in range(1, 8))])
def test_effective_masses_of_any_two_bodies_or_trees(seed, joint):
    """Off-centre, with links on springs: mobility by constraints, and in the limit of a stiff contact the simulation."""
    content, mass, whole, closing = case(seed, joint)
    errors = []
    for stiffness in (1e6, 1e8):
        summary = dockdyn.summarise(run(content, stiffness, duration=1e-3 / closing + 0.05))
        assert summary["contact.effective_mass_kg"][0] == pytest.approx(mass, rel=1e-9)
        assert summary["contact.mass_ratio"][0] == pytest.approx(mass / whole, rel=1e-9)
        assert summary["contact.velocity_before_m_s"][0] == pytest.approx(closing, rel=1e-9)
        expected = closing - 2 * mass * closing / whole
        assert summary["contact.velocity_predicted_m_s"][0] == pytest.approx(expected, rel=1e-9, abs=1e-12)
        errors.append(abs(summary["contact.velocity_after_m_s"][0] - expected) / closing)
    assert errors[1] < 2e-3 and errors[1] < 0.2 * errors[0] + 1e-9


@pytest.mark.full
def test_a_damped_contact_has_its_restitution():
    """Of the effective mass at the contact, not of the bodies': the force of spring and damper ends it."""
    content, mass, whole, closing = case(3, None)
    stiffness = 1e8
    damping = 0.3 * 2 * np.sqrt(stiffness * mass)
    summary = dockdyn.summarise(run(content, stiffness, damping, 1e-3 / closing + 0.02))
    restitution = np.exp(-2 * 0.3 * np.arccos(0.3) / np.sqrt(1 - 0.09))
    assert summary["contact.restitution"][0] == pytest.approx(restitution, rel=1e-9)
    expected = closing - (1 + restitution) * mass * closing / whole
    assert summary["contact.velocity_after_m_s"][0] == pytest.approx(expected, abs=2e-3 * closing)


@pytest.mark.full_cases("0", "1", "2")
@pytest.mark.parametrize("seed", range(4))
def test_the_class_in_the_report_is_what_the_run_does(seed):
    """Class iv: the centres of mass go on approaching after the contact; v: they part."""
    content, _, _, closing = case(seed, "revolute")
    dataset = run(content, 1e8, duration=1e-3 / closing + 0.05)
    after, page = dockdyn.summarise(dataset)["contact.velocity_after_m_s"][0], report_html(dataset)
    name = "iv" if after > 0 else "v"
    assert f"class {name}: {MOTION_CLASSES[name]}" in page


@pytest.mark.full
@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"loop": {"delay": "5 ms"}}, "delay"),
        ({"friction": {"law": "coulomb", "coefficient": 0.2}}, "friction"),
        ({"normal": {"law": "hunt-crossley", "stiffness": 1e6, "exponent": 1.5, "damping": 0.3}}, "no formula"),
    ],
)
def test_what_no_formula_says_is_not_predicted(changes, why):
    content, _, _, _ = case(0, None)
    law = {"normal": {"law": "spring-dashpot", "stiffness": 1e6}}
    contact = content["contact"]["ball"] | law | {key: value for key, value in changes.items() if key != "loop"}
    stated = content | {"contact": {"ball": contact}} | {key: value for key, value in changes.items() if key == "loop"}
    summary = dockdyn.summarise(dockdyn.simulate(dockdyn.load(stated)))
    assert summary["contacts"] and "contact.velocity_predicted_m_s" not in summary, why
