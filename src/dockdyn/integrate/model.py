"""The interface every model shares: a hybrid system with a delay. It flows, it jumps, and it answers questions.

Units: times s, everything else in those of the model.
Source: definition of the interface.
"""

from __future__ import annotations

import abc
from collections.abc import Callable
from typing import Any, NamedTuple, Self

from dockdyn.deferred import Array, Bool, Float, Int, PyTree, jax, jnp
from dockdyn.programs import over_rows, trace_once
from dockdyn.trees import AbstractVar, Module, flatten, leaves_of, leaves_with_paths, map_leaves, path_text, unflatten

TURN = 0.01  # rad a step; then cubics and steps follow an attitude to 1e-12
type Scalar = Float[Array, ""]
type Flag = Bool[Array, ""]


class State(Module):
    """State of a model; shapes are fixed for the whole run."""

    q: Any  # configuration (may hold quaternions)
    v: Any  # velocity
    mode: Any  # integers: touching, latched, locked ...
    memory: Any  # further continuous states: accumulated work, loop blocks, controllers


class Rate(NamedTuple):
    """Time derivative of the continuous part of a state, with the same structure."""

    q: Any
    v: Any
    memory: Any


class Outputs(NamedTuple):
    """What a model answers at an instant, in one evaluation."""

    signal: Any  # what the delay line stores (contact forces, say): a tree of scalars
    guards: tuple[Scalar, ...]  # event functions: an event fires when one rises through zero
    monitored: tuple[Scalar, ...]  # quantities whose peaks and integrals are kept between events
    corners: tuple[Scalar, ...] = ()  # where one is zero rates or the signal have a corner: there a step ends


class Model(Module):
    """A hybrid system with a delay. `delayed` is the `signal` of one delay ago, or of now when `delay` is None."""

    delay: AbstractVar[Any]  # s, positive; None: the signal acts at once

    @abc.abstractmethod
    def initial(self) -> State:
        """Return the state at t = 0."""

    @abc.abstractmethod
    def flow(self, t: Scalar, x: State, delayed: PyTree) -> Rate:
        """Return the time derivative at time `t` (s)."""

    @abc.abstractmethod
    def outputs(self, t: Scalar, x: State) -> Outputs:
        """Return signal, guards and monitored quantities at time `t` (s)."""

    def signal(self, t: Scalar, x: State) -> PyTree:
        """Return the signal of `outputs` alone, for stages of a step that need no more."""
        return self.outputs(t, x).signal

    def integrands(self, t: Scalar, x: State) -> tuple[tuple[Scalar, ...], tuple[Scalar, ...]]:
        """Return the first and the last of the monitored quantities: those whose integrals are of use."""
        return self.outputs(t, x).monitored, ()

    @abc.abstractmethod
    def jump(self, t: Scalar, x: State, fired: tuple[Bool[Array, ""], ...]) -> State:
        """Return the state after the guards in `fired` have fired."""

    def names(self) -> list[str]:
        """Return names of the continuous states, in the order of the leaves of (q, v, memory)."""
        x = self.initial()
        return [path_text(path) for path, _ in leaves_with_paths((x.q, x.v, x.memory))]

    @property
    def driven(self) -> bool:
        """Whether the signal follows time more than the state, so that the error of a step is that of its quadrature."""
        return False

    @property
    def timed(self) -> int | None:
        """How many of the monitored quantities, the first ones, have peaks whose times matter; None: all."""
        return None

    def emitting(self, x: State) -> Bool[Array, ""]:
        """Return whether the signal may differ from zero in the modes of `x`."""
        return jnp.asarray(True)

    def next_tick(self, x: State) -> Scalar | None:
        """Return the next instant (s) at which a clock acts, as that of a computer that samples and holds; None: there is none.

        A step ends exactly there. It is no event: it is not logged.
        """
        return None

    def tick(self, t: Scalar, x: State) -> State:
        """Return the state after the clock has acted at `t`, the `next_tick` of `x`; configuration and velocity stay."""
        return x

    def ended(self, x: State) -> Flag | None:
        """Return whether the run ends with the event that led to `x`, or as it begins there; None: nothing of the kind ends
        it."""
        return None

    def coasting(self, x: State, now: Outputs) -> Scalar | None:
        """Return the time (s) within which no guard rises and falls again and no signal differs from zero; steps may then be so
        long.

        `now` are the outputs at `x`. None promises nothing.
        """
        return None

    def time_foreseen(self, x: State, now: Outputs, wanted: Flag) -> Scalar | None:
        """Return the time (s) for which parts of the motion go on from `x` as closed forms tell, zero where they do not, or it
        is not `wanted`; None: there are no such parts.

        `now` are the outputs at `x`.
        """
        return None

    def foresee(self, start: State, x: State, time: Scalar) -> State:
        """Return `x` with these parts as they are a `time` (s) after `start`."""
        return x

    def without_foreseen(self, change: Rate) -> Rate:
        """Return a `change` (a tree like a rate) with zeros for these parts."""
        return change

    def ungated(self, x: State) -> State:
        """Return `x` for fixed-step runs, where no event decides the modes."""
        return x

    def gated(self, x: State) -> State:
        """Return `x` with the modes of contacts that its depths and forces tell, for fixed-step runs that keep a log."""
        return x

    def first_hints(self) -> PyTree:
        """Return what a solver keeps from step to step for the model to answer sooner; None where there is nothing of the
        kind. No answer depends on it by more than a millionth."""
        return None

    def renew_hints(self, x: State, hints: PyTree, exact: bool = False) -> PyTree:
        """Return these where a step begins with `x`, or, `exact`, where that is observed."""
        return hints

    def with_hints(self, hints: PyTree) -> Self:
        """Return the model that answers by them, for states near the one for which they were renewed at last."""
        return self

    def relative_size(self, x: State, change: Rate) -> Scalar:
        """Return size of a small `change` of velocity and memory (a tree like a rate) relative to the motion itself."""
        motion = sum(jnp.sum(leaf**2) for leaf in leaves_of(x.v))
        size = sum(jnp.sum(leaf**2) for leaf in leaves_of(change.v))
        return jnp.sqrt(size / jnp.maximum(motion, 1e-300))

    def retract(self, x: State) -> State:
        """Return `x` brought back onto its manifold (unit quaternions, say)."""
        return x

    @property
    def settles(self) -> bool:
        """Whether anything is decided anew at each step's end."""
        return False

    @property
    def asks_for_steps(self) -> bool:
        """Whether what is decided at each step's end depends on how long the step is."""
        return False

    @property
    def parts_steeply(self) -> bool:
        """Whether a force changes ever faster, without bound, towards an event, as where bodies part that adhere."""
        return False

    def flowing(self) -> Self:
        """Return the model for steps of any length: what it remembers has rates, and is decided at events alone."""
        return self

    def decisions(self, x: State) -> Float[Array, "decisions"]:
        """Return event functions of a model that is `flowing` that rise through zero where it is decided what it remembers."""
        return jnp.zeros(0)

    def settled(self, x: State) -> State:
        """Return `x`, where a step ends, with what is decided anew at each step's end, such as which slices of a contact have
        slipped. It changes neither signal nor rates there."""
        return x

    def end_step(self, x: State) -> State:
        """Return the state at a step's end from what the step's formula gives."""
        return self.settled(self.retract(x))

    def within_step(self, start: State, x: State) -> State:
        """Return a state `x` between the ends of a step that began with `start`, with what stays within a step."""
        return x


class ContactModel(Model):
    """A model with contacts that come and go, of which a run tells by what is observed of them."""

    @abc.abstractmethod
    def observe(self, x: State, delayed: PyTree) -> dict[str, Array]:
        """Return named quantities of a state, arrays of any shape; `delayed` is the signal that acts in it, as in `flow`.

        Among them must be, of shape (contacts,): `depth` (m, positive is overlap), `depth_rate` (m/s) and `normal_force`
        (N) where it is generated. What else there is decides what the dataset of a run can hold.
        """


@trace_once
def advance_state(x: State, step: Scalar, rate: Rate) -> State:
    """Return x + step · rate, modes unchanged."""
    q, v, memory = map_leaves(lambda a, b: a + step * b, (x.q, x.v, x.memory), tuple(rate))
    return State(q, v, x.mode, memory)


@trace_once
def choose_tree(condition: Bool[Array, ""], yes: PyTree, no: PyTree) -> PyTree:
    """Return the tree `yes` where `condition` holds, else `no`."""
    return map_leaves(lambda a, b: jnp.where(condition, a, b), yes, no)


def jacobian_by_columns(function: Callable[[Array], Array], at: Float[Array, "n"]) -> Float[Array, "m n"]:
    """Return the derivative of `function`, of an array to an array, column by column as `over_rows` takes them."""
    return over_rows(lambda along: jax.jvp(function, (at,), (along,))[1], jnp.eye(at.shape[0])).T


def stack_rows(items: list[Float[Array, "*shape"]], width: int = 0) -> Float[Array, "items *shape"]:
    """Return the items stacked; an empty list gives no rows of the right width."""
    return jnp.stack(items) if items else jnp.zeros((0, width) if width else 0)


def pack_tree(tree: PyTree) -> Float[Array, "n"]:
    """Return all numbers of a tree in one row."""
    leaves = [jnp.ravel(jnp.asarray(leaf, float)) for leaf in leaves_of(tree)]
    return jnp.concatenate(leaves) if leaves else jnp.zeros(0)


def unpack_tree(row: Float[Array, "n"], like: PyTree) -> PyTree:
    """Return the tree that `pack_tree` made a row of, with the structure and types of `like`."""
    leaves, structure = flatten(like)
    out, at = [], 0
    for leaf in leaves:
        out.append(jnp.reshape(row[at : at + leaf.size], leaf.shape).astype(leaf.dtype))
        at += leaf.size
    return unflatten(structure, out)


def write_row(
    rows: Float[Array, "rows columns"], count: Int[Array, ""], when: Flag, row: Float[Array, "columns"]
) -> tuple[Float[Array, "rows columns"], Int[Array, ""]]:
    """Return `rows` with `row` at `count` where `when` holds (else in the scratch row), and the new count."""
    at = jnp.where(when, count, rows.shape[0] - 1)
    return jax.lax.dynamic_update_index_in_dim(rows, row, at, 0), count + when.astype(int)
