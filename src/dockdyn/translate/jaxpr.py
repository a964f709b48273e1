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
from typing import Any, NamedTuple

import numpy as np
from jax.extend.core import ClosedJaxpr, Jaxpr, Var

from dockdyn.deferred import jax
from dockdyn.translate.arrays import SMALL, Array, SmallArray, StoredArray, copy_array, dtype_of, load_array
from dockdyn.translate.code import Untranslatable
from dockdyn.translate.scalar_program import Builder, MemoryBlock, Scalar

Rule = Callable[["Translator", list[Array], dict[str, Any], list[Any]], list[Array]]
RULES: dict[str, Rule] = {}
MOST = 5_000_000  # numbers that equations write: some 10 GB; XLA takes ten times as long and as much memory
LOOP = 8  # statements of a loop over an array in memory


def register_rule(*names: str) -> Callable[[Rule], Rule]:
    """Register the rule of the primitives of these names."""

    def register(function: Rule) -> Rule:
        RULES.update(dict.fromkeys(names, function))
        return function

    return register


class TranslatedEquation(NamedTuple):
    """An equation as a translator applies it."""

    apply: Rule
    params: dict[str, Any]
    outs: list[Any]  # shapes and types of what it answers
    reads: list[Any]  # variables, and arrays that are known, as `constant_array` tells them
    ending: list[Any]  # variables that nobody reads after it
    answers: list[Any]  # variables; None where nobody reads them


@dataclass
class TranslationPlan:
    """The equations of a function, with how long its arrays are needed."""

    unread: list[Any]  # arguments
    steps: list[TranslatedEquation]

    @staticmethod
    def of(jaxpr: Any) -> TranslationPlan:  # noqa: ANN401, JAX's
        kept = set(_jaxpr_variables(jaxpr.outvars))
        needed = set(kept)
        steps = []
        for equation in reversed(jaxpr.eqns):
            own = dict.fromkeys(_jaxpr_variables(equation.invars))
            ending = [variable for variable in own if variable not in needed]
            needed.update(own)
            steps.append(
                TranslatedEquation(
                    RULES.get(equation.primitive.name) or partial(_spelt_out, equation),
                    equation.params,
                    [one.aval for one in equation.outvars],
                    [one if isinstance(one, Var) else constant_array(one.val) for one in equation.invars],
                    ending,
                    [one if one in needed else None for one in equation.outvars],
                )
            )
        return TranslationPlan([one for one in (*jaxpr.constvars, *jaxpr.invars) if one not in needed], steps[::-1])


@dataclass
class TranslatedProgram:
    """A scalar program with what calls it: shapes and types of arguments and results, bytes of working memory."""

    builder: Builder
    arguments: list[MemoryBlock]
    results: list[MemoryBlock]
    shapes: list[tuple[int, ...]]  # of the results
    constants: list[np.ndarray]  # that follow the arguments


class Translator:
    """Writes equations into a builder; knows which arrays are still read."""

    def __init__(self, arguments: Sequence[MemoryBlock], constants: Sequence[np.ndarray]) -> None:
        self.builder = Builder()
        self.arguments, self.constants = list(arguments), list(constants)  # these are the last of those
        self.stored: dict[object, StoredArray] = {}  # large constants by what they hold
        for store, one in zip(self.arguments[len(self.arguments) - len(self.constants) :], self.constants, strict=True):
            self.stored.setdefault(_constant_key(one), StoredArray(store, 0, one.shape, store.dtype))
        self.live: list[dict[Any, Array]] = []  # variables of the functions around, outermost first
        self.frozen: list[set[int]] = []  # stores that loops around read again
        self.plans: dict[Any, TranslationPlan] = {}  # of functions
        self.branches = 0  # around what is written

    def run(self, jaxpr: Any, constants: Sequence[Array], arguments: Sequence[Array]) -> list[Array]:  # noqa: ANN401, JAX's
        """Return the results of a function at arrays."""
        known: dict[Any, Array] = dict(zip(jaxpr.constvars, constants, strict=True))
        known |= dict(zip(jaxpr.invars, arguments, strict=True))
        del constants, arguments
        plan = self.plans.get(jaxpr)
        if plan is None:
            plan = self.plans[jaxpr] = TranslationPlan.of(jaxpr)
        self.live.append(known)
        for variable in plan.unread:
            del known[variable]
        for apply, params, outs, reads, ending, answers in plan.steps:
            found = [known[one] if type(one) is Var else self.read(one) for one in reads]
            for variable in ending:
                del known[variable]
            for variable, answer in zip(answers, apply(self, found, params, outs), strict=True):
                if variable is not None:
                    known[variable] = answer
        results = [known[one] if isinstance(one, Var) else self.read(constant_array(one.val)) for one in jaxpr.outvars]
        self.live.pop()
        return results

    def call(self, function: Any, arguments: Sequence[Array]) -> list[Array]:  # noqa: ANN401, JAX's
        """Return the results of a function that is a parameter of an equation."""
        jaxpr, constants = jaxpr_and_constants(function)
        return self.run(jaxpr, [self.read(constant_array(one)) for one in constants], arguments)

    def read(self, whole: SmallArray | np.ndarray) -> Array:
        """Return a known array as it is read: a large one is an argument, one and the same wherever it is needed."""
        if isinstance(whole, SmallArray):
            return whole
        key = _constant_key(whole)
        if key not in self.stored:
            store = MemoryBlock("in", len(self.arguments), dtype_of(whole.dtype), whole.size)
            self.arguments.append(store)
            self.constants.append(whole)
            self.stored[key] = StoredArray(store, 0, whole.shape, store.dtype)
        return self.stored[key]

    def is_own(self, array: StoredArray) -> bool:
        """Return whether nobody reads the array later, so that its memory may be written."""
        store = array.store
        if store.role != "work" or any(id(store) in frozen for frozen in self.frozen):
            return False
        return not any(
            isinstance(one, StoredArray) and one.store is store for known in self.live for one in known.values()
        )

    def own(self, array: Array) -> StoredArray:
        """Return the array in memory that may be written: its own where nobody else reads it, else a copy."""
        return array if isinstance(array, StoredArray) and self.is_own(array) else copy_array(self.builder, array)

    @contextmanager
    def freezing(self, arrays: Sequence[Array]) -> Iterator[None]:
        """Freeze arrays that a loop reads in every turn."""
        self.frozen.append({id(one.store) for one in arrays if isinstance(one, StoredArray)})
        yield
        self.frozen.pop()


def jaxpr_and_constants(function: Any) -> tuple[Any, list[Any]]:  # noqa: ANN401, JAX's
    """Return a jaxpr and its constants, however JAX's release keeps them."""
    return getattr(function, "jaxpr", function), list(getattr(function, "consts", []))


def _spelt_out(
    equation: Any,  # noqa: ANN401, JAX's
    translator: Translator,
    arrays: list[Array],
    params: dict[str, Any],
    outs: list[Any],
) -> list[Array]:
    """Return a primitive of another library as the function of JAX's that it is evaluated by. Raises Untranslatable for JAX's
    own."""
    primitive = equation.primitive
    if getattr(primitive.impl, "__module__", "").partition(".")[0] in ("", "jax", "functools"):
        raise Untranslatable(f"the primitive {primitive.name}")
    shapes = [jax.ShapeDtypeStruct(one.aval.shape, one.aval.dtype) for one in equation.invars]
    return translator.call(jax.make_jaxpr(partial(primitive.impl, **params))(*shapes), arrays)


def constant_array(value: Any) -> SmallArray | np.ndarray:  # noqa: ANN401, of any type of array
    """Return an array that is known: of a small one its numbers."""
    array = np.asarray(value)
    if array.size > SMALL:
        return array
    values = np.empty(array.shape, object)
    values[...] = array.astype(object)
    return SmallArray(values, dtype_of(array.dtype))


def _constant_key(array: np.ndarray) -> object:
    return array.shape, array.dtype.str, array.tobytes()


def _jaxpr_variables(atoms: Sequence[Any]) -> list[Any]:
    return [one for one in atoms if isinstance(one, Var)]


def translate_function(function: Any) -> TranslatedProgram:  # noqa: ANN401, a closed jaxpr of JAX
    """Return the scalar program of a traced function.

    Raises Untranslatable, which names what the translator does not know.
    """
    from dockdyn.translate import rules  # noqa: F401, which register themselves

    jaxpr, constants = jaxpr_and_constants(function)
    jaxpr, used = _without_dead(jaxpr)
    if (length := _estimate_length(jaxpr, {})) > MOST:
        raise Untranslatable(f"about {length} numbers, more than {MOST}")
    arrays = [np.asarray(one) for one in constants]
    kinds = [(one.aval.shape, one.aval.dtype) for one in jaxpr.invars]
    kinds += [(one.shape, one.dtype) for one in arrays]
    stores = [MemoryBlock("in", place, dtype_of(dtype), math.prod(shape)) for place, (shape, dtype) in enumerate(kinds)]
    translator = Translator(stores, arrays)
    builder = translator.builder
    read: list[Array] = []
    for store, (shape, _), needed in zip(stores, kinds, used + [True] * len(arrays), strict=True):
        memory = StoredArray(store, 0, tuple(shape), store.dtype)
        read.append(load_array(builder, memory) if needed else memory)
    count = len(jaxpr.invars)
    found = translator.run(jaxpr, read[count:], read[:count])
    results, shapes = [], []
    for place, (one, variable) in enumerate(zip(found, jaxpr.outvars, strict=True)):
        store = MemoryBlock("out", place, one.dtype, math.prod(one.shape))
        if isinstance(one, SmallArray):
            for at, value in enumerate(one.values.ravel()):
                builder.save(store, at, value)
        else:
            builder.copy(store, 0, one.store, one.start, store.count)
        results.append(store)
        shapes.append(tuple(variable.aval.shape))
    return TranslatedProgram(builder, translator.arguments, results, shapes, translator.constants)


def _estimate_length(jaxpr: Any, known: dict[Any, int]) -> int:  # noqa: ANN401, JAX's
    """Return about how many statements a function takes, functions that it calls included, of which some are `known`."""
    total = known.get(jaxpr, 0)
    if total:
        return total
    for equation in jaxpr.eqns:
        for value in equation.params.values():
            for one in value if type(value) is tuple else (value,):
                if type(one) in (Jaxpr, ClosedJaxpr):
                    total += _estimate_length(jaxpr_and_constants(one)[0], known)
        for one in equation.outvars:
            size = math.prod(one.aval.shape)
            total += size if size <= SMALL else LOOP
    known[jaxpr] = total
    return total


def _without_dead(jaxpr: Any) -> tuple[Any, list[bool]]:  # noqa: ANN401, JAX's
    """Return the jaxpr without what nobody reads, and which of its arguments are read."""
    lean, used = jax.interpreters.partial_eval.dce_jaxpr(jaxpr, [True] * len(jaxpr.outvars), instantiate=True)
    return lean, list(used)


def numbers_of(values: Sequence[Scalar], shape: Sequence[int], dtype: str) -> SmallArray:
    array = np.empty(len(values), object)
    array[:] = list(values)
    return SmallArray(array.reshape(tuple(shape)), dtype)
