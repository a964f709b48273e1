"""Cases on several processes or machines, by Dask."""

from __future__ import annotations

import contextlib
import logging
import signal
import sys
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import islice
from multiprocessing import resource_tracker
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any

from dockdyn.imports import let_in
from dockdyn.interrupt import HANGUP
from dockdyn.processes import safe_children
from dockdyn.scenario.language.errors import ScenarioError

if TYPE_CHECKING:
    from distributed import Client

AHEAD = 2  # tasks a worker has in hand or waiting; more would only take memory
PATIENCE = 10  # s until a scheduler counts as unreachable
LOOK = 5.0  # s without news after which a scheduler is asked whether it is there
SILENCE = 30.0  # s without an answer after which it is not


class WorkLost(Exception):
    """Workers or their scheduler are gone, or failed in a way that another try would not mend."""


# from a function and the arguments of each of its calls: what they give, as they are done
Spread = Callable[[Callable[..., Any], Iterable[tuple[Any, ...]]], Iterator[Any]]


@contextlib.contextmanager
def spread_over_workers(count: int | None = None, scheduler: str | None = None) -> Iterator[Spread]:
    """Yield what calls a function on `count` processes of this machine, or on the workers of the `scheduler` at an address.

    A worker that dies takes nothing with it: its calls are made again by another. Raises ScenarioError: Dask is not
    installed, no scheduler answers.
    """
    option = f"--workers {count}" if scheduler is None else f"--scheduler {scheduler}"
    let_in()
    try:
        import distributed
    except ImportError:
        raise ScenarioError(f"{option}: needs Dask; install dockdyn[campaign]") from None
    with contextlib.ExitStack() as stack:
        if scheduler is None:
            stack.enter_context(safe_children())  # as long as they may be started again
            with _shield_from_signals():
                cluster = distributed.LocalCluster(
                    n_workers=count,
                    threads_per_worker=1,
                    host="127.0.0.1",
                    dashboard_address=None,
                    silence_logs=logging.CRITICAL,
                )
            client = distributed.Client(stack.enter_context(cluster), set_as_default=False)
        else:
            client = _connect_scheduler(scheduler, option)
        stack.enter_context(client)
        yield lambda function, tasks: _spread_calls(client, function, tasks)


@contextlib.contextmanager
def _shield_from_signals() -> Iterator[None]:
    """Keep what is started meanwhile from hearing Ctrl-C or a hang-up, which a terminal sends to all; this process goes on to.

    New threads and processes block what the thread that starts them blocks. Python's tracker of resources would lift that
    when it is started, so it is started before, without its warning of what it cleans up after a process that was ended.
    """
    sys.warnoptions.append("ignore:resource_tracker")
    resource_tracker.ensure_running()
    sys.warnoptions.remove("ignore:resource_tracker")
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, *HANGUP})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _connect_scheduler(scheduler: str, option: str) -> Client:
    """Return a client of the scheduler at an address. Raises ScenarioError where none answers, soon, whatever is there
    instead."""
    import asyncio

    import distributed
    from distributed.comm.registry import backends

    _silence_loggers()
    scheme, _, place = scheduler.rpartition("://")
    if not place or (scheme and scheme not in backends):
        raise ScenarioError(f"{option}: must be the address of a Dask scheduler, such as tcp://host:8786")

    async def greeted() -> None:
        """Yield a client: its own patience is with the connection alone, not with what answers, or does not."""
        async with distributed.rpc(scheduler) as there:
            await asyncio.wait_for(there.identity(), PATIENCE)

    try:
        with ThreadPoolExecutor(1) as thread:  # in this one a loop may run already
            thread.submit(asyncio.run, greeted()).result()
        return distributed.Client(scheduler, timeout=PATIENCE, set_as_default=False)
    except Exception as error:  # whatever is there that is no scheduler can say anything
        told = str(error).splitlines()[0] if str(error) else f"it has not answered for {PATIENCE:g} s"
        raise ScenarioError(f"{option}: no Dask scheduler can be reached there ({told})") from None


def _silence_loggers() -> None:
    """Keep what Dask says of lost connections off the terminal, to which one line tells it. Its loggers have own levels."""
    for name in list(logging.root.manager.loggerDict):
        if name.partition(".")[0] in ("distributed", "tornado", "asyncio"):
            logging.getLogger(name).setLevel(logging.CRITICAL + 1)


def _spread_calls(client: Client, function: Callable[..., Any], tasks: Iterable[tuple[Any, ...]]) -> Iterator[Any]:
    """Yield what the calls give, as they are done. Raises WorkLost, also where the scheduler no longer answers."""
    waiting, done = iter(tasks), SimpleQueue[Any]()
    running: set[Any] = set()  # tasks handed out that have not come back

    def hand_out() -> None:
        """Hand out the tasks: workers may join later: each gets its tasks in hand."""
        for task in islice(waiting, max(0, AHEAD * max(1, _count_workers(client)) - len(running))):
            running.add(future := client.submit(function, *task, pure=False))
            future.add_done_callback(done.put)

    try:
        hand_out()
        while running:
            future = _await_answer(client, lambda: done.get(timeout=LOOK))
            found = _await_answer(client, partial(_call_result, future))
            running.remove(future)
            future.release()
            hand_out()
            yield found
    except WorkLost:
        raise
    except Exception as error:  # whatever a worker, the network or the scheduler can come to
        told = str(error).splitlines()[0] if str(error) else ""
        raise WorkLost(f"{type(error).__name__}: {told}") from None


def _call_result(future: Any) -> Any:  # noqa: ANN401, Dask's, and of any call
    """Return what a call has given. Raises Empty where that has not come yet, and what the call has raised."""
    try:
        return future.result(timeout=LOOK)
    except TimeoutError:
        if future.status == "finished":  # what it gave is still on its way
            raise Empty from None
        raise


def _await_answer(client: Client, get: Callable[[], Any]) -> Any:  # noqa: ANN401, of any call
    """Return what `get` gets, however long that takes, as long as the scheduler answers. Raises WorkLost where it does not.

    A scheduler that is stopped, or a machine that hangs, keeps its connections: without being asked it would be awaited for
    good.
    """
    while True:
        try:
            return get()
        except Empty:
            _count_workers(client)


def _count_workers(client: Client) -> int:
    """Ask the scheduler how many workers it has. Raises WorkLost where it does not answer."""
    try:
        return len(client.nthreads(callback_timeout=SILENCE))
    except TimeoutError:
        raise WorkLost(f"the Dask scheduler has not answered for {SILENCE:g} s") from None
