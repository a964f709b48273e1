"""Compensators by the names that a scenario gives them.

Units: those of the laws.
Source: that of each law, named in its own file.
"""

from __future__ import annotations

from dockdyn.hil.compensators.command_lead import CommandLead
from dockdyn.hil.compensators.compensator import Compensator
from dockdyn.hil.compensators.energy_layer import EnergyLayer
from dockdyn.hil.compensators.fixed_gain import FixedGain
from dockdyn.hil.compensators.force_lead import ForceLead
from dockdyn.hil.compensators.lead_energy import LeadEnergy
from dockdyn.hil.compensators.linear_gain import LinearGain
from dockdyn.hil.compensators.online_stiffness import OnlineStiffness
from dockdyn.hil.compensators.passivity import Passivity
from dockdyn.hil.compensators.variable_gain import VariableGain
from dockdyn.hil.compensators.velocity_acceleration import VelocityAcceleration
from dockdyn.hil.velocity_sources import (
    FilteredDifference,
    ModelVelocity,
    RobotVelocity,
    TrackingDifferentiator,
    VelocitySource,
)

COMPENSATORS: dict[str, type[Compensator]] = {
    "fixed-gain": FixedGain,
    "linear-gain": LinearGain,
    "variable-gain": VariableGain,
    "velocity-acceleration": VelocityAcceleration,
    "force-lead": ForceLead,
    "online-stiffness": OnlineStiffness,
    "passivity": Passivity,
    "command-lead": CommandLead,
    "energy-layer": EnergyLayer,
    "lead-energy": LeadEnergy,
}
VELOCITIES: dict[str, type[VelocitySource]] = {
    "model": ModelVelocity,
    "robot": RobotVelocity,
    "tracking-differentiator": TrackingDifferentiator,
    "filtered-difference": FilteredDifference,
}
__all__ = ["COMPENSATORS", "VELOCITIES"]
