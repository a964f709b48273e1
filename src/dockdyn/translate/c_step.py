"""A function that is called again and again, each time with what it remembers, as C with one stable interface.

`step(parameters, state, inputs)` answers the next state and outputs. In C that is one function of a block of memory, which
holds parameters, state and what is computed in between, of a struct of inputs and a struct of outputs. Nothing is allocated.
The text depends on the structure of the parameters, not on their numbers: these are in the image of the memory.

Units: none.
Source: definition.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from dockdyn.deferred import PyTree, jax
from dockdyn.translate.c import c_text
from dockdyn.translate.code import SIZES
from dockdyn.translate.jaxpr import translate_function
from dockdyn.translate.scalar_program import MemoryBlock
from dockdyn.trees import flatten, leaves_of, leaves_with_paths, map_leaves, path_text, unflatten

ALIGNED = 8  # bytes
TYPES = {"float64": "double", "int64": "int64_t"}  # of what goes in and comes out


class Entry(NamedTuple):
    """A field of a struct."""

    name: str
    dtype: str
    shape: tuple[int, ...]

    @property
    def bytes(self) -> int:
        return ALIGNED * int(np.prod(self.shape))


class CStep(NamedTuple):
    """A step as C."""

    name: str
    header: str
    source: str
    inputs: list[Entry]
    outputs: list[Entry]
    image: bytes  # the memory before the first step

    @property
    def input_type(self) -> np.dtype:
        """The struct of inputs in NumPy."""
        return struct_type(self.inputs)

    @property
    def output_type(self) -> np.dtype:
        """The struct of outputs in NumPy."""
        return struct_type(self.outputs)


def struct_type(entries: Sequence[Entry]) -> np.dtype:
    """Return fields one behind the other, as C puts them."""
    return np.dtype([(each.name, each.dtype, each.shape) for each in entries])


def c_step(
    name: str,
    step: Callable[[PyTree, PyTree, PyTree], tuple[PyTree, PyTree]],
    parameters: PyTree,
    state: PyTree,
    inputs: PyTree,
) -> CStep:
    """Return the step as C, with these parameters and this first state.

    Inputs and outputs are mappings or named tuples of floats and whole numbers with 64 bits; their names are those of the
    structs. Raises Untranslatable for what the translator does not know, TypeError for a state whose types the step
    changes, and for inputs and outputs of other types.
    """
    given = (parameters, state, inputs)
    leaves, structure = flatten(map_leaves(np.asarray, given))

    def flat(*numbers: Any) -> tuple[PyTree, PyTree]:  # noqa: ANN401, of JAX's arrays
        return step(*unflatten(structure, numbers))

    traced = jax.jit(flat).trace(*leaves)
    shapes = jax.eval_shape(flat, *leaves)
    _check_state(state, shapes[0])
    program = translate_function(traced.jaxpr)
    counts = [len(leaves_of(part)) for part in given]
    layout = _Layout(program.arguments, counts, program.builder.work)
    entries = (_tree_entries(inputs), _tree_entries(shapes[1]))
    source = "\n".join(
        [c_text(program, name), f'#include "{name}.h"\n', *layout.lines(name), *_entry_tables(name, entries)]
    )
    image = layout.image([*leaves[: counts[0] + counts[1]], *program.constants])
    return CStep(name, _header_text(name, entries), source, entries[0], entries[1], image)


def _check_state(before: PyTree, after: PyTree) -> None:
    """Refuse a state that is another one after a step."""
    first = leaves_with_paths(jax.eval_shape(lambda: map_leaves(np.asarray, before)))
    for (path, one), other in zip(first, leaves_of(after), strict=True):
        if (one.shape, one.dtype) != (other.shape, other.dtype):
            words = f"{path_text(path)}: {one.dtype}{one.shape} becomes {other.dtype}{other.shape} in a step"
            raise TypeError(f"the state {words}")


def _tree_entries(tree: PyTree) -> list[Entry]:
    """Return the fields of inputs or outputs."""
    found = []
    for path, leaf in leaves_with_paths(tree):
        name = "_".join(map(str, path))
        dtype = str(getattr(leaf, "dtype", np.asarray(leaf).dtype))
        if dtype not in TYPES:
            raise TypeError(f"{name}: {dtype}: must be float64 or int64")
        found.append(Entry(name, dtype, tuple(np.shape(leaf))))
    return found


class _Layout:
    """Where what is in the memory, in bytes: which of two states is the last one, parameters, constants, states, work."""

    def __init__(self, arguments: Sequence[MemoryBlock], counts: Sequence[int], work: int):
        self.counts = counts
        sizes = [_aligned_size(SIZES[store.dtype] * store.count) for store in arguments]
        parameters, states, inputs = counts
        fixed = [*sizes[:parameters], *sizes[sum(counts) :]]
        self.fixed = list(np.cumsum([ALIGNED, *fixed]))
        self.states = list(np.cumsum([0, *sizes[parameters : parameters + states]]))
        self.inputs = list(np.cumsum([0, *sizes[parameters + states : parameters + states + inputs]]))
        self.begin = int(self.fixed[-1])
        self.size = int(self.states[-1])
        self.work = self.begin + 2 * self.size
        self.total = self.work + _aligned_size(max(work, 1)) + ALIGNED

    def lines(self, name: str) -> list[str]:
        """Return the function of one step."""
        parameters, _, _ = self.counts
        fixed = [f"base + {at}" for at in self.fixed[:-1]]
        states = [f"last + {at}" for at in self.states[:-1]]
        inputs = [f"(const char *)given + {at}" for at in self.inputs[:-1]]
        results = [f"next + {at}" for at in self.states[:-1]]
        return [
            f"const int64_t {name}_memory_bytes = {self.total};\n",
            f"bool {name}_step(void *memory, const {name}_inputs *given, {name}_outputs *found) {{",
            "    char *base = memory;",
            "    int64_t *which = memory;",
            f"    char *last = base + {self.begin} + *which * {self.size};",
            f"    char *next = base + {self.begin} + (1 - *which) * {self.size};",
            f"    const void *in[] = {{{', '.join([*fixed[:parameters], *states, *inputs, *fixed[parameters:]])}}};",
            f"    void *out[] = {{{', '.join([*results, f'OUTPUTS_{name}(found)'])}}};",
            f"    if (!{name}(in, out, base + {self.work})) return false;",
            "    *which = 1 - *which;",
            "    return true;",
            "}",
        ]

    def image(self, leaves: Sequence[np.ndarray]) -> bytes:
        """Return the memory with parameters, first state and constants in their places."""
        parameters = self.counts[0]
        whole = bytearray(self.total)
        places = [*self.fixed[:parameters], *(self.begin + at for at in self.states[:-1]), *self.fixed[parameters:-1]]
        for at, leaf in zip(places, leaves, strict=True):
            data = np.ascontiguousarray(leaf).tobytes()
            whole[int(at) : int(at) + len(data)] = data
        return bytes(whole)


def _aligned_size(size: int) -> int:
    """Return bytes that a piece of memory takes so that the next one is aligned."""
    return -(-size // ALIGNED) * ALIGNED


def _header_text(name: str, entries: Sequence[Sequence[Entry]]) -> str:
    """Return what others include."""
    lines = ["#pragma once", "#include <stdbool.h>", "#include <stddef.h>", "#include <stdint.h>", ""]
    for word, fields in zip(("inputs", "outputs"), entries, strict=True):
        inside = [f"    {TYPES[each.dtype]} {each.name}{''.join(f'[{n}]' for n in each.shape)};" for each in fields]
        lines += ["typedef struct {", *inside, f"}} {name}_{word};", ""]
    places = ", ".join(f"&(found)->{each.name}" for each in entries[1])
    lines += [
        f"#define OUTPUTS_{name}(found) {places}",
        "",
        f"extern const int64_t {name}_memory_bytes;",
        f"extern const char *const {name}_input_names[];  // ended by a null",
        f"extern const char *const {name}_output_names[];",
        f"// One step: false where it met what C cannot do; `memory` is then as it was. Holds {name}_memory_bytes bytes.",
        f"bool {name}_step(void *memory, const {name}_inputs *given, {name}_outputs *found);",
        "",
    ]
    return "\n".join(lines)


def _entry_tables(name: str, entries: Sequence[Sequence[Entry]]) -> list[str]:
    """Return the names of all entries."""
    return [
        f"const char *const {name}_{word}_names[] = {{{', '.join([*(f'"{each.name}"' for each in fields), '0'])}}};"
        for word, fields in zip(("input", "output"), entries, strict=True)
    ]
