"""A rig in lockstep whose laboratory is another one than its computer takes it to be, and the log of it, for tests."""

import numpy as np
from driven_rigs import driver

from dockdyn.hil.operation import OperationState, Request
from dockdyn.hil.supervisor import Cause
from dockdyn.realtime.exchange import pad_to_six_axes
from dockdyn.realtime.lockstep import ComputerInSteps, LaboratoryInSteps
from dockdyn.realtime.rig_log import RigLogWriter
from dockdyn.realtime.ring import record_type
from dockdyn.rig.measures import MeasuredMotion, motion_measures

WAY = {OperationState.IDLE: Request.HOME, OperationState.HOMED: Request.ARM, OperationState.ARMED: Request.RUN}


def experiment(believed, true, file):
    """The cycles in which the virtual spacecraft move, of a computer of one scenario that drives the laboratory of another.

    It homes, arms, goes to where the run begins, runs to the end and stops; all cycles are written to a log.
    """
    own, other = driver(believed), driver(true)
    step = own.cycle()
    computer, laboratory = ComputerInSteps(step, own.axes), LaboratoryInSteps(other.laboratory(), own.axes)
    record = np.zeros((), record_type(step))
    rows, state = [], OperationState.IDLE
    with file.open("wb") as binary:
        log = RigLogWriter(binary, record.dtype, believed.text())
        while not (rows and state == OperationState.IDLE and rows[-1]["cause"]):
            found = computer.answer(*laboratory.tell(), request=WAY.get(state, Request.NONE))
            laboratory.take(pad_to_six_axes(found["command"]))
            record["time"] = round(len(rows) * own.period * 1e9)
            record["inputs"], record["outputs"] = computer.stepper.inputs, found
            log.write(record[()], len(rows), 0)
            rows.append(found)
            state = OperationState(found["state"])
            assert state != OperationState.FAULT, f"stopped: {Cause(found['cause']).name}"
        log.finish(0)
    found = np.array(rows)
    return found[(found["state"] == OperationState.RUNNING) & (found["tick"] > 0)]


def restitution(found, run):
    """Of the first bounce on the rig and, from a run of its scenario, without rig."""
    time = run.time.values[: len(found["position"])]
    found = found[: len(time)]
    period = time[1] - time[0]
    ideal = MeasuredMotion(*(run[f"ideal_{name}"].values[: len(found)] for name in ("position", "velocity", "force")))
    velocity = np.gradient(found["position"], period, axis=0)
    rig = MeasuredMotion(found["position"], velocity, found["load"][:, :3])
    numbers = motion_measures(time, ideal, rig, np.nan, bilateral=False)
    return float(numbers["apparent_restitution"]), float(numbers["ideal_restitution"])
