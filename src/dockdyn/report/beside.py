"""Results beside each other: what differs of their figures and inputs, and by how much."""

from __future__ import annotations

import json
import math
import re
import tomllib
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from dockdyn.dataset import Dataset
from dockdyn.records import record
from dockdyn.report.report import Table
from dockdyn.report.tile import Tile
from dockdyn.report.wording import NOTHING, format_significant
from dockdyn.scenario.language.keys import leaves

ALIKE = 1e-12  # relative difference of figures that are the same but for rounding
DIGITS = 6  # of numbers of scenarios beside each other, at least
LONG_NUMBER = re.compile(r"(?<![\w.])-?\d+\.\d{6,}(?:e[-+]?\d+)?")
WHOLE_NUMBER = re.compile(r"(?<![\w.])(-?\d+)\.0(?![\w.])")  # in a scenario, which has them as floats
DIFFERENT = "≠"
TILES = 4
BRIEF = 24  # letters of a value that a sentence has room for
HASH = 12  # digits of one that are shown


@record
class BesideFigure:
    """A figure of a result: what it is, its unit, its value, that as it is written, and between what it surely lies."""

    words: str
    unit: str
    value: Any  # a number, yes or no, None
    text: str = ""
    sure: str = ""

    def shown(self) -> str:
        """Return its value as it is read."""
        return self.text or format_value(self.value)


BesideFigures = Mapping[str, Mapping[str, BesideFigure]]  # by result and by name, the names in the order of a table


def join_names(names: Sequence[str]) -> str:
    """Return names as they are listed in a sentence."""
    return f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else "".join(names)


def format_value(value: float | None) -> str:
    """Return a figure in digits enough to tell it from another; a dash for none."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return str(value)
    return NOTHING if value is None or math.isnan(value) else f"{value:.5g}"


def values_differ(values: Sequence[Any]) -> bool:
    """Return whether some values are not as the first, but for rounding."""
    first = values[0]
    for value in values[1:]:
        if value is None or first is None or isinstance(value, bool):
            if value is not first:
                return True
        elif not math.isclose(value, first, rel_tol=ALIKE, abs_tol=0.0) and not (
            math.isnan(value) and math.isnan(first)
        ):
            return True
    return False


def describe_change(values: Sequence[Any], unit: str = "") -> str:
    """Return by how much numbers are off the first, ends of all where they are several; else that they differ.

    It is in percent of the first; of a figure that is in percent itself in points.
    """
    numbers = [value for value in values if isinstance(value, int | float) and not isinstance(value, bool)]
    if len(numbers) < len(values) or not all(map(math.isfinite, numbers)) or not (numbers[0] or unit == "%"):
        return DIFFERENT
    scale = 1.0 if unit == "%" else abs(numbers[0]) / 100
    changes = [(value - numbers[0]) / scale for value in numbers[1:]]
    ends = [_write_with_sign(change) for change in sorted({min(changes), max(changes)})]
    return f"{' to '.join(ends)} {'points' if unit == '%' else '%'}"


def _write_with_sign(change: float) -> str:
    said = format_significant(abs(change), 2 if abs(change) < 100 else 3)
    return said if said == "0" else f"{'+' if change > 0 else '−'}{said}"


def differing_names(figures: BesideFigures, without: Collection[str] = ()) -> list[str]:
    """Return the names of the figures that differ between results, without some."""
    names = dict.fromkeys(name for each in figures.values() for name in each)
    return [name for name in names if name not in without and values_differ(_values(figures, name))]


def _values(figures: BesideFigures, name: str) -> list[Any]:
    return [each[name].value if name in each else None for each in figures.values()]


def _first(figures: BesideFigures, name: str) -> BesideFigure:
    return next(each[name] for each in figures.values() if name in each)


def figures_table(figures: BesideFigures, names: Sequence[str]) -> Table:
    """Return some figures, a column a result, with the change from the first in percent."""
    rows = []
    for name in names:
        one = _first(figures, name)
        cells = [_cell(each.get(name)) for each in figures.values()]
        rows.append([one.words, one.unit, *cells, describe_change(_values(figures, name), one.unit)])
    columns = [("figure", ""), ("unit", ""), *((name, "") for name in figures), ("change", "")]
    return Table(columns, rows, worded={0, 1}, look="wrapped")


def _cell(figure: BesideFigure | None) -> str:
    if figure is None:
        return NOTHING
    return f"{figure.shown()} ({figure.sure})" if figure.sure else figure.shown()


def difference_tiles(figures: BesideFigures, names: Sequence[str]) -> list[Tile]:
    """Return the first of some figures as tiles: the change, and a bar for each result."""
    tiles = []
    for name in names[:TILES]:
        one, values = _first(figures, name), _values(figures, name)
        numbers = [abs(float(value)) if value is not None and math.isfinite(value) else 0.0 for value in values]
        largest = max(numbers) or 1.0
        bars = [
            (result, number / largest, each[name].shown() if name in each else NOTHING)
            for (result, each), number in zip(figures.items(), numbers, strict=True)
        ]
        change, _, percent = describe_change(values, one.unit).rpartition(" ")
        note = f"{join_names([bar[2] for bar in bars])} {one.unit}".rstrip()
        tiles.append(Tile(one.words, change or DIFFERENT, percent if change else "", note, bars=bars))
    return tiles


def differing_inputs(results: Mapping[str, Dataset]) -> Table:
    """Return the keys of the scenarios that differ, and the user's own files and modules, a column a result."""
    stated = [dict(leaves(tomllib.loads(dataset.attrs["scenario"]), whole_lists=True)) for dataset in results.values()]
    keys = list(dict.fromkeys(key for each in stated for key in each))
    rows = []
    for key in keys:
        values = [each.get(key) for each in stated]
        if any(value != values[0] for value in values[1:]):
            rows.append([key, *_write_apart(values)])
    files = [json.loads(dataset.attrs.get("files", "{}")) for dataset in results.values()]
    for name in dict.fromkeys(name for each in files for name in each):
        digests = [", ".join(digest[:HASH] for digest in each.get(name, [NOTHING])) for each in files]
        if len(set(digests)) > 1:
            rows.append([f"SHA-256 of {name}", *digests])
    return Table([("key", ""), *((name, "") for name in results)], rows, worded=range(len(results) + 1), look="values")


def _shorten_numbers(text: str, digits: int) -> str:
    """Return a text whose long numbers have no more than so many digits, and whole ones no decimals."""
    return WHOLE_NUMBER.sub(r"\1", LONG_NUMBER.sub(lambda found: f"{float(found[0]):.{digits}g}", text))


def _write_apart(values: Sequence[Any]) -> list[str]:
    """Return values of scenarios as text, their numbers with no more digits than tell one value from another."""
    texts = [NOTHING if value is None else str(value) for value in values]
    for digits in range(DIGITS, 17):
        shown = [_shorten_numbers(text, digits) for text in texts]
        if len(set(shown)) == len(set(texts)):
            return shown
    return texts


def differ_in_words(different: Table) -> str:
    """Return in which keys of their scenarios results differ, and in what values of it where that is a single one."""
    changed = {row[0]: row[1:] for row in different.rows if row[0] != "title"}
    if not changed:
        return "of the same scenario"
    if len(changed) > 3:
        return f"that differ in {len(changed)} keys of the scenario"
    (name, values), *others = changed.items()
    brief = not others and max(map(len, values)) <= BRIEF
    return f"that differ in {f'{name} ({join_names(values)})' if brief else join_names(list(changed))}"


def change_headline(figures: BesideFigures, name: str) -> str:
    """Return what became of a figure from the first result to the last, in a few words."""
    one = _first(figures, name)
    told = [each[name].shown() for each in figures.values()]
    change = describe_change(_values(figures, name), one.unit)
    words = f"{one.words}: {' → '.join(told)} {one.unit}".rstrip()
    return words if change == DIFFERENT else f"{words} ({change})"
