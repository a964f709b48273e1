"""From a traced function, a jaxpr, to a scalar program.

Every primitive has a rule, a function of the translator, the arrays that it reads, its parameters and the shapes of what
it answers. Functions that are called are written where they are called. What has no rule is named (`Untranslatable`).

Units: none.
Source: definition.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

import jax
import numpy as np
from jax.extend.core import Var

from dockdyn.translate.arrays import SMALL, Array, Memory, Numbers, copied, dtype_of, in_memory, loaded
from dockdyn.translate.scalar_program import Builder, Scalar, Store, Untranslatable

Rule = Callable[["Translator", list[Array], dict[str, Any], list[Any]], list[Array]]
RULES: dict[str, Rule] = {}
MOST = 500_000  # numbers that equations write; of one with 263,000 LLVM wrote 13 s, where XLA took minutes
LARGEST = 4096  # numbers of a constant, which are written into the program
LOOP = 8  # statements of a loop over an array in memory


def rule(*names: str) -> Callable[[Rule], Rule]:
    """Registers the rule of the primitives of these names."""

    def register(function: Rule) -> Rule:
        RULES.update(dict.fromkeys(names, function))
        return function

    return register


@dataclass
class Lives:
    """How long the arrays of a function are needed."""

    unread: list[Any]  # arguments
    equations: list[tuple[Any, list[Any], list[bool]]]  # each, what nobody reads after it, which answers somebody reads

    @staticmethod
    def of(jaxpr: Any) -> Lives:  # noqa: ANN401, JAX's
        reads = [dict.fromkeys(_variables(equation.invars)) for equation in jaxpr.eqns]
        kept = set(_variables(jaxpr.outvars))
        last = {variable: place for place, own in enumerate(reads) for variable in own}
        needed = kept | last.keys()
        equations = [
            (
                equation,
                [variable for variable in own if last[variable] == place and variable not in kept],
                [variable in needed for variable in equation.outvars],
            )
            for place, (equation, own) in enumerate(zip(jaxpr.eqns, reads, strict=True))
        ]
        return Lives([one for one in (*jaxpr.constvars, *jaxpr.invars) if one not in needed], equations)


@dataclass
class Program:
    """A scalar program with what calls it: shapes and types of arguments and results, bytes of working memory."""

    builder: Builder
    arguments: list[Store]
    results: list[Store]
    shapes: list[tuple[int, ...]]  # of the results
    constants: list[np.ndarray]  # that follow the arguments


class Translator:
    """Writes equations into a builder; knows which arrays are still read."""

    def __init__(self) -> None:
        self.builder = Builder()
        self.live: list[dict[Any, Array]] = []  # variables of the functions around, outermost first
        self.frozen: list[set[int]] = []  # stores that loops around read again
        self.lives: dict[Any, Lives] = {}  # of functions
        self.branches = 0  # around what is written

    def run(self, jaxpr: Any, constants: Sequence[Array], arguments: Sequence[Array]) -> list[Array]:  # noqa: ANN401, JAX's
        """The results of a function at arrays."""
        known: dict[Any, Array] = dict(zip(jaxpr.constvars, constants, strict=True))
        known |= dict(zip(jaxpr.invars, arguments, strict=True))
        del constants, arguments
        lives = self.lives.get(jaxpr)
        if lives is None:
            lives = self.lives[jaxpr] = Lives.of(jaxpr)
        self.live.append(known)
        for variable in lives.unread:
            del known[variable]
        for equation, ending, wanted in lives.equations:
            found = [self.read(known, one) for one in equation.invars]
            for variable in ending:
                del known[variable]
            for variable, answer, is_wanted in zip(equation.outvars, self.apply(equation, found), wanted, strict=True):
                if is_wanted:
                    known[variable] = answer
        results = [self.read(known, one) for one in jaxpr.outvars]
        self.live.pop()
        return results

    def apply(self, equation: Any, arrays: list[Array]) -> list[Array]:  # noqa: ANN401, JAX's
        known = RULES.get(equation.primitive.name)
        if known is None:
            return self.call(_spelt_out(equation), arrays)
        return known(self, arrays, equation.params, [one.aval for one in equation.outvars])

    def call(self, function: Any, arguments: Sequence[Array]) -> list[Array]:  # noqa: ANN401, JAX's
        """The results of a function that is a parameter of an equation."""
        jaxpr, constants = parts(function)
        return self.run(jaxpr, [self.constant(one) for one in constants], arguments)

    def read(self, known: dict[Any, Array], one: Any) -> Array:  # noqa: ANN401, JAX's
        return known[one] if isinstance(one, Var) else self.constant(one.val)

    def constant(self, value: Any) -> Array:  # noqa: ANN401, of any type of array
        array = np.asarray(value)
        dtype = dtype_of(array.dtype)
        values = np.empty(array.shape, object)
        values[...] = array.astype(object)
        if array.size <= LARGEST:
            whole = Numbers(values, dtype)
            return whole if array.size <= SMALL else in_memory(self.builder, whole)
        raise Untranslatable(f"a constant of {array.size} numbers")

    def owned(self, array: Memory) -> bool:
        """Whether nobody reads the array later, so that its memory may be written."""
        store = array.store
        if store.role != "work" or any(id(store) in frozen for frozen in self.frozen):
            return False
        return not any(isinstance(one, Memory) and one.store is store for known in self.live for one in known.values())

    def own(self, array: Array) -> Memory:
        """The array in memory that may be written: its own where nobody else reads it, else a copy."""
        return array if isinstance(array, Memory) and self.owned(array) else copied(self.builder, array)

    @contextmanager
    def freezing(self, arrays: Sequence[Array]) -> Iterator[None]:
        """Arrays that a loop reads in every turn."""
        self.frozen.append({id(one.store) for one in arrays if isinstance(one, Memory)})
        yield
        self.frozen.pop()


def parts(function: Any) -> tuple[Any, list[Any]]:  # noqa: ANN401, JAX's
    """A jaxpr and its constants, however JAX's release keeps them."""
    return getattr(function, "jaxpr", function), list(getattr(function, "consts", []))


def _spelt_out(equation: Any) -> Any:  # noqa: ANN401, JAX's
    """A primitive of another library as the function of JAX's that it is evaluated by. Raises Untranslatable for JAX's own."""
    primitive = equation.primitive
    if getattr(primitive.impl, "__module__", "").partition(".")[0] in ("", "jax", "functools"):
        raise Untranslatable(f"the primitive {primitive.name}")
    shapes = [jax.ShapeDtypeStruct(one.aval.shape, one.aval.dtype) for one in equation.invars]
    return jax.make_jaxpr(partial(primitive.impl, **equation.params))(*shapes)


def _variables(atoms: Sequence[Any]) -> list[Any]:
    return [one for one in atoms if isinstance(one, Var)]


def translate(function: Any) -> Program:  # noqa: ANN401, a closed jaxpr of JAX
    """The scalar program of a traced function.

    Raises Untranslatable, which names what the translator does not know.
    """
    from dockdyn.translate import rules  # noqa: F401, which register themselves

    jaxpr, constants = parts(function)
    jaxpr, used = _without_dead(jaxpr)
    if (length := _length(jaxpr, {})) > MOST:
        raise Untranslatable(f"about {length} numbers, more than {MOST}")
    translator = Translator()
    builder = translator.builder
    arrays = [np.asarray(one) for one in constants]
    kinds = [(one.aval.shape, one.aval.dtype) for one in jaxpr.invars]
    kinds += [(one.shape, one.dtype) for one in arrays]
    stores = [Store("in", place, dtype_of(dtype), math.prod(shape)) for place, (shape, dtype) in enumerate(kinds)]
    read: list[Array] = []
    for store, (shape, _), needed in zip(stores, kinds, used + [True] * len(arrays), strict=True):
        memory = Memory(store, 0, tuple(shape), store.dtype)
        read.append(loaded(builder, memory) if needed else memory)
    count = len(jaxpr.invars)
    found = translator.run(jaxpr, read[count:], read[:count])
    results, shapes = [], []
    for place, (one, variable) in enumerate(zip(found, jaxpr.outvars, strict=True)):
        store = Store("out", place, one.dtype, math.prod(one.shape))
        if isinstance(one, Numbers):
            for at, value in enumerate(one.values.ravel()):
                builder.save(store, at, value)
        else:
            builder.copy(store, 0, one.store, one.start, store.count)
        results.append(store)
        shapes.append(tuple(variable.aval.shape))
    return Program(builder, stores, results, shapes, arrays)


def _length(jaxpr: Any, known: dict[Any, int]) -> int:  # noqa: ANN401, JAX's
    """About how many statements a function takes, functions that it calls included, of which some are `known`."""
    total = known.get(jaxpr, 0)
    if total:
        return total
    for equation in jaxpr.eqns:
        for value in equation.params.values():
            for one in value if isinstance(value, tuple) else (value,):
                inner, _ = parts(one)
                total += _length(inner, known) if hasattr(inner, "eqns") else 0
        for one in equation.outvars:
            size = math.prod(one.aval.shape)
            total += size if size <= SMALL else LOOP
    known[jaxpr] = total
    return total


def _without_dead(jaxpr: Any) -> tuple[Any, list[bool]]:  # noqa: ANN401, JAX's
    """The jaxpr without what nobody reads, and which of its arguments are read."""
    lean, used = jax.interpreters.partial_eval.dce_jaxpr(jaxpr, [True] * len(jaxpr.outvars), instantiate=True)
    return lean, list(used)


def numbers_of(values: Sequence[Scalar], shape: Sequence[int], dtype: str) -> Numbers:
    array = np.empty(len(values), object)
    array[:] = list(values)
    return Numbers(array.reshape(tuple(shape)), dtype)
