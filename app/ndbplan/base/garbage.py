"""How often Python looks for circles of objects that nobody needs."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

_SELDOM = (1_000_000, 5, 50)
"""New objects before it looks (some 80 MB of them), and looks before it looks further back."""
_lock = Lock()
_before: list[tuple[int, int, int]] = []
"""How often it looked before each of those who work now: threads of one process share it."""


@contextmanager
def seldom_collecting() -> Iterator[None]:
    """For a command or a worker, whose answers nearly all stay: to look through them again and again takes a
    third of its time. A window has its own way (`desktop/garbage.py`).

    What is kept meanwhile goes first (`with seldom_collecting(), keeping()`), or it is all looked through in
    the end."""
    with _lock:
        _before.append(gc.get_threshold() if not _before else _before[0])
        gc.set_threshold(*_SELDOM)
    try:
        yield
    finally:
        with _lock:
            before = _before.pop()
            if not _before:
                gc.set_threshold(*before)
