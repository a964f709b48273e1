"""What several files of the command line share: refusals and exit codes, common options, files that are written."""

from __future__ import annotations

import json
import os
import shlex
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dockdyn.cli.progress import WATCH
from dockdyn.cli.progress import show_progress as show_progress
from dockdyn.files import FULL, check_writable, describe_failure, is_special, write_file
from dockdyn.interrupt import advise_on_interrupt
from dockdyn.scenario.preset_files import refuse_missing

if TYPE_CHECKING:
    from dockdyn.report.report import Report
    from dockdyn.scenario.load import Scenario

BAD_INPUT = 2
STOPPED_EARLY = 3
NOT_MET = 4
REPORTS = ("report.html", "campaign-report.html")
NAMED = 3  # files of a folder that a message names

PRESETS = Path(__file__).parents[1] / "scenario" / "presets"


def preset_names() -> list[str]:
    """Return the names of presets for the shell to complete; nothing is loaded."""
    return sorted(file.stem for file in PRESETS.glob("*.toml"))


def _existing_scenario(context: typer.Context, scenario: str) -> str:
    """Return a scenario's name; ScenarioError, before anything heavy is imported, where there is none of that name."""
    if not context.resilient_parsing:
        refuse_missing(scenario)
    return scenario


Force = Annotated[bool, typer.Option("--force", help="Overwrite what is there.")]
Resume = Annotated[bool, typer.Option("--resume", help="Go on with what is in the folder.")]
Anew = Annotated[bool, typer.Option("--force", help="Begin anew where one is in the folder: it is lost.")]
Quiet = Annotated[bool, typer.Option("--quiet", help="Show no progress.")]
Workers = Annotated[
    int | None, typer.Option("--workers", metavar="N", min=1, help="Processes of this machine (needs Dask).")
]
Scheduler = Annotated[
    str | None, typer.Option("--scheduler", metavar="ADDRESS", help="A Dask scheduler, tcp://host:8786.")
]
ScenarioName = Annotated[
    str,
    typer.Argument(
        help="A scenario file, or the name of a preset.", autocompletion=preset_names, callback=_existing_scenario
    ),
]
Overrides = Annotated[
    list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help='Override a key: --set loop.delay="20 ms".')
]


def _set_here(context: typer.Context, variable: str) -> None:
    """Set a variable of the environment for this command, and the processes that it starts."""
    before = os.environ.get(variable)
    os.environ[variable] = "1"
    context.call_on_close(lambda: os.environ.pop(variable) if before is None else os.environ.update({variable: before}))


def _without_own_code(context: typer.Context, asked: bool) -> None:
    """Set the variable that refuses modules of scenarios."""
    if asked:
        from dockdyn.scenario.language.own_code import VARIABLE

        _set_here(context, VARIABLE)


def _trust_fmus(context: typer.Context, asked: bool) -> None:
    """Set the variable that lets FMUs of scenarios run."""
    if asked:
        from dockdyn.scenario.language.own_code import TRUST

        _set_here(context, TRUST)


NoOwnCode = Annotated[
    bool,
    typer.Option(
        "--no-own-code",
        callback=_without_own_code,
        is_eager=True,
        help="Run no Python module that the scenario names: for files of strangers.",
    ),
]


Trust = Annotated[
    bool,
    typer.Option(
        "--trust",
        callback=_trust_fmus,
        is_eager=True,
        help="Run the FMU that the scenario names: it is native code, which can do whatever you can.",
    ),
]


class Refusal(Exception):
    """Something the user asked for cannot be done; the message says why, in one line."""


def say(text: str, err: bool = False) -> None:
    """Print lines on the terminal, what a user named shown as it is: no escape sequence in it is obeyed."""
    from dockdyn.scenario.language.printable import printable

    if err:
        WATCH.hear()
    else:
        WATCH.end()
    typer.echo(printable(text, lines=True), err=err)


def command_line() -> str:
    """Return the command line of this process, for a report to say."""
    return shlex.join(["dockdyn", *sys.argv[1:]])


def resume_command() -> str:
    """Return the command line that goes on with what this one has begun."""
    typed = [word for word in sys.argv[1:] if word not in ("--force", "--resume")]
    return shlex.join(["dockdyn", *typed, "--resume"])


def quantity_option(
    flag: str,
    unit: str,
    what: str,
    words: str,
    metavar: str | None = None,
    **bounds: Any,  # noqa: ANN401, numbers and whether it is a component
) -> Any:  # noqa: ANN401, as Typer says of its options
    """Return an option that takes a bare number in SI units or a text with a unit, checked as a scenario's keys are.

    `what` names the quantity in messages, `words` are its help; `bounds` as of `dockdyn.scenario.language.units.Bounds`.
    """

    def read(value: object) -> float:
        from pydantic import TypeAdapter, ValidationError

        from dockdyn.scenario.language.units import quantity

        try:
            return TypeAdapter(quantity(unit, what, **bounds)).validate_python(value)
        except ValidationError as error:
            raise Refusal(f"{flag}: {value}: {error.errors()[0]['ctx']['allowed']}") from None

    return typer.Option(flag, metavar=metavar or unit or "NUMBER", help=words, parser=read)


def help_example(*lines: str) -> str:
    """Return the end of a command's help: what one types."""
    return "\b\n" + "\n".join(["Example:", *(f"  {line}" for line in lines)])


def read_scenario(scenario: str, set_: list[str] | None) -> Scenario:
    """Return the scenario that a command is about, with what it sets.

    A command asks for it first: what is refused is told in less time than the rest takes to import.
    """
    from dockdyn.scenario.load import load

    return load(scenario, parse_overrides(set_ or []))


def study_folder(out: Path | None, scenario: str, study: str, files: bool, force: bool) -> Path | None:
    """Return the folder of a study's files, `out` or where there are to be `files` NAME-STUDY; None for none.

    Raises Refusal as `refuse_occupied` does.
    """
    folder = out
    if folder is None and files:
        folder = Path(f"{study_name(scenario)}-{study}")
    if folder is not None:
        refuse_occupied(folder, force)
    return folder


def echo_json(answer: Any) -> None:  # noqa: ANN401, whatever JSON has
    """Print an answer as JSON."""
    typer.echo(json.dumps(answer, indent=2, allow_nan=False))


def tell_answer(answer: Any, report: Report, as_json: bool, *lines: str) -> None:  # noqa: ANN401, whatever JSON has
    """Print an answer as JSON or else its report, and behind that the lines."""
    if as_json:
        echo_json(answer)
        return
    from dockdyn.report.terminal import show_report

    show_report(report)
    if lines:
        say("\n".join(lines))


@contextmanager
def report_interruption(left: Callable[[], str]) -> Iterator[None]:
    """Say, whatever stops the work, what is `left`, and how to go on."""
    from dockdyn.studies.cases.cluster import WorkLost

    try:
        with advise_on_interrupt(left):
            yield
    except OSError as error:
        fail(describe_failure(error), STOPPED_EARLY, left())
    except WorkLost as error:
        fail(str(error), STOPPED_EARLY, left())


def study_name(scenario: str) -> str:
    """Return how files of a study are called that were given no name: as the scenario, or as the folder that it is the
    `scenario.toml` of."""
    file = Path(scenario)
    return file.resolve().parent.name if file.name == "scenario.toml" else file.stem


def tell_unusual_numbers(scenario: Scenario, ranges: Mapping[str, Iterable[Any]] | None = None) -> None:
    """Warn of numbers that the scenario, or who varies keys over `ranges`, hardly means, before what takes long begins."""
    from dockdyn.scenario.sanity.check import check_numbers

    for words in check_numbers(scenario):
        say(f"warning: {words}", err=True)
    tell_unusual_ranges(scenario, ranges or {})


def tell_unusual_ranges(scenario: Scenario, ranges: Mapping[str, Iterable[Any]]) -> None:
    """Warn of ends of `ranges`, over which keys of the scenario are varied, that are hardly meant."""
    from dockdyn.scenario.sanity.check import check_ranges

    for words in check_ranges(scenario, ranges):
        say(f"warning: {words}", err=True)


@contextmanager
def explained_by_numbers(scenario: Scenario) -> Iterator[None]:
    """Warn of unusual numbers where the block ends without an answer, which would have told of them."""
    try:
        yield
    except (Exception, KeyboardInterrupt):
        tell_unusual_numbers(scenario)
        raise


@contextmanager
def cluster_workers(workers: int | None, scheduler: str | None) -> Iterator[Any]:
    """Give what calls functions elsewhere (`dockdyn.studies.cases.cluster.Spread`); None: this process does all."""
    if workers is not None and scheduler is not None:
        raise Refusal("--workers and --scheduler: give one of them")
    if workers is None and scheduler is None:
        yield None
        return
    from dockdyn.studies.cases.cluster import spread_over_workers as of

    with of(workers, scheduler) as spread:
        yield spread


def parse_overrides(texts: list[str]) -> dict[str, Any]:
    """Return the `--set KEY=VALUE` options: a value in TOML's notation, or a plain text such as 20 ms."""
    import tomllib

    found: dict[str, Any] = {}
    for text in texts:
        key, equals, value = text.partition("=")
        if not equals or not key.strip():
            raise Refusal(f"--set {text}: must be KEY=VALUE, such as --set loop.delay=0.02")
        try:
            read = tomllib.loads(f"value = {value}")
        except (ValueError, RecursionError):
            read = {}
        found[key.strip()] = read["value"] if list(read) == ["value"] else value.strip()
    return found


@contextmanager
def writing_into(folder: Path) -> Iterator[None]:
    """Refuse a folder that cannot be written to, as the block finds; that the disk is full is no refusal."""
    try:
        yield
    except OSError as error:
        if error.errno in FULL:
            raise
        raise Refusal(f"{folder}: cannot be written to ({error.strerror})") from None


def refuse_occupied(folder: Path, force: bool) -> None:
    """Refuse a folder that holds something, unless asked to overwrite, and one that cannot be written to."""
    if folder.exists() and not folder.is_dir():
        raise Refusal(f"{folder}: is a file; must be a folder")
    if folder.exists() and not force and (held := describe_contents(folder)):
        words = f"give --force to write into it, over what has the same name (it holds {held}), or another --out"
        raise Refusal(f"{folder}: exists{_report_in(folder)}; {words}")
    with writing_into(folder):
        check_writable(folder)


def _report_in(folder: Path) -> str:
    """Return words for a message: the report that a folder holds; empty where it holds none."""
    found = [name for name in REPORTS if (folder / name).is_file()]
    return f", its report is {folder / found[0]}" if found else ""


def to_resume(folder: Path, resume: bool, force: bool) -> bool:
    """Return whether what is in a folder is gone on with, not begun anew; refuses both, and neither."""
    if resume and force:
        raise Refusal("--resume, --force: give one of them")
    if not (resume or force):
        raise Refusal(
            f"{folder}: exists{_report_in(folder)}; give --resume to go on with it, --force to begin anew, or another --out"
        )
    return resume


def describe_contents(folder: Path) -> str:
    """Return what is in a folder, some of it by name; empty where nothing is."""
    names = sorted(each.name for each in folder.iterdir())
    few = names[:NAMED] if len(names) > NAMED + 1 else names
    return ", ".join(few) + (f" and {len(names) - len(few)} more" if len(few) < len(names) else "")


def with_ending(file: Path, ending: str) -> Path:
    """Return the name of a file of a sort that other programs know by its ending, `.mat`, which is added where it is missing.

    A pipe or device keeps its name.
    """
    if file.suffix.lower() == ending or is_special(file) or file.is_dir():
        return file
    return file.with_name(file.name + ending)


def vacant_file(file: Path, force: bool, *read: Path, other: str = "another --out") -> None:
    """Refuse a file that exists, unless asked to overwrite, before anything is computed, one that is `read` itself, and one in
    a folder that cannot be written to."""
    if file.exists() and any(other.exists() and file.samefile(other) for other in read):
        raise Refusal(f"{file}: is what is read; give another name")
    if file.is_dir():
        raise Refusal(f"{file}: is a folder; must be a file")
    if file.exists() and not force:
        raise Refusal(f"{file}: exists; give --force to overwrite it, or {other}")
    if not is_special(file):
        folder = file.resolve().parent
        with writing_into(folder):
            check_writable(folder)


def write_text(file: Path, text: str, force: bool) -> None:
    """Write a file; refuses one that exists, unless asked to overwrite, and a folder."""
    vacant_file(file, force, other="another name")
    write_file(file, text)


def fail(message: str, code: int, advice: str = "") -> None:
    """End the process with a line, shortened where it is long; `advice`, a command to copy, is not."""
    from dockdyn.scenario.language.printable import one_line, printable

    WATCH.end()
    say(f"error: {one_line(message)}{'; ' if advice else ''}{printable(advice)}", err=True)
    raise SystemExit(code)
