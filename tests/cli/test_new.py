"""`dockdyn new`: a scenario of one's own that runs, from answers or from options."""

import io
import tomllib

import pytest
import trimesh
from starter_files import write_files

import dockdyn
from dockdyn.realtime.controller import find_foreign_ports, find_hindrances
from dockdyn.scenario.setups import setup_named
from dockdyn.scenario.starters.mechanisms import STARTERS

LONG = [pytest.param(name, marks=pytest.mark.full) for name in STARTERS if name != "arm"]


def files_for(name, folder):
    """The options that answer what has no usual answer."""
    files = write_files(folder)
    asked = [question.name for question in STARTERS[name].questions]
    return [part for key, file in files.items() if key in asked for part in ("--set", f"{key}={file}")]


@pytest.mark.full
@pytest.mark.parametrize("name", ["arm", *LONG])
def test_every_file_runs_at_once(name, dock, tmp_path):
    """What it requires is met; momentum and energy are kept; of a rig, the bounce is that without it."""
    assert dock("new", "mine.toml", "--mechanism", name, *files_for(name, tmp_path)).returncode == 0
    ended = dock("run", "mine.toml", "--out", "out", "--check")
    assert ended.returncode == 0, ended.stderr
    dataset = dockdyn.open_result(tmp_path / "out" / "result.nc")
    summary = dockdyn.summarise(dataset)
    doubts = [
        words for words in summary["warnings"] if "overlap in time" not in words
    ]  # as both of a pair of meshes do
    assert dataset.attrs["finished"] and doubts == []
    if "restitution_error" in summary:
        assert summary["peak_measured_force_N"] > 0 and abs(summary["restitution_error"]) < 0.02
        return
    assert summary["peak_force_N"] > 0 and summary["contact.count"] > 0
    assert max(summary[f"{key}_error"] for key in ("linear_momentum", "angular_momentum", "work_energy")) < 1e-6


@pytest.mark.full
def test_what_is_given_stands_there_and_what_follows_is_right(dock, tmp_path):
    ended = dock(
        "new", "mine.toml", "--mechanism", "one-axis-rig", "--set", "chaser-mass=1234.5", "--set", "target-mass=2 t"
    )
    assert ended.stdout.endswith(
        "run it with: dockdyn run mine.toml\n"
        "The result says the bounce on the rig beside that without it, how late the rig is, and how far forces were off.\n"
        "Look at it before you run it: dockdyn check mine.toml\n"
    )
    content = dockdyn.load("mine.toml").content
    assert [body.mass for body in content.body] == [1234.5, 2000.0]
    mass, normal = 1234.5 * 2000 / 3234.5, content.contact[0].normal
    natural = (normal.stiffness / mass) ** 0.5
    assert 3.14159 / natural == pytest.approx(0.5, rel=5e-3)
    assert normal.damping / (2 * mass * natural) == pytest.approx(0.05, rel=5e-3)
    dock("new", "cone.toml", "--set", "chaser-mass=1234.5", "--set", "half-angle=30 deg", "--set", "latch=no")
    data = tomllib.loads((tmp_path / "cone.toml").read_text())
    assert data["body"]["chaser"]["mass"] == "1234.5 kg" and "latch" not in data
    assert data["body"]["target"]["surface"]["cone"]["half_angle"] == "30 deg"


class Terminal(io.StringIO):
    """What is typed at a terminal."""

    def isatty(self):
        return True


def test_it_asks_for_what_is_not_given(dock, monkeypatch, tmp_path):
    """Wrong answers are asked again, with the reason; a question mark explains; Enter takes what is shown."""
    typed = ["probe", "one-axis-rig", "1 m", "?", "2 t", "", "maybe", "yes", "", "", "", "1 s", "", ""]
    monkeypatch.setattr("sys.stdin", Terminal("\n".join(typed) + "\n"))
    ended = dock("new", "mine.toml")
    assert ended.returncode == 0, ended.stderr
    for words in (
        "  grapple       a hand on a compliant wrist",
        "probe: no such mechanism; did you mean 'probe-cone'?",
        "1 m: must be a mass of at least 1 kg and at most 1e+06 kg",
        "The mass of the one spacecraft. A mass of at least 1 kg",
        "target mass [3200 kg]: ",
        "maybe: is none of them; allowed: no, yes",
        "1 s: must be a delay of at least 0 s and at most 0.01 s",
    ):
        assert words in ended.stdout, words
    content = dockdyn.load("mine.toml").content
    assert content.setup == "rig" and content.bilateral
    assert [body.mass for body in content.body] == [2000.0, 3200.0]


@pytest.mark.full
def test_files_are_asked_for_and_what_they_hold_is_said(dock, monkeypatch, tmp_path):
    """Links of a URDF, and the sizes that meshes would have in the unit that was answered."""
    write_files(tmp_path)
    typed = ["urdf-arm", "", "none.urdf", "arm.urdf", "arm", "", *[""] * 11]
    monkeypatch.setattr("sys.stdin", Terminal("\n".join(typed) + "\n"))
    (tmp_path / "sub").mkdir()
    ended = dock("new", "sub/arm.toml")
    assert ended.returncode == 0, ended.stderr
    assert "none.urdf: no such file" in ended.stdout and "  fore: revolute on upper, 5 kg\n" in ended.stdout
    assert (
        "  tool0: locked on hand, no mass\n" in ended.stdout and "arm: is none of them; allowed: base" in ended.stdout
    )
    assert tomllib.loads((tmp_path / "sub" / "arm.toml").read_text())["tree"]["arm"]["urdf"] == "../arm.urdf"


@pytest.mark.full
def test_files_count_from_the_scenario_and_sizes_are_told(dock, tmp_path):
    options = files_for("urdf-arm", tmp_path)
    assert dock("new", "other/arm.toml", "--mechanism", "urdf-arm", *options).returncode == 0
    assert dockdyn.load("other/arm.toml").content.named("arm.hand").mass == 1.0
    ended = dock(
        "new", "mesh.toml", "--mechanism", "mesh-pair", *files_for("mesh-pair", tmp_path), "--set", "mesh-unit=cm"
    )
    assert "chaser.stl: a closed mesh of 12 faces, 80 by 120 by 60 in its own unit" in ended.stdout
    assert "They are 0.8 by 1.2 by 0.6 m and 2 by 1.5 by 0.9 m." in ended.stdout


def test_meshes_have_the_unit_that_makes_them_as_large_as_what_docks(dock, tmp_path):
    """Those that mesh import writes are in m, most others in mm; and their masses are told that they would have if solid."""
    for name, extents in (("ring", [1.3, 1.3, 0.3]), ("plate", [400, 300, 100]), ("tiny", [1e-4, 1e-4, 1e-4])):
        trimesh.creation.box(extents=extents).export(tmp_path / f"{name}.obj")
    for name, unit in (("ring", "m"), ("plate", "mm"), ("tiny", "mm")):
        files = [f"--set={body}-mesh={name}.obj" for body in ("chaser", "target")]
        listed = dock("new", "x.toml", "--mechanism", "mesh-pair", *files, "--set", "?").stdout
        assert f"  mesh-unit = {unit}: " in listed
    files = [f"--set={body}-mesh=ring.obj" for body in ("chaser", "target")]
    dock("new", "x.toml", "--mechanism", "mesh-pair", *files)
    written = (tmp_path / "x.toml").read_text()
    assert written.count("the mesh is 1.3 by 1.3 by 0.3 m, 1370 kg if all of aluminium") == 2
    # as long as each takes to be as deep in the other as it is high
    assert dockdyn.load(tmp_path / "x.toml").content.duration == pytest.approx((1.5 * 0.13 + 0.3) / 0.03 + 2, rel=5e-3)


def test_where_answers_end_nothing_is_written(dock, monkeypatch, tmp_path):
    monkeypatch.setattr("sys.stdin", Terminal("gripper\n"))
    ended = dock("new", "mine.toml")
    assert ended.returncode == 2 and ended.stderr.strip().endswith(
        "stopped at the question for the servicer mass; nothing is written"
    )
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_overwritten_and_what_is_unknown_is_refused(dock, tmp_path):
    (tmp_path / "mine.toml").write_text("mine")
    (tmp_path / "empty").mkdir()
    (tmp_path / "open.stl").write_text("solid a\nendsolid a\n")
    holed = trimesh.creation.box()
    trimesh.Trimesh(holed.vertices, holed.faces[1:]).export(tmp_path / "holed.stl")
    for words, message in (
        (("mine.toml",), "mine.toml: exists; give --force"),
        (("x.toml", "--mechanism", "hook"), "--mechanism hook: no such mechanism; allowed: arm, "),
        (
            ("x.toml", "--set", "chaser-mass=0 kg"),
            "--set chaser-mass=0 kg: must be a mass of at least 1 kg and at most",
        ),
        (("x.toml", "--set", "latch=perhaps"), "--set latch=perhaps: is none of them; allowed: no, yes"),
        (
            ("x.toml", "--set", "tip-radius=1 m"),
            "--set tip-radius=1 m: must be a radius of at least 0.001 m and at most",
        ),
        (("x.toml", "--set", "mass=3"), "--set mass: no such question of probe-cone; "),
        (("x.toml", "--set", "friction=9", "--set", "?"), "--set friction=9: must be a number of at least 0"),
        (("x.toml", "--set", "delay=9 ms"), "--set delay: is not asked for with the other answers; leave it out"),
        (("x.toml", "--set", "rig=no", "--set", "rig=yes"), "--set rig=yes: rig is answered twice; must be once"),
        (("x.toml", "--mechanism", "urdf-arm"), "--set urdf=… is missing: The path of the URDF file"),
        (("x.toml", "--mechanism", "urdf-arm", "--set", "urdf=no.urdf"), "--set urdf=no.urdf: no.urdf: no such file"),
        (
            ("x.toml", "--mechanism", "mesh-pair", "--set", "chaser-mesh=a.step"),
            "--set chaser-mesh=a.step: must be a mesh",
        ),
        (("x.toml", "--mechanism", "mesh-pair", "--set", "chaser-mesh=open.stl"), "--set chaser-mesh=open.stl: "),
        (
            ("x.toml", "--mechanism", "mesh-pair", "--set", "chaser-mesh=holed.stl"),
            "--set chaser-mesh=holed.stl: is open: 3 of its edges have a face on one side only; must be closed; "
            "dockdyn mesh check tells whether dockdyn mesh repair mends it",
        ),
        (("x.json",), "x.json: must end in .toml, as scenario files do"),
        (("empty",), "empty: is a folder; must be a file"),
        (("empty", "--force"), "empty: is a folder; must be a file"),
    ):
        ended = dock("new", *words)
        assert (ended.returncode, ended.stdout) == (2, "") and ended.stderr.startswith(f"error: {message}"), ended
        assert len(ended.stderr.splitlines()) == 1
    assert (tmp_path / "mine.toml").read_text() == "mine" and not (tmp_path / "x.toml").exists()
    assert dock("new", "mine.toml", "--force").returncode == 0
    assert ", into the new folder none; run it with: dockdyn run none/x.toml" in dock("new", "none/x.toml").stdout
    assert "new folder" not in dock("new", "none/y.toml").stdout


def test_mechanisms_and_their_questions_are_listed_and_nothing_is_written(dock, tmp_path):
    assert "\n  gripper       two jaws that close" in dock("new", "x.toml", "--mechanism", "?").stdout
    listed = dock("new", "x.toml", "--set", "chaser-mass=2 t", "--set", "?")
    assert listed.returncode == 0 and "  chaser-mass = 2 t: " in listed.stdout and "  friction = 0.1: " in listed.stdout
    listed = dock("new", "x.toml", "--mechanism", "urdf-arm", "--set", "?")
    assert listed.returncode == 0 and listed.stdout.endswith("--set urdf=… --set ?\n")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.full
@pytest.mark.parametrize("pulls", ["no", "yes"])
def test_what_drives_a_rig_stands_there_and_holds_when_its_marks_are_taken_away(pulls, dock, tmp_path):
    """Every commented line below the words is TOML, the devices and limits are read, and a computer can drive it."""
    assert dock("new", "rig.toml", "--mechanism", "one-axis-rig", "--set", f"pulls={pulls}").returncode == 0
    file = tmp_path / "rig.toml"
    above, mark, below = file.read_text().partition("# [loop.dynamics]")
    lines = [line.removeprefix("#").removeprefix(" ") for line in (mark + below).splitlines()]
    file.write_text(above + "\n".join(lines) + "\n")
    scenario = dockdyn.load(file)
    rig = scenario.content.rig
    peak = float(abs(dockdyn.simulate(scenario).ideal_force).max())
    assert rig.limits.force == pytest.approx(4 * peak, rel=0.2)  # which is without damping
    assert (rig.device.sensor.kind, rig.device.robot.kind) == ("ati-netft", "abb-egm")
    setup_named("rig").driver(scenario)
    duration = float(scenario.content.duration)
    assert find_hindrances(rig, duration) == [] and find_foreign_ports(rig.device) == []
    alone = "\n".join(line.removeprefix("# ") if "kuka-rsi alone" in line else line for line in lines)
    alone = "\n".join(line for line in alone.splitlines() if "abb-egm alone" not in line)
    for kind in ("kuka-rsi", "fanuc-stream-motion", "ur-rtde", "raw-udp"):
        some = alone if kind == "kuka-rsi" else "\n".join(x for x in alone.splitlines() if "kuka-rsi alone" not in x)
        other = dockdyn.load(above + some.replace('"abb-egm"', f'"{kind}"')).content.rig
        assert find_hindrances(other, duration) == [] and find_foreign_ports(other.device) == []
