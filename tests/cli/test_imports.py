"""Dask is left out of commands without being missed halfway, and is there for who asks for it."""

from __future__ import annotations

import subprocess
import sys

import pytest

from dockdyn.imports import leave_out

LEFT_OUT = """
import sys
from dockdyn.imports import leave_out, let_in
leave_out()
import numpy, pint, xarray
data = xarray.Dataset({"a": ("x", [1.0, 2.0])})
assert not sys.modules["dask"] and float(data.a.sum()) == 3 and data.to_netcdf() is not None
let_in()
import dask.array
assert float((data.a + numpy.asarray(dask.array.ones(2))).sum()) == 5
"""


def test_who_looks_for_it_first_finds_none_and_who_asks_later_gets_it():
    pytest.importorskip("dask")
    ended = subprocess.run([sys.executable, "-c", LEFT_OUT], capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr


def test_it_stays_where_somebody_has_looked_for_it():
    """As in a program of a user's that calls the command line."""
    pytest.importorskip("dask")
    import xarray  # noqa: F401

    leave_out()
    assert "dask" not in sys.modules or sys.modules["dask"] is not None
