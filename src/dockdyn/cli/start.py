"""`dockdyn new`, `init` and `schema`: a scenario of one's own to begin with, and the schema by which editors complete it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from dockdyn.cli.common import Force, Refusal, preset_names, say, write_text


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

    And the schema of scenarios beside it, by which editors complete keys.
    """
    from dockdyn.scenario.load import preset_text

    if source is not None:
        if file is not None:
            raise Refusal(f"--from {source}: the preset is named twice, also as {preset}; must be once")
        preset, file = source, Path(preset) if preset is not None else None
    if preset is None:
        raise Refusal("a preset is missing; give --from PRESET, or see dockdyn new")
    text = preset_text(preset)
    _write_scenario(file if file is not None else Path(f"{preset}.toml"), text, force)


def schema() -> None:
    """Print the JSON schema of scenario files.

    Editors complete keys by it; files that name it in their first line,
    "#:schema ./dockdyn.schema.json", need no setting in an editor with Taplo.
    """
    say(schema_text())


def schema_text() -> str:
    """The schema as it is written."""
    from dockdyn.scenario.json_schema import scenario_schema

    return json.dumps(scenario_schema(), separators=(",", ":"), ensure_ascii=False)


def _write_scenario(file: Path, text: str, force: bool) -> None:
    """Write a scenario, and the schema that it names beside it where there is none; nothing beside a device."""
    from dockdyn.scenario.json_schema import FILE, line_for

    if file.exists() and not file.is_file():
        write_text(file, text, force)
        return
    beside = file.parent / FILE
    write_text(file, line_for(file.parent, FILE) + text, force)
    more = ""
    if force or not beside.exists():
        write_text(beside, schema_text() + "\n", force=True)
        more = f" and {beside}, by which editors complete its keys"
    say(f"Wrote {file}{more}; run it with: dockdyn run {file}")
