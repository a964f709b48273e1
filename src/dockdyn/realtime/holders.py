"""Which process of this computer has a port or a name, so that a user can end it.

Source: Linux, proc(5): /proc/net has the inodes of sockets, /proc/PID/fd the sockets of a process.
"""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

SHOWN = 80  # characters of a command line


def holder_of_port(port: int) -> str:
    """Return words for a message: which process has a port, and how to end it; empty where that cannot be seen."""
    inodes = set()
    for table in ("udp", "tcp"):
        for row in _table_rows(table):
            if int(row[1].rpartition(":")[2], 16) == port:
                inodes.add(row[9])
    return _words_of(inodes)


def holder_of_name(name: str) -> str:
    """Return likewise which process has a name in the abstract namespace of sockets."""
    return _words_of({row[6] for row in _table_rows("unix") if row[7:] == [f"@{name}"]})


def _table_rows(table: str) -> list[list[str]]:
    """Return the rows of a table of /proc/net, without its head; none where there is no such table."""
    try:
        return [line.split() for line in Path("/proc/net", table).read_text().splitlines()[1:]]
    except OSError:
        return []


def _words_of(inodes: set[str]) -> str:
    """Return words about the first process that has one of these sockets."""
    sockets = {f"socket:[{inode}]" for inode in inodes}
    for folder in Path("/proc").glob("[0-9]*") if sockets else ():
        with contextlib.suppress(OSError):  # of another user, or gone meanwhile
            if any(os.readlink(one) in sockets for one in (folder / "fd").iterdir()):
                words = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
                shown = words if len(words) <= SHOWN else f"…{words[-SHOWN:]}"
                return f"process {folder.name} has it ({shown}); end it with kill {folder.name}"
    return ""
