"""Compiles what is not compiled yet, in a process of its own: `python -m ndbplan.simulate.prepare`.

The simulation kernel, then the hashing of keys of the usual types. `--kernel`: only that. `--idle`: at low
priority, for a window that is open, and beside the other steps of the set-up.
"""

from __future__ import annotations

import sys

_NICENESS = 10
"""Gives way to all that people wait for, and is still done within half a minute beside it."""
_NEWEST = "8.4"
_KEYS = (
    ("int", None, "1"),
    ("bigint", None, "1"),
    ("varchar", 20, "a"),
    ("char", 20, "a"),
    ("binary", 4, "0x00"),
    ("varbinary", 4, "0x00"),
    ("decimal", 10, "1"),
    ("date", None, "2020-01-01"),
    ("datetime", None, "2020-01-01 00:00:00"),
    ("timestamp", None, "2020-01-01 00:00:00"),
)
"""Types that keys have, with a length and a value; types that are alike share their code."""


def main(arguments: list[str]) -> int:
    """Compile what is missing; 1 when what is compiled here cannot be kept."""
    from ndbplan.ndb.keys.many import prepare as keyprepare
    from ndbplan.simulate.kernel import ready as kernel

    if "--idle" in arguments:
        _yield_to_others()
    if kernel.code().refusal:
        return 1
    if not kernel.is_prepared():
        kernel.prepare()
    if "--kernel" not in arguments and not keyprepare.code().refusal:
        _prepare_keys()
    return 0


def is_complete() -> bool:
    """Whether there is nothing left to compile, or no place to keep it. Quick; imports no compiler."""
    from ndbplan.ndb.keys.many import prepare as keyprepare
    from ndbplan.simulate.kernel import ready as kernel

    if kernel.code().refusal:
        return True
    return kernel.is_prepared() and (bool(keyprepare.code().refusal) or _are_keys_prepared())


def _are_keys_prepared() -> bool:
    from ndbplan.ndb.keys.column import KeyColumn
    from ndbplan.ndb.keys.many.text import is_prepared

    return is_prepared([KeyColumn("k", kind, length) for kind, length, _ in _KEYS])


def _prepare_keys() -> None:
    import io

    if _are_keys_prepared():
        return
    import numpy as np

    from ndbplan.ndb.keys.column import KeyColumn
    from ndbplan.ndb.keys.many.text import hashed_rows
    from ndbplan.ndb.version import NdbVersion

    owners = np.zeros(1, dtype=np.int64)
    for kind, length, value in _KEYS:
        rows = io.BytesIO(f"k\n{value}\n".encode())
        for chunk in hashed_rows(rows, [KeyColumn("k", kind, length)], NdbVersion.parse(_NEWEST)):
            chunk.texts(np.zeros(1, dtype=np.int64), 1)
            chunk.count(np.zeros(len(owners), dtype=np.int64))
            chunk.answers(owners)


def _yield_to_others() -> None:
    import os

    if hasattr(os, "nice"):
        os.nice(_NICENESS)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
