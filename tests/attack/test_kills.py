"""A few of the kills of `make attack`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path


def test_kills_lose_nothing_that_was_done() -> None:
    """In a process of its own, which has no window and can be forked."""
    program = Path(__file__).with_name("kills.py")
    done = subprocess.run(
        [sys.executable, program, "--kills", "4", "--seed", "0"], capture_output=True, text=True, check=False
    )
    assert done.stdout == "0 of 4 kills lost an edit that was done\n", done.stdout + done.stderr
