"""Pages of the documentation hold pages that compute, from a folder as from a server."""

import shutil
import sys
from pathlib import Path

import browser
import pytest

DOCS = Path(__file__).parents[2] / "docs"
PAGE = """# One

```{live} probe-cone
:open:
Move a <number>.
```
"""


def test_a_page_shows_a_run_whose_numbers_can_be_moved(tmp_path, browse, monkeypatch):
    application = pytest.importorskip("sphinx.application")
    pytest.importorskip("myst_parser")
    monkeypatch.setattr(sys, "path", [str(DOCS), *sys.path])
    source = tmp_path / "source"
    (source / "below").mkdir(parents=True)
    (source / "below" / "one.md").write_text(PAGE)
    (source / "index.md").write_text("# Index\n\n```{toctree}\nbelow/one\n```\n")
    (source / "conf.py").write_text('extensions = ["myst_parser", "live_examples"]')
    with (tmp_path / "said").open("w") as said:
        made = application.Sphinx(
            source, source, tmp_path / "made", tmp_path / "doctrees", "html", status=said, warning=said
        )
        made.build()
    assert made.statuscode == 0, (tmp_path / "said").read_text()
    moved = shutil.copytree(tmp_path / "made", tmp_path / "elsewhere")
    page, _ = browse(moved / "below" / "one.html", 1200, 900)
    assert page.inner_text("summary") == "Move a <number>."
    (frame,) = (one for one in page.frames if one.parent_frame is not None)
    browser.wait_until(frame, "document.getElementById('live')?.dataset.tried !== undefined")
    assert float(frame.evaluate("document.getElementById('live').dataset.difference")) < 1e-12
