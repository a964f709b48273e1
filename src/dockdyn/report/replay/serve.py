"""The replay served to browsers until it is interrupted."""

from __future__ import annotations

import logging
import signal
from collections.abc import Callable

from dockdyn.report.replay.overlay import overlay
from dockdyn.report.replay.player import player
from dockdyn.report.replay.scene import Scene


def serve(scene: Scene, host: str, port: int, ready: Callable[[str], None]) -> None:
    """Serves the scene; `ready` is told the address once browsers can come. Ends on an interrupt or a request to end."""

    def end(*_: object) -> None:
        raise KeyboardInterrupt

    logging.getLogger("websockets.server").setLevel(
        logging.CRITICAL
    )  # a request that is none for it needs no traceback
    asked = (signal.SIGTERM, signal.SIGINT)  # the latter, too: a shell lets what it starts in the background ignore it
    with player(scene, host, port, script=overlay(scene)) as server:
        before = [signal.signal(one, end) for one in asked]
        try:
            shown = f"[{host}]" if ":" in host else host
            ready(f"http://{shown}:{server.get_port()}")
            server.sleep_forever()
        except KeyboardInterrupt:
            pass
        finally:
            for one, handler in zip(asked, before, strict=True):
                signal.signal(one, handler)
