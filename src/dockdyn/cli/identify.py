"""`dockdyn identify`: robot, contact and any numbers of a scenario from measured logs, and the experiment for such a log."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from dockdyn.cli.common import (
    NoOwnCode,
    Overrides,
    Quiet,
    Refusal,
    command_line,
    echo_json,
    help_example,
    preset_names,
    quantity_option,
    read_scenario,
    refuse_occupied,
    say,
    show_progress,
    tell_answer,
    tell_unusual_numbers,
    vacant_file,
    write_text,
)
from dockdyn.cli.log_options import (
    Actual,
    Command,
    MeasuredForce,
    Period,
    Position,
    Time,
    Units,
    Velocity,
    log_options,
)

if TYPE_CHECKING:
    import numpy as np

    from dockdyn.report.report import Report
    from dockdyn.studies.identification.arm_path import JointChain

app = typer.Typer(
    help="Identify robot, contact or numbers from a measured log.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

LogFile = Annotated[Path, typer.Argument(metavar="LOG", help="In CSV, MCAP or netCDF, with columns such as time [s],…")]
Out = Annotated[Path | None, typer.Option("--out", help="Folder for report.html and the TOML.")]
Force = Annotated[bool, typer.Option("--force", help="Overwrite what is there.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON and nothing else.")]


@app.command(epilog=help_example("dockdyn identify robot log.csv --validate second.csv --out robot"))
def robot(
    log: LogFile,
    time: Time = None,
    command: Command = None,
    actual: Actual = None,
    unit: Units = None,
    orders: Annotated[
        str | None, typer.Option("--orders", metavar="NA,NB", help="Coefficients of the equation; chosen if not given.")
    ] = None,
    delay: Annotated[
        int | None, typer.Option("--delay", min=0, help="Dead time in whole samples; found if not given.")
    ] = None,
    period: Period = None,
    method: Annotated[
        Literal["oe", "iv", "arx"],
        typer.Option("--method", help="Output error, instrumental variables, or least squares, which noise biases."),
    ] = "oe",
    validate: Annotated[
        Path | None, typer.Option("--validate", metavar="LOG", help="Another log that the result has to explain.")
    ] = None,
    out: Out = None,
    force: Force = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """A robot's transfer function from a log.

    The log holds commanded and actual positions.
    """

    _refuse_existing(out, force)
    from dockdyn.studies.identification.robot import (
        figures_of,
        fit_to_other_log,
        identify_robot,
        read_robot_log,
        robot_toml,
    )

    options = log_options(unit, period, time=time, command=command, actual=actual)
    sizes = parse_orders(orders)
    with show_progress("Identifying the robot", quiet):
        records = read_robot_log(log, *options)
        other = None if validate is None else read_robot_log(validate, *options)
        found = identify_robot(records, sizes, delay, method)
        answer = figures_of(found)
        if other is not None:
            answer["validation_fit_percent"] = fit_to_other_log(found, other)
    from dockdyn.studies.identification.report import robot_report

    report = robot_report(found, answer, command_line())
    if out is not None:
        _write_report(out / "robot.toml", robot_toml(found), report)
    tell_answer(answer, report, as_json, *_describe_written("For a scenario", "robot.toml", out))


@app.command(epilog=help_example("dockdyn identify contact bounce.csv --unit position=mm"))
def contact(
    log: LogFile,
    time: Time = None,
    position: Position = None,
    measured_force: MeasuredForce = None,
    velocity: Velocity = None,
    unit: Units = None,
    delay: Annotated[
        float | None,
        quantity_option("--delay", "s", "a delay", "Of the force against the position, if known.", least=0),
    ] = None,
    period: Period = None,
    out: Out = None,
    force: Force = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """A contact's stiffness and damping from a log.

    And its delay and restitution; the log holds a measured bounce.
    """

    _refuse_existing(out, force)
    from dockdyn.studies.identification.bounce_log import read_bounce

    options = log_options(unit, period, time=time, position=position, measured_force=measured_force, velocity=velocity)
    with show_progress(f"Reading {log}", quiet):
        bounce = read_bounce(log, *options)  # refuses before anything heavy is imported
    with show_progress("Identifying the contact", quiet):
        from dockdyn.studies.identification.contact import contact_toml, figures_of, identify_contact

        found = identify_contact(bounce, delay)
    answer = figures_of(found)
    from dockdyn.studies.identification.report import contact_report

    report = contact_report(found, answer, command_line())
    if out is not None:
        _write_report(out / "contact.toml", contact_toml(found), report)
    tell_answer(answer, report, as_json, *_describe_written("For a scenario", "contact.toml", out))


@app.command(epilog=help_example("dockdyn identify parameters log.csv --scenario mine.toml --key loop.delay"))
def parameters(
    log: LogFile,
    scenario: Annotated[
        str,
        typer.Option(
            "--scenario",
            metavar="SCENARIO",
            help="What the log is of: a scenario file or preset.",
            autocompletion=preset_names,
        ),
    ],
    key: Annotated[
        list[str],
        typer.Option("--key", metavar="KEY", help="A number that is sought: --key contact.NAME.normal.stiffness."),
    ],
    shift: Annotated[float | None, quantity_option("--shift", "s", "a time", "Added to the times of the log.")] = None,
    time: Time = None,
    command: Command = None,
    actual: Actual = None,
    position: Position = None,
    measured_force: MeasuredForce = None,
    velocity: Velocity = None,
    unit: Units = None,
    period: Period = None,
    set_: Overrides = None,
    out: Out = None,
    force: Force = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
    no_own_code: NoOwnCode = False,
) -> None:
    """Any numbers of a scenario from a log.

    The log holds columns of its run, as dockdyn report --log takes them.
    """
    _refuse_existing(out, force)
    options = log_options(
        unit, period,
        time=time, command=command, actual=actual, position=position, measured_force=measured_force, velocity=velocity,
    )  # fmt: skip
    chosen = read_scenario(scenario, set_)
    tell_unusual_numbers(chosen)
    from dockdyn.studies.identification.parameters import fit_answer, identify_parameters

    with show_progress(f"Fitting {chosen.name} to {log.name}", quiet) as advance:
        fit = identify_parameters(chosen, log, key, shift=shift or 0.0, progress=advance, **options._asdict())
    answer = fit_answer(fit)
    if out is None and as_json:
        echo_json(answer)
        return
    from dockdyn.studies.identification.parameters_report import parameters_report

    report = parameters_report(fit, answer, command_line())
    if out is not None:
        write_text(out / "parameters.json", json.dumps(answer, indent=2, allow_nan=False), force=True)
        _write_report(out / "scenario.toml", fit.scenario.text(), report)
    tell_answer(answer, report, as_json, *_describe_written("For a run", "scenario.toml", out))


@app.command(epilog=help_example('dockdyn identify plan sweep.csv --to "15 Hz" --speed-limit "0.3 m/s"'))
def plan(
    file: Annotated[Path, typer.Argument(help="The CSV file to write.")],
    amplitude: Annotated[float, quantity_option("--amplitude", "m", "a length", "Of the sine.", above=0)] = 0.025,
    start: Annotated[float, quantity_option("--from", "Hz", "a frequency", "At the start.", least=0)] = 0.0,
    end: Annotated[float, quantity_option("--to", "Hz", "a frequency", "At the end.", above=0)] = 20.0,
    duration: Annotated[float, quantity_option("--duration", "s", "a time", "Of the sweep.", above=0)] = 3.0,
    period: Annotated[float, quantity_option("--period", "s", "a period", "Of the commands.", above=0)] = 0.002,
    speed_limit: Annotated[
        float | None,
        quantity_option("--speed-limit", "m/s", "a speed", "The amplitude falls where it would be broken.", above=0),
    ] = None,
    acceleration_limit: Annotated[
        float | None, quantity_option("--acceleration-limit", "m/s**2", "an acceleration", "The same.", above=0)
    ] = None,
    ramp: Annotated[
        float | None,
        quantity_option("--ramp", "s", "a time", "In which the motion grows from rest, and returns to it.", least=0),
    ] = None,
    direction: Annotated[
        str | None, typer.Option("--direction", metavar="X,Y,Z", help="Map to joints: the line of motion, base axes.")
    ] = None,
    urdf: Annotated[
        Path | None, typer.Option("--urdf", help="The arm; without it, a generic one of six joints.")
    ] = None,
    tip: Annotated[str | None, typer.Option("--tip", metavar="LINK", help="What moves along the line.")] = None,
    joints: Annotated[
        str | None, typer.Option("--joints", metavar="Q1,Q2,…", help='Where the arm starts: "0,-75 deg,95 deg,…".')
    ] = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """The sine sweep that such a log comes from.

    Within the robot's limits, as commands or joint angles.
    """
    from dockdyn.studies.identification.plan import SineSweep
    from dockdyn.studies.identification.sweep_file import sweep_answer, sweep_csv

    vacant_file(file, force, other="another name")
    speed, acceleration = (math.inf if limit is None else limit for limit in (speed_limit, acceleration_limit))
    sweep = SineSweep(amplitude, start, end, duration, speed, acceleration, ramp)
    times, commands = sweep.planned(period)
    arm, path = None, None
    if any(option is not None for option in (direction, urdf, tip, joints)):
        from dockdyn.studies.identification.arm_path import lead_tip

        arm = _arm_for(urdf, tip, joints)
        path = lead_tip(arm, _parse_vector(direction or "1,0,0"), commands, times)
    write_text(file, sweep_csv(sweep, period, times, commands, arm, path), force)
    answer = sweep_answer(sweep, period, times, commands, arm, path)
    if as_json:
        echo_json(answer)
        return
    from dockdyn.report.terminal import show_parts
    from dockdyn.studies.identification.wording import plan_lines

    show_parts(list(plan_lines(answer)))
    say(f"Commands: {file}")


def _write_report(file: Path, toml: str, report: Report) -> None:
    """Write what was found as tables of a scenario, and the report beside it."""
    from dockdyn.report.page import render_page
    from dockdyn.scenario.json_schema import line_for

    write_text(file, line_for(file.parent) + toml, force=True)
    write_text(file.with_name("report.html"), render_page(report), force=True)


def _describe_written(use: str, file: str, out: Path | None) -> list[str]:
    """Return in lines what was written into a folder, and what for; none without a folder."""
    return [] if out is None else [f"{use}: {out / file}", f"Report: {out / 'report.html'}"]


def _refuse_existing(out: Path | None, force: bool) -> None:
    """Refuse a folder that exists before anything is computed."""

    if out is not None:
        refuse_occupied(out, force)


def parse_orders(text: str | None) -> tuple[int, int] | None:
    """Return two orders from "2,2"."""
    if text is None:
        return None
    from dockdyn.scenario.language.units import whole_number

    parts = [whole_number(part) for part in text.split(",")]
    if len(parts) != 2 or not all(parts):
        raise Refusal(f"--orders {text}: must be NA,NB: two whole numbers of at least 1, such as 2,2")
    return parts[0] or 0, parts[1] or 0


def _parse_vector(text: str) -> np.ndarray:
    """Return three numbers from "1,0,0"."""
    import numpy as np

    try:
        found = np.array([float(part) for part in text.split(",")])
    except ValueError:
        found = np.zeros(0)
    if found.shape != (3,) or not np.isfinite(found).all() or not found.any():
        raise Refusal(f"--direction {text}: must be three numbers, not all of them 0, such as 1,0,0")
    return found


def _arm_for(urdf: Path | None, tip: str | None, joints: str | None) -> JointChain:
    """Return the arm of a URDF file, or the generic one."""
    import dataclasses

    import numpy as np

    from dockdyn.scenario.language.units import convert
    from dockdyn.studies.identification.arm_path import generic_arm
    from dockdyn.studies.identification.urdf_arm import urdf_arm

    start = None
    if joints is not None:
        try:  # a bare number is in the joint's own unit
            start = [_angle_or_length(part, convert) for part in joints.split(",")]
        except ValueError:
            raise Refusal(f'--joints {joints}: must be angles or lengths, such as "0, -75 deg, 95 deg"') from None
    if urdf is not None:
        return urdf_arm(urdf, tip, start)
    arm = generic_arm()
    if tip is not None and tip != arm.tip:
        raise Refusal(f"--tip {tip}: the generic arm has none but {arm.tip}; give a --urdf")
    if start is None:
        return arm
    if len(start) != len(arm.joints):
        raise Refusal(f"--joints {joints}: {len(start)} values; must be {len(arm.joints)}")
    return dataclasses.replace(arm, start=np.array(start))


def _angle_or_length(text: str, convert: Callable[[str, str], float]) -> float:
    """Return rad, or m where the text says so."""
    for unit in ("rad", "m"):
        try:
            return convert(text.strip(), unit)
        except ValueError:
            continue
    raise ValueError(text)
