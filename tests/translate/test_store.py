"""Machine code kept for the next process: right whatever happened to it, and never of code that may have changed."""

import os

import numpy as np
import pytest
import xarray as xr

import dockdyn
from dockdyn import kept, programs
from dockdyn.translate import jaxpr, store
from dockdyn.translate.jaxpr import translate_function

PRESET = "paraskevas-a"
STRANGER = 54321  # no user's number
TIMES = ["wall_time_s", "microseconds_per_step"]

LAW = """
import dockdyn
from dockdyn import parameter
from jaxtyping import Array, Float


class Spring(dockdyn.NormalLaw):
    stiffness: Float[Array, ""] = parameter("N/m", "a stiffness", above=0)

    def force(self, depth, rate):
        return FACTOR * self.stiffness * depth
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty store, and a process that has compiled nothing yet."""
    monkeypatch.setattr(programs, "kept", type(programs.kept)())
    monkeypatch.setattr(store, "store_folder", lambda: tmp_path / "kept")
    return tmp_path / "kept"


def simulated(**changes):
    """A run as by a new process."""
    programs.kept.clear()
    return dockdyn.simulate(dockdyn.load(PRESET, changes))


def check_same(one: xr.Dataset, other: xr.Dataset) -> None:
    xr.testing.assert_identical(one.drop_attrs(), other.drop_attrs())
    assert {k: v for k, v in one.attrs.items() if k not in TIMES} == {
        k: v for k, v in other.attrs.items() if k not in TIMES
    }


@pytest.mark.full
def test_what_is_kept_is_not_made_again_and_gives_the_same_bits(folder, monkeypatch):
    first = simulated()
    assert len(list(folder.iterdir())) >= 3
    again = []
    monkeypatch.setattr(jaxpr, "translate_function", lambda traced: again.append(traced) or translate_function(traced))
    check_same(simulated(), first)
    assert not again
    simulated(**{"contact.fronts.normal.damping": 3.0, "integrator.method": "fixed"})
    assert again


@pytest.mark.full
@pytest.mark.parametrize("damage", ["cut", "flipped", "emptied", "exchanged", "foreign"])
def test_damaged_entries_are_made_again(folder, damage):
    first = simulated()
    files = sorted(folder.iterdir())
    contents = [file.read_bytes() for file in files]
    for file, content, other in zip(files, contents, [*contents[1:], contents[0]], strict=True):
        middle = len(content) // 2
        flipped = content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :]
        new = {"cut": content[:middle], "flipped": flipped, "emptied": b"", "exchanged": other, "foreign": b"\x80" * 99}
        file.write_bytes(new[damage])
    check_same(simulated(), first)


@pytest.mark.full
def test_any_damage_to_any_entry_ends_in_the_right_answer(folder):
    """Bytes at random, each entry by itself: those of programs, of what they answer with, and those that check them."""
    first, draw = simulated(), np.random.default_rng(53)
    for file in sorted(folder.iterdir()):
        content = bytearray(file.read_bytes())
        for at in draw.integers(len(content), size=3):
            content[at] ^= 1 << int(draw.integers(8))
        file.write_bytes(content[: draw.integers(1, len(content))] if draw.random() < 0.3 else content)
        check_same(simulated(), first)


@pytest.mark.full
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
@pytest.mark.parametrize("whole", [True, False], ids=["the folder", "each entry"])
def test_entries_of_another_user_are_not_used(folder, whole, monkeypatch, capsys):
    first = simulated()
    for file in [folder] if whole else list(folder.iterdir()):
        os.chown(file, STRANGER, -1)
    again = []
    monkeypatch.setattr(jaxpr, "translate_function", lambda traced: again.append(traced) or translate_function(traced))
    check_same(simulated(), first)
    assert again and "belongs to another user" in capsys.readouterr().err


@pytest.mark.full
def test_where_nothing_can_be_kept(folder):
    folder.write_text("a file in the place of the folder")
    check_same(simulated(), simulated())


def test_the_store_is_bounded(folder, monkeypatch):
    simulated()
    total = sum(file.stat().st_size for file in folder.iterdir())
    monkeypatch.setattr(kept, "LARGEST", total)
    simulated(**{"contact.fronts.normal.damping": 3.0, "integrator.method": "fixed"})
    assert 0 < sum(file.stat().st_size for file in folder.iterdir()) <= total


@pytest.mark.full
def test_other_versions_and_other_files_of_dockdyn_have_entries_of_their_own(folder, monkeypatch):
    simulated()
    before = set(folder.iterdir())
    monkeypatch.setattr(store, "program_fingerprint", lambda: "of another release")
    simulated()
    after = set(folder.iterdir())
    assert before < after and len(after) == 2 * len(before)


@pytest.mark.full
@pytest.mark.parametrize(
    ("preset", "key"), [("paraskevas-a", "contact.fronts.normal"), ("atv-like", "contact.probe-cone.normal")]
)
def test_a_law_of_ones_own_may_change(folder, own_files, preset, key):
    """No program with a user's code in it is kept, nor what was traced of it."""
    stated = {"law": "own_spring:Spring", "stiffness": "900 N/m"}
    peaks = []
    for factor in (1.0, 1.0, 4.25):  # a text as long as before would be taken for the same within its second
        own_files({"own_spring.py": LAW.replace("FACTOR", str(factor))})
        __import__("sys").modules.pop("own_spring", None)
        programs.kept.clear()
        found = dockdyn.simulate(dockdyn.load(preset, {key: stated}))
        peaks.append(float(np.nanmax(found.normal_force)))
    assert peaks[0] == peaks[1] and peaks[2] > 1.5 * peaks[0]
