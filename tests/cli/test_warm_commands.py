"""A command of a structure that was compiled before traces nothing, asks XLA for nothing, and imports little."""

import json
import subprocess
import sys

import pytest

COUNTED = """
import collections, json, sys
from dockdyn.imports import leave_out
leave_out()
import jax.monitoring
seen = collections.Counter()
jax.monitoring.register_event_duration_secs_listener(lambda name, *_, **__: seen.update([name.rpartition("/")[2]]))
from dockdyn.__main__ import main
sys.argv[0], needless = "dockdyn", sys.argv.pop()
main()
seen.update(name for name in needless.split(",") if sys.modules.get(name))
print(json.dumps(seen), file=sys.stderr)
"""
COMMANDS = {
    "bodies": "run probe-cone --quiet --out free",
    "flexible": "run flexible-panels --quiet --out flexible",
    "arm": "run gibson-2d --quiet --out arm",
    "wheel": "run detumble --quiet --out wheel",
    "meshes": "run mesh-on-mesh --quiet --out meshes",
    "masses": "run paraskevas-b --quiet --out masses",
    "rig": "run sits --quiet --out rig",
    "margins": "stability probe-cone --quiet --out margins",
    "compensators": "compare sits --quiet --out compensators",
    "campaign": "campaign run idss-probe-cone --quiet --runs 8 --out campaign",
}
OFTEN = {"bodies", "margins"}
RUNS = (
    "dask",
    "distributed",
    "filelock",
    "matplotlib",
    "diffrax",
    "scipy.spatial",
    "scipy.linalg",
    "trimesh",
    "networkx",
)
NEEDLESS = {"run": RUNS, "stability": RUNS[:4], "compare": RUNS[:4], "campaign": RUNS[:2]}
NEEDED = {
    "rig": ("scipy.linalg",),  # for how a robot moves between samples
    "meshes": ("scipy.spatial", "scipy.linalg"),  # for how deep finer points of a face lie
}


@pytest.mark.full_cases("bodies")
@pytest.mark.parametrize(
    "what", [name if name in OFTEN else pytest.param(name, marks=pytest.mark.full) for name in COMMANDS]
)
def test_nothing_is_compiled_again(what, tmp_path):
    for turn in ("first", "second"):
        (tmp_path / turn).mkdir()
        command = [
            sys.executable,
            "-c",
            COUNTED,
            *COMMANDS[what].split(),
            ",".join(name for name in NEEDLESS[COMMANDS[what].split()[0]] if name not in NEEDED.get(what, ())),
        ]
        ended = subprocess.run(command, cwd=tmp_path / turn, capture_output=True, text=True, check=True)
        made = json.loads(ended.stderr.splitlines()[-1])
        if not made:  # another test had it compiled, or the first turn
            break
    assert made == {}
