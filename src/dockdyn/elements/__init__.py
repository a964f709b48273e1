"""Force elements between two bodies: struts, bushings, cables, magnets; what acts in joints and modes; thrusters.

Units: SI.
Source: each file names what it follows.
"""

from dockdyn.elements.actor import Actor, ElementMemory
from dockdyn.elements.anchor_line import AnchorLine, Anchors
from dockdyn.elements.brake import Brake
from dockdyn.elements.bushing import Bushing
from dockdyn.elements.cable import Cable
from dockdyn.elements.element_group import ElementGroup
from dockdyn.elements.end_stops import EndStops
from dockdyn.elements.force_element import Action, ForceElement
from dockdyn.elements.grip import Compliant, Rigid, first_swing
from dockdyn.elements.hexapod import hexapod_anchors
from dockdyn.elements.joint_drive import JointDrive
from dockdyn.elements.latch import Latch, LatchMode
from dockdyn.elements.magnet import Magnet
from dockdyn.elements.modal_spring import ModalSpring
from dockdyn.elements.one_sided_spring import OneSidedSpring, one_sided
from dockdyn.elements.pull import GapPull, Pull, TabulatedPull
from dockdyn.elements.strut import Strut, StrutMode
from dockdyn.elements.thruster import Thruster
from dockdyn.elements.tree_springs import TreeSprings

__all__ = [
    "Action",
    "Actor",
    "AnchorLine",
    "Anchors",
    "Brake",
    "Bushing",
    "Cable",
    "Compliant",
    "ElementGroup",
    "ElementMemory",
    "EndStops",
    "ForceElement",
    "GapPull",
    "JointDrive",
    "Latch",
    "LatchMode",
    "Magnet",
    "ModalSpring",
    "OneSidedSpring",
    "Pull",
    "Rigid",
    "Strut",
    "StrutMode",
    "TabulatedPull",
    "Thruster",
    "TreeSprings",
    "first_swing",
    "hexapod_anchors",
    "one_sided",
]
