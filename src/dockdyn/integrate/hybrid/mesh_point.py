"""A mesh point of the event-located integration: the state with everything known there.

Units: times s, states in those of the model.
Source: own construction.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from dockdyn.deferred import Array, Bool, PyTree, jax, jnp
from dockdyn.integrate.model import Flag, Model, Outputs, Rate, Scalar, State
from dockdyn.mechanics import cubic
from dockdyn.mechanics.vector import once
from dockdyn.trees import leaves_of, map_leaves

Delayed = Callable[[Scalar, State], Any]

TIME_TOLERANCE = 1e-13  # s per second of elapsed time (at least one): how closely an event is located


def time_tolerance(time: Scalar) -> Scalar:
    """Return how close (s) two times are that are one instant."""
    return TIME_TOLERANCE * jnp.maximum(1.0, time)


class MeshPoint(NamedTuple):
    """Everything known at a mesh point, seen from the step that follows it (or, just reached, that precedes it)."""

    time: Scalar
    state: State
    rate: Rate
    outputs: Outputs
    slopes: Outputs  # time derivatives of `outputs`


def zeros_like(tree: PyTree) -> PyTree:
    """Return a tree of zeros."""
    return map_leaves(jnp.zeros_like, tree)


def evaluate_mesh_point(model: Model, t: Scalar, x: State, rate: Rate) -> MeshPoint:
    """Return the mesh point at (t, x), where the rate is known."""

    def outputs_at(t, q, v, memory):
        return model.outputs(t, State(q, v, x.mode, memory))

    outputs, slopes = jax.jvp(outputs_at, (t, x.q, x.v, x.memory), (jnp.ones(()), rate.q, rate.v, rate.memory))
    return once(MeshPoint(t, x, rate, outputs, slopes))


def interpolate_state(
    model: Model,
    point: MeshPoint,
    at: MeshPoint,
    step: Scalar,
    u: Scalar | float,
    bend: Rate | None,
    foreseen: Flag | None = None,
) -> State:
    """Return the state at the fraction u of the step from `point` to `at`, whose middle lies a `bend` from the cubics'.

    Of a step over which parts of the motion are `foreseen` these are told in closed form.
    """
    ends = [(n.state.q, n.state.v, n.state.memory) for n in (point, at)]
    known = *ends, tuple(point.rate), tuple(at.rate)

    def between(a: Scalar, b: Scalar, da: Scalar, db: Scalar, bend: Scalar | None = None) -> Scalar:
        ends = u, a, b, da * step, db * step
        return cubic.cubic_value(*ends) if bend is None else cubic.bent_value(*ends, bend)

    q, v, memory = map_leaves(between, *known) if bend is None else map_leaves(between, *known, tuple(bend))
    x = model.within_step(point.state, model.retract(State(q, v, point.state.mode, memory)))
    return foresee_where(model, foreseen, point.state, x, u * step)


def foresee_where(model: Model, foreseen: Flag | None, start: State, x: State, time: Scalar) -> State:
    """Return `x`, with what is `foreseen` as it is a `time` (s) after `start`; None: nothing ever is."""
    return x if foreseen is None else jax.lax.cond(foreseen, model.foresee, lambda _, x, __: x, start, x, time)


def finite_numbers(point: MeshPoint) -> PyTree:
    """Return the numbers of a mesh point that must be finite: continuous states, signal, then rates."""
    return (point.state.q, point.state.v, point.state.memory), point.outputs.signal, point.rate


def is_finite(point: MeshPoint) -> Bool[Array, ""]:
    """Return whether every number known at a mesh point is finite."""
    return jnp.isfinite(sum(jnp.sum(number) for number in leaves_of(finite_numbers(point))))


def event_correction(at: MeshPoint, fired: Bool[Array, "guards"]) -> Scalar:
    """Return Newton correction (s) of the time of the event at `at`: zero in value, its derivative in the tangents."""
    guard = slope = jnp.zeros(())
    for i in reversed(range(fired.shape[0])):
        guard = jnp.where(fired[i], at.outputs.guards[i], guard)
        slope = jnp.where(fired[i], at.slopes.guards[i], slope)
    usable = slope != 0
    return jnp.where(usable, -(guard - jax.lax.stop_gradient(guard)) / jnp.where(usable, slope, 1.0), 0.0)
