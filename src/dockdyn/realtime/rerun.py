"""A log played through the cycle that wrote it: whether it answers the same."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dockdyn.realtime.rig_log import LoggedRig, field_of
from dockdyn.translate.c_library import LibraryStepper
from dockdyn.translate.c_step import CStep


class Rerun(NamedTuple):
    """What came of it."""

    cycles: int
    different: int  # cycles with another answer
    first: int | None  # the first of them
    largest: float  # difference of a command, m or rad


def rerun_log(step: CStep, log: LoggedRig) -> Rerun:
    """Play the inputs of a log through a cycle, and compare commands, states and causes with those in it."""
    stepper = LibraryStepper(step)
    compared = ("command", "state", "cause")
    different, first, largest = 0, None, 0.0
    for number, cycle in enumerate(log.cycles):
        for entry in step.inputs:
            stepper.inputs[entry.name] = field_of(cycle, "inputs", entry.name)
        stepper.advance()
        logged = {name: np.asarray(field_of(cycle, "outputs", name)) for name in compared}
        same = all(np.array_equal(stepper.outputs[name], logged[name], equal_nan=True) for name in compared)
        if not same:
            different, first = different + 1, number if first is None else first
            largest = max(largest, float(np.abs(stepper.outputs["command"] - logged["command"]).max()))
    return Rerun(len(log.cycles), different, first, largest)
