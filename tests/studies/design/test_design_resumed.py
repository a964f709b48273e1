"""Designs that are stopped, damaged or shared among processes: the same in the end."""

import random
import signal
import subprocess
import sys

import pytest
from helpers.processes import stop_once
from on_a_line import SPREAD_MASSES

import dockdyn
from dockdyn.studies.design.trail import Trail

SCENARIO = (
    SPREAD_MASSES
    + """[campaign]
runs = 5
[design]
minimise = "95 % of peak_force"
evaluations = 45
cases = 2
constraints = { peak_force = "< 9 N in 90 %" }
[design.variable.damping]
key = "contact.fronts.normal.damping"
low = "5 N s/m"
high = "200 N s/m"
[design.variable.stiffness]
key = "contact.fronts.normal.stiffness"
low = "200 N/m"
high = "20 kN/m"
"""
)
SLOWLY = (
    "import time; from dockdyn.studies.design.plan import Plan; f = Plan.evaluate; "
    "Plan.evaluate = lambda *a: (time.sleep(0.3), f(*a))[1]; from dockdyn.__main__ import main; main()"
)


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "scenario.toml"
    path.write_text(SCENARIO)
    return path


def stopped_after(lines, folder, arguments, by=signal.SIGKILL):
    """Start a design and stop it once the trail has so many lines; what it said."""
    trail = folder / "trail.jsonl"
    return stop_once(lambda: trail.exists() and trail.read_bytes().count(b"\n") >= lines, SLOWLY, *arguments, by=by)


@pytest.mark.full
def test_killed_five_times_and_resumed_it_is_the_same(dock, file, tmp_path):
    assert dock("design", file, "--out", "whole", "--json").returncode == 0
    arguments = ["design", file, "--out", tmp_path / "killed"]
    for lines in (2, 9, 16, 23, 30):
        _, code = stopped_after(lines, tmp_path / "killed", arguments)
        assert code == -signal.SIGKILL
        arguments = [*arguments[:4], "--resume"]
    with (tmp_path / "killed" / "trail.jsonl").open("ab") as torn:
        torn.write(b'{"left": 5, "values": [12.')
    assert dock(*arguments, "--json").returncode == 0
    for name in ("trail.jsonl", "design.json", "scenario.toml"):
        assert (tmp_path / "killed" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes(), name


@pytest.mark.full
def test_workers_give_the_same_trail(dock, file, tmp_path):
    pytest.importorskip("distributed")
    assert dock("design", file, "--out", "whole", "--json").returncode == 0
    command = [
        sys.executable,
        "-m",
        "dockdyn",
        "design",
        file,
        "--out",
        tmp_path / "spread",
        "--workers",
        "2",
        "--json",
    ]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    for name in ("trail.jsonl", "design.json", "scenario.toml"):
        assert (tmp_path / "spread" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes(), name


@pytest.mark.full
def test_interrupted_it_says_how_to_go_on(file, tmp_path):
    told, code = stopped_after(9, tmp_path / "stopped", ["design", file, "--out", tmp_path / "stopped"], signal.SIGINT)
    assert code == 130
    assert "of 45 designs are kept; go on with: dockdyn design" in told and told.rstrip().endswith("--resume")


def test_torn_or_changed_lines_are_computed_again(file, tmp_path):
    whole = dockdyn.design(file, tmp_path / "whole")
    trail = tmp_path / "whole" / "trail.jsonl"
    before = trail.read_bytes()
    lines = before.splitlines(keepends=True)
    changed = lines[20].replace(b'"values": [', b'"values": [1')
    for content in (lines[:-1], [*lines[:10], lines[10][:7]], [*lines[:20], changed, *lines[21:]]):
        trail.write_bytes(b"".join(content))
        assert dockdyn.design(file, tmp_path / "whole") == whole
        assert trail.read_bytes() == before


@pytest.mark.full
def test_a_bit_that_flips_in_a_trail_is_noticed(file, tmp_path):
    """Also in a number, or in the first line, which says what the design is: what is damaged is computed again."""
    file.write_text(file.read_text().replace("evaluations = 45", "evaluations = 14"))
    whole = dockdyn.design(file, tmp_path / "whole")
    trail = tmp_path / "whole" / "trail.jsonl"
    before, draw = trail.read_bytes(), random.Random(17)
    heading = before.index(b"\n")
    places = [*(draw.randrange(heading + 1) for _ in range(4)), *(draw.randrange(len(before)) for _ in range(8))]
    for place in places:
        changed = bytearray(before)
        changed[place] ^= 1 << draw.randrange(8)
        trail.write_bytes(changed)
        assert dockdyn.design(file, tmp_path / "whole") == whole
        assert trail.read_bytes() == before


@pytest.mark.full
def test_designs_with_derivatives_go_on_where_they_were(file, tmp_path):
    """Of one run; what is torn off among designs with derivatives, or behind them, comes again, byte for byte."""
    text = SCENARIO.replace('{ distribution = "uniform", low = "80 mm/s", high = "120 mm/s" }', '"0.1 m/s"')
    text = text.replace('"95 % of peak_force"', '"peak_force"').replace("[campaign]\nruns = 5\n", "")
    file.write_text(text.replace('"< 9 N in 90 %"', '"< 9 N"').replace("cases = 2\n", ""))
    whole = dockdyn.design(file, tmp_path / "whole")
    trail = tmp_path / "whole" / "trail.jsonl"
    before = trail.read_bytes()
    lines = before.splitlines(keepends=True)
    among = [place for place, line in enumerate(lines) if b'"slopes": [[' in line]
    assert len(among) == whole["derivatives"] > 1
    assert whole["evaluations"] + 2 * whole["derivatives"] == 45
    for left in (among[0], among[1], among[-1] + 1, len(lines) - 1):
        trail.write_bytes(b"".join(lines[:left]))
        assert dockdyn.design(file, tmp_path / "whole") == whole
        assert trail.read_bytes() == before


@pytest.mark.full
def test_a_front_goes_on_where_it_was(file, tmp_path):
    """Of two goals, a whole number and a choice besides: what is torn off comes again, byte for byte."""
    text = SCENARIO.replace('minimise = "95 % of peak_force"', 'minimise = ["peak_force", "peak_time"]')
    text += '[design.variable.speed]\nkey = "body.chaser.velocity"\nvalues = ["80 mm/s", "90 mm/s"]\n'
    text += '[design.variable.events]\nkey = "integrator.max_events"\nlow = 900\nhigh = 1100\n'
    text = text.replace('constraints = { peak_force = "< 9 N in 90 %" }\n', "")
    file.write_text(text.replace('{ distribution = "uniform", low = "80 mm/s", high = "120 mm/s" }', '"0.1 m/s"'))
    whole = dockdyn.design(file, tmp_path / "whole")
    trail = tmp_path / "whole" / "trail.jsonl"
    before = trail.read_bytes()
    trail.write_bytes(b"".join(before.splitlines(keepends=True)[:20]))
    assert dockdyn.design(file, tmp_path / "whole") == whole and len(whole["front"]) > 1
    assert trail.read_bytes() == before


@pytest.mark.full
def test_a_full_disk_stops_it_so_that_it_can_go_on(dock, file, tmp_path):
    """Before its first line, amid its trail, as the report is written: it says what is kept and how to go on, and goes on."""
    assert dock("design", file, "--out", "whole", "--json").returncode == 0
    size, draw = (tmp_path / "whole" / "trail.jsonl").stat().st_size, random.Random(29)
    for most in (200, draw.randrange(2000, size), draw.randrange(2000, size), size + 1000):
        limit = f"import resource; resource.setrlimit(resource.RLIMIT_FSIZE, ({most}, resource.RLIM_INFINITY)); "
        folder = tmp_path / f"at {most}"
        code = [
            sys.executable,
            "-c",
            limit + "from dockdyn.__main__ import main; main()",
            "design",
            file,
            "--out",
            folder,
        ]
        ended = subprocess.run([*code, "--quiet"], capture_output=True, text=True, check=False)
        assert ended.returncode == 3 and ended.stderr.count("\n") == 1, ended.stderr
        assert ended.stderr.startswith(f"error: {folder}") and ": file too large; " in ended.stderr
        assert "of 45 designs are kept; go on with: dockdyn design" in ended.stderr
        assert dock("design", file, "--out", folder, "--resume", "--json").returncode == 0
        for name in ("trail.jsonl", "design.json", "scenario.toml"):
            assert (folder / name).read_bytes() == (tmp_path / "whole" / name).read_bytes(), name


def test_another_design_is_refused(dock, file, tmp_path):
    arguments = ("design", file, "--set", "design.evaluations=2", "--out", "one")
    assert dock(*arguments, "--quiet").returncode == 0
    for more, words in (
        ((), "give --resume to go on with it, --force to begin anew"),
        (("--resume", "--set", "design.cases=3"), "cannot be resumed with another design: design.cases was 2, is 3"),
    ):
        ended = dock(*arguments, *more)
        ended.check_refused()
        assert words in " ".join(ended.stderr.split())
    before = (tmp_path / "one" / "trail.jsonl").read_bytes()
    assert dock(*arguments, "--quiet", "--force", "--set", "design.evaluations=3").returncode == 0
    assert (tmp_path / "one" / "trail.jsonl").read_bytes() != before
    (tmp_path / "killed").mkdir()
    (tmp_path / "killed" / ".trail.jsonl.12.part").touch()  # by a process that was killed as it wrote its first line
    assert dock(*arguments[:-1], "killed", "--quiet").returncode == 0
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "notes").touch()
    ended = dock(*arguments[:-1], "other")
    assert ended.returncode == 2 and "holds no design but notes" in ended.stderr
    (tmp_path / "one" / "trail.jsonl").write_text("no trail\n")
    assert "damaged, or not the trail of a design" in dock(*arguments, "--resume").stderr


def test_two_designs_on_one_folder(dock, file, tmp_path):
    with Trail(tmp_path / "shared").claimed():
        ended = dock("design", file, "--out", "shared")
    assert ended.returncode == 2 and "another process runs a design there" in ended.stderr
    assert not (tmp_path / "shared").exists()
