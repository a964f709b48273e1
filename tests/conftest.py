"""What several test files share."""

from __future__ import annotations

import gc
import hashlib
import os
import pickle
import sys
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest
import tomlkit
from browser import launch
from long_tests import LONG
from plain_tables import plain
from two_bodies import two_bodies

import dockdyn
from dockdyn.__main__ import SELDOM
from dockdyn.cli import main as cli
from dockdyn.imports import leave_out

gc.set_threshold(SELDOM)
leave_out("filelock")  # before JAX is imported, which is after this file

# What one process has compiled no other compiles again, however small: to read it takes a fifth of the time.
os.environ["JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS"] = "0"


@pytest.fixture(scope="session")
def browser():
    """A headless Chromium, one for all tests of a process: Playwright runs once in each."""
    playwright, running = launch()
    yield running
    running.close()
    playwright.stop()


@pytest.fixture
def browse(browser):
    """Opens the page of a file as a window of a size and colour scheme shows it; gives it and all that it has complained of
    or said so far."""
    contexts = []

    def opened(file: Path, width: int, height: int, scheme: str = "light"):
        size = {"width": width, "height": height}
        contexts.append(browser.new_context(offline=True, color_scheme=scheme, viewport=size))
        page, said = contexts[-1].new_page(), []
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.goto(file.as_uri())
        return page, said

    yield opened
    for context in contexts:
        context.close()


@pytest.fixture(scope="session", autouse=True)
def no_wait_for_the_disk():
    """What tests write need not outlast a power failure: a file takes 3 ms instead of 11."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("os.fsync", lambda opened: None)
        yield


@pytest.fixture(scope="session", autouse=True)
def replays_are_made():
    """A report whose replay cannot be made says so and is written; in tests, that is a failure."""
    from dockdyn.pages import packed_replay

    def made(dataset, folder=None, content=None):
        try:
            return packed_replay(dataset, folder, content)
        except Exception as error:
            pytest.fail(f"the replay could not be made: {error!r}")  # which is no Exception itself

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("dockdyn.pages.packed_replay", made)
        yield


@pytest.fixture(autouse=True)
def reports_without_replay(request, monkeypatch):
    """A replay takes longer than many a run: it is left out where no report is looked at.

    What `test_replay.py` draws of every kind, the tests marked `replay` have in reports: the kinds, a user's own parts and
    the page on them.
    """
    if "replay" not in request.keywords:
        monkeypatch.setattr("dockdyn.pages.packed_replay", lambda dataset, folder=None, content=None: {"replay": ""})


@pytest.fixture(autouse=True, scope="session")
def comparisons_of_no_one(tmp_path_factory):
    """What runs before a test knows of no comparison."""
    kept = pytest.MonkeyPatch()
    nowhere = tmp_path_factory.mktemp("compared") / "not a folder"
    nowhere.touch()
    kept.setattr("dockdyn.kinds.rig.comparison.store.comparison_folder", lambda: nowhere)
    yield
    kept.undo()


@pytest.fixture(autouse=True)
def comparisons_of_this_test(comparisons_of_no_one, tmp_path_factory, monkeypatch):
    """No test knows what others, or the user, have compared."""
    folder = cache(lambda: tmp_path_factory.mktemp("compared"))  # few tests ask for it
    monkeypatch.setattr("dockdyn.kinds.rig.comparison.store.comparison_folder", folder)


@pytest.fixture(scope="session")
def load(tmp_path_factory):
    """Reads a scenario given as a dictionary, written to a file and read back as a user's would be.

    Without a kind it is an assembly of two bodies, as `two_bodies` takes them.
    """
    file = tmp_path_factory.mktemp("scenario") / "scenario.toml"

    def read(content, overrides=None):
        whole = content if "kind" in content else two_bodies(content)
        file.write_text(tomlkit.dumps(plain(whole)), encoding="utf-8")
        return dockdyn.load(file, overrides)

    return read


@pytest.fixture(scope="session")
def run(load):
    """Simulates a scenario of two bodies in free flight given as a dictionary."""

    def simulate(content, **overrides):
        return dockdyn.simulate(load({"schema": 2, **content}, overrides))

    return simulate


@pytest.fixture(scope="session")
def shared_run(tmp_path_factory):
    """Results of presets with keys changed, each made once in a session, whatever its processes; nobody may change them."""
    folder = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder = folder.parent  # of all processes
    known = {}

    def result(preset, overrides=()):
        scenario = dockdyn.load(preset, dict(overrides))
        text = scenario.text()
        if text not in known:
            file = folder / f"{hashlib.sha256(text.encode()).hexdigest()}.pickle"
            if not file.exists():
                part = file.with_suffix(f".{os.getpid()}")
                part.write_bytes(pickle.dumps(dockdyn.simulate(scenario)))
                part.replace(file)
            known[text] = pickle.loads(file.read_bytes())
        return known[text]

    return result


@pytest.fixture
def own_files(tmp_path, monkeypatch):
    """Writes the files of a user, own modules among them, into an empty folder in which one works; gives the folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    modules = []

    def write(texts):
        for name, text in texts.items():
            (tmp_path / name).write_text(text)
            modules.append(name.partition(".")[0])
        return tmp_path

    yield write
    for name in modules:
        sys.modules.pop(name, None)


class Ended(NamedTuple):
    """A command that has ended, as `subprocess` gives it."""

    returncode: int
    stdout: str
    stderr: str


@pytest.fixture
def dock(monkeypatch, capsys, tmp_path):
    """Runs a command line of `dockdyn` in this process, in an empty folder; how long that takes is not told."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("dockdyn.cli.progress.FIRST", 1e6)

    def command(*arguments):
        monkeypatch.setattr(sys, "argv", ["dockdyn", *map(str, arguments)])
        capsys.readouterr()
        try:
            cli.main()
            code = 0
        except SystemExit as end:
            code = int(end.code or 0)
        return Ended(code, *capsys.readouterr())

    return command


def pytest_collection_modifyitems(items):
    """What takes longest runs in `make verify` only."""
    for item in items:
        test, _, case = item.nodeid.removesuffix("]").partition("[")
        if case in LONG.get(f"{item.path.name}::{test.partition('::')[2]}", ()):
            item.add_marker(pytest.mark.full)


# FMUs that several files of tests share, each made once


@pytest.fixture(scope="session")
def cone_fmu(tmp_path_factory):
    """Probe and cone with a delay of 16 ms and four contacts, FMI 3.0: the scenario and its file."""
    from fmu_files import exported

    return exported("probe-cone", 3, tmp_path_factory.mktemp("cone"))


@pytest.fixture(scope="session")
def latch_fmu(tmp_path_factory):
    """Probe and cone with a latch, FMI 2.0."""
    from fmu_files import exported

    return exported("probe-cone-latch", 2, tmp_path_factory.mktemp("latch"))


@pytest.fixture(scope="session")
def sits_fmu(tmp_path_factory):
    """A rig that bounces for a minute, FMI 3.0."""
    from fmu_files import exported

    return exported("sits", 3, tmp_path_factory.mktemp("sits"))
