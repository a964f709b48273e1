"""A step in C that remembers: the same as the function itself, whatever the types of its state; what it refuses."""

import subprocess
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from driven_rigs import needs_compiler

from dockdyn.translate.c_library import OPTIONS, LibraryStepper, NoCompiler, compile_texts
from dockdyn.translate.c_step import c_step


class Given(NamedTuple):
    push: jax.Array
    count: jax.Array


class Pendulum(NamedTuple):
    angle: jax.Array
    rates: jax.Array
    turns: jax.Array
    up: jax.Array


def swing(length, state, given):
    """Of several types, with an array that is too long to be written out."""
    rates = jnp.concatenate([state.rates[1:], state.rates[:1] - 9.81 * jnp.sin(state.angle) / length["m"]])
    rates = rates.at[0].add(given.push[0] * given.push[1])
    angle = state.angle + 1e-2 * rates[0]
    over = jnp.abs(angle) > np.pi
    after = Pendulum(angle, rates, state.turns + over + given.count, over ^ state.up)
    return after, {"angle": angle, "energy": jnp.sum(rates**2), "turns": after.turns, "last": rates[-3:]}


FIRST = Pendulum(np.float64(0.3), np.linspace(0, 1, 50), np.int64(2), np.bool_(True))
LENGTH = {"m": np.float64(0.7)}
NOTHING = Given(np.zeros(2), np.int64(0))


@needs_compiler
def test_steps_are_those_of_the_function():
    made = c_step("pendulum", swing, LENGTH, FIRST, NOTHING)
    stepper, state = LibraryStepper(made), jax.tree.map(jnp.asarray, FIRST)
    direct = jax.jit(swing)
    rng = np.random.default_rng(3)
    for turn in range(300):
        given = Given(rng.normal(size=2), np.int64(turn % 3))
        stepper.inputs["push"], stepper.inputs["count"] = given
        stepper.advance()
        state, found = direct(LENGTH, state, given)
        for name, value in found.items():
            np.testing.assert_allclose(stepper.outputs[name], value, rtol=1e-12, atol=1e-13)
    assert int(stepper.outputs["turns"]) == int(state.turns)


@needs_compiler
def test_numbers_are_not_in_the_text_and_the_text_is_compiled_once():
    """So a rig with other numbers is the same program."""
    one, other = (c_step("pendulum", swing, {"m": np.float64(m)}, FIRST, NOTHING) for m in (0.7, 1.9))
    assert one.source == other.source
    assert one.image != other.image
    files = {"pendulum.h": one.header, "pendulum.c": one.source}
    assert compile_texts(files, "-shared", "-fPIC") == compile_texts(dict(reversed(files.items())), "-shared", "-fPIC")


@needs_compiler
def test_others_can_use_it_from_c(tmp_path):
    """Names, sizes and structs are in the header; a compiler that is strict takes both."""
    made = c_step("pendulum", swing, LENGTH, FIRST, NOTHING)
    (tmp_path / "pendulum.h").write_text(made.header)
    (tmp_path / "pendulum.c").write_text(made.source)
    (tmp_path / "image").write_bytes(made.image)
    (tmp_path / "main.c").write_text(
        """
        #include <stdio.h>
        #include <stdlib.h>
        #include "pendulum.h"
        int main(void) {
            char *memory = malloc((size_t)pendulum_memory_bytes);
            FILE *file = fopen("image", "rb");
            if (fread(memory, 1, (size_t)pendulum_memory_bytes, file) != (size_t)pendulum_memory_bytes) return 1;
            pendulum_inputs in = {.push = {0.5, 2.0}, .count = 1};
            pendulum_outputs out;
            for (int i = 0; i < 10; i++) if (!pendulum_step(memory, &in, &out)) return 1;
            for (const char *const *name = pendulum_output_names; *name; name++) printf("%s ", *name);
            printf("%s %.17g %lld", pendulum_input_names[1], out.angle, (long long)out.turns);
            fclose(file);
            free(memory);
            return 0;
        }"""
    )
    strict = ["-Wall", "-Wextra", "-Werror", "-Wno-unused", "-fsanitize=address,undefined"]
    command = ["cc", *OPTIONS, *strict, "main.c", "pendulum.c", "-lm", "-o", "made"]
    subprocess.run(command, cwd=tmp_path, check=True)
    printed = subprocess.run(
        [tmp_path / "made"], cwd=tmp_path, check=True, capture_output=True, text=True
    ).stdout.split()
    stepper = LibraryStepper(made)
    stepper.inputs["push"], stepper.inputs["count"] = [0.5, 2.0], 1
    for _ in range(10):
        stepper.advance()
    assert printed[:5] == ["angle", "energy", "last", "turns", "count"]
    assert float(printed[5]) == stepper.outputs["angle"]
    assert int(printed[6]) == stepper.outputs["turns"]


def test_a_state_that_changes_its_type_is_refused():
    with pytest.raises(TypeError, match=r"angle: float64\(\) becomes int64"):
        c_step("bad", lambda p, s, g: (s._replace(angle=s.turns), {"a": s.angle}), LENGTH, FIRST, NOTHING)
    with pytest.raises(TypeError, match="up: bool: must be float64 or int64"):
        c_step("bad", lambda p, s, g: (s, {"up": s.up}), LENGTH, FIRST, NOTHING)


def test_without_a_compiler_there_is_one_line(monkeypatch, tmp_path):
    monkeypatch.setenv("CC", "no-such-compiler")
    with pytest.raises(NoCompiler, match="no-such-compiler: not found"):
        compile_texts({"a.c": "int a;"})
    monkeypatch.delenv("CC")


@needs_compiler
def test_what_the_compiler_refuses_is_one_line():
    with pytest.raises(NoCompiler, match="refuses") as refused:
        compile_texts({"a.c": "this is no C"}, "-shared")
    assert "\n" not in str(refused.value)
