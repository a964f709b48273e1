"""The replay of a run inside its report: packed, unpacked by a click, with nothing from outside the page."""

from __future__ import annotations

import base64
import gzip

PAGE = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
INLINE = "script-src 'unsafe-inline'"
INSIDE = "connect-src data: blob:"  # what is in the page itself


def content_security_policy(*, figures: bool, replay: bool) -> str:
    """Return what a page may do: run the scripts inside it where figures need them, and what a replay needs where there is one.

    The replay's frame inherits it: it unpacks scripts and runs them, and reads data and pictures that are inside it.
    """
    if replay:
        return f"{PAGE} blob:; {INLINE} 'unsafe-eval'; {INSIDE}"
    return f"{PAGE}; {INLINE}" if figures else PAGE


def served_policy() -> str:
    """Return what a replay's page may do that is served: what one in a file may, and talk to its server."""
    in_a_file = content_security_policy(figures=False, replay=True)
    return f"{in_a_file} 'self'; worker-src blob:; base-uri 'none'; form-action 'none'"


SCRIPT = """
(() => {
  const place = document.querySelector("#replay .replay"), button = place.querySelector("button");
  button.hidden = false;
  button.addEventListener("click", async () => {
    button.disabled = true;
    const packed = atob(document.getElementById("replay-data").textContent);
    const bytes = Uint8Array.from(packed, character => character.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    const frame = document.createElement("iframe");
    place.classList.add("open");
    frame.title = "Replay";
    frame.sandbox = "allow-scripts allow-downloads";
    frame.allow = "fullscreen";
    frame.srcdoc = await new Response(stream).text();
    place.replaceChildren(frame);
  });
})();
"""


def embed_page(page: str) -> str:
    """Return a replay's page, compressed, as text of a script element."""
    return base64.b64encode(gzip.compress(page.encode(), mtime=0)).decode()
