"""What is no scenario is refused before anything that computes is imported: most of a command's time goes there."""

import json
import subprocess
import sys

HEAVY = ("jax", "scipy", "xarray", "dockdyn.scenario.load")
REFUSED = """
import contextlib, io, json, sys
from dockdyn.__main__ import main

answers = []
for given in json.loads(sys.argv[1]):
    sys.argv = ["dockdyn", *given]
    said = io.StringIO()
    with contextlib.redirect_stderr(said):
        try:
            main()
        except SystemExit as end:
            answers.append([end.code, said.getvalue()])
print(json.dumps([answers, [name for name in json.loads(sys.argv[-1]) if name in sys.modules]]))
"""


def test_no_command_imports_what_computes_to_refuse_a_name(tmp_path):
    """A preset misspelt, a file that is not there, a folder: whichever command is asked."""
    commands = ("run", "stability", "envelope", "sensitivity", "compare", "design", "campaign run", "fmu export")
    names = {"probe-con": "did you mean 'probe-cone'", "not/there.toml": "no such file", str(tmp_path): "is a folder"}
    given = [[*command.split(), name] for command in commands for name in names]
    code = REFUSED.replace("sys.argv[-1]", repr(json.dumps(HEAVY)))
    done = subprocess.run(
        [sys.executable, "-c", code, json.dumps(given)], capture_output=True, text=True, cwd=tmp_path, check=True
    )
    answers, imported = json.loads(done.stdout)
    for one, (status, words) in zip(given, answers, strict=True):
        assert status == 2 and names[one[-1]] in words and words.count("\n") == 1, one
    assert not imported
