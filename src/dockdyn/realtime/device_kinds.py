"""The kinds of devices that a driven rig can have, by the name in its scenario: settings, C, and what stands for each."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, Protocol

from dockdyn.realtime.devices.catalogue import C_FILES, ROBOTS, SENSORS, Device
from dockdyn.realtime.devices.device import HERE, Command, Pose, c_initialiser
from dockdyn.realtime.devices.egm import EGMSettings
from dockdyn.realtime.devices.emulated.cycle import CycleSettings, MasterCycle
from dockdyn.realtime.devices.emulated.fanuc import EmulatedFanuc, FanucBehaviour
from dockdyn.realtime.devices.emulated.netft import EmulatedNetFT
from dockdyn.realtime.devices.emulated.queue import QueuedCycle
from dockdyn.realtime.devices.emulated.raw_udp import EmulatedRawSensor
from dockdyn.realtime.devices.emulated.robot import Convergence, emulate_egm, emulate_raw_robot
from dockdyn.realtime.devices.emulated.rsi import EmulatedRSI, RSIRobotSettings
from dockdyn.realtime.devices.emulated.rtde import URBehaviour, URInPackets
from dockdyn.realtime.devices.emulated.sensor import SensorErrors
from dockdyn.realtime.devices.fanuc import CYCLES, FanucSettings
from dockdyn.realtime.devices.netft import NetFTSettings
from dockdyn.realtime.devices.raw_udp import RawField, RawLayout, RawUDPSettings
from dockdyn.realtime.devices.rsi import RSISettings
from dockdyn.realtime.devices.rtde import CB3, E_SERIES, RTDESettings
from dockdyn.scenario.language.errors import ScenarioError
from dockdyn.scenario.language.section import Section
from dockdyn.scenario.tables.emulator import (
    EmulatedEGMSection,
    EmulatedFanucSection,
    EmulatedRobotSection,
    EmulatedRSISection,
    EmulatedURSection,
    EmulatorSection,
)
from dockdyn.scenario.tables.rig.devices import DevicesSection, FanucSection, PacketSection, URSection

ASKED = ("ati-netft", "fanuc-stream-motion")  # devices that are asked for what they say; others send by themselves
CONNECTED = ("ur-rtde",)  # robots that are spoken to through connections, not in datagrams
WITHOUT_STATUS = ("kuka-rsi",)  # robots that do not say whether they are well
COUNT_MEASUREMENTS = ("ati-netft",)  # sensors whose records tell which measurement they are of
TELL_LATE = ("kuka-rsi",)  # robots whose status is how many answers were late since their last pose
LATE_LIMIT = 5  # answers that are late at once, after which an emulated robot stops
Three = tuple[float, float, float]
AXES = 3


def _plain(parts: Sequence[tuple[str, int]], length: int, status: bool) -> RawLayout:
    """Doubles one behind the other, little endian, then a sequence of eight bytes and a status of four."""
    names = [f"{name}.{index}" for name, count in parts for index in range(count)]
    fields = [RawField.named(name, "f64", 8 * place) for place, name in enumerate(names)]
    fields.append(RawField.named("sequence", "u64", 8 * len(names)))
    if status:
        fields.append(RawField.named("status", "u32", 8 * len(names) + 8))
    return RawLayout.of(length, tuple(fields))


READING = _plain([("force", AXES), ("torque", AXES)], 64, True)
POSE = _plain([("position", AXES), ("rotation", AXES)], 64, True)
COMMAND = _plain([("position", AXES), ("rotation", AXES)], 56, False)


class EmulatedSensor(Protocol):
    """A sensor that is not there."""

    errors: SensorErrors
    rate: float  # 1/s

    @property
    def next(self) -> float: ...
    def fail(self, failed: bool) -> None: ...
    def stall(self, stalled: bool) -> None: ...
    def restart(self, time: float) -> None: ...
    def receive(self, time: float, packet: bytes) -> list[bytes]: ...
    def tick(self, time: float, force: Three, torque: Three, ahead: float = 0.0) -> list[bytes]: ...


class EmulatedRobot(Protocol):
    """A robot that is not there; its cycle has the newest command."""

    @property
    def cycle(self) -> MasterCycle | QueuedCycle: ...
    def fail(self, failed: bool) -> None: ...
    def stop(self, cause: str) -> None: ...
    def reconnect(self, time: float, start: Pose) -> None: ...
    def receive(self, time: float, packet: bytes) -> list[bytes]: ...
    def tick(self, time: float, actual: Pose) -> list[bytes]: ...


class EGMController(NamedTuple):
    """What ends a motion of ABB's EGM by itself."""

    cycle: CycleSettings  # with how many cycles without a command its CommTimeout is
    convergence: Convergence


class Devices(NamedTuple):
    """The devices of a rig: kind, settings for both sides."""

    name: str  # of the scenario
    sensor: Device
    robot: Device
    sensor_settings: Any
    robot_settings: Any
    period: float  # s
    controller: Any = None  # of the robot: what is set on it beyond how it speaks, for what stands for it
    by_clock: bool = False  # whether a command goes out at instants of the clock, not as an answer to a pose

    def c_files(self) -> dict[str, str]:
        """All that a program in C needs to speak to them, by file name."""
        files = {path.name: path.read_text() for path in (*C_FILES, *HERE.glob("*.h"))}
        lines = [
            "#include <stdbool.h>",
            '#include "calls.h"',
            *sorted({f'#include "{each.struct}.h"' for each in (self.sensor, self.robot)}),
        ]
        for role, device, settings in (
            ("sensor", self.sensor, self.sensor_settings),
            ("robot", self.robot, self.robot_settings),
        ):
            lines.append(f"static struct {device.struct} {role} = {c_initialiser(settings)};")
            lines.append(f'const char *const rig_{role}_name = "{device.name}";')
            lines.append(f"void *const rig_{role}_device = &{role};")
            lines.append(f"const size_t rig_{role}_size = sizeof {role};")
        lines.append(f"const bool rig_robot_tells_late = {str(self.robot.name in TELL_LATE).lower()};")
        return files | {"rig_devices.c": "\n".join([*lines, ""])}

    def emulate(
        self, start: Pose, errors: SensorErrors, connected: bool = False, trouble: EmulatorSection | None = None
    ) -> tuple[EmulatedSensor, EmulatedRobot]:
        """What stands for them, the robot where it starts; where it is `connected`, connections agree on how it speaks.

        `trouble` says how they are; as realistic as is known without.
        """
        trouble = trouble or EmulatorSection()
        stated = trouble.robot
        robots: dict[str, Callable[[], EmulatedRobot]] = {
            "kuka-rsi": lambda: EmulatedRSI(self.robot_settings, _rsi_robot(self.controller, stated), start),
            "abb-egm": lambda: emulate_egm(
                self.controller.cycle,
                start,
                self.controller.convergence,
                not isinstance(stated, EmulatedEGMSection) or stated.takes == "next",
            ),
            "fanuc-stream-motion": lambda: EmulatedFanuc(
                self.robot_settings, self.period, start, _fanuc_behaviour(stated)
            ),
            "ur-rtde": lambda: URInPackets(
                start, None if connected else self.robot_settings, _ur_behaviour(stated, self.robot_settings.rate)
            ),
            "raw-udp": lambda: emulate_raw_robot(
                self.robot_settings, CycleSettings(self.period, LATE_LIMIT, in_a_row=True), start
            ),
        }
        sensors: dict[str, Callable[[], EmulatedSensor]] = {
            "ati-netft": lambda: EmulatedNetFT(
                self.sensor_settings, errors, internal_rate=trouble.sensor.measuring_rate
            ),
            "raw-udp": lambda: EmulatedRawSensor(self.sensor_settings, errors, 1 / self.period),
        }
        robot = robots[self.robot.name]()
        robot.cycle.restart(0.0, Command(start.position, start.rotation_vector), waiting=True)
        return sensors[self.sensor.name](), robot


def _rsi_robot(controller: RSIRobotSettings, section: EmulatedRobotSection | None) -> RSIRobotSettings:
    """Return what is set on a robot's controller, with what a table says that it does besides."""
    if not isinstance(section, EmulatedRSISection):
        return controller
    return replace(controller, **_values(section, "kind"))


def _fanuc_behaviour(section: EmulatedRobotSection | None) -> FanucBehaviour:
    """Return what a robot of FANUC does as a table says."""
    if not isinstance(section, EmulatedFanucSection):
        return FanucBehaviour()
    stated = _values(section, "kind", "packet_stack", "start_move", "newest_version")
    return FanucBehaviour(
        room=section.packet_stack,
        begins_with=section.start_move,
        newest=section.newest_version or None,
        **stated | {"extended": tuple(section.extended)},
    )


def _ur_behaviour(section: EmulatedRobotSection | None, rate: int) -> URBehaviour:
    """Return what a robot of Universal Robots with so many cycles a second does as a table says."""
    if not isinstance(section, EmulatedURSection):
        return URBehaviour(rate=rate)
    return URBehaviour(newest=section.newest_version, rate=rate, **_values(section, "kind", "newest_version"))


def _values(section: Section, *without: str) -> dict[str, Any]:
    """Return the values of a table by their keys, `without` some."""
    return {key: value for key, value in section if key not in without}


def devices_of(name: str, section: DevicesSection, period: float) -> Devices:
    """The devices of a table, on a rig with this cycle (s).

    Raises ScenarioError, for the scenario of this `name`, for settings that cannot be.
    """
    sensor, robot = section.sensor, section.robot
    try:
        sensor_settings: Any
        if sensor.kind == "ati-netft":
            sensor_settings = NetFTSettings(sensor.counts_per_force, sensor.counts_per_torque)
        else:
            layout = _layout(sensor.packet, READING)
            sensor_settings = RawUDPSettings(layout, layout)
        robot_settings: Any = EGMSettings()
        controller: Any = None
        if robot.kind == "kuka-rsi":
            milliseconds = round(1000 * period)
            if abs(period - milliseconds / 1000) > 1e-9:
                raise ValueError(f"a cycle of {period:g} s: must be of whole milliseconds")
            robot_settings = RSISettings(
                robot.sensor_type, robot.correction, robot.relative, robot.decimals, milliseconds
            )
            controller = RSIRobotSettings(
                late_limit=robot.timeout,
                precision=robot.precision,
                correction_limit=robot.correction_limit,
                correction_turn_limit=robot.correction_turn_limit,
                monitor_limit=robot.monitor_limit,
                monitor_turn_limit=robot.monitor_turn_limit,
            )
        elif robot.kind == "abb-egm":
            silent = max(math.ceil(robot.comm_timeout / period * (1 - 1e-9)), 1)
            controller = EGMController(
                CycleSettings(period, silent, in_a_row=True),
                Convergence(robot.condition_time, robot.convergence, robot.convergence_turn),
            )
        elif robot.kind == "raw-udp":
            robot_settings = RawUDPSettings(_layout(robot.pose, POSE), _layout(robot.command, COMMAND))
        elif robot.kind == "fanuc-stream-motion":
            robot_settings = _fanuc_settings(robot, period)
        elif robot.kind == "ur-rtde":
            robot_settings = _rtde_settings(robot, period)
    except ValueError as error:
        raise ScenarioError(f"{name}: rig.device: {error}") from None
    by_clock = robot.kind == "raw-udp" and robot.pace == "clock"
    kinds = SENSORS[sensor.kind], ROBOTS[robot.kind]
    return Devices(name, *kinds, sensor_settings, robot_settings, period, controller, by_clock)


def _rtde_settings(section: URSection, period: float) -> RTDESettings:
    """The settings of a robot that is to send once a `period` (s). Raises ValueError where its controller cannot."""
    rate = {"e-series": E_SERIES, "cb3": CB3}[section.controller]
    cycles = round(period * rate)
    if cycles < 1 or abs(cycles / rate - period) > 1e-9:
        raise ValueError(
            f"a cycle of {period:g} s: must be a whole number of {1 / rate:g} s, a cycle of {section.controller}"
        )
    if section.patience <= period:
        raise ValueError(
            f"patience: {section.patience:g} s: must be above the cycle of {period:g} s, or the robot stops"
        )
    return RTDESettings(section.version, cycles, max(round(1000 * section.patience), 1), rate=rate)


def _fanuc_settings(section: FanucSection, period: float) -> FanucSettings:
    """The settings of a robot whose cycle is the `period` (s). Raises ValueError for one that no controller has."""
    milliseconds = round(1000 * period)
    if milliseconds not in CYCLES or abs(period - milliseconds / 1000) > 1e-9:
        raise ValueError(
            f"a cycle of {period:g} s: must be 2, 4 or 8 ms, that of the robot's controller ($STMO.$COM_INT)"
        )
    return FanucSettings(section.version, milliseconds, section.lead)


def _layout(section: PacketSection | None, plain: RawLayout) -> RawLayout:
    """The layout of a table; the `plain` one of none. Raises ValueError for one that cannot be."""
    if section is None:
        return plain
    fields = [RawField.named(each.name, each.type, each.at, each.unit, each.zero, each.value) for each in section.field]
    return RawLayout.of(section.length, tuple(fields), section.big_endian, section.rotation)
