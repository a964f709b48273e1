"""Where a run ends, to the last bit."""

import numpy as np

from dockdyn.results import unit
from dockdyn.results.methods import settings_of


def end_of_run(content):
    """The time (s) at which the run of a scenario's content ends, and what is observed then: at its last moment, as the last
    sample is interpolated."""
    settings = settings_of(content)
    observed = unit.run_through(content, settings)
    last = int(observed.solution.moments) - 1
    return float(observed.solution.time), {name: np.asarray(rows)[last] for name, rows in observed.at_moments.items()}
