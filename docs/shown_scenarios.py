"""The scenarios that pages of the documentation show whole."""

from __future__ import annotations

import re
from pathlib import Path

from dockdyn.scenario.load import Scenario, parse

PAGES = Path(__file__).parent
WHOLE = re.compile(r"^```toml\n(# \w+\.toml\n.*?)^```$", re.MULTILINE | re.DOTALL)


def shown_on(page: str) -> Scenario:
    """The scenario that a page shows whole."""
    return parse(WHOLE.findall((PAGES / f"{page}.md").read_text(encoding="utf-8"))[0], page)
