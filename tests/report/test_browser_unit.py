"""The programs of a run in a browser's WebAssembly, by Node: any numbers give the bits that a run on this machine gives."""

import base64
import json
import lzma
import os
import time
from types import SimpleNamespace

import numpy as np
import pytest
from browser_unit_cases import drawn
from page_script import needs_node, run_in_web

import dockdyn
from dockdyn import packing
from dockdyn.packing import SETTINGS, TooLong, kept_text, packed_text
from dockdyn.results import browser_unit as units
from dockdyn.results import unit
from dockdyn.results.browser_unit import MOST_BYTES, MOST_LETTERS, TooMuch, browser_unit, named_results, page_module
from dockdyn.results.methods import settings_of
from dockdyn.translate import wasm
from dockdyn.trees import flatten, unflatten

ROWS = int(os.environ.get("DOCKDYN_FUZZ_PAGES", "4"))  # settings of each
LONG = ("idss-probe-cone", "gibson-2d", "newtons-cradle", "cyril-elastic")


def run_natively(scenario, places, row):
    leaves, structure = flatten(scenario.content)
    for place, value in zip(places, row, strict=True):
        for leaf, sign in zip(place.leaves, place.signs, strict=True):
            leaves[leaf] = sign * value
    content, settings = unflatten(structure, leaves), settings_of(scenario.content)
    solver = unit.advance(content, settings, np.int64(2**62), unit.begin(content, settings))
    observed = unit.observe(content, settings, solver)
    return observed, unit.tell(scenario.setup, content, settings, observed)


@pytest.mark.full
@needs_node
@pytest.mark.parametrize(
    ("name", "large"),
    [
        ("probe-cone", wasm.LARGE),
        ("paraskevas-b", wasm.LARGE),
        ("probe-cone", 0),
        *(pytest.param(name, wasm.LARGE, marks=pytest.mark.full) for name in LONG),
    ],
)
def test_a_run_has_the_bits_of_a_run_here(name, large, tmp_path, monkeypatch):
    """However local variables are shared: as LLVM does, or as of programs that are too large for that."""
    monkeypatch.setattr(wasm, "LARGE", large)
    scenario, rng = dockdyn.load(name, {"output.interval": "0.1 s"}), np.random.default_rng(5)
    made = browser_unit(scenario)
    rows = [[place.value for place in made.numbers], *([drawn(one, rng) for one in made.numbers] for _ in range(ROWS))]
    files = [tmp_path / name for name in ("unit.json", "rows.json", "answers", "run_unit.mjs")]
    files[0].write_text(json.dumps(made.packed()))
    files[1].write_text(json.dumps(rows))
    run_in_web(
        *("npx", "esbuild", "test/run_unit.ts", "--bundle", "--format=esm", "--platform=node", "--log-level=error"),
        f"--outfile={files[3]}",
    )
    run_in_web("node", *map(str, [files[3], *files[:3]]))
    answers, at = np.memmap(files[2], float, "r"), 0
    for row in rows:
        for what, expected in named_results(*run_natively(scenario, made.numbers, row)):
            expected = np.asarray(expected, float)
            found = answers[at : at + expected.size].reshape(expected.shape)
            np.testing.assert_array_equal(found, expected, err_msg=f"{what} of {row}")
            at += expected.size
    assert at == answers.size


def test_programs_that_are_too_large_are_not_made(monkeypatch):
    codes = {"advance": SimpleNamespace(text=SimpleNamespace(letters=1 + MOST_LETTERS))}
    monkeypatch.setattr(units, "wasm_module", lambda codes: pytest.fail("it was made"))
    with pytest.raises(TooMuch, match=f"more than {MOST_LETTERS / 1e6:g} million letters"):
        page_module(codes)


def test_a_page_carries_no_programs_that_are_too_large(monkeypatch):
    monkeypatch.setattr(units, "MOST_BYTES", 10_000)
    with pytest.raises(TooMuch, match=r"more than 0\.01 MB"):
        browser_unit(dockdyn.load("probe-cone")).packed()


@pytest.mark.full
def test_packing_stops_where_a_text_is_longer_than_allowed_and_is_the_same_in_parts():
    """In parts as in one piece, by Python's own call; twenty megabytes of noise are left as soon as they are too long."""
    numbers = np.random.default_rng(5)
    filters = [{"id": lzma.FILTER_LZMA1, **SETTINGS}]
    for data in (b"", numbers.bytes(700_001), np.cumsum(numbers.integers(-2, 3, 300_000)).tobytes()):
        text = packed_text(data)
        packed = base64.b64decode(text)
        assert packed[:-4] == lzma.compress(data, format=lzma.FORMAT_RAW, filters=filters)
        assert packed_text(data, len(text)) == text
    long = np.random.default_rng(6).bytes(20_000_000)
    start = time.process_time()
    packed_text(long[:2_000_000])
    once = time.process_time() - start
    with pytest.raises(TooLong):
        packed_text(long, MOST_BYTES)
    assert time.process_time() - start < 3 * once


def test_a_packed_text_is_kept_by_what_it_and_its_order_are_made_of(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    data = np.random.default_rng(7).bytes(1000)
    plain, ordered = kept_text(data), kept_text(data, turned)
    assert (plain, ordered) == (packed_text(data), packed_text(data[::-1]))
    monkeypatch.setattr(packing, "packed_text", lambda data: "made again")
    assert (kept_text(data), kept_text(data, turned)) == (plain, ordered)
    monkeypatch.setattr(packing.kept, "makers_of", lambda folder, libraries: "another version")
    assert (kept_text(data), kept_text(data, turned)) == ("made again", "made again")


def turned(data):
    return data[::-1]
