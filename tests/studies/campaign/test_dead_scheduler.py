"""A Dask scheduler that is not there, is something else, or dies: one line, soon, and nothing is lost."""

from __future__ import annotations

import socket
import subprocess
import sys
import threading
import time

import pytest

pytest.importorskip("distributed")

SCHEDULER = """
import asyncio, distributed
async def serve():
    async with distributed.Scheduler(host="127.0.0.1", port=0, dashboard=False) as scheduler:
        print(scheduler.address, flush=True)
        await asyncio.sleep(1000)
asyncio.run(serve())
"""


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


@pytest.mark.full
def test_a_scheduler_that_is_killed_is_one_line(file, tmp_path):
    scheduler = subprocess.Popen([sys.executable, "-c", SCHEDULER], stdout=subprocess.PIPE, text=True)
    address = scheduler.stdout.readline().strip()
    command = [
        sys.executable,
        "-m",
        "dockdyn",
        "campaign",
        "run",
        file,
        "--out",
        tmp_path / "x",
        "--scheduler",
        address,
    ]
    running = subprocess.Popen(map(str, command), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    while not (tmp_path / "x" / "campaign.json").exists() and running.poll() is None:
        time.sleep(0.05)
    time.sleep(1)  # it waits for workers
    scheduler.kill()
    scheduler.communicate()
    told = running.communicate(timeout=120)[1]
    assert running.returncode == 3 and told.count("\n") == 1, told
    assert "0 of 40 cases are kept; go on with: dockdyn campaign run" in told
