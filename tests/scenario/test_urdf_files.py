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
from dockdyn.studies.identification.urdf_arm import urdf_arm

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


class Chain:
    """Joints j1 to j4 on one body, each after the first following the one before, in any order; and their coordinates."""

    def __init__(self, seed: int):
        self.rng = rng = np.random.default_rng(seed)
        self.ratios, self.offsets = rng.choice([-1, 1], 3) * rng.uniform(0.4, 2, 3), rng.uniform(-1, 1, 3)
        self.kinds = rng.choice(["revolute", "prismatic"], 4)
        self.places, self.axes, self.centres = rng.uniform(-1, 1, (3, 4, 3))
        self.order = rng.permutation(4)

    def coordinates(self, value: float, of: int = 0) -> list[float]:
        """The coordinates of joint number `of`, which is `value`, and of each behind it."""
        found = [value]
        for ratio, offset in zip(self.ratios[of:], self.offsets[of:], strict=True):
            found.append(ratio * found[-1] + offset)
        return found

    def urdf(self, kinds=None, inner: list[str] | None = None) -> str:
        links, joints = [], []
        kinds, inner = self.kinds if kinds is None else kinds, inner or [""] * 4

        def row(numbers):
            return " ".join(map(repr, map(float, numbers)))

        for n in range(4):
            follows = (
                f'<mimic joint="j{n}" multiplier="{self.ratios[n - 1]}" offset="{self.offsets[n - 1]}"/>' if n else ""
            )
            mass = inertial(1.0, [1, 0, 0, 1, 0, 1]).replace(">", f'><origin xyz="{row(self.centres[n])}"/>', 1)
            links.append(f'<link name="l{n + 1}">{mass}</link>')
            joints.append(
                f'<joint name="j{n + 1}" type="{kinds[n]}"><parent link="l0"/><child link="l{n + 1}"/>'
                f'<origin xyz="{row(self.places[n])}"/><axis xyz="{row(self.axes[n])}"/>{follows}{inner[n]}</joint>'
            )
        root = f'<link name="l0">{inertial(9.0, [1, 0, 0, 1, 0, 1])}</link>'
        return whole([root, *(links[n] for n in self.order)], [joints[n] for n in self.order])

    def limits(self, known: list[int]) -> tuple[list[str], list[tuple[float, float]]]:
        """Limits about one motion of the joints with these numbers, as the file has them, and of each joint."""
        middles = self.coordinates(self.rng.uniform(-1, 1))
        ends = [
            (middle - below, middle + above) if n in known else (-np.inf, np.inf)
            for n, (middle, (below, above)) in enumerate(zip(middles, self.rng.uniform(0.1, 2, (4, 2)), strict=True))
        ]
        return [limit(*each) if n in known else "" for n, each in enumerate(ends)], ends

    def within(self, value: float, ends: list[tuple[float, float]]) -> bool:
        """Whether all are within limits where the first is at `value`."""
        return all(low <= q <= high for q, (low, high) in zip(self.coordinates(value), ends, strict=True))

    def check_ends(self, found: list[float], ends: list[tuple[float, float]]) -> None:
        """All joints are within limits up to both ends of what the first may do, and one is not beyond."""
        low, high = found
        slack = 1e-9 * max(1.0, abs(low), abs(high))
        assert low < high and self.within(low + slack, ends) and self.within(high - slack, ends)
        assert not self.within(low - slack, ends) and not self.within(high + slack, ends)


def limit(low: float, high: float) -> str:
    return f'<limit lower="{low}" upper="{high}" effort="1" velocity="1"/>'


def joints_of(file) -> dict:
    return {body.name: body.joint for body in dockdyn.load(file).content.body}


@pytest.mark.parametrize("by", ["scenario", "file"])
@pytest.mark.parametrize("place", range(4))
@pytest.mark.parametrize("seed", range(4))
def test_what_follows_a_locked_joint_is_locked_with_it(seed, place, by, tmp_path):
    """At any place of a chain: what is behind it stays where it puts it, what is before follows the first."""
    chain = Chain(seed)
    start = float(chain.rng.uniform(-1, 1)) if by == "scenario" else 0.0
    kinds = ["fixed" if n == place and by == "file" else kind for n, kind in enumerate(chain.kinds)]
    stated = [{"name": f"l{place + 1}", "joint": {"kind": "locked", "start": start}}] if by == "scenario" else []
    content = dockdyn.load(written(tmp_path, chain.urdf(kinds), more=stated)).content
    for n, value in enumerate(chain.coordinates(start, place), place):
        body, slides = content.named(f"arm.l{n + 1}"), kinds[n] == "prismatic"
        axis = np.zeros(3) if kinds[n] == "fixed" else chain.axes[n] / np.linalg.norm(chain.axes[n])
        turn = Rotation.from_rotvec(axis * (0.0 if slides else value))
        assert body.joint.kind == "locked"
        at = chain.places[n] + turn.apply(chain.centres[n]) + axis * (value if slides else 0.0)
        np.testing.assert_allclose(body.position, at, rtol=0, atol=1e-12)
        turned = Rotation.from_quat(body.attitude, scalar_first=True)
        assert (turned * turn.inv()).magnitude() < 1e-12
    for n in range(1, place):
        joint = content.named(f"arm.l{n + 1}").joint
        assert (joint.kind, joint.follows) == ("mimic", "arm.l1")
        for value in (-0.7, 1.9):
            assert joint.ratio * value + joint.offset == pytest.approx(chain.coordinates(value)[n], abs=1e-12)
    assert place == 0 or content.named("arm.l1").joint.kind == chain.kinds[0]


@pytest.mark.parametrize("stops", [True, False])
@pytest.mark.parametrize("known", [[0], [1], [3], [0, 2], [1, 3], [0, 1, 2, 3]])
@pytest.mark.parametrize("seed", range(3))
def test_limits_of_a_chain_are_those_of_all_its_joints(seed, known, stops, tmp_path):
    """As end stops of the first where their stiffness is stated, else as the range that a run tells of."""
    chain = Chain(seed)
    inner, ends = chain.limits(known)
    stated = [{"name": "l1", "joint": {"stop_stiffness": 1e4}}] if stops else []
    key, other = ("stroke", "range") if stops else ("range", "stroke")
    leader = joints_of(written(tmp_path, chain.urdf(inner=inner), more=stated))["arm.l1"]
    chain.check_ends(getattr(leader, key), ends)
    assert getattr(leader, other) is None


@pytest.mark.parametrize("stops", [True, False])
@pytest.mark.parametrize("known", [[3], [0, 3], [1, 3], [0, 1, 2, 3]])
@pytest.mark.parametrize("seed", range(3))
def test_limits_without_room_in_those_before_are_told_and_those_stay(seed, known, stops, tmp_path):
    """Before them are the leader's, and then those of its followers as they stand in the file."""
    chain = Chain(seed)
    inner, ends = chain.limits(known)
    far = chain.coordinates(0.0)[3] + 900
    inner[3], ends[3] = limit(far, far + 1), (far, far + 1)
    first = min(known, key=lambda n: (n != 0, chain.order.tolist().index(n)))
    without = [3] if first != 3 else [n for n in known if n != 3]
    for n in without:
        ends[n] = (-np.inf, np.inf)
    stated = [{"name": "l1", "joint": {"stop_stiffness": 1e4}}] if stops else []
    scenario = dockdyn.load(written(tmp_path, chain.urdf(inner=inner), more=stated))
    leader = scenario.content.named("arm.l1").joint
    chain.check_ends(leader.stroke if stops else leader.range, ends)
    told = [
        line for line in dockdyn.check_numbers(scenario) if "limits of its joint leave no room in those of 'j1'" in line
    ]
    assert len(told) == len(without) and all(any(f"link l{n + 1}:" in line for line in told) for n in without)


@pytest.mark.parametrize("seed", range(3))
def test_limits_that_the_scenario_states_of_the_leader_stay(seed, tmp_path):
    """A stroke, and a range, with units; beside a stated range the stops are those of all joints."""
    chain = Chain(seed)
    chain.kinds[0] = "revolute"
    inner, ends = chain.limits([0, 1, 2, 3])
    own = ["-20 deg", "500 deg"]
    turned = pytest.approx(np.radians([-20, 500]).tolist())

    def leader(**joint):
        return joints_of(written(tmp_path, chain.urdf(inner=inner), more=[{"name": "l1", "joint": joint}]))["arm.l1"]

    stopped, ranged, both = (
        leader(stroke=own, stop_stiffness=1e4),
        leader(range=own),
        leader(range=own, stop_stiffness=1e4),
    )
    assert stopped.stroke == ranged.range == both.range == turned
    assert stopped.range is None and ranged.stroke is None
    chain.check_ends(both.stroke, ends)


@pytest.mark.parametrize("seed", range(3))
def test_a_plan_keeps_what_follows_beside_the_way_within_limits_and_speed(seed, tmp_path):
    chain = Chain(seed)
    inner, ends = chain.limits([0, 1, 2, 3])
    speeds = chain.rng.uniform(0.5, 2, 4)
    inner = [text.replace('velocity="1"', f'velocity="{speed}"') for text, speed in zip(inner, speeds, strict=True)]
    file = tmp_path / "arm.urdf"
    file.write_text(chain.urdf(inner=inner), encoding="utf-8")
    arm = urdf_arm(file, "l1", None)
    chain.check_ends([arm.lower[0], arm.upper[0]], ends)
    moved = np.abs(np.subtract(chain.coordinates(arm.rate[0]), chain.coordinates(0.0)))
    assert np.max(moved / speeds) == pytest.approx(1.0)
    far = [*inner[:2], limit(900, 901), inner[3]]
    file.write_text(chain.urdf(inner=far), encoding="utf-8")
    with pytest.raises(dockdyn.ScenarioError, match="joint j3: <limit>: leaves no room in the limits of 'j1'"):
        urdf_arm(file, "l1", None)


def test_a_large_file_is_refused_before_it_is_held(tmp_path, monkeypatch, capsys):
    """More links than any robot has; and shapes, of which nothing is kept, however many they are."""
    many = whole([f'<link name="m{n}"/>' for n in range(2000)], [])
    assert "2000 links; must have at most 1000" in refused(monkeypatch, capsys, "run", str(written(tmp_path, many)))
    links, joints, _ = parts(1)
    deep = "<visual>" + "<a>" * 100000 + "</a>" * 100000 + "</visual></link>"
    links[1] = links[1].replace("</link>", deep)
    assert len(dockdyn.load(written(tmp_path, whole(links, joints))).content.body) == 7
