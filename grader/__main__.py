"""The `grader` command; `python -m grader` is the same."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command. Ctrl-C while it is still being imported is no reason for a traceback."""
    try:
        from grader.cli import app

        app()
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
