"""Controllers of joints, bodies and actuators.

Units: SI units.
Source: that of each law, named in its own file.
"""

from dockdyn.control.actuators import Actuators
from dockdyn.control.body_hold import BodyHold
from dockdyn.control.controller import BodyControl, Command, Controller, FreeBody, Measured
from dockdyn.control.detumble import Detumble
from dockdyn.control.joint_control import JointControl
from dockdyn.control.lqr import Regulator
from dockdyn.control.reaction_null_space import ReactionNullSpace
from dockdyn.control.schedule import Schedule

__all__ = [
    "Actuators",
    "BodyControl",
    "BodyHold",
    "Command",
    "Controller",
    "Detumble",
    "FreeBody",
    "JointControl",
    "Measured",
    "ReactionNullSpace",
    "Regulator",
    "Schedule",
]
