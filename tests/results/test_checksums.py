"""Files of results tell when a single bit of them is not as it was written, and of which variable."""

import os
import random
import shutil

import h5py
import numpy as np
import pytest
import xarray as xr

import dockdyn
from dockdyn import open_result
from dockdyn.results.store import write_result

SEED = int(os.environ.get("DOCKDYN_FUZZ_SEED", "26"))  # in `make verify`
SUMS = "damaged: the checksum of "


@pytest.fixture(scope="module")
def file(shared_run, tmp_path_factory):
    found = tmp_path_factory.mktemp("sums") / "result.nc"
    write_result(shared_run("paraskevas-latch"), found)
    return found


def flipped(content: bytes, bit: int) -> bytes:
    changed = bytearray(content)
    changed[bit // 8] ^= 1 << bit % 8
    return bytes(changed)


def refusal(file, content: bytes) -> str:
    """What is said of a damaged file; empty where all that is read is as it was."""
    damaged = file.with_name("damaged.nc")
    damaged.write_bytes(content)
    try:
        found = open_result(damaged)
    except dockdyn.ScenarioError as error:
        assert str(error).startswith((f"{damaged}: {SUMS}", f"{damaged}: damaged: its checksums cannot be read; ")), (
            str(error)
        )
        return str(error)
    assert found.identical(open_result(file))
    return ""


def check(file, count: int, seed: int) -> None:
    """Half of the flips anywhere, half where there are no numbers of variables but names, attributes, texts and checksums."""
    content, draw = file.read_bytes(), random.Random(seed)
    numbers = blocks(file)
    covered = np.zeros(len(content), bool)
    for first, size in numbers.values():
        covered[first : first + size] = True
    others = np.flatnonzero(~covered)
    for number in range(count):
        byte = draw.randrange(len(content)) if number % 2 else int(others[draw.randrange(len(others))])
        refusal(file, flipped(content, 8 * byte + draw.randrange(8)))


def blocks(file) -> dict[str, tuple[int, int]]:
    with h5py.File(file) as read:
        there = {name: (each.id.get_offset(), each.id.get_storage_size()) for name, each in read.items()}
    return {name: block for name, block in there.items() if block[0] is not None}


def test_a_bit_that_flips_is_refused_or_changes_nothing_that_is_read(file):
    check(file, 24, 91)


@pytest.mark.full
def test_many_bits_that_flip(file):
    check(file, 3000, SEED + 66)


def test_a_bit_of_a_variable_is_said_with_its_name(file):
    draw, content = random.Random(93), file.read_bytes()
    for name, (first, size) in blocks(file).items():
        said = refusal(file, flipped(content, 8 * first + draw.randrange(8 * size)))
        assert f"{SUMS}{name} does not fit" in said


def test_a_damaged_result_is_one_line_and_exit_code_2(file, dock, tmp_path):
    first, _ = blocks(file)["kinetic_energy"]
    (tmp_path / "result.nc").write_bytes(flipped(file.read_bytes(), 8 * first + 62))
    for command in (
        ["report", "result.nc"],
        ["export", "result.nc", "--to", "csv"],
        ["view", "result.nc", "--html", "x"],
    ):
        ended = dock(*command)
        ended.check_refused()
        assert ended.stderr.startswith("error: result.nc: damaged: the checksum of kinetic_energy does not fit; ")


@pytest.mark.full
def test_files_of_others_need_no_checksums(file, tmp_path):
    found = xr.load_dataset(file, engine="h5netcdf")
    assert found.identical(open_result(file))
    found.to_netcdf(tmp_path / "theirs.nc", engine="h5netcdf")
    assert open_result(tmp_path / "theirs.nc").identical(found)
    shutil.copy(file, tmp_path / "copy.nc")
    assert open_result(tmp_path / "copy.nc").identical(found)
