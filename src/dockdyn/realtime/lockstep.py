"""A rig's computer and its laboratory in lockstep: cycle by cycle, through the bytes that go between them, without a clock."""

from __future__ import annotations

import numpy as np

from dockdyn.hil.operation import Request
from dockdyn.realtime.datagrams import (
    Command,
    Pose,
    Reading,
    decode_command,
    decode_pose,
    decode_reading,
    encode_command,
    encode_pose,
    encode_reading,
    whole,
)
from dockdyn.results.driver import Driver, Laboratory
from dockdyn.translate.c_library import Stepper
from dockdyn.translate.c_step import CStep


class LaboratoryInSteps:
    """The laboratory behind its datagrams."""

    def __init__(self, laboratory: Laboratory, axes: int):
        self.stepper, self.chances, self.axes = Stepper(laboratory.step), laboratory.chances, axes
        self.told, self.cycle = laboratory.first, 0

    def tell(self, robot_status: int = 0) -> tuple[bytes, bytes]:
        """What sensor and robot send in this cycle."""
        load, pose = (whole(self.told[name]) for name in ("load", "pose"))
        return encode_reading(Reading(load, self.cycle, 0)), encode_pose(Pose(pose, self.cycle, robot_status))

    def take(self, command: bytes | None) -> None:
        """The command of this cycle, or none; then the next cycle begins."""
        given = self.stepper.inputs
        given["send"] = command is not None
        if command is not None:
            given["command"] = decode_command(command).place[: self.axes]
        for name, rows in (self.chances or {}).items():
            given[name] = rows[self.cycle % len(rows)]
        self.cycle += 1
        self.stepper.advance()
        self.told = {name: self.stepper.outputs[name].copy() for name in ("load", "pose")}


class ComputerInSteps:
    """The computer behind its datagrams."""

    def __init__(self, step: CStep, axes: int):
        self.stepper, self.axes = Stepper(step), axes
        for name in ("load_count", "pose_count"):
            self.stepper.inputs[name] = -1

    def answer(
        self,
        reading: bytes | None,
        pose: bytes | None,
        request: Request = Request.NONE,
        held: bool = True,
        late: int = 0,
    ) -> tuple[bytes | None, np.ndarray]:
        """What goes to the robot, if anything, and all that the cycle puts out; what has not come is None."""
        given = self.stepper.inputs
        if reading is not None:
            given["load"], given["load_count"], given["load_status"] = self._of(decode_reading(reading))
        if pose is not None:
            given["pose"], given["pose_count"], given["pose_status"] = self._of(decode_pose(pose))
        given["request"], given["held"], given["late"] = int(request), held, late
        self.stepper.advance()
        found = self.stepper.outputs.copy()
        if not found["send"]:
            return None, found
        return encode_command(Command(whole(found["command"]), max(int(given["pose_count"]), 0))), found

    def _of(self, message: Reading | Pose) -> tuple[np.ndarray, int, int]:
        return message[0][: self.axes], message.sequence, message.status


def run_in_lockstep(driver: Driver, cycles: int) -> np.ndarray:
    """What the computer puts out in so many cycles of a run that goes on from t = 0, a row each.

    Raises ScenarioError for a rig that cannot be driven, NoCompiler without a C compiler.
    """
    computer = ComputerInSteps(driver.cycle(running=True), driver.axes)
    laboratory = LaboratoryInSteps(driver.laboratory(following=True), driver.axes)
    rows = []
    for _ in range(cycles):
        command, found = computer.answer(*laboratory.tell())
        rows.append(found)
        laboratory.take(command)
    return np.array(rows)
