"""A measured log beside a run: columns by the names of the run's own variables, and how far the run is from them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace
from pathlib import Path

import numpy as np

from dockdyn.dataset import Dataset
from dockdyn.deferred import Float
from dockdyn.records import record
from dockdyn.results.exchange.columns import NUMBER, Column, table_columns
from dockdyn.results.exchange.log_file import Role, SignalLog, log_in, sampling_period, split_unit_suffix, table_of
from dockdyn.results.exchange.log_roles import ACTUAL, CLOCK, COMMAND, FORCE, POSITION, VELOCITY
from dockdyn.results.exchange.log_table import known_name, split_heading
from dockdyn.results.exchange.time_stamps import STATE, Stamps, scale_beside_run, scale_of_samples, since_1970
from dockdyn.scenario.language.errors import ScenarioError, nearest, shorten_name_list

SHOWS = (  # what of a run the columns of a log for identification are: the first that it has
    (COMMAND, ("position",)),
    (ACTUAL, ("robot_position", "depth")),
    (POSITION, ("robot_position", "depth")),
    (FORCE, ("measured_force", "normal_force")),
    (VELOCITY, ("robot_velocity", "depth_rate")),
)
type Samples = Float[np.ndarray, "samples"]


@record
class MeasuredLog:
    """What a log holds of variables that runs have, in SI units."""

    file: str
    time: Samples  # s, of the run
    columns: dict[str, Samples]  # by the name that the run's column has: "position.chaser.x"
    unused: list[str]  # headings of other columns
    notes: list[str] = field(default_factory=list)  # of what was read, to be told

    def remarks(self) -> list[str]:
        """Return what is to be known of what was read, and of what was not."""
        if not self.unused:
            return self.notes
        return [*self.notes, f"not used, for the run has no such variable: {shorten_name_list('', self.unused)}"]


@record
class Residual:
    """A run less the log, in one column."""

    name: str
    unit: str
    rms: float  # root mean square over the samples within the run
    largest: float  # by size
    time: float  # s, of the largest
    span: float  # of the log's values: largest less least


def run_columns(dataset: Dataset) -> dict[str, Column]:
    """Return the numbers of a run over time, by name."""
    columns = table_columns(dataset)[("time",)]
    return {column.name: column for column in columns[1:] if column.values.dtype.kind in "fiub"}


def read_measured(
    path: Path,
    dataset: Dataset,
    shift: float = 0.0,
    headings: Mapping[str, str | None] | None = None,
    units: Mapping[str, str] | None = None,
    period: float | None = None,
) -> MeasuredLog:
    """Return the columns of a log that a run has, too: of a CSV, MCAP or netCDF file.

    Each is named as `dockdyn export` names it, `depth.tip [mm]`, or as a log for identification is, `actual [mm]`. Labels may
    be left out where the variable has one column only; units are those of the heading, SI where it has none.

    Args:
        path: of the log.
        dataset: the run.
        shift: what is added to the times of the log (s). Stamps since 1970 count from the first row, as if that were the
            start of the run, unless the shift itself is one of clocks since 1970.
        headings: the heading of a role, such as `time` or `actual` (`dockdyn.results.exchange.log_roles`), where it is another.
        units: of a role or a heading, where it has none; SI otherwise, which is told.
        period: of the samples (s), where the log has no times, or only rounded ones.

    Raises:
        ScenarioError: with file, row and column, for what cannot be used: no time, times that do not rise, no column of the
            run, cells that are no numbers, no sample within the run.
    """
    given = {name: heading for name, heading in (headings or {}).items() if heading is not None}
    columns = run_columns(dataset)
    shown = _roles_by_column(columns)
    meant = [role for roles in shown.values() for role in roles]
    for role in [role for role, _ in SHOWS if role.name in given and role not in meant][:1]:
        words = f"is {role.words}, which the run does not have; {nearest(role.name, list(columns))}"
        raise ScenarioError(f"{path}: {role.option} {given[role.name]}: {words}")
    table = table_of(path)
    present = table.headings
    asked = [*given, *(units or {})]
    roles = [_role_of(column, columns, shown.get(name, []), asked, present) for name, column in columns.items()]
    options = {name: role.name for name, roles in shown.items() for role in roles if role.name in given}
    log = log_in(
        table,
        [CLOCK, *roles],
        {CLOCK.name: given.get(CLOCK.name)} | {name: given[role] for name, role in options.items()},
        _units_by_column(units or {}, shown, present),
    )
    time, notes = _times_of(log, dataset, shift, period)
    _check_overlap(log, time, dataset)
    found = {name: values for name, values in log.signals.items() if name != CLOCK.name}
    unused = [heading for heading in present if heading not in log.headings.values()]
    if not found:
        allowed = nearest(split_heading(unused[0])[0] if unused else "", list(columns))
        raise ScenarioError(f"{path}: no column is a variable of the run; {allowed}")
    notes += log.notes
    notes += [
        f"{log.headings[role.name]} is taken as {role.name} of the run"
        for role in roles
        if role.name in found
        and not _is_named(log.headings[role.name], role, heading_spellings(columns[role.name], columns))
    ]
    return MeasuredLog(log.file, time, found, unused, notes)


def _roles_by_column(columns: dict[str, Column]) -> dict[str, list[Role]]:
    """Return what a log for identification calls a column of the run; of variables with several columns none is meant."""
    alone = {column.variable: name for name, column in columns.items() if _is_only_column(column, columns)}
    found: dict[str, list[Role]] = {}
    for role, variables in SHOWS:
        for variable in [each for each in variables if each in alone][:1]:
            found.setdefault(alone[variable], []).append(role)
    return found


def _role_of(
    column: Column, columns: dict[str, Column], shown: list[Role], asked: list[str], present: list[str]
) -> Role:
    """Return what is read for a column of the run: its own name or, where no heading has that, what identification calls it.

    Of several roles that it may have, its option is that of the one `asked` for first.
    """
    names, unit = heading_spellings(column, columns), "" if column.unit == NUMBER else column.unit
    options = {role.name: role.option for role in shown}
    option = next((options[name] for name in asked if name in options), next(iter(options.values()), ""))
    role = Role(column.name, column.name, unit, names, needed=False, option=option)
    if any(_is_named(heading, role, names) for heading in present):
        return role
    others = (name for each in shown for name in each.known_as)
    return replace(role, known_as=(*names, *dict.fromkeys(others)))


def _units_by_column(units: Mapping[str, str], shown: dict[str, list[Role]], present: list[str]) -> dict[str, str]:
    """Return units by what they are read for, or by heading."""
    stated = {name: units[role.name] for name, roles in shown.items() for role in roles if role.name in units}
    absent = {role.name for role, _ in SHOWS} - {known_name(heading) for heading in present}
    return stated | {name: unit for name, unit in units.items() if name not in absent}


def _is_named(heading: str, role: Role, names: tuple[str, ...]) -> bool:
    """Return whether the heading of a column is one of some names, with a unit behind it or not."""
    return known_name((split_unit_suffix(heading, role) or (heading,))[0]) in names


def _times_of(log: SignalLog, dataset: Dataset, shift: float, period: float | None) -> tuple[Samples, list[str]]:
    """Return the times (s) of the samples on the clock of a run, and what to tell of them."""
    stamps, start, end = log.stamps, float(dataset.time[0]), float(dataset.time[-1])
    if stamps is None and period is None:
        words = "no column is the time; must have one called time [s], or be named with --time; or give the --period"
        raise log.refuse(None, words)
    if stamps is None:
        step, notes = sampling_period(log, period)
        return shift + step * np.arange(len(log.rows)), notes
    if period is not None:
        step, notes = sampling_period(log, period)
        first, told = _first_time(stamps, scale_of_samples(stamps, period)[0], start, shift)
        return first + step * np.arange(len(log.rows)), notes + told
    for back in np.flatnonzero(np.diff(stamps.since) <= 0)[:1]:
        words = f"{stamps.heading} = {stamps.first + stamps.since[back + 1]:.15g}: must be after the row before"
        raise log.refuse(back + 1, words)
    try:
        scale, taken = scale_beside_run(stamps, start, end, shift)
    except ValueError as problem:
        advice = f"state it with --unit time=ms, or in the header: {STATE}"
        raise log.refuse(None, f"{stamps.heading}: {problem}; {advice}") from None
    first, told = _first_time(stamps, scale, start, shift)
    return first + stamps.since * scale, [*([taken] if taken else []), *told]


def _first_time(stamps: Stamps, scale: float, start: float, shift: float) -> tuple[float, list[str]]:
    """Return the time (s) of the first row on the clock of a run that begins at `start`, and what to tell of it."""
    first = stamps.first * scale
    if since_1970(first) and not since_1970(-shift):
        words = f"{stamps.heading}: stamps since 1970; the first is taken as the start of the run; --shift moves it"
        return start + shift, [words]
    return first + shift, []


def _check_overlap(log: SignalLog, time: Samples, dataset: Dataset) -> None:
    """Refuse a log without a sample within the run."""
    start, end = float(dataset.time[0]), float(dataset.time[-1])
    if np.any((time >= start) & (time <= end)):
        return
    words = f"time from {time[0]:.6g} to {time[-1]:.6g} s: outside the run, {start:g} to {end:.6g} s; must overlap it"
    raise log.refuse(None, f"{words}, see --shift")


def _is_only_column(column: Column, columns: dict[str, Column]) -> bool:
    """Return whether its variable has no other column."""
    return sum(other.variable == column.variable for other in columns.values()) == 1


def heading_spellings(column: Column, columns: dict[str, Column]) -> tuple[str, ...]:
    """Return how a heading may name a column: with dots, with blanks or underscores, without labels where it is the only
    one."""
    names = [
        column.name,
        column.name.replace(".", " "),
        *([column.variable] if _is_only_column(column, columns) else []),
    ]
    return tuple(known_name(f"{name} [-]") for name in names)


def difference_to_log(dataset: Dataset, log: MeasuredLog, name: str) -> tuple[Samples, Samples]:
    """Return a run, between its samples on straight lines, less the log in one column; at the log's times within the run."""
    time = dataset.time.values
    inside = (log.time >= time[0]) & (log.time <= time[-1])
    simulated = run_columns(dataset)[name].values.astype(float)
    return log.time[inside], np.interp(log.time[inside], time, simulated) - log.columns[name][inside]


def log_residuals(dataset: Dataset, log: MeasuredLog) -> list[Residual]:
    """Return how far a run is from a log, column by column, where both have values; of a run that ended before, nothing."""
    columns = run_columns(dataset)
    found = []
    for name, measured in log.columns.items():
        if name not in columns:
            continue
        time, off = difference_to_log(dataset, log, name)
        if not len(time):
            continue
        worst = int(np.argmax(np.abs(off)))
        rms = float(np.sqrt(np.mean(off**2)))
        span = float(np.ptp(measured[np.isin(log.time, time)]))
        unit = "" if columns[name].unit == NUMBER else columns[name].unit
        found.append(Residual(name, unit, rms, float(np.abs(off[worst])), float(time[worst]), span))
    return found
