"""The compiled kernel: where its machine code is kept, whether it is ready, and how to get it ready.

Compiling takes some seconds the first time on a machine; the result is kept in the user's cache folder
(or NUMBA_CACHE_DIR), so a program installed in a read-only place works and later starts are quick.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache
from pathlib import Path
from threading import Lock
from typing import Any

from ndbplan.base.compiled import folder_of, place_of

_lock = Lock()
_advance: Callable[..., None] | None = None


SOURCES = ("columns.py", "steps_log.py", "steps_checkpoint.py", "steps_disks.py", "steps.py")


@cache
def _folder() -> Path:
    """Folder of this kernel, for this machine and these libraries: code from other ones is never loaded."""
    return folder_of("kernel", map(Path(__file__).with_name, SOURCES))


def _stamp() -> Path:
    """A file that exists once the kernel has been compiled from this place."""
    return _folder() / f"{place_of(__file__)}.ready"


def is_prepared() -> bool:
    """Whether a simulation can start without compiling first. Quick; imports no compiler."""
    return _advance is not None or _stamp().exists()


def prepare() -> Callable[..., None]:
    """The compiled kernel; compiles it when this machine has not done so yet (some seconds)."""
    global _advance
    with _lock:
        if _advance is None:
            folder = _folder()
            folder.mkdir(parents=True, exist_ok=True)
            import numba

            # The decorators in `steps` look at it when they are run.
            settings: Any = numba.config
            before = settings.CACHE_DIR
            settings.CACHE_DIR = os.fspath(folder)
            try:
                from ndbplan.simulate import steps

                compiled: Any = steps.advance
                compiled.compile(steps.SIGNATURE)
            finally:
                settings.CACHE_DIR = before
            _advance = compiled
            _stamp().touch()
    return _advance
