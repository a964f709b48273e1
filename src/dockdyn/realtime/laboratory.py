"""The laboratory of a rig, cycle by cycle, without a clock."""

from __future__ import annotations

import numpy as np

from dockdyn.deferred import Float
from dockdyn.realtime.exchange import Heard, pad_to_six_axes
from dockdyn.results.driver import Laboratory
from dockdyn.translate.c_library import LibraryStepper


class LaboratoryInSteps:
    """A laboratory that goes on when it is told to."""

    def __init__(self, laboratory: Laboratory, axes: int):
        """Raises NoCompiler without a C compiler."""
        self.stepper, self.chances, self.axes = LibraryStepper(laboratory.step), laboratory.chances, axes
        self.told, self.cycle = laboratory.first, 0

    def tell(self) -> tuple[Heard, Heard]:
        """Return what sensor and encoders say in this cycle."""
        load, pose = (Heard(pad_to_six_axes(self.told[name]), self.cycle) for name in ("load", "pose"))
        return load, pose

    def take(self, command: Float[np.ndarray, "6"] | None) -> None:
        """Take the command (m, rad) of this cycle, or none; then the next cycle begins."""
        given = self.stepper.inputs
        given["send"] = command is not None
        if command is not None:
            given["command"] = command[: self.axes]
        for name, rows in (self.chances or {}).items():
            given[name] = rows[self.cycle % len(rows)]
        self.cycle += 1
        self.stepper.advance()
        self.told = {name: self.stepper.outputs[name].copy() for name in ("load", "pose")}
