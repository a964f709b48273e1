"""Trees of arrays: taken apart, put together and mapped without JAX, and known to it as soon as it is imported.

What a tree is: tuples, lists, named tuples and dictionaries (in the order of their keys), `None` without leaves, and classes
that `register` names, among them all of `Module`. Everything else is a leaf. The order of the leaves is JAX's.

Units: none.
Source: definition.
"""

from __future__ import annotations

import dataclasses
from abc import ABCMeta
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import count
from operator import attrgetter
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, dataclass_transform

import numpy as np

from dockdyn.deferred import PyTree, has_jax, is_array_of_jax, jax, when_jax_comes
from dockdyn.records import in_words, refuse_deleting, refuse_setting, set_fields, with_fields

if TYPE_CHECKING:
    from equinox import AbstractVar as AbstractVar
else:

    class AbstractVar:
        """A field that classes derived state: `mass: AbstractVar[Float]`."""

        def __class_getitem__(cls, item: object) -> type[AbstractVar]:
            return cls


class Node(NamedTuple):
    """How trees of one class are taken apart."""

    flatten: Callable[[Any], tuple[Sequence[Any], Any]]  # the children, and what is static
    unflatten: Callable[[Any, Iterable[Any]], Any]  # from what is static and the children
    names: Callable[[Any], Sequence[str]]  # of the children, by what is static


_nodes: dict[type, Node] = {}
_keys: dict[tuple[Any, ...], int] = {}  # of structures, one for all that are equal
_numbers = count()  # never one twice, whichever thread asks


class Structure:
    """What a tree is but for its leaves: its class, what is static of it, and the structures of its children."""

    __slots__ = ("children", "key", "kind", "num_leaves", "static")

    def __init__(self, kind: type | None, static: Any, children: tuple[Structure, ...], num_leaves: int):  # noqa: ANN401, of any class
        self.kind, self.static, self.children, self.num_leaves = kind, static, children, num_leaves
        self.key: int = _keys.setdefault((kind, static, *[child.key for child in children]), next(_numbers))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Structure) and self.key == other.key

    def __hash__(self) -> int:
        return self.key

    def __repr__(self) -> str:
        return f"Structure({unflatten(self, ['*'] * self.num_leaves)})"


LEAF = Structure(None, "leaf", (), 1)
EMPTY = Structure(None, "none", (), 0)


def register(
    kind: type,
    flatten: Callable[[Any], tuple[Sequence[Any], Any]],
    unflatten: Callable[[Any, Iterable[Any]], Any],
    names: Callable[[Any], Sequence[str]],
) -> None:
    """Let objects of a class be trees, here and for JAX: `flatten` gives their children and what is static of them."""
    _nodes[kind] = Node(flatten, unflatten, names)
    _leaf_kinds.discard(kind)

    def with_names(tree: Any) -> tuple[list[tuple[Any, Any]], Any]:  # noqa: ANN401, of that class
        children, static = flatten(tree)
        return [
            (jax.tree_util.GetAttrKey(name), one) for name, one in zip(names(static), children, strict=True)
        ], static

    when_jax_comes(lambda: jax.tree_util.register_pytree_with_keys(kind, with_names, unflatten, flatten))


def _children_of(tree: Any) -> tuple[Sequence[Any], type, Any] | None:  # noqa: ANN401, any tree
    """Return the children of a tree, its class, and what is static of it; None of a leaf."""
    kind = type(tree)
    if kind in _leaf_kinds:
        return None
    if (node := _nodes.get(kind)) is not None:
        children, static = node.flatten(tree)
        return children, kind, static
    if kind is tuple or kind is list or (isinstance(tree, tuple) and hasattr(tree, "_fields")):
        return tree, kind, None
    if kind is dict:
        names = sorted(tree)
        return [tree[name] for name in names], kind, tuple(names)
    if kind is OrderedDict:
        return list(tree.values()), kind, tuple(tree)
    return _children_by_jax(tree) if has_jax() else None


_leaf_kinds: set[type] = {float, int, bool, complex, str, np.ndarray, np.float64, np.int64, np.bool_}


def _children_by_jax(tree: Any) -> tuple[Sequence[Any], type, Any] | None:  # noqa: ANN401, any tree
    """Return the same of a class that others have made known to JAX."""
    structure: Any
    children, structure = jax.tree.flatten(tree, is_leaf=lambda part: part is not tree)
    if structure.node_data() is None:
        _leaf_kinds.add(type(tree))
        return None
    return children, type(tree), structure


Known = dict[int, tuple[list[Any], Structure, Any]]  # by id: leaves, structure, and the object, so that it stays


def flatten(tree: PyTree, is_leaf: Callable[[Any], bool] | None = None) -> tuple[list[Any], Structure]:
    """Return the leaves of a tree and its structure; what `is_leaf` says so of is one leaf."""
    found: list[Any] = []
    return found, _take_apart(tree, found, is_leaf, None)


def flatten_all(trees: Sequence[PyTree]) -> list[tuple[list[Any], Structure]]:
    """Return the leaves and the structure of each of several trees; sections that they share are taken apart once."""
    known: Known = {}
    rows: list[list[Any]] = [[] for _ in trees]
    return [(row, _take_apart(tree, row, None, known)) for tree, row in zip(trees, rows, strict=True)]


def _take_apart(tree: PyTree, into: list[Any], is_leaf: Callable[[Any], bool] | None, known: Known | None) -> Structure:
    if is_leaf is not None and is_leaf(tree):
        into.append(tree)
        return LEAF
    if tree is None:
        return EMPTY
    if known is not None and id(tree) in known:
        leaves, structure, _ = known[id(tree)]
        into.extend(leaves)
        return structure
    if (parts := _children_of(tree)) is None:
        into.append(tree)
        return LEAF
    children, kind, static = parts
    before = len(into)
    below = tuple([_take_apart(child, into, is_leaf, known) for child in children])
    structure = Structure(kind, static, below, len(into) - before)
    if known is not None and kind in _nodes:
        known[id(tree)] = into[before:], structure, tree
    return structure


def unflatten(structure: Structure, leaves: Iterable[Any]) -> Any:  # noqa: ANN401, any tree
    """Return the tree of a structure with other leaves. Raises ValueError where they are too few or too many."""
    rest = iter(leaves)
    try:
        found = _put_together(structure, rest)
    except StopIteration:
        raise ValueError(f"too few leaves for a tree of {structure.num_leaves}") from None
    if next(rest, _nodes) is not _nodes:
        raise ValueError(f"too many leaves for a tree of {structure.num_leaves}")
    return found


def _put_together(structure: Structure, rest: Iterator[Any]) -> Any:  # noqa: ANN401, any tree
    if structure is LEAF:
        return next(rest)
    if structure is EMPTY:
        return None
    kind, static = structure.kind, structure.static
    assert kind is not None
    children = [_put_together(child, rest) for child in structure.children]
    if (node := _nodes.get(kind)) is not None:
        return node.unflatten(static, children)
    if kind is tuple:
        return tuple(children)
    if kind is list:
        return children
    if kind is dict or kind is OrderedDict:
        return kind(zip(static, children, strict=True))
    if static is None:
        return kind(*children)
    return jax.tree.unflatten(static, children)


def structure_of(tree: PyTree) -> Structure:
    """Return the structure of a tree."""
    return flatten(tree)[1]


def leaves_of(tree: PyTree, is_leaf: Callable[[Any], bool] | None = None) -> list[Any]:
    """Return the leaves of a tree; what `is_leaf` says so of is one leaf."""
    return flatten(tree, is_leaf)[0]


def map_leaves(
    change: Callable[..., Any], tree: PyTree, *others: PyTree, is_leaf: Callable[[Any], bool] | None = None
) -> Any:  # noqa: ANN401, any tree
    """Return a tree with each leaf changed, together with what other trees have in its place."""
    leaves, structure = flatten(tree, is_leaf)
    if not others:
        return unflatten(structure, map(change, leaves))
    rows = [_parts_at(structure, other) for other in others]
    return unflatten(structure, map(change, leaves, *rows))


def _parts_at(structure: Structure, tree: PyTree) -> list[Any]:
    """Return what a tree has in the places of the leaves of a structure. Raises ValueError where it is another tree."""
    if structure is LEAF:
        return [tree]
    if structure is EMPTY:
        if tree is not None:
            raise ValueError(f"a tree has {tree!r} where another has nothing")
        return []
    parts = _children_of(tree)
    if parts is None or parts[1] is not structure.kind or len(parts[0]) != len(structure.children):
        raise ValueError(f"a tree has {tree!r} where another has {structure}")
    if parts[2] != structure.static:
        raise ValueError(f"a tree has {tree!r} where another has {structure}")
    return [part for below, child in zip(structure.children, parts[0], strict=True) for part in _parts_at(below, child)]


type Path = tuple[str | int, ...]


def leaves_with_paths(tree: PyTree, path: Path = ()) -> list[tuple[Path, Any]]:
    """Return the leaves of a tree with the ways to them: fields by their names, members of lists by their numbers."""
    if tree is None:
        return []
    if (parts := _children_of(tree)) is None:
        return [(path, tree)]
    children, kind, static = parts
    if (node := _nodes.get(kind)) is not None:
        names: Sequence[str | int] = node.names(static)
    elif kind in (dict, OrderedDict):
        names = static
    else:
        names = getattr(kind, "_fields", range(len(children)))
    return [
        found
        for below, child in zip(names, children, strict=True)
        for found in leaves_with_paths(child, (*path, below))
    ]


def path_text(path: Path) -> str:
    """Return a way to a leaf as it is read: names and numbers between points."""
    return ".".join(map(str, path))


def combine(first: PyTree, second: PyTree) -> Any:  # noqa: ANN401, any tree
    """Return a tree with the leaves of `first`, and those of `second` where that has none."""
    return map_leaves(
        lambda one, other: other if one is None else one, first, second, is_leaf=lambda part: part is None
    )


def split(tree: PyTree, belongs: Callable[[Any], bool]) -> tuple[Any, Any]:
    """Return a tree with the leaves that belong, and one with all others, each with None in place of what it lacks."""
    leaves, structure = flatten(tree)
    own = [belongs(leaf) for leaf in leaves]
    return (
        unflatten(structure, [leaf if there else None for leaf, there in zip(leaves, own, strict=True)]),
        unflatten(structure, [None if there else leaf for leaf, there in zip(leaves, own, strict=True)]),
    )


def is_real_array(leaf: object) -> bool:
    """Return whether a leaf is an array of numbers that are no integers: what derivatives are taken of."""
    return (isinstance(leaf, np.ndarray | np.generic) or is_array_of_jax(leaf)) and np.issubdtype(
        leaf.dtype,  # type: ignore[attr-defined]
        np.inexact,
    )


def field(*, static: bool = False, **options: Any) -> Any:  # noqa: ANN401, of `dataclasses.field`
    """Return a field of a `Module`, for its default and whether it is `static`: part of the structure, compared by value."""
    about = options.pop("metadata", {})
    return dataclasses.field(metadata=about | {"static": True} if static else about, **options)


@dataclass_transform(frozen_default=True, field_specifiers=(dataclasses.field, field))
class Module(metaclass=ABCMeta):  # noqa: B024, whose derived classes have abstract methods
    """A class whose fields are a tree: its annotated names are its fields, as of a dataclass, and none can be set again.

    A class may check its fields in `__check_init__`, after those that it is derived from.
    """

    _fields: ClassVar[dict[str, dataclasses.Field[Any]]] = {}
    _dynamic: ClassVar[tuple[str, ...]] = ()
    _static: ClassVar[tuple[str, ...]] = ()
    _checks: ClassVar[tuple[Callable[[Any], None], ...]] = ()
    _converters: ClassVar[dict[str, Callable[[Any], Any]]] = {}  # of fields of a user's own, by `equinox.field`

    def __init_subclass__(cls, **options: Any) -> None:  # noqa: ANN401, of further bases
        super().__init_subclass__(**options)
        cls.__doc__ = cls.__doc__ or ""  # else one would be made, slowly, of the signature
        own = with_fields(cls)._fields.values()
        cls._static = tuple(one.name for one in own if one.metadata.get("static"))
        cls._dynamic = tuple(one.name for one in own if not one.metadata.get("static"))
        cls._converters = {one.name: one.metadata["converter"] for one in own if "converter" in one.metadata}
        checks = [vars(kind).get("__check_init__") for kind in reversed(cls.__mro__)]
        cls._checks = tuple(check for check in [getattr(cls, "__post_init__", None), *checks] if check is not None)
        register(cls, cls._taken_apart, cls._put_together, lambda static: cls._dynamic)

    def __init__(self, *values: Any, **named: Any):  # noqa: ANN401, of the fields
        set_fields(self, values, named)
        for name, convert in self._converters.items():
            self.__dict__[name] = convert(self.__dict__[name])
        for check in self._checks:
            check(self)

    __setattr__ = refuse_setting
    __delattr__ = refuse_deleting
    __repr__ = in_words

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return NotImplemented
        (own, structure), (others, same) = flatten(self), flatten(other)
        return structure == same and all(map(_are_equal, own, others))

    def __hash__(self) -> int:
        own, structure = flatten(self)
        return hash((structure, *[one.tobytes() if isinstance(one, np.ndarray) else one for one in own]))

    def _taken_apart(self) -> tuple[list[Any], tuple[Any, ...]]:
        own = self.__dict__
        return [own[name] for name in self._dynamic], tuple([own[name] for name in self._static])

    @classmethod
    def _put_together(cls, static: tuple[Any, ...], children: Iterable[Any]) -> Any:  # noqa: ANN401, of this class
        made = object.__new__(cls)
        made.__dict__.update(zip(cls._dynamic, children, strict=True))
        made.__dict__.update(zip(cls._static, static, strict=True))
        return made


def _are_equal(one: Any, other: Any) -> bool:  # noqa: ANN401, leaves
    if isinstance(one, np.ndarray) or isinstance(other, np.ndarray) or np.shape(one) or np.shape(other):
        return np.shape(one) == np.shape(other) and bool(np.all(np.asarray(one) == np.asarray(other)))
    return bool(one == other)


def tree_of_fields[T](kind: type[T]) -> type[T]:
    """Let objects of a dataclass be trees of its fields."""
    names = tuple(one.name for one in dataclasses.fields(kind))  # type: ignore[arg-type]
    take = attrgetter(*names)
    register(kind, lambda tree: (take(tree), None), lambda _, children: kind(*children), lambda _: names)
    return kind
