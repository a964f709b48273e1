"""Trees are taken apart and put together as JAX does, and JAX knows them whenever it is imported."""

import dataclasses
import subprocess
import sys
from collections import OrderedDict, namedtuple
from concurrent.futures import ThreadPoolExecutor

import equinox as eqx
import jax
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dockdyn.mechanics.vector import Vector
from dockdyn.trees import (
    Module,
    combine,
    field,
    flatten,
    is_real_array,
    leaves_of,
    leaves_with_paths,
    map_leaves,
    path_text,
    split,
    structure_of,
    unflatten,
)

Couple = namedtuple("Couple", "first second")


class Spring(Module):
    stiffness: float
    side: str = field(static=True, default="left")
    more: object = None


class Foreign(eqx.Module):
    """A class that others have made known to JAX."""

    number: float
    name: str = eqx.field(static=True)


leaf = st.one_of(
    st.floats(allow_nan=False),
    st.integers(-3, 3),
    st.booleans(),
    st.builds(lambda size: np.arange(float(size)), st.integers(0, 3)),
)
trees = st.recursive(
    st.one_of(leaf, st.none()),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.lists(inner, max_size=3).map(tuple),
        st.dictionaries(st.text("abc", min_size=1, max_size=2), inner, max_size=3),
        st.dictionaries(st.text("abc", min_size=1, max_size=2), inner, max_size=3).map(OrderedDict),
        st.builds(Couple, inner, inner),
        st.builds(Vector, inner, inner, inner),
        st.builds(Spring, inner, st.sampled_from(["left", "right"]), inner),
        st.builds(Foreign, inner, st.sampled_from(["a", "b"])),
    ),
    max_leaves=12,
)


@settings(max_examples=300, deadline=None)
@given(trees)
def test_leaves_and_their_order_are_those_of_jax(tree):
    leaves, structure = flatten(tree)
    expected, _ = jax.tree.flatten(tree)
    assert len(leaves) == structure.num_leaves == len(expected)
    assert all(one is other for one, other in zip(leaves, expected, strict=True))
    again = unflatten(structure, leaves)
    assert jax.tree.structure(again) == jax.tree.structure(tree)
    assert all(one is other for one, other in zip(jax.tree.leaves(again), expected, strict=True))


@settings(max_examples=300, deadline=None)
@given(trees, trees)
def test_structures_are_equal_where_those_of_jax_are(one, other):
    assert (structure_of(one) == structure_of(other)) == (jax.tree.structure(one) == jax.tree.structure(other))
    assert structure_of(one) == structure_of(map_leaves(lambda _: 0, one))


@settings(max_examples=200, deadline=None)
@given(trees)
def test_maps_splits_and_paths_are_those_of_jax(tree):
    def kind(leaf):
        return type(leaf).__name__

    changed = map_leaves(lambda a, b: (kind(a), b), tree, map_leaves(kind, tree))
    assert structure_of(map_leaves(kind, tree)) == structure_of(tree)
    assert leaves_of(changed, is_leaf=lambda part: isinstance(part, tuple) and part and isinstance(part[0], str)) == [
        (kind(one), kind(one)) for one in jax.tree.leaves(tree)
    ]
    real, rest = split(tree, is_real_array)
    assert len(leaves_of(real)) + len(leaves_of(rest)) == len(leaves_of(tree))
    assert all(a is b for a, b in zip(leaves_of(combine(real, rest)), leaves_of(tree), strict=True))


def test_paths_are_read_as_keys():
    tree = {"b": [Spring(1.0, more=(2.0, 3.0)), 4.0], "a": Couple(5.0, None)}
    found = [(path_text(path), leaf) for path, leaf in leaves_with_paths(tree)]
    expected = [("a.first", 5.0), ("b.0.stiffness", 1.0), ("b.0.more.0", 2.0), ("b.0.more.1", 3.0), ("b.1", 4.0)]
    assert found == expected
    assert found == [
        (jax.tree_util.keystr(path, simple=True, separator="."), leaf)
        for path, leaf in jax.tree_util.tree_leaves_with_path(tree)
    ]


def test_other_leaves_and_trees_are_refused():
    structure = structure_of([1.0, 2.0])
    for leaves in ([1.0], [1.0, 2.0, 3.0]):
        with pytest.raises(ValueError, match="leaves"):
            unflatten(structure, leaves)
    for other in ([1.0], (1.0, 2.0), {"a": 1.0}, Spring(1.0)):
        with pytest.raises(ValueError, match="where another has"):
            map_leaves(max, [1.0, 2.0], other)


def test_a_module_is_made_as_a_dataclass_is_and_never_changed():
    spring = Spring(3.0, more=4.0)
    assert (spring.stiffness, spring.side, spring.more) == (3.0, "left", 4.0)
    assert dataclasses.replace(spring, side="right") == Spring(3.0, "right", 4.0) != spring
    assert hash(spring) == hash(Spring(3.0, "left", 4.0))
    with pytest.raises(dataclasses.FrozenInstanceError):
        spring.stiffness = 5.0
    with pytest.raises(dataclasses.FrozenInstanceError):
        del spring.side
    for values, named, words in (
        ((), {}, "needs a value for 'stiffness'"),
        ((1.0,), {"stiffness": 2.0}, "more than one value"),
        ((1.0,), {"length": 2.0}, "unexpected value 'length'"),
        ((1.0, "left", 2.0, 3.0), {}, "takes 3 values but 4"),
    ):
        with pytest.raises(TypeError, match=words):
            Spring(*values, **named)


def test_checks_of_all_classes_are_made_from_the_first_on():
    seen = []

    class Checked(Module):
        size: float

        def __check_init__(self):
            seen.append(("first", self.size))

    class Stricter(Checked):
        def __check_init__(self):
            seen.append(("second", self.size))

    stricter = Stricter(2.0)
    assert seen == [("first", 2.0), ("second", 2.0)]
    jax.tree.map(lambda x: x, stricter)  # what JAX puts together again has been checked
    assert len(seen) == 2


class Converted(Module):
    size: np.ndarray = eqx.field(converter=np.asarray)

    def __post_init__(self):
        if self.size.ndim:
            raise ValueError("one number")


def test_fields_of_equinox_are_converted_and_checked():
    assert Converted(2).size.shape == ()
    with pytest.raises(ValueError, match="one number"):
        Converted([2.0, 3.0])


def test_threads_never_give_two_structures_one_key():
    def structures(thread):
        return [structure_of({f"{thread}-{name}": 1.0}) for name in range(300)]

    with ThreadPoolExecutor(8) as pool:
        found = [one for part in pool.map(structures, range(8)) for one in part]
    assert len(set(found)) == len(found)


LATER = """
import sys
from importlib.util import find_spec
from dockdyn.trees import Module, field, flatten
class Spring(Module):
    stiffness: float
    side: str = field(static=True, default="left")
own, _ = flatten([Spring(2.0), {"b": 3.0, "a": None}])
assert own == [2.0, 3.0] and "jax" not in sys.modules
assert find_spec("jax") is not None and "jax" not in sys.modules
import jax
assert jax.__spec__.loader is jax.__loader__ and "dockdyn" not in type(jax.__loader__).__module__
assert jax.tree.leaves(Spring(2.0)) == [2.0]
assert jax.grad(lambda spring: spring.stiffness ** 2)(Spring(3.0)).stiffness == 6.0
"""


def test_jax_knows_modules_made_before_it_was_imported():
    ended = subprocess.run([sys.executable, "-c", LATER], capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
