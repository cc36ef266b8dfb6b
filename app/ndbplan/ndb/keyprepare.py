"""Where the compiled key hashing is kept, and whether it is ready for some kinds of columns.

Compiling takes some seconds the first time on a machine. The machine code is kept in NUMBA_CACHE_DIR, the
user's cache folder or a temporary one, so a program installed in a read-only place works too.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from threading import Lock
from typing import Any

from ndbplan.base.compiled import folder_of, place_of

_lock = Lock()
_loaded = False
SOURCES = (
    "keyhash_kernel.py",
    "keytext_rows.py",
    "keytext_numbers.py",
    "keytext_strings.py",
    "keytext_moments.py",
    "keyvalues.py",
)


@cache
def folder() -> Path:
    """Folder of this code on this machine with these libraries; code from other ones is never loaded."""
    return folder_of("keys", map(Path(__file__).with_name, SOURCES))


def _stamp(kind: str) -> Path:
    return folder() / f"{place_of(__file__)}-{kind}.ready"


def is_prepared(kinds: Iterable[str]) -> bool:
    """Whether keys of these kinds can be hashed without compiling first. Quick; imports no compiler."""
    return all(_stamp(kind).exists() for kind in kinds)


def mark_prepared(kinds: Iterable[str]) -> None:
    """Remember that these kinds have been compiled here."""
    with contextlib.suppress(OSError):
        for kind in kinds:
            _stamp(kind).touch()


def load() -> None:
    """Import the compiled modules so that their machine code is kept in `folder`."""
    global _loaded
    with _lock:
        if _loaded:
            return
        import numba

        with contextlib.suppress(OSError):
            folder().mkdir(parents=True, exist_ok=True)
        # The decorators look at it when the modules are imported.
        settings: Any = numba.config
        before = settings.CACHE_DIR
        settings.CACHE_DIR = os.fspath(folder())
        try:
            from ndbplan.ndb import (  # noqa: F401 — importing is what prepares them
                keyhash_kernel,
                keytext_moments,
                keytext_numbers,
                keytext_rows,
                keytext_strings,
            )
        finally:
            settings.CACHE_DIR = before
        _loaded = True
