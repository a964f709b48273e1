"""Files of strangers: no code of theirs is run where that is refused, no text obeyed; what cannot be read is refused."""

from __future__ import annotations

import dataclasses
import io
import json
import os
import re
import subprocess
import sys

import pytest
import xarray as xr

import dockdyn
from dockdyn.cli.common import show_progress
from dockdyn.report import terminal
from dockdyn.report.terminal import table_of
from dockdyn.results.store import write_result
from dockdyn.scenario.language.own_code import VARIABLE
from dockdyn.scenario.language.printable import LONGEST, one_line, printable
from dockdyn.scenario.preset_files import preset_text
from dockdyn.scenario.setups import setup_named

# --- code -----------------------------------------------------------------------------------------------------------

MODULE = """
from pathlib import Path
import dockdyn

Path(__file__).with_name("ran").touch()


class Law(dockdyn.NormalLaw):
    stiffness: float

    def force(self, depth, rate):
        return self.stiffness * depth
"""
LAW = '[contact.probe.normal]\nlaw = "strange_law:Law"\nstiffness = 1000\n\n'


@pytest.fixture
def theirs(tmp_path, shared_run, monkeypatch):
    """A folder with a stranger's scenario, its module, a result and a campaign of it; no module has run."""
    from dockdyn.studies.campaign.conduct import plan_campaign
    from dockdyn.studies.campaign.store import Store

    (tmp_path / "strange_law.py").write_text(MODULE)
    own = re.sub(r"\[contact\.probe\.normal\]\n(.+\n)+\n", LAW, preset_text("sazawal-spring-dashpot"))
    assert LAW in own
    (tmp_path / "theirs.toml").write_text(own)
    write_result(shared_run("paraskevas-latch").assign_attrs(scenario=own), tmp_path / "result.nc")
    campaign = plan_campaign(dockdyn.load("idss-probe-cone"), 4)
    Store(tmp_path / "campaign").create(dataclasses.replace(campaign, scenario=own))
    monkeypatch.delitem(sys.modules, "strange_law", raising=False)
    return tmp_path


COMMANDS = [
    ("run", "theirs.toml"),
    ("stability", "theirs.toml"),
    ("compare", "theirs.toml"),
    ("envelope", "theirs.toml", "--over", "loop.delay=0:1"),
    ("sensitivity", "theirs.toml", "--of", "peak_force_N"),
    ("campaign", "run", "theirs.toml", "--out", "new"),
    ("campaign", "rerun", "campaign", "1"),
    ("campaign", "report", "campaign"),
    ("report", "result.nc"),
    ("view", "result.nc", "--html", "view.html"),
    ("export", "result.nc", "--to", "csv"),
]


def refused_code(ended) -> None:
    assert (ended.returncode, ended.stdout, ended.stderr.count("\n")) == (2, "", 1)
    assert "contact.probe.normal: 'strange_law:Law' is code of its own, which is refused (--no-own-code" in ended.stderr


def test_no_command_runs_their_code(dock, theirs, monkeypatch):
    before = sorted(theirs.iterdir())
    for command in COMMANDS:
        refused_code(dock(*command, "--no-own-code"))
        assert VARIABLE not in os.environ
    monkeypatch.setenv(VARIABLE, "1")
    for command in COMMANDS:
        refused_code(dock(*command))
    assert sorted(theirs.iterdir()) == before and "strange_law" not in sys.modules


def test_python_does_not_run_their_code(theirs, monkeypatch):
    for read, file in ((dockdyn.load, "theirs.toml"), (dockdyn.open_result, "result.nc")):
        with pytest.raises(dockdyn.ScenarioError, match=f"^{theirs / file}: .*strange_law:Law"):
            read(theirs / file, own_code=False)
    monkeypatch.setenv(VARIABLE, "1")
    with pytest.raises(dockdyn.ScenarioError, match="strange_law:Law"):
        dockdyn.load(theirs / "theirs.toml")
    dataset = xr.load_dataset(theirs / "result.nc", engine="h5netcdf", decode_timedelta=False)
    with pytest.raises(dockdyn.ScenarioError, match="strange_law:Law"):
        dockdyn.replay_html(dataset, theirs)
    assert not (theirs / "ran").exists()
    monkeypatch.setenv(VARIABLE, "0")
    assert dockdyn.load(theirs / "theirs.toml").content.contact[0].normal.law == "strange_law:Law"
    assert (theirs / "ran").exists()  # so the test can fail


def test_code_is_refused_whatever_else_is_wrong_with_their_scenario(theirs, shared_run):
    """What is missing here, such as a URDF, may lie in the folder in which its replay is looked at."""
    own = preset_text("cyril-elastic").replace('law = "energetic"', 'law = "strange_law:Law"')
    own = own.replace("[body.spacecraft]\n", '[tree.theirs]\nurdf = "theirs.urdf"\n\n[body.spacecraft]\n', 1)
    assert "strange_law" in own and "theirs.urdf" in own
    write_result(shared_run("paraskevas-latch").assign_attrs(scenario=own), theirs / "result.nc")
    with pytest.raises(dockdyn.ScenarioError, match=r"strange_law:Law|is code of its own"):
        dockdyn.open_result(theirs / "result.nc", own_code=False)
    assert not (theirs / "ran").exists()


def test_a_module_that_fails_is_said(tmp_path):
    (tmp_path / "broken_law.py").write_text("1 / 0")
    file = tmp_path / "theirs.toml"
    file.write_text(re.sub(r'law = "spring-dashpot"', 'law = "broken_law:Law"', preset_text("sazawal-spring-dashpot")))
    with pytest.raises(
        dockdyn.ScenarioError, match=r"cannot import 'broken_law:Law' .ZeroDivisionError: division by zero"
    ):
        dockdyn.load(file)


def test_no_other_module_is_looked_for_in_their_folder(tmp_path):
    """A folder with a `pint.py` is no library: only modules that the scenario names are imported from there."""
    for name in ("pint", "pydantic_core", "decimal"):
        (tmp_path / f"{name}.py").write_text("from pathlib import Path\nPath(__file__).with_name('ran').touch()\n1 / 0")
    file = tmp_path / "theirs.toml"
    file.write_text(preset_text("probe-cone"))
    code = f"import dockdyn; print(dockdyn.load({str(file)!r}).title)"
    ended = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True)
    assert (ended.returncode, ended.stderr) == (0, "") and not (tmp_path / "ran").exists()


# --- text -----------------------------------------------------------------------------------------------------------

HOSTILE = "[/bold][red]x\x1b[2J\u202e\r :smile: $x_{$ <script>alert(1)</script></title> {{7*7}} [link=a]"
SHOWN = printable(HOSTILE)


@pytest.fixture
def printed(monkeypatch):
    """What a function prints on a terminal that understands colours."""
    monkeypatch.setenv("COLUMNS", "300")

    def call(function, *arguments):
        screen = io.StringIO()
        made = terminal.Terminal
        monkeypatch.setattr(terminal, "Terminal", lambda **more: made(file=screen, width=300, **more))
        function(*arguments)
        return screen.getvalue()

    return call


@pytest.mark.parametrize("preset", ["sazawal-spring-dashpot", "paraskevas-latch"])
def test_titles_and_names_are_printed_as_they_are(printed, shared_run, preset):
    summary = dockdyn.summarise(shared_run(preset).assign_attrs(title=HOSTILE))
    for contact in summary["contacts"]:
        contact["feature"] = contact["surface"] = HOSTILE
    summary["requirements"] = [
        {"name": HOSTILE, "relation": "<", "limit": 1.0, "unit": HOSTILE, "value": 2.0, "margin": -1.0, "met": False}
    ]
    summary["warnings"] = [HOSTILE]
    dataset = shared_run(preset).assign_attrs(title=HOSTILE)
    text = printed(terminal.show_report, setup_named(summary["setup"]).report(dataset, summary))
    assert SHOWN in text and "\x1b" not in text and "\u202e" not in text
    assert all(line.isprintable() for line in text.split("\n"))


def test_a_table_holds_names_as_they_are(printed):
    table = table_of(HOSTILE, [HOSTILE], ())
    table.add_row(HOSTILE)
    text = printed(lambda: terminal.Terminal().print(table))
    assert text.count(SHOWN) >= 2 and "\x1b" not in text


def test_pages_hold_no_markup_of_theirs(shared_run):
    from dockdyn.pages import report_html

    dataset = shared_run("paraskevas-latch")
    dataset = dataset.assign_attrs(title=HOSTILE, scenario=str(dataset.attrs["scenario"]) + f"\n# {SHOWN}")
    assert "<script>alert" not in report_html(dataset, {})
    assert "<script>alert" not in dockdyn.replay_html(
        dataset.assign_attrs(scenario=shared_run("paraskevas-latch").scenario)
    )


@pytest.mark.parametrize(
    "arguments",
    [
        ("run", f"{HOSTILE}.toml"),
        ("run", "sits", "--set", f"{HOSTILE}=1"),
        ("run", "sits", "--set", f"title={HOSTILE}"),
        ("stability", "sits", "--sweep", f"{HOSTILE}=0:1:3"),
        ("envelope", "sits", "--over", f"{HOSTILE}=0:1"),
        ("compare", "sits", "--compensators", HOSTILE),
        ("sensitivity", "sits", "--of", HOSTILE),
        ("campaign", "run", "sits", "--keep", HOSTILE),
        ("campaign", "report", HOSTILE),
        ("identify", "robot", HOSTILE),
        ("identify", "plan", "a.csv", "--joints", HOSTILE),
        ("reproduce", HOSTILE),
        ("report", HOSTILE),
        ("init", HOSTILE, "a.toml"),
        (HOSTILE,),
    ],
    ids=lambda arguments: " ".join(arguments[:-1]).replace(HOSTILE, "x"),
)
def test_what_was_typed_is_echoed_in_one_printable_line(dock, arguments):
    ended = dock(*arguments)
    assert (ended.returncode, ended.stdout) == (2, "")
    line = ended.stderr.removesuffix("\n")
    assert line.isprintable() and len(line) <= LONGEST + len("error: ")


def test_progress_of_a_file_with_any_name(monkeypatch):
    screen = io.StringIO()
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setattr(screen, "isatty", lambda: True)
    monkeypatch.setattr(sys, "stderr", screen)
    with show_progress(f"Simulating {HOSTILE}.toml") as advance:
        advance(0.5)
    assert "[/bold][red]x\\x1b[2J" in screen.getvalue()


def test_one_line():
    assert one_line("a\x1b\n\u202eé\u00a0😀") == "a\\x1b\\n\\u202eé\u00a0😀"
    assert printable("a\nb\x07", lines=True) == "a\nb\\x07"
    long = one_line("\x1b" * 10**6)
    assert len(long) == LONGEST and long.isprintable()


# --- files of others ------------------------------------------------------------------------------------------------


@pytest.fixture
def others(tmp_path, shared_run):
    """Files that are no results, by what they are."""
    write_result(shared_run("paraskevas-latch"), tmp_path / "good.nc")
    good = (tmp_path / "good.nc").read_bytes()
    xr.Dataset({"a": ("x", [1.0, 2.0])}).to_netcdf(tmp_path / "other.nc", engine="h5netcdf")
    contents = {"empty": b"", "text": b"hello", "bytes": bytes(range(256)) * 20, "csv": b"time,x\n1,2\n"}
    contents |= {f"first {share:g} of it": good[: int(share * len(good))] for share in (0.01, 0.3, 0.7, 0.99)}
    for name, content in contents.items():
        (tmp_path / f"{name}.nc").write_bytes(content)
    return [*contents, "other"]


def test_what_is_no_result_is_said(dock, others, shared_run):
    broken = {
        "changed": {"scenario": "x = ["},
        "other study": {"margins": "{"},
        "no words": {"status": 3, "scenario": 7},
    }
    for name, attributes in broken.items():
        shared_run("paraskevas-latch").drop_vars("velocity").assign_attrs(attributes).to_netcdf(f"{name}.nc")
        for command in (("report",), ("view", "--html", "v.html")):
            ended = dock(*command, f"{name}.nc")
            assert (ended.returncode, ended.stdout, ended.stderr.count("\n")) == (2, "", 1), (name, command)
            assert ended.stderr.startswith(f"error: {name}.nc: ")
    for name in others:
        for command in (
            ("report",),
            ("export", "--to", "csv"),
            ("export", "--to", "mat"),
            ("view", "--html", "v.html"),
        ):
            ended = dock(*command, f"{name}.nc")
            assert (ended.returncode, ended.stdout, ended.stderr.count("\n")) == (2, "", 1), (name, command)
            assert ended.stderr.startswith(
                tuple(f"error: {name}.nc: {what}" for what in ("not a ", "damaged: ", "is a log, not a result"))
            )


@pytest.mark.parametrize(
    "value",
    [
        "1" + "0" * 500,
        "[" * 3000 + "]" * 3000,
        "9" * 5000,
        "{a = 1, a = 2}",
        "1\n[loop]",
        "nan",
        "1979-05-27",
        "{a.b = 1}",
    ],
    ids=lambda value: value[:9],
)
@pytest.mark.parametrize(
    "key", ["loop.delay", "body.chaser.mass.²", "contact.99999999999999999999.x", "a" * 5000, "a." * 3000 + "b"]
)
def test_overrides_that_cannot_be(dock, key, value):
    ended = dock("run", "sazawal-spring-dashpot", "--set", f"{key}={value}")
    assert (ended.returncode, ended.stdout, ended.stderr.count("\n")) == (2, "", 1)
    assert ended.stderr.startswith("error: sazawal-spring-dashpot: ") and len(ended.stderr) < LONGEST + 10


def test_an_index_that_is_none_of_a_campaign(dock, tmp_path):
    from dockdyn.studies.campaign.conduct import plan_campaign
    from dockdyn.studies.campaign.store import Store

    Store(tmp_path / "campaign").create(plan_campaign(dockdyn.load("idss-probe-cone"), 4))
    (tmp_path / "theirs").mkdir()
    good = json.loads((tmp_path / "campaign" / "campaign.json").read_text())
    changed = (
        {"runs": "x"},
        {"runs": 10**30},
        {"chunk": 0},
        {"scenario": 5},
        {"scenario": "x = ["},
        {"keys": 1},
        {"title": None},
        {"modules": []},
    )
    for text in (
        "{",
        "[]",
        *(json.dumps(good | change) for change in changed),
        "[" * 100_000,
        '{"format": ' + "9" * 5000 + "}",
        json.dumps({"format": 1, "\x1b": 1}),
    ):
        (tmp_path / "theirs" / "campaign.json").write_text(text)
        for command in (("report", "theirs"), ("rerun", "theirs", "1")):
            ended = dock("campaign", *command)
            assert (ended.returncode, ended.stdout, ended.stderr.count("\n")) == (2, "", 1)
            assert ended.stderr.startswith("error: theirs/campaign.json: ")
