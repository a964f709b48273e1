"""Other processes: what one imports to answer commands, what memory one takes to read a log, and one that is stopped."""

import json
import os
import signal
import subprocess
import sys
import time

ANSWER = """
import contextlib, io, json, sys
from dockdyn.__main__ import main

answers = []
for given in json.loads(sys.argv[1]):
    sys.argv = ["dockdyn", *given]
    said = io.StringIO()
    with contextlib.redirect_stderr(said):
        try:
            main()
        except SystemExit as end:
            answers.append([end.code, said.getvalue()])
print(json.dumps([answers, [name for name in %r if name in sys.modules]]))
"""
READ = """
import resource, sys
from pathlib import Path
import dockdyn
from dockdyn.results.exchange.log_file import table_of
table_of(Path(sys.argv[1]))
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
try:
    table_of(Path(sys.argv[2]))
except dockdyn.ScenarioError as error:
    print(error)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


def run_python(code, *arguments, folder=None):
    """What Python prints that runs `code` in a folder."""
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, cwd=folder, check=True).stdout


def answers_and_imports(commands, modules, folder):
    """Exit code and errors of each command line, and which of `modules` are imported once all have answered."""
    return json.loads(run_python(ANSWER % (tuple(modules),), json.dumps(commands), folder=folder))


def refusal_and_memory(small, file):
    """What refuses a log, and the memory (kB) that it takes beyond that of a small one."""
    said, grown = run_python(READ, small, file).splitlines()
    return said, int(grown)


def stop_once(ready, code, *arguments, by=signal.SIGKILL):
    """Start Python on `code` and stop it, by default without warning, once it is `ready`; what it said, and its exit code."""
    process = subprocess.Popen(
        [sys.executable, "-c", code, *map(str, arguments)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    begun = time.monotonic()
    while not ready() and process.poll() is None:
        assert time.monotonic() - begun < 300, "it does not get so far"
        time.sleep(0.005)
    os.killpg(process.pid, by)
    return process.communicate()[1], process.returncode
