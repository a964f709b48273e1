"""What several files of the command line share: the refusal, common options, and options that are quantities with units."""

from __future__ import annotations

import shlex
import sys
from typing import Annotated, Any

import typer

Force = Annotated[bool, typer.Option("--force", help="Overwrite what is there.")]
ScenarioName = Annotated[str, typer.Argument(help="A scenario file, or the name of a preset.")]
Overrides = Annotated[
    list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help='Override a key: --set loop.delay="20 ms".')
]


class Refusal(Exception):
    """Something the user asked for cannot be done; the message says why, in one line."""


def typed() -> str:
    """The command line of this process, for a report to say."""
    return shlex.join(["dockdyn", *sys.argv[1:]])


def quantity_option(flag: str, unit: str, what: str, words: str, metavar: str | None = None, **bounds: Any) -> Any:
    """An option that takes a bare number in SI units or a text with a unit, checked as a scenario's keys are.

    `what` names the quantity in messages, `words` are its help; `bounds` as of `dockdyn.scenario.units.Bounds`.
    """

    def read(value: Any) -> float:
        from pydantic import TypeAdapter, ValidationError

        from dockdyn.scenario.units import quantity

        try:
            return TypeAdapter(quantity(unit, what, **bounds)).validate_python(value)
        except ValidationError as error:
            raise Refusal(f"{flag}: {value}: {error.errors()[0]['ctx']['allowed']}") from None

    return typer.Option(flag, metavar=metavar or unit or "NUMBER", help=words, parser=read)
