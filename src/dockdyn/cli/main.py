"""The command line: every command and its place. Nothing heavy is imported before a command needs it."""

from __future__ import annotations

import re
import sys
from functools import cache
from typing import Annotated, Any

import typer

from dockdyn import backend
from dockdyn.cli import (
    campaign,
    check,
    design,
    doctor,
    explore,
    fmu,
    identify,
    impact,
    mesh,
    results,
    rig,
    run,
    start,
    studies,
    view,
)
from dockdyn.cli.common import BAD_INPUT, STOPPED_EARLY, Refusal, fail, help_example, say
from dockdyn.cli.progress import WATCH
from dockdyn.files import FULL, describe_failure

NO_COMMAND = re.compile(r"No such command '([^']*)'")  # of Typer's message

app = typer.Typer(
    help="Mechanics of spacecraft docking, berthing and capture, and of the rigs that test them.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def version(asked: bool) -> None:
    if asked:
        from importlib.metadata import version

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


app.command(epilog=help_example('dockdyn run probe-cone --set loop.delay="20 ms" --out late'))(run.run)
app.command(epilog=help_example("dockdyn stability probe-cone --sweep loop.delay=0:100ms:101"))(studies.stability)
app.command(epilog=help_example("dockdyn compare sits --compensators none,command-lead --out two"))(studies.compare)
app.command(epilog=help_example("dockdyn check probe-cone --out probe-cone.html"))(check.check)
app.command(epilog=help_example("dockdyn explore probe-cone", "dockdyn explore probe-cone --html cone.html"))(
    explore.explore
)
app.command(epilog=help_example("dockdyn presets"))(run.presets)
app.command(epilog=help_example("dockdyn new mine.toml --mechanism gripper", "dockdyn run mine.toml"))(start.new)
app.command(epilog=help_example("dockdyn init --from probe-cone mine.toml", "dockdyn run mine.toml"))(start.init)
app.command(epilog=help_example("dockdyn schema > dockdyn.schema.json"))(start.schema)
app.command(epilog=help_example("dockdyn reproduce paraskevas --table 1"))(run.reproduce)
app.command(
    epilog=help_example("dockdyn envelope probe-cone-latch \\", "    --over approach.closing_speed=30mm/s:60mm/s")
)(studies.envelope)
app.command(epilog=help_example("dockdyn design mechanism.toml --out mechanism"))(design.design)
app.command(epilog=help_example("dockdyn sensitivity probe-cone --of peak_force_N"))(studies.sensitivity)
app.command(
    epilog=help_example("dockdyn report cone/result.nc", "dockdyn report slow/result.nc fast/result.nc --out both.html")
)(results.report)
app.command(epilog=help_example("dockdyn view cone/result.nc", "dockdyn view cone/result.nc --html cone.html"))(
    view.view
)
app.command(epilog=help_example("dockdyn export cone/result.nc --to csv"))(results.export)
app.command(epilog=help_example("dockdyn doctor"))(doctor.doctor)
app.add_typer(campaign.app, name="campaign")
app.add_typer(impact.app, name="impact")
app.add_typer(identify.app, name="identify")
app.add_typer(rig.app, name="rig")
app.add_typer(fmu.app, name="fmu")
app.add_typer(mesh.app, name="mesh")


@cache
def _command_tree() -> Any:  # noqa: ANN401, Typer keeps the type to itself
    """Return the whole tree of commands, which takes Typer as long as many a command takes."""
    return typer.main.get_command(app)


def _note_delay(words: str) -> None:
    """Say what is about to take long."""
    say(f"note: {words}", err=True)


def main() -> None:
    """Run the command line: bad input is one line on the error stream and exit code 2."""
    backend.costs.append(_note_delay)
    backend.works.append(WATCH.doing)
    try:
        with WATCH.watching("Starting", quiet="--quiet" in sys.argv):
            code = _command_tree()(prog_name="dockdyn", standalone_mode=False)
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
        return f"{' '.join(error.format_message().replace('Value error, ', '').split()).rstrip('.')}{hint}"
    if all(each.__name__ not in ("ScenarioError", "TooLargeError") for each in type(error).__mro__):
        raise error
    return str(error)
