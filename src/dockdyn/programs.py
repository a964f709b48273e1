"""Compiled programs, one for each structure of what they take; those not used for longest go before there is no room.

A compiled program holds hundreds of memory maps, of which Linux gives a process 65,530 unless told otherwise; without any
left the process dies.
"""

from __future__ import annotations

import contextlib
import gc
import inspect
import threading
import warnings
from collections import OrderedDict
from collections.abc import Callable, Iterator
from functools import cache, partial, update_wrapper, wraps
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from dockdyn import backend
from dockdyn.deferred import ArrayLike, PyTree, has_jax, is_traced, jax, jit_when_called
from dockdyn.translate.code import Code, Untranslatable
from dockdyn.translate.native import Left, Native
from dockdyn.translate.store import load_code, name_of, store_code
from dockdyn.translate.trees import Unstorable, decode_tree, describe_structure, encode_tree, in_words
from dockdyn.trees import Structure, flatten, leaves_of, structure_of, unflatten

MAPS = Path("/proc/self/maps")
ALLOWED = Path("/proc/sys/vm/max_map_count")
SHARE = 0.5  # of the maps that a process may have: beyond, programs are dropped
PATIENCE = 3.0  # s that XLA may compile before that is told
MAPS_EACH = 1000  # more than a program holds
MOST_KEPT = 96  # programs, of which three or four serve a structure: some 5 GB of memory

kept: OrderedDict[Any, Any] = OrderedDict()  # the one used last comes last
guard = threading.RLock()
spare = 0.0  # programs that may be made before maps are counted
refused: dict[str, str] = {}  # programs that XLA compiles, and why


class Program:
    """A function of trees of arrays, compiled for each of their structures when it is first called with it.

    `static` names the arguments that are part of the structure by their value, `donate` those whose memory the results may
    take; `options` are those of `jax.jit`.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        static: tuple[str, ...] = (),
        donate: tuple[str, ...] = (),
        **options: Any,  # noqa: ANN401, those of `jax.jit`
    ):
        update_wrapper(self, function)
        self.function, self.static, self.donate, self.options = function, static, donate, options
        self.signature = inspect.signature(function)

    def __call__(self, *given: PyTree, **named: PyTree) -> PyTree:
        fixed, moving = self.arguments(*given, **named)
        leaves, structure = flatten(tuple(moving.values()))
        if has_jax() and any(is_traced(leaf) for leaf in leaves):  # part of a larger program
            return self.function(*given, **named)
        compiled, new = self.kept_or_new(fixed, moving, structure, leaves)
        found = compiled(*leaves)
        if new:
            _make_room()
        return found

    def code(self, *given: PyTree, **named: PyTree) -> tuple[Code, Structure]:
        """Return the code of the program for arguments of this structure, and the structure of its results.

        Raises Untranslatable where XLA computes it.
        """
        fixed, moving = self.arguments(*given, **named)
        leaves, structure = flatten(tuple(moving.values()))
        compiled, _ = self.kept_or_new(fixed, moving, structure, leaves)
        if not isinstance(compiled, Translated):
            raise Untranslatable(f"{self.function.__qualname__}, which XLA computes")
        return compiled.native.code, compiled.results

    def arguments(self, *given: PyTree, **named: PyTree) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the arguments that are part of the structure, and the others, by name."""
        bound = self.signature.bind(*given, **named)
        bound.apply_defaults()
        fixed = {name: bound.arguments[name] for name in self.static}
        return fixed, {name: value for name, value in bound.arguments.items() if name not in fixed}

    def kept_or_new(
        self, fixed: dict[str, Any], moving: dict[str, Any], structure: Structure, leaves: list[ArrayLike]
    ) -> tuple[Compiled, bool]:
        """Return the compiled function of this structure, and whether it is new in this process."""
        kinds = tuple((np.shape(leaf), np.dtype(getattr(leaf, "dtype", type(leaf)))) for leaf in leaves)
        constants = tuple((type(value), repr(value) if isinstance(value, float) else value) for value in fixed.values())
        key = (self, backend.is_native(), structure, kinds, constants)
        with guard:
            new = key not in kept
            if new:
                kept[key] = self.compile_structure(fixed, moving, structure, leaves)
            kept.move_to_end(key)
            return kept[key], new

    def compile_structure(
        self, fixed: dict[str, Any], moving: dict[str, Any], structure: Structure, leaves: list[ArrayLike]
    ) -> Compiled:
        """Return a compiled function of its own, of the leaves of the arguments `moving`, which can be dropped by itself."""
        owners = [name for name, value in moving.items() for _ in leaves_of(value)]
        donated = tuple(i for i, name in enumerate(owners) if name in self.donate)
        jitted = partial(self.prepare_for_xla, fixed, tuple(moving), structure, donated)
        by_xla = partial(self.left_to_xla, jitted)
        structures = [structure, *(value for value in fixed.values() if isinstance(value, Structure))]
        if not backend.is_native():
            backend.ask_before_compiling(structures, by_xla=True)
            return jitted()
        arrays = [np.asarray(leaf) for leaf in leaves]  # of types of their own, as machine code answers them
        name = self.name_of(fixed, structure, arrays)
        if name is not None and (found := load_code(name)) is not None:
            with contextlib.suppress(Exception):  # an entry that this process cannot read is made again
                return Translated(found[0], structure_of(decode_tree(found[1])), found[1], name, by_xla)
        backend.ask_before_compiling(structures, by_xla=False)
        from dockdyn.translate.jaxpr import translate_function
        from dockdyn.translate.native import code_of

        whole = jitted()
        with _no_search_for_cycles():
            traced = whole.trace(*arrays)
        try:
            with _no_search_for_cycles():
                code = code_of(translate_function(traced.jaxpr))
        except Exception as error:  # XLA does it then; what is wrong is said, and no test leaves it at that
            words = str(error) if isinstance(error, Untranslatable) else f"{type(error).__name__}: {error}"
            return self.left_to_xla(lambda: whole, words)
        numbered = jax.tree_util.tree_unflatten(traced.out_tree, range(traced.out_tree.num_leaves))
        results, beside = structure_of(numbered), None
        with contextlib.suppress(Unstorable):
            beside = encode_tree(numbered)
            if name is not None and results == structure_of(decode_tree(beside)):
                store_code(name, code, beside)
        return Translated(code, results, beside, name, by_xla)

    def left_to_xla(self, jitted: Callable[[], Any], why: str) -> ByXla:
        """Return what XLA compiles; it is remembered why."""
        refused[f"{self.function.__module__}.{self.function.__qualname__}"] = why
        return ByXla(jitted(), why)

    def name_of(self, fixed: dict[str, Any], structure: Structure, arrays: list[np.ndarray]) -> str | None:
        """Return the name under which the program is stored; None for one that is not of dockdyn alone."""
        function = f"{self.function.__module__}.{self.function.__qualname__}"
        if not function.startswith("dockdyn.") or "<" in function:  # one inside a function may stand for several
            return None
        try:
            constants = {name: in_words(value) for name, value in fixed.items()}
            shapes = [(leaf.shape, str(leaf.dtype)) for leaf in arrays]
            return name_of((function, constants, describe_structure(structure), shapes))
        except Unstorable:
            return None

    def prepare_for_xla(
        self, fixed: dict[str, Any], names: tuple[str, ...], structure: Structure, donated: tuple[int, ...]
    ) -> Any:  # noqa: ANN401, JAX's
        """Return the function of the leaves of the arguments of these `names`, for XLA to compile."""

        def body(*leaves: ArrayLike) -> PyTree:
            values = fixed | dict(zip(names, unflatten(structure, leaves), strict=True))
            given = inspect.BoundArguments(self.signature, {name: values[name] for name in self.signature.parameters})
            return self.function(*given.args, **given.kwargs)

        body.__name__ = self.function.__name__
        return jax.jit(body, donate_argnums=donated, **self.options)


def trace_once[F: Callable[..., Any]](function: F, static: tuple[str, ...] = ()) -> F:
    """Return a function of trees of arrays that JAX traces once for each of their structures, however often programs use it.

    `static` names the arguments that are part of the structure by their value. Called outside of programs it is as it was.
    Dictionaries come back in the order of their keys, as from all that JAX traces.
    """
    traced = jit_when_called(function, static)

    @wraps(function)
    def call(*given: Any, **named: Any) -> Any:  # noqa: ANN401, of the function
        inside = has_jax() and any(is_traced(leaf) for leaf in leaves_of((given, named)))
        return (traced if inside else function)(*given, **named)

    return call  # type: ignore[return-value]


def over_rows(function: Callable[..., PyTree], *rows: PyTree) -> PyTree:
    """Return `function` of each row of trees whose leaves have a leading axis: one after another in machine code of dockdyn's
    own, side by side where XLA compiles."""
    if backend.is_native():
        return jax.lax.map(lambda row: function(*row), rows)
    return jax.vmap(function)(*rows)


@contextlib.contextmanager
def _no_search_for_cycles() -> Iterator[None]:
    """Run without Python's search for objects that only hold each other: tracing makes many that stay, which it would visit
    again and again. They count as old afterwards, so that the next search does not visit them all either."""
    searching = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if searching:
            if not gc.get_freeze_count():  # nobody keeps objects from the search
                gc.freeze()
                gc.unfreeze()
            gc.enable()


class Compiled(Protocol):
    """A function of leaves that can be dropped."""

    def __call__(self, *leaves: ArrayLike) -> PyTree: ...

    def clear_cache(self) -> None: ...


class ByXla:
    """A function of leaves that XLA compiles, once for all that machine code and XLA answer, and `why` XLA does it."""

    def __init__(self, function: Any, why: str):  # noqa: ANN401, of `jax.jit`
        self.function, self.why, self.compiled = function, why, False

    def __call__(self, *leaves: ArrayLike) -> PyTree:
        arrays = list(map(np.asarray, leaves))
        if self.compiled:
            return self.function(*arrays)
        with _told_if_long(self.why):
            found = self.function(*arrays)
        self.compiled = True
        return found

    def clear_cache(self) -> None:
        self.function.clear_cache()


class Translated:
    """A function of leaves in machine code, which keeps a better one in the store; XLA's, once that has met Python."""

    def __init__(
        self, code: Code, results: Structure, beside: object, name: str | None, by_xla: Callable[[str], ByXla]
    ) -> None:
        self.results, self.beside, self.name, self.by_xla = results, beside, name, by_xla
        self.native = Native(code, self.store)
        self.other: ByXla | None = None

    def __call__(self, *leaves: ArrayLike) -> PyTree:
        if self.other is None:
            try:
                return unflatten(self.results, self.native(*leaves))
            except Left:
                self.other = self.by_xla("it has called Python")
        return self.other(*leaves)

    def store(self, code: Code) -> None:
        if self.name is not None and self.beside is not None:
            store_code(self.name, code, self.beside)

    def clear_cache(self) -> None:
        """Drop what XLA has made; the memory of machine code goes with it."""
        if self.other is not None:
            self.other.clear_cache()


@contextlib.contextmanager
def _told_if_long(why: str) -> Iterator[None]:
    """Tell whoever waits what XLA compiles here, once it has taken a while."""
    words = (
        "compiling: XLA makes this program, which may take a minute or more, and keeps it for the next time; "
        f"dockdyn's own machine code, which is sooner made, is not used here: {why}"
    )

    def tell() -> None:
        for hear in list(backend.waits):
            hear(words)

    waiting = threading.Timer(PATIENCE, tell)
    waiting.daemon = True
    waiting.start()
    try:
        yield
    finally:
        waiting.cancel()


def _make_room() -> None:
    """Drop the programs not used for longest while there are too many; says so, once.

    Maps, which take a while to count where there are many, are counted again when they could be too many.
    """
    global spare
    with guard:
        while len(kept) > MOST_KEPT:
            _drop_oldest()
        spare -= 1
        if spare >= 0:
            return
        while len(kept) > 1 and count_memory_maps() > most_maps():
            _drop_oldest()
        if count_memory_maps() > most_maps():  # what others have compiled
            _warn_once()
            if has_jax():
                jax.clear_caches()
        spare = (most_maps() - count_memory_maps()) / MAPS_EACH


def _drop_oldest() -> None:
    """Drop the program not used for longest."""
    _warn_once()
    _, dropped = kept.popitem(last=False)
    dropped.clear_cache()


def count_memory_maps() -> int:
    """Return the memory maps of this process; 0 where the system does not tell."""
    try:
        return MAPS.read_bytes().count(b"\n")
    except OSError:
        return 0


@cache
def most_maps() -> float:
    """Return the memory maps beyond which programs are dropped."""
    try:
        return SHARE * int(ALLOWED.read_text())
    except (OSError, ValueError):
        return float("inf")


@cache
def _warn_once() -> None:
    """Warn that programs are dropped, once a process."""
    warnings.warn(
        f"this process has compiled so many structures (kinds of model, numbers of parts, laws) that those not used for "
        f"longest are dropped; one that comes again is compiled again. It holds {count_memory_maps()} memory maps and "
        f"{len(kept)} programs; room is for {most_maps():.0f} (half of vm.max_map_count) and {MOST_KEPT}",
        RuntimeWarning,
        stacklevel=2,
    )
