"""The terminal of an operator: lines, one that is renewed, and what is typed meanwhile."""

from __future__ import annotations

import contextlib
import os
import select
import sys
import time
from collections.abc import Iterator

from dockdyn.cli.common import Refusal, say

CHUNK = 4096  # bytes
ENDLESS = 0.1  # s after which a pipe that is always full is no longer read


class StatusTerminal:
    """Lines on the standard output, what is so just now on a terminal's last line; it may have `gone`: nobody reads it."""

    def __init__(self) -> None:
        self.shown, self.rest, self.open = "", b"", True
        self.gone = False
        self.cut = False  # whether the next line began before what was typed was forgotten

    def tell(self, text: str) -> None:
        with self._may_go():
            self._clear()
            say(text)

    def show(self, text: str) -> None:
        if sys.stderr.isatty():
            with self._may_go():
                self._clear()
                self.shown = text
                sys.stderr.write(text)
                sys.stderr.flush()

    @contextlib.contextmanager
    def _may_go(self) -> Iterator[None]:
        """Note a terminal or a pipe that is closed at the other end."""
        try:
            yield
        except OSError:
            self.gone = True

    def _clear(self) -> None:
        """Take away what is shown."""
        if self.shown:
            sys.stderr.write("\r" + " " * len(self.shown) + "\r")
            self.shown = ""

    def _read(self) -> bytes:
        """Return what has been typed since the last call."""
        if not self.open or not select.select([sys.stdin.fileno()], [], [], 0.0)[0]:
            return b""
        found = os.read(sys.stdin.fileno(), CHUNK)
        self.open = bool(found)
        return found

    def read_line(self) -> str | None:
        self.rest += self._read()
        line, newline, rest = self.rest.partition(b"\n")
        if not newline:
            return None
        self.rest = rest
        if self.cut:
            self.cut = False
            return None
        return line.decode(errors="replace")

    def forget(self) -> bool:
        last, deadline = self.rest, time.monotonic() + ENDLESS
        while (more := self._read()) and time.monotonic() < deadline:
            last = more
        if last:
            self.rest, self.cut = b"", not last.endswith(b"\n")
        if sys.stdin.isatty():
            import termios

            termios.tcflush(sys.stdin, termios.TCIFLUSH)  # also the line that Enter has not ended yet
        return bool(last)

    def is_key_held(self) -> bool:
        return bool(self._read())


@contextlib.contextmanager
def key_by_key() -> Iterator[None]:
    """Yield a terminal that gives every key at once. Refuses what is none."""
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
