"""`include` under names: a part that several scenarios share, or one scenario twice, and what it says when it is wrong."""

from __future__ import annotations

import pytest
from helpers.refusals import refused

import dockdyn

HEAD = """
schema = 2
title = "Two fingers on a palm"
duration = "0.2 s"
"""
PALM = """
[body.palm]
mass = 20
inertia = [1, 1, 1]
surface.left = { shape = "plane", point = [0, 0.1, 0], normal = [0, 1, 0] }
"""
FINGER = """
[body.root]
on = "palm"
mass = 1
inertia = [0.01, 0.01, 0.01]
position = [0.5, 0, 0]

[body.root.joint]
kind = "revolute"
position = [0.1, 0, 0]
axis = [0, 0, 1]
stiffness = 3

[body.tip]
on = "root"
like = "root"
feature.ball = { position = [0.2, 0, 0], radius = 0.02 }
joint.kind = "revolute"

[body.twin]
on = "tip"
like = "tip"
joint = { kind = "mimic", position = [0, 0, 0], axis = [0, 0, 1], follows = "root", ratio = 0.5 }
feature.ball = { like = "tip.ball", radius = 0.03 }

[body.nut]
mass = 3
inertia = [0.1, 0.1, 0.1]
position = [1.2, 2, 0]
surface.face = { shape = "plane", point = [0, -0.1, 0], normal = [0, -1, 0] }

[contact_law.rubber]
normal = { law = "spring-dashpot", stiffness = 500, damping = 3 }

[contact.touch]
between = ["tip.ball", "face"]
law = "rubber"

[strut.spring]
between = ["palm", "tip"]
anchor = [[0, 0.1, 0], [0, 0.1, 0]]
stiffness = 20

[thruster.puff]
body = "nut"
position = [0, 0, 0]
direction = [0, 1, 0]
force = 0.1
"""
NAMES = ("root", "tip", "twin", "nut", "rubber", "touch", "spring", "puff")


def by_hand(part):
    """The text of the finger with the name of a part before its own names."""
    text = FINGER
    for name in NAMES:
        for before, behind in (('"', '"'), (".", "]"), (".", "."), ('"', ".")):
            text = text.replace(f"{before}{name}{behind}", f"{before}{part}-{name}{behind}")
    return text.replace('"face"', f'"{part}-nut.face"')


TWO = 'include = { left = "finger.toml", right = "finger.toml" }\n' + HEAD + PALM


def test_two_of_a_part_are_what_is_written_by_hand(write_scenarios):
    write_scenarios(mine=TWO, finger=FINGER, whole=HEAD + PALM + by_hand("left") + by_hand("right"))
    found, whole = dockdyn.load("mine.toml"), dockdyn.load("whole.toml")
    assert found.text() == whole.text() and "left-tip" in found.text() and "include" not in found.text()
    keys = {
        "body.right-tip.mass": "2 kg",
        "contact_law.left-rubber.normal.stiffness": 700,
        "strut.left-spring.stiffness": 9,
    }
    assert dockdyn.load("mine.toml", keys).text() == dockdyn.load("whole.toml", keys).text()


@pytest.mark.full
def test_a_part_runs(write_scenarios):
    write_scenarios(mine=TWO, finger=FINGER)
    assert dockdyn.simulate(dockdyn.load("mine.toml")).attrs["finished"]


def test_a_part_may_include_others_and_state_more_in_the_scenario(write_scenarios):
    law = FINGER[FINGER.index("[contact_law.rubber]") : FINGER.index("[contact.touch]")]
    parts = 'include = { left = "parts/finger.toml" }\n' + HEAD + PALM + "[body.left-nut]\nposition = [1.2, 2, 0]\n"
    write_scenarios(mine=parts, parts__finger='include = "law.toml"\n' + FINGER.replace(law, ""), parts__law=law)
    write_scenarios(whole=HEAD + PALM + by_hand("left"))
    assert dockdyn.load("mine.toml").content.contact_law == dockdyn.load("whole.toml").content.contact_law


ARM = """<robot name="arm">
<link name="base"><inertial><mass value="4"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<link name="hand"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="wrist" type="revolute"><parent link="base"/><child link="hand"/><axis xyz="0 0 1"/></joint>
</robot>"""
TREE = """
[tree.arm]
urdf = "arm.urdf"
on = "palm"

[tree.arm.body.hand]
feature.ball = { position = [0.2, 0, 0], radius = 0.02 }

[contact.touch]
between = ["arm.hand.ball", "palm.left"]
normal = { law = "spring-dashpot", stiffness = 500 }
"""


@pytest.mark.parametrize("include", ['"sub/arm.toml"', '{ left = "sub/arm.toml", right = "sub/arm.toml" }'])
def test_a_urdf_file_lies_beside_the_file_that_names_it(write_scenarios, tmp_path, include):
    write_scenarios(mine=f"include = {include}\n" + HEAD + PALM, sub__arm=TREE)
    (tmp_path / "sub" / "arm.urdf").write_text(ARM)
    names = dockdyn.load("mine.toml").content.names()
    parts = ("left-", "right-") if "{" in include else ("",)
    assert names[1:] == [f"{part}arm.{link}" for part in parts for link in ("base", "hand")]
    assert [one.between[0] for one in dockdyn.load("mine.toml").content.contact] == [
        f"{part}arm.hand.ball" for part in parts
    ]


WRONG = [
    (
        TWO,
        FINGER.replace("stiffness = 20", "stiffness = -20"),
        ["finger.toml: strut.spring.stiffness = -20", "strut.left-spring"],
    ),
    (TWO, FINGER.replace("stiffness = 20", "stifness = 20"), ["finger.toml: strut.spring.stifness", "'stiffness'"]),
    (TWO, FINGER + "[loop]\ndelay = 1\n", ["finger.toml: loop: is not of a part", "must be one of body, tree"]),
    (TWO.replace("left =", '"le ft" ='), FINGER, ["mine.toml: include.le ft", "must be of letters"]),
    (TWO.replace('left = "finger.toml"', "left = 3"), FINGER, ["mine.toml: include.left = 3", "path of a TOML file"]),
    (TWO.replace('left = "f', 'left = "g'), FINGER, ["mine.toml: include.left = 'ginger.toml': no such file"]),
    (TWO, 'include = "mine.toml"\n' + FINGER, ["finger.toml: include = 'mine.toml': goes round"]),
    (TWO + "[body.left-nut]\nmass = 4\n", FINGER, ["mine.toml: body.left-nut.mass = 4", "finger.toml has 3"]),
]


@pytest.mark.parametrize(("mine", "finger", "words"), WRONG)
def test_what_is_wrong_is_one_line_with_the_key_of_its_file(write_scenarios, mine, finger, words):
    write_scenarios(mine=mine, finger=finger)
    with refused(*words):
        dockdyn.load("mine.toml")


def test_parts_that_include_parts_end(write_scenarios):
    """Twelve files, each with the next one twice."""
    write_scenarios(
        **{f"f{i}": f'include = {{ a = "f{i + 1}.toml", b = "f{i + 1}.toml" }}\n' for i in range(12)}, f12=""
    )
    with pytest.raises(dockdyn.ScenarioError, match="must be at most 1000 files in all"):
        dockdyn.load("f0.toml")
