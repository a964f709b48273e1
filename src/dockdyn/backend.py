"""JAX as dockdyn needs it: double precision, and a compilation cache of its own. Set without importing JAX."""

from __future__ import annotations

import hashlib
import os
import platform
import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from dockdyn import kept
from dockdyn.installed import version

VARIABLE = "DOCKDYN_BACKEND"
BACKENDS = ("native", "xla")
DEFAULT = "native"
DEVICE_PLUGINS = ("jax_plugins", "libtpu")  # packages by which JAX finds a GPU or a TPU
waits: list[Callable[[str], None]] = []  # what is told, in words, why a program is long in coming
costs: list[Callable[[str], None]] = []  # what is told, in words, what is about to take long; where none is, a warning
works: list[Callable[[str], AbstractContextManager[Callable[[float], None]]]] = []  # what shows how far long work is
before_compiling: list[
    Callable[[list[Any], bool], None]
] = []  # asked with structures, and whether XLA compiles; may refuse


@contextmanager
def show_work(words: str) -> Iterator[Callable[[float], None]]:
    """Say of the block, to whoever shows it, that it does what `words` say; takes the share of it that is done."""
    with works[-1](words) if works else nullcontext(lambda share: None) as done:
        yield done


def announce_wait(words: str) -> None:
    """Tell whoever waits what is about to take long."""
    for hear in list(costs):
        hear(words)
    if not costs:
        warnings.warn(words, RuntimeWarning, stacklevel=2)


def ask_before_compiling(structures: list[Any], by_xla: bool) -> None:
    """Let those who know what a program of such structures takes tell it, or refuse it by an exception of theirs."""
    for ask in before_compiling:
        ask(structures, by_xla)


def cache_folder() -> Path:
    """Return folder of the compilation cache: the user's, one for each machine and JAX version."""
    return kept.cache_root() / _machine_name()


@cache
def _machine_name() -> str:
    """Return the name of JAX's version and this machine."""
    try:
        jax_version = version("jaxlib")
    except ModuleNotFoundError:
        jax_version = "none"
    try:
        processor = Path("/proc/cpuinfo").read_text().split("\n\n")[0]
        facts = [line for line in processor.splitlines() if line.startswith(("model name", "flags", "Features"))]
    except OSError:
        facts = [platform.processor()]
    machine = hashlib.sha256("\n".join([platform.machine(), *facts]).encode()).hexdigest()[:12]
    return f"jax-{jax_version}-{machine}"


def backend_word() -> str:
    """Return what `DOCKDYN_BACKEND` says, `native` or `xla`. Raises ValueError for another word."""
    said = os.environ.get(VARIABLE) or DEFAULT
    if said not in BACKENDS:
        raise ValueError(f"{VARIABLE} = {said!r}: must be {' or '.join(BACKENDS)}")
    return said


def is_native() -> bool:
    """Return whether programs become machine code without XLA, by `dockdyn.translate`, where that knows all that is in them.

    On a GPU, XLA compiles all. Raises ValueError as `backend_word` does.
    """
    if backend_word() == "xla":
        return False
    return is_on_cpu()


def is_on_cpu() -> bool:
    """Return whether JAX computes on the CPU, or would."""
    from dockdyn.deferred import has_jax, jax

    return (not has_jax() and not _has_device_plugin()) or jax.default_backend() == "cpu"


@cache
def _has_device_plugin() -> bool:
    """Return whether a package is installed through which JAX may know another device than the CPU."""
    return any(find_spec(name) is not None for name in DEVICE_PLUGINS)


def configure_jax() -> None:
    """Set JAX's options through the environment, or its configuration when it is already loaded.

    XLA keeps what it compiles in the cache only where that folder is this user's alone: it loads what it finds there.
    """
    from dockdyn.deferred import has_jax, jax

    cache = {"jax_compilation_cache_dir": str(cache_folder())} if kept.is_usable(cache_folder()) else {}
    cache |= {
        "jax_persistent_cache_min_compile_time_secs": "0.1",
        "jax_persistent_cache_min_entry_size_bytes": "-1",
    }
    if not has_jax():
        os.environ["JAX_ENABLE_X64"] = "1"
        for name, value in cache.items():
            os.environ.setdefault(name.upper(), value)
        return
    jax.config.update("jax_enable_x64", True)
    if jax.config.jax_compilation_cache_dir is None and "jax_compilation_cache_dir" in cache:
        jax.config.update("jax_compilation_cache_dir", cache["jax_compilation_cache_dir"])
        jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.1)
        jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)
