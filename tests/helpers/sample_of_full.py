"""`pytest --sample-of-full MINUTES`: as many full cases as can be run in that time, in an order that the commit draws."""

import hashlib
import signal
import subprocess
import time

import pytest

MOST = 60.0  # s that one case may take: what takes longer is for `make verify`
AGAIN = 10.0  # s until a case that has not ended is stopped once more


def pytest_addoption(parser):
    parser.addoption("--sample-of-full", type=float, metavar="MINUTES", help="run full cases only, for so long")


def pytest_configure(config):
    minutes = config.getoption("sample_of_full")
    if minutes is not None:
        config.pluginmanager.register(Sample(config, 60.0 * minutes))


def name_commit(folder):
    """The commit that is checked out in a folder; nothing where there is none, or no Git."""
    try:
        asked = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=folder, capture_output=True, text=True)
    except FileNotFoundError:
        return ""
    return asked.stdout.strip()


class Sample:
    """Begins no case after the time, and stops one that takes too long: that is no failure, as nothing was found."""

    def __init__(self, config, seconds):
        self.end = time.monotonic() + seconds
        self.config, self.seed = config, name_commit(config.rootpath)
        self.cases, self.begun, self.stopped = 0, 0, set()

    @pytest.hookimpl(trylast=True)  # after cases were marked
    def pytest_collection_modifyitems(self, items):
        self.config.hook.pytest_deselected(items=[item for item in items if not item.get_closest_marker("full")])
        items[:] = sorted((item for item in items if item.get_closest_marker("full")), key=self.place_in_order)
        self.cases = len(items)

    def place_in_order(self, item):
        """Where the commit puts a case: those of one test stand together, as they share programs."""
        names = item.nodeid.partition("[")[0], item.nodeid
        return [hashlib.sha256(f"{self.seed} {name}".encode()).digest() for name in names]

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self):
        """Whether nothing more is done for a case."""
        if time.monotonic() >= self.end:
            return True
        self.begun += 1
        return None

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_setup(self, item):
        return (yield from self.bound_phase(item))

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item):
        return (yield from self.bound_phase(item))

    def bound_phase(self, item):
        """A phase of a case, which an alarm ends: at the end of the time, or where it alone takes too much of it."""

        unfinished = pytest.skip.Exception("not finished in the time of a sample", _use_item_location=True)

        def stop(number, frame):
            self.stopped.add(item.nodeid)
            raise unfinished

        before = signal.signal(signal.SIGALRM, stop)
        signal.setitimer(signal.ITIMER_REAL, max(min(MOST, self.end - time.monotonic()), 1e-3), AGAIN)
        try:
            return (yield)
        except Exception as error:
            if item.nodeid in self.stopped:  # what was being written then may end with an error of its own
                raise unfinished from error
            raise
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0.0)
            signal.signal(signal.SIGALRM, before)

    def pytest_sessionfinish(self):
        if hasattr(self.config, "workeroutput"):
            self.config.workeroutput["sample"] = [self.cases, self.begun, [*self.stopped]]

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node):
        cases, begun, stopped = getattr(node, "workeroutput", {}).get("sample", [0, 0, []])
        self.cases, self.begun = max(self.cases, cases), self.begun + begun
        self.stopped.update(stopped)

    def pytest_terminal_summary(self, terminalreporter):
        finished = self.begun - len(self.stopped)
        words = f"Of {self.cases} full cases, {self.begun} were begun and {finished} finished, as drawn by"
        terminalreporter.write_line(f"{words} commit {self.seed or '(none)'}.")
