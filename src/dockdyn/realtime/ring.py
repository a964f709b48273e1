"""The memory that the loop of a rig shares with those who watch it: a head, and a ring of records; in C `loop/shared.h`."""

from __future__ import annotations

import mmap
from pathlib import Path

import numpy as np

from dockdyn.realtime.devices.device import JOINTS
from dockdyn.translate.c_step import CStep

RECORDS_AT = 4096  # bytes
FOR_EVER = 2**63 - 1  # ns
HEAD = np.dtype(
    [
        (name, np.int64)
        for name in (
            "request",
            "held_until",
            "quit",
            "real_time",
            "memory_locked",
            "began",
            "bad_readings",
            "bad_poses",
            "foreign",
            "capacity",
            "written",
            "over",
            "logged",
        )
    ]
)


def record_type(step: CStep) -> np.dtype:
    """Return a record: times, joints, inputs and outputs of a cycle."""
    times = [(name, np.int64) for name in ("time", "answer", "waiting")]
    return np.dtype(
        [*times, ("joints", np.float64, JOINTS), ("inputs", step.input_type), ("outputs", step.output_type)]
    )


def make_ring(path: Path, step: CStep, capacity: int) -> None:
    """Make a file of zeros with room for `capacity` records."""
    with path.open("wb") as file:
        file.truncate(RECORDS_AT + capacity * record_type(step).itemsize)


class Ring:
    """The shared memory in a file, seen from Python; who only `reads` can change nothing in it."""

    def __init__(self, path: Path, record: np.dtype, reads: bool = False):
        self.path = path
        with path.open("rb" if reads else "r+b") as file:
            self.memory = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ if reads else mmap.ACCESS_WRITE)
        self.head = np.frombuffer(self.memory, HEAD, 1)[0]
        capacity = (len(self.memory) - RECORDS_AT) // record.itemsize
        self.records = np.frombuffer(self.memory, record, capacity, RECORDS_AT)

    @property
    def written(self) -> int:
        """How many records there have been."""
        return int(self.head["written"])

    def last(self) -> np.ndarray | None:
        """Return the newest record; None before the first."""
        count = self.written
        return self.records[(count - 1) % len(self.records)].copy() if count else None

    def since(self, number: int) -> tuple[np.ndarray, int]:
        """Return the records from a number on that are still there, and how many were lost: overwritten before they were
        read."""
        room = len(self.records)
        end = self.written
        begin = max(number, end - room)
        found = self.records[np.arange(begin, end) % room].copy()
        under_way = 0 if self.head["over"] else 1  # the loop may just write over the oldest
        gone = min(max(self.written - room - begin + under_way, 0), len(found))  # while they were copied
        return found[gone:], begin + gone - number
