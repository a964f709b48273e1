"""Words of a table, broken at spaces, _, . and - and in no syllable, so that the table fits the terminal."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

PIECES = re.compile(r"(?<=\s)|(?<=[_./-])(?=[^\W\d])")  # not inside of numbers
LEAST = 8  # characters of a column


def narrow_rows(
    rows: Sequence[Sequence[str]], headings: Sequence[str], worded: Collection[int], excess: int
) -> list[list[str]]:
    """Return rows whose cells of the columns `worded` are broken into lines, so that the table is narrower by `excess`.

    Widest columns first; a piece that cannot be broken stays whole, and so may a column that it is in.
    """
    cells = [[str(cell) for cell in row] for row in rows]
    widths = {place: max(_widest([row[place] for row in cells]), _widest([headings[place]])) for place in worded}
    floors = {
        place: max([LEAST, *(len(piece.rstrip()) for row in cells for piece in PIECES.split(row[place]))])
        for place in worded
    }
    while excess > 0 and (wide := [place for place in widths if widths[place] > floors[place]]):
        widest = max(wide, key=widths.__getitem__)
        widths[widest] -= 1
        excess -= 1
    return [[break_lines(cell, widths[i]) if i in widths else cell for i, cell in enumerate(row)] for row in cells]


def _widest(texts: Sequence[str]) -> int:
    return max((len(line) for text in texts for line in text.split("\n")), default=0)


def break_lines(text: str, width: int) -> str:
    """Return a text in lines of at most a `width`, but for pieces that are longer."""
    lines = [""]
    for piece in PIECES.split(text):
        if lines[-1] and len((lines[-1] + piece).rstrip()) > width:
            lines.append("")
        lines[-1] += piece
    return "\n".join(line.rstrip() for line in lines)
