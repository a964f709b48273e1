"""Sphinx extension: the page of a scenario's run, in which its numbers can be moved, inside a page of the documentation.

    ```{live} probe-cone
    What there is to try.
    ```

The argument is a preset; without one it is the scenario that the page shows whole. What is unfolded first is loaded first.
"""

from __future__ import annotations

from html import escape
from pathlib import Path
from typing import Any

from docutils import nodes
from shown_scenarios import shown_on
from sphinx.util.docutils import SphinxDirective

import dockdyn

FOLDER = "_static/live"
STYLE = "width: 100%; height: 900px; border: 1px solid #8884; resize: vertical"
FRAME = (
    '<details{open} style="margin: 1em 0"><summary>{title}</summary>'
    '<iframe src="{address}" title="{title}" loading="lazy" style="' + STYLE + '"></iframe></details>'
)


class LiveExample(SphinxDirective):
    """A frame with the page, which is loaded when it is unfolded; `:open:` unfolds it."""

    optional_arguments = 1
    has_content = True
    option_spec = {"open": lambda _: True}  # noqa: RUF012, as Sphinx has it

    def run(self) -> list[nodes.Node]:
        page = self.env.docname
        name = self.arguments[0] if self.arguments else page
        self.env.__dict__.setdefault("live_examples", {})[name] = bool(self.arguments)
        address = f"{'../' * page.count('/')}{FOLDER}/{name}.html#motion"
        title, opened = escape(" ".join(self.content)), " open" if "open" in self.options else ""
        return [nodes.raw("", FRAME.format(open=opened, title=title, address=address), format="html")]


def write_pages(app: Any, error: Exception | None) -> None:
    """Write the pages that frames show beside the others."""
    if error is not None or app.builder.format != "html":
        return
    folder = Path(app.outdir) / FOLDER
    for name, is_preset in getattr(app.env, "live_examples", {}).items():
        folder.mkdir(parents=True, exist_ok=True)
        shown = dockdyn.explore(name if is_preset else shown_on(name))
        (folder / f"{name}.html").write_text(shown, encoding="utf-8")


def setup(app: Any) -> dict[str, bool]:
    app.add_directive("live", LiveExample)
    app.connect("build-finished", write_pages)
    return {"parallel_read_safe": False, "parallel_write_safe": True}
