"""Ctrl-C and requests to end: every command ends at once, by code, and leaves no half file."""

import os
import random
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from dockdyn.interrupt import WORDS
from dockdyn.results.store import write_result

ASKING = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]
TRIES = int(os.environ.get("DOCKDYN_FUZZ_SIGNALS", "44"))  # in `make verify`
SEED = int(os.environ.get("DOCKDYN_FUZZ_SEED", "26"))
WITHIN = 2.0  # s, on an idle machine
TIME = re.compile(r"\d+ s")
# a shell may have them ignored
HEARD = "import signal as s; s.signal(s.SIGINT, s.default_int_handler); s.signal(s.SIGHUP, s.SIG_DFL); "
COMMAND = "from dockdyn.__main__ import main; main()"


def started(*arguments, folder: Path, cold: Path | None = None) -> subprocess.Popen:
    """A command in a process group of its own; with `cold`, a folder, nothing compiled is known."""
    return subprocess.Popen(
        [sys.executable, "-c", HEARD + COMMAND, *map(str, arguments)],
        cwd=folder,
        env=os.environ if cold is None else {**os.environ, "XDG_CACHE_HOME": str(cold)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def ended(process: subprocess.Popen, by: int = signal.SIGINT) -> tuple[int, str, float]:
    """Code, words and seconds to the end of a process whose group gets a signal, as from a terminal."""
    os.killpg(process.pid, by)
    begun = time.monotonic()
    try:
        _, errors = process.communicate(timeout=100)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        raise
    return process.returncode, errors, time.monotonic() - begun


def patience() -> float:
    """Seconds to end within, more where others keep the machine busy."""
    return WITHIN * max(1.0, 2 * os.getloadavg()[0] / (os.cpu_count() or 1))


BUSY = """
import hashlib, sys, time, traceback, dockdyn

print("here", file=sys.stderr, flush=True)
{work}

class Law(dockdyn.NormalLaw):
    stiffness: float

    def force(self, depth, rate):
        return self.stiffness * depth
"""
# as JAX does while it compiles, and as libraries do while they are imported
COMPILED = "hashlib.pbkdf2_hmac('sha256', b'', b'', 30_000_000)"
SWALLOWED = """
try:
    time.sleep(20)
except BaseException:
    traceback.print_exc()
"""


@pytest.mark.full_cases("in an import that swallows it")
@pytest.mark.parametrize("work", [COMPILED, SWALLOWED], ids=["in compiled code", "in an import that swallows it"])
def test_whatever_the_main_thread_does(work, tmp_path):
    (tmp_path / "busy.py").write_text(BUSY.format(work=work))
    override = 'contact.probe.normal={law="busy:Law", stiffness=5000.0}'
    process = started("run", "probe-cone", "--set", override, "--quiet", "--out", "x", folder=tmp_path)
    assert process.stderr.readline() == "here\n"
    time.sleep(0.2)
    code, errors, took = ended(process)
    assert (code, errors) == (130, "error: interrupted\n") and took < patience()


STUCK = """
import threading
from dockdyn import interrupt

interrupt.listen()
interrupt.GRACE = 1.0
with interrupt.await_signal() as asked:
    print("here", flush=True)
    asked.wait()
print("told", flush=True)
threading.Thread(target=threading.Event().wait).start()  # Python waits for it to the end of days
"""


def test_work_that_waits_to_be_ended_ends_also_where_something_hangs():
    process = subprocess.Popen([sys.executable, "-c", STUCK], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "here\n"
    process.send_signal(signal.SIGTERM)
    told, _ = process.communicate(timeout=100)
    assert told == "told\n" and process.returncode == 0


@pytest.mark.parametrize(
    ("by", "code", "word"),
    [(signal.SIGINT, 130, "interrupted"), (signal.SIGTERM, 143, "terminated"), (signal.SIGHUP, 129, "hung up")],
)
def test_no_half_file_is_left(by, code, word, tmp_path):
    (tmp_path / "result.nc").write_bytes(b"old")
    writing = """
import sys, time
from dockdyn.files import replace_files
from dockdyn.interrupt import listen

listen()
with replace_files(sys.argv[1]) as (file,):
    file.write(b"new")
    print("here", flush=True)
    time.sleep(20)
"""
    process = subprocess.Popen(
        [sys.executable, "-c", HEARD + writing, tmp_path / "result.nc"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    assert process.stdout.readline() == "here\n"
    assert len(list(tmp_path.iterdir())) == 2
    found, errors, took = ended(process, by)
    assert (found, errors) == (code, f"error: {word}\n") and took < patience()
    assert [(file.name, file.read_bytes()) for file in tmp_path.iterdir()] == [("result.nc", b"old")]


WORKING = """
import sys, time
from dockdyn.cli.common import show_progress
from dockdyn.interrupt import listen

listen()
with show_progress("Simulating one", quiet=True, **eval(sys.argv[2])) as advance:
    for share in eval(sys.argv[1]):
        advance(share)
    print("here", flush=True)
    time.sleep(20)
"""


@pytest.mark.parametrize(
    ("shares", "options", "said"),
    [
        ([0.1, 0.25], {}, "Simulating one had taken 0 s and was 25 % done; nothing of it is kept"),
        ([3.2e-8], {}, "Simulating one had taken 0 s and was 3.2e-06 % done; nothing of it is kept"),
        ([], {"left": "pictures are in x\n"}, "Simulating one had taken 0 s; pictures are in x\\n"),
    ],
)
@pytest.mark.parametrize("by", ASKING)
def test_work_that_ends_says_how_far_it_was_and_what_is_kept(shares, options, said, by):
    process = subprocess.Popen(
        [sys.executable, "-c", HEARD + WORKING, repr(shares), repr(options)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    assert process.stdout.readline() == "here\n"
    code, errors, _ = ended(process, by)
    assert (code, errors) == (128 + by, f"error: {WORDS[by]}; {said}\n".replace("0 s", TIME.search(errors)[0]))


@pytest.mark.full
def test_a_run_that_ends_says_how_far_it_was(tmp_path):
    process = started("run", "epos-like", "--set", "duration=70000 s", folder=tmp_path)
    assert any(line.startswith("note: the motion ") for line in process.stderr), "it ended before 15 s"
    code, errors, _ = ended(process, signal.SIGTERM)
    assert code == 143
    said = r"error: terminated; Simulating epos-like had taken \d+ s and was \S+ % done; nothing of it is kept\n"
    assert re.fullmatch(said, errors)
    assert not list(tmp_path.iterdir())


# command, longest time (s) until the signal comes, whether nothing compiled is known
COMMANDS = [
    ("run probe-cone", 4.0, False),
    ("run probe-cone --quiet", 25.0, True),
    ("stability probe-cone --json", 10.0, True),
    ("compare sits --compensators none,command-lead", 8.0, False),
    ("campaign run atv-like --runs 64 --out x", 10.0, False),
    ("report result/result.nc --force", 4.0, False),
    ("export result/result.nc --to csv --out tables --force", 3.0, False),
    ("fmu export probe-cone --out one.fmu --force", 6.0, False),
    ("sensitivity paraskevas-a --of peak_force_N --to body.chaser-front.velocity", 8.0, True),
    ("envelope paraskevas-latch --over body.chaser.velocity=65mm/s:75mm/s --tolerance 0.01", 8.0, False),
    ("view result/result.nc --html page.html", 4.0, False),
]


def interrupt(command: str, moment: float, folder: Path, cold: bool, by: int = signal.SIGINT) -> None:
    process = started(*command.split(), folder=folder, cold=folder / "cache" if cold else None)
    try:
        process.wait(moment)
        assert process.returncode == 0, process.communicate()
        return
    except subprocess.TimeoutExpired:
        pass
    code, errors, took = ended(process, by)
    asked = (
        128 + by,
        -by,
    )  # of one that dies of the signal, before dockdyn is there to hear it, a shell says the first, too
    assert code in asked or (code == 0 and took < 1), (moment, code, errors)  # it may just have been done
    assert took < patience(), (moment, took)
    if code == 128 + by:
        *before, last = errors.splitlines()
        assert last.startswith("error: "), errors
        how_far = ("for ", " left", "note: ")
        assert all(any(words in line for words in how_far) for line in before), errors
    if code == -by:  # Python itself still started: dockdyn had not yet begun to listen
        assert "dockdyn/cli/main.py" not in errors and "in listen" not in errors, errors
    assert not list(folder.rglob("*.part")), moment


@pytest.fixture
def folder(shared_run, tmp_path):
    (tmp_path / "result").mkdir()
    write_result(shared_run("paraskevas-latch"), tmp_path / "result/result.nc")
    return tmp_path


@pytest.mark.full_cases("run probe-cone --quiet-4.0-True")
@pytest.mark.parametrize(("command", "moment", "cold"), [(COMMANDS[0][0], 0.5, False), (COMMANDS[1][0], 4.0, True)])
def test_a_command_is_interrupted(command, moment, cold, folder):
    interrupt(command, moment, folder, cold)


@pytest.mark.full
@pytest.mark.parametrize("number", range(TRIES))
def test_commands_are_interrupted_at_random_moments(number, folder):
    command, longest, cold = COMMANDS[number % len(COMMANDS)]
    drawn = random.Random(f"{SEED}.{number}")
    interrupt(command, drawn.uniform(0.05, longest), folder, cold, drawn.choice(ASKING))


NOHUP = """
import os, signal, sys
from dockdyn import interrupt

signal.signal(signal.SIGHUP, signal.SIG_IGN)
interrupt.listen()
os.kill(os.getpid(), signal.SIGHUP)
with interrupt.await_signal() as asked:
    os.kill(os.getpid(), signal.SIGHUP)
    print("still here", asked.wait(0.5))
"""


def test_a_hang_up_that_is_ignored_stays_so():
    """As `nohup` has it."""
    ended = subprocess.run([sys.executable, "-c", NOHUP], capture_output=True, text=True, timeout=100)
    assert (ended.returncode, ended.stdout) == (0, "still here False\n")


WAITS = "Starting: ", "note: "  # said on the way where a loaded machine takes seconds


@pytest.mark.full
@pytest.mark.parametrize("by", [signal.SIGINT, signal.SIGHUP])
def test_workers_end_with_their_campaign(by, tmp_path):
    pytest.importorskip("distributed")
    process = started("campaign", "run", "atv-like", "--runs", 640, "--out", "x", "--workers", 2, folder=tmp_path)
    begun = time.monotonic()
    while not list(tmp_path.glob("x/chunks")) and time.monotonic() - begun < 60:
        time.sleep(0.1)
    time.sleep(2.0)
    code, errors, took = ended(process, by)
    *before, last = errors.splitlines()
    assert code == 128 + by and took < patience() and all(line.startswith(WAITS) for line in before), errors
    assert "cases are kept; go on with: dockdyn campaign run atv-like" in last
    time.sleep(2.0)
    with pytest.raises(ProcessLookupError):  # nobody of the group is left
        os.killpg(process.pid, 0)
