"""Loads as Nastran bulk data: histories as TLOAD1 of TABLED1 on DAREA, instants as FORCE and MOMENT.

Units: SI, as the numbers are.
Source: MSC Nastran Quick Reference Guide, bulk data: DAREA, DLOAD, FORCE, MOMENT, TABLED1, TLOAD1; fields of 8 columns, of 16
columns on cards with an asterisk.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from textwrap import wrap

import numpy as np

from dockdyn.deferred import Float
from dockdyn.docking.loads.histories import COMPONENTS, Interface
from dockdyn.docking.loads.slices import TimeSlice

LINE = 72  # columns of a comment
NOISE = 1e-12  # of the largest load of an interface: components that stay smaller have no cards
LEAST = 1e-30  # smaller numbers are 0
type Field = int | float | str


def transient_cards(interfaces: Sequence[Interface], time: Float[np.ndarray, "time"], title: str) -> str:
    """Return the histories of all loads as one dynamic load, DLOAD 1; components that stay zero or `NOISE` have no cards.

    Loads are in the displacement axes (CD) of the grid points.
    """
    lines = _heading(title, interfaces, "Case control: DLOAD = 1. Loads are in the axes CD of their grid points.")
    sets: list[int] = []
    cards: list[str] = []
    for one in (one for one in interfaces if one.on_cards):
        for number, (name, values) in enumerate(zip(COMPONENTS, _without_noise(one).T, strict=True)):
            if not np.any(values):
                continue
            identity = 10 * (len(sets) + 1) + 1
            sets.append(identity)
            cards += [
                *_comment(f"{name} at {one.name}"),
                _small_card("TLOAD1", identity, identity, "", 0, identity),
                _small_card("DAREA", identity, one.grid, number + 1, 1.0),
                *_table(identity, time, values),
            ]
    lines += _small_cards("DLOAD", [1, 1.0, *(field for identity in sets for field in (1.0, identity))])
    return "\n".join([*lines, *cards, ""])


def slice_cards(
    interfaces: Sequence[Interface], time: Float[np.ndarray, "time"], slices: Sequence[TimeSlice], title: str
) -> str:
    """Return the loads of all interfaces at each instant, a static load set each, numbered from 1, in basic axes."""
    words = "Case control: LOAD = 1, 2 and so on. Loads are in the axes named here, CID 0: another where those are not basic."
    lines = _heading(title, interfaces, words)
    carded = [(one.grid, _without_noise(one)) for one in interfaces if one.on_cards]
    for number, one in enumerate(slices, start=1):
        lines += _comment(f"LOAD = {number}: t = {time[one.sample]:.9g} s")
        lines += [line for reason in one.reasons for line in _comment(reason)]
        for grid, loads in carded:
            for name, part in (("FORCE", loads[one.sample, :3]), ("MOMENT", loads[one.sample, 3:])):
                if np.any(part):
                    lines += _large_card(name, [number, grid, 0, 1.0, *map(float, part)])
    return "\n".join([*lines, ""])


def _without_noise(one: Interface) -> Float[np.ndarray, "time 6"]:
    """Return the loads (N, N m) of an interface, components that are rounding noise all through as zeros."""
    largest = np.abs(one.loads).max(axis=0)
    return np.where(largest < NOISE * largest.max(), 0.0, one.loads)


def _heading(title: str, interfaces: Sequence[Interface], *words: str) -> list[str]:
    """Return what the loads are and what is left out, as comments."""
    grids = [f"GRID {one.grid}: {one.name}, on {one.on}; {one.axes}" for one in interfaces if one.on_cards]
    left = ", ".join(one.name for one in interfaces if not one.on_cards)
    sums = f"Left out, as each is the sum of all loads on its body, unless --interface names it: {left}"
    return [line for each in (title, "SI: N, N m, s", *words, *grids, *[sums] * bool(left)) for line in _comment(each)]


def _comment(words: str) -> list[str]:
    """Return words as lines of a comment, of letters that Nastran takes."""
    plain = words.encode("ascii", "replace").decode()
    return wrap(plain, LINE, initial_indent="$ ", subsequent_indent="$   ")


def _table(identity: int, time: Float[np.ndarray, "time"], values: Float[np.ndarray, "time"]) -> list[str]:
    """Return a TABLED1 with so many pairs that straight lines between them are those between all samples."""
    kept = np.ones(len(time), dtype=bool)
    flat = (values[1:-1] == values[:-2]) & (values[1:-1] == values[2:])
    kept[1:-1] = ~flat
    written = np.array([float(_large(one)) for one in time])
    kept[1:] &= np.diff(written) > 0
    pairs = [field for x, y in zip(time[kept], values[kept], strict=True) for field in (float(x), float(y))]
    return _large_card("TABLED1", [identity, "LINEAR", "LINEAR", "", "", "", "", "", *pairs, "ENDT"])


def _large_card(name: str, fields: Sequence[Field]) -> list[str]:
    """Return a card of fields of 16 columns, four a line; there are always as many lines as fill a card of eight."""
    padded = [*fields, *[""] * (-len(fields) % 8)]
    rows = [padded[first : first + 4] for first in range(0, len(padded), 4)]
    heads = [f"{name}*", *["*"] * (len(rows) - 1)]
    return [
        f"{head:<8}{''.join(f'{_large(one):>16}' for one in row)}".rstrip()
        for head, row in zip(heads, rows, strict=True)
    ]


def _large(field: Field) -> str:
    """Return a field of up to 16 columns: of a number ten digits, nine where its exponent has three."""
    if not isinstance(field, float):
        return str(field)
    value = 0.0 if abs(field) < LEAST else field
    return f"{value:.9E}" if abs(value) < 1e99 else f"{value:.8E}"


def _small_card(name: str, *fields: Field) -> str:
    """Return a card of up to eight fields of 8 columns."""
    return f"{name:<8}{''.join(f'{_small(one):>8}' for one in fields)}"


def _small_cards(name: str, fields: Sequence[Field]) -> Iterator[str]:
    """Yield a card of any number of fields of 8 columns, eight a line."""
    for first in range(0, len(fields), 8):
        yield _small_card(name if first == 0 else "", *fields[first : first + 8])


def _small(field: Field) -> str:
    return f"{field:.1f}" if isinstance(field, float) else str(field)
