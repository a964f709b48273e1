"""Functions as machine code of this processor, written by LLVM inside this process.

A program is first written without optimisation, which takes a tenth of a second, in vectors where these pay. When it has run
for so long that a better one is worth the time that it takes to write, that is written. All give the same bits.

Units: none.
Source: definition.
"""

from __future__ import annotations

import ctypes
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from dockdyn.deferred import ArrayLike
from dockdyn.translate.code import NAME, Code, Text
from dockdyn.translate.library import load_functions
from dockdyn.translate.machine import count_lanes, load_object, lock, machine_code

if TYPE_CHECKING:
    from dockdyn.translate.jaxpr import TranslatedProgram

BETTER = 1  # level of optimisation of what runs for long
PRICE, CROWDED = 2e-5, 6e-10  # s a line, and a line and line, that the better one takes to write
GAINS_A_SIXTH = (
    6  # times its price that a program in vectors runs before: a better one saves a sixth of its time at most
)
MOST_LINES = 400_000  # of a program; a longer one would take minutes to write better, for which the run stands still


def code_of(program: TranslatedProgram) -> Code:
    """Return a program, written at once."""
    from dockdyn.translate.llvm import text_of
    from dockdyn.translate.vectors import vector_text_of

    text, lanes = text_of(program), count_lanes()
    short = text.count("\n") <= MOST_LINES  # vectors of a longer one would not have room on the stack
    wide = vector_text_of(program, lanes) if lanes and short else None
    results = [(store.dtype, shape) for store, shape in zip(program.results, program.shapes, strict=True)]
    arguments = [store.dtype for store in program.arguments]
    constants = [np.ascontiguousarray(one) for one in program.constants]
    work = program.builder.work * (1 if wide is None else 1 + lanes)
    texts = Text.of(text), None if wide is None else Text.of(wide)
    return Code(*texts, machine_code(wide or text, 0), 0, arguments, results, constants, work)


def price_of(lines: int) -> float:
    """Return about how long (s) LLVM takes to write so many lines better: registers for all of a function are sought together.

    Infinite where that is not done.
    """
    return PRICE * lines + CROWDED * lines**2 if lines <= MOST_LINES else math.inf


class Left(Exception):
    """A program has ended without results: it met what only Python can do."""


class Native:
    """A function of arrays in machine code; `changed` is told of a better one."""

    unimproved = ""  # why there is none

    def __init__(self, code: Code, changed: Callable[[Code], None] | None = None):
        self.code, self.changed = code, changed
        self.engine, self.function = _load_program(code.written.calls, code.machine)
        self.spent = 0.0  # s
        self.price = price_of(code.written.lines) * (1 if code.wide is None else GAINS_A_SIXTH)

    def __call__(self, *leaves: ArrayLike) -> list[np.ndarray]:
        """The results at arrays of the shapes that the program was written for. Python's lock is free meanwhile.

        Raises Left where there are none.
        """
        code = self.code
        given = [np.ascontiguousarray(one, dtype) for one, dtype in zip(leaves, code.arguments, strict=False)]
        answers = [np.empty(shape, dtype) for dtype, shape in code.results]
        work = np.empty(code.work // 8 + 2)
        function, began = self.function, time.perf_counter()
        if not function(_array_pointers([*given, *code.constants]), _array_pointers(answers), work.ctypes.data):
            raise Left
        self.spent += time.perf_counter() - began
        if code.level < BETTER and self.spent > self.price:
            self._write_better()
        return answers

    def _write_better(self) -> None:
        """Write the better one, in one thread; others go on with what there is, and all where it cannot be written."""
        with lock:
            taken, self.price = math.isinf(self.price), math.inf
        if taken:
            return
        try:
            better = machine_code(self.code.written.unpacked(), BETTER)
            engine, function = _load_program(self.code.written.calls, better)
        except Exception as error:  # whatever LLVM raises: the results of the call are there
            self.unimproved = f"{type(error).__name__}: {error}"
            return
        code = replace(self.code, machine=better, level=BETTER)
        self.kept = self.engine  # other threads may be in its function
        self.engine, self.function, self.code = engine, function, code
        if self.changed is not None:
            self.changed(code)


def _array_pointers(arrays: Sequence[np.ndarray]) -> Any:  # noqa: ANN401, an array of ctypes
    return (ctypes.c_void_p * max(len(arrays), 1))(*[one.ctypes.data for one in arrays])


def _load_program(calls: Sequence[str], machine: bytes) -> tuple[Any, Any]:
    """Return the engine that keeps a program's object file, and its function; it calls these elementary functions."""
    load_functions(calls)
    engine, (address,) = load_object(machine, [NAME])
    return engine, ctypes.CFUNCTYPE(ctypes.c_bool, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)(address)
