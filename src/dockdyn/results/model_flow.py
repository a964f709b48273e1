"""A model without delay as differential equations with events, for whoever integrates them: flow, guards, jumps, steps' ends.

An event is at a guard that has risen to zero: a host may stop exactly there. What the caller locates it by is its own affair; a
guard that shows itself at or above zero while it falls has had its event.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from dockdyn.deferred import Array, Bool, Float, PyTree, jax, jnp
from dockdyn.integrate.hybrid.mesh_point import evaluate_mesh_point
from dockdyn.integrate.model import Flag, Model, Rate, Scalar, State, pack_tree, stack_rows, unpack_tree
from dockdyn.trees import leaves_of, map_leaves

DUE = 1e-12  # s per second of elapsed time (at least one): so early a clock may act


class SplitState(NamedTuple):
    """A state in parts: the numbers that are integrated, in a row, the modes, and what stays within a step."""

    row: Float[Array, "states"]
    mode: PyTree
    begun: PyTree = (
        None  # the memory as the last step ended, of a model that decides then what stays within the next one
    )


class Jumped(NamedTuple):
    """What an event has done."""

    again: Flag  # another one is due at the same instant
    over: Flag  # the motion has ended
    following: Scalar  # s, when a clock acts next; infinite without one
    motion: SplitState


class Settled(NamedTuple):
    """What the end of a step has decided."""

    asks: Flag  # whether that changes what is integrated, which an event must do
    motion: SplitState


class ModelFlow:
    """The equations of a model, whose states are like `start`; `model` is that of some numbers and inputs, `flowing`."""

    def __init__(self, model: Callable[..., Model], start: State, settles: bool = False):
        self.model, self.settles = model, settles
        self.like = (start.q, start.v, start.memory)

    def names(self, leaves: Sequence[str]) -> list[str]:
        """Return names of the numbers of a row, from those of a model's continuous states, of which some are arrays."""
        sizes = [int(np.size(leaf)) for leaf in leaves_of(self.like)]
        return [
            name if size == 1 else f"{name} {index}"
            for name, size in zip(leaves, sizes, strict=True)
            for index in range(size)
        ]

    def motion(self, x: State) -> SplitState:
        """Return a state in its parts, where a step ends."""
        return SplitState(pack_tree((x.q, x.v, x.memory)), x.mode, x.memory if self.settles else None)

    def state(self, model: Model, motion: SplitState) -> State:
        q, v, memory = unpack_tree(motion.row, self.like)
        x = model.retract(State(q, v, motion.mode, memory))
        return model.within_step(replace(x, memory=motion.begun), x) if self.settles else x

    def rates(self, numbers: Array, given: Array, time: Scalar, motion: SplitState) -> Float[Array, "states"]:
        model = self.model(numbers, given)
        return pack_tree(tuple(_rate_of_change(model, time, self.state(model, motion))))

    def guards(self, numbers: Array, given: Array, time: Scalar, motion: SplitState) -> Float[Array, "guards"]:
        model = self.model(numbers, given)
        x = self.state(model, motion)
        return jnp.concatenate([stack_rows(list(model.outputs(time, x).guards)), model.decisions(x)])

    def settle(self, numbers: Array, given: Array, time: Scalar, motion: SplitState) -> Settled:
        """Return the state after what is decided where a step has ended; where that changes what is integrated it is left to an
        event, and where nothing acts to the next one."""
        model = self.model(numbers, given)
        x = self.state(model, motion)
        after = model.settled(x)
        kept = model.within_step(after, x)
        acts, moved = model.emitting(x), jnp.any(pack_tree(kept.memory) != pack_tree(after.memory))
        asks, taken = acts & moved, acts & ~moved
        begun = map_leaves(lambda old, new: jnp.where(taken, new, old), motion.begun, after.memory)
        return Settled(asks, motion._replace(begun=begun))

    def jump(self, numbers: Array, given: Array, time: Scalar, motion: SplitState) -> Jumped:
        """Return the state after what is due at a time: the end of a step, events, then a tick of the clock."""
        model = self.model(numbers, given)

        def settle_and_fire(x: State, last: Flag) -> tuple[State, Flag]:
            x = model.settled(x)
            fired = _fired_guards(model, time, x)
            due = jnp.any(jnp.stack(fired)) if fired else jnp.asarray(False)
            x = jax.lax.cond(due & ~last, lambda x: model.jump(time, x, fired), lambda x: x, x)
            now = model.next_tick(x)
            if now is not None:
                ticks = ~last & (now <= time + DUE * jnp.maximum(1.0, time))
                x = jax.lax.cond(ticks, lambda x: model.tick(now, x), lambda x: x, x)
            return x, due

        # before what happens and behind it, written once
        x, due = jax.lax.scan(settle_and_fire, self.state(model, motion), jnp.array([False, True]))
        tick, ended = model.next_tick(x), model.ended(x)
        return Jumped(
            due[-1],
            jnp.asarray(False) if ended is None else ended,
            jnp.asarray(jnp.inf) if tick is None else tick,
            self.motion(x),
        )


def _rate_of_change(model: Model, time: Scalar, x: State) -> Rate:
    return model.flow(time, x, model.signal(time, x))


def _fired_guards(model: Model, time: Scalar, x: State) -> tuple[Bool[Array, ""], ...]:
    """Return which guards have risen to zero."""
    at = evaluate_mesh_point(model, time, x, _rate_of_change(model, time, x))
    return tuple((guard >= 0) & (slope > 0) for guard, slope in zip(at.outputs.guards, at.slopes.guards, strict=True))
