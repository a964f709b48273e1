"""The server of a replay: it talks to its own page and publishes nothing."""

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor

import msgspec
import numpy as np
import pytest
import viser
import websockets

from dockdyn.report.replay.local_server import own_page
from dockdyn.report.replay.player import scene_player
from dockdyn.report.replay.scene import Scene, ScenePart, SceneView, still_motion
from dockdyn.report.replay.shapes import ball_mesh


def in_a_loop(work):
    """Of its own, in a thread of its own: in this one a browser that another test drives may have one already."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, work).result()


def plain(*parts: ScenePart, **more) -> Scene:
    """Two frames with a ball, or with these parts."""
    time = np.array([0.0, 1.0])
    shown = list(parts) or [ScenePart("ball", ball_mesh(1.0), "#888888", still_motion(2))]
    return Scene("plain", time, shown, [SceneView("overview", np.array([0, -5.0, 0]), np.zeros(3))], **more)


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
    with scene_player(plain()) as server:
        port = server.get_port()
        for own in (f"http://127.0.0.1:{port}", None):
            assert in_a_loop(first_words(port, own))
        for foreign in ("http://evil.example", f"http://127.0.0.1:{port + 1}", f"https://127.0.0.1:{port}", "null"):
            with pytest.raises(websockets.InvalidStatus) as refusal:
                in_a_loop(first_words(port, foreign))
            assert refusal.value.response.status_code == 403


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
    with scene_player(plain()) as server:
        in_a_loop(first_words(server.get_port(), None, {"type": "ShareUrlRequest"}))
        assert server.request_share_url() is None
        assert not opened.wait(0.5)
