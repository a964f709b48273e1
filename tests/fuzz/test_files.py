"""Whatever is in a scenario file, it is a scenario or is refused in one printable line that names it, and soon."""

import os
import random
import statistics
import time
from pathlib import Path

import pytest
from mutation import mutated

import dockdyn
from dockdyn.scenario.language.printable import LONGEST
from dockdyn.scenario.preset_files import preset_text

SAMPLE = 100  # files in `make test`
FILES = int(os.environ.get("DOCKDYN_FUZZ_FILES", "20000"))  # in `make verify`
SEED = int(os.environ.get("DOCKDYN_FUZZ_SEED", "26"))
SLOWEST = 100  # times the time that a preset takes


def loaded(file: Path) -> str | None:
    """What is said of a file that is refused; None of a scenario, whose own text must be one again."""
    try:
        scenario = dockdyn.load(file)
    except dockdyn.ScenarioError as error:
        return str(error)
    text = scenario.text()
    file.with_suffix(".again.toml").write_text(text, encoding="utf-8")
    assert dockdyn.load(file.with_suffix(".again.toml")).text() == text
    return None


def seconds(file: Path) -> float:
    began = time.process_time()  # which a busy machine does not lengthen
    loaded(file)
    return time.process_time() - began


def usual(file: Path) -> float:
    """The time that a preset takes (s)."""
    for name in dockdyn.presets():
        file.write_text(preset_text(name))
        seconds(file)
    file.write_text(preset_text("probe-cone"))
    return statistics.median(seconds(file) for _ in range(9))


def fuzzed(count: int, seed: int, folder: Path) -> None:
    texts = [preset_text(name) for name in dockdyn.presets()]
    file = folder / "mutated.toml"
    normal = usual(file)
    slowest, refused = 0.0, 0
    for number in range(count):
        draw = random.Random(f"{seed}.{number}")
        file.write_bytes(mutated(draw.choice(texts), texts, draw))
        began = time.process_time()
        try:
            said = loaded(file)
        except Exception as error:
            pytest.fail(f"file {number} of seed {seed}: {error!r}\n{file.read_bytes()!r:.3000}")
        took = time.process_time() - began
        if took > SLOWEST * normal:  # or it was the first of its kind
            took = min(seconds(file) for _ in range(3))
        assert took <= SLOWEST * normal, f"file {number} of seed {seed}: {took / normal:.0f} times a preset's time"
        slowest = max(slowest, took / normal)
        if said is not None:
            refused += 1
            assert said.startswith(f"{file}: "), said
            assert said.isprintable() and len(said) <= LONGEST, (number, said)
    print(f"{count} files of seed {seed}: {refused} refused, the slowest {slowest:.1f} times a preset's {normal:.4f} s")
    assert count < SAMPLE or 0 < refused < count  # mutations neither spoil nor leave everything


@pytest.mark.filterwarnings("error::RuntimeWarning")  # which is a second line on the terminal
def test_a_file_is_a_scenario_or_is_refused_in_one_line(tmp_path):
    fuzzed(SAMPLE, SEED, tmp_path)


@pytest.mark.full
@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_many_more_files(tmp_path):
    fuzzed(FILES, SEED + 1, tmp_path)
