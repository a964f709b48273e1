"""Compensators by the names that a scenario gives them.

Units: those of the laws.
Source: that of each law, named in its own file.
"""

from __future__ import annotations

from dockdyn.loop.compensator import Compensator
from dockdyn.loop.compensators.command_lead import CommandLead
from dockdyn.loop.compensators.energy_layer import EnergyLayer
from dockdyn.loop.compensators.fixed_gain import FixedGain
from dockdyn.loop.compensators.force_lead import ForceLead
from dockdyn.loop.compensators.lead_energy import LeadEnergy
from dockdyn.loop.compensators.linear_gain import LinearGain
from dockdyn.loop.compensators.online_stiffness import OnlineStiffness
from dockdyn.loop.compensators.passivity import Passivity
from dockdyn.loop.compensators.variable_gain import VariableGain
from dockdyn.loop.compensators.velocity_acceleration import VelocityAcceleration
from dockdyn.loop.velocity_sources import (
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
