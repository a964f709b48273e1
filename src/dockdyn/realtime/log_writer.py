"""The program that writes the log of a rig: it reads the ring of the loop until its input ends.

`python -m dockdyn.realtime.log_writer RING LOG` reads, as one line of JSON, the entries of a cycle, the scenario and who has
started it. It prints lines of JSON: that it is ready, and at its end how many cycles it has written, or why it cannot write.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import shutil
import signal
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from dockdyn.files import describe_failure, replace_files
from dockdyn.realtime.rig_log import RigLogWriter
from dockdyn.realtime.ring import Ring, record_type
from dockdyn.translate.c_step import CStep, Entry

PAUSE = 0.1  # s between two looks at the ring
PATIENCE = 5.0  # s without a record after which a loop that nobody watches has ended


class Nothing(Exception):
    """There was no cycle: no log is left."""


def main() -> None:
    """Write the log, and remove the ring where who started this was killed and has left it behind."""
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)  # who started it ends it
    facts = json.loads(sys.stdin.buffer.readline())
    try:
        _write_records(facts)
    except Nothing:
        _print_facts({"cycles": 0, "lost": 0})
    except OSError as error:
        _print_facts({"problem": describe_failure(error)})
    if os.getppid() != facts["server"]:
        shutil.rmtree(Path(sys.argv[1]).parent, ignore_errors=True)


def _print_facts(facts: dict[str, Any]) -> None:
    """Print a line for who started this, if it still listens."""
    with contextlib.suppress(BrokenPipeError):
        print(json.dumps(facts), flush=True)


def _write_records(facts: dict[str, Any]) -> None:
    """Write every record until who started this has ended it, and the loop has ended. Raises Nothing, OSError."""
    inputs, outputs = ([Entry(name, dtype, tuple(shape)) for name, dtype, shape in part] for part in facts["entries"])
    record = record_type(CStep("cycle", "", "", inputs, outputs, b""))
    ring, read, missing = Ring(Path(sys.argv[1]), record), 0, 0
    with replace_files(Path(sys.argv[2])) as (file,):
        writer = RigLogWriter(file, record, facts["scenario"])
        file.flush()
        _print_facts({"ready": True})
        left, deadline, over = False, 0.0, False
        while not over:
            if left:  # by who started it: the loop brakes, then ends
                time.sleep(PAUSE)
            else:
                left = bool(select.select([sys.stdin], [], [], PAUSE)[0])
                deadline = time.monotonic() + PATIENCE
            over = left and (bool(ring.head["over"]) or time.monotonic() > deadline)
            rows, lost = ring.since(read)
            began = int(ring.head["began"])
            for place, row in enumerate(rows):
                writer.write(row, read + lost + place, began)
            if len(rows):
                deadline = time.monotonic() + PATIENCE
            read, missing = read + lost + len(rows), missing + lost
            ring.head["logged"] = read
        if not read:
            raise Nothing
        writer.finish(missing)
    _print_facts({"cycles": read - missing, "lost": missing})


if __name__ == "__main__":
    np.seterr(all="ignore")
    main()
