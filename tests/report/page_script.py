"""The page's TypeScript: built and tested by Node, where it is."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

WEB = Path(__file__).parents[2] / "web"
needs_node = pytest.mark.skipif(
    shutil.which("node") is None or not (WEB / "node_modules").is_dir(),
    reason="needs Node, and `npm install` in web/",
)


def run_in_web(*command: str, **environment: str) -> str:
    """Return what a command in `web/` prints; fails with it where the command does."""
    done = subprocess.run(
        command, cwd=WEB, env=os.environ | environment, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
