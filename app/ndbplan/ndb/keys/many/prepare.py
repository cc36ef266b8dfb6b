"""Where the compiled key hashing is kept, and whether it is ready for some kinds of columns.

Compiling takes some seconds the first time on a machine; `base.compiled` says where the machine code is kept.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from pathlib import Path
from threading import Lock

from ndbplan.base.compiled import CompiledCode, place_of

_lock = Lock()
_loaded = False
SOURCES = (
    "hash.py",
    "rows.py",
    "numbers.py",
    "strings.py",
    "moments.py",
    "../values.py",
)


@cache
def code() -> CompiledCode:
    """The machine code of key hashing on this machine."""
    return CompiledCode("keys", [Path(__file__).parent.joinpath(name) for name in SOURCES])


def _mark(kind: str) -> str:
    return f"{place_of(__file__)}-{kind}"


def is_prepared(kinds: Iterable[str]) -> bool:
    """Whether keys of these kinds can be hashed without compiling first. Quick; imports no compiler."""
    return code().is_ready(*map(_mark, kinds))


def mark_prepared(kinds: Iterable[str]) -> None:
    """Remember that these kinds have been compiled here."""
    code().seal(*map(_mark, kinds))


def load() -> None:
    """Keep the machine code of the compiled modules in the folder of `code`, and load what is there."""
    global _loaded
    with _lock:
        if _loaded:
            return
        from ndbplan.ndb.keys.many import (  # noqa: F401 — importing is what prepares them
            hash,
            moments,
            numbers,
            rows,
            strings,
        )

        with code().loading():
            _loaded = True
