"""The program that writes the log of a rig: it reads the ring of the loop until its input ends.

`python -m dockdyn.realtime.log_writer RING LOG` reads, as one line of JSON, the entries of a cycle, the scenario and who has
started it.
"""

from __future__ import annotations

import json
import os
import select
import shutil
import signal
import sys
import time
from pathlib import Path

import numpy as np

from dockdyn.files import replacing
from dockdyn.realtime.rig_log import RigLogWriter
from dockdyn.realtime.ring import Ring, record_type
from dockdyn.translate.c_step import CStep, Entry

PAUSE = 0.1  # s between two looks at the ring
PATIENCE = 5.0  # s without a record after which a loop that nobody watches has ended


def main() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # who started it ends it
    facts = json.loads(sys.stdin.buffer.readline())
    inputs, outputs = ([Entry(name, dtype, tuple(shape)) for name, dtype, shape in part] for part in facts["entries"])
    record = record_type(CStep("cycle", "", "", inputs, outputs, b""))
    ring, path = Ring(Path(sys.argv[1]), record), Path(sys.argv[2])
    began, read, missing = int(ring.head["began"]), 0, 0
    with replacing(path) as (file,):
        writer = RigLogWriter(file, record, facts["scenario"])
        left, deadline, over = False, 0.0, False
        while not over:
            if left:  # by who started it: the loop brakes, then ends
                time.sleep(PAUSE)
            else:
                left = bool(select.select([sys.stdin], [], [], PAUSE)[0])
                deadline = time.monotonic() + PATIENCE
            over = left and (bool(ring.head["over"]) or time.monotonic() > deadline)
            rows, lost = ring.since(read)
            for place, row in enumerate(rows):
                writer.write(row, read + lost + place, began)
            if len(rows):
                deadline = time.monotonic() + PATIENCE
            read, missing = read + lost + len(rows), missing + lost
            ring.head["logged"] = read
        writer.finish(missing)
    if os.getppid() != facts["server"]:  # which was killed, and has left the ring behind
        shutil.rmtree(Path(sys.argv[1]).parent, ignore_errors=True)


if __name__ == "__main__":
    np.seterr(all="ignore")
    main()
