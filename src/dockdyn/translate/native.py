"""Functions as machine code of this processor, written by LLVM inside this process.

A program is first written without optimisation, which takes a tenth of a second; when it has run for about as long as a
better one takes to write, that is written. Both give the same bits.

Units: none.
Source: definition.
"""

from __future__ import annotations

import ctypes
import math
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from dockdyn.deferred import ArrayLike

if TYPE_CHECKING:
    from dockdyn.translate.jaxpr import TranslatedProgram

NAME = "dockdyn_program"  # of the function in its text

BETTER = 1  # level of optimisation of what runs for long
PRICE, CROWDED = 2.5e-5, 1e-9  # s a line, and a line and line, that the better one takes to write
MOST_LINES = 200_000  # of a program; of a longer one that takes minutes, for which the run stands still
lock = threading.RLock()  # LLVM's contexts are not for several threads


@dataclass
class Code:
    """A program ready to be called: its text in LLVM's language, machine code, and what the call must know."""

    text: str
    machine: bytes
    level: int
    arguments: list[str]  # types
    results: list[tuple[str, tuple[int, ...]]]  # types and shapes
    constants: list[np.ndarray]
    work: int  # bytes


def code_of(program: TranslatedProgram) -> Code:
    """Return a program, written at once."""
    from dockdyn.translate.llvm import text_of

    text = text_of(program)
    results = [(store.dtype, shape) for store, shape in zip(program.results, program.shapes, strict=True)]
    arguments = [store.dtype for store in program.arguments]
    constants = [np.ascontiguousarray(one) for one in program.constants]
    return Code(text, machine_code(text, 0), 0, arguments, results, constants, program.builder.work)


@cache
def _initialised_llvm() -> Any:  # noqa: ANN401, a module without types
    """Return LLVM, ready to write code for this processor."""
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return llvm


def _target_machine(level: int) -> Any:  # noqa: ANN401, llvmlite has no types
    """Return LLVM's description of this processor, for one owner."""
    llvm = _initialised_llvm()
    name, features = _processor_features()
    target = llvm.Target.from_default_triple()
    return target.create_target_machine(cpu=name, features=features, opt=level, codemodel="jitdefault", jit=True)


@cache
def _processor_features() -> tuple[str, str]:
    """Return the processor's name and what it can do."""
    llvm = _initialised_llvm()
    return llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten()


@cache
def _object_writer(level: int) -> Any:  # noqa: ANN401, llvmlite has no types
    """Return what writes object files for this processor."""
    return _target_machine(level)


def machine_code(text: str, level: int) -> bytes:
    """Return the object file of a program, for this processor, optimised at a `level` from 0 to 2. Nothing is reordered.

    Of LLVM's passes two are run, which leave slots for registers and make instructions fewer: what others gain beyond is
    less than they take, minutes for programs of a hundred thousand lines.
    """
    llvm = _initialised_llvm()
    with lock:
        machine = _object_writer(level)
        module = llvm.parse_assembly(text)
        module.triple, module.data_layout = machine.triple, str(machine.target_data)
        if level:
            passes = llvm.create_new_module_pass_manager()
            passes.add_sroa_pass()
            passes.add_instruction_combine_pass()
            passes.run(
                module, llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(speed_level=level))
            )
        return machine.emit_object(module)


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
        self.engine, self.function = _load_object(code.machine)
        self.spent = 0.0  # s
        self.price = price_of(code.text.count("\n"))

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
            self._improve()
        return answers

    def _improve(self) -> None:
        """Write the better one, in one thread; others go on with what there is, and all where it cannot be written."""
        with lock:
            taken, self.price = math.isinf(self.price), math.inf
        if taken:
            return
        try:
            better = machine_code(self.code.text, BETTER)
            engine, function = _load_object(better)
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


def _load_object(machine: bytes) -> tuple[Any, Any]:
    """Return the engine that keeps an object file, and its function."""
    llvm = _initialised_llvm()
    with lock:
        engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), _target_machine(0))
        engine.add_object_file(llvm.ObjectFileRef.from_data(machine))
        engine.finalize_object()
        address = engine.get_function_address(NAME)
    return engine, ctypes.CFUNCTYPE(ctypes.c_bool, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)(address)
