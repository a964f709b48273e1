"""Motions in time: what a model is, and the integrators that move it.

Units: times s, states in those of the model.
Source: that of each integrator, named in its own file.
"""

from dockdyn.integrate.hybrid.located import Settings, solve_located
from dockdyn.integrate.model import Model, Rate, State
from dockdyn.integrate.solution import Solution, Status

__all__ = [
    "Model",
    "Rate",
    "Settings",
    "Solution",
    "State",
    "Status",
    "solve_located",
]
