"""`dockdyn rig serve`, `emulate` and `replay`: a rig that is driven, what stands for its devices, and its log."""

from __future__ import annotations

import contextlib
import errno
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dockdyn.cli.browser import LOOPBACK, PORT, free_port
from dockdyn.cli.common import (
    STOPPED_EARLY,
    Force,
    NoOwnCode,
    Overrides,
    Refusal,
    ScenarioName,
    parse_overrides,
    quantity_option,
    say,
    tell_unusual_numbers,
)
from dockdyn.cli.progress import show_activity
from dockdyn.cli.rig_devices import without_log
from dockdyn.interrupt import WORDS, heeded_signals
from dockdyn.report.wording import count_of

if TYPE_CHECKING:
    from dockdyn.cli.terminal import StatusTerminal
    from dockdyn.realtime.live_view import LiveView
    from dockdyn.realtime.log_process import Kept
    from dockdyn.realtime.operating import Outcome
    from dockdyn.realtime.rig_devices import Devices
    from dockdyn.results.driver import Driver
    from dockdyn.scenario.load import Scenario

FAILED = 1
LOG = Path("rig.mcap")


def serve(
    scenario: ScenarioName,
    override: Overrides = None,
    log: Annotated[Path, typer.Option("--log", metavar="FILE", help="Where every cycle is written.")] = LOG,
    hold_to_run: Annotated[bool, typer.Option("--hold-to-run", help="Run only while a key is held.")] = False,
    best_effort: Annotated[bool, typer.Option("--best-effort", help="Also without the rights of real time.")] = False,
    cpu: Annotated[int | None, typer.Option("--cpu", metavar="N", help="Keep the cycle on this processor.")] = None,
    view: Annotated[
        bool, typer.Option("--view", help="Show it in the browser, on this computer, as it moves.")
    ] = False,
    port: Annotated[
        int | None, typer.Option("--port", min=1, max=65535, help=f"Port of --view; by default {PORT} or a free one.")
    ] = None,
    force: Force = False,
    no_own_code: NoOwnCode = False,
) -> None:
    """Drive the devices of a rig.

    It homes by itself when sensor and robot answer; arming and running are confirmed by typing these words. Ctrl-C brakes.
    This is no safety function: the robot's own stops remain. Exit code 1 where the rig was stopped by what it watches.
    """
    from dockdyn.cli.terminal import StatusTerminal, key_by_key
    from dockdyn.realtime.operating import Operation
    from dockdyn.realtime.rig_devices import devices_of
    from dockdyn.realtime.server import Refused, ServerSettings, serve_rig
    from dockdyn.realtime.stop_words import why_stopped
    from dockdyn.translate.c_library import NoCompiler

    if port is not None and not view:
        raise Refusal("--port: is of --view")
    if log.exists() and not force:
        raise Refusal(f"{log}: is there; name another --log, or --force")
    if missing := without_log():
        raise Refusal(missing[0])
    content, driver = _checked_driver(scenario, override)
    terminal, kept = StatusTerminal(), None
    try:
        with contextlib.ExitStack() as stack:
            stack.enter_context(key_by_key() if hold_to_run else contextlib.nullcontext())
            with show_activity(f"Translating the cycle of {scenario} to C"):
                step, settings = driver.cycle(), ServerSettings(best_effort, cpu)
            devices = devices_of(scenario, content.content.rig.device, driver.period)
            if to_start := devices.robot.to_start():
                say(to_start)
            shown = stack.enter_context(_show_live_view(scenario, override, port)) if view else None
            rig = stack.enter_context(serve_rig(step, devices, content.text(), log, settings))
            kept = rig.log
            if shown is not None:
                shown.show(rig.ring, step)
            with _asking_to_stop() as asked, stack.pop_all():  # also while the log is written
                outcome = Operation(
                    rig,
                    terminal,
                    hold_to_run,
                    lambda: asked() or terminal.gone,
                    partial(why_stopped, limits=content.content.rig.limits, period=driver.period),
                    driver.first_pose(),
                    _device_addresses(devices),
                ).run()
                terminal.tell("\n".join(_describe_operation(outcome)))  # whatever becomes of the log
                if shown is not None and not shown.running:
                    say("warning: the live view had ended before", err=True)
    except (NoCompiler, Refused) as error:
        if kept is not None:
            _tell_of_log(terminal, kept.kept)
        raise Refusal(f"{scenario}: {error}") from None
    _tell_of_log(terminal, kept.kept)
    if not outcome.intended:
        raise typer.Exit(FAILED)
    if kept.kept.path is None:
        raise typer.Exit(STOPPED_EARLY)


def _device_addresses(devices: Devices) -> dict[str, str]:
    """Return in words where each of a rig's devices is asked, or sends to."""
    return {
        each.role: f"{each.kind} {'at' if each.asked else 'sending to'} {each.place}"
        for each in (devices.sensor, devices.robot)
    }


def _tell_of_log(terminal: StatusTerminal, kept: Kept) -> None:
    """Print where the log is, and what is not in it."""
    for line in kept.words:
        say(f"warning: {line}", err=True)
    if kept.path is not None:
        terminal.tell(f"Log: {kept.path}")


@contextlib.contextmanager
def _show_live_view(scenario: str, override: list[str] | None, port: int | None) -> Iterator[LiveView]:
    """Yield a live view that waits for the rig."""
    from dockdyn.realtime.live_view import NoLiveView, live_view

    try:
        with live_view(scenario, parse_overrides(override or []), free_port(LOOPBACK, port)) as view:
            say(f"Live view: {view.address}")
            yield view
    except NoLiveView as error:
        raise Refusal(f"{scenario}: {error}") from None


def _describe_operation(outcome: Outcome) -> list[str]:
    """Return what an operation was, line by line."""
    from dockdyn.cli.rig import format_percentiles
    from dockdyn.realtime.stop_words import cause_words

    found = [
        f"{outcome.cycles} cycles, {outcome.late} missed; from a pose to its answer: {format_percentiles(outcome.answers)}"
    ]
    if outcome.unseen:
        found.append(f"{outcome.unseen} cycles were not looked at: this computer was too slow")
    if outcome.broken:
        state = outcome.state.name.lower()
        return [*found, f"Stopped: the process of the loop has ended while {state}, without braking; check the robot."]
    return [*found, f"Ended: {cause_words(outcome.cause)}." if outcome.intended else f"Stopped: {outcome.why}."]


def emulate(
    scenario: ScenarioName,
    override: Overrides = None,
    seconds: Annotated[
        float | None, quantity_option("--seconds", "s", "a time", "To run; without, until Ctrl-C.", above=0)
    ] = None,
    no_own_code: NoOwnCode = False,
) -> None:
    """Play the part of the devices of a rig, in real time.

    Robot, contact and sensor are those of the scenario, behind their datagrams, on this computer.
    """
    from dockdyn.realtime.claims import Taken, claim_names
    from dockdyn.realtime.emulator import EmulatedRig
    from dockdyn.realtime.holders import holder_of_port
    from dockdyn.realtime.laboratory import LaboratoryInSteps
    from dockdyn.realtime.rig_devices import devices_of
    from dockdyn.scenario.tables.emulator import EmulatorSection
    from dockdyn.scenario.tables.rig.devices import DevicesSection
    from dockdyn.translate.c_library import NoCompiler

    content, driver = _scenario_and_driver(scenario, override)
    table = content.content.rig
    section, trouble = table.device or DevicesSection(), table.emulator or EmulatorSection()
    sensor, robot = section.sensor, section.robot
    with contextlib.ExitStack() as stack:
        try:
            laboratory = LaboratoryInSteps(driver.laboratory(), driver.axes)
            stack.enter_context(claim_names(f"emulated {each.place}" for each in (sensor, robot)))
            rig = EmulatedRig(laboratory, devices_of(scenario, section, driver.period), trouble)
        except NoCompiler as error:
            raise Refusal(f"{scenario}: {error}") from None
        except Taken as taken:
            words = f"{str(taken).removeprefix('emulated ')}: another dockdyn rig emulate stands for it"
            raise Refusal(f"{scenario}: rig.device: {words}; {taken.holder or 'end that one first'}") from None
        except OSError as error:
            places = " or ".join(each.place for each in (sensor, robot) if each.asked)
            busy = (holder_of_port(each.port) for each in (sensor, robot)) if error.errno == errno.EADDRINUSE else ()
            held = next(filter(None, busy), "")
            raise Refusal(f"{scenario}: rig.device: {places}: {error.strerror}{'; ' if held else ''}{held}") from None
        way = "at" if robot.asked else "to"
        say(f"{sensor.kind} at {sensor.place}; {robot.kind} {way} {robot.place} every {driver.period:g} s")
        with _asking_to_stop() as stop_asked:
            rig.run(None if seconds is None else max(round(seconds / driver.period), 1), stop_asked)
        say(
            f"{laboratory.cycle} cycles; {rig.late} of them without an answer of the computer in time; "
            f"the robot stopped by itself {count_of(rig.stops, 'time')}"
        )


@contextlib.contextmanager
def _asking_to_stop() -> Iterator[Callable[[], bool]]:
    """Let Ctrl-C, Ctrl-Z, requests to end and a terminal that is closed ask for a stop while the block runs; what says whether
    one has come."""
    asked = threading.Event()
    asking = heeded_signals([*WORDS, signal.SIGTSTP])  # nobody would watch while it is suspended
    before = {number: signal.signal(number, lambda *_: asked.set()) for number in asking}
    try:
        yield asked.is_set
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def replay(
    log: Annotated[Path, typer.Argument(help="An MCAP file that dockdyn rig serve has written.")],
    no_own_code: NoOwnCode = False,
) -> None:
    """Play a log through its cycle again.

    What came in gives the same commands, states and causes, or not; exit code 1 where it does not.
    """
    from dockdyn.realtime.rerun import rerun_log
    from dockdyn.realtime.rig_log import read_rig_log
    from dockdyn.scenario.load import parse
    from dockdyn.scenario.setups import setup_named
    from dockdyn.translate.c_library import NoCompiler

    logged = read_rig_log(log)
    scenario = parse(logged.scenario, str(log))
    began = time.perf_counter()
    try:
        found = rerun_log(setup_named(scenario.setup).driver(scenario).cycle(), logged)
    except NoCompiler as error:
        raise Refusal(f"{log}: {error}") from None
    say(f"{found.cycles} cycles in {time.perf_counter() - began:.2g} s; {logged.lost} are not in the log")
    if found.different:
        words = f"{found.different} cycles answer otherwise, the first is number {found.first}"
        say(f"Different: {words}; commands by up to {found.largest:.3g} m or rad.")
        raise typer.Exit(FAILED)
    say("The same: every command, state and cause.")


def _scenario_and_driver(name: str, override: list[str] | None) -> tuple[Scenario, Driver]:
    """Return a scenario and what drives its rig."""
    from dockdyn.scenario.load import load
    from dockdyn.scenario.setups import setup_named

    if sys.platform != "linux":
        raise Refusal("dockdyn rig: needs Linux, whose clock and scheduling it uses")
    given: dict[str, Any] = parse_overrides(override or [])
    scenario = load(name, given)
    tell_unusual_numbers(scenario)
    return scenario, setup_named(scenario.setup).driver(scenario)


def _checked_driver(name: str, override: list[str] | None) -> tuple[Scenario, Driver]:
    """Return a scenario and what drives its rig; Refusal where its devices, as they are set, would not do what it allows."""
    from dockdyn.realtime.controller import find_foreign_ports, find_hindrances

    scenario, driver = _scenario_and_driver(name, override)
    section = scenario.content.rig.driven()
    if section is not None and (found := find_hindrances(section, float(scenario.content.duration))):
        raise Refusal(f"{name}: {'; and '.join(found)}")
    for words in [] if section is None else find_foreign_ports(section.device):
        say(f"warning: {words}", err=True)
    return scenario, driver
