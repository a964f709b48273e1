"""Scenarios with numbers at the edge of what floats hold: refused, stopped with the reason, or run, and that soon."""

import os

import pytest
from extremes import SECONDS, Worker

from dockdyn.scenario.preset_files import preset_setups

RUNS = int(os.environ.get("DOCKDYN_FUZZ_RUNS", "2000"))  # of all presets together, in full runs
LONG = 20  # one in so many may take all the steps that its preset allows
ONWARD = 2_000_000 + 10_000 * int(
    os.environ.get("DOCKDYN_FUZZ_SEED", "0")
)  # the first seed of full runs, not the sample's
ENOUGH = 40  # runs of which some are refused and some are not, whatever the preset
KINDS = preset_setups()
ARMS = ("berthing-3d", "cyril-controlled", "cyril-elastic", "cyril-plastic", "cyril-r-e-r-f")


def check(cases, **limits):
    """The outcomes: every case (preset, seed, study) ends with code 0, 2 or 3, its answer in JSON or its reason in one line."""
    worker = Worker()
    try:
        found = [worker(*case, **limits) for case in cases]
    finally:
        worker.close()
    faults = [one for one in found if "fault" in one]
    assert not faults
    assert {one["code"] for one in found} <= {0, 2, 3}
    assert all("at t = " in one["words"] for one in found if one["code"] == 3)
    assert all(one["seconds"] <= SECONDS for one in found)
    return found


@pytest.mark.full_cases("paraskevas-a")
@pytest.mark.parametrize("preset", ["paraskevas-a", "sits"])
def test_extreme_numbers_are_refused_or_run(preset):
    found = check([(preset, seed) for seed in range(15)], most_steps=100_000)
    assert len({one["code"] for one in found}) > 1, "some run and some do not"


@pytest.mark.full
@pytest.mark.parametrize("preset", KINDS)
def test_extreme_numbers_are_refused_or_run_in_every_preset(preset):
    seeds = range(ONWARD, ONWARD + max(RUNS // len(KINDS), 4))
    long = () if preset in ARMS else seeds[::LONG]  # a step of flexible arms takes a hundred times as long
    found = check([(preset, seed) for seed in seeds if seed not in long], most_steps=20_000)
    check([(preset, seed) for seed in long])
    assert len(found) < ENOUGH or len({one["code"] for one in found}) > 1, "some run and some do not"


@pytest.mark.full
@pytest.mark.parametrize(
    ("study", "preset"),
    [
        *(("stability", preset) for preset in ("sazawal-spring-dashpot", "probe-cone", "sits", "epos-like")),
        *(("sensitivity", preset) for preset in ("probe-cone", "paraskevas-a")),
        *(("envelope", preset) for preset in ("probe-cone-latch", "paraskevas-latch")),
    ],
)
def test_studies_of_extreme_numbers(study, preset):
    found = check([(preset, seed, study) for seed in range(ONWARD, ONWARD + max(RUNS // 100, 4))])
    assert len(found) < ENOUGH or len({one["code"] for one in found}) > 1, "some run and some do not"
