"""`dockdyn new`: a scenario of one's own that runs, from answers or from options."""

import io
import tomllib

import pytest

import dockdyn
from dockdyn.realtime.controller import find_foreign_ports, find_hindrances
from dockdyn.scenario.kinds import BUILT_IN, kind_named

STARTS = [(kind, mechanism) for kind in BUILT_IN for mechanism in kind_named(kind).start().mechanisms]


@pytest.mark.full_cases(
    "assembly-arm-bounce",
    "assembly-arm-grip",
    "assembly-probe-mount",
    "assembly-ramp-latch",
    "assembly-ring-petals",
    "assembly-bay",
    "assembly-soft-impact",
    "assembly-plate",
    "assembly-probe-cone",
    "rig-spring",
)
@pytest.mark.parametrize(("kind", "mechanism"), STARTS)
def test_every_file_runs_at_once(kind, mechanism, dock, tmp_path):
    assert dock("new", "mine.toml", "--kind", kind, "--mechanism", mechanism).returncode == 0
    ended = dock("run", "mine.toml", "--out", "out", "--check")
    assert ended.returncode == 0, ended.stderr
    dataset = dockdyn.open_result(tmp_path / "out" / "result.nc")
    assert dataset.attrs["finished"] and dataset.attrs["kind"] == kind
    summary = dockdyn.summarise(dataset)
    touched = (
        summary.get("contacts")
        or summary.get("impacts")
        or summary.get("peak_measured_force_N")
        or "contact_force" in dataset
    )
    assert touched and not [words for words in summary["warnings"] if "unstable" in words]


@pytest.mark.parametrize(("kind", "mechanism"), STARTS)
@pytest.mark.parametrize("masses", [("3 kg", "12 kg"), ("450 t", "20 t")])
def test_masses_of_all_sizes_make_a_scenario_with_comments(kind, mechanism, masses, dock, tmp_path):
    options = ("--chaser-mass", masses[0], "--target-mass", masses[1], "--mechanism", mechanism)
    assert dock("new", "mine.toml", "--kind", kind, *options).returncode == 0
    text = (tmp_path / "mine.toml").read_text()
    assert dockdyn.load("mine.toml").title == tomllib.loads(text)["title"]
    assert text.startswith("#:schema ./dockdyn.schema.json\n# ") and text.count("  # ") + text.count(" # ") > 5


def test_what_is_given_stands_there_and_what_follows_is_right(dock):
    dock("new", "mine.toml", "--kind", "rig", "--chaser-mass", "1234.5 kg", "--target-mass", "2 t")
    content = dockdyn.load("mine.toml").content
    assert content.mass == pytest.approx(1234.5 * 2000 / 3234.5, rel=1e-9)
    natural = (content.contact.normal.stiffness / content.mass) ** 0.5
    assert 3.14159 / natural == pytest.approx(0.5, rel=5e-3)
    assert content.contact.normal.damping / (2 * content.mass * natural) == pytest.approx(0.05, rel=5e-3)
    dock("new", "flight.toml", "--kind", "assembly", "--chaser-mass", "1234.5 kg")
    assert dockdyn.load("flight.toml").content.named("chaser").mass == 1234.5


class Terminal(io.StringIO):
    """What is typed at a terminal."""

    def isatty(self):
        return True


def test_it_asks_for_what_is_not_given(dock, monkeypatch, tmp_path):
    monkeypatch.setattr("sys.stdin", Terminal("rigg\nrig\n\n1 m\n2 t\nspring\n"))
    ended = dock("new", "mine.toml")
    assert ended.returncode == 0
    assert "assembly  two or more spacecraft that dock:" in ended.stdout
    assert "rigg: did you mean 'rig'?" in ended.stdout and "1 m: must be a mass greater than 0 kg" in ended.stdout
    content = dockdyn.load("mine.toml").content
    assert content.kind == "rig" and content.contact.bilateral
    assert content.mass == pytest.approx(1800 * 2000 / 3800)


def test_where_answers_end_nothing_is_written(dock, monkeypatch, tmp_path):
    monkeypatch.setattr("sys.stdin", Terminal("assembly\n"))
    ended = dock("new", "mine.toml")
    assert ended.returncode == 2 and ended.stderr.strip().endswith(
        "stopped at the question for the mass of the chaser; nothing is written"
    )
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_overwritten_and_what_is_unknown_is_refused(dock, tmp_path):
    (tmp_path / "mine.toml").write_text("mine")
    (tmp_path / "empty").mkdir()
    for words, message in (
        (("mine.toml",), "mine.toml: exists; give --force"),
        (("x.toml", "--kind", "rigg"), "--kind rigg: no such kind; did you mean 'rig'?"),
        (
            ("x.toml", "--kind", "rig", "--mechanism", "hook"),
            "--mechanism hook: no such mechanism; allowed: bounce, spring",
        ),
        (("x.toml", "--chaser-mass", "0 kg"), "--chaser-mass: 0 kg: must be a mass greater than 0 kg"),
        (("x.json",), "x.json: must end in .toml, as scenario files do"),
        (("empty",), "empty: is a folder; must be a file"),
        (("empty", "--force"), "empty: is a folder; must be a file"),
    ):
        ended = dock("new", *words)
        assert (ended.returncode, ended.stdout) == (2, "") and ended.stderr.startswith(f"error: {message}")
    assert (tmp_path / "mine.toml").read_text() == "mine"
    assert dock("new", "mine.toml", "--force").returncode == 0
    assert ", into the new folder none; run it with: dockdyn run none/x.toml" in dock("new", "none/x.toml").stdout
    assert "new folder" not in dock("new", "none/y.toml").stdout


@pytest.mark.parametrize("mechanism", ["bounce", "spring"])
def test_what_drives_a_rig_stands_there_and_holds_when_its_marks_are_taken_away(mechanism, dock, tmp_path):
    """Every commented line below the words is TOML, the devices and limits are read, and a computer can drive it."""
    assert dock("new", "rig.toml", "--kind", "rig", "--mechanism", mechanism).returncode == 0
    file = tmp_path / "rig.toml"
    above, mark, below = file.read_text().partition("# [loop.dynamics]")
    lines = [line.removeprefix("#").removeprefix(" ") for line in (mark + below).splitlines()]
    file.write_text(above + "\n".join(lines) + "\n")
    scenario = dockdyn.load(file)
    rig = scenario.content.rig
    peak = float(abs(dockdyn.simulate(scenario).ideal_force).max())
    assert rig.limits.force == pytest.approx(4 * peak, rel=0.2)  # which is without damping
    assert (rig.device.sensor.kind, rig.device.robot.kind) == ("ati-netft", "abb-egm")
    kind_named("rig").driver(scenario)
    duration = float(scenario.content.duration)
    assert find_hindrances(rig, duration) == [] and find_foreign_ports(rig.device) == []
    alone = "\n".join(line.removeprefix("# ") if "kuka-rsi alone" in line else line for line in lines)
    alone = "\n".join(line for line in alone.splitlines() if "abb-egm alone" not in line)
    for kind in ("kuka-rsi", "fanuc-stream-motion", "ur-rtde", "raw-udp"):
        some = alone if kind == "kuka-rsi" else "\n".join(x for x in alone.splitlines() if "kuka-rsi alone" not in x)
        other = dockdyn.load(above + some.replace('"abb-egm"', f'"{kind}"')).content.rig
        assert find_hindrances(other, duration) == [] and find_foreign_ports(other.device) == []
