"""How much there is to read: the pages of docs/ that are written by hand stay within what a reader has time for."""

from pathlib import Path

import pytest
from places import DOCS

GENERATED = {"scenario-keys", "options", "variables", "capabilities", "validation"}  # by docs/make_*.py
ALL, SCENARIO = 90_000, 8_000  # words, as `wc -w` counts them


def words_in(page: Path) -> int:
    return len(page.read_text(encoding="utf-8").split())


def test_the_pages_written_by_hand_have_at_most_90_000_words():
    counts = {page.stem: words_in(page) for page in DOCS.glob("*.md") if page.stem not in GENERATED}
    assert len(counts) > 50 and not GENERATED - {page.stem for page in DOCS.glob("*.md")}
    longest = sorted(counts, key=counts.__getitem__, reverse=True)[:5]
    assert sum(counts.values()) <= ALL, f"cut {sum(counts.values()) - ALL} words; the longest are {', '.join(longest)}"


def test_the_page_of_scenarios_has_at_most_8_000_words():
    words = words_in(DOCS / "scenario.md")
    assert words <= SCENARIO, f"cut {words - SCENARIO} words; the meaning of a key belongs in scenario/keys.toml"


@pytest.mark.parametrize("page", sorted(GENERATED))
def test_a_page_that_is_not_counted_is_generated(page):
    maker = {"scenario-keys": "keys"}.get(page, page)
    assert (DOCS / f"make_{maker}.py").is_file()
