"""A key or value that is not allowed is refused before JAX and the physics are imported, which takes most of the time."""

import os
import random
import subprocess
import sys

import pytest
import tomlkit
from helpers.processes import answers_and_imports
from places import SOURCE

from dockdyn.scenario.setups import setup_of

PRESETS = sorted((SOURCE / "scenario/presets").glob("*.toml"))
HEAVY = ("jax", "equinox", "xarray", "pandas", "matplotlib")
COMMANDS = (
    "run {}",
    "stability {}",
    "envelope {} --over duration=1:2",
    "sensitivity {} --of peak_force",
    "compare {}",
    "design {}",
    "campaign run {}",
    "fmu export {}",
)
# JAX is as if it were not installed: whoever asks for it fails
PUSHED = """
schema = 2
duration = 1
body.first = {mass = 1, inertia = [1, 1, 1], position = [0, 0, 0]}
body.second = {mass = 1, inertia = [1, 1, 1], position = [1, 0, 0]}
phase.begin = {}
phase.push = {when = {lasting = 0.5}, set = {"strut.rod.stiffness" = 2}}
[strut.rod]
between = ["first", "second"]
anchor = [[0, 0, 0], [0, 0, 0]]
stiffness = 1
damping = 1
"""
LAWS = "compensator"  # tables whose keys are those of classes of the physics


def drawn() -> random.Random:
    return random.Random(os.environ.get("DOCKDYN_FUZZ_SEED", "26"))


def keys(table: dict, before: str = "") -> list[str]:
    """Dotted keys of all that a file states, but for lists and their tables."""
    found = []
    for key, value in table.items():
        if isinstance(value, dict) and key not in (LAWS, "requirements", "design"):
            found += keys(value, f"{before}{key}.")
        elif not isinstance(value, dict | list):
            found.append(f"{before}{key}")
    return found


SLOWLY = "Starting: "  # said where a loaded machine takes seconds to begin


def test_no_physics_is_imported_to_refuse_a_key_or_a_value(tmp_path):
    """Of presets of every kind, set or in a file, top keys and keys of tables, whichever command is asked."""
    draw, given, words = drawn(), [], []
    presets, alone = {}, [file for file in PRESETS if ".stl" not in file.read_text()]
    for file in PRESETS:
        presets.setdefault(setup_of(tomlkit.loads(file.read_text())).name, []).append(file)
    for files in presets.values():
        file = draw.choice(files)
        data = tomlkit.loads(file.read_text()).unwrap()
        key = draw.choice([key for key in keys(data) if key not in ("schema", "kind", "title")])
        wrong = key[:-1] + ("z" if key[-1] != "z" else "y")
        for asked, said in (("nonsense=1", "nonsense"), (f"{wrong}=1", wrong), ("duration=-1 s", "duration = '-1 s'")):
            given.append([*draw.choice(COMMANDS).format(file.stem).split(), "--set", asked])
            words.append(said)
        own = tmp_path / f"own-{file.stem}.toml"
        own.write_text(f"nonsense = 1\n{draw.choice(alone).read_text()}")
        given.append(["run", str(own)])
        words.append("nonsense")
    answers, imported = answers_and_imports(given, HEAVY, tmp_path)
    for one, said, (status, text) in zip(given, words, answers, strict=True):
        lines = [line for line in text.splitlines() if not line.startswith(SLOWLY)]
        assert status == 2 and len(lines) == 1 and said in lines[0], (one, text)
    assert not imported, given


@pytest.mark.full
def test_every_preset_is_read_by_a_process_of_its_own(tmp_path):
    """Whatever was imported before a scenario is read, and in which order."""
    code = "import sys; from dockdyn.imports import leave_out; leave_out(); import dockdyn; dockdyn.load(sys.argv[1])"
    for file in PRESETS:
        subprocess.run([sys.executable, "-c", code, file.stem], cwd=tmp_path, check=True)
