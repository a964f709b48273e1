"""The command line: every command and its place. Nothing is imported before a command needs it, its own module neither."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pkgutil import resolve_name
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from dockdyn import backend
from dockdyn.cli.common import BAD_INPUT, STOPPED_EARLY, Refusal, fail, help_example, say
from dockdyn.cli.progress import WATCH
from dockdyn.files import FULL, describe_failure

NO_COMMAND = re.compile(r"No such command '([^']*)'")  # of Typer's message
NO_NUMBER = re.compile(r"Input should be a valid (integer|number)\b.*", re.DOTALL)  # the same, in pydantic's words
NUMBERS = {"integer": "must be a whole number", "number": "must be a number"}

COMMANDS = {  # in the order of `dockdyn --help`: where each stands, and how it is called
    "run": ("run:run", 'dockdyn run probe-cone --set loop.delay="20 ms" --out late'),
    "stability": ("studies:stability", "dockdyn stability probe-cone --sweep loop.delay=0:100ms:101"),
    "compare": ("studies:compare", "dockdyn compare sits --compensators none,command-lead --out two"),
    "check": ("check:check", "dockdyn check probe-cone --out probe-cone.html"),
    "explore": ("explore:explore", "dockdyn explore probe-cone", "dockdyn explore probe-cone --html cone.html"),
    "presets": ("run:presets", "dockdyn presets"),
    "new": ("start:new", "dockdyn new mine.toml --mechanism gripper", "dockdyn run mine.toml"),
    "init": ("start:init", "dockdyn init --from probe-cone mine.toml", "dockdyn run mine.toml"),
    "schema": ("start:schema", "dockdyn schema > dockdyn.schema.json"),
    "reproduce": ("run:reproduce", "dockdyn reproduce paraskevas --table 1"),
    "envelope": (
        "studies:envelope",
        "dockdyn envelope probe-cone-latch \\",
        "    --over approach.closing_speed=30mm/s:60mm/s",
    ),
    "design": ("design:design", "dockdyn design mechanism.toml --out mechanism"),
    "sensitivity": ("studies:sensitivity", "dockdyn sensitivity probe-cone --of peak_force_N"),
    "report": (
        "results:report",
        "dockdyn report cone/result.nc",
        "dockdyn report slow/result.nc fast/result.nc --out both.html",
    ),
    "view": ("view:view", "dockdyn view cone/result.nc", "dockdyn view cone/result.nc --html cone.html"),
    "export": ("results:export", "dockdyn export cone/result.nc --to csv"),
    "loads": ("loads:loads", 'dockdyn loads cone/result.nc --interface "contact probe=1001"'),
    "doctor": ("doctor:doctor", "dockdyn doctor"),
}
GROUPS = ("campaign", "impact", "identify", "rig", "fmu", "mesh")  # of commands, each the module of its name


class Commands(Mapping[str, Any]):
    """Every command and group by its name, made when it is first asked for: all of them take as long as a short run."""

    def __iter__(self) -> Iterator[str]:
        yield from (*COMMANDS, *GROUPS)

    def __len__(self) -> int:
        return len(COMMANDS) + len(GROUPS)

    def __contains__(self, name: object) -> bool:
        return name in COMMANDS or name in GROUPS

    def __getitem__(self, name: str) -> Any:  # noqa: ANN401, Typer keeps the type to itself
        if name not in self:
            raise KeyError(name)
        return _made_command(name)


@cache
def _made_command(name: str) -> Any:  # noqa: ANN401, as `Commands`
    """Return a command or a group of them."""
    holder = typer.Typer(rich_markup_mode=None)
    if name in GROUPS:
        holder.add_typer(resolve_name(f"dockdyn.cli.{name}:app"), name=name)
    else:
        place, *calls = COMMANDS[name]
        holder.command(name, epilog=help_example(*calls))(resolve_name(f"dockdyn.cli.{place}"))
    return typer.main.get_group(holder).commands[name]


class _CommandLine(TyperGroup):
    """The command `dockdyn` itself."""

    def __init__(self, **about: Any) -> None:  # noqa: ANN401, Typer's
        super().__init__(**about)
        self.commands: Any = Commands()


app = typer.Typer(
    cls=_CommandLine,
    help="Mechanics of spacecraft docking, berthing and capture, and of the rigs that test them.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def version(asked: bool) -> None:
    if asked:
        from dockdyn.installed import version

        say(f"dockdyn {version('dockdyn')}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    try:
        backend.backend_word()
    except ValueError as error:
        raise Refusal(str(error)) from None


def _note_delay(words: str) -> None:
    """Say what is about to take long."""
    say(f"note: {words}", err=True)


def main() -> None:
    """Run the command line: bad input is one line on the error stream and exit code 2."""
    backend.costs.append(_note_delay)
    backend.works.append(WATCH.doing)
    try:
        _refuse_empty_paths(sys.argv[1:])
        with WATCH.watching("Starting", quiet="--quiet" in sys.argv):
            code = typer.main.get_command(app)(prog_name="dockdyn", standalone_mode=False)
    except Refusal as refusal:
        fail(str(refusal), BAD_INPUT)
    except OSError as error:  # a file that cannot be written; what is read is checked where it is read
        fail(describe_failure(error), STOPPED_EARLY if error.errno in FULL else BAD_INPUT)
    except Exception as error:
        fail(_words_of(error), BAD_INPUT)
    finally:
        backend.costs.remove(_note_delay)
        backend.works.remove(WATCH.doing)
    if code:
        raise SystemExit(code)


def _refuse_empty_paths(arguments: Sequence[str]) -> None:
    """Refuse --out without a name, as of a variable of a shell that is not set: it would be the working folder."""
    following = [*arguments[1:], None]
    if any(
        one == "--out=" or (one == "--out" and after == "") for one, after in zip(arguments, following, strict=False)
    ):
        raise Refusal('--out "": must name a folder or file')


def _words_of(error: Exception) -> str:
    """Return one line for what was typed wrong, or for what a scenario or file has wrong; any other error is raised again."""
    context: Any = getattr(error, "ctx", None)
    if type(error).__name__ == "NoArgsIsHelpError":
        typer.echo(context.get_help())
        raise SystemExit(BAD_INPUT)
    if hasattr(error, "format_message"):  # typer's, which it keeps to itself
        hint = f"; see {context.command_path} --help" if context is not None else ""
        given = NO_COMMAND.match(error.format_message())
        if (
            given
            and context is not None
            and given[1].endswith(".toml")
            and "run" in getattr(context.command, "commands", ())
        ):
            hint = f"; did you mean {context.command_path} run {given[1]}?"
        said = NO_NUMBER.sub(lambda found: NUMBERS[found[1]], error.format_message().replace("Value error, ", ""))
        from dockdyn.scenario.language.errors import WORDS  # which takes longer to import than most commands need

        for pydantic, house in WORDS.items():
            said = said.replace(pydantic, house)
        return f"{' '.join(said.split()).rstrip('.')}{hint}"
    if all(each.__name__ not in ("ScenarioError", "TooLargeError") for each in type(error).__mro__):
        raise error
    return str(error)
