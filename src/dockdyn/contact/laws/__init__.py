"""Normal forces of a contact as functions of depth and rate, and its friction.

Units: depth m, rate m/s, force N.
Source: that of each law, named in its own file.
"""

from dockdyn.contact.laws.bristles import Bristles
from dockdyn.contact.laws.compliance_device import ComplianceDevice
from dockdyn.contact.laws.coulomb import Coulomb
from dockdyn.contact.laws.dmt import Dmt
from dockdyn.contact.laws.elastic_plastic import ElasticPlastic
from dockdyn.contact.laws.force_stroke import ForceStroke
from dockdyn.contact.laws.friction import Friction
from dockdyn.contact.laws.hertz import Hertz
from dockdyn.contact.laws.hunt_crossley import HuntCrossley
from dockdyn.contact.laws.jkr import Jkr
from dockdyn.contact.laws.lugre import LuGre
from dockdyn.contact.laws.measured_force import MeasuredForce
from dockdyn.contact.laws.normal_law import NormalLaw
from dockdyn.contact.laws.parallel import Parallel
from dockdyn.contact.laws.preloaded import Preloaded
from dockdyn.contact.laws.spring_dashpot import SpringDashpot
from dockdyn.contact.laws.stick_slip import StickSlip
from dockdyn.contact.laws.thornton import Thornton
from dockdyn.contact.laws.yielding_law import YieldingLaw
from dockdyn.contact.laws.zener import Zener

__all__ = [
    "Bristles",
    "ComplianceDevice",
    "Coulomb",
    "Dmt",
    "ElasticPlastic",
    "ForceStroke",
    "Friction",
    "Hertz",
    "HuntCrossley",
    "Jkr",
    "LuGre",
    "MeasuredForce",
    "NormalLaw",
    "Parallel",
    "Preloaded",
    "SpringDashpot",
    "StickSlip",
    "Thornton",
    "YieldingLaw",
    "Zener",
]
