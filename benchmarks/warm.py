"""Processor time of commands whose programs are kept, beside that of another tree: `python benchmarks/warm.py TREE COMMAND`.

TREE is a checkout whose `src` runs in turn with this one's, each with a cache of its own, so that other load meets both alike.
The words of COMMAND are those of `dockdyn`; OUT is a folder that is made anew, PAGE a page, RESULT the result of a run. Without
them all of `COMMANDS` are measured, and `run` of every preset.
"""

import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from dockdyn.scenario.preset_files import presets

TURNS = 5
RESULT = "probe-cone/result.nc"
COMMANDS = (
    ("--help",),
    ("run", "probe-cone", "--set", "foo.bar=1"),  # is refused
    ("report", "RESULT", "--out", "PAGE"),
    ("stability", "probe-cone", "--out", "OUT"),
    ("compare", "sits", "--out", "OUT"),
    ("campaign", "run", "idss-probe-cone", "--runs", "256", "--out", "OUT"),
)


class Tree:
    """A checkout whose commands run with a cache and in a folder of their own."""

    def __init__(self, checkout: Path, folder: Path):
        self.folder = folder
        self.environment = os.environ | {"PYTHONPATH": str(checkout / "src"), "XDG_CACHE_HOME": str(folder / "cache")}
        self.environment.pop("PYTHONDONTWRITEBYTECODE", None)
        folder.mkdir()

    def processor_time(self, words: tuple[str, ...]) -> float:
        """Seconds of the processor that a command takes."""
        if "RESULT" in words and not (self.folder / RESULT).exists():
            self.processor_time(("run", "probe-cone"))
        places = {"OUT": "out", "PAGE": "page.html", "RESULT": RESULT}
        shutil.rmtree(self.folder / "out", ignore_errors=True)
        (self.folder / "page.html").unlink(missing_ok=True)
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(
            [sys.executable, "-m", "dockdyn", *(places.get(word, word) for word in words)],
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            check=False,
        )
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main(other: str, *words: str) -> None:
    """Print medians, and their ratio, after runs of each that compile."""
    commands = [words] if words else [*COMMANDS, *(("run", name, "--out", "OUT") for name in presets())]
    print(f"{'this':>8} {'other':>8}  ratio   dockdyn …")
    with tempfile.TemporaryDirectory() as folder:
        trees = [
            Tree(checkout, Path(folder) / name)
            for name, checkout in (("this", Path(__file__).parents[1]), ("other", Path(other).resolve()))
        ]
        for command in commands:
            turns = [[tree.processor_time(command) for tree in trees] for _ in range(TURNS + 2)]
            this, that = (statistics.median(times) for times in zip(*turns[2:], strict=True))
            print(f"{this:6.2f} s {that:6.2f} s {this / that:6.3f}   {' '.join(command)}", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
