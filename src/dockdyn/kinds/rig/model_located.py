"""Motion between two instants of a rig, every event in it located.

Units: times s, states in those of the model.
Source: own construction on the located integration.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp

from dockdyn.integrate.hybrid import located
from dockdyn.integrate.hybrid.mesh_point import evaluate
from dockdyn.integrate.model import Model, Scalar, State
from dockdyn.integrate.solution import Status

TOLERANCE = 1e-11  # relative error of a step
MOST_CHANGES = 64  # events between two instants; where there are more, the run stops
MOST_STEPS = 100_000.0  # likewise


def solved(model: Model, start: State, begun: Scalar, length: Scalar) -> State:
    """The state a `length` (s) after that of the `start`, which is one of the time `begun` (s).

    Where it cannot be solved, it is not a number.
    """
    settings = located.Settings(
        duration=begun + length,
        step=length,
        tolerance=jnp.asarray(TOLERANCE),
        sampling=jnp.ones(()),
        samples=0,
        max_moments=MOST_CHANGES,
        line_capacity=1,
        max_iterations=MOST_STEPS,
    )
    solver = located.init(model, settings, start, begun)
    rate = model.flow(begun, start, solver.point.outputs.signal)
    solver = solver._replace(
        point=evaluate(model, begun, start, rate),
        refresh=jnp.asarray(False),
        status=jnp.where(length > 0, Status.RUNNING, Status.FINISHED),
    )
    solver = located.advance(model, settings, solver, settings.max_iterations)
    good, x = solver.status == Status.FINISHED, solver.point.state
    q, v, memory = jax.tree.map(lambda a: jnp.where(good, a, jnp.nan), (x.q, x.v, x.memory))
    return State(q, v, x.mode, memory)
