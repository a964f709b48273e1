"""The replay as one page."""

from __future__ import annotations

from html import escape

from dockdyn.report.embedded_replay import content_security_policy
from dockdyn.report.replay.overlay import overlay_script
from dockdyn.report.replay.player import scene_player
from dockdyn.report.replay.scene import Scene


def page_of(scene: Scene) -> str:
    """Return a page that plays the scene and needs nothing else."""
    with scene_player(scene) as server:
        page = server.as_html(dark_mode=True)
    allowed = (
        f'<meta http-equiv="Content-Security-Policy" content="{content_security_policy(figures=False, replay=True)}">'
    )
    page = page.replace("<head>", f"<head>{allowed}", 1)
    page = page.replace("<title>Viser</title>", f"<title>{escape(scene.title)}</title>")
    head, end, tail = page.rpartition("</body>")
    return f"{head}<script>{overlay_script(scene)}</script>{end}{tail}"
