"""Machine code of dockdyn's own beside XLA's: every primitive, on what is no number and on infinities too."""

from functools import partial

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from translated import assert_same, primitives_of, traced

from dockdyn.translate.jaxpr import RULES

RNG = np.random.default_rng(11)
ODD = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1e300, -1e-300, 0.5, -0.75, 2.5, -3.5, 7.0])
FEW, MANY = ODD, np.concatenate([ODD, RNG.normal(size=90)])  # numbers of their own, and in memory
INTEGERS = np.array([0, 1, -1, 5, -7, 2**40, -(2**40), 2**62, 3])
SQUARE, TALL = RNG.normal(size=(4, 4)), RNG.normal(size=(12, 11))
BATCH = RNG.normal(size=(3, 4, 4))
POSITIVE = BATCH @ BATCH.swapaxes(-1, -2) + np.eye(4)
SHORT = np.array([2**31 - 1, -(2**31), 7, -3], np.int32)
WIDE = np.random.default_rng(8).normal(size=(14, 14))  # beside the others' numbers
BITS = np.array([True, False, True, True])

UNARY = [
    "neg",
    "abs",
    "sign",
    "square",
    "one_minus_square",
    "is_finite",
    "sqrt",
    "rsqrt",
    "floor",
    "ceil",
    "sin",
    "cos",
    "tan",
    "asin",
    "acos",
]
UNARY += [
    "atan",
    "sinh",
    "cosh",
    "tanh",
    "asinh",
    "acosh",
    "atanh",
    "exp",
    "exp2",
    "expm1",
    "log",
    "log1p",
    "cbrt",
    "erf",
]
UNARY += ["erfc", "lgamma"]
BINARY = [
    "add",
    "sub",
    "mul",
    "div",
    "rem",
    "max",
    "min",
    "eq",
    "ne",
    "lt",
    "le",
    "gt",
    "ge",
    "pow",
    "atan2",
    "nextafter",
]


@pytest.mark.parametrize("name", UNARY)
def test_of_one_number(name):
    for x in (FEW, MANY):
        assert_same(getattr(lax, name), x)


@pytest.mark.parametrize("name", BINARY)
def test_of_two_numbers(name):
    for x in (FEW, MANY):
        assert_same(getattr(lax, name), np.repeat(x, x.size), np.tile(x, x.size))


@pytest.mark.parametrize("name", ["add", "sub", "mul", "div", "rem", "max", "min", "eq", "lt", "le"])
@pytest.mark.parametrize("numbers", [INTEGERS, SHORT, SHORT.astype(np.uint32)], ids=["int64", "int32", "uint32"])
def test_of_integers(name, numbers):
    """Short ones wrap around; division by zero has an answer."""
    assert_same(getattr(lax, name), np.repeat(numbers, numbers.size), np.tile(numbers, numbers.size))


OTHERS = {
    "round": (lambda x: (lax.round(x), lax.round(x, lax.RoundingMethod.TO_NEAREST_EVEN)), FEW),
    "integer_pow": (lambda x: tuple(lax.integer_pow(x, n) for n in (-3, -1, 0, 1, 2, 7)), FEW),
    "polynomial": (lambda x: (lax.polynomial(x, [1.0, x[7], -2.0]), lax.polynomial(x[7:], list(range(12)))), FEW),
    "power of an integer": (lambda x: x ** jnp.arange(12), FEW),
    "clamp": (lambda x: lax.clamp(-0.5, x, 2.0), FEW),
    "logic": (lambda a: (a & ~a, a | a[::-1], a ^ a[::-1], a == a[::-1], jnp.maximum(a, a[::-1]), a.min()), BITS),
    "to integers": (lambda x: (x.astype(int), x.astype(bool), (x > 0).astype(int), (x > 0).astype(float)), FEW),
    "of integers": (lambda n: (n.astype(float), n.astype(bool), abs(n), -n, jnp.sign(n)), INTEGERS),
    "select": (lambda x: lax.select_n(jnp.arange(12) % 3, x, 2 * x, x - 1), FEW),
    "where": (lambda x: jnp.where(x > 0, x, jnp.nan), MANY),
    "sums": (
        lambda a: (a.sum(), a.sum(0), a.sum(1), a.prod(1), a.max(0), a.min(), (a > 0).any(0), (a > 0).all()),
        TALL,
    ),
    "places of extremes among many": (
        lambda x: (
            *(of(x.round(1)) for of in (jnp.argmax, jnp.argmin)),
            *(of(x[12:].round(1)) for of in (jnp.argmax, jnp.argmin)),  # without what is no number
            jnp.argmax(jnp.stack([x, -x], 1), 0),
            jnp.argmin(x > 0),
        ),
        MANY,
    ),
    "extremes of what is no number": (lambda x: (x.max(), x.min(), jnp.argmax(x), jnp.argmin(x)), FEW),
    "places of extremes": (lambda a: (jnp.argmax(a, 0), jnp.argmin(a, 1), jnp.argmin(a > 0, 0)), TALL),
    "xor": (lambda a: lax.reduce_xor(a, (0,)), BITS),
    "cumulated": (lambda a: (jnp.cumsum(a, 0), lax.cumsum(a, 1, reverse=True), lax.cummax(a), lax.cummin(a, 1)), TALL),
    "cumulated product": (lambda a: lax.cumprod(a, 0), SQUARE),
    "products": (
        lambda a, b: (a @ a.T, a.T @ a, a[0] @ b, jnp.einsum("ij,kj->ik", b, b)),
        (TALL, TALL[:1, :].T @ TALL[:1]),
    ),
    "products of many into few": (lambda a: (a @ a[0], a[0] @ a @ a[:, 0], a[:, :3].T @ a[:, :2]), WIDE),
    "products of many": (lambda a: (a @ a, jnp.einsum("bij,bj->bi", a, a[:, 0]), jnp.tensordot(a, a, 3)), BATCH),
    "sort": (lambda x: (jnp.sort(x), jnp.argsort(x), jnp.argsort(-x), jnp.sort(x.reshape(3, 4), 0)), FEW),
    "sort by two": (lambda a: lax.sort((jnp.round(a[0]), a[1], a[2]), num_keys=2), SQUARE),
    "iota": (
        lambda a: (lax.broadcasted_iota(int, (3, 4), 1), lax.broadcasted_iota(float, (12, 9), 0) + a[0, 0]),
        SQUARE,
    ),
    "shapes": (
        lambda a: (a.T, a.reshape(-1), a[::-1, ::2], jnp.tile(a, (2, 2)), jnp.stack([a, a]), a[None, :, 0]),
        TALL,
    ),
    "parts": (
        lambda a: (jnp.split(a, 3), jnp.concatenate([a, a[:2]], 0), jnp.concatenate([a, a], 1), list(a[:, :3])),
        TALL,
    ),
    "small parts": (
        lambda a: (jnp.split(a, 2, 1), jnp.concatenate([a, a[:2]], 0), jnp.broadcast_to(a[0], (3, 4))),
        SQUARE,
    ),
    "unstack": (lambda a: jnp.unstack(a, axis=1), SQUARE),
    "pad between": (lambda a: (lax.pad(a, 3.0, ((1, 2, 1), (0, 1, 2))), lax.pad(a, 3.0, ((0, 0, 0), (2, 0, 3)))), TALL),
    "pad": (lambda a: (jnp.pad(a, 1), lax.pad(a, 3.0, ((-1, 2, 1), (1, -2, 0)))), SQUARE),
    "pad of many": (lambda a: jnp.pad(a, ((2, 1), (0, 3)), constant_values=1.5), TALL),
    "inverse": (lambda a: (jnp.linalg.inv(a), jnp.linalg.solve(a, a[0]), jnp.linalg.det(a)), SQUARE),
    "inverse of many": (lambda a: (jnp.linalg.inv(a), jnp.linalg.solve(a, a)), BATCH),
    "inverse of a large one": (lambda a: jnp.linalg.solve(a.T @ a, a.T @ a[:, :2]), TALL),
    "lu of a tall one": (lambda a: lax.linalg.lu(a), TALL[:, :5]),
    "permutation": (lambda a: lax.linalg.lu_pivots_to_permutation(lax.linalg.lu(a)[1], 4), BATCH),
    "a singular one": (lambda a: lax.linalg.lu(a * jnp.array([1.0, 0, 1, 0])), SQUARE),
    "cholesky": (lambda a: jnp.linalg.cholesky(a), POSITIVE),
    "not positive": (lambda a: jnp.isnan(lax.linalg.cholesky(-a, symmetrize_input=False)[:, 0, 0]), POSITIVE),
    "searchsorted": (lambda x: jnp.searchsorted(jnp.sort(x[5:]), jnp.array([-5.0, 0.5, 0.6, 9.0]), side="right"), FEW),
    "interpolated": (lambda x: jnp.interp(x[7:], jnp.arange(5.0), jnp.arange(5.0) ** 2), FEW),
    "derivatives": (lambda a: jax.jacfwd(lambda x: jnp.sin(x) @ jnp.linalg.solve(a, x))(a[0]), SQUARE),
    "gradients": (lambda a: jax.grad(lambda x: (jnp.cumsum(x) ** 2).sum() + jnp.linalg.norm(x))(a[0]), SQUARE),
    "custom derivative": (lambda x: (jax.nn.relu(x), jax.nn.softplus(x[7:]), jnp.logaddexp(x[7:], 0.3)), FEW),
    "log2": (jnp.log2, FEW),
    "remat": (lambda x: jax.checkpoint(jnp.sin)(x), FEW),
    "an error that does not come": (lambda x: eqx.error_if(x * 2, (x == 12.0).any(), "a twelve"), FEW),
    "barrier": (lambda x: lax.optimization_barrier((x, lax.stop_gradient(x) + 1)), FEW),
}


@pytest.mark.full_cases("inverse of many")
@pytest.mark.parametrize("name", OTHERS)
def test_of_arrays(name):
    function, given = OTHERS[name]
    assert_same(function, *(given if isinstance(given, tuple) else (given,)))


@pytest.mark.parametrize("left", [True, False])
@pytest.mark.parametrize("lower", [True, False])
@pytest.mark.parametrize("transposed", [True, False])
@pytest.mark.parametrize("unit", [True, False])
def test_triangles(left, lower, transposed, unit):
    def solve(a, b):
        return lax.linalg.triangular_solve(
            a, b, left_side=left, lower=lower, transpose_a=transposed, unit_diagonal=unit
        )

    assert_same(solve, BATCH + 3 * np.eye(4), RNG.normal(size=(3, 4, 2) if left else (3, 2, 4)))


def changed(change, mode, array, at, new):
    return getattr(array.at[at], change)(new, mode=mode)


def changed_at(change, mode, known, array, new):
    return changed(change, mode, array, jnp.array(known), new)


MODES = ["clip", "fill", "promise_in_bounds"]


@pytest.mark.full_cases("memory-clip", "numbers-clip", "numbers-fill", "memory-fill")
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("array", [SQUARE, TALL], ids=["numbers", "memory"])
def test_gathers_and_scatters(mode, array):
    """By known and by computed places, some of them outside where that is allowed."""
    inside = np.array([0, 3, 1, 1])
    for places in (inside,) if mode == "promise_in_bounds" else (inside, np.array([0, 9, -20, 99])):
        assert_same(lambda a, places=places: a.at[places].get(mode=mode), array)
        assert_same(lambda a, places: a.at[places].get(mode=mode), array, places)
        assert_same(lambda a, places: a.at[:, places].get(mode=mode), array, places)
        assert_same(lambda a, places: a.at[places].get(mode=mode, fill_value=0), array, places)
        for change in ("set", "add", "multiply", "min", "max"):
            unique = places if change != "set" else places[:2]
            new = RNG.normal(size=(len(unique), array.shape[1]))
            assert_same(partial(changed, change, mode), array, unique, new)
            assert_same(partial(changed_at, change, mode, tuple(map(int, unique))), array, new)


PERMUTATION = RNG.permutation(100)


@pytest.mark.parametrize(
    "function",
    [
        lambda x, p: (x * 2).at[p].set(x * 2),
        lambda x, p: (x * 2).at[p].add(x * 2),
        lambda x, p: (x * 2).reshape(10, 10).at[p[:10] % 10].add((x * 2).reshape(10, 10)),
        lambda x, p: (p + 0).at[p + 0].set(p + 0),
    ],
)
def test_an_array_scattered_into_itself(function):
    """What is written is read from the same memory."""
    assert_same(function, RNG.normal(size=100), PERMUTATION)


LEAST = np.array([-(2**63), 5, 2**63 - 1])
WIDE = np.array([2**31 - 1, 5, 2**30], np.int32)


@pytest.mark.parametrize(
    ("function", "given"),
    [
        (lambda n: (lax.div(n, n * 0 - 1), lax.rem(n, n * 0 - 1), lax.div(n, jnp.array([-1, -1, -1]))), LEAST),
        (lambda n: (jnp.sum(n, dtype=jnp.int32) > 0, n.prod(dtype=jnp.int32) > 0, jnp.dot(n, n).astype(float)), WIDE),
        (lambda n: (n.at[0].add(5).astype(float), jnp.cumsum(n, dtype=jnp.int32).astype(float)), WIDE),
        (lambda n: (lax.reduce_max(n[:0], (0,)), lax.reduce_min(n[:0], (0,))), WIDE),
        (lambda x: (x.astype(jnp.int32), x.astype(jnp.uint32), x.astype(int)), np.append(ODD, [1e10, -1.5])),
        (lambda b: (jnp.sort(b), jnp.argsort(b), b < b[::-1], b <= b[::-1], lax.sort((b, b[::-1]), num_keys=2)), BITS),
    ],
)
def test_at_the_edges_of_types(function, given):
    assert_same(function, given)


@pytest.mark.parametrize(
    "matrix", [[[1.0, 1.0], [1.0, 1.0]], [[0.0]], [[4.0, 2.0, 0.0], [2.0, 1.0, 3.0], [0.0, 3.0, 9.0]]]
)
def test_what_is_not_positive_definite_has_no_factor(matrix):
    assert_same(jnp.linalg.cholesky, np.array(matrix))


@pytest.mark.parametrize("start", [-3, 0, 2, 50])
@pytest.mark.parametrize("array", [SQUARE, TALL], ids=["numbers", "memory"])
def test_parts_by_a_computed_start(start, array):
    at = np.array(start)
    assert_same(lambda a, at: lax.dynamic_slice(a, (at, 1), (2, 3)), array, at)
    assert_same(lambda a, at: lax.dynamic_update_slice(a, a[:2, :3] + 1, (at, at)), array, at)
    assert_same(lambda a, at: lax.dynamic_index_in_dim(a, at, 1, keepdims=False), array, at)


# what libraries of JAX's make of loops, or another release calls so; the models' programs have them
ELSEWHERE = {"empty", "empty2", "pvary", "platform_index", "add_any", "copy", "copy_p", "expand_dims"}
ELSEWHERE |= {"pjit", "core_call", "closed_call", "custom_vjp_call", "remat", "remat2", "checkpoint"}
ELSEWHERE |= {"scatter_add", "scatter_mul", "while", "scan", "cond", "tile", "lt_to", "le_to"}


def test_every_rule_is_tested():
    """A rule whose primitive none of these functions has is a rule that nobody has seen at work."""
    for function, given in OTHERS.values():
        traced(function, *(given if isinstance(given, tuple) else (given,)))
    known = {name for name in (*UNARY, *BINARY)} | {"triangular_solve", "dynamic_slice", "dynamic_update_slice"}
    known |= {"gather", "scatter", "scatter-add", "scatter-mul", "scatter-min", "scatter-max"}
    assert set(RULES) - primitives_of() - known <= ELSEWHERE
