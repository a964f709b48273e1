"""URDF files as they are met: shapes that are none, masses that are missing, inertias that no body has, names twice."""

from __future__ import annotations

import random
import sys

import numpy as np
import pytest
import tomlkit
from plain_tables import by_name
from scipy.optimize import minimize
from scipy.spatial.transform import Rotation

import dockdyn
from dockdyn.cli import main as cli

INERTIA = '<inertia ixx="{0}" ixy="{1}" ixz="{2}" iyy="{3}" iyz="{4}" izz="{5}"/>'
SEEDS = range(10)
SHAPES = [
    "<capsule radius='0.1' length='1'/>",
    "<ellipsoid radii='1 2 3'/>",
    "<sphere radius='${r}'/>",
    "<box/>",
    "<mesh/>",
    "<xacro:shape name='a'/>",
    "<cylinder radius='-1' length='two'/>",
    "",
]


def inertial(mass: object, moments: list[float]) -> str:
    """An inertia by its six moments, in the order of URDF."""
    return f'<inertial><mass value="{mass}"/>{INERTIA.format(*map(repr, moments))}</inertial>'


def sound(rng: random.Random) -> str:
    return inertial(
        rng.uniform(1, 5), [rng.uniform(1, 1.5), 0.01, 0.02, rng.uniform(1, 1.5), 0.03, rng.uniform(1, 1.5)]
    )


def shape(rng: random.Random) -> str:
    """A visual or collision of any content, none too."""
    tag = rng.choice(["visual", "collision"])
    content = rng.choice(["", "<geometry/>", f"<geometry>{rng.choice(SHAPES)}</geometry>", rng.choice(SHAPES)])
    return f'<{tag}><origin xyz="{rng.choice(["0 0 0", "${x} 0 0", "nan"])}"/>{content}</{tag}>'


def parts(seed: int, count: int = 6) -> tuple[list[str], list[str], list[int]]:
    """Links, joints that move, and the number of each link's parent, at random."""
    rng = random.Random(seed)
    parents = [0] + [rng.randrange(number) for number in range(1, count)]
    links = [f'<link name="l{n}">{sound(rng)}</link>' for n in range(count)]
    joints = [
        f'<joint name="j{n}" type="{rng.choice(["revolute", "prismatic", "continuous"])}"><parent link="l{parents[n]}"/>'
        f'<child link="l{n}"/><origin xyz="{rng.random()} 0 1" rpy="0 {rng.random()} 0"/><axis xyz="0 1 1"/>'
        f'<limit lower="-1" upper="2" effort="1" velocity="1"/></joint>'
        for n in range(1, count)
    ]
    return links, joints, parents


def whole(links: list[str], joints: list[str]) -> str:
    return "\n".join(['<robot name="r">', *links, *joints, "</robot>"])


def written(folder, urdf: str, beside: dict | None = None, more: list[dict] | None = None):
    """A scenario whose arm is that URDF, with keys `beside` it and tables of links."""
    (folder / "arm.urdf").write_text(urdf, encoding="utf-8")
    case = {"schema": 2, "duration": 1.0}
    case["body"] = {"bus": {"mass": 100.0, "inertia": [90.0, 90.0, 90.0]}}
    case["tree"] = {"arm": {"on": "bus", "urdf": "arm.urdf", **(beside or {}), "body": by_name(more or [])}}
    file = folder / "case.toml"
    file.write_text(tomlkit.dumps(case), encoding="utf-8")
    return file


def refused(monkeypatch, capsys, *arguments: str) -> str:
    """What the command line says of what it refuses: exit code 2 and one line."""
    monkeypatch.setattr(sys, "argv", ["dockdyn", *arguments])
    monkeypatch.setattr("dockdyn.cli.progress.FIRST", 1e6)  # how long it takes is not told
    capsys.readouterr()
    with pytest.raises(SystemExit) as end:
        cli.main()
    printed = capsys.readouterr()
    assert end.value.code == cli.BAD_INPUT and printed.out == ""
    assert len(printed.err.strip().splitlines()) == 1, printed.err
    return printed.err


@pytest.mark.parametrize("seed", SEEDS)
def test_shapes_change_nothing(seed, tmp_path):
    """Any shape, none, and xacro left in one: what is read is what is read without."""
    rng = random.Random(seed)
    links, joints, _ = parts(seed)
    plain = dockdyn.load(written(tmp_path, whole(links, joints))).content
    shapely = [
        link.replace("</link>", "".join(shape(rng) for _ in range(rng.randrange(4))) + "</link>") for link in links
    ]
    others = [
        "<gazebo reference='l0'><xacro:if/></gazebo>",
        "<material name='red'/>",
        "<transmission><joint name='j1'/></transmission>",
    ]
    assert dockdyn.load(written(tmp_path, whole(shapely, [*joints, rng.choice(others)]))).content == plain


@pytest.mark.parametrize("seed", SEEDS)
def test_a_mass_of_the_scenario_stands_for_one_that_is_missing_or_impossible(seed, tmp_path):
    rng = random.Random(seed)
    links, joints, _ = parts(seed)
    place = rng.randrange(1, len(links))
    bad = rng.choice(
        ["", inertial(-1.0, [1, 0, 0, 1, 0, 1]), inertial(0.0, [1, 0, 0, 1, 0, 1]), inertial(2.0, [9, 0, 0, 1, 0, 1])]
    )
    links[place] = f'<link name="l{place}">{bad}</link>'
    stated = [{"name": f"l{place}", "mass": 7.0, "inertia": [3.0, 3.0, 4.0]}]
    content = dockdyn.load(written(tmp_path, whole(links, joints), more=stated)).content
    assert [one.mass for one in content.body if one.name.endswith(f"l{place}")] == [7.0]


def test_a_mass_of_the_scenario_is_where_it_says(tmp_path):
    """`position` is the centre of mass in the link's axes, of a link without a mass in the file."""
    links, joints = ['<link name="l0"/>'], []
    beside = {"position": [1.0, 0.0, 0.0], "attitude": [0.0, 0.0, 0.0, 1.0]}
    stated = [{"name": "l0", "mass": 7.0, "inertia": [3.0, 3.0, 4.0], "position": ["50 cm", 0, 0]}]
    body = dockdyn.load(written(tmp_path, whole(links, joints), beside, stated)).content.body[-1]
    assert body.position == pytest.approx([0.5, 0, 0]) and body.name == "arm.l0"


def impossible(seed: int) -> tuple[float, np.ndarray]:
    """A mass (kg) and an inertia that no body has, by its principal moments: too large a one, a negative one, or zeros."""
    rng = np.random.default_rng(seed)
    kinds = [
        [1.0, 1.0, rng.uniform(2.1, 9)],
        [-rng.uniform(0.1, 2), 1.0, 2.0],
        [0.0, 1.0, 1.0],
        [0.0, 0.0, 0.0],
        [-1.0, -2.0, -1.0],
    ]
    axes = Rotation.random(rng=rng).as_matrix()
    found = axes @ np.diag(kinds[seed % len(kinds)]) @ axes.T
    return float(rng.uniform(0.5, 4)), (found + found.T) / 2


@pytest.mark.full_cases("0", "7")
@pytest.mark.parametrize("seed", SEEDS)
def test_impossible_inertias_are_refused_by_link_and_repaired_to_the_nearest(seed, tmp_path, monkeypatch, capsys):
    """Beside an optimiser's second-moment matrix m ℓ² 1 + L Lᵀ, ℓ = 0.1 mm, nearest in the Frobenius norm."""
    mass, inertia = impossible(seed)
    links, joints, _ = parts(seed, 3)
    links[2] = f'<link name="l2">{inertial(mass, inertia[np.triu_indices(3)].tolist())}</link>'
    said = refused(monkeypatch, capsys, "run", str(written(tmp_path, whole(links, joints))))
    assert "arm.urdf" in said and "link l2: inertia: must " in said and 'inertia = "repair"' in said
    scenario = dockdyn.load(written(tmp_path, whole(links, joints), {"inertia": "repair"}))
    body = next(one for one in scenario.content.body if one.name == "arm.l2")
    least = mass * 1e-8 * np.eye(3)
    given = np.trace(inertia) / 2 * np.eye(3) - inertia

    def made(numbers):
        lower = np.zeros((3, 3))
        lower[np.tril_indices(3)] = numbers
        return least + lower @ lower.T

    starts = np.random.default_rng(seed).normal(size=(4, 6))
    ends = [
        minimize(lambda x: np.sum((made(x) - given) ** 2), start, method="BFGS", options={"gtol": 1e-10})
        for start in starts
    ]
    best = made(min(ends, key=lambda end: end.fun).x)
    found = np.trace(body.inertia) / 2 * np.eye(3) - np.array(body.inertia)
    np.testing.assert_allclose(found, best, rtol=0, atol=2e-5)
    assert np.sum((found - given) ** 2) <= min(end.fun for end in ends) * (1 + 1e-9) + 1e-12
    assert np.linalg.eigvalsh(found)[0] > 0.99 * mass * 1e-8
    told = [line for line in dockdyn.check_numbers(scenario) if "link l2: inertia repaired" in line]
    assert len(told) == 1 and dockdyn.load(scenario.text()).content == scenario.content


@pytest.mark.parametrize("seed", SEEDS)
def test_possible_inertias_are_left_as_they_are(seed, tmp_path):
    text = whole(*parts(seed)[:2])
    plain = dockdyn.load(written(tmp_path, text)).content
    assert dockdyn.load(written(tmp_path, text, {"inertia": "repair"})).content == plain


@pytest.mark.parametrize("seed", SEEDS)
def test_no_link_vanishes(seed, tmp_path):
    """Of a mechanism every link is a body, or without mass a point of the body on which it is, where the file has it."""
    rng = random.Random(seed)
    links, joints, _ = parts(seed, 8)
    bare = rng.sample(range(1, 8), 4)
    for place in bare:
        links[place] = f'<link name="l{place}"/>'
        joints[place - 1] = (
            joints[place - 1].replace('type="revolute"', 'type="fixed"').replace('type="prismatic"', 'type="fixed"')
        )
        joints[place - 1] = joints[place - 1].replace('type="continuous"', 'type="fixed"')
    content = dockdyn.load(written(tmp_path, whole(links, joints))).content
    bodies = {body.name.removeprefix("arm.") for body in content.body}
    points = [point.name for body in content.body for point in body.port]
    assert bodies == {"bus", *(f"l{n}" for n in range(8) if n not in bare)}
    assert sorted(name for name in points if name.startswith("l")) == sorted(f"l{place}" for place in bare)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("declared", [True, False])
def test_the_world_is_what_carries_the_arm(seed, declared, tmp_path, monkeypatch, capsys):
    """A root `world` without mass, declared or not: locked to a body of the scenario, and refused in space."""
    links, joints, _ = parts(seed)
    joints.append(
        '<joint name="base" type="fixed"><parent link="world"/><child link="l0"/><origin xyz="0 0 2"/></joint>'
    )
    text = whole([*links, '<link name="world"/>'] if declared else links, joints)
    file = written(tmp_path, text)
    content = dockdyn.load(file).content
    root = next(body for body in content.body if body.name == "arm.l0")
    assert root.on == "bus" and root.joint.kind == "locked"
    assert [point.name for point in content.named("bus").port] == ["centre-of-mass", "arm-world"]
    held = 'on = "bus"\n'
    file.write_text(file.read_text().replace(held, "", 1))
    assert "link world: stays where it is" in refused(monkeypatch, capsys, "run", str(file))


def wrong(defect: str, seed: int) -> tuple[str, list[str]]:
    """A file with a defect, and what is to be said of it."""
    rng = random.Random(seed)
    links, joints, _ = parts(seed)
    n = rng.randrange(1, len(links))
    last = joints[n - 1]
    mimic = '<mimic joint="{}" multiplier="2"/></joint>'
    if defect == "two links":
        return whole([*links, f'<link name="l{n}"/>'], joints), [f"link l{n}", "two of this name"]
    if defect == "two joints":
        again = f'<joint name="j{n}" type="fixed"><parent link="l0"/><child link="tip"/></joint>'
        return whole([*links, '<link name="tip"/>'], [*joints, again]), [f"joint j{n}", "two of this name"]
    if defect == "number":
        value = rng.choice(["1,5", "nan", "${x}", "1 2", "", "inf", "0x1"])
        joints[n - 1] = last.replace('xyz="0 1 1"', f'xyz="{value}"')
        return whole(links, joints), [f"joint j{n}: axis = {value!r}", "must be three finite numbers"]
    if defect == "limit":
        joints[n - 1] = last.replace('lower="-1"', 'lower="a"').replace("continuous", "revolute")
        return whole(links, joints), [f"joint j{n}: lower = 'a'", "must be a finite number"]
    if defect == "mass":
        value = rng.choice(["-2", "heavy", "nan", "1e400", "0"])
        links[n] = f'<link name="l{n}">{inertial(value, [1, 0, 0, 1, 0, 1])}</link>'
        return whole(links, joints), [f"link l{n}: mass = ", "must be "]
    if defect == "massless":
        links[n] = f'<link name="l{n}"/>'
        joints = [joint for joint in joints if f'<parent link="l{n}"/>' not in joint]
        held = {int(joint.split('"')[1][1:]) for joint in joints} | {0}
        while kept := [j for j in joints if int(j.split('parent link="l')[1].split('"')[0]) not in held]:
            joints = [joint for joint in joints if joint not in kept]
            held = {int(joint.split('"')[1][1:]) for joint in joints} | {0}
        return whole([link for m, link in enumerate(links) if m in held], joints), [f"link l{n}: ", "must have "]
    if defect == "mimic of none":
        joints[n - 1] = last.replace("</joint>", mimic.format("j77"))
        return whole(links, joints), [f"joint j{n}: <mimic> joint = 'j77': no such joint"]
    if defect == "mimic of itself":
        joints[n - 1] = last.replace("</joint>", mimic.format(f"j{n}"))
        return whole(links, joints), [f"joint j{n}: <mimic>", "circle"]
    if defect == "xacro":
        left = rng.choice(
            ["<xacro:include filename='a'/>", "<xacro:macro name='a'/>", "<x:if xmlns:x='http://ros.org/wiki/xacro'/>"]
        )
        return whole([*links, left], joints), ["of xacro; must be expanded first"]
    if defect == "entities":
        entity = '<!DOCTYPE robot [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;">]>'
        other = '<!DOCTYPE robot [<!ENTITY b SYSTEM "file:///etc/passwd">]>'
        return rng.choice([entity, other]) + whole(links, joints).replace('"r"', '"&b;"'), [
            "<!DOCTYPE>",
            "must have none",
        ]
    if defect == "twice inside":
        joints[n - 1] = last.replace("<axis", '<axis xyz="1 0 0"/><axis')
        return whole(links, joints), [f"joint j{n}: has 2 <axis>; must have one"]
    if defect == "encoding":
        return f'<?xml version="1.0" encoding="{rng.choice(["utf-99", "utf-7", "nothing"])}"?>' + whole(
            links, joints
        ), ["not XML"]
    raise ValueError(defect)


DEFECTS = ["two links", "two joints", "number", "limit", "mass", "massless", "mimic of none", "mimic of itself", "xacro",
           "entities", "twice inside", "encoding"]  # fmt: skip


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("defect", DEFECTS)
def test_what_is_wrong_is_said_in_one_line(defect, seed, tmp_path, monkeypatch, capsys):
    urdf, words = wrong(defect, seed)
    said = refused(monkeypatch, capsys, "run", str(written(tmp_path, urdf)))
    assert "arm.urdf" in said or defect == "massless"
    for word in words:
        assert word in said


@pytest.mark.full_cases("0")
@pytest.mark.parametrize("seed", SEEDS)
def test_a_follower_is_led_and_never_free(seed, tmp_path, monkeypatch, capsys):
    """In a mechanism it follows; in a plan it is not on the way."""
    rng = random.Random(seed)
    links, joints, _ = parts(seed)
    leader, follower = rng.sample(range(1, len(links)), 2)
    ratio, offset = rng.uniform(-2, 2), rng.uniform(-1, 1)
    mimic = f'<mimic joint="j{leader}" multiplier="{ratio}" offset="{offset}"/></joint>'
    joints[follower - 1] = joints[follower - 1].replace("</joint>", mimic)
    text = whole(links, joints)
    joint = dockdyn.load(written(tmp_path, text)).content.named(f"arm.l{follower}").joint
    assert (joint.kind, joint.follows, joint.ratio, joint.offset) == ("mimic", f"arm.l{leader}", ratio, offset)
    own, of_leader = ("continuous" not in joints[n - 1] for n in (follower, leader))
    both = [(-1.0, 2.0)] * of_leader + [tuple(sorted((end - offset) / ratio for end in (-1.0, 2.0)))] * own
    low, high = max((low for low, _ in both), default=None), min((high for _, high in both), default=None)
    content = dockdyn.load(written(tmp_path, text))
    assert content.content.named(f"arm.l{leader}").joint.range == (pytest.approx([low, high]) if both else None)
    joints[follower - 1] = joints[follower - 1].replace('lower="-1" upper="2"', 'lower="900" upper="901"')
    far = dockdyn.load(written(tmp_path, whole(links, joints)))
    if own and of_leader:
        assert [
            line
            for line in dockdyn.check_numbers(far)
            if f"link l{follower}: limits of its joint leave no room" in line
        ]
        assert far.content.named(f"arm.l{leader}").joint.range == [-1.0, 2.0]
    plan = ("identify", "plan", str(tmp_path / "p.csv"), "--urdf", str(tmp_path / "arm.urdf"), "--tip", f"l{follower}")
    assert f"joint j{follower}: <mimic>" in refused(monkeypatch, capsys, *plan)


def test_a_large_file_is_refused_before_it_is_held(tmp_path, monkeypatch, capsys):
    """More links than any robot has; and shapes, of which nothing is kept, however many they are."""
    many = whole([f'<link name="m{n}"/>' for n in range(2000)], [])
    assert "2000 links; must have at most 1000" in refused(monkeypatch, capsys, "run", str(written(tmp_path, many)))
    links, joints, _ = parts(1)
    deep = "<visual>" + "<a>" * 100000 + "</a>" * 100000 + "</visual></link>"
    links[1] = links[1].replace("</link>", deep)
    assert len(dockdyn.load(written(tmp_path, whole(links, joints))).content.body) == 7
