"""Measured signals over time from a file, checked: what is wrong is said with file and row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from dockdyn.deferred import Float
from dockdyn.files import regular_file
from dockdyn.records import record
from dockdyn.results.exchange.log_merge import merge_columns
from dockdyn.results.exchange.log_table import Cells, LogColumn, LogTable, known_name, number_in, split_heading
from dockdyn.results.exchange.time_stamps import STATE, Stamps, scale_of_samples, stamps_of
from dockdyn.scenario.language.errors import ScenarioError, shorten_name_list, shown
from dockdyn.scenario.language.given import number_from, table_from
from dockdyn.scenario.language.given_file import LOG, refusal
from dockdyn.scenario.language.mistaken import mistaken
from dockdyn.scenario.language.units import scale_of

TIME = "time"  # the role whose unit may have to be told from the stamps
SUFFIXES = ("s", "ms", "us", "µs", "ns", "m", "mm", "cm", "um", "µm", "N", "kN", "mN")  # units: command_mm
NETCDF = (b"\x89HDF", b"CDF")  # what files of netCDF-4 and netCDF-3 begin with
BINARY = {".mcap": "an MCAP", ".nc": "a netCDF"}  # by suffix
UNEVEN = 0.05  # of the period: by how much a step of time may be off
AXES = ("x", "y", "z")  # behind the name of what has several
STUCK = 10  # samples at an extreme value that are a saturation, if what drives them moves on
MOVED = 0.01  # of its range: what counts as moving
type Row = Float[np.ndarray, "n"]


@record
class Role:
    """What a column is read for."""

    name: str
    words: str
    unit: str  # SI
    known_as: tuple[str, ...]  # headings that are taken for it
    needed: bool = True
    option: str = ""  # of the command line, which names the column; empty: there is none


@record
class SignalLog:
    """Signals in SI units by role, and where they stand in the file."""

    file: str
    signals: dict[str, Row]
    headings: dict[str, str]
    rows: np.ndarray  # what every sample is found by in the file
    stamps: Stamps | None = None  # its time as it stands there
    notes: tuple[str, ...] = ()  # of what was taken for granted, to be told
    counted: str = "row"  # what `rows` count

    def refuse(self, sample: int | None, words: str) -> ScenarioError:
        """Return an error about a sample, or about the whole file."""
        return ScenarioError(f"{self.file}: {words}" if sample is None else self.at(sample, words))

    def at(self, sample: int, words: str) -> str:
        return f"{self.file}: {self.counted} {self.rows[sample]}: {words}"


def table_of(path: Path) -> LogTable:
    """Return what a file of measured signals holds: CSV, MCAP or netCDF, told by how it begins. ScenarioError for what is
    none."""
    from dockdyn.results.exchange.log_csv import csv_table
    from dockdyn.results.exchange.log_mcap import MAGIC, mcap_table
    from dockdyn.results.exchange.log_netcdf import netcdf_table

    if path.is_dir() or path.suffix.lower() == ".toml":
        raise ScenarioError(f"{path}: {mistaken(path, 'log') or 'is a folder; must be a log in CSV, MCAP or netCDF'}")
    try:
        with regular_file(path, LOG.most) as file:
            begins = file.read(len(MAGIC))
    except OSError as error:
        raise refusal(error, str(path), LOG) from None
    if begins == MAGIC:
        return mcap_table(path)
    if begins.startswith(NETCDF):
        return netcdf_table(path)
    for kind in (kind for suffix, kind in BINARY.items() if path.suffix.lower() == suffix):
        raise ScenarioError(f"{path}: {f'not {kind} file, or a damaged one' if begins else 'is empty'}")
    return csv_table(path)


def is_log(path: Path) -> bool:
    """Return whether a file is one of CSV or MCAP, not of netCDF, which a result is, too."""
    from dockdyn.results.exchange.log_mcap import MAGIC

    if path.suffix.lower() == ".csv" or not path.is_file():
        return path.suffix.lower() == ".csv"
    try:
        with regular_file(path, LOG.most) as file:
            return file.read(len(MAGIC)) == MAGIC
    except OSError as error:
        raise refusal(error, str(path), LOG) from None


def read_log(
    path: Path, roles: Sequence[Role], columns: Mapping[str, str | None], units: Mapping[str, str] | None = None
) -> SignalLog:
    """Return the columns of a file that the `roles` need: CSV, the first line its header, `time [s],command [mm]`, MCAP or
    netCDF.

    `columns` names columns by role, `units` their units, by role or by heading, where the file gives none (SI otherwise,
    which the log's notes tell). ScenarioError for what cannot be used.
    """
    return log_in(table_of(path), roles, columns, units)


def log_in(
    table: LogTable,
    roles: Sequence[Role],
    columns: Mapping[str, str | None],
    units: Mapping[str, str] | None = None,
) -> SignalLog:
    """Return the same of a table that has been read."""
    units = units or {}
    for what, given in (("columns", columns), ("units", units)):
        table_from(what, given, f"a mapping from roles to {what}")
    _check_units(table, roles, units)
    chosen, axis = {}, _axis_that_moves(table, [role for role in roles if columns.get(role.name) is None])
    for role in (role for role in roles if role.name != TIME):
        if (column := _column_of(table, table.columns, role, columns.get(role.name), axis)) is not None:
            chosen[role] = column
    wanted = list(chosen.values())
    clock = next((role for role in roles if role.name == TIME), None)
    taken = merge_columns(table, wanted, None if clock is None else _clock_of(table, clock, columns.get(TIME), wanted))
    found: dict[str, Row] = {}
    assumed: dict[str, list[str]] = {}
    for (role, column), cells in zip(chosen.items(), taken.cells, strict=True):
        stated, unit = unit_factor(table.file, column.heading, role, *_unit_given(column, role, units))
        if role.unit and not stated:
            assumed.setdefault(role.unit, []).append(column.heading)
        found[role.name] = _values_of(table, taken.places, column.heading, cells, unit)
    stamps, headings = None, {role.name: column.heading for role, column in chosen.items()}
    if clock is not None and taken.clock is not None:
        heading, cells = taken.clock.heading, taken.clock.cells
        stated, unit = unit_factor(table.file, heading, clock, *_unit_given(taken.clock, clock, units))
        seconds = _values_of(table, taken.places, heading, cells, unit)
        stamps = stamps_of(heading, cells, unit, stated) if len(cells) else None
        found[TIME], headings[TIME] = seconds if stamps is None else stamps.seconds, heading
    if not len(taken.places):
        raise ScenarioError(f"{table.file}: has a header and no samples")
    notes = [f"{', '.join(names)} taken as {unit}" for unit, names in assumed.items()]
    moving = [
        f"{chosen[role].heading} ({role.option})" for role in chosen if chosen[role] in _by_axis(table, role).values()
    ]
    of_axes = [f"of several axes the one that moves most is taken: {', '.join(moving)}"] if moving and axis else []
    told = [*of_axes, *table.notes, *taken.notes, *([f"no unit stated: {'; '.join(notes)}"] if notes else [])]
    return SignalLog(table.file, found, headings, taken.places, stamps, tuple(told), table.counted)


def _clock_of(table: LogTable, role: Role, wanted: str | None, chosen: Sequence[LogColumn]) -> LogColumn | None:
    """Return the column of time that the user names, else that beside the chosen ones; None where these are of several
    stretches."""
    if wanted is not None:
        return _column_of(table, table.columns, role, wanted)
    stretches = {column.stretch for column in chosen} or {0}
    if len(stretches) > 1:
        return None
    return _column_of(table, [column for column in table.columns if column.stretch in stretches], role, None)


def _check_units(table: LogTable, roles: Sequence[Role], units: Mapping[str, str]) -> None:
    """Refuse a unit of what is neither a role nor a column."""
    names = {role.name for role in roles}
    for name, unit in units.items():
        if name not in names and not any(_is_heading(name, column) for column in table.columns):
            raise ScenarioError(
                f"{table.file}: --unit {name}={unit}: no such column; the columns are {shorten_name_list(name, table.headings)}"
            )


def _is_heading(name: str, column: LogColumn) -> bool:
    """Return whether a column is called `name`, with its unit or without."""
    return column.is_called(name) or known_name(name) == known_name(column.heading)


def _unit_given(column: LogColumn, role: Role, units: Mapping[str, str]) -> tuple[str | None, str]:
    """Return the unit of a column by its role or, where that has none, by its heading; and what the user calls the column."""
    if role.name in units:
        return units[role.name], role.option.removeprefix("--") or role.name
    by_heading = ((unit, name) for name, unit in units.items() if _is_heading(name, column))
    return next(by_heading, (None, ""))


def split_unit_suffix(heading: str, role: Role) -> tuple[str, str] | None:
    """Return the name and unit of a heading that ends in a unit of its role, "command_mm"; None of any other."""
    name, _, unit = heading.strip().rpartition("_")
    if not name or unit not in SUFFIXES or known_name(heading) in role.known_as:
        return None
    try:
        scale_of(unit, role.unit)
    except ValueError:
        return None
    return name, unit


def _by_axis(table: LogTable, role: Role) -> dict[str, LogColumn]:
    """Return the columns of a role that is needed, by axis: "command.x [m]", "command_y"; those in another unit left out."""
    found: dict[str, LogColumn] = {}
    for column in table.columns if role.needed else ():
        name, _, axis = known_name(column.heading).replace(".", " ").rpartition(" ")
        if axis in AXES and name in role.known_as and _has_unit(split_heading(column.heading)[1], role.unit):
            if axis not in found or table.is_preferred(column) or not table.is_preferred(found[axis]):
                found[axis] = column
    return found


def _has_unit(stated: str | None, unit: str) -> bool:
    """Return whether what a heading states is of the dimension of a unit; one that states none may be."""
    try:
        return not stated or scale_of(stated, unit) > 0
    except ValueError:
        return False


def _axis_that_moves(table: LogTable, roles: Sequence[Role]) -> str:
    """Return the axis of the columns of the first role that has some by axis, of which the range is largest; empty without."""
    for role in roles:
        ranges = {axis: _value_range(column.cells) for axis, column in _by_axis(table, role).items()}
        if ranges:
            return max(ranges, key=lambda axis: ranges[axis])
    return ""


def _value_range(cells: Cells) -> float:
    """Return by how much the numbers of a column differ; zero of none."""
    values = np.array([number_in(cell) for cell in cells], dtype=float)
    known = values[np.isfinite(values)]
    return float(np.ptp(known)) if known.size else 0.0


def _column_of(
    table: LogTable, columns: Sequence[LogColumn], role: Role, wanted: str | None, axis: str = ""
) -> LogColumn | None:
    """Return the column of a role among `columns`, or of what has several axes the one of this `axis`; None where one that is
    not needed is missing."""
    headings = [column.heading for column in columns]
    if wanted is not None:
        matches = [column for column in columns if column.is_called(wanted)]
        words = f"{role.option} {wanted}: no such column; the columns are {shorten_name_list(wanted, headings)}"
    else:
        plain = [known_name((split_unit_suffix(heading, role) or (heading,))[0]) for heading in headings]
        matches = [column for column, name in zip(columns, plain, strict=True) if name in role.known_as]
        matches = [column for column in matches if table.is_preferred(column)][:1] or matches
        offered = shorten_name_list(role.known_as[0], headings)
        words = f"no column is known as {role.words}; name it with {role.option}: one of {offered}"
        if not matches:
            matches = [column for place, column in _by_axis(table, role).items() if place == axis]
        if not matches and not role.needed:
            return None
        if not matches and (instead := mistaken(Path(table.file), "log")):
            words = f"{instead} ({words})"
    if not matches:
        raise ScenarioError(f"{table.file}: {words}")
    if len(matches) > 1:
        several = ", ".join(column.heading for column in matches)
        advice = f"name it with {role.option}" if role.option else "must be one"
        raise ScenarioError(f"{table.file}: several columns could be {role.words} ({several}); {advice}")
    return matches[0]


def _values_of(table: LogTable, places: np.ndarray, heading: str, cells: Cells, unit: float) -> Row:
    """Return cells as finite numbers, times `unit`."""
    values = np.array([number_in(cell) for cell in cells], dtype=float)
    scaled = values * unit
    for far in np.flatnonzero(~np.isfinite(scaled))[:1]:
        cell = cells[far].strip() if isinstance(cells[far], str) else number_in(cells[far])
        what = "nothing: a sample is missing" if cell == "" else shown(cell)
        raise ScenarioError(f"{table.file}: {table.counted} {places[far]}: {heading} = {what}: must be a finite number")
    return scaled


def unit_factor(file: str, heading: str, role: Role, given: str | None, called: str) -> tuple[bool, float]:
    """Return whether the unit of a column is stated, and what takes it to the SI unit of its role.

    `given` is the unit that the user states of the column, `called` what the user calls it.
    """
    _, stated = split_heading(heading)
    if stated and given and given != stated:
        raise ScenarioError(f"{file}: {heading} has its unit in the header; leave out --unit {called}={given}")
    unit = stated or given or (split_unit_suffix(heading, role) or ("", ""))[1]
    try:
        return bool(unit), scale_of(unit or role.unit, role.unit)
    except ValueError:
        wanted = f"such as {role.unit}" if role.unit else "it has none"
        raise ScenarioError(f"{file}: {heading}: {shown(unit)} is no unit of {role.words}; {wanted}") from None


def period_from(given: float | str | None) -> float | None:
    """Return a period (s) of samples from a number or a text with a unit, where one is given. ScenarioError for what is
    none."""
    return None if given is None else number_from("period", given, "s", "a period", above=0)


def sampling_period(log: SignalLog, period: float | None) -> tuple[float, list[str]]:
    """Return the sampling period (s): that of the column `time`, or `period` where the log has none or only rounded times; and
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


def refuse_saturated(log: SignalLog, name: str, driver: str, alike: bool) -> None:
    """Refuse a signal that stays at an extreme value while what drives it goes on.

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
