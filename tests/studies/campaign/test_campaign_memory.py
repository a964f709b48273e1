"""Memory does not grow with the number of cases of a campaign."""

import re
import subprocess
import sys

import pytest
from on_a_line import SPREAD_MASSES

from dockdyn.studies.campaign.conduct import CHUNK

SCENARIO = (
    SPREAD_MASSES
    + """[campaign]
runs = 5
"""
)
MEASURED = (
    "import re, sys; from pathlib import Path; from dockdyn.cli.main import main; from dockdyn.translate import native; "
    "native.PRICE = float('inf'); sys.argv[0] = 'dockdyn'; main(); "
    "print(Path('/proc/self/status').read_text())"
)


@pytest.mark.full
def test_memory_of_a_campaign_does_not_grow_with_its_cases(tmp_path):
    """Four times the cases, whose figures take some 2 MB: at most 40 MB more; all their motions would take some hundred.

    All chunks are whole: a last one with fewer cases has a program of its own, and to compile it takes more than both. So does
    writing a program better once its calls have taken long, which a busy machine decides: its price is infinite here.
    """
    (tmp_path / "two.toml").write_text(SCENARIO)
    peaks = []
    for runs in (4 * CHUNK, 4 * CHUNK, 16 * CHUNK):  # the first compiles
        words = [
            "campaign",
            "run",
            "two.toml",
            "--runs",
            str(runs),
            "--out",
            f"of{runs}-{len(peaks)}",
            "--quiet",
            "--no-live",
        ]
        ended = subprocess.run(
            [sys.executable, "-c", MEASURED, *words], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert ended.returncode == 0, ended.stderr
        found = re.search(r"VmHWM:\s+(\d+) kB", ended.stdout)
        assert found is not None
        peaks.append(int(found[1]) / 1024)
    assert peaks[2] < peaks[1] + 40, peaks
