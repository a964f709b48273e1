"""What several test files share."""

import gc
import hashlib
import os
import pickle
import sys
from functools import cache
from pathlib import Path

import pytest
import tomlkit
from browser import launch, new_context
from helpers.refusals import CommandResult
from plain_tables import plain
from two_bodies import two_bodies

import dockdyn
from dockdyn.__main__ import SELDOM
from dockdyn.cli import main as cli
from dockdyn.imports import leave_out

pytest_plugins = ["helpers.sample_of_full"]

# Never all of what is there: a process of the suite keeps gigabytes, which take seconds to look through each time.
gc.set_threshold(SELDOM, 10, SELDOM)
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
    or said so far. A script is run before those of the page; the pixels of scenes are there where that is asked for."""
    contexts = []

    def opened(file: Path, width: int, height: int, scheme: str = "light", script: str = "", drawn: bool = False):
        size = {"width": width, "height": height}
        contexts.append(new_context(browser, drawn, offline=True, color_scheme=scheme, viewport=size))
        page, said = contexts[-1].new_page(), []
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.add_init_script(script)
        page.goto(file.as_uri())
        return page, said

    yield opened
    for context in contexts:
        context.close()


@pytest.fixture(autouse=True, scope="session")
def comparisons_of_no_one(tmp_path_factory):
    """What runs before a test knows of no comparison."""
    kept = pytest.MonkeyPatch()
    nowhere = tmp_path_factory.mktemp("compared") / "not a folder"
    nowhere.touch()
    kept.setattr("dockdyn.rig.comparison.store.comparison_folder", lambda: nowhere)
    yield
    kept.undo()


@pytest.fixture(autouse=True)
def comparisons_of_this_test(comparisons_of_no_one, tmp_path_factory, monkeypatch):
    """No test knows what others, or the user, have compared."""
    folder = cache(lambda: tmp_path_factory.mktemp("compared"))  # few tests ask for it
    monkeypatch.setattr("dockdyn.rig.comparison.store.comparison_folder", folder)


@pytest.fixture(scope="session")
def load(tmp_path_factory):
    """Reads a scenario given as a dictionary, written to a file and read back as a user's would be.

    Two bodies may be stated by their names, as `two_bodies` takes them.
    """
    file = tmp_path_factory.mktemp("scenario") / "scenario.toml"

    def read(content, overrides=None):
        whole = two_bodies(content) if "chaser" in content else content
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


@pytest.fixture
def write_scenarios(tmp_path, monkeypatch):
    """Writes scenario files, `__` in a name for a folder, into an empty folder in which one works."""
    monkeypatch.chdir(tmp_path)

    def files(**texts):
        for name, text in texts.items():
            path = tmp_path / f"{name.replace('__', '/')}.toml"
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)

    return files


@pytest.fixture
def dock(monkeypatch, capsys, tmp_path):
    """Runs a command line of `dockdyn` in this process, in an empty folder; how long that takes is not told.

    A report whose replay cannot be made is written without: here that is a failure.
    """
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("dockdyn.cli.progress.FIRST", 1e6)
    monkeypatch.setattr("dockdyn.results.drive.FIRST_TOLD", 1e6)

    def command(*arguments):
        monkeypatch.setattr(sys, "argv", ["dockdyn", *map(str, arguments)])
        capsys.readouterr()
        try:
            cli.main()
            code = 0
        except SystemExit as end:
            code = int(end.code or 0)
        ended = CommandResult(code, *capsys.readouterr())
        assert "replay could not be made" not in ended.stderr, ended.stderr
        return ended

    return command


@pytest.fixture
def check_file_refused(dock, tmp_path):
    """Asserts that a run of a scenario, given as a dictionary, is refused in one line with its file and all of `words`."""

    def check(content, *words):
        (tmp_path / "mine.toml").write_text(tomlkit.dumps(plain(content)), encoding="utf-8")
        dock("run", "mine.toml").check_refused("mine.toml", *words)

    return check


def pytest_sessionfinish():
    """Nothing that is left is looked through when the process ends, as pytest would do several times."""
    gc.freeze()


def pytest_collection_modifyitems(items):
    """Cases that `full_cases` of a test names are `full`."""
    for item in items:
        case = item.nodeid.removesuffix("]").partition("[")[2]
        if any(case in marker.args for marker in item.iter_markers("full_cases")):
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
