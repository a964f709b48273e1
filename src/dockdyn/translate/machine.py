"""LLVM inside this process: from its language to object files for this processor, and those into memory.

Units: none.
Source: definition.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from functools import cache
from typing import Any

lock = threading.RLock()  # LLVM's contexts are not for several threads


@cache
def initialised_llvm() -> Any:  # noqa: ANN401, a module without types
    """Return LLVM, ready to write code for this processor."""
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return llvm


def _target_machine(level: int) -> Any:  # noqa: ANN401, llvmlite has no types
    """Return LLVM's description of this processor, for one owner."""
    llvm = initialised_llvm()
    name, features = processor_features()
    target = llvm.Target.from_default_triple()
    return target.create_target_machine(cpu=name, features=features, opt=level, codemodel="jitdefault", jit=True)


@cache
def processor_features() -> tuple[str, str]:
    """Return the processor's name and what it can do."""
    llvm = initialised_llvm()
    features = llvm.get_host_cpu_features()
    whole = ",-prefer-256-bit" if features.get("avx512f") else ""  # vectors of eight numbers in one register
    return llvm.get_host_cpu_name(), features.flatten() + whole


@cache
def count_lanes() -> int:
    """Return how many numbers of 64 bits a vector of this processor has that pays; 0 of one without masks for them."""
    features = initialised_llvm().get_host_cpu_features()
    if features.get("avx512f") and features.get("avx512vl") and features.get("avx512dq"):
        return 8
    return 4 if features.get("avx2") else 0


@cache
def _object_writer(level: int) -> Any:  # noqa: ANN401, llvmlite has no types
    """Return what writes object files for this processor."""
    return _target_machine(level)


def machine_code(text: str, level: int) -> bytes:
    """Return the object file of a program, for this processor, optimised at a `level` from 0 to 2. Nothing is reordered.

    Of LLVM's passes two are run, which leave slots for registers and make instructions fewer: what others gain beyond is
    less than they take, minutes for programs of a hundred thousand lines.
    """
    with lock:
        return written_object(initialised_llvm().parse_assembly(text), _object_writer(level), level)


def written_object(module: Any, machine: Any, level: int) -> bytes:  # noqa: ANN401, llvmlite has no types
    """Return the object file of LLVM's module for a machine, optimised at a level."""
    llvm = initialised_llvm()
    module.triple, module.data_layout = machine.triple, str(machine.target_data)
    if level:
        passes = llvm.create_new_module_pass_manager()
        passes.add_sroa_pass()
        passes.add_instruction_combine_pass()
        passes.run(module, llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(speed_level=level)))
    return bytes(machine.emit_object(module))


def load_object(machine: bytes, names: Sequence[str]) -> tuple[Any, list[int]]:
    """Return the engine that keeps an object file, and the addresses of its functions."""
    llvm = initialised_llvm()
    with lock:
        engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), _target_machine(0))
        engine.add_object_file(llvm.ObjectFileRef.from_data(machine))
        engine.finalize_object()
        return engine, [engine.get_function_address(name) for name in names]
