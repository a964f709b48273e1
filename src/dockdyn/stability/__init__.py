"""Margins of loops with delays and sampling. Knows nothing of spacecraft: it takes models, functions and matrices.

Units: SI throughout; dimensionless where a function says so.
Source: that of each function, named in its own file.
"""

from dockdyn.stability.chart import chart_growth
from dockdyn.stability.growth import growth_rates, loop_roots
from dockdyn.stability.linearise import linearise_model, split_by_delayed_terms
from dockdyn.stability.loop import make_loop
from dockdyn.stability.pade import loop_polynomial, pade_delay, pade_hold
from dockdyn.stability.roots import rightmost_roots
from dockdyn.stability.routh import routh_array
from dockdyn.stability.sampled_loop import sampled_loop
from dockdyn.stability.second_order import critical_delay, crossing_frequency, crossing_velocity
from dockdyn.stability.transfer_function import TransferFunction
from dockdyn.stability.windows import stable_windows

__all__ = [
    "TransferFunction",
    "chart_growth",
    "critical_delay",
    "crossing_frequency",
    "crossing_velocity",
    "growth_rates",
    "linearise_model",
    "loop_polynomial",
    "loop_roots",
    "make_loop",
    "pade_delay",
    "pade_hold",
    "rightmost_roots",
    "routh_array",
    "sampled_loop",
    "split_by_delayed_terms",
    "stable_windows",
]
