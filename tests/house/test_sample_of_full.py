"""What `make sample` runs: full cases alone, none after the time, and none for longer than it."""

import os
import re
import subprocess
import sys

import pytest
from places import ROOT

CASES = """
import time
import pytest

def test_quick():
    raise AssertionError

@pytest.mark.full
@pytest.mark.parametrize("number", range(4))
def test_full(number):
    {body}
"""
SUMMARY = re.compile(r"Of 4 full cases, (\d) were begun and (\d) finished, as drawn by commit \(none\)\.")


@pytest.mark.full_cases("all last")
@pytest.mark.parametrize(
    ("body", "found", "code"),
    [
        ("pass", ("4", "4"), 0),
        ("assert number != 2", ("4", "4"), 1),
        ("time.sleep(60)", ("1", "0"), 0),
        ("try: time.sleep(60)\n    finally: raise ValueError", ("1", "0"), 0),
    ],
    ids=["all pass", "one fails", "all last", "all end badly"],
)
def test_full_cases_are_run_for_so_long(tmp_path, body, found, code):
    (tmp_path / "test_cases.py").write_text(CASES.format(body=body))
    options = ("-q", "-ra", "-p", "helpers.sample_of_full", "-p", "no:cacheprovider", "--sample-of-full", "0.02")
    command = [sys.executable, "-m", "pytest", *options, "--rootdir", tmp_path, "-o", "markers=full", tmp_path]
    own = os.environ | {"PYTHONPATH": str(ROOT / "tests"), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    ended = subprocess.run(command, cwd=tmp_path, env=own, capture_output=True, text=True, timeout=30)
    assert ended.returncode == code, ended.stdout
    assert SUMMARY.search(ended.stdout).groups() == found and "1 deselected" in ended.stdout
    assert ("not finished in the time of a sample" in ended.stdout) == (code == 0 and found != ("4", "4"))
