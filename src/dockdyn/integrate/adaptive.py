"""Adaptive integration of models without events: explicit Runge–Kutta of eighth order, or an implicit method.

Units: times s, states in those of the model.
Source: Dormand and Prince's method of order eight and Kværnø's of order five, as in Diffrax; Hairer, Nørsett and
Wanner.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

from dockdyn.deferred import Array, Float, Int, jax
from dockdyn.integrate.model import Model, Scalar, State, pack_tree, unpack_tree

Method = Literal["dopri8", "kvaerno5"]
SHORTEST = 1e-16  # of the last time: a step this short does not advance time there
FIRST = 1e-2  # of the first interval: the first step, for the controller to correct


class Adapted(NamedTuple):
    """States at the times asked for."""

    states: State  # a leading axis of times
    steps: Int[Array, ""]
    rejected: Int[Array, ""]
    finished: Any  # bool
    exhausted: Any  # bool: it took too many steps, or too short ones


def solve_adaptively(
    model: Model,
    times: Float[Array, "times"],
    tolerance: Float[Array, ""],
    start: State,
    method: Method = "dopri8",
    most_steps: int = 1_000_000,
) -> Adapted:
    """Integrate from `start` at times[0] to times[-1], relative and absolute error of a step below `tolerance`, in at
    most `most_steps` steps, rejected ones included.

    Modes stay as they are; forces act at once (no delay). What lies after a failure is not finite.
    """
    import diffrax  # which takes long to load, and need not be there where the program is kept

    moving = (start.q, start.v, start.memory)

    # one row of numbers: the program that advances it is much smaller than one for every part of a state
    def state(row: Float[Array, "n"]) -> State:
        q, v, memory = unpack_tree(row, moving)
        return model.retract(State(q, v, start.mode, memory))

    @jax.jit  # so that it is traced once
    def rate(t: Scalar, row: Float[Array, "n"], _: None) -> Float[Array, "n"]:
        x = state(row)
        return pack_tree(tuple(model.flow(t, x, model.signal(t, x))))

    solver: Any = diffrax.Dopri8() if method == "dopri8" else diffrax.Kvaerno5()
    found = diffrax.diffeqsolve(
        diffrax.ODETerm(rate),
        solver,
        times[0],
        times[-1],
        (times[1] - times[0]) * FIRST,
        pack_tree(moving),
        saveat=diffrax.SaveAt(ts=times),
        stepsize_controller=diffrax.PIDController(
            rtol=tolerance, atol=tolerance, dtmin=SHORTEST * times[-1], force_dtmin=False
        ),
        max_steps=most_steps,
        throw=False,
        adjoint=diffrax.ForwardMode(),
    )
    assert found.ys is not None
    states = jax.vmap(state)(found.ys)
    stats = found.stats
    finished = found.result == diffrax.RESULTS.successful
    results = diffrax.RESULTS
    exhausted = (found.result == results.max_steps_reached) | (found.result == results.dt_min_reached)
    return Adapted(states, stats["num_accepted_steps"], stats["num_rejected_steps"], finished, exhausted)
