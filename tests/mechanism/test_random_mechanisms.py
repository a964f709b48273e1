"""Mechanisms drawn at random over pairs of features: momenta and energy are kept, and both backends agree."""

import numpy as np
import pytest
import tomlkit
from random_mechanisms import PAIRS, draw

import dockdyn
from dockdyn import backend
from dockdyn.scenario.load import parse

QUICK, COUNT = (3,), 200
BOTH = (30, 75, 125)  # compiled by XLA, too, which takes one to two minutes each; of trees it takes more than four
COMPARED = ("position", "velocity", "rate", "kinetic_energy", "work")


def run(seed):
    tables, pair = draw(seed)
    found = dockdyn.simulate(parse(tomlkit.dumps(tables), f"drawn {seed}: {' and '.join(pair)}"))
    return found, dockdyn.summarise(found)


def check(seed):
    """Hold a mechanism's balances against what must be; a run that does not end is one whose loop is unstable."""
    found, summary = run(seed)
    assert summary["status"] == "finished", summary["status"]
    assert summary["linear_momentum_error"] < 1e-10
    assert summary["angular_momentum_error"] < 1e-10
    assert summary["work_energy_error"] < 1e-6
    return found


@pytest.mark.full
@pytest.mark.parametrize(
    "seed", [pytest.param(seed, marks=[pytest.mark.full] * (seed not in QUICK)) for seed in range(COUNT)]
)
def test_momenta_and_energy_are_kept(seed):
    check(seed)


@pytest.mark.full
@pytest.mark.parametrize("seed", BOTH)
def test_both_backends_agree(seed, monkeypatch):
    found = {}
    for word in backend.BACKENDS:
        monkeypatch.setenv(backend.VARIABLE, word)
        found[word], _ = run(seed)
    one, other = found["native"], found["xla"]
    assert one.sizes["episode"] == other.sizes["episode"]
    for name in COMPARED:
        size = np.abs(other[name].values).max()
        np.testing.assert_allclose(one[name], other[name], rtol=0, atol=1e-8 * size, err_msg=name)


def test_every_pair_is_drawn():
    assert {draw(seed)[1] for seed in range(COUNT)} == set(PAIRS)
