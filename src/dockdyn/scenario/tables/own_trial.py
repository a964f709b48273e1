"""Whether methods of a class of the user's own return what they must: asked of shapes, before anything is computed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from dockdyn.deferred import PyTree, jax
from dockdyn.mechanics.vector import Vector
from dockdyn.trees import Module, Structure, flatten, unflatten

WORDS = {"number": "a number", "vector": "a dockdyn.Vector of three numbers"}


class Trial(NamedTuple):
    """A method, what it takes and what it returns, each a "number" or a "vector"."""

    method: str
    takes: tuple[str, ...]
    returns: str


def trial_problem(made: Module, trials: Iterable[Trial]) -> str:
    """Return what is wrong with the first of the methods of what was `made` that fails, in words; empty where none does."""
    numbers, structure = flatten(made)
    return _problem(structure, tuple(np.shape(number) for number in numbers), tuple(trials))


@cache
def _problem(structure: Structure, shapes: Sequence[tuple[int, ...]], trials: tuple[Trial, ...]) -> str:
    numbers = [jax.ShapeDtypeStruct(shape, float) for shape in shapes]
    for method, takes, returns in trials:

        def call(numbers: list[PyTree], given: list[PyTree], method: str = method) -> PyTree:
            return getattr(unflatten(structure, numbers), method)(*given)

        try:
            answer = jax.eval_shape(call, numbers, [_example(kind) for kind in takes])
        except Exception as error:  # of the user's own code
            return f"{method} fails ({type(error).__name__}: {str(error).partition(chr(10))[0]})"
        if _shapes(answer) != _shapes(_example(returns)):
            return f"{method} must return {WORDS[returns]}"
    return ""


def _example(kind: str) -> PyTree:
    number: Any = jax.ShapeDtypeStruct((), float)
    return number if kind == "number" else Vector(number, number, number)


def _shapes(tree: PyTree) -> tuple[Structure, list[tuple[int, ...]]]:
    leaves, structure = flatten(tree)
    return structure, [np.shape(leaf) for leaf in leaves]
