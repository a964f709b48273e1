"""Names that one process of this computer has at a time: the devices that a rig drives, and the file of its log.

Source: Linux, unix(7): a socket in the abstract namespace has a name without a file, until who has it ends.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import socket
from collections.abc import Iterable, Iterator

from dockdyn.realtime.holders import holder_of_name


class Taken(Exception):
    """Another process has a name; the message is that name, `holder` which process it is, in words, where that is seen."""

    def __init__(self, name: str, holder: str):
        super().__init__(name)
        self.holder = holder


@contextlib.contextmanager
def claim_names(names: Iterable[str]) -> Iterator[list[int]]:
    """Hold names while the block runs, and as long as a process lives that inherits the descriptors. Raises Taken."""
    with contextlib.ExitStack() as stack:
        held = []
        for name in names:
            held.append(stack.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)))
            try:
                held[-1].bind(f"\0{(own := _own_name(name))}".encode())
            except OSError as error:
                if error.errno != errno.EADDRINUSE:
                    raise
                raise Taken(name, holder_of_name(own)) from None
        yield [each.fileno() for each in held]


def _own_name(name: str) -> str:
    """Return what a name is called in the abstract namespace."""
    return f"dockdyn-{hashlib.sha256(name.encode()).hexdigest()}"
