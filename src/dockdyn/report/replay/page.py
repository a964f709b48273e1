"""The replay as one page."""

from __future__ import annotations

from html import escape

from dockdyn.report.embedded_replay import policy
from dockdyn.report.replay.overlay import overlay
from dockdyn.report.replay.player import player
from dockdyn.report.replay.scene import Scene


def page_of(scene: Scene) -> str:
    """Return a page that plays the scene and needs nothing else."""
    with player(scene) as server:
        page = server.as_html(dark_mode=True)
    allowed = f'<meta http-equiv="Content-Security-Policy" content="{policy(figures=False, replay=True)}">'
    page = page.replace("<head>", f"<head>{allowed}", 1)
    page = page.replace("<title>Viser</title>", f"<title>{escape(scene.title)}</title>")
    head, end, tail = page.rpartition("</body>")
    return f"{head}<script>{overlay(scene)}</script>{end}{tail}"
