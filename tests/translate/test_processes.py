"""Machine code in processes: many structures in one, several at once, one that is killed, nowhere to keep anything."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from dockdyn import programs
from dockdyn.contact.surfaces.revolved import core_of

MANY = Path(__file__).with_name("many_structures.py")
EACH = 2**19  # bytes of a structure: its program and what JAX remembers of its trace
REMEMBERED = 300  # structures: measured, the memory of 500 stops growing there
MAPS = (
    6  # memory maps that a program may have: its code, read-only numbers, what unwinds, twice where it is written again
)
OUTLINE = [[0.0, 0.0], [0.7, 0.0], [0.3, 0.45]]  # m
BEGIN = """
import os, signal
import numpy as np
from dockdyn import files
{change}
from dockdyn.contact.surfaces.revolved import core_of
print(core_of(np.array({outline}), 0.03).tobytes().hex())
"""
KILLED = (
    "files.os.fsync = lambda opened: os.kill(os.getpid(), signal.SIGKILL)"  # an entry is written, not yet in its place
)


@pytest.mark.full
@pytest.mark.parametrize("count", [60, 500])
def test_many_structures_in_one_process(count):
    """Each answers right, before and after it was dropped; maps are those of programs that are kept, memory grows by little."""
    ended = subprocess.run([sys.executable, MANY, str(count)], capture_output=True, text=True, timeout=1500, check=True)
    found = json.loads(ended.stdout)
    maps, memory = np.array(found["held"]).T
    assert found["kept"] <= programs.MOST_KEPT
    # what is dropped goes with Python's next look for cycles: so many more at once
    assert np.ptp(maps) <= MAPS * (programs.MOST_KEPT + 96)
    assert memory[-1] - memory[0] <= EACH * min(count, REMEMBERED)


@pytest.fixture
def cold(tmp_path):
    """The environment of a process whose user has nothing kept."""
    hidden = {"DOCKDYN_BACKEND", "JAX_COMPILATION_CACHE_DIR"}
    kept = {name: value for name, value in os.environ.items() if name not in hidden}
    return kept | {"XDG_CACHE_HOME": str(tmp_path / "cache")}


def started(environment, change=""):
    """A process that needs one program."""
    arguments = [sys.executable, "-c", BEGIN.format(change=change, outline=OUTLINE)]
    return subprocess.Popen(arguments, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def answer(process):
    """What a process has found; it must have ended well."""
    out, errors = process.communicate(timeout=300)
    assert process.returncode == 0, errors
    return out


@pytest.fixture(scope="module")
def known():
    return core_of(np.array(OUTLINE), 0.03).tobytes().hex() + "\n"


def entries(environment, ending=""):
    """Files of machine code that are kept, or begun: those with the ending `.part`."""
    files = Path(environment["XDG_CACHE_HOME"]).rglob("native/*")
    return [one for one in files if one.name.endswith(ending) and one.name.startswith(".") == (ending == ".part")]


@pytest.mark.parametrize("count", [2, pytest.param(6, marks=pytest.mark.full)])
def test_several_at_once_with_nothing_kept(cold, known, count):
    assert [answer(one) for one in [started(cold) for _ in range(count)]] == [known] * count
    assert entries(cold) and not entries(cold, ".part")


def test_one_is_killed_while_it_writes_an_entry(cold, known):
    """The next one is right, and what the killed one left goes in time."""
    killed = started(cold, KILLED)
    killed.communicate(timeout=300)
    assert killed.returncode == -signal.SIGKILL
    (left,) = entries(cold, ".part")
    assert not entries(cold)
    assert answer(started(cold)) == known
    for one in entries(cold):
        one.unlink()
    long_ago = time.time() - 2 * 86400
    os.utime(left, (long_ago, long_ago))
    assert answer(started(cold)) == known
    assert not left.exists()


@pytest.mark.parametrize("variable", ["XDG_CACHE_HOME", pytest.param("HOME", marks=pytest.mark.full)])
def test_where_nothing_may_be_written(cold, known, variable):
    del cold["XDG_CACHE_HOME"]
    assert answer(started(cold | {variable: "/proc"})) == known  # where not even root makes a folder
