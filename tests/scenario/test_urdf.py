"""Links from URDF files: against Pinocchio's reading of them, against trees written by hand, and what is refused."""

from __future__ import annotations

import sys
from xml.sax.saxutils import quoteattr

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import tomlkit
from scipy.spatial.transform import Rotation

import dockdyn
from dockdyn.cli import main as cli
from dockdyn.kinds.berthing.control import settling
from dockdyn.mechanics.trees.assembly import Link
from dockdyn.mechanics.trees.composite_bodies import Configuration
from dockdyn.pages import report_html
from dockdyn.results.plan import jit_once

compiled = jit_once(lambda tree, q, v: tree.dynamics(q, v)[:2])


def numbers(values) -> str:
    return " ".join(repr(float(value)) for value in values)


def origin(rng: np.random.Generator) -> str:
    return f'<origin xyz="{numbers(rng.uniform(-1, 1, 3))}" rpy="{numbers(rng.uniform(-3, 3, 3))}"/>'


def inertial(rng: np.random.Generator) -> str:
    mass = rng.uniform(1, 9)
    axes = Rotation.random(rng=rng).as_matrix()
    moments = axes @ np.diag(mass * rng.uniform(0.2, 0.35, 3)) @ axes.T
    parts = zip(("ixx", "ixy", "ixz", "iyy", "iyz", "izz"), moments[np.triu_indices(3)], strict=True)
    inertia = " ".join(f'{name}="{float(value)!r}"' for name, value in parts)
    return f'<inertial>{origin(rng)}<mass value="{mass!r}"/><inertia {inertia}/></inertial>'


def random_urdf(seed: int, size: int) -> str:
    """Links on any link before them; frames without mass on fixed joints; meshes that are nowhere."""
    rng = np.random.default_rng(seed)
    mesh = '<visual><geometry><mesh filename="package://nowhere/link.stl"/></geometry></visual>'
    parts = [f'<robot name="random"><link name="l0">{inertial(rng)}{mesh}</link>']
    for k in range(1, size + 1):
        kind = str(rng.choice(["revolute", "continuous", "prismatic", "fixed"], p=[0.4, 0.1, 0.3, 0.2]))
        parts.append(f'<link name="l{k}">{inertial(rng)}{mesh}</link>')
        limit = "" if kind in ("continuous", "fixed") else '<limit lower="-3" upper="3" effort="1" velocity="1"/>'
        parts.append(
            f'<joint name="j{k}" type="{kind}"><parent link="l{rng.integers(max(0, k - 3), k)}"/><child link="l{k}"/>'
            f'{origin(rng)}<axis xyz="{numbers(rng.normal(size=3))}"/>{limit}</joint>'
        )
        if k % 3 == 0:
            parts.append(f'<link name="tool{k}"/><joint name="t{k}" type="fixed"><parent link="l{k}"/>')
            parts.append(f'<child link="tool{k}"/>{origin(rng)}</joint>')
    return "\n".join([*parts, "</robot>"])


TARGET = {"link": [{"name": "payload", "mass": 3.0, "inertia": [1.0, 1.0, 1.0]}]}


def scenario(tmp_path, chaser, urdf=None, **given):
    """A file with this chaser, and its URDF beside it."""
    if urdf is not None:
        (tmp_path / "arm.urdf").write_text(urdf, encoding="utf-8")
        chaser = {"urdf": "arm.urdf", **chaser}
    file = tmp_path / "berthing.toml"
    contact = {"chaser": "l0", "target": "payload", "target_radius": 0.1}
    content = {"schema": 1, "kind": "berthing", "duration": 1.0, "contact": contact, "impact": {"law": "pin"}}
    file.write_text(tomlkit.dumps({**content, "target": TARGET, **given, "chaser": chaser}), encoding="utf-8")
    return file


@pytest.mark.parametrize(
    ("seed", "size"),
    [(1, 12), (2, 7), *(pytest.param(seed, 12, marks=pytest.mark.full) for seed in range(3, 9))],
)
def test_random_trees_against_pinocchio(tmp_path, seed, size):
    """Mass matrix and velocity-dependent terms of a free-flying tree, as Pinocchio has them from the same file."""
    pin = pytest.importorskip("pinocchio", reason="cross-check with Pinocchio (tests only)")
    content = dockdyn.load(scenario(tmp_path, {}, random_urdf(seed, size))).content
    tree = content.chaser.tree(content.flexible, False, Link("grip", "l0", joint="locked"))
    model = pin.buildModelFromUrdf(str(tmp_path / "arm.urdf"), pin.JointModelFreeFlyer())
    model.gravity = pin.Motion.Zero()
    names = [link.coordinate for link in content.chaser.joints()]
    kinds = {link.joint for link in content.chaser.joints()}
    assert kinds == {"revolute", "prismatic"} and len(names) == model.nv - 6
    rng = np.random.default_rng(seed)
    place, turn, joints, v = rng.normal(size=3), Rotation.random(rng=rng), rng.uniform(-2, 2, len(names)), None
    v = rng.normal(size=model.nv)
    there, columns, there_v = pin.neutral(model), list(range(6)), np.zeros(model.nv)
    there[:7] = [*place, *turn.as_quat()]
    for name, value in zip(names, joints, strict=True):
        joint = model.joints[model.getJointId(name)]
        columns.append(joint.idx_v)
        there[joint.idx_q : joint.idx_q + joint.nq] = [value] if joint.nq == 1 else [np.cos(value), np.sin(value)]
    there_v[columns] = v
    data = model.createData()
    mass = pin.crba(model, data, there)
    mass = (np.triu(mass) + np.triu(mass, 1).T)[np.ix_(columns, columns)]
    bias = pin.nonLinearEffects(model, data, there, there_v)[columns]

    attitude = jnp.asarray(turn.as_quat(scalar_first=True))
    q = Configuration(jnp.asarray(place), attitude, jnp.asarray(joints), jnp.zeros((0, 4)), jnp.zeros(0))
    found, h = jax.tree.map(np.asarray, compiled(tree, q, jnp.asarray(v)))
    np.testing.assert_allclose(found, mass, rtol=0, atol=1e-10 * np.abs(mass).max())
    np.testing.assert_allclose(h, bias, rtol=0, atol=1e-10 * np.abs(bias).max())


ARM = """<robot name="arm">
<link name="mount"><inertial><mass value="4"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1.5"/></inertial></link>
<link name="upper"><inertial><mass value="9"/><inertia ixx="1" ixy="0" ixz="0" iyy="5" iyz="0" izz="5"/></inertial></link>
<link name="slide"><inertial><origin xyz="0.2 0.1 0" rpy="0 0 1.5707963267948966"/><mass value="2"/>
  <inertia ixx="0.1" ixy="0" ixz="0" iyy="0.2" iyz="0" izz="0.25"/></inertial></link>
<link name="tool0"/>
<joint name="shoulder" type="revolute"><parent link="mount"/><child link="upper"/><origin xyz="0.5 0 0" rpy="0 0 0.3"/>
  <axis xyz="0 0 1"/><dynamics damping="0.7" friction="0"/><limit effort="1" velocity="1"/></joint>
<joint name="reach" type="prismatic"><parent link="upper"/><child link="slide"/><origin xyz="3.25 0 0" rpy="0 0 -0.6"/>
  <axis xyz="1 0 0"/><limit lower="0" upper="1" effort="1" velocity="1"/></joint>
<joint name="flange" type="fixed"><parent link="slide"/><child link="tool0"/><origin xyz="0.4 0 0"/></joint>
</robot>"""
BUS = {"name": "bus", "mass": "900 kg", "inertia": [300.0, 300.0, 500.0]}
BEAM = {"length": "3 m", "mass": "8 kg", "bending": "700 N m**2"}
UPPER = {"start": "20 deg", "start_rate": "2 deg/s", "beam": BEAM}
SLIDE = {"at": "tip", "start": "5 cm", "start_rate": "1 cm/s", "stiffness": "40 N/m"}
ENTRIES = [
    BUS,
    {"name": "mount", "parent": "bus", "mount": [0.0, 1.0, 0.0]},
    {"name": "upper", **UPPER},
    {"name": "slide", **SLIDE},
]
GIVEN = {
    "duration": 0.5,
    "motion": "planar",
    "flexible": {"modes": 1},
    "contact": {"chaser": "tool0", "target": "payload", "target_position": [0.0, 0.3, 0.0]},
    "impact": {"law": "weld"},
    "control": {"law": "rate-damping", "damping": ["30 N m s/rad", "50 N s/m"], "limit": ["9 N m", "7 N"]},
}


def turned(angle):
    return [float(np.cos(angle / 2)), 0.0, 0.0, float(np.sin(angle / 2))]


BY_HAND = [
    {
        "name": "mount",
        "parent": "bus",
        "joint": "locked",
        "mount": [0.0, 1.0, 0.0],
        "mass": 4.0,
        "inertia": [1.0, 1.0, 1.5],
    },
    {
        "name": "upper",
        "parent": "mount",
        "coordinate": "shoulder",
        "mount": [0.5, 0.0, 0.0],
        "mount_attitude": turned(0.3),
        "damping": "0.7 N m s/rad",
        **UPPER,
    },
    {
        "name": "slide",
        "parent": "upper",
        "joint": "prismatic",
        "coordinate": "reach",
        "axis": [1.0, 0.0, 0.0],
        "mount": [0.25, 0.0, 0.0],
        "mount_attitude": turned(-0.6),
        "mass": 2.0,
        "centre": [0.2, 0.1, 0.0],
        "inertia": [0.2, 0.1, 0.25],
        **SLIDE,
    },
    {"name": "tool0", "parent": "slide", "joint": "locked", "mount": [0.4, 0.0, 0.0]},
    BUS,
]


@pytest.fixture(scope="module")
def from_urdf(tmp_path_factory):
    return dockdyn.simulate(dockdyn.load(scenario(tmp_path_factory.mktemp("arm"), {"link": ENTRIES}, ARM, **GIVEN)))


@pytest.mark.full
def test_an_arm_from_a_urdf_with_a_flexible_link_is_the_one_written_by_hand(tmp_path, from_urdf):
    by_hand = dockdyn.simulate(dockdyn.load(scenario(tmp_path, {"link": BY_HAND}, **GIVEN)))
    assert by_hand.attrs["finished"] and float(by_hand.tip_deflection.max()) > 1e-5
    assert set(by_hand.data_vars) == set(from_urdf.data_vars)
    for name, variable in by_hand.data_vars.items():
        scale = np.nanmax(np.abs(variable.values), initial=0)
        np.testing.assert_allclose(
            from_urdf[name].values, variable.values, rtol=0, atol=1e-11 * scale, err_msg=str(name)
        )


@pytest.mark.full
def test_a_result_holds_all_that_the_urdf_said(tmp_path, from_urdf):
    """The stored scenario gives the same run without the URDF."""
    text = from_urdf.attrs["scenario"]
    assert "urdf" not in text
    (tmp_path / "again.toml").write_text(text, encoding="utf-8")
    again = dockdyn.simulate(dockdyn.load(tmp_path / "again.toml"))
    assert again.drop_attrs().identical(from_urdf.drop_attrs())
    assert {**again.attrs, "wall_time_s": 0} == {**from_urdf.attrs, "wall_time_s": 0}


@pytest.mark.full
def test_joints_of_two_kinds_in_results(from_urdf):
    """Each in its units, momentum kept, and control within its limits."""
    assert list(from_urdf.joint.values) == ["shoulder", "reach"]
    assert list(from_urdf.joint_unit.values) == ["rad", "m"]
    assert from_urdf.joint_angle.values[0] == pytest.approx([np.radians(20), 0.05])
    assert float(abs(from_urdf.torque.sel(coordinate="reach")).max()) <= 7
    summary = dockdyn.summarise(from_urdf)
    assert summary["angular_momentum_error"] < 1e-9 and summary["linear_momentum_error"] < 1e-9
    page = report_html(from_urdf)
    for words in ("Largest force", "Joint travel and speeds", "0.05 deg/s and 1 mm/s"):
        assert words in page


@pytest.mark.full
def test_settling_of_joints_of_two_kinds(from_urdf):
    """The limit of a slide is 1 mm/s, that of what turns 0.05 °/s."""
    made = from_urdf.copy(deep=True)
    names = list(made.coordinate.values)
    made.coordinate_rate[:] = 0.0
    made.coordinate_rate[:9, names.index("reach")] = 1.1e-3
    made.coordinate_rate[9:30, names.index("reach")] = 0.9e-3
    assert settling(made) == float(made.time[9])
    made.coordinate_rate[:20, names.index("shoulder")] = 0.9e-3
    assert settling(made) == float(made.time[20])


def swapped(text, old, new):
    assert old in text
    return text.replace(old, new, 1)


LOOP = '<joint name="back" type="fixed"><parent link="tool0"/><child link="mount"/></joint></robot>'
TWICE = '<joint name="back" type="fixed"><parent link="mount"/><child link="slide"/></joint></robot>'
MASS_0 = swapped(ARM, '<joint name="flange" type="fixed">', '<joint name="flange" type="continuous">')
NO_MASS = swapped(ARM, '<inertial><mass value="4"/>', '<inertial><mass value="0"/>')


def changed(index, **entry):
    found = [dict(item) for item in ENTRIES]
    found[index] |= entry
    return {"link": found}


BAD = [
    ("not XML", ARM[:-9], {}, ["chaser.urdf = 'arm.urdf'", "not XML"]),
    ("no robot", "<sdf/>", {}, ["<sdf>", "<robot>"]),
    ("no inertia", swapped(ARM, ' iyy="0.2"', ""), {}, ["link slide", "iyy"]),
    ("no number", swapped(ARM, 'value="2"', 'value="heavy"'), {}, ["link slide: mass = 'heavy'", "a finite number"]),
    ("mass -9", swapped(ARM, 'value="2"', 'value="-2"'), {}, ["link slide: mass = -2", "above 0"]),
    ("mass nan", swapped(ARM, 'value="2"', 'value="nan"'), {}, ["link slide: mass", "finite"]),
    ("type", swapped(ARM, 'type="prismatic"', 'type="planar"'), {}, ["joint reach: type = 'planar'", "prismatic"]),
    ("floating", swapped(ARM, 'type="prismatic"', 'type="floating"'), {}, ["joint reach: type = 'floating'"]),
    ("mimic", swapped(ARM, '<axis xyz="1 0 0"/>', '<mimic joint="shoulder"/>'), {}, ["joint reach", "<mimic>"]),
    (
        "axis",
        swapped(ARM, '<axis xyz="1 0 0"/>', '<axis xyz="0 0 0"/>'),
        {},
        ["joint reach: axis", "not all of them 0"],
    ),
    ("damping", swapped(ARM, 'damping="0.7"', 'damping="-1"'), {}, ["joint shoulder: damping = '-1'", "at least 0"]),
    ("nowhere", swapped(ARM, '<parent link="slide"/>', '<parent link="slid"/>'), {}, ["flange", "'slid'", "'slide'?"]),
    ("apart", swapped(ARM, "</robot>", '<link name="lost"/></robot>'), {}, ["2 links have no parent", "lost"]),
    ("loop", swapped(ARM, "</robot>", LOOP), {}, ["0 links have no parent"]),
    ("two joints", swapped(ARM, "</robot>", TWICE), {}, ["link slide: two joints lead to it (reach, back)"]),
    ("mass 0", MASS_0, {}, ["link tool0: mass 0 on a leaf", "revolute"]),
    ("inertia without mass", NO_MASS, {}, ["link mount: mass = 0", "inertia of 0"]),
    ("xacro", swapped(ARM, "</robot>", '<a:macro xmlns:a="http://ros.org/xacro"/></robot>'), {}, ["macro", "expanded"]),
    ("zero EI", ARM, changed(2, beam={**BEAM, "bending": 0}), ["beam.bending = 0", "greater than 0 N*m**2"]),
    (
        "not at the tip",
        ARM,
        {"link": [e for e in ENTRIES if e["name"] != "slide"]},
        ["link slide: mount = [3.25", '"tip"'],
    ),
    ("unknown link", ARM, {"link": [{"name": "uper", "start": 0.1}]}, ["chaser.link.uper", "no link", "'upper'?"]),
    ("unknown joint", ARM, {"link": [{"name": "reach", "start": 0.1}]}, ["chaser.link.reach", "is a joint", "'slide'"]),
    ("said twice", ARM, changed(3, mount=[1.0, 0.0, 0.0]), ["chaser.link.slide.mount", "is in the URDF"]),
    ("an angle", ARM, changed(3, start="5 deg"), ["start = '5 deg'", "a length", "prismatic"]),
    ("unknown key", ARM, changed(3, masss=1.0), ["masss", "'mass'?"]),
    ("two bases", ARM, {"link": [BUS]}, ["2 links have no parent"]),
    ("no path", ARM, {"urdf": 3}, ["chaser.urdf = 3", "path"]),
    ("no file", ARM, {"urdf": "leg.urdf"}, ["chaser.urdf = 'leg.urdf'", "no such file"]),
]


def refused(file, monkeypatch, capsys, *arguments):
    """What the command line says of a file that it refuses: exit code 2 and one line."""
    monkeypatch.setattr(sys, "argv", ["dockdyn", "run", str(file), "--json", *arguments])
    capsys.readouterr()
    with pytest.raises(SystemExit) as end:
        cli.main()
    printed = capsys.readouterr()
    assert end.value.code == cli.BAD_INPUT and printed.out == ""
    assert len(printed.err.strip().splitlines()) == 1, printed.err
    return " ".join(printed.err.split())


@pytest.mark.parametrize(("urdf", "chaser", "words"), [case[1:] for case in BAD], ids=[case[0] for case in BAD])
def test_bad_urdfs_are_refused_in_one_line(tmp_path, monkeypatch, capsys, urdf, chaser, words):
    said = refused(scenario(tmp_path, {"link": ENTRIES, **chaser}, urdf, **GIVEN), monkeypatch, capsys)
    assert "berthing.toml" in said
    for word in words:
        assert word in said, said


@pytest.mark.parametrize(
    ("links", "words"),
    [
        ([BUS, {"name": "tool", "parent": "bus"}], "link tool: mass 0 on a leaf: its revolute joint"),
        (
            [{"name": "bus"}, {"name": "l0", "parent": "bus", "mass": 1.0, "inertia": [1, 1, 1]}],
            "link bus: the base has",
        ),
        (
            [BUS, {"name": "ball", "parent": "bus", "joint": "spherical", "stiffness": 1.0}],
            "spherical joint has no stiffn",
        ),
        ([BUS, {"name": "grip", "parent": "bus", "joint": "locked"}], "link grip"),
    ],
)
def test_trees_that_cannot_move_are_refused(tmp_path, monkeypatch, capsys, links, words):
    given = {**GIVEN, "contact": {**GIVEN["contact"], "chaser": "bus"}, "control": {"law": "none"}}
    assert words in refused(scenario(tmp_path, {"link": links}, **given), monkeypatch, capsys)


def test_a_root_in_space_is_left_out(tmp_path):
    """A massless root that holds the base by a floating joint; names with characters that XML quotes."""
    name = 'bus & "co"'
    free = (
        '<robot name="free"><link name="world"/><joint name="free" type="floating"><parent link="world"/><child link='
    )
    body = '<inertial><mass value="3"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>'
    urdf = f"{free}{quoteattr(name)}/></joint><link name={quoteattr(name)}>{body}</link></robot>"
    contact = {"chaser": name, "target": name, "target_radius": 0.1}
    found = dockdyn.load(scenario(tmp_path, {}, urdf, contact=contact, target={"urdf": "arm.urdf"})).content
    for side in (found.chaser, found.target):
        assert [(link.name, link.parent, link.mass) for link in side.link] == [(name, None, 3.0)]


def test_overrides_reach_the_links_of_a_urdf(tmp_path):
    file = scenario(tmp_path, {"urdf": "leg.urdf", "link": ENTRIES}, ARM, **GIVEN)
    found = dockdyn.load(file, {"chaser.link.upper.start": "1 deg", "chaser.urdf": "arm.urdf"}).content.chaser
    starts = {link.name: link.start for link in found.link}
    assert starts["upper"] == pytest.approx(np.radians(1)) and starts["slide"] == 0.05
