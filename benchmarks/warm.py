"""Processor time of commands whose programs are kept, beside that of another tree: `python benchmarks/warm.py TREE COMMAND...`.

TREE is a checkout whose `src` runs in turn with this one's, each with a cache of its own, so that other load meets both alike.
The words of COMMAND are those of `dockdyn`; where one is OUT, a folder is made.
"""

import os
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

TURNS = 5


def processor_time(words: list[str], tree: Path, folder: Path) -> float:
    """Seconds of the processor that a command of a tree takes."""
    words = [str(folder / "out") if word == "OUT" else word for word in words]
    env = os.environ | {"PYTHONPATH": str(tree / "src"), "XDG_CACHE_HOME": str(folder / "cache")}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-m", "dockdyn", *words], env=env, capture_output=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main(other: str, *words: str) -> None:
    """Print medians, and their ratio, after a run of each that compiles."""
    trees = {"this": Path(__file__).parents[1], "other": Path(other).resolve()}
    with tempfile.TemporaryDirectory() as folder:
        places = {name: Path(folder) / name for name in trees}
        turns = [
            {name: processor_time([*words], trees[name], places[name]) for name in trees} for _ in range(TURNS + 2)
        ]
    this, that = (statistics.median(turn[name] for turn in turns[2:]) for name in trees)
    print(f"dockdyn {' '.join(words)}: {this:.2f} s, the other {that:.2f} s, ratio {this / that:.3f}")


if __name__ == "__main__":
    main(*sys.argv[1:])
