"""What a program is once it is written: machine code, and the text that it was written from.

Units: none.
Source: definition.
"""

from __future__ import annotations

import re
import zlib
from dataclasses import dataclass

import numpy as np

NAME = "dockdyn_program"
PREFIX = "dockdyn_"  # of the names of elementary functions
SIZES = {"float64": 8, "int64": 8, "int32": 4, "uint32": 4, "bool": 1}  # bytes of an element in memory


class Untranslatable(Exception):
    """What the translator does not know; its message names it."""


@dataclass
class Text:
    """A program in LLVM's language, packed: most processes need nothing but the machine code."""

    packed: bytes
    letters: int
    lines: int
    calls: list[str]  # elementary functions

    @classmethod
    def of(cls, whole: str) -> Text:
        calls = re.findall(rf"^declare double @{PREFIX}(\w+)\(", whole, re.MULTILINE)
        return cls(zlib.compress(whole.encode(), 1), len(whole), whole.count("\n"), calls)

    def unpacked(self) -> str:
        return zlib.decompress(self.packed).decode()


@dataclass
class Code:
    """A program ready to be called: machine code, its text in LLVM's language, and what the call must know."""

    text: Text  # turn by turn, as pages take it
    wide: Text | None  # with several turns of its longest loop at once, in vectors, where those pay
    machine: bytes
    level: int
    arguments: list[str]  # types
    results: list[tuple[str, tuple[int, ...]]]  # types and shapes
    constants: list[np.ndarray]
    work: int  # bytes

    @property
    def written(self) -> Text:
        """The text that the machine code is written from."""
        return self.wide or self.text
