"""Compiles what is not compiled yet, in a process of its own: `python -m ndbplan.simulate.prepare`.

With `--idle` at low priority: for a window that is open, and beside the other steps of the set-up.
"""

from __future__ import annotations

import sys

_NICENESS = 10
"""Gives way to all that people wait for, and is still done within half a minute beside it."""


def main(arguments: list[str]) -> int:
    """Compile the simulation kernel unless it is ready; 1 when what is compiled here cannot be kept."""
    from ndbplan.simulate import kernel

    if "--idle" in arguments:
        _yield_to_others()
    if kernel.code().refusal:
        return 1
    if not kernel.is_prepared():
        kernel.prepare()
    return 0


def _yield_to_others() -> None:
    import os

    if hasattr(os, "nice"):
        os.nice(_NICENESS)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
