"""How often Python looks for circles of objects that nobody needs."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

_SELDOM = (50_000, 20, 50)
"""New objects before it looks, and looks before it looks further back."""


@contextmanager
def seldom_collecting() -> Iterator[None]:
    """For work of a process of its own whose answers nearly all stay: to look through them again and again
    takes a third of its time. A window has its own way (`desktop/garbage.py`)."""
    before = gc.get_threshold()
    gc.set_threshold(*_SELDOM)
    try:
        yield
    finally:
        gc.set_threshold(*before)
