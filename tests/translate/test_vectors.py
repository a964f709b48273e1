"""Several turns of a loop at once, in vectors: the bits that each turn has by itself."""

from collections import OrderedDict

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from sticking_ball import ball_on_plane
from test_primitives import BINARY, OTHERS, UNARY

from dockdyn import programs
from dockdyn.scenario.load import load as load_scenario
from dockdyn.studies.cases.batch import run_cases
from dockdyn.translate import native, vectors
from dockdyn.translate.jaxpr import translate_function
from dockdyn.translate.vectors import vector_text_of

MANY = 70  # numbers of an array that is kept in memory


def scalars_and_vectors(function, rows, lanes, monkeypatch):
    """Return what the turns of a function of rows answer one by one, and several at once."""
    monkeypatch.setattr(native, "count_lanes", lambda: lanes)
    monkeypatch.setattr(vectors, "SHARE", 0.0)
    program = translate_function(jax.jit(lambda *given: lax.map(lambda row: function(*row), given)).trace(*rows).jaxpr)
    code = native.code_of(program)
    assert f"<{lanes} x " in code.written.unpacked()
    at_once = native.Native(code)
    at_once.price = 0.0
    at_first = at_once(*rows)
    assert at_once.code.level == native.BETTER, at_once.unimproved
    assert_bits(at_first, at_once(*rows))
    monkeypatch.setattr(native, "count_lanes", lambda: 0)
    one_by_one = native.code_of(program)
    assert one_by_one.wide is None
    return native.Native(one_by_one)(*rows), at_first


def assert_bits(found, other):
    for one, two in zip(found, other, strict=True):
        np.testing.assert_array_equal(one, two)
        if one.dtype.kind == "f":
            numbers = ~np.isnan(one)  # of what is none nobody says which sign it has
            np.testing.assert_array_equal(np.signbit(one[numbers]), np.signbit(two[numbers]))


def drawn_statement(draw, depth):
    """Return a function of numbers, an array in memory and an integer, of those kinds that programs of models have."""
    choice = draw.integers(9 if depth else 5)
    place, other = draw.integers(5, size=2)
    share = draw.uniform(-1, 1)
    if choice == 0:
        operation = [jnp.sin, jnp.exp, jnp.sqrt, jnp.abs, jnp.floor, jnp.tanh][draw.integers(6)]
        return lambda x, m, k: (x.at[place].set(operation(x[other]) * share), m, k)
    if choice == 1:
        operation = [jnp.add, jnp.multiply, jnp.maximum, jnp.arctan2, jnp.divide, jnp.fmod][draw.integers(6)]
        return lambda x, m, k: (x.at[place].set(operation(x[other], x[place] + share)), m, k)
    if choice == 2:
        return lambda x, m, k: (x, m.at[jnp.abs(k) % MANY].add(x[place]), k + 1)
    if choice == 3:
        return lambda x, m, k: (x.at[place].set(m[(k * 3 + 1) % MANY]), m * share + x[other], k - 2)
    if choice == 4:
        return lambda x, m, k: (x, m, jnp.where(x[place] > share, k * 5 // 3, lax.div(k, jnp.array(2))))
    inner = drawn_block(draw, depth - 1)
    if choice == 5:
        return lambda x, m, k: lax.fori_loop(0, 3, lambda i, c: inner(c[0] + i * 0.1, *c[1:]), (x, m, k))
    if choice == 6:  # as many turns as the lane says

        def turns(x, m, k):
            most = jnp.abs(k) % 4
            return lax.while_loop(lambda c: c[1] < most, lambda c: (inner(*c[0]), c[1] + 1), ((x, m, k), 0))[0]

        return turns
    outer = drawn_block(draw, depth - 1)
    if choice == 7:
        return lambda x, m, k: lax.cond(x[place] > share, inner, outer, x, m, k)
    return lambda x, m, k: lax.switch(jnp.abs(k) % 3, [inner, outer, lambda *c: (c[0], c[1][::-1], c[2])], x, m, k)


def drawn_block(draw, depth):
    statements = [drawn_statement(draw, depth) for _ in range(draw.integers(1, 5))]

    def block(x, m, k):
        for statement in statements:
            x, m, k = statement(x, m, k)
        return x, m, k

    return block


@pytest.mark.full_cases(
    *(f"{lanes}-{seed}" for lanes in (2, 4, 8) for seed in range(10, 60)),
    "8-4",
    "2-4",
    "4-4",
    "4-8",
    "4-9",
    "8-8",
    "8-9",
)
@pytest.mark.parametrize("seed", range(60), ids=str)
@pytest.mark.parametrize("lanes", [2, 4, 8], ids=str)
def test_drawn_programs(lanes, seed, monkeypatch):
    """Loops, branches and memory, however lanes differ; as many rows as do not fill the last vector, too."""
    draw = np.random.default_rng(4000 + seed)
    block, count = drawn_block(draw, 3), int(draw.integers(lanes, 40))
    rows = draw.normal(size=(count, 5)), draw.normal(size=(count, MANY)), draw.integers(-50, 50, count)
    rows[0][draw.integers(count), 0] = draw.choice([np.nan, np.inf, -0.0])
    assert_bits(*scalars_and_vectors(block, rows, lanes, monkeypatch))


@pytest.mark.full
@pytest.mark.parametrize("lanes", [4, 8], ids=str)
def test_every_operation(lanes, monkeypatch):
    draw = np.random.default_rng(lanes)
    x = draw.normal(size=(11, 3))
    x[:, 1] = [np.nan, np.inf, -np.inf, 0.0, -0.0, 1e300, -1e-300, 0.5, -0.75, 2.5, -3.5]
    y, n, flags = draw.normal(size=(11, 3)), draw.integers(1, 9, (11, 3)), draw.integers(2, size=(11, 3)) > 0

    def all_of(x, y, n, flags):
        floats = [getattr(lax, name)(x) for name in UNARY if hasattr(lax, name)]
        pairs = [getattr(lax, name)(x, y) for name in BINARY if hasattr(lax, name) and name not in ("and", "or", "xor")]
        short = n.astype(jnp.int32)
        whole = [lax.div(n - 5, n), lax.rem(n * 7, n), short * 3, short.astype(jnp.uint32) + 1, lax.abs(2 - n)]
        truths = [flags & (x > 0), flags | (x > 0), flags ^ (y > 0), ~flags, flags < (y > 0), flags.astype(float) + n]
        return floats, pairs, whole, truths, jnp.where(flags, x, y), x.astype(int), lax.clamp(-1.0, x, 1.0)

    assert_bits(*scalars_and_vectors(all_of, (x, y, n, flags), lanes, monkeypatch))


@pytest.mark.full
@pytest.mark.parametrize("name", OTHERS)
def test_operations_on_arrays(name, monkeypatch):
    """What other primitives make of the arrays of a lane, which all lanes have in another order."""
    function, given = OTHERS[name]
    draw = np.random.default_rng(3)
    arrays = [np.asarray(one) for one in (given if isinstance(given, tuple) else (given,))]
    rows = [np.stack([draw.permutation(one) for _ in range(9)]) for one in arrays]
    assert_bits(*scalars_and_vectors(function, rows, 8, monkeypatch))


def cases_of(scenario, keys, values, lanes, monkeypatch):
    """Return what cases leave whose program takes so many at once; 0: one by one."""
    used = []

    def begun(self, code, changed=None):
        made(self, code, None)
        self.price = 0.0 if lanes else np.inf
        used.append(self)

    made = native.Native.__init__
    with monkeypatch.context() as patch:
        patch.setattr(native, "count_lanes", lambda: lanes)
        patch.setattr(native.Native, "__init__", begun)
        patch.setattr(programs, "load_code", lambda name: None)
        patch.setattr(programs, "store_code", lambda *given: None)
        patch.setattr(programs, "kept", OrderedDict())
        found = run_cases(scenario, keys, values, threads=1)
    return found, any(one.code.level and f"<{lanes} x double>" in one.code.written.unpacked() for one in used)


def assert_cases(scenario, keys, values, monkeypatch):
    one_by_one, _ = cases_of(scenario, keys, values, 0, monkeypatch)
    assert sum(not reason for reason in one_by_one.reasons) > len(values) / 2
    for lanes in (4, 8):
        at_once, in_vectors = cases_of(scenario, keys, values, lanes, monkeypatch)
        assert in_vectors
        assert at_once.reasons == one_by_one.reasons
        assert at_once.figures.keys() == one_by_one.figures.keys()
        for name, figures in at_once.figures.items():
            np.testing.assert_array_equal(figures, one_by_one.figures[name], err_msg=name)


@pytest.mark.full
def test_cases_of_a_scenario(load, monkeypatch):
    """A ball that hits a plane with friction, at any speed; with a delay, so that lines of the past are in memory, too."""
    draw = np.random.default_rng(8)
    normal = {"law": "hunt-crossley", "stiffness": 1e5, "exponent": 1.5, "damping": 0.3}
    tables = ball_on_plane(
        [0.2, 0.0, -0.4], [0, 3.0, 0], normal, {"law": "coulomb", "coefficient": 0.3, "regularisation": 2e-3}
    )
    scenario = load(tables | {"duration": 0.05, "loop": {"delay": 2e-4}})
    values = np.stack([draw.uniform(-1.0, -0.1, 150), draw.uniform(0.0, 0.6, 150)], axis=1)
    assert_cases(scenario, ["body.ball.velocity.2", "contact.hit.friction.coefficient"], values, monkeypatch)


@pytest.mark.full
@pytest.mark.parametrize("preset", ["idss-probe-cone", "atv-like"])
def test_cases_of_a_preset(preset, monkeypatch):
    """As its campaign draws them, or at any speed of approach."""
    scenario = load_scenario(preset)
    draw = np.random.default_rng(5)
    keys = [key for one in scenario.dispersions for key in one.keys]
    values = np.concatenate([one.values(draw.uniform(size=(128, one.size))) for one in scenario.dispersions], axis=1)
    assert_cases(scenario, keys, values, monkeypatch)


def test_a_loop_whose_turns_read_what_others_wrote_is_not_taken_at_once(monkeypatch):
    x = np.arange(16.0)

    def growing(x):
        return lax.scan(lambda total, one: (total + jnp.sin(one), total), 0.0, x)

    assert vector_text_of(translate_function(jax.jit(growing).trace(x).jaxpr), 4) is None
    monkeypatch.setattr(vectors, "SHARE", 0.0)
    assert vector_text_of(translate_function(jax.jit(lambda x: lax.map(jnp.sin, x)).trace(x[:3]).jaxpr), 4) is None
    assert vector_text_of(translate_function(jax.jit(lambda x: lax.map(jnp.sin, x)).trace(x).jaxpr), 4) is not None


def test_what_only_python_can_do_ends_a_program_of_vectors(monkeypatch):
    def one(x):
        return lax.cond(x[0] > 2, lambda: jax.pure_callback(np.sin, x, x), lambda: jnp.cos(x) * 2)

    monkeypatch.setattr(native, "count_lanes", lambda: 4)
    monkeypatch.setattr(vectors, "SHARE", 0.0)
    x = np.random.default_rng(1).uniform(-1, 1, (10, 5))
    code = native.code_of(translate_function(jax.jit(lambda x: lax.map(one, x)).trace(x).jaxpr))
    function = native.Native(code)
    function.price = 0.0
    function(x)
    assert function.code.level == native.BETTER, function.unimproved
    np.testing.assert_array_equal(function(x)[0], native.Native(code)(x)[0])
    x[7, 0] = 3.0
    with pytest.raises(native.Left):
        function(x)
