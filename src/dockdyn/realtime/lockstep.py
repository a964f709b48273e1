"""A rig's computer and its laboratory in lockstep: cycle by cycle, without a clock, if wished through its devices' bytes."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from dockdyn.hil.operation import Request
from dockdyn.realtime.device_kinds import Devices, EmulatedRobot, EmulatedSensor
from dockdyn.realtime.device_library import DeviceLibrary
from dockdyn.realtime.devices.device import PacketError, Pose
from dockdyn.realtime.exchange import Heard, whole
from dockdyn.results.driver import Driver, Laboratory
from dockdyn.translate.c_library import Stepper
from dockdyn.translate.c_step import CStep


class LaboratoryInSteps:
    """A laboratory that goes on when it is told to."""

    def __init__(self, laboratory: Laboratory, axes: int):
        """Raises NoCompiler without a C compiler."""
        self.stepper, self.chances, self.axes = Stepper(laboratory.step), laboratory.chances, axes
        self.told, self.cycle = laboratory.first, 0

    def tell(self) -> tuple[Heard, Heard]:
        """What sensor and encoders say in this cycle."""
        load, pose = (Heard(whole(self.told[name]), self.cycle) for name in ("load", "pose"))
        return load, pose

    def take(self, command: Float[np.ndarray, "6"] | None) -> None:
        """The command (m, rad) of this cycle, or none; then the next cycle begins."""
        given = self.stepper.inputs
        given["send"] = command is not None
        if command is not None:
            given["command"] = command[: self.axes]
        for name, rows in (self.chances or {}).items():
            given[name] = rows[self.cycle % len(rows)]
        self.cycle += 1
        self.stepper.advance()
        self.told = {name: self.stepper.outputs[name].copy() for name in ("load", "pose")}


class ComputerInSteps:
    """A computer that goes on when it is told something."""

    def __init__(self, step: CStep, axes: int):
        """Raises NoCompiler without a C compiler."""
        self.stepper, self.axes = Stepper(step), axes
        for name in ("load_count", "pose_count"):
            self.stepper.inputs[name] = -1

    def answer(
        self, load: Heard | None, pose: Heard | None, request: Request = Request.NONE, held: bool = True, late: int = 0
    ) -> np.ndarray:
        """All that a cycle puts out; a device that says nothing is None."""
        given = self.stepper.inputs
        for name, heard in (("load", load), ("pose", pose)):
            if heard is not None:
                given[name], given[f"{name}_count"], given[f"{name}_status"] = (
                    heard.values[: self.axes],
                    heard.sequence,
                    heard.status,
                )
        given["request"], given["held"], given["late"] = int(request), held, late
        self.stepper.advance()
        return self.stepper.outputs.copy()


def run_in_lockstep(driver: Driver, cycles: int, devices: Devices | None = None) -> np.ndarray:
    """What the computer puts out in so many cycles of a run that goes on from t = 0, a row each.

    With `devices` all goes through the bytes of their protocols: codecs in C on the one side, emulated devices on the other.
    Raises ScenarioError for a rig that cannot be driven, NoCompiler without a C compiler.
    """
    computer = ComputerInSteps(driver.cycle(running=True), driver.axes)
    laboratory = LaboratoryInSteps(driver.laboratory(following=True), driver.axes)
    wire = None if devices is None else Wire(devices, laboratory)
    rows = []
    for _ in range(cycles):
        heard = laboratory.tell() if wire is None else wire.tell()
        found = computer.answer(*heard)
        rows.append(found)
        command = whole(found["command"])
        laboratory.take(command if wire is None else wire.arrive(command))
    return np.array(rows)


class Wire:
    """The bytes between a computer and the emulated devices of a laboratory."""

    def __init__(self, devices: Devices, laboratory: LaboratoryInSteps):
        self.library, self.laboratory, self.period = DeviceLibrary(devices), laboratory, devices.period
        self.sensor, self.robot = devices.emulate(pose_of(laboratory.tell()[1]))
        if asked := self.library.start_sensor():
            self.sensor.receive(0.0, asked)

    def tell(self) -> tuple[Heard | None, Heard | None]:
        """What arrives of the devices in this cycle."""
        load, pose = self.laboratory.tell()
        time = self.laboratory.cycle * self.period
        readings = [self.library.decode_reading(packet) for packet in sensed(self.sensor, time, load)]
        poses = [self.library.decode_pose(packet) for packet in self.robot.tick(time, pose_of(pose))]
        return _newest(readings), _newest(poses)

    def arrive(self, command: Float[np.ndarray, "6"]) -> Float[np.ndarray, "6"]:
        """The command as the robot has it."""
        time = self.laboratory.cycle * self.period
        self.robot.receive(time, self.library.encode_command(command, round(1000 * time)))
        return wanted_of(self.robot)


def _newest(heard: list[Heard | PacketError]) -> Heard | None:
    """The last of several that is no error."""
    return next((one for one in reversed(heard) if isinstance(one, Heard)), None)


def pose_of(heard: Heard) -> Pose:
    """What the encoders say, for a robot's codec."""
    x, y, z, *turn = heard.values.tolist()
    return Pose((x, y, z), tuple(turn))


def sensed(sensor: EmulatedSensor, time: float, heard: Heard) -> list[bytes]:
    """What an emulated sensor sends of a load."""
    fx, fy, fz, *torque = heard.values.tolist()
    return sensor.tick(time, (fx, fy, fz), tuple(torque))


def wanted_of(robot: EmulatedRobot) -> Float[np.ndarray, "6"]:
    """Where an emulated robot shall be."""
    wanted = robot.cycle.wanted
    return np.array([*wanted.position, *wanted.rotation_vector])
