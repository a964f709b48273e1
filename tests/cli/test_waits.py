"""Why a program is long in coming is said on the terminal, and only there."""

import jax.numpy as jnp
import numpy as np
import pytest

from dockdyn import backend, programs
from dockdyn.cli.common import show_progress


def program():
    """A program that XLA is left with, for its complex numbers."""
    return programs.Program(lambda x: jnp.sin(x + 0j).real)


@pytest.mark.parametrize(("patience", "told"), [(0.0, True), (600.0, False)])
def test_a_wait_for_xla_is_told_with_its_reason(monkeypatch, patience, told):
    monkeypatch.setattr(programs, "PATIENCE", patience)
    heard = []
    monkeypatch.setattr(backend, "waits", [heard.append])
    slow, at = program(), np.linspace(0, 1, 3)
    np.testing.assert_allclose(slow(at), np.sin(at), rtol=1e-15)
    slow(at)  # which is compiled
    assert len(heard) == told
    if told:
        assert "XLA makes this program" in heard[0] and "complex" in heard[0]


@pytest.mark.full_cases("True-False")
@pytest.mark.parametrize(("terminal", "quiet"), [(True, False), (True, True), (False, False)])
def test_it_stands_above_the_progress_of_a_terminal(monkeypatch, capsys, terminal, quiet):
    monkeypatch.setattr(programs, "PATIENCE", 0.0)
    monkeypatch.setattr("sys.stderr.isatty", lambda: terminal)
    with show_progress("Derivatives", quiet):
        program()(np.ones(2))
    assert ("note: compiling: XLA makes" in capsys.readouterr().err) is (terminal and not quiet)
    assert backend.waits == []
