"""How Sphinx builds these pages (`make docs`)."""

from importlib import metadata

project = "dockdyn"
author = "The dockdyn authors"
copyright = "the dockdyn authors, Apache-2.0"
release = metadata.version("dockdyn")

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns = ["_build"]

myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3
default_role = "code"  # single backticks in docstrings

autodoc_member_order = "bysource"
autodoc_typehints_format = "short"

html_theme = "furo"
html_title = f"dockdyn {release}"
