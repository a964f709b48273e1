"""What several test files share."""

from __future__ import annotations

from pathlib import Path

import jax
import numpy as np
import pytest
import tomlkit

import dockdyn

MAPS = Path("/proc/self/maps")
MOST_MAPS = 30_000  # of the 65,530 that Linux gives a process


@pytest.fixture(autouse=True)
def room_for_compiled_code():
    """Every compiled structure holds some hundred memory maps: what is compiled is dropped before they run out."""
    yield
    if MAPS.exists() and MAPS.read_bytes().count(b"\n") > MOST_MAPS:
        jax.clear_caches()


def plain(value):
    """`value` with NumPy arrays and numbers as lists and numbers of Python, as TOML needs them."""
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else value


@pytest.fixture(scope="session")
def run(tmp_path_factory):
    """Simulates a scenario given as a dictionary, written to a file and read back as a user's would be."""
    file = tmp_path_factory.mktemp("scenario") / "scenario.toml"

    def simulate(content, **overrides):
        file.write_text(tomlkit.dumps(plain({"schema": 1, "kind": "free-flight", **content})))
        return dockdyn.simulate(dockdyn.load(file, overrides))

    return simulate
