"""How Sphinx builds these pages (`make docs`)."""

import sys
from importlib import metadata
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))  # extensions of these pages

project = "dockdyn"
author = "The dockdyn authors"
copyright = "the dockdyn authors, Apache-2.0"
release = metadata.version("dockdyn")

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "live_examples", "mathml", "notebook_outputs"]
exclude_patterns = ["_build"]

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 4
default_role = "code"  # single backticks in docstrings

autodoc_member_order = "bysource"
autodoc_typehints_format = "short"

toc_object_entries = False  # each page would copy thousands of them: half of the time that the pages take

suppress_warnings = ["ref.python"]  # short names in signatures, such as Point, that several modules have

html_math_renderer = "mathml"
html_theme = "furo"
html_title = f"dockdyn {release}"


def mark_up(app, what, name, thing, options, lines):
    """Docstrings are plain text: a bar is an absolute value, and units and source stand in lines of their own."""
    if what == "data" or (lines[:1] and lines[0].startswith("Alias for field number")):  # what Python says is no news
        lines.clear()
    lines[:] = [line if line.startswith("    ") else line.replace("|", r"\|") for line in lines]
    if what == "module":
        for label in ("Units", "Source"):
            for at, line in enumerate(lines):
                if line.startswith(f"{label}: "):
                    lines[at : at + 1] = ["", f"**{label}:** {line.removeprefix(f'{label}: ')}"]
                    break


POLICY = (
    "default-src 'self' file: data:; script-src 'self' file: 'unsafe-inline'; style-src 'self' file: 'unsafe-inline'"
)


def add_policy(app, page, template, context, doctree):
    """Pages fetch nothing from elsewhere, opened from a server or as files."""
    context["metatags"] = f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">{context.get("metatags", "")}'


def setup(app):
    app.connect("autodoc-process-docstring", mark_up)
    app.connect("html-page-context", add_policy)
