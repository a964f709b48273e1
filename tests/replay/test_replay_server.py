"""Servers of replays and of live views: they talk to their own page and publish nothing."""

import asyncio
import http.client
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import msgspec
import pytest
import viser
import websockets

from dockdyn.report.replay.local_server import LiveServer
from dockdyn.report.replay.player import run_quietly
from dockdyn.report.scene.serve import own_page, served


def in_a_loop(work):
    """Of its own, in a thread of its own: in this one a browser that another test drives may have one already."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, work).result()


@contextmanager
def live_server():
    """A server of what is so now."""
    server = run_quietly(lambda: LiveServer(host="127.0.0.1", port=0, verbose=False))
    try:
        yield server
    finally:
        run_quietly(server.stop)


async def first_words(port: int, origin: str | None, *sent: dict) -> bytes:
    """What a page of an origin first hears from the server, after which it sends messages."""
    protocol = [f"viser-v{viser.__version__}"]
    address = f"ws://127.0.0.1:{port}/"
    async with websockets.connect(address, origin=origin, subprotocols=protocol, max_size=None) as line:
        heard = await asyncio.wait_for(line.recv(), 10)
        for message in sent:
            await line.send(msgspec.msgpack.encode(message))
        await (await line.ping())  # all sent before it has been read
        return heard


def test_only_its_own_page_may_connect():
    with live_server() as server:
        port = server.get_port()
        for own in (f"http://127.0.0.1:{port}", None):
            assert in_a_loop(first_words(port, own))
        for foreign in ("http://evil.example", f"http://127.0.0.1:{port + 1}", f"https://127.0.0.1:{port}", "null"):
            with pytest.raises(websockets.InvalidStatus) as refusal:
                in_a_loop(first_words(port, foreign))
            assert refusal.value.response.status_code == 403


def test_the_page_is_given_to_the_names_of_this_machine_alone():
    with served("<p>the page</p>", "127.0.0.1", 0) as address:
        host = address.removeprefix("http://")
        for path, headers, status in (
            ("/", {}, 200),
            ("/?theme=dark", {"Origin": address}, 200),
            ("/etc/passwd", {}, 404),
            ("//../etc/passwd", {}, 404),
            ("/", {"Origin": "http://evil.example"}, 403),
            ("/", {"Host": "evil.example"}, 403),  # a name that its owner pointed at this machine
        ):
            line = http.client.HTTPConnection(host, timeout=10)
            line.request("GET", path, headers=headers)
            answer = line.getresponse()
            assert (answer.status, b"the page" in answer.read()) == (status, status == 200), (path, headers)
            line.close()


@pytest.mark.parametrize(
    ("origin", "host", "own"),
    [
        ("http://localhost:8080", "localhost:8080", True),
        ("http://[::1]:8080", "[::1]:8080", True),
        ("http://192.0.2.7:8080", "192.0.2.7:8080", True),
        ("http://evil.example:8080", "evil.example:8080", False),  # a name that its owner pointed at this machine
        ("http://localhost:8080", "localhost:9090", False),
        ("http://[", "[", False),
    ],
)
def test_which_pages_are_its_own(origin, host, own):
    assert own_page([origin], [host]) is own


def test_nobody_can_have_the_replay_shared(monkeypatch):
    opened = threading.Event()

    class Tunnel:
        def __init__(self, *_):
            opened.set()
            raise OSError("no tunnel in tests")

    monkeypatch.setattr("viser._viser.ViserTunnel", Tunnel)
    with live_server() as server:
        in_a_loop(first_words(server.get_port(), None, {"type": "ShareUrlRequest"}))
        assert server.request_share_url() is None
        assert not opened.wait(0.5)
