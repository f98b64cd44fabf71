"""The command as a process."""

import os
import sys

from rose_core.cli import main


def run() -> None:
    """Do what the arguments say, and end with that status."""
    status = main()
    if status:
        # Playwright, when stopped in the middle of something, leaves what Python cannot take down in order
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)
    sys.exit(status)


if __name__ == "__main__":
    run()
