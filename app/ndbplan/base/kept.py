"""Answers of pure functions over immutable values, kept by the identity of what was asked.

kept = Kept()
kept(memory, plan)       # worked out
kept(memory, plan)       # the same object

A store belongs to whoever asks (a window, a command, a worker) and dies with it.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from threading import Lock
from typing import Any, TypeVar

R = TypeVar("R")

_PLAIN = frozenset({int, float, str})
"""Told apart by their value and type. True and members of enumerations exist once, so their identity does."""


def key_of(values: tuple[object, ...]) -> tuple[object, ...]:
    """What tells these values apart from others while they are alive: looking up costs no hashing of them."""
    return tuple([(type(v), v) if type(v) in _PLAIN else id(v) for v in values])


class Kept:
    """The last `size` answers, the one asked for longest ago goes first. Safe across threads.

    What was asked stays alive with its answer, so an identity is never used again.
    """

    def __init__(self, size: int = 256) -> None:
        self._size = size
        self._answers: OrderedDict[tuple[object, ...], tuple[Any, tuple[object, ...]]] = OrderedDict()
        self._lock = Lock()

    def __call__(self, function: Callable[..., R], *args: Any) -> R:
        """function(*args), or what it returned when it was asked before. An error is not kept."""
        key = (function, *key_of(args))
        with self._lock:
            found = self._answers.get(key)
            if found is not None:
                self._answers.move_to_end(key)
                answer: R = found[0]
                return answer
        answer = function(*args)
        with self._lock:
            # Another thread may have been faster: all get one object.
            answer, _ = self._answers.setdefault(key, (answer, args))
            while len(self._answers) > self._size:
                self._answers.popitem(last=False)
        return answer

    def __len__(self) -> int:
        return len(self._answers)
