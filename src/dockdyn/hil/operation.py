"""The operation of a rig that is driven: its states, and what an operator asks for.

Units: none.
Source: own construction.
"""

from __future__ import annotations

from enum import IntEnum


class OperationState(IntEnum):
    """Where the operation is."""

    IDLE = 0  # the robot is held where the encoders first were
    HOMED = 1  # sensor and robot are well
    ARMED = 2  # it goes, gently, to where the run begins, and waits there
    RUNNING = 3  # it comes up to the approach's speed, then the virtual spacecraft move
    STOPPING = 4  # it brakes
    FAULT = 5  # it stands, and stays so


class Request(IntEnum):
    """What the operator asks for."""

    NONE = 0
    HOME = 1
    ARM = 2
    RUN = 3
    STOP = 4
