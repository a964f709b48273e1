"""Controllers of joints, bodies and actuators.

Units: SI units.
Source: that of each law, named in its own file.
"""

from dockdyn.control.actuators import Actuators
from dockdyn.control.body_control import BodyControl
from dockdyn.control.controller import Command, Controller, FreeBody, Measured
from dockdyn.control.detumble import Detumble
from dockdyn.control.joint_control import JointControl
from dockdyn.control.lqr import Regulator
from dockdyn.control.pose_control import PoseControl
from dockdyn.control.reaction_null_space import ReactionNullSpace
from dockdyn.control.reference import InertialReference, TargetReference
from dockdyn.control.sampled import SampledControl
from dockdyn.control.set_points import SetPoints
from dockdyn.control.thrusters import OnOff, PulseWidth, Thrusters

__all__ = [
    "Actuators",
    "BodyControl",
    "Command",
    "Controller",
    "Detumble",
    "FreeBody",
    "InertialReference",
    "JointControl",
    "Measured",
    "OnOff",
    "PoseControl",
    "PulseWidth",
    "ReactionNullSpace",
    "Regulator",
    "SampledControl",
    "SetPoints",
    "TargetReference",
    "Thrusters",
]
