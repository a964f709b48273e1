"""The terminal of an operator: lines, one that is renewed, and what is typed meanwhile."""

from __future__ import annotations

import contextlib
import os
import select
import sys
from collections.abc import Iterator

from dockdyn.cli.common import Refusal, say


class Terminal:
    """Lines on the standard output, what is so just now on a terminal's last line."""

    def __init__(self) -> None:
        self.shown, self.rest, self.open = "", b"", True

    def tell(self, text: str) -> None:
        self._clear()
        say(text)

    def show(self, text: str) -> None:
        if sys.stderr.isatty():
            self._clear()
            self.shown = text
            sys.stderr.write(text)
            sys.stderr.flush()

    def _clear(self) -> None:
        """Takes away what is shown."""
        if self.shown:
            sys.stderr.write("\r" + " " * len(self.shown) + "\r")
            self.shown = ""

    def _read(self) -> bytes:
        """What has been typed since the last call."""
        if not self.open or not select.select([sys.stdin.fileno()], [], [], 0.0)[0]:
            return b""
        found = os.read(sys.stdin.fileno(), 4096)
        self.open = bool(found)
        return found

    def typed(self) -> str | None:
        self.rest += self._read()
        line, newline, rest = self.rest.partition(b"\n")
        if not newline:
            return None
        self.rest = rest
        return line.decode(errors="replace")

    def held(self) -> bool:
        return bool(self._read())


@contextlib.contextmanager
def key_by_key() -> Iterator[None]:
    """A terminal that gives every key at once. Refuses what is none."""
    import termios
    import tty

    if not sys.stdin.isatty():
        raise Refusal("--hold-to-run: needs a terminal with a keyboard")
    before = termios.tcgetattr(sys.stdin)
    tty.setcbreak(sys.stdin)
    try:
        yield
    finally:
        termios.tcsetattr(sys.stdin, termios.TCSAFLUSH, before)  # keys that are still repeated are nobody's
