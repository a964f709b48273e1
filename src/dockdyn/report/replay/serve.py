"""The replay served to browsers until it is interrupted."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable

from dockdyn.interrupt import await_signal
from dockdyn.report.replay.overlay import overlay_script
from dockdyn.report.replay.player import scene_player
from dockdyn.report.replay.scene import Scene


def serve_scene(scene: Scene, host: str, port: int, ready: Callable[[str], None]) -> None:
    """Serve the scene; `ready` is told the address once browsers can come. Ends on an interrupt or a request to end."""
    logging.getLogger("websockets.server").setLevel(
        logging.CRITICAL
    )  # a request that is none for it needs no traceback
    warnings.filterwarnings("ignore", "Queued a .* on a closed connection")  # nor a tab that is closed early a warning
    with scene_player(scene, host, port, script=overlay_script(scene)) as server, await_signal() as asked:
        shown = f"[{host}]" if ":" in host else host
        ready(f"http://{shown}:{server.get_port()}")
        asked.wait()
