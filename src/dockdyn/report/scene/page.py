"""A scene as a page of its own, which needs nothing else."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
from html import escape
from importlib import resources
from typing import TYPE_CHECKING

from dockdyn.report.columns import PageColumns
from dockdyn.report.scene.data import scene_data

if TYPE_CHECKING:
    from dockdyn.report.scene.scene import RunScene

BOOT = """
(async () => {
  const unpacked = async id => {
    const bytes = Uint8Array.from(atob(document.getElementById(id).textContent), letter => letter.charCodeAt(0));
    return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
  };
  const script = document.createElement("script");
  script.textContent = await unpacked("scene-script");
  document.head.append(script);
  const data = JSON.parse(document.getElementById("scene-data").textContent);
  const columns = await dockdynScene.unpackColumns(data.columns);
  const clock = new dockdynScene.Clock({ start: data.span[0], end: data.span[1] });
  window.dockdynView = dockdynScene.mountScene(document.getElementById("scene"), data.scene, columns, clock);
  window.dockdynClock = clock;
  const words = document.getElementById("live");
  if (words) dockdynScene.followEvents("/events", window.dockdynView, data.scene, columns, words);
  document.documentElement.dataset.ready = "";
})();
"""
STYLE = """
html, body { margin: 0; height: 100%; background: #f7f7f5 }
body { display: flex; flex-wrap: wrap; font: 15px/1.5 system-ui, sans-serif; color: #15181c }
#scene { box-sizing: border-box; flex: 999 1 min(480px, 100%); min-width: 0; height: 100vh; height: 100dvh; padding: 10px }
#live { box-sizing: border-box; flex: 1 1 260px; padding: 12px 18px; font-variant-numeric: tabular-nums }
#live h2 { margin: 0 0 8px; font-size: 22px } #live p { margin: 4px 0 }
@media (max-width: 760px) { #live ~ #scene { height: 72vh; height: 72dvh } }
@media (prefers-color-scheme: dark) { html, body { background: #0d0f12; color: #eceef0 } }
"""


def scene_script() -> bytes:
    """Return the script that draws scenes, gzipped."""
    return resources.files("dockdyn.report").joinpath("web/scene.js.gz").read_bytes()


def page_of(scene: RunScene, *, live: bool = False) -> str:
    """Return a page that shows the scene and plays it, and needs nothing else; a `live` one follows what its server says."""
    packed, columns = scene_script(), PageColumns()
    drawn = scene_data(scene, columns)
    data = {"columns": columns.packed(), "span": drawn["span"], "scene": drawn}
    allowed = " ".join(f"'sha256-{_digest(code)}'" for code in (BOOT.encode(), gzip.decompress(packed)))
    policy = (
        f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; img-src data: blob:; media-src blob:"
        f"{"; connect-src 'self'" if live else ''}"
    )
    # no text of a scenario ends the element that it stands in
    text = json.dumps(data, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")
    return (
        "<!doctype html>\n"
        f'<html lang="en"><head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="{policy}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(scene.title)}</title><style>{STYLE}</style></head><body>"
        f"{'<aside id="live" aria-live="off"></aside>' if live else ''}"
        f'<div id="scene"><noscript>{escape(scene.title)}: the scene needs JavaScript.</noscript></div>'
        f'<script type="application/json" id="scene-data">{text}</script>'
        f'<script type="application/gzip" id="scene-script">{base64.b64encode(packed).decode()}</script>'
        f"<script>{BOOT}</script></body></html>\n"
    )


def _digest(code: bytes) -> str:
    """Return the hash by which a page's policy allows a script."""
    return base64.b64encode(hashlib.sha256(code).digest()).decode()
