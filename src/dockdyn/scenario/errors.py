"""What is wrong with a scenario, in one line."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class ScenarioError(ValueError):
    """A scenario cannot be used; the message names file, key, value and what is allowed, in one line."""


def nearest(word: str, allowed: Iterable[str]) -> str:
    """Words for a message: the allowed names, or the nearest of them."""
    names = sorted(allowed)
    close = difflib.get_close_matches(word, names, n=1, cutoff=0.6)
    return f"did you mean {close[0]!r}?" if close else f"allowed: {', '.join(names)}"


def shown(value: object) -> str:
    """A value for a message, shortened."""
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
