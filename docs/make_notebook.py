"""Make the notebook of the page on notebooks, executed: `python docs/make_notebook.py`."""

from __future__ import annotations

import tempfile

import nbformat
from nbclient import NotebookClient
from notebook_outputs import CODE, NOTEBOOK, PAGE

LARGEST = 60_000  # characters of an output that is kept
LONGEST = 300  # s, of a cell


def cells() -> list[nbformat.NotebookNode]:
    """The cells of the page: what stands between its blocks of Python, and these."""
    made = nbformat.v4.new_markdown_cell, nbformat.v4.new_code_cell
    found = [made[place % 2](part.strip()) for place, part in enumerate(CODE.split(PAGE.read_text(encoding="utf-8")))]
    for number, cell in enumerate(found, start=1):
        cell["id"] = f"cell-{number}"
    return found


def executed() -> nbformat.NotebookNode:
    """The notebook, run from top to bottom in a folder of its own; a cell that fails ends it."""
    notebook = nbformat.v4.new_notebook(cells=cells(), metadata={"language_info": {"name": "python"}})
    with tempfile.TemporaryDirectory() as folder:
        where = {"metadata": {"path": folder}}
        NotebookClient(notebook, timeout=LONGEST, kernel_name="python3", record_timing=False, resources=where).execute()
    notebook.metadata = {"language_info": {"name": "python"}}
    return notebook


def without_large_outputs(notebook: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """The notebook, with words in the place of what is too large for a repository: pages."""
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            data = output.get("data", {})
            for kind in [kind for kind, shown in data.items() if len(shown) > LARGEST]:
                data[kind] = f"<em>A page of {len(data[kind]) / 1e6:.1f} MB, not kept in this file: run the cell.</em>"
    return notebook


if __name__ == "__main__":
    nbformat.write(without_large_outputs(executed()), NOTEBOOK)
