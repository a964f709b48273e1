"""A Dask scheduler that is not there, is something else, dies or is stopped: one line, soon, and nothing is lost."""

import signal
import socket
import subprocess
import sys
import threading
import time

import pytest
from small_campaign import command, same_store

pytest.importorskip("distributed")

RUNS = 800  # of a campaign: four chunks
SCHEDULER = """
import asyncio, distributed
async def serve():
    async with distributed.Scheduler(host="127.0.0.1", port=0, dashboard=False) as scheduler:
        print(scheduler.address, flush=True)
        await asyncio.sleep(1000)
asyncio.run(serve())
"""


@pytest.mark.full_cases("silent")
@pytest.mark.parametrize(
    "answer", [None, b"", b"HTTP/1.1 400 Bad Request\r\n\r\n" * 40], ids=["silent", "closes", "web"]
)
def test_what_is_no_scheduler_is_one_line_and_soon(answer, dock, file, monkeypatch):
    monkeypatch.setattr("dockdyn.studies.cases.cluster.PATIENCE", 1)
    kept = []

    def serve() -> None:
        while True:
            try:
                line, _ = there.accept()
            except OSError:
                return
            kept.append(line)
            if answer is not None:
                line.sendall(answer)
                line.close()

    with socket.create_server(("127.0.0.1", 0)) as there:
        threading.Thread(target=serve, daemon=True).start()
        address = f"tcp://127.0.0.1:{there.getsockname()[1]}"
        begun = time.monotonic()
        ended = dock("campaign", "run", file, "--out", "x", "--scheduler", address)
        assert time.monotonic() - begun < 20
    assert ended.returncode == 2 and ended.stderr.count("\n") == 1, ended.stderr
    assert ended.stderr.startswith(f"error: --scheduler {address}: no Dask scheduler can be reached there (")


@pytest.fixture
def begin():
    """Start a process; in the end all of them are gone."""
    started = []

    def start(*command, **pipes):
        started.append(subprocess.Popen(list(map(str, command)), text=True, **pipes))
        return started[-1]

    yield start
    for process in started:
        process.kill()
        process.communicate()


@pytest.fixture
def scheduler(begin):
    """A scheduler and its address."""
    process = begin(sys.executable, "-c", SCHEDULER, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    return process, process.stdout.readline().strip()


def begun(folder, what: str = "campaign.json", seconds: float = 100) -> None:
    """Wait until a campaign has written something."""
    end = time.monotonic() + seconds
    while not list(folder.glob(what)) and time.monotonic() < end:
        time.sleep(0.02)
    assert list(folder.glob(what))


@pytest.mark.full
def test_a_scheduler_that_is_killed_is_one_line(file, tmp_path, scheduler, begin):
    process, address = scheduler
    command = ["-m", "dockdyn", "campaign", "run", file, "--quiet", "--out", tmp_path / "x", "--scheduler", address]
    running = begin(sys.executable, *command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    begun(tmp_path / "x")
    time.sleep(1)  # it waits for workers
    process.kill()
    told = running.communicate(timeout=120)[1]
    assert running.returncode == 3 and told.count("\n") == 1, told
    assert "0 of 40 cases are kept; go on with: dockdyn campaign run" in told


def test_a_scheduler_that_is_stopped_is_one_line_and_soon(dock, file, tmp_path, scheduler, monkeypatch):
    """Its connections stay, and nothing comes: without being asked it would be awaited for good."""
    process, address = scheduler
    monkeypatch.setattr("dockdyn.studies.cases.cluster.LOOK", 0.1)
    monkeypatch.setattr("dockdyn.studies.cases.cluster.SILENCE", 0.5)

    def stop() -> None:
        begun(tmp_path / "x")
        time.sleep(0.5)
        process.send_signal(signal.SIGSTOP)

    threading.Thread(target=stop, daemon=True).start()
    ended = dock("campaign", "run", file, "--out", "x", "--scheduler", address)
    assert ended.returncode == 3 and ended.stderr.count("\n") == 1, ended.stderr
    words = "the Dask scheduler has not answered for 0.5 s; 0 of 40 cases are kept; go on with: dockdyn campaign run"
    assert ended.stderr.startswith(f"error: {words}")


WORKER = """
import asyncio, sys, distributed
async def serve():
    async with distributed.Worker(sys.argv[1], nthreads=1, host="127.0.0.1", dashboard=False) as worker:
        await worker.finished()
asyncio.run(serve())
"""


@pytest.mark.full
@pytest.mark.parametrize("how", ["waiting", "interrupted"])
def test_what_was_done_before_a_scheduler_was_stopped_is_kept(how, file, tmp_path, scheduler, begin):
    """Gone on with here it is the undisturbed campaign, to the bit."""
    process, address = scheduler
    begin(sys.executable, "-c", WORKER, address, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    run = ["campaign", "run", file, "--runs", RUNS, "--quiet", "--json"]
    undisturbed = command(*run, "--out", tmp_path / "whole", timeout=300)
    assert undisturbed.returncode == 0, undisturbed.stderr
    code = "from dockdyn.__main__ import main; main()"
    pipes = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE}
    running = begin(sys.executable, "-c", code, *run, "--out", tmp_path / "x", "--scheduler", address, **pipes)
    begun(tmp_path / "x", "chunks/[0-9]*.chunk", 200)
    process.send_signal(signal.SIGSTOP)
    stopped = time.monotonic()
    if how == "interrupted":
        time.sleep(2.0)
        running.send_signal(signal.SIGINT)
    told = running.communicate(timeout=120)[1]
    assert time.monotonic() - stopped < (10 if how == "interrupted" else 60)
    begins = "error: interrupted; " if how == "interrupted" else "error: the Dask scheduler has not answered for 30 s; "
    assert told.startswith(begins) and told.count("\n") == 1, told
    assert running.returncode == (130 if how == "interrupted" else 3)
    kept = int(told.split("; ")[1].split(" of ")[0])
    assert 0 < kept < RUNS
    again = command(*run, "--out", tmp_path / "x", "--resume", timeout=300)
    assert again.returncode == 0, again.stderr
    same_store(tmp_path / "whole", tmp_path / "x")
