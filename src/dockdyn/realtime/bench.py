"""The emulated bench of a rig: laboratory, devices that speak for it, the wires to them, and what goes wrong.

Time is given, so that lockstep and real time run the same.

Units: SI; times s.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from dockdyn.deferred import Float
from dockdyn.realtime.devices.device import ToolPose
from dockdyn.realtime.devices.emulated.devices import EmulatedRobot
from dockdyn.realtime.devices.emulated.sensor import SensorErrors, SensorSettings
from dockdyn.realtime.devices.emulated.wire import NetworkWire, WireSettings
from dockdyn.realtime.exchange import Heard
from dockdyn.realtime.laboratory import LaboratoryInSteps
from dockdyn.realtime.rig_devices import Devices
from dockdyn.scenario.language.errors import ScenarioError
from dockdyn.scenario.tables.emulator import EmulatedSensorSection, EmulatorSection

MOVED = 1e-6  # m or rad from where the robot began
SILENT_SENSOR = {"sensor-silent", "sensor-restart"}
SILENT_ROBOT = {"robot-silent", "robot-restart"}


class EmulatedBench:
    """Sensor and robot of a laboratory, behind wires that lose, delay and repeat, with faults that come and go."""

    def __init__(
        self, laboratory: LaboratoryInSteps, devices: Devices, trouble: EmulatorSection, connected: bool = False
    ):
        """ScenarioError for a fault that a device does not have; `connected` as `Devices.emulate` takes it."""
        kinds = {each.kind for each in trouble.fault}
        if "robot-status" in kinds and not devices.robot.tells_status:
            raise ScenarioError(f"{devices.name}: rig.emulator.fault: robot-status: {devices.robot.kind} tells none")
        if "sensor-stalled" in kinds and not devices.sensor.counts_measurements:
            raise ScenarioError(
                f"{devices.name}: rig.emulator.fault: sensor-stalled: {devices.sensor.kind} does not count measurements"
            )
        self.laboratory, self.period, self.faults = laboratory, devices.period, trouble.fault
        self.load, self.pose = laboratory.tell()
        self.start = self.pose.values
        self.errors = SensorErrors(sensor_settings(trouble.sensor), trouble.seed)
        self.sensor, self.robot = devices.emulate(pose_of(self.pose), self.errors, connected, trouble)
        network = trouble.network
        sound = WireSettings(network.latency, network.jitter)
        rough = replace(
            sound,
            loss=network.loss,
            duplicates=network.duplicates,
            reordering=network.reordering,
            overtaken_by=devices.period,
        )
        of_robot = sound if devices.robot.connected else rough  # a connection repairs what is lost
        self.to_sensor, self.from_sensor = (NetworkWire(rough, 4 * trouble.seed + number) for number in (0, 1))
        self.to_robot, self.from_robot = (NetworkWire(of_robot, 4 * trouble.seed + number) for number in (2, 3))
        self.moved: float | None = None  # when the robot was first told to be elsewhere
        self.active: set[str] = set()

    def begin(self, time: float) -> None:
        """Begin a cycle: faults come and go, sensor and robot say what is so."""
        self.load, self.pose = self.laboratory.tell()
        self._fail(time)
        for packet in self.robot.tick(time, pose_of(self.pose)):
            if not self.active & SILENT_ROBOT:
                self.from_robot.send(time, packet)
        self.measure(time, (1 - 1e-6) / self.sensor.rate)

    def measure(self, time: float, ahead: float = 0.0) -> None:
        """Let the sensor say what is due, or so far `ahead`: at a cycle's beginning the laboratory has a new force, and the
        reading of it shall not be one of the force before."""
        fx, fy, fz, *torque = self.load.values.tolist()
        for packet in self.sensor.tick(time, (fx, fy, fz), tuple(torque), ahead):
            if not self.active & SILENT_SENSOR:
                self.from_sensor.send(time, packet)

    @property
    def next(self) -> float:
        """When something happens next without being asked."""
        wires = (self.to_sensor, self.from_sensor, self.to_robot, self.from_robot)
        return min(self.sensor.next, *(wire.next for wire in wires))

    def deliver(self, time: float) -> tuple[list[bytes], list[bytes]]:
        """Return what has arrived by a time: the devices take theirs; readings and poses that are at the computer."""
        self.deliver_to_devices(time)
        return self.from_sensor.deliver(time), self.from_robot.deliver(time)

    def deliver_to_devices(self, time: float) -> None:
        """Let the devices take what has arrived by a time."""
        for packet in self.to_sensor.deliver(time):
            self.sensor.receive(self.to_sensor.arrived, packet)
        for packet in self.to_robot.deliver(time):
            if "robot-deaf" not in self.active:
                for answer in self.robot.receive(self.to_robot.arrived, packet):
                    self.from_robot.send(self.to_robot.arrived, answer)

    def end(self, time: float) -> None:
        """End a cycle: the robot goes where it was told to."""
        wanted = wanted_of(self.robot)
        if (
            self.moved is None
            and np.abs(wanted[: self.laboratory.axes] - self.start[: self.laboratory.axes]).max() > MOVED
        ):
            self.moved = time
        self.laboratory.take(None if self.robot.cycle.stopped else wanted)

    def reset(self, time: float) -> None:
        """Switch the robot on again where it is; it waits."""
        start = pose_of(self.laboratory.tell()[1])
        self.robot.reconnect(time, start)
        self.robot.cycle.restart(time, self.robot.cycle.setpoint, waiting=True)

    def _fail(self, time: float) -> None:
        since = -math.inf if self.moved is None else time - self.moved
        active: set[str] = {each.kind for each in self.faults if _fault_lasts(since, each.at, each.lasts)}
        begun, over, self.active = active - self.active, self.active - active, active
        self.errors.frozen, self.errors.not_a_number = "sensor-frozen" in active, "sensor-nan" in active
        self.sensor.fail("sensor-status" in active)
        self.sensor.stall("sensor-stalled" in active)
        if "sensor-restart" in begun:
            self.sensor.restart(time)
        if "robot-status" in begun | over:
            self.robot.fail("robot-status" in active)
        if "emergency-stop" in begun:
            self.robot.stop("emergency stop")
        if "robot-restart" in over:
            self.reset(time)


def _fault_lasts(time: float, at: float, lasts: float | None) -> bool:
    """Return whether a fault is there."""
    return at <= time < at + (math.inf if lasts is None else lasts)


def sensor_settings(section: EmulatedSensorSection) -> SensorSettings:
    """Return the errors of a table."""

    def three(values: Sequence[float]) -> tuple[float, float, float]:
        x, y, z = values
        return x, y, z

    def most(value: float | None) -> float:
        return math.inf if value is None else value

    return SensorSettings(
        force_bias=three(section.bias),
        torque_bias=three(section.torque_bias),
        force_drift=three(section.drift),
        torque_drift=three(section.torque_drift),
        force_step=section.resolution,
        torque_step=section.torque_resolution,
        largest_force=most(section.saturation),
        largest_torque=most(section.torque_saturation),
    )


def pose_of(heard: Heard) -> ToolPose:
    """Return what the encoders say, for a robot's codec."""
    x, y, z, *turn = heard.values.tolist()
    return ToolPose((x, y, z), tuple(turn))


def wanted_of(robot: EmulatedRobot) -> Float[np.ndarray, "6"]:
    """Return where an emulated robot shall be."""
    wanted = robot.cycle.wanted
    return np.array([*wanted.position, *wanted.rotation_vector])
