"""Links from URDF files: what is refused, and a root in space."""

from __future__ import annotations

import sys
from xml.sax.saxutils import quoteattr

import pytest
import tomlkit

import dockdyn
from dockdyn.cli import main as cli


def scenario(tmp_path, urdf):
    """A file whose bodies are those of a URDF beside it."""
    (tmp_path / "arm.urdf").write_text(urdf, encoding="utf-8")
    file = tmp_path / "arm.toml"
    content = {"schema": 2, "duration": 1.0, "tree": {"arm": {"urdf": "arm.urdf"}}}
    file.write_text(tomlkit.dumps(content), encoding="utf-8")
    return file


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


def swapped(text, old, new):
    assert old in text
    return text.replace(old, new, 1)


LOOP = '<joint name="back" type="fixed"><parent link="tool0"/><child link="mount"/></joint></robot>'
TWICE = '<joint name="back" type="fixed"><parent link="mount"/><child link="slide"/></joint></robot>'
MASS_0 = swapped(ARM, '<joint name="flange" type="fixed">', '<joint name="flange" type="continuous">')
NO_MASS = swapped(ARM, '<inertial><mass value="4"/>', '<inertial><mass value="0"/>')


BAD = [
    ("not XML", ARM[:-9], ["tree.arm.urdf = 'arm.urdf'", "not XML"]),
    ("no robot", "<sdf/>", ["<sdf>", "<robot>"]),
    ("no inertia", swapped(ARM, ' iyy="0.2"', ""), ["link slide", "iyy"]),
    ("no number", swapped(ARM, 'value="2"', 'value="heavy"'), ["link slide: mass = 'heavy'", "a finite number"]),
    ("mass -9", swapped(ARM, 'value="2"', 'value="-2"'), ["link slide: mass = -2", "above 0"]),
    ("mass nan", swapped(ARM, 'value="2"', 'value="nan"'), ["link slide: mass", "finite"]),
    ("type", swapped(ARM, 'type="prismatic"', 'type="planar"'), ["joint reach: type = 'planar'", "prismatic"]),
    ("floating", swapped(ARM, 'type="prismatic"', 'type="floating"'), ["joint reach: type = 'floating'"]),
    (
        "axis",
        swapped(ARM, '<axis xyz="1 0 0"/>', '<axis xyz="0 0 0"/>'),
        ["joint reach: axis", "not all of them 0"],
    ),
    ("damping", swapped(ARM, 'damping="0.7"', 'damping="-1"'), ["joint shoulder: damping = '-1'", "at least 0"]),
    ("nowhere", swapped(ARM, '<parent link="slide"/>', '<parent link="slid"/>'), ["flange", "'slid'", "'slide'?"]),
    ("apart", swapped(ARM, "</robot>", '<link name="lost"/></robot>'), ["2 links have no parent", "lost"]),
    ("loop", swapped(ARM, "</robot>", LOOP), ["0 links have no parent"]),
    ("two joints", swapped(ARM, "</robot>", TWICE), ["link slide: two joints lead to it (reach, back)"]),
    ("inertia without mass", NO_MASS, ["link mount: mass = 0", "inertia of 0"]),
    ("xacro", swapped(ARM, "</robot>", '<a:macro xmlns:a="http://ros.org/xacro"/></robot>'), ["macro", "expanded"]),
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


@pytest.mark.parametrize(("urdf", "words"), [case[1:] for case in BAD], ids=[case[0] for case in BAD])
def test_bad_urdfs_are_refused_in_one_line(tmp_path, monkeypatch, capsys, urdf, words):
    said = refused(scenario(tmp_path, urdf), monkeypatch, capsys)
    assert "arm.toml" in said
    for word in words:
        assert word in said, said


def test_a_root_in_space_is_left_out(tmp_path):
    """A massless root that holds the base by a floating joint; names with characters that XML quotes."""
    name = 'bus & "co"'
    free = (
        '<robot name="free"><link name="world"/><joint name="free" type="floating"><parent link="world"/><child link='
    )
    body = '<inertial><mass value="3"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>'
    urdf = f"{free}{quoteattr(name)}/></joint><link name={quoteattr(name)}>{body}</link></robot>"
    found = dockdyn.load(scenario(tmp_path, urdf)).content
    assert [(one.name.removeprefix("arm."), one.on, one.mass) for one in found.body] == [(name, None, 3.0)]
