"""The replay served to browsers until it is interrupted."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable

from dockdyn.interrupt import awaiting
from dockdyn.report.replay.overlay import overlay
from dockdyn.report.replay.player import player
from dockdyn.report.replay.scene import Scene


def serve(scene: Scene, host: str, port: int, ready: Callable[[str], None]) -> None:
    """Serve the scene; `ready` is told the address once browsers can come. Ends on an interrupt or a request to end."""
    logging.getLogger("websockets.server").setLevel(
        logging.CRITICAL
    )  # a request that is none for it needs no traceback
    warnings.filterwarnings("ignore", "Queued a .* on a closed connection")  # nor a tab that is closed early a warning
    with player(scene, host, port, script=overlay(scene)) as server, awaiting() as asked:
        shown = f"[{host}]" if ":" in host else host
        ready(f"http://{shown}:{server.get_port()}")
        asked.wait()
