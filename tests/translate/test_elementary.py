"""Elementary functions: within a unit in the last place everywhere, special values as C has them, the same bits in C."""

import math
from decimal import Decimal, localcontext

import jax
import numpy as np
import pytest
from jax import lax
from quadruple import GCC, errors, library
from test_c import compiled

from dockdyn.translate.elementary import BINARY, FORMULAS, UNARY
from dockdyn.translate.elementary.decimals import (
    CONTEXT,
    arctangent,
    error_function,
    fit_polynomial,
    pi,
    scaled_complement,
)
from dockdyn.translate.jaxpr import translate_function
from dockdyn.translate.native import Native, code_of

NAMES = {"fmod": "rem"}  # of JAX's functions, where they are others
EXACT = {"round", "fmod", "nextafter"}
QUICK, MANY, AT_ONCE = 20_000, 10_000_000, 200_000  # arguments
ODD = [
    0.0,
    1.0,
    2.0,
    0.5,
    3.0,
    8.0,
    27.0,
    1e5,
    math.inf,
    math.nan,
    5e-324,
    2.2250738585072014e-308,
    1.7976931348623157e308,
]
ODD += [709.782712893384, 709.7827128933841, 745.1332191019411, 745.1332191019412, 710.4758600739439, 710.475860073944]
ODD += [
    1024.0,
    1074.0,
    1075.0,
    1022.0,
    math.pi,
    math.pi / 2,
    math.pi / 4,
    2.0**53,
    2.0**54 + 2,
    6381956970095103 * 2.0**797,
]


def function_named(name):
    if name == "round":
        return lambda x: lax.round(x)
    return getattr(lax, NAMES.get(name, name))


def arguments_of(name, count, seed):
    """Numbers of all sizes, those where functions are difficult, and odd ones."""
    rng = np.random.default_rng([seed, *name.encode()])
    sign = rng.choice([-1.0, 1.0], count)
    parts = [
        rng.integers(0, 0x7FF0000000000000, count).view(np.float64) * sign,  # any float
        10 ** rng.uniform(-20, 3, count) * sign,
        rng.uniform(-1, 1, count),
        rng.uniform(-30, 30, count),
        rng.uniform(-750, 750, count),
        1 + 10 ** rng.uniform(-16, -1, count) * sign,
        10 ** rng.uniform(-324, -290, count) * sign,
        10 ** rng.uniform(0, 25, count) * sign,
        np.nextafter(np.round(rng.uniform(0, 1e6, count)) * (np.pi / 2), sign * 1e9),  # nearly multiples of π/2
        np.array([*ODD, *np.negative(ODD)]),
    ]
    x = np.concatenate(parts)
    if name in UNARY:
        return [x]
    y = rng.permutation(x)
    odd = parts[-1]
    pairs = [
        (x, y),
        (np.repeat(odd, odd.size), np.tile(odd, odd.size)),
        (10 ** rng.uniform(-3, 3, count), rng.uniform(-100, 100, count)),
        (10 ** rng.uniform(-3, 3, count), rng.integers(-40, 40, count) / 2),
        (parts[5], 10 ** rng.uniform(0, 12, count) * sign),
        (rng.uniform(-9, 9, count), rng.integers(-9, 9, count).astype(float)),
    ]
    return [np.concatenate(column) for column in zip(*pairs, strict=True)]


def check_function(name, count, seed):
    given = arguments_of(name, count, seed)
    found = native_of(name, given)
    quadruple = library(tuple(sorted(set(UNARY))), tuple(sorted(set(BINARY) - {"nextafter"})))
    worst = errors(quadruple, name, given, found)
    place = int(worst.argmax())
    assert worst[place] <= (0.0 if name in EXACT else 1.0), (worst[place], [row[place] for row in given], found[place])


def native_of(name, given):
    return Native(code_of(translate_function(jax.jit(function_named(name)).trace(*given).jaxpr)))(*given)[0]


MEASURED = sorted(set(FORMULAS) - {"nextafter"})


@pytest.mark.parametrize("name", MEASURED)
def test_within_a_unit_in_the_last_place(name):
    check_function(name, QUICK, 0)


@pytest.mark.full
@pytest.mark.parametrize("name", MEASURED)
def test_within_a_unit_in_the_last_place_of_ten_million(name):
    for seed in range(1, 1 + MANY // (10 * AT_ONCE)):
        check_function(name, AT_ONCE, seed)


def test_neighbours():
    """As NumPy's, which C's library computes."""
    given = arguments_of("nextafter", QUICK, 0)
    with np.errstate(over="ignore"):
        wanted = np.nextafter(*given)
    assert_same_bits(native_of("nextafter", given), wanted)


INF, NAN = math.inf, math.nan
SPECIAL = {  # C99's annex F.9; signs of zeros count
    "sin": [(0.0, 0.0), (-0.0, -0.0), (INF, NAN), (-INF, NAN)],
    "cos": [(0.0, 1.0), (-0.0, 1.0), (INF, NAN)],
    "tan": [(-0.0, -0.0), (INF, NAN)],
    "asin": [(-0.0, -0.0), (1.0000000000000002, NAN), (-2.0, NAN), (INF, NAN)],
    "acos": [(1.0, 0.0), (1.5, NAN), (-INF, NAN)],
    "atan": [(-0.0, -0.0), (INF, math.pi / 2), (-INF, -math.pi / 2)],
    "sinh": [(-0.0, -0.0), (INF, INF), (-INF, -INF)],
    "cosh": [(-0.0, 1.0), (INF, INF), (-INF, INF)],
    "tanh": [(-0.0, -0.0), (INF, 1.0), (-INF, -1.0)],
    "asinh": [(-0.0, -0.0), (INF, INF), (-INF, -INF)],
    "acosh": [(1.0, 0.0), (0.5, NAN), (-INF, NAN), (INF, INF)],
    "atanh": [(-0.0, -0.0), (1.0, INF), (-1.0, -INF), (1.5, NAN), (INF, NAN)],
    "exp": [(-0.0, 1.0), (-INF, 0.0), (INF, INF), (710.0, INF), (-746.0, 0.0)],
    "exp2": [(-0.0, 1.0), (-INF, 0.0), (INF, INF), (1024.0, INF), (-1076.0, 0.0), (-1074.0, 5e-324), (10.0, 1024.0)],
    "expm1": [(-0.0, -0.0), (-INF, -1.0), (INF, INF)],
    "log": [(0.0, -INF), (-0.0, -INF), (1.0, 0.0), (-1.0, NAN), (-INF, NAN), (INF, INF)],
    "log1p": [(-0.0, -0.0), (-1.0, -INF), (-2.0, NAN), (-INF, NAN), (INF, INF)],
    "log2": [(-0.0, -INF), (1.0, 0.0), (8.0, 3.0), (5e-324, -1074.0), (-1.0, NAN), (INF, INF)],
    "cbrt": [(-0.0, -0.0), (INF, INF), (-INF, -INF), (27.0, 3.0), (-8.0, -2.0)],
    "erf": [(-0.0, -0.0), (INF, 1.0), (-INF, -1.0)],
    "erfc": [(-0.0, 1.0), (INF, 0.0), (-INF, 2.0)],
    "round": [(-0.0, -0.0), (INF, INF), (-INF, -INF), (0.49999999999999994, 0.0), (-2.5, -3.0), (2.0**53, 2.0**53)],
}  # fmt: skip
POWERS = [  # F.9.4.4
    (0.0, -3.0, INF), (-0.0, -3.0, -INF), (-0.0, -2.0, INF), (0.0, -0.5, INF), (-0.0, -INF, INF),
    (-0.0, 3.0, -0.0), (0.0, 3.0, 0.0), (-0.0, 2.0, 0.0), (-0.0, 0.5, 0.0), (-1.0, INF, 1.0), (-1.0, -INF, 1.0),
    (1.0, NAN, 1.0), (1.0, INF, 1.0), (NAN, 0.0, 1.0), (NAN, -0.0, 1.0), (INF, 0.0, 1.0), (-2.0, 0.5, NAN),
    (0.5, -INF, INF), (2.0, -INF, 0.0), (0.5, INF, 0.0), (2.0, INF, INF), (-INF, -3.0, -0.0), (-INF, -2.5, 0.0),
    (-INF, 3.0, -INF), (-INF, 2.5, INF), (INF, -0.5, 0.0), (INF, 0.5, INF), (NAN, 1.0, NAN), (2.0, NAN, NAN),
    (-2.0, 3.0, -8.0), (-2.0, 1023.0, -(2.0**1023)), (2.0, -1074.0, 5e-324), (-2.0, 1025.0, -INF),
    (-2.0, -1077.0, -0.0), (-3.0, 2.0**53 + 2, INF),
]  # fmt: skip
ANGLES = [  # F.9.1.4
    (0.0, -0.0, math.pi), (-0.0, -0.0, -math.pi), (0.0, 0.0, 0.0), (-0.0, 0.0, -0.0), (0.0, -1.0, math.pi),
    (-0.0, 1.0, -0.0), (-1.0, 0.0, -math.pi / 2), (1.0, -0.0, math.pi / 2), (1.0, -INF, math.pi), (-1.0, INF, -0.0),
    (INF, 5.0, math.pi / 2), (-INF, INF, -math.pi / 4), (INF, -INF, 3 * math.pi / 4), (NAN, 1.0, NAN), (1.0, NAN, NAN),
]  # fmt: skip
REMAINDERS = [  # F.9.7.1
    (-0.0, 3.0, -0.0), (0.0, -3.0, 0.0), (INF, 3.0, NAN), (3.0, 0.0, NAN), (-3.0, INF, -3.0), (NAN, 1.0, NAN),
    (-6.0, 3.0, -0.0), (5.5, -2.0, 1.5), (1e308, 5e-324, 0.0),
]  # fmt: skip


@pytest.mark.parametrize("name", SPECIAL)
def test_special_values(name):
    x, wanted = np.array([*SPECIAL[name], (NAN, NAN)]).T
    assert_same_bits(native_of(name, [x]), wanted)


@pytest.mark.parametrize(("name", "rows"), [("pow", POWERS), ("atan2", ANGLES), ("fmod", REMAINDERS)])
def test_special_values_of_two(name, rows):
    x, y, wanted = np.array(rows).T
    assert_same_bits(native_of(name, [x, y]), wanted)


def assert_same_bits(found, wanted):
    """But for those of what is no number."""
    bits = [np.where(np.isnan(one), NAN, one).view(np.int64) for one in (found, wanted)]
    np.testing.assert_array_equal(*bits)


@pytest.mark.full_cases("erfc-2000")
@pytest.mark.skipif(GCC is None, reason="no C compiler here")
@pytest.mark.parametrize("count", [QUICK // 10, pytest.param(AT_ONCE, marks=pytest.mark.full)])
@pytest.mark.parametrize("name", FORMULAS)
def test_the_same_bits_in_c(name, count, tmp_path):
    (one,), (other,) = compiled(function_named(name), arguments_of(name, count, 7), tmp_path)
    assert_same_bits(one, other)


def test_constants_by_other_ways():
    """π to 60 digits; of the error function, the series beside a continued fraction."""
    assert str(pi()).startswith("3.14159265358979323846264338327950288419716939937510582097494")
    with localcontext(CONTEXT):
        assert abs(4 * arctangent(Decimal(1)) - pi()) < Decimal("1e-75")
        x = Decimal(5)
        assert abs(scaled_complement(x) - (1 - error_function(x)) * (x * x).exp()) < Decimal("1e-60")


def test_a_polynomial_is_found_again():
    with localcontext(CONTEXT):
        found = fit_polynomial(lambda x: 3 - x + 2 * x**3, Decimal(-1), Decimal(2), 6)
    np.testing.assert_allclose([float(one) for one in found], [3, -1, 0, 2, 0, 0], atol=1e-60)
