"""Functions as machine code of this processor, written by LLVM inside this process.

A program is first written without optimisation, which takes a tenth of a second; when it has run for about as long as a
better one takes to write, that is written. Both give the same bits.

Units: none.
Source: definition.
"""

from __future__ import annotations

import ctypes
import math
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from dockdyn.deferred import ArrayLike
from dockdyn.translate.library import load_functions
from dockdyn.translate.llvm import NAME, text_of
from dockdyn.translate.machine import Code, count_lanes, load_object, lock, machine_code
from dockdyn.translate.vectors import vector_text_of

if TYPE_CHECKING:
    from dockdyn.translate.jaxpr import TranslatedProgram

BETTER = 1  # level of optimisation of what runs for long
PRICE, CROWDED = 2e-5, 6e-10  # s a line, and a line and line, that the better one takes to write
MOST_LINES = 400_000  # of a program; of a longer one that takes minutes, for which the run stands still


def code_of(program: TranslatedProgram) -> Code:
    """Return a program, written at once."""
    text, lanes = text_of(program), count_lanes()
    better = vector_text_of(program, lanes) if lanes and math.isfinite(price_of(text.count("\n"))) else None
    results = [(store.dtype, shape) for store, shape in zip(program.results, program.shapes, strict=True)]
    arguments = [store.dtype for store in program.arguments]
    constants = [np.ascontiguousarray(one) for one in program.constants]
    work = program.builder.work * (1 if better is None else 1 + lanes)
    return Code(text, better or text, machine_code(text, 0), 0, arguments, results, constants, work)


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
        self.engine, self.function = _load_program(code.text, code.machine)
        self.spent = 0.0  # s
        self.price = price_of(code.better.count("\n"))

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
            better = machine_code(self.code.better, BETTER)
            engine, function = _load_program(self.code.better, better)
        except Exception as error:  # whatever LLVM raises: the results of the call are there
            self.unimproved = f"{type(error).__name__}: {error}"
            return
        code = Code(**(vars(self.code) | {"machine": better, "level": BETTER}))
        self.kept = self.engine  # other threads may be in its function
        self.engine, self.function, self.code = engine, function, code
        if self.changed is not None:
            self.changed(code)


def _array_pointers(arrays: Sequence[np.ndarray]) -> Any:  # noqa: ANN401, an array of ctypes
    return (ctypes.c_void_p * max(len(arrays), 1))(*[one.ctypes.data for one in arrays])


def _load_program(text: str, machine: bytes) -> tuple[Any, Any]:
    """Return the engine that keeps a program's object file, and its function."""
    load_functions(text)
    engine, (address,) = load_object(machine, [NAME])
    return engine, ctypes.CFUNCTYPE(ctypes.c_bool, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)(address)
