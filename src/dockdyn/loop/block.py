"""What an element of a loop is: a small discrete-time block with a memory, asked once at each of its instants."""

from __future__ import annotations

import abc
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from dockdyn.integrate.model import pack, unpack


class StateSpace(NamedTuple):
    """A linear discrete-time block: memory⁺ = A memory + B input, output = C memory + D input."""

    a: Float[Array, "n n"]
    b: Float[Array, "n inputs"]
    c: Float[Array, "outputs n"]
    d: Float[Array, "outputs inputs"]


class Block(eqx.Module):
    """A discrete-time block; parameters are fields, the memory is passed."""

    @abc.abstractmethod
    def step(self, memory: Any, signal: Any) -> tuple[Any, Any]:
        """The memory after an instant, and the output from there on."""


def linear(block: Block, memory: Any, signal: Any) -> StateSpace:
    """`block` linearised where its memory is `memory` and its input `signal`, both trees of numbers, packed in order."""

    def stepped(state: Array, given: Array) -> tuple[Array, Array]:
        after, output = block.step(unpack(state, memory), unpack(given, signal))
        return pack(after), pack(output)

    (a, b), (c, d) = jax.jacfwd(stepped, argnums=(0, 1))(pack(memory), pack(signal))
    return StateSpace(jnp.asarray(a), jnp.asarray(b), jnp.asarray(c), jnp.asarray(d))
