"""Ctrl-C, requests to end and hang-ups, as the command line takes them: the process ends at once, whatever it is doing.

Python's own way is an exception in the main thread. It comes only between two steps of Python, so not while JAX compiles,
and whoever is just importing something, or runs a callback, may swallow it. Here a thread waits for signals and ends the
process; files are whole at any moment (`files`).
"""

from __future__ import annotations

import contextlib
import os
import signal
import threading
import time
from collections.abc import Callable, Iterable, Iterator

from dockdyn.files import remove_unfinished

HANGUP = (
    {signal.SIGHUP} if hasattr(signal, "SIGHUP") else set()
)  # a terminal that is closed sends it; `nohup` has it ignored
WORDS = {signal.SIGINT: "interrupted", signal.SIGTERM: "terminated"} | dict.fromkeys(HANGUP, "hung up")
CLEAN = b"\r\x1b[2K\x1b[?25h"  # of a terminal: away with the line of progress, the cursor back
PATIENCE = 1.0  # s until the main thread ends the process by itself, should the waiting one be gone
GRACE = 5.0  # s that work which waits to be ended has to put things away

asked = threading.Event()  # set as a signal comes that `await_signal` waits for
advice: list[Callable[[], str]] = []  # what the last words say of the work that was under way


def listen() -> None:
    """End the process by itself, with code 129, 130 or 143, when a signal asks; once, in the main thread.

    A signal that is ignored, as a shell has it for what runs in the background, stays so; one for which another handler
    is set later is that handler's.
    """
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    threading.Thread(target=wait_for_signals, args=(reader,), name="signals", daemon=True).start()
    signal.set_wakeup_fd(writer, warn_on_full_buffer=False)  # written to as the signal comes, also amid compiled code
    for number in WORDS:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _ignore_signal)


def heeded_signals(numbers: Iterable[signal.Signals]) -> list[signal.Signals]:
    """Return those of some signals that work which waits for them should hear: a hang-up that is ignored stays so."""
    return [each for each in numbers if each not in HANGUP or signal.getsignal(each) is not signal.SIG_IGN]


def wait_for_signals(reader: int) -> None:
    """Wait for signals; end the process, or tell the work that waits for one."""
    while numbers := os.read(reader, 1):
        handler = signal.getsignal(numbers[0])
        if handler is _ignore_signal:
            end_process(numbers[0])
        elif handler is _leave_to_waiter:
            last = threading.Timer(GRACE, os._exit, (0,))  # whatever hangs then, a lock or another's thread
            last.daemon = True
            last.start()
            asked.set()


def _ignore_signal(number: int, frame: object) -> None:
    """Do nothing more, as the main thread comes to hear of the signal."""
    time.sleep(PATIENCE)
    os._exit(128 + number)


def _leave_to_waiter(number: int, frame: object) -> None:
    """Do nothing with a signal that `await_signal` waits for: the waiting thread has told it."""


@contextlib.contextmanager
def await_signal() -> Iterator[threading.Event]:
    """Yield an event for work that lasts until a signal asks, also one that was ignored but for a hang-up: the event is set as
    it comes.

    The process then has a few seconds to put things away before it is ended with code 0; another signal after this
    block ends it at once. `listen` must have been called before.
    """
    asked.clear()
    before = {number: signal.signal(number, _leave_to_waiter) for number in heeded_signals(WORDS)}
    try:
        yield asked
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def end_process(number: int) -> None:
    """Say the last words, and end the process."""
    remove_unfinished()
    words = [f"error: {WORDS[signal.Signals(number)]}"]
    for tell in advice:
        with contextlib.suppress(Exception):
            words.append(tell())
    line = f"{'; '.join(words)}\n".encode()
    with contextlib.suppress(OSError):
        os.write(2, CLEAN + line if os.isatty(2) else line)
    os._exit(128 + number)


@contextlib.contextmanager
def advise_on_interrupt(tell: Callable[[], str]) -> Iterator[None]:
    """Run work that can be gone on with: `tell` says how, should it be interrupted."""
    advice.append(tell)
    try:
        yield
    finally:
        advice.remove(tell)
