"""Dask and filelock are left out of commands without being missed halfway, and are there for who asks for them."""

import importlib.metadata
import os
import subprocess
import sys

import pytest

from dockdyn.imports import leave_out
from dockdyn.installed import version
from dockdyn.scenario.preset_files import presets

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


LOCKED = """
import os, sys
from dockdyn.imports import leave_out, let_in
leave_out()
import jax
assert (sys.modules.get("filelock") is None) is (len(sys.argv) == 1)
jax.config.update("jax_compilation_cache_dir", sys.argv[-1] if len(sys.argv) > 1 else "compiled")
jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.0)
assert jax.jit(lambda x: x + 1)(1.0) == 2 and os.listdir(jax.config.jax_compilation_cache_dir)
from pathlib import Path
from dockdyn.studies.cases.claim import claim_study
from dockdyn.scenario.language.errors import ScenarioError
with claim_study(Path("one"), Path("one/index"), "study"):
    try:
        with claim_study(Path("one"), Path("one/index"), "study"):
            raise AssertionError
    except ScenarioError as error:
        assert "another process" in str(error)
"""


@pytest.mark.full_cases("None")
@pytest.mark.parametrize("bound", [None, "1000000"])
def test_a_lock_is_there_where_it_is_needed(bound, tmp_path):
    """For a study's folder, and for JAX where it is told how large its cache may be; else JAX does without."""
    env = {name: value for name, value in os.environ.items() if not name.startswith("JAX_")}
    command = [sys.executable, "-c", LOCKED]
    if bound is not None:
        env["JAX_COMPILATION_CACHE_MAX_SIZE"] = bound
        command.append("bounded")
    ended = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr


def test_it_stays_where_somebody_has_looked_for_it():
    """As in a program of a user's that calls the command line."""
    pytest.importorskip("dask")
    import xarray  # noqa: F401

    leave_out()
    assert "dask" not in sys.modules or sys.modules["dask"] is not None


NEEDED = """
import sys
from dockdyn.__main__ import main
sys.argv = ["dockdyn", "check", "probe-cone"]
main()
from dockdyn.docking.schema.elements import StrutSection
from dockdyn.scenario.tables.parts import IntersectionShape
unneeded = ("cli.rig", "cli.design", "kinds.mechanism.schema.on_line", "scenario.distributions.distribution")
assert not [name for name in unneeded if f"dockdyn.{name}" in sys.modules]
assert not StrutSection.__pydantic_complete__ and not IntersectionShape.__pydantic_complete__
"""


def test_a_command_makes_only_the_commands_and_the_tables_that_it_needs(tmp_path):
    ended = subprocess.run([sys.executable, "-c", NEEDED], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr


def test_versions_read_from_names_of_folders_are_those_of_the_metadata(tmp_path, monkeypatch):
    found = {one.name: importlib.metadata.version(one.name) for one in importlib.metadata.distributions()}
    assert len(found) > 20 and {name: version(name) for name in found} == found
    with pytest.raises(ModuleNotFoundError):
        version("no-such-package")
    other = tmp_path / "Some.Name-1.0.egg-info"  # which says its version in the name otherwise
    other.mkdir()
    (other / "PKG-INFO").write_text("Metadata-Version: 2.1\nName: Some.Name\nVersion: 1.0\n")
    monkeypatch.syspath_prepend(tmp_path)
    assert version("some-name") == "1.0"


OF_JAX = ("jax", "equinox", "diffrax", "jaxtyping")
WRITERS = ("dockdyn.translate.scalar_program", "dockdyn.translate.llvm")  # of programs, which are kept
HEAVY = (
    "xarray",
    "pandas",
    "pint",
    "h5netcdf",
    "dask",
    "distributed",
    "pyarrow",
    "scipy.spatial",
    "scipy.signal",
    *OF_JAX,
    *WRITERS,
)
TELL = f"""
import atexit, sys
atexit.register(lambda: print("imported:", *(name for name in {HEAVY} if sys.modules.get(name)), file=sys.stderr))
"""
COMMAND = f"""{TELL}
from dockdyn.__main__ import main
main()
"""
STEPS = f"""{TELL}
import dockdyn
"""


def imported_by(*arguments, program=COMMAND):
    """Return what of `HEAVY` a command, or another program, has imported."""
    command = [sys.executable, "-c", program, *map(str, arguments)]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    return ended.stderr.splitlines()[-1].split()[1:]


@pytest.mark.full_cases(
    "run cyril-controlled", "campaign run", "run sits", "compare sits", "stability sits", "stability probe-cone"
)
@pytest.mark.parametrize(
    "command",
    [
        ("run", "probe-cone", "--set", "duration=0.2"),
        ("stability", "probe-cone"),
        ("stability", "sits"),
        ("compare", "sits", "--compensators", "none", "--set", "duration=1"),
        ("campaign", "run", "idss-probe-cone", "--runs", "2"),
        ("run", "sits", "--set", "duration=1"),
        ("run", "cyril-controlled", "--set", "duration=0.1"),
    ],
    ids=lambda command: " ".join(command[:2]),
)
def test_a_command_whose_programs_are_kept_imports_nothing_that_takes_long(command, tmp_path):
    """Programs are machine code of the run before; datasets, units and statistics are dockdyn's own."""
    imported_by(*command, "--out", tmp_path / "first")
    assert imported_by(*command, "--out", tmp_path / "second") == []
    if command[0] == "run":
        assert imported_by("report", tmp_path / "second" / "result.nc", "--out", tmp_path / "again.html") == []


@pytest.mark.full
@pytest.mark.parametrize("name", presets())
def test_no_preset_runs_a_second_time_with_what_takes_long(name, tmp_path):
    imported_by("run", name, "--out", tmp_path / "first")
    assert imported_by("run", name, "--out", tmp_path / "second") == []


@pytest.mark.full
@pytest.mark.parametrize(
    "step",
    [
        'dockdyn.stepper("probe-cone", period=0.01).step(((1.0, 0.0, 0.0), (0.0, 0.0, 0.0)))',
        'dockdyn.stepper("sits-scvg").step()',
    ],
    ids=["probe-cone", "sits-scvg"],
)
def test_a_step_whose_programs_are_kept_imports_nothing_that_takes_long(step):
    imported_by(program=STEPS + step)
    assert imported_by(program=STEPS + step) == []
