"""Where the files of the project are that tests read."""

from pathlib import Path

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
SOURCE = ROOT / "src" / "dockdyn"


def results_pages() -> str:
    """Return what the pages say of results: how they are meant, and the generated page of variables."""
    return "\n".join((DOCS / name).read_text(encoding="utf-8") for name in ("results.md", "variables.md"))
