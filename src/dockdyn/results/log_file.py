"""Measured signals over time from a CSV file, checked: what is wrong is said with file and row."""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from jaxtyping import Float

from dockdyn.results.time_stamps import STATE, Stamps, scale_of_samples, stamps_of
from dockdyn.scenario.language.errors import ScenarioError, listed, shown
from dockdyn.scenario.language.given import number_from, table_from
from dockdyn.scenario.language.units import convert

TIME = "time"  # the role whose unit may have to be told from the stamps
SUFFIXES = ("s", "ms", "us", "µs", "ns", "m", "mm", "cm", "um", "µm", "N", "kN", "mN")  # units: command_mm
UNIT = re.compile(r"^(.*?)\s*(?:\[\s*([^\[\]]*?)\s*\]|\(\s*(.*?)\s*\))\s*$")
UNEVEN = 0.05  # of the period: by how much a step of time may be off
STUCK = 10  # samples at an extreme value that are a saturation, if what drives them moves on
MOVED = 0.01  # of its range: what counts as moving
Row = Float[np.ndarray, "n"]


@dataclass(frozen=True)
class Role:
    """What a column is read for."""

    name: str
    words: str
    unit: str  # SI
    known_as: tuple[str, ...]  # headings that are taken for it
    needed: bool = True
    option: str = ""  # of the command line, which names the column; empty: there is none


@dataclass(frozen=True)
class Log:
    """Signals in SI units by role, and where they stand in the file."""

    file: str
    signals: dict[str, Row]
    headings: dict[str, str]
    rows: np.ndarray  # line of the file of every sample
    stamps: Stamps | None = None  # its time as it stands there
    notes: tuple[str, ...] = ()  # of what was taken for granted, to be told

    def refuse(self, sample: int | None, words: str) -> ScenarioError:
        """An error about a sample, or about the whole file."""
        return ScenarioError(f"{self.file}: {words}" if sample is None else self.at(sample, words))

    def at(self, sample: int, words: str) -> str:
        return f"{self.file}: row {self.rows[sample]}: {words}"


def read_log(
    path: Path, roles: Sequence[Role], columns: Mapping[str, str | None], units: Mapping[str, str] | None = None
) -> Log:
    """The columns of a CSV file that the `roles` need, the first line its header: `time [s],command [mm]`.

    `columns` names columns by role, `units` their units, by role or by heading, where the header gives none (SI otherwise,
    which the log's notes tell). Lines that begin with # are comments. ScenarioError for what cannot be used.
    """
    file = str(path)
    units = units or {}
    for what, given in (("columns", columns), ("units", units)):
        table_from(what, given, f"a mapping from roles to {what}")
    lines = text_of(path)
    headings, separator = header_of(file, lines)
    _check_units(file, headings, roles, units)
    rows = np.array([line for line, _ in lines[1:]])
    table = [_cells_of(file, row, line, separator) for row, line in lines[1:]]
    for row, cells in zip(rows, table, strict=True):
        if len(cells) != len(headings):
            raise ScenarioError(f"{file}: row {row}: {len(cells)} cells; must be {len(headings)}, as in the header")
    found: dict[str, Row] = {}
    chosen: dict[str, str] = {}
    stamps = None
    assumed: dict[str, list[str]] = {}
    for role in roles:
        at = _column_of(file, headings, role, columns.get(role.name))
        if at is None:
            continue
        chosen[role.name] = headings[at]
        cells = [row[at] for row in table]
        if separator == ";":
            cells = [cell.replace(",", ".") for cell in cells]  # decimal commas
        values = np.array([_value_of(file, row, headings[at], cell) for row, cell in zip(rows, cells, strict=True)])
        stated, unit = factor(file, headings[at], role, *_unit_given(headings[at], role, units))
        if role.name != TIME and role.unit and not stated:
            assumed.setdefault(role.unit, []).append(headings[at])
        found[role.name] = values * unit
        for far in np.flatnonzero(~np.isfinite(found[role.name]))[:1]:
            raise ScenarioError(
                f"{file}: row {rows[far]}: {headings[at]} = {shown(cells[far])}: must be a finite number"
            )
        if role.name == TIME and table:
            stamps = stamps_of(headings[at], cells, unit, stated)
            found[TIME] = stamps.seconds
    if not table:
        raise ScenarioError(f"{file}: has a header and no samples")
    taken = [f"{', '.join(names)} taken as {unit}" for unit, names in assumed.items()]
    return Log(file, found, chosen, rows, stamps, (f"no unit stated: {'; '.join(taken)}",) if taken else ())


def _is_heading(name: str, heading: str) -> bool:
    """Whether a column is called `name`, with its unit or without."""
    return name == heading or known_name(name) == known_name(heading)


def _check_units(file: str, headings: list[str], roles: Sequence[Role], units: Mapping[str, str]) -> None:
    """Refuses a unit of what is neither a role nor a column."""
    names = {role.name for role in roles}
    for name, unit in units.items():
        if name not in names and not any(_is_heading(name, heading) for heading in headings):
            raise ScenarioError(
                f"{file}: --unit {name}={unit}: no such column; the columns are {listed(name, headings)}"
            )


def _unit_given(heading: str, role: Role, units: Mapping[str, str]) -> tuple[str | None, str]:
    """The unit of a column by its role or, where that has none, by its heading; and what the user calls the column."""
    if role.name in units:
        return units[role.name], role.option.removeprefix("--") or role.name
    by_heading = ((unit, name) for name, unit in units.items() if _is_heading(name, heading))
    return next(by_heading, (None, ""))


def _cells_of(file: str, row: int, line: str, separator: str) -> list[str]:
    """The cells of a line, each of which is a sample: no cell goes on over several."""
    try:
        return next(csv.reader([line], delimiter=separator, strict=True))
    except csv.Error as error:
        raise ScenarioError(f"{file}: row {row}: no line of a CSV file ({error})") from None


def header_of(file: str, lines: list[tuple[int, str]]) -> tuple[list[str], str]:
    """The headings in the first of a file's `lines`, and what separates them."""
    if not lines:
        raise ScenarioError(f"{file}: is empty; must have a header and a row for each sample")
    row, first = lines[0]
    separator = max(",;\t", key=first.count)
    headings = [cell.strip() for cell in _cells_of(file, row, first, separator)]
    if len(headings) == 1 or all(number(cell) is not None for cell in headings):
        raise ScenarioError(f"{file}: row {row}: must be a header that names the columns, such as time [s],…")
    return headings, separator


def text_of(path: Path) -> list[tuple[int, str]]:
    """Lines that are neither empty nor comments, with their numbers."""
    if path.is_dir():
        raise ScenarioError(f"{path}: is a folder; must be a CSV file")
    if path.is_char_device() or path.is_block_device():  # which may have no end
        raise ScenarioError(f"{path}: is a device; must be a CSV file")
    try:
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise ScenarioError(f"{path}: no such file") from None
    except (OSError, ValueError) as error:  # also a path that no file can have
        raise ScenarioError(f"{path}: cannot be read as text ({error})") from None
    lines = enumerate(text.splitlines(), start=1)
    return [(at, line) for at, line in lines if line.strip() and not line.lstrip().startswith("#")]


def named(heading: str) -> tuple[str, str | None]:
    """Name and unit of a heading: "command [mm]" is command in mm."""
    match = UNIT.match(heading)
    return (match[1], match[2] or match[3] or "") if match else (heading, None)


def suffixed(heading: str, role: Role) -> tuple[str, str] | None:
    """Name and unit of a heading that ends in a unit of its role, "command_mm"; None of any other."""
    name, _, unit = heading.strip().rpartition("_")
    if not name or unit not in SUFFIXES or known_name(heading) in role.known_as:
        return None
    try:
        convert(f"1 {unit}", role.unit)
    except ValueError:
        return None
    return name, unit


def known_name(heading: str) -> str:
    """A heading as the names that are known have it: without unit, in small letters, blanks between words."""
    return named(heading)[0].lower().replace("_", " ").strip()


def _column_of(file: str, headings: list[str], role: Role, wanted: str | None) -> int | None:
    """Where the column of a role is; None where one that is not needed is missing."""
    plain = [known_name((suffixed(heading, role) or (heading,))[0]) for heading in headings]
    if wanted is not None:
        matches = [i for i, heading in enumerate(headings) if wanted in (heading, named(heading)[0])]
        words = f"{role.option} {wanted}: no such column; the columns are {listed(wanted, headings)}"
    else:
        matches = [i for i, name in enumerate(plain) if name in role.known_as]
        words = f"no column is known as {role.words}; name it with {role.option}: one of {listed(role.known_as[0], headings)}"
        if not matches and not role.needed:
            return None
    if not matches:
        raise ScenarioError(f"{file}: {words}")
    if len(matches) > 1:
        several = ", ".join(headings[i] for i in matches)
        advice = f"name it with {role.option}" if role.option else "must be one"
        raise ScenarioError(f"{file}: several columns could be {role.words} ({several}); {advice}")
    return matches[0]


def number(cell: str) -> float | None:
    try:
        return float(cell)
    except ValueError:
        return None


def _value_of(file: str, row: int, heading: str, cell: str) -> float:
    """A cell as a finite number."""
    value = number(cell)
    if value is None or not np.isfinite(value):
        what = shown(cell.strip()) if cell.strip() else "nothing: a sample is missing"
        raise ScenarioError(f"{file}: row {row}: {heading} = {what}: must be a finite number")
    return value


def factor(file: str, heading: str, role: Role, given: str | None, called: str) -> tuple[bool, float]:
    """Whether the unit of a column is stated, and what takes it to the SI unit of its role.

    `given` is the unit that the user states of the column, `called` what the user calls it.
    """
    _, stated = named(heading)
    if stated and given:
        raise ScenarioError(f"{file}: {heading} has its unit in the header; leave out --unit {called}={given}")
    unit = stated or given or (suffixed(heading, role) or ("", ""))[1]
    try:
        return bool(unit), convert(f"1 {unit or role.unit}", role.unit)
    except ValueError:
        raise ScenarioError(
            f"{file}: {heading}: {shown(unit)} is no unit of {role.words}; such as {role.unit}"
        ) from None


def period_from(given: float | str | None) -> float | None:
    """A period (s) of samples from a number or a text with a unit, where one is given. ScenarioError for what is none."""
    return None if given is None else number_from("period", given, "s", "a period", above=0)


def evenly(log: Log, period: float | None) -> tuple[float, list[str]]:
    """The sampling period (s): that of the column `time`, or `period` where the log has none or only rounded times; and
    what to tell of the time's unit, where it was not stated.

    ScenarioError for time that stands still or runs back, for missing samples, for uneven steps, for stamps whose unit
    is not stated and cannot be told, or which do not fit it.
    """
    stamps = log.stamps
    if stamps is None:
        if period is None:
            raise log.refuse(None, "no column is known as the time; name it with --time, or give the --period")
        return period, []
    count = len(stamps.since)
    if count < 3:
        raise log.refuse(None, f"has {count} {'sample' if count == 1 else 'samples'}: too short to identify from")
    for back in np.flatnonzero(np.diff(stamps.since) <= 0)[:1]:
        time = stamps.seconds
        raise log.refuse(back + 1, f"time {time[back + 1]:.15g} s is not after {time[back]:.15g} s in the row before")
    try:
        scale, told = scale_of_samples(stamps, period)
    except ValueError as problem:
        raise log.refuse(
            None, f"{stamps.heading}: {problem}; state it with --unit time=ms, or in the header: {STATE}"
        ) from None
    time = stamps.since * scale
    steps = np.diff(time)
    usual = float(np.median(steps)) if period is None else period
    loose = UNEVEN if period is None else 0.5
    for wide in np.flatnonzero(steps > (1.5 + loose - UNEVEN) * usual)[:1]:
        lost = max(round(steps[wide] / usual) - 1, 1)
        words = f"{lost} {'sample is' if lost == 1 else 'samples are'} missing before it: the time steps by "
        words += f"{steps[wide]:.6g} s, elsewhere by {usual:.6g} s"
        raise log.refuse(wide + 1, words)
    for odd in np.flatnonzero(np.abs(steps - usual) > loose * usual)[:1]:
        words = f"the time steps by {steps[odd]:.6g} s, elsewhere by {usual:.6g} s; must be uniform within 5 %"
        raise log.refuse(odd + 1, words)
    notes = [told] if told else []
    if period is not None:
        return period, notes
    # times printed to few digits leave round-off in their mean
    return float(f"{time[-1] / (count - 1):.9g}"), notes


def unsaturated(log: Log, name: str, driver: str, alike: bool) -> None:
    """Refuses a signal that stays at an extreme value while what drives it goes on.

    Signals that are `alike`, such as two positions, have to go on beyond that value. For others, such as a force and a
    position, the extreme has to be the largest value there is: at rest a force stays at any bias.
    """
    values, drives = log.signals[name], log.signals[driver]
    reach = float(np.ptp(drives))
    for sign in (1.0, -1.0):
        top = float((sign * values).max())
        at = sign * values == top
        edges = np.flatnonzero(np.diff(np.r_[False, at, False].astype(int)))
        for first, last in zip(edges[::2], edges[1::2], strict=True):
            during = sign * drives[first:last]
            beyond = float(np.median(during)) > top if alike else top > 0.5 * np.abs(values).max()
            if last - first >= STUCK and beyond and np.ptp(during) > MOVED * reach:
                words = f"{log.headings[name]} stays at its extreme value for {last - first} rows while "
                words += f"{log.headings[driver]} goes on: it is saturated; use a log within the range"
                raise log.refuse(int(first), words)
