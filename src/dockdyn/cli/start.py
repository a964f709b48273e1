"""`dockdyn new`, `init` and `schema`: a scenario of one's own to begin with, and the schema by which editors complete it."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

import typer

from dockdyn.cli.common import Force, Refusal, preset_names, quantity_option, say, vacant_file, write_text
from dockdyn.files import write_files
from dockdyn.scenario.kinds import BUILT_IN


def new(
    file: Annotated[Path, typer.Argument(help="The scenario file to write.")],
    kind: Annotated[
        str | None, typer.Option("--kind", metavar="KIND", help=f"What it describes: {', '.join(BUILT_IN)}.")
    ] = None,
    chaser_mass: Annotated[
        float | None,
        quantity_option("--chaser-mass", "kg", "a mass", "Of the chaser, or what carries the arm.", above=0),
    ] = None,
    target_mass: Annotated[
        float | None, quantity_option("--target-mass", "kg", "a mass", "Of the target, or the payload.", above=0)
    ] = None,
    mechanism: Annotated[
        str | None,
        typer.Option(
            "--mechanism",
            metavar="NAME",
            help="How they meet; --mechanism ? lists those of the kind.",
        ),
    ] = None,
    force: Force = False,
) -> None:
    """Write a commented scenario of your own that runs.

    Asks for what is not given, on a terminal; elsewhere it takes its defaults.
    """
    from dockdyn.scenario.kinds import kind_named, known_kinds
    from dockdyn.scenario.start import TwoBodies

    _check_file(file, force)
    starts = {name: start for name in known_kinds() if (start := kind_named(name).start()) is not None}
    chosen = _choose_name("--kind", "kind", kind, {name: start.words for name, start in starts.items()})
    start = starts[chosen]
    masses = [
        _ask_mass(option, words, given, default)
        for option, words, given, default in zip(
            ("--chaser-mass", "--target-mass"), start.bodies, (chaser_mass, target_mass), start.masses, strict=True
        )
    ]
    text = start.text(TwoBodies(*masses), _choose_name("--mechanism", "mechanism", mechanism, start.mechanisms))
    _write_scenario(file, text, force)


def _choose_name(option: str, words: str, given: str | None, known: Mapping[str, str]) -> str:
    """Return one of several names: that given, the only one, the answer on a terminal, or else the first."""
    from dockdyn.scenario.language.errors import nearest

    if given is None and len(known) > 1 and sys.stdin.isatty():
        width = max(map(len, known))
        say("".join(f"  {name:<{width}}  {what}\n" for name, what in known.items()).rstrip())
        while (given := _ask_question(words, next(iter(known)))) not in known:
            say(f"{given}: {nearest(given, known)}")
    if given is not None and given not in known:
        raise Refusal(f"{option} {given}: no such {words}; {nearest(given, known)}")
    return given if given is not None else next(iter(known))


def _ask_mass(option: str, words: str, given: float | None, default: float) -> float:
    """Return the mass (kg) of a body: that given, the answer on a terminal, or else the default."""
    if given is not None or not sys.stdin.isatty():
        return default if given is None else given
    read = quantity_option(option, "kg", "a mass", "", above=0).parser
    while True:
        answer = _ask_question(f"mass of the {words}", f"{default:g} kg")
        try:
            found: float = read(answer)
        except Refusal as refusal:
            say(str(refusal).removeprefix(f"{option}: "))
        else:
            return found


def _ask_question(words: str, default: str) -> str:
    """Return what is typed at a question; where the input ends there, nothing is done."""
    try:
        return str(typer.prompt(words, default=default)).strip()
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
