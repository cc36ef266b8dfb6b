"""Cache of pure functions over immutable values, keyed by object identity: looking up costs no hashing."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from functools import wraps
from threading import Lock
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


def memo_by_identity(size: int) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Decorator: remember the last `size` results by the identity of the (immutable) arguments.

    The arguments are kept alive with the result, so an identity is never reused. Safe across threads.
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        kept: OrderedDict[tuple[Any, ...], tuple[Any, R]] = OrderedDict()
        lock = Lock()

        @wraps(function)
        def wrapper(*args: P.args, **kwargs: P.kwargs) -> R:
            key = tuple(map(_key, args))
            if kwargs:
                key += tuple((name, _key(a)) for name, a in sorted(kwargs.items()))
            with lock:
                found = kept.get(key)
                if found is not None:
                    kept.move_to_end(key)
                    return found[1]
            result = function(*args, **kwargs)
            with lock:
                kept[key] = ((args, kwargs), result)
                if len(kept) > size:
                    kept.popitem(last=False)
            return result

        return wrapper

    return decorate


_PLAIN = (int, float, str, type(None))
"""Told apart by their value; bool is an int."""


def _key(value: object) -> tuple[object, object]:
    if isinstance(value, _PLAIN):
        return (type(value), value)
    return (type, id(value))
