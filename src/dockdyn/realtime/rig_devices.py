"""The two devices of a driven rig with their settings: C for the cycle, and what stands for them."""

from __future__ import annotations

from typing import Any, NamedTuple

from dockdyn.realtime.devices.device import HERE, ToolCommand, ToolPose, c_initialiser
from dockdyn.realtime.devices.emulated.devices import EmulatedRobot, EmulatedSensor
from dockdyn.realtime.devices.emulated.sensor import SensorErrors
from dockdyn.realtime.devices.roles import Device, ForceSensor, Robot
from dockdyn.scenario.language.errors import ScenarioError
from dockdyn.scenario.language.own_code import Own
from dockdyn.scenario.tables.emulator import EmulatorSection
from dockdyn.scenario.tables.rig.devices import DevicesSection


class Devices(NamedTuple):
    """The devices of a rig, and the settings that each has in C."""

    name: str  # of the scenario
    sensor: ForceSensor
    robot: Robot
    sensor_settings: Any
    robot_settings: Any
    period: float  # s

    def c_files(self) -> dict[str, str]:
        """Return all that a program in C needs to speak to them, by file name.

        Raises ScenarioError for a device of the user's own whose files are not there, or have names of dockdyn's.
        """
        files = {path.name: path.read_text() for ending in "ch" for path in sorted(HERE.glob(f"*.{ending}"))}
        for device in (self.sensor, self.robot):
            if isinstance(device, Own):
                files |= self._own_files(device, files)
        lines = ["#include <stdbool.h>", *sorted({f'#include "{each.struct}.h"' for each in (self.sensor, self.robot)})]
        for device, settings in ((self.sensor, self.sensor_settings), (self.robot, self.robot_settings)):
            role, struct = device.role, device.struct
            lines.append(f"static struct {struct} {role} = {c_initialiser(settings)};")
            lines.append(f"void *const rig_{role}_device = &{role};")
            lines.append(f"const size_t rig_{role}_size = sizeof {role};")
            lines.append(f"const dd_{role}_calls *const rig_{role}_calls = &{struct}_{role};")
        lines.append(f"const bool rig_robot_tells_late = {str(self.robot.tells_late).lower()};")
        return files | {"rig_devices.c": "\n".join([*lines, ""])}

    def _own_files(self, device: Device, taken: dict[str, str]) -> dict[str, str]:
        """Return the C of a device of the user's own. Raises ScenarioError."""
        where = f"{self.name}: rig.device.{device.role}.kind = {device.kind!r}"
        try:
            files = device.c_files()
        except (OSError, UnicodeDecodeError) as error:
            place = getattr(error, "filename", None) or f"{device.struct}.h or .c"
            raise ScenarioError(f"{where}: {place}: {getattr(error, 'strerror', error)}") from None
        if both := sorted(set(files) & set(taken)):
            raise ScenarioError(
                f"{where}: its struct is {device.struct!r}, but {both[0]} is dockdyn's; name it otherwise"
            )
        return files

    def emulate(
        self, start: ToolPose, errors: SensorErrors, connected: bool = False, trouble: EmulatorSection | None = None
    ) -> tuple[EmulatedSensor, EmulatedRobot]:
        """Return what stands for them, the robot where it starts; where `connected`, connections agree on how it speaks.

        `trouble` says how they are; as realistic as is known without.
        """
        trouble = trouble or EmulatorSection()
        robot = self.robot.emulate(self.robot_settings, start, self.period, trouble.robot, connected)
        robot.cycle.restart(0.0, ToolCommand(start.position, start.rotation_vector), waiting=True)
        return self.sensor.emulate(self.sensor_settings, errors, self.period, trouble.sensor), robot


def devices_of(name: str, section: DevicesSection, period: float) -> Devices:
    """Return the devices of a table, on a rig with this cycle (s).

    Raises ScenarioError, for the scenario of this `name`, for settings that cannot be.
    """
    sensor, robot = section.sensor, section.robot
    try:
        return Devices(name, sensor, robot, sensor.settings(period), robot.settings(period), period)
    except ValueError as error:
        raise ScenarioError(f"{name}: rig.device: {error}") from None
