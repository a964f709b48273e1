"""Sphinx extension: below each block of Python of the page on notebooks, what its cell shows in the executed notebook."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

PAGE = Path(__file__).with_name("in-a-notebook.md")
NOTEBOOK = PAGE.with_name("notebook.ipynb")
CODE = re.compile(r"^```python\n(.*?)\n```\n", re.MULTILINE | re.DOTALL)  # a cell
BOX = '<div style="max-height: 26em; overflow: auto">{}</div>'
PICTURE = '<img alt="Figure that the cell above shows" src="data:image/png;base64,{}">'


def shown(output: dict[str, Any]) -> str:
    """An output of a cell as Markdown: of the forms that it has, the richest."""
    if output["output_type"] == "stream":
        return f"```text\n{''.join(output['text'])}```\n"
    data = {kind: "".join(text) for kind, text in output["data"].items()}
    if "image/png" in data:
        return f"```{{raw}} html\n{PICTURE.format(data['image/png'].strip())}\n```\n"
    if "text/html" in data:
        return f"```{{raw}} html\n{BOX.format(data['text/html'])}\n```\n"
    return f"```text\n{data['text/plain']}\n```\n"


def add_outputs(app: Any, name: str, source: list[str]) -> None:
    """Put the outputs into the page as it is read."""
    if name != PAGE.stem:
        return
    cells = json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]
    outputs = iter([cell["outputs"] for cell in cells if cell["cell_type"] == "code"])
    source[0] = CODE.sub(lambda block: "\n".join([block[0], *map(shown, next(outputs))]), source[0])


def setup(app: Any) -> dict[str, bool]:
    app.connect("source-read", add_outputs)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
