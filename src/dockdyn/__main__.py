"""The command `dockdyn`, also as `python -m dockdyn`: hears Ctrl-C before anything heavy is imported."""

from __future__ import annotations

from dockdyn.interrupt import listen


def main() -> None:
    """Entry point."""
    listen()
    from dockdyn.cli import main as cli

    cli.main()


if __name__ == "__main__":
    main()
