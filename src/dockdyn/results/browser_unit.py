"""A scenario's programs as a page carries them: a WebAssembly module and its memory, laid out.

They are the programs of a run as they are, so that a page that sets the same numbers gets the same bits.

Units: SI.
Source: definition.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from dockdyn.packing import AT_ONCE, TooLong, kept_text, packed_text
from dockdyn.results import unit
from dockdyn.results.methods import method_of, settings_of
from dockdyn.scenario.language.places import Place, places_of
from dockdyn.scenario.language.units import Bounds
from dockdyn.scenario.load import Scenario
from dockdyn.translate.code import SIZES, Code
from dockdyn.translate.wasm import WasmModule, wasm_module
from dockdyn.translate.wasm_columns import columns_of
from dockdyn.trees import leaves_of, unflatten

STACK, ALIGNED = 65536, 16  # bytes
MOST_BYTES = 700_000  # that programs may add to a page
MOST_LETTERS = 40_000_000  # of the text of programs: a module of a million takes half a second, and the more the longer
DELAY = "loop.delay"  # by which steps of one length are chosen


class TooMuch(Exception):
    """A page does not compute: it would be too large or too slow."""


class Array(NamedTuple):
    """Where an array is in the memory."""

    at: int  # address
    type: str
    shape: tuple[int, ...]

    @property
    def size(self) -> int:
        """Bytes."""
        return SIZES[self.type] * math.prod(self.shape)


class UnitMemory:
    """The memory of a module beside its own constants and its stack: arrays with numbers first, then those without."""

    def __init__(self, module: WasmModule):
        self.stack = _aligned(module.data_bytes) + STACK  # its end
        self.image = bytearray()
        self.end = self.stack

    def put(self, values: np.ndarray) -> Array:
        """Return where an array with these numbers is."""
        assert self.end == self.stack + len(self.image), "arrays with numbers come before those without"
        place = self.take(str(values.dtype), values.shape)
        self.image.extend(bytes(place.at - self.stack - len(self.image)))
        self.image.extend(values.tobytes())
        return place

    def take(self, dtype: str, shape: tuple[int, ...]) -> Array:
        """Return where there is room for an array."""
        place = Array(_aligned(self.end), dtype, shape)
        self.end = place.at + place.size
        return place

    def take_results(self, code: Code) -> list[Array]:
        """Return where there is room for the results of a program."""
        return [self.take(dtype, shape) for dtype, shape in code.results]


def _aligned(address: int) -> int:
    return address + -address % ALIGNED


class BrowserUnit(NamedTuple):
    """A scenario's programs and their memory."""

    module: WasmModule
    memory: UnitMemory
    calls: dict[
        str, list[list[list[int]]]
    ]  # addresses of arguments and of results, by program; two for where a solver is
    results: dict[str, Array]  # of a whole run, by name
    numbers: list[Place]
    places: list[list[int]]  # addresses of each number
    until: int  # address of the iterations at which `advance` pauses
    status: list[int]  # addresses of the status of both solvers
    interval: float  # s, between samples

    def packed(self) -> dict[str, Any]:
        """Return it as JSON has it. Raises TooMuch."""
        numbers = [_describe_number(*both) for both in zip(self.numbers, self.places, strict=True)]
        more = {"until": self.until, "status": self.status, "interval": self.interval}
        return packed_programs(self.module, self.memory, self.calls, self.results, numbers, **more)


def packed_programs(
    module: WasmModule,
    memory: UnitMemory,
    calls: Mapping[str, list[list[list[int]]]],
    results: Mapping[str, Array],
    numbers: Sequence[Mapping[str, Any]],
    **more: object,
) -> dict[str, Any]:
    """Return programs and their memory as JSON has them, with the addresses of what they take and give, the numbers that a page
    may set, and what more there is to say. Raises TooMuch of more than a page should carry."""
    try:
        image = packed_text(bytes(memory.image), MOST_BYTES)
    except TooLong as error:
        raise _too_large() from error
    unit = {
        "module": kept_text(module.code, columns_of),
        "image": image,
        "stack": memory.stack,
        "end": memory.end,
        "work": module.work_bytes,
        "calls": dict(calls),
        "results": {name: list(place) for name, place in results.items()},
        "numbers": list(numbers),
        **more,
    }
    if len(json.dumps(unit)) > MOST_BYTES:
        raise _too_large()
    return unit


def _too_large() -> TooMuch:
    return TooMuch(f"its programs and numbers are more than {MOST_BYTES / 1e6:g} MB, the most that a page should carry")


def _refuse_many_numbers(leaves: Sequence[Any]) -> None:
    """Raise TooMuch where arrays of a scenario alone, as the field of a mesh, are more than a page should carry: that is known
    before its programs are made."""
    many = [one for one in map(np.asarray, leaves) if one.nbytes > AT_ONCE]
    try:
        packed_text(b"".join(one.tobytes() for one in many), MOST_BYTES)
    except TooLong as error:
        raise _too_large() from error


def page_module(codes: Mapping[str, Code]) -> WasmModule:
    """Return programs as a module for a page. Raises TooMuch where that would take long to make, and Untranslatable for what
    needs a library."""
    if sum(code.text.letters for code in codes.values()) > MOST_LETTERS:
        raise TooMuch(
            f"its programs have more than {MOST_LETTERS / 1e6:g} million letters, which take too long to make"
        )
    return wasm_module(codes)


def _describe_number(number: Place, addresses: Sequence[int]) -> dict[str, Any]:
    """Return a number of a run that a page may set; a delay stays one, as without it would be another program."""
    limits = Bounds(above=0.0, most=number.limits.most, below=number.limits.below)
    return described_number(number, addresses, limits if number.key == DELAY else number.limits)


def described_number(
    number: Place, addresses: Sequence[int], limits: Bounds, signs: Sequence[float] = ()
) -> dict[str, Any]:
    """Return a number that a page may set: its key, unit, value and bounds, and where it is, with its sign there, which is that
    of its keys where none are given."""
    bounds = {"least": limits.least, "above": limits.above, "most": limits.most, "below": limits.below}
    return {
        "key": number.key,
        "keys": number.keys,
        "signs": number.signs,
        "unit": number.unit,
        "value": number.value,
        "bounds": {name: float(bound) for name, bound in bounds.items() if math.isfinite(bound)},
        "places": [[address, sign] for address, sign in zip(addresses, signs or number.signs, strict=True)],
    }


def browser_unit(scenario: Scenario) -> BrowserUnit:
    """Return what a page needs to run a scenario with other numbers.

    Raises TooMuch, and Untranslatable where XLA computes a part of it.
    """
    content = scenario.content
    settings = settings_of(content)
    stated = (content, settings)
    _refuse_many_numbers(leaves_of(stated))
    solver, until = unit.begin(content, settings), np.int64(0)
    codes = {
        "begin": unit.begin.code(*stated),
        "advance": unit.advance.code(*stated, until, solver),
        "observe": unit.observe.code(*stated, solver),
    }
    observed = unit.observe(*stated, solver)
    codes["tell"] = unit.tell.code(scenario.setup, *stated, observed)
    module = page_module({name: code for name, (code, _) in codes.items()})
    memory = UnitMemory(module)
    begin, advance, observe, tell = (code for code, _ in codes.values())
    leaves = [
        memory.put(np.ascontiguousarray(leaf, dtype))
        for leaf, dtype in zip(leaves_of(stated), begin.arguments, strict=False)
    ]
    pause = memory.put(np.asarray(until))
    constants = {name: [memory.put(one) for one in code.constants] for name, (code, _) in codes.items()}
    solvers = [memory.take_results(advance) for _ in range(2)]
    found, told = memory.take_results(observe), memory.take_results(tell)
    calls = {
        "begin": [([*leaves, *constants["begin"]], solvers[0])],
        "advance": [([*leaves, pause, *solvers[now], *constants["advance"]], solvers[1 - now]) for now in (0, 1)],
        "observe": [([*leaves, *one, *constants["observe"]], found) for one in solvers],
        "tell": [([*leaves, *found, *constants["tell"]], told)],
    }
    status = [unflatten(codes["advance"][1], one).status.at for one in solvers]
    numbers = [one for one in places_of(scenario) if not (one.key == DELAY and content.integrator.method == "fixed")]
    return BrowserUnit(
        module,
        memory,
        {name: [[[one.at for one in part] for part in call] for call in both] for name, both in calls.items()},
        dict(named_results(unflatten(codes["observe"][1], found), unflatten(codes["tell"][1], told))),
        numbers,
        [[leaves[leaf].at for leaf in number.leaves] for number in numbers],
        pause.at,
        status,
        float(method_of(settings).interval(settings)),
    )


def named_results(found: unit.Observed, told: unit.RunFigures) -> Iterator[tuple[str, Any]]:
    """Yield the results of a run, or where they are, by name: figures and contacts with a word before theirs."""
    solution = found.solution
    for name in ("status", "time", "steps", "moments", "sampled"):
        yield name, getattr(solution, name)
    yield "log.time", solution.log.time
    for part, variables in (("", found.sampled), ("log.", found.at_moments)):
        for name, place in variables.items():
            yield f"{part}{name}", place
    for part, values in (("figure.", told.figures), ("contact.", told.contacts)):
        for name, place in values.items():
            yield f"{part}{name}", place
