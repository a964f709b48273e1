"""Hardware in the loop: the sensor, the robot and the compensators of a docking rig.

Units: SI units.
Source: Sazawal et al. and the pages on delays of a rig; each file names what it follows.
"""

from dockdyn.hil.compensators import COMPENSATORS, Compensator
from dockdyn.hil.compensators.compensator import Compensation, CompensatorInput
from dockdyn.hil.energy_observer import PortEnergy
from dockdyn.hil.hybrid_contact import VirtualContact
from dockdyn.hil.mounting import Mounting, SensorFrame, Tool
from dockdyn.hil.robot import RobotAxes
from dockdyn.hil.sensor import SensorModel

__all__ = [
    "COMPENSATORS",
    "Compensation",
    "Compensator",
    "CompensatorInput",
    "Mounting",
    "PortEnergy",
    "RobotAxes",
    "SensorFrame",
    "SensorModel",
    "Tool",
    "VirtualContact",
]
