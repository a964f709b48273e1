"""Numbers and contacts in words, the same in figures and tables."""

from __future__ import annotations

import math
from collections.abc import Sequence

NOTHING = "–"  # what there is no number for


def significant(value: float | None, digits: int = 4) -> str:
    """A number with so many significant digits, trailing zeros kept: 0.004284, 70.0, 5.21e-9; a dash for none."""
    if value is None or math.isnan(value):
        return NOTHING
    if value == 0 or math.isinf(value):
        return f"{value:g}"
    mantissa, exponent = f"{value:.{digits - 1}e}".split("e")
    power = int(exponent)  # after rounding: 9.9996 with four digits is 10.00
    if -4 <= power < max(digits, 5):
        return f"{value:.{max(digits - 1 - power, 0)}f}"
    return f"{mantissa}e{power}"


def ranges(numbers: Sequence[int]) -> str:
    """Contacts by number: [1, 2, 3, 5] is "Q1–Q3, Q5"."""
    runs: list[list[int]] = []
    for number in sorted(numbers):
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    long = [f"Q{run[0]}–Q{run[-1]}" if len(run) > 2 else ", ".join(f"Q{number}" for number in run) for run in runs]
    return ", ".join(long)
