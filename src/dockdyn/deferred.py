"""JAX, imported when something of it is first used: what is kept in machine code runs without it.

Modules write `from dockdyn.deferred import jax, jnp` in place of importing both, and take from here the names of types that
checkers know from jaxtyping, which takes long to import, too.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Sequence
from functools import cache, update_wrapper, wraps
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import jax as jax
    import jax.numpy as jnp
    from jaxtyping import Array as Array
    from jaxtyping import ArrayLike as ArrayLike
    from jaxtyping import Bool as Bool
    from jaxtyping import Complex as Complex
    from jaxtyping import Float as Float
    from jaxtyping import Int as Int
    from jaxtyping import PyTree as PyTree
    from jaxtyping import Shaped as Shaped
else:

    class Shaped:
        """An array of a shape that `dim_str` tells: of `Float[Array, "3"]` it is "3"."""

        dim_str = "..."

        def __class_getitem__(cls, item: tuple[object, str]) -> type[Shaped]:
            return type(cls.__name__, (cls,), {"dim_str": item[1]})

    Float = Int = Bool = Complex = Shaped
    Array = ArrayLike = PyTree = Any

NAME = "jax"
_waiting: list[Callable[[], None]] = []


class _Deferred:
    """A module that is imported with the first of its names that is asked for."""

    def __init__(self, name: str):
        self._name = name

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401, whatever the module holds
        found = getattr(importlib.import_module(self._name), name)
        setattr(self, name, found)
        return found


if not TYPE_CHECKING:
    jax = _Deferred(NAME)
    jnp = _Deferred("jax.numpy")

numpy: Any = _Deferred("numpy")


def jit_when_called(function: Callable[..., Any], static: tuple[str, ...] = ()) -> Callable[..., Any]:
    """Return `jax.jit` of a function, made when it is first called; `static` names arguments that are part of the program."""
    made = cache(lambda: jax.jit(function, static_argnames=static))

    @wraps(function)
    def call(*given: Any, **named: Any) -> Any:  # noqa: ANN401, of the function
        return made()(*given, **named)

    return call


class DifferentiableFunction:
    """A function whose derivative is stated by `defjvp`, as `jax.custom_jvp`, made when it is first called.

    `constant` are the places of arguments along which it is not differentiated.
    """

    def __init__(self, function: Callable[..., Any], constant: tuple[int, ...] = ()):
        update_wrapper(self, function)
        self.function, self.constant = function, constant
        self.derivative: Callable[..., Any] | None = None
        self.made: Callable[..., Any] | None = None

    def defjvp[F: Callable[..., Any]](self, derivative: F) -> F:
        self.derivative = derivative
        return derivative

    def __call__(self, *given: Any) -> Any:  # noqa: ANN401, of the function
        if self.made is None:
            assert self.derivative is not None
            made = jax.custom_jvp(self.function, nondiff_argnums=self.constant)
            made.defjvp(self.derivative)
            self.made = made
        return self.made(*given)


def has_jax() -> bool:
    """Return whether JAX has been imported, by whomever."""
    return sys.modules.get(NAME) is not None


def is_traced(value: object) -> bool:
    """Return whether a value is a number or array that JAX does not know yet, since it writes a program."""
    return has_jax() and isinstance(value, jax.core.Tracer)


def is_array_of_jax(value: object) -> bool:
    """Return whether a value is an array of JAX, traced or not."""
    return has_jax() and isinstance(value, jax.Array)


def _has_array_of_jax(value: object) -> bool:
    return any(map(_has_array_of_jax, value)) if isinstance(value, list | tuple) else is_array_of_jax(value)


class _Either:
    """NumPy's functions of arrays, or JAX's where an argument is, or holds, an array of JAX; of a module `inside` them."""

    linalg: _Either

    def __init__(self, inside: str | None = None):
        self._inside = inside

    def __getattr__(self, name: str) -> Callable[..., Any]:
        def call(*given: Any, **options: Any) -> Any:  # noqa: ANN401, arrays of either
            library = jnp if has_jax() and _has_array_of_jax(given) else numpy
            module = library if self._inside is None else getattr(library, self._inside)
            return getattr(module, name)(*given, **options)

        setattr(self, name, call)
        return call


xp = _Either()
xp.linalg = _Either("linalg")


def when_jax_comes(act: Callable[[], None]) -> None:
    """Call `act` as soon as JAX has been imported, by whomever; at once where it is there."""
    if has_jax():
        act()
    else:
        _waiting.append(act)


class _Watch(MetaPathFinder):
    """Finds JAX where it is found without, and lets what waits for it act when it has been imported.

    Who only asks whether JAX is there imports nothing: the watch goes on.
    """

    looking = False

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname != NAME or self.looking:
            return None
        self.looking = True
        try:
            found = find_spec(NAME)
        finally:
            self.looking = False
        if found is not None and found.loader is not None:
            found.loader = _ThenActing(found.loader)
        return found


class _ThenActing(Loader):
    """Loads a module as another loader does, then lets what waits for it act."""

    def __init__(self, loader: Loader):
        self.loader = loader

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self.loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        module.__loader__ = self.loader
        if module.__spec__ is not None:
            module.__spec__.loader = self.loader
        self.loader.exec_module(module)
        while _waiting:
            _waiting.pop(0)()


if not has_jax():
    sys.meta_path.insert(0, _Watch())
