"""`dockdyn rig`: the computer that drives a rig."""

from __future__ import annotations

import json
import os
import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dockdyn.cli import rig_operation
from dockdyn.cli.common import (
    NoOwnCode,
    Quiet,
    Refusal,
    help_example,
    preset_names,
    quantity_option,
    say,
    show_progress,
)
from dockdyn.cli.rig_devices import device_lines, device_numbers

if TYPE_CHECKING:
    from dockdyn.realtime.cycle_check import CycleCheck
    from dockdyn.realtime.machine import Machine

NOT_HELD = 1
BAR = 40  # characters

app = typer.Typer(help="The computer that drives a rig.", no_args_is_help=True, rich_markup_mode=None)


@app.callback()
def rig() -> None:
    """The computer that drives a rig."""


app.command(epilog=help_example("dockdyn rig serve my_rig.toml --log today.mcap"))(rig_operation.serve)
app.command(epilog=help_example("dockdyn rig emulate my_rig.toml --seconds 60"))(rig_operation.emulate)
app.command(epilog=help_example("dockdyn rig replay today.mcap"))(rig_operation.replay)


@app.command(epilog=help_example('dockdyn rig doctor --cycle "4 ms"', "dockdyn rig doctor epos-like --seconds 600"))
def doctor(
    scenario: Annotated[
        str | None, typer.Argument(help="A rig whose hold is the cycle.", autocompletion=preset_names)
    ] = None,
    cycle: Annotated[
        float | None, quantity_option("--cycle", "s", "a period", "Of the rig, in place of a scenario's.", above=0)
    ] = None,
    seconds: Annotated[float, quantity_option("--seconds", "s", "a time", "To measure.", above=0)] = 60.0,
    cpu: Annotated[int | None, typer.Option("--cpu", metavar="N", help="Keep the cycle on this processor.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON and nothing else.")] = False,
    quiet: Quiet = False,
    no_own_code: NoOwnCode = False,
) -> None:
    """Measure whether this computer can hold the cycle of a rig.

    A process wakes up once a cycle, as that of a rig does, under real-time scheduling where the system allows it; how late it
    wakes up is told, with the time of a datagram to another process and back. What the cycle itself computes is not in it.
    Of a scenario with [rig] it says what must be set on its devices, with the reason, and what was never confirmed on hardware.
    Exit code 1 where a cycle was late, or where the devices as they are set could not do what the limits allow.
    """
    from dockdyn.realtime.cycle_check import as_numbers, check_cycle
    from dockdyn.realtime.machine import inspect_machine, stolen_time

    content = _scenario_content(scenario)
    period = _cycle_period(scenario, content, cycle)
    _check_processor(cpu)
    if seconds < period:
        raise Refusal(f"--seconds: {seconds:g} s: must be at least a cycle, {period:g} s")
    machine, stolen = inspect_machine(), stolen_time()
    with show_progress("waking up", quiet or as_json) as bar:
        check = check_cycle(period, seconds, cpu, bar)
    stolen = stolen_time() - stolen
    section = None if content is None else content.rig.driven()
    of_devices = {} if section is None else device_numbers(section, float(content.duration))
    if as_json:
        typer.echo(json.dumps(as_numbers(check) | machine._asdict() | {"stolen_s": stolen} | of_devices, indent=2))
    else:
        of_rig = [] if section is None else device_lines(section)
        verdict = _verdict_of_devices(of_devices)
        say("\n".join([*of_rig, *_describe_check(check, machine, stolen), *verdict]))
    if not check.held or of_devices.get("hindrances"):
        raise typer.Exit(NOT_HELD)


def _verdict_of_devices(of_devices: dict[str, Any]) -> list[str]:
    """Return in lines what is doubtful of a rig's devices, and why it would not be driven: the last word, as it outweighs."""
    lines = [f"warning: {words}" for words in of_devices.get("warnings", [])]
    if refused := of_devices.get("hindrances"):
        lines.append("But as the scenario and this computer are, dockdyn rig serve refuses to drive:")
        lines += [f"- {words}" for words in refused]
    return lines


def _scenario_content(name: str | None) -> Any:  # noqa: ANN401, of any setup
    """Return what a scenario says; None without one."""
    if sys.platform != "linux":
        raise Refusal("dockdyn rig doctor: needs Linux, whose clock and scheduling it measures")
    if name is None:
        return None
    from dockdyn.scenario.load import load
    from dockdyn.scenario.tables.rig.loop import loop_of

    scenario = load(name)
    if loop_of(scenario.content) is None:
        raise Refusal(f"{name}: loop.hold: missing; it is no scenario of a rig")
    return scenario.content


def _cycle_period(name: str | None, content: Any, stated: float | None) -> float:  # noqa: ANN401, of a rig
    """Return the period of the rig, s."""
    if stated is not None:
        return stated
    if content is None:
        raise Refusal('no cycle: name a scenario with a [rig], or give --cycle "4 ms"')
    if content.loop.hold is None:
        raise Refusal(f"{name}: loop.hold: missing; its period is the cycle of a rig; or give --cycle")
    return float(content.loop.hold.period)


def _check_processor(cpu: int | None) -> None:
    """Refuse a processor that this process may not use."""
    usable = os.sched_getaffinity(0)
    if cpu is not None and cpu not in usable:
        raise Refusal(f"--cpu: {cpu}: must be one of {', '.join(map(str, sorted(usable)))}")


def _describe_check(check: CycleCheck, machine: Machine, stolen: float) -> list[str]:
    """Say what was found, the answer, and what would make it better."""
    from dockdyn.realtime.cycle_check import find_shortcomings, time_histogram, time_percentiles

    cycles, lost = len(check.late), sum(check.round_trips != check.round_trips)
    lines = [
        f"{machine.kernel}, {machine.processors} processors",
        f"wake-ups after their instants, {cycles} cycles of {_format_time(check.cycle)}: "
        + format_percentiles(time_percentiles(check.late)),
    ]
    counts = time_histogram(check.late)
    most = max((count for _, count in counts), default=1)
    lines += [
        f"  up to {_format_time(bound):>6}  {_histogram_bar(count, most):{BAR}} {count}" for bound, count in counts
    ]
    lines.append(f"datagram to another process and back: {format_percentiles(time_percentiles(check.round_trips))}")
    if lost:
        lines.append(f"datagrams lost: {lost} of {len(check.round_trips)}")
    lines += [f"- {words}" for words in find_shortcomings(check.scheduling, machine, stolen, cycles * check.cycle)]
    confident = f"with 95 % confidence fewer than {_format_share(check.late_share_below)} are"
    if check.held:
        return [*lines, f"Held: none of {cycles} cycles was late; {confident}."]
    return [*lines, f"Not held: {check.late_cycles} of {cycles} cycles were late; {confident}."]


def format_percentiles(found: dict[str, float]) -> str:
    """Return percentiles in words."""
    names = {"p50": "median", "p99": "99 %", "p99.9": "99.9 %", "max": "longest"}
    return ", ".join(f"{words} {_format_time(found[name])}" for name, words in names.items() if name in found) or "none"


def _format_time(seconds: float) -> str:
    """Return a time with three digits and a unit that fits."""
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-6:.3g} µs"


def _format_share(share: float) -> str:
    """Return a share as one in so many, where it is small."""
    return f"1 in {int(1 / share)}" if share < 0.01 else f"{share:.1%}"


def _histogram_bar(count: int, most: int) -> str:
    """Return a bar of a histogram; one that holds anything is seen."""
    return "#" * max(round(BAR * count / most), 1 if count else 0)
