"""The command `dockdyn`, also as `python -m dockdyn`: hears Ctrl-C before anything heavy is imported."""

from __future__ import annotations

import atexit
import gc
import sys

from dockdyn.imports import leave_out, spare_threads_and_plugins
from dockdyn.interrupt import listen

SELDOM = 1_000_000  # objects: a command makes many that stay; to look for cycles among them often takes a fifth of it


def main() -> None:
    """Run the command line."""
    listen()
    leave_out()
    spare_threads_and_plugins()
    gc.set_threshold(SELDOM)
    atexit.register(gc.freeze)  # what ends with the process need not be looked through once more
    from dockdyn.cli import main as cli

    cli.main()


if __name__ == "__main__":
    if not sys.flags.safe_path:
        del sys.path[0]  # the working folder, where a stranger's modules may lie
    main()
