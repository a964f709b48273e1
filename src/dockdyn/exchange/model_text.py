"""A functional unit as C: its three functions, as the translator writes them, and tables of what it has."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from dockdyn.deferred import jax
from dockdyn.integrate.solution import Status
from dockdyn.records import record
from dockdyn.results.functional_unit import Flow, FunctionalUnit, Steps
from dockdyn.results.model_flow import Jumped
from dockdyn.scenario.language.errors import ScenarioError
from dockdyn.scenario.language.places import Place
from dockdyn.translate.c import c_function, c_head
from dockdyn.translate.code import SIZES, Untranslatable
from dockdyn.translate.jaxpr import TranslatedProgram, translate_function
from dockdyn.trees import flatten, unflatten

WORD = 8  # bytes, at multiples of which leaves of a state begin
IN_C = {"float64": "double", "int64": "int64_t", "int32": "int32_t", "uint32": "uint32_t", "bool": "uint8_t"}
TEXT, HEADER = "model.c", "model.h"


@record
class Written:
    """A model in C."""

    text: str
    header: str


def write_model(unit: FunctionalUnit, token: str) -> Written:
    """Return the model of a unit, whose states carry the `token`. Raises ScenarioError for what cannot be written in C."""
    numbers = np.array([place.value for place in unit.numbers])
    given, time = np.zeros(len(unit.inputs)), np.float64(0.0)
    leaves, structure = flatten(jax.eval_shape(unit.begin, numbers))
    state = [np.zeros(leaf.shape, leaf.dtype) for leaf in leaves]

    def of_state(function: Callable[..., Any], *before: np.ndarray | np.float64) -> TranslatedProgram:
        """Return a function of some arguments and of a state, whose leaves follow them."""

        def of_leaves(*rows: Any) -> Any:  # noqa: ANN401, of JAX
            return function(*rows[: len(before)], unflatten(structure, rows[len(before) :]))

        return _program_of(unit, of_leaves, *before, *state)

    programs = {"begin": _program_of(unit, unit.begin, numbers), "observe": of_state(unit.observe, numbers, given)}
    moves = unit.goes_on
    if isinstance(moves, Steps):

        def advance(*rows: Any) -> Any:  # noqa: ANN401, of JAX
            after = moves.advance(*rows)
            return moves.reached(after), after

        programs["advance"] = of_state(advance, numbers, given, time)
    else:
        for name in ("rates", "guards", "jump", *(["settle"] if moves.equations.settles else [])):
            programs[name] = of_state(getattr(moves.equations, name), numbers, given, time)
    sizes = [_padded_size(leaf.size * SIZES[leaf.dtype.name]) for leaf in state]
    return Written(_source_text(unit, programs, sizes, token), _header_text(unit, programs, sizes, token))


def _program_of(
    unit: FunctionalUnit, function: Callable[..., Any], *given: np.ndarray | np.float64
) -> TranslatedProgram:
    try:
        return translate_function(jax.jit(function).trace(*given).jaxpr)
    except Untranslatable as error:
        raise ScenarioError(f"{unit.scenario.name}: cannot be written as C: {error}") from None


def _padded_size(size: int) -> int:
    return -(-size // WORD) * WORD


def _header_text(unit: FunctionalUnit, programs: dict[str, TranslatedProgram], sizes: Sequence[int], token: str) -> str:
    """Return what the model has and how large it is."""
    flow = unit.goes_on if isinstance(unit.goes_on, Flow) else None
    constants = {name: len(program.constants) for name, program in programs.items()}
    counts = {
        "NUMBERS": len(unit.numbers),
        "INPUTS": len(unit.inputs),
        "OUTPUTS": len(unit.outputs),
        "STATES": 0 if flow is None else len(flow.names),
        "GUARDS": 0 if flow is None else flow.guards,
        "SETTLES": 0 if flow is None else int(flow.equations.settles),
        "LEAVES": len(sizes),
        "STATE_BYTES": sum(sizes),
        "STATUSES": len(Status),
        "FUNCTIONS": len(programs),
        "ADDRESSES": len(sizes) + max(constants.values()) + len(Jumped._fields),
    }
    counts |= {f"{name.upper()}_CONSTANTS": count for name, count in constants.items()}
    lines = ["#ifndef MODEL_H", "#define MODEL_H", ""]
    lines += [f"#include <{name}.h>" for name in ("stdbool", "stddef", "stdint")]
    lines += ["", *(f"#define MODEL_{name} {count}" for name, count in counts.items()), ""]
    lines += [
        "typedef struct {",
        "    double start, least, most;",
        "    bool least_is_open, most_is_open;",
        "} Number;",
        "",
        f"extern const char model_token[{len(token) + 1}];",
        "extern const Number model_numbers[];",
        "extern const bool model_flags[]; /* which outputs are yes or no */",
        "extern const size_t model_places[]; /* of the leaves of a state, in bytes */",
        "extern const char *const model_statuses[];",
        "extern const int64_t *const model_work_bytes[]; /* of all functions */",
        "",
    ]
    for name in programs:
        lines.append(f"extern const void *const model_{name}_constants[];")
        lines.append(f"bool model_{name}(const void *const *in, void *const *out, void *work);")
    return "\n".join([*lines, "", "#endif", ""])


def _source_text(unit: FunctionalUnit, programs: dict[str, TranslatedProgram], sizes: Sequence[int], token: str) -> str:
    """Return functions and tables."""
    places = np.cumsum([0, *sizes])[:-1]
    words = [status.name.lower().replace("_", " ") for status in Status]
    parts = [
        c_head(programs.values()),
        f'#include "{HEADER}"\n',
        f"const char model_token[{len(token) + 1}] = {json.dumps(token)};",
        _table_text("const Number model_numbers", [_number_text(place) for place in unit.numbers], "{0}"),
        _table_text("const bool model_flags", [_flag_word(output.flag) for output in unit.outputs]),
        _table_text("const size_t model_places", [str(place) for place in places]),
        _table_text("const char *const model_statuses", [json.dumps(word) for word in words]),
    ]
    for name, program in programs.items():
        for index, constant in enumerate(program.constants):
            values = [_format_constant(value) for value in constant.ravel().tolist()]
            parts.append(_table_text(f"static const {IN_C[constant.dtype.name]} {name}_constant_{index}", values))
        names = [f"{name}_constant_{index}" for index in range(len(program.constants))]
        parts += [
            _table_text(f"const void *const model_{name}_constants", names),
            "",
            c_function(program, f"model_{name}"),
        ]
    parts.append(
        _table_text("const int64_t *const model_work_bytes", [f"&model_{name}_work_bytes" for name in programs])
    )
    return "\n".join([*parts, ""])


def _table_text(declared: str, items: Sequence[str], nothing: str = "0") -> str:
    """Return an array in C; one without items has one that nobody reads."""
    return f"{declared}[] = {{{', '.join(items) or nothing}}};"


def _number_text(place: Place) -> str:
    """Start and bounds of a number of the scenario."""
    limits = place.limits
    least, most = max(limits.least, limits.above), min(limits.most, limits.below)
    opened = _flag_word(limits.above >= limits.least), _flag_word(limits.below <= limits.most)
    return f"{{{', '.join([_format_constant(place.value), _format_constant(least), _format_constant(most), *opened])}}}"


def _flag_word(flag: bool) -> str:
    return "true" if flag else "false"


def _format_constant(value: float | int | bool) -> str:
    """Return a number to its last bit."""
    if isinstance(value, float):
        if math.isnan(value):
            return "NAN"
        return value.hex() if math.isfinite(value) else ("INFINITY" if value > 0 else "-INFINITY")
    return str(int(value))
