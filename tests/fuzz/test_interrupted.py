"""Whatever stops a campaign or a design, and whenever: gone on with, it leaves the same as an undisturbed one, to the bit."""

import os

import pytest
from interrupted import COMMANDS, Work

TIMES = int(os.environ.get("DOCKDYN_FUZZ_STOPS", "20"))  # times that each study is stopped in full runs
SEED = int(os.environ.get("DOCKDYN_FUZZ_SEED", "26")) * 1000


@pytest.mark.full
def test_a_design_that_is_stopped_at_a_random_moment(tmp_path):
    Work("design", tmp_path).stop_and_resume(SEED)


@pytest.mark.full
@pytest.mark.parametrize("study", COMMANDS)
def test_studies_that_are_stopped_at_random_moments(study, tmp_path):
    work = Work(study, tmp_path)
    assert sum(work.stop_and_resume(SEED + 1 + number) for number in range(TIMES)) > 0
