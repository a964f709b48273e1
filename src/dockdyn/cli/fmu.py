"""`dockdyn fmu`: scenarios as FMUs for other simulators."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from dockdyn.cli.common import (
    NOT_MET,
    Force,
    NoOwnCode,
    Overrides,
    Quiet,
    Refusal,
    ScenarioName,
    echo_json,
    help_example,
    parse_overrides,
    preset_names,
    read_scenario,
    say,
    show_progress,
    study_name,
    tell_unusual_numbers,
    vacant_file,
    with_ending,
)
from dockdyn.cli.progress import show_activity

if TYPE_CHECKING:
    from dockdyn.exchange.comparison import Checked

app = typer.Typer(help="Scenarios as FMUs for other simulators.", no_args_is_help=True, rich_markup_mode=None)


@app.command(
    epilog=help_example("dockdyn fmu export probe-cone-latch", "dockdyn fmu export sits --fmi 2 --out rig.fmu")
)
def export(
    scenario: ScenarioName,
    set_: Overrides = None,
    fmi: Annotated[Literal["2", "3"], typer.Option("--fmi", help="The version: FMI 3.0 or FMI 2.0.")] = "3",
    model_exchange: Annotated[
        bool, typer.Option("--model-exchange", help="For a tool that integrates it; only without a delay.")
    ] = False,
    computer: Annotated[
        bool,
        typer.Option("--computer", help="Of a rig its computer alone: told what is measured, it says the command."),
    ] = False,
    sources_only: Annotated[
        bool, typer.Option("--sources-only", help="Compile nothing: whoever imports it has a C compiler.")
    ] = False,
    platform: Annotated[
        list[str] | None,
        typer.Option("--platform", metavar="NAME", help="A library for this platform too, such as x86_64-windows."),
    ] = None,
    out: Annotated[Path | None, typer.Option("--out", help="The file; by default NAME.fmu.")] = None,
    force: Force = False,
    no_own_code: NoOwnCode = False,
) -> None:
    """Write a scenario as an FMU for other simulators.

    It holds sources in C and the library that this machine's compiler makes of them, with --platform those of others too.
    It integrates itself (co-simulation), or with --model-exchange the tool that imports it does.
    """
    chosen = read_scenario(scenario, set_)
    from dockdyn.exchange.compiled import platforms_named
    from dockdyn.exchange.fmu import FIXED, computer_of, fmu_of, unit_of
    from dockdyn.files import write_file

    tell_unusual_numbers(chosen)
    file = with_ending(out, ".fmu") if out is not None else Path(f"{study_name(scenario)}.fmu")
    vacant_file(file, force, Path(scenario))
    others = platforms_named(platform or [])
    if computer and model_exchange:
        raise Refusal("--computer: goes from cycle to cycle; cannot be for --model-exchange")
    with show_activity(f"Translating {chosen.name} to C"):
        unit = computer_of(chosen) if computer else unit_of(chosen, integrated=not model_exchange)
    with show_activity(f"Writing {file}" if sources_only else f"Compiling {file}"):
        content = fmu_of(unit, 2 if fmi == "2" else 3, not sources_only, others)
    write_file(file, content)
    counts = f"{len(unit.numbers)} parameters, {len(unit.inputs)} inputs, {len(unit.outputs)} outputs"
    say(f"Wrote {file}: FMI {fmi}.0, {counts}")
    if unit.fixed:
        say(f"{len(unit.fixed)} numbers stay as they are: {FIXED} in it names them")


@app.command(epilog=help_example("dockdyn fmu check probe-cone-latch.fmu"))
def check(
    fmu: Annotated[Path, typer.Argument(metavar="FILE.fmu", help="An FMU.")],
    scenario: Annotated[
        str | None,
        typer.Argument(help="What it shall be like; by default the scenario inside it.", autocompletion=preset_names),
    ] = None,
    set_: Overrides = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON and nothing else.")] = False,
    quiet: Quiet = False,
    no_own_code: NoOwnCode = False,
) -> None:
    """Validate an FMU and run it beside `dockdyn run`.

    Prints the largest difference of every variable. An FMU is a program of its own that this runs. Exit code 4 where the
    validator finds something.
    """
    from dockdyn.scenario.load import load

    changes = parse_overrides(set_ or [])
    stated = None if scenario is None else load(scenario, changes)
    from dockdyn.exchange.comparison import check_fmu, scenario_inside

    if stated is not None:
        chosen = stated
    else:
        chosen = scenario_inside(fmu)
        chosen = chosen.at(changes) if changes else chosen
    with show_progress(f"Running {fmu}", quiet or as_json) as advance:
        found = check_fmu(fmu, chosen, advance)
    if as_json:
        echo_json(asdict(found))
    else:
        say("\n".join(_validation_lines(found)))
    if found.findings:
        raise typer.Exit(NOT_MET)


def _validation_lines(found: Checked) -> list[str]:
    """Say what a validator has found, and a line for every variable."""
    lines = [f"- {finding}" for finding in found.findings] or ["The validator of fmpy finds nothing."]
    lines.append(f"Beside the run, {found.steps} steps to t = {found.end:g} s:")
    width = max((len(one.variable) for one in found.differences), default=0)
    for one in found.differences:
        unit = "" if one.unit == "1" else f" {one.unit}"
        lines.append(
            f"  {one.variable:<{width}}  up to {one.largest:.4g}{unit}, differs by at most {one.difference:.1e}{unit} "
            f"at t = {one.time:g} s"
        )
    return lines
