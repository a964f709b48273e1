"""What commands that read a measured log share: which column is what, in which unit, how far apart its samples are."""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

import typer

from dockdyn.cli.common import Refusal, quantity_option


def _column_option(name: str, words: str) -> Any:  # noqa: ANN401, as Typer says of its options
    return typer.Option(f"--{name}", metavar="COLUMN", help=f"The column with {words}.")


Time = Annotated[str | None, _column_option("time", "the time")]
Command = Annotated[str | None, _column_option("command", "the commanded position")]
Actual = Annotated[str | None, _column_option("actual", "the actual position")]
Position = Annotated[str | None, _column_option("position", "the position")]
MeasuredForce = Annotated[str | None, _column_option("measured-force", "the contact force")]
Velocity = Annotated[str | None, _column_option("velocity", "the velocity, if it is measured")]
Units = Annotated[
    list[str] | None,
    typer.Option(
        "--unit", metavar="[COLUMN=]UNIT", help="Unit of a column whose heading has none; of positions, if bare."
    ),
]
Period = Annotated[
    float | None,
    quantity_option(
        "--period", "s", "a period", "Of the samples; where the log has no time, or only rounded times.", above=0
    ),
]


class LogOptions(NamedTuple):
    """How a measured log is to be read."""

    columns: dict[str, str | None]  # by what they are
    units: dict[str, str]  # by column
    period: float | None  # s, of the samples


def log_options(unit: list[str] | None, period: float | None, **columns: str | None) -> LogOptions:
    """Return what the options of a log say; `columns` by what they are, with _ for -. Raises Refusal."""
    named = {name.replace("_", "-"): column for name, column in columns.items()}
    return LogOptions(named, units_of(unit, tuple(named)), period)


def units_of(texts: list[str] | None, known: tuple[str, ...]) -> dict[str, str]:
    """Return units by column from `--unit mm` (of all positions among the `known` roles) and `--unit actual=mm`.

    A column may also be called by its heading, which only the reader of the log knows: it refuses names of no column.
    """
    from dockdyn.results.exchange.log_roles import POSITIONS

    found: dict[str, str] = {}
    for text in texts or []:
        name, equals, unit = text.partition("=")
        if not equals:
            found |= dict.fromkeys((each for each in POSITIONS if each in known), text.strip())
        elif not name.strip() or not unit.strip():
            words = f"must be a unit, or COLUMN=UNIT with COLUMN one of {', '.join(known)}, or a heading of the log"
            raise Refusal(f"--unit {text}: {words}")
        else:
            found[name.strip()] = unit.strip()
    return found


def refuse_without_log(options: dict[str, Any]) -> None:
    """Refuse options of a log, by name, where there is none."""
    given = [f"--{name}" for name, value in options.items() if value is not None and value != []]
    if given:
        raise Refusal(f"{', '.join(given)}: of a measured log; must be with --log")
