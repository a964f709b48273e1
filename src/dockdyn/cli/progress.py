"""Progress: a bar on a terminal; without one, in pipes and logs of a build, a line now and then on the error stream.

Whatever a command does, it does not stay silent for long: from its start until it answers, `CommandWatch` says what it is at.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

import typer

from dockdyn.backend import waits
from dockdyn.interrupt import advise_on_interrupt

FIRST = 3.0  # s of silence, after which a command says what it does
EVERY = 10.0  # s between lines of what it does
TOLD = 0.01  # share done, from which the time that is left is told


class CommandWatch:
    """Says on the error stream what a command is doing, where it has said nothing for a while; no more once it answers."""

    def __init__(self) -> None:
        self.words = ""
        self.share: float | None = None  # that is done, once it is known
        self.began = self.heard = 0.0  # s: when what it does now began, and when anything was last said
        self.bars = 0  # that the terminal shows now
        self.wait = FIRST
        self._ended = threading.Event()
        self._lines = threading.Lock()  # so that no line comes after the end

    @contextmanager
    def watching(self, words: str, quiet: bool = False) -> Iterator[None]:
        """Watch over a command, which begins with what `words` say; over a `quiet` one nothing is said."""
        self._ended = threading.Event()
        self.bars, self.wait = 0, FIRST
        self._begin(words)
        if quiet:
            self.end()
        thread = threading.Thread(target=self._speak, args=(self._ended,), daemon=True, name="dockdyn-progress")
        thread.start()
        try:
            yield
        finally:
            self.end()

    def end(self) -> None:
        """Say nothing more: the command answers, or speaks for itself."""
        with self._lines:
            self._ended.set()

    def hear(self) -> None:
        """Note that something was said."""
        self.heard = time.monotonic()

    @contextmanager
    def doing(self, words: str) -> Iterator[Callable[[float], None]]:
        """Say of the block that it does what `words` say; takes the share of it that is done."""
        before = self.words, self.share, self.began
        self._begin(words)
        try:
            yield self._done
        finally:
            self.words, self.share, self.began = before

    @contextmanager
    def bar(self) -> Iterator[None]:
        """Say nothing while a terminal shows a bar."""
        self.bars += 1
        try:
            yield
        finally:
            self.bars -= 1
            self.hear()

    def _begin(self, words: str) -> None:
        self.words, self.share = words, None
        self.began = time.monotonic()
        self.heard = max(self.heard, self.began) if self.wait == EVERY else self.began

    def _done(self, share: float) -> None:
        self.share = float(share)

    def _speak(self, ended: threading.Event) -> None:
        """Say a line whenever nothing was said for long."""
        while not ended.wait(max(0.01, min(self.wait, self.heard + self.wait - time.monotonic()))):
            if self.bars or time.monotonic() - self.heard < self.wait:
                continue
            with self._lines:
                if ended.is_set():
                    return
                self.hear()
                self.wait = EVERY
                typer.echo(self._line(), err=True)

    def _line(self) -> str:
        """Return what is done, how far, since when and for how long still."""
        elapsed = time.monotonic() - self.began
        if self.share is None or self.share < TOLD:
            return f"{self.words}: {elapsed:.0f} s so far"
        left = elapsed * (1 - self.share) / self.share
        return f"{self.words}: {100 * self.share:.0f} % after {elapsed:.0f} s, about {left:.0f} s left"

    def so_far(self) -> str:
        """Return how far the work is now, asked from any thread."""
        from dockdyn.scenario.language.printable import time_in_words

        share = "" if self.share is None else f" and was {100 * self.share:.2g} % done"
        return f"{self.words} had taken {time_in_words(time.monotonic() - self.began)}{share}"


WATCH = CommandWatch()  # over the command that this process runs


@contextmanager
def show_activity(words: str) -> Iterator[None]:
    """Say of a block that has no bar what it does, where it takes long."""
    from dockdyn.scenario.language.printable import printable

    with WATCH.doing(printable(words)):
        yield


@contextmanager
def show_progress(words: str, quiet: bool = False, left: str = "nothing of it is kept") -> Iterator[Any]:
    """Show progress: takes the share that is done, and only shows that work goes on until it is told.

    On a terminal it is a bar, above which stands why a program is long in coming; without one, lines of `CommandWatch`.
    Work that is interrupted says how far it was and what is `left` of it; nothing where that is empty, as somebody else does.
    """
    from dockdyn.scenario.language.printable import printable

    words, left = printable(words), printable(left)
    if quiet:
        WATCH.end()
    with (
        WATCH.doing(words) as note,
        advise_on_interrupt(lambda: f"{WATCH.so_far()}; {left}") if left else nullcontext(),
    ):
        if quiet or not sys.stderr.isatty():
            yield note
            return
        with WATCH.bar(), _shown_bar(words) as advance:

            def note_and_advance(share: float) -> None:
                note(share)
                advance(share)

            yield note_and_advance


@contextmanager
def _shown_bar(words: str) -> Iterator[Callable[[float], None]]:
    """Show a bar on the terminal."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, SpinnerColumn, TaskProgressColumn, TextColumn, TimeElapsedColumn

    from dockdyn.scenario.language.printable import printable

    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TaskProgressColumn(),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(f"{words} (compiling first)", total=None)  # of which nothing is known

        def tell(why: str) -> None:
            bar.console.print(f"note: {printable(why)}", markup=False, highlight=False)

        waits.append(tell)
        try:
            yield lambda share: bar.update(task, description=words, total=1.0, completed=share)
        finally:
            waits.remove(tell)
