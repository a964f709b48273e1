"""Why a program is long in coming is said on the terminal, and only there."""

import time

import jax.numpy as jnp
import numpy as np
import pytest

from dockdyn import backend, programs
from dockdyn.cli.common import show_progress


def program(seconds):
    """A program that XLA is left with, for its complex numbers, and that takes so long (s) to trace."""

    def slow(x):
        time.sleep(seconds)
        return jnp.sin(x + 0j).real

    return programs.Program(slow)


@pytest.mark.parametrize(("seconds", "told"), [(0.3, True), (0.0, False)])
def test_a_wait_for_xla_is_told_with_its_reason(monkeypatch, seconds, told):
    monkeypatch.setattr(programs, "PATIENCE", 0.1)
    heard = []
    monkeypatch.setattr(backend, "waits", [heard.append])
    slow, at = program(seconds), np.linspace(0, 1, 3)
    np.testing.assert_allclose(slow(at), np.sin(at), rtol=1e-15)
    slow(at)  # which is compiled
    assert len(heard) == told
    if told:
        assert "XLA makes this program" in heard[0] and "complex" in heard[0]


@pytest.mark.parametrize(("terminal", "quiet"), [(True, False), (True, True), (False, False)])
def test_it_stands_above_the_progress_of_a_terminal(monkeypatch, capsys, terminal, quiet):
    monkeypatch.setattr(programs, "PATIENCE", 0.1)
    monkeypatch.setattr("sys.stderr.isatty", lambda: terminal)
    with show_progress("Derivatives", quiet):
        program(0.3)(np.ones(2))
    assert ("note: compiling: XLA makes" in capsys.readouterr().err) is (terminal and not quiet)
    assert backend.waits == []
