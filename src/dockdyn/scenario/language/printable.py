"""A user's text as it is shown: on one line, not too long, without anything that a terminal would act on."""

from __future__ import annotations

import unicodedata

LONGEST = 500  # characters of a line that says what is wrong


def printable(text: str, lines: bool = False) -> str:
    """Return `text` with all that is not seen as its escape, such as \\x1b: control characters, marks that turn the direction
    of writing, parts of characters. Line breaks stay where there may be several `lines`.
    """
    if text.isprintable():
        return text
    return "".join(sign if seen(sign) or (lines and sign == "\n") else _escape(sign) for sign in text)


def seen(sign: str) -> bool:
    return sign.isprintable() or unicodedata.category(sign) == "Zs"  # blanks of all widths


def _escape(sign: str) -> str:
    return sign.encode("unicode_escape").decode()


def one_line(text: str, most: int = LONGEST) -> str:
    """Return `text` printable and, where it has more than `most` characters, without its middle."""
    return _without_middle(printable(_without_middle(text, most)), most)


def _without_middle(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most // 2]} … {text[3 - (most - most // 2) :]}"


def time_in_words(seconds: float) -> str:
    """Return a time (s) to two digits, in the largest unit of which it has two."""
    for unit, length in (("years", 31557600.0), ("days", 86400.0), ("hours", 3600.0), ("minutes", 60.0)):
        if seconds >= 2 * length:
            count = seconds / length
            return f"{count:.0f} {unit}" if count >= 10 else f"{count:.2g} {unit}"
    return f"{seconds:.0f} s"
