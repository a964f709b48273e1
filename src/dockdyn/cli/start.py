"""`dockdyn new`, `init` and `schema`: a scenario of one's own to begin with, and the schema by which editors complete it."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dockdyn.cli.common import Force, Refusal, preset_names, say, vacant_file, write_text
from dockdyn.files import write_files

if TYPE_CHECKING:
    from dockdyn.scenario.starters.question import Answers, StarterQuestion


ASKED = "What docks: one of these names. The file is then a start, of which every number can be changed."


def new(
    file: Annotated[Path, typer.Argument(help="The scenario file to write.")],
    mechanism: Annotated[
        str | None,
        typer.Option("--mechanism", metavar="NAME", help="What docks; --mechanism ? lists them."),
    ] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="NAME=VALUE",
            help='Answer a question: --set chaser-mass="1.2 t"; --set ? lists those of the mechanism.',
        ),
    ] = None,
    force: Force = False,
) -> None:
    """Write a commented scenario of your own that runs.

    Asks for the mechanism and what is known of it, on a terminal; elsewhere it
    takes its defaults.
    """
    from dockdyn.scenario.load import parse
    from dockdyn.scenario.starters.mechanisms import STARTERS, result_words, scenario_text
    from dockdyn.scenario.starters.question import Answers

    _check_file(file, force)
    chosen = _mechanism(mechanism, {name: starter.words for name, starter in STARTERS.items()})
    starter, answers = STARTERS[chosen], Answers(file.parent)
    given = _given_answers(set_ or [])
    if given.pop("?", None) is not None:
        _list_questions(starter.questions, answers, given)
        return
    _answer_questions(chosen, starter.questions, answers, given)
    text = scenario_text(starter, answers)
    parse(text, str(file), folder=file.parent)
    _write_scenario(file, text, force)
    say(f"The result says {result_words(starter, answers)}.")
    say(f"Look at it before you run it: dockdyn check {shlex.quote(str(file))}")


def _mechanism(given: str | None, known: Mapping[str, str]) -> str:
    """Return the name of a mechanism: that given, the answer on a terminal, or else the first."""
    from dockdyn.scenario.language.errors import nearest

    if given is None and sys.stdin.isatty():
        say(_list_mechanisms(known))
        while (given := _read_typed("mechanism", next(iter(known)))) not in known:
            say(ASKED if given == "?" else f"{given}: no such mechanism; {nearest(given, known)}")
    if given == "?":
        say(_list_mechanisms(known))
        raise typer.Exit
    if given is not None and given not in known:
        raise Refusal(f"--mechanism {given}: no such mechanism; {nearest(given, known)}")
    return given if given is not None else next(iter(known))


def _list_mechanisms(known: Mapping[str, str]) -> str:
    """Return the mechanisms, one a line."""
    width = max(map(len, known))
    return "\n".join(f"  {name:<{width}}  {words}" for name, words in known.items())


def _given_answers(texts: Sequence[str]) -> dict[str, str]:
    """Return the `--set NAME=VALUE` options by the name of the question."""
    given: dict[str, str] = {}
    for text in texts:
        name, _, answer = text.partition("=")
        if name.strip() in given:
            raise Refusal(f"--set {text}: {name.strip()} is answered twice; must be once")
        given[name.strip()] = answer.strip()
    return given


def _list_questions(questions: tuple[StarterQuestion, ...], answers: Answers, given: Mapping[str, str]) -> None:
    """Say what is asked after the answers `given`, what is taken without one, and what is allowed. Raises Refusal."""
    lines = []
    for question in questions:
        if not question.applies(answers):
            continue
        answer = given.get(question.name, question.usual_answer(answers))
        lines.append(f"  {question.name}{'' if answer is None else f' = {answer}'}: {question.explain(answers)}")
        if answer is None:
            lines.append(f"  The other questions follow from it: --set {question.name}=… --set ?")
            break
        _record(question, answer, answers)
    say("\n".join(lines))


def _record(question: StarterQuestion, answer: str, answers: Answers) -> str:
    """Keep an answer, and return what is to be said of it. Raises Refusal."""
    from dockdyn.scenario.language.errors import ScenarioError

    try:
        return question.record(answer, answers)
    except ScenarioError as error:
        raise Refusal(f"--set {question.name}={answer}: {error}") from None


def _answer_questions(
    mechanism: str, questions: tuple[StarterQuestion, ...], answers: Answers, given: dict[str, str]
) -> None:
    """Fill in the answers: those given, those typed on a terminal, or else the usual ones. Raises Refusal."""
    from dockdyn.scenario.language.errors import ScenarioError
    from dockdyn.scenario.starters.question import refuse_unknown

    for question in questions:
        if not question.applies(answers):
            continue
        usual, stated = question.usual_answer(answers), given.pop(question.name, None)
        if stated is None and sys.stdin.isatty():
            _ask(question, answers)
            continue
        if (answer := stated if stated is not None else usual) is None:
            raise Refusal(f"--set {question.name}=… is missing: {question.explain(answers)}")
        if said := _record(question, answer, answers):
            say(said)
    for name in given:
        try:
            refuse_unknown(name, questions, mechanism)
        except ScenarioError as error:
            raise Refusal(f"--set {name}: {error}") from None


def _ask(question: StarterQuestion, answers: Answers) -> None:
    """Ask on the terminal until there is an answer that can be used."""
    from dockdyn.scenario.language.errors import ScenarioError

    while True:
        typed = _read_typed(question.prompt(answers), question.usual_answer(answers))
        if typed == "?":
            say(question.explain(answers))
            continue
        try:
            said = question.record(typed, answers)
        except ScenarioError as error:
            say(str(error) if str(error).startswith(f"{typed}: ") else f"{typed}: {error}")
            continue
        if said:
            say(said)
        return


def _read_typed(words: str, usual: str | None) -> str:
    """Return what is typed at a question; where the input ends there, nothing is done."""
    try:
        return str(typer.prompt(words, default=usual)).strip()
    except typer.Abort:
        raise Refusal(f"stopped at the question for the {words}; nothing is written") from None


def init(
    preset: Annotated[
        str | None,
        typer.Argument(help="The preset to start from, where --from does not say it.", autocompletion=preset_names),
    ] = None,
    file: Annotated[
        Path | None, typer.Argument(help="The scenario file to write; by default the preset's name.")
    ] = None,
    source: Annotated[
        str | None, typer.Option("--from", metavar="PRESET", help="The preset.", autocompletion=preset_names)
    ] = None,
    force: Force = False,
) -> None:
    """Write a preset into a file of your own.

    And beside it the meshes that it reads, and the schema of scenarios, by which editors complete keys.
    """
    from dockdyn.scenario.preset_files import preset_meshes, preset_text

    if source is not None:
        if file is not None:
            raise Refusal(f"--from {source}: the preset is named twice, also as {preset}; must be once")
        preset, file = source, Path(preset) if preset is not None else None
    if preset is None:
        raise Refusal("a preset is missing; give --from PRESET, or see dockdyn new")
    text, meshes = preset_text(preset), preset_meshes(preset)
    file = file if file is not None else Path(f"{preset}.toml")
    _check_file(file, force)
    _write_scenario(file, text, force, meshes)


def schema() -> None:
    """Print the JSON schema of scenario files.

    Editors complete keys by it; files that name it in their first line,
    "#:schema ./dockdyn.schema.json", need no setting in an editor with Taplo.
    """
    say(schema_text())


def schema_text() -> str:
    """Return the schema as it is written."""
    from dockdyn.scenario.json_schema import scenario_schema

    return json.dumps(scenario_schema(), separators=(",", ":"), ensure_ascii=False)


def _check_file(file: Path, force: bool) -> None:
    """Refuse what is no name of a scenario file, or is taken; a device may have any name."""
    vacant_file(file, force, other="another name")
    if file.suffix != ".toml" and not file.exists():
        raise Refusal(f"{file}: must end in .toml, as scenario files do")


def _write_scenario(file: Path, text: str, force: bool, meshes: Sequence[Path] = ()) -> None:
    """Write a scenario, and beside what is no device its meshes, and the schema that it names where there is none."""
    from dockdyn.scenario.json_schema import FILE, line_for

    if file.exists() and not file.is_file():
        write_text(file, text, force)
        return
    beside, made = file.parent / FILE, not file.parent.exists()
    copies = {file.parent / mesh.name: mesh.read_bytes() for mesh in meshes}
    for place, content in copies.items():
        if not (place.is_file() and place.stat().st_size == len(content) and place.read_bytes() == content):
            vacant_file(place, force, other="another folder")
    write_text(file, line_for(file.parent, FILE) + text, force)
    write_files(copies)
    more = "".join(f", {place}" for place in copies)
    if force or not beside.exists():
        write_text(beside, schema_text() + "\n", force=True)
        more += f" and {beside}, by which editors complete its keys"
    if made:
        more += f", into the new folder {file.parent}"
    say(f"Wrote {file}{more}; run it with: dockdyn run {file}")
