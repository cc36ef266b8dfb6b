"""Cache of pure functions over immutable values, keyed by object identity: looking up costs no hashing."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from functools import wraps
from threading import Lock
from typing import Any, ParamSpec, TypeVar

from ndbplan.base.kept import key_of

P = ParamSpec("P")
R = TypeVar("R")
Q = TypeVar("Q", bound=tuple[Any, ...])


def memo_by_identity(size: int) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Decorator: remember the last `size` results by the identity of the (immutable) arguments.

    The arguments are kept alive with the result, so an identity is never reused. Safe across threads.
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        kept: OrderedDict[tuple[object, ...], tuple[R, Any, Any]] = OrderedDict()
        lock = Lock()

        @wraps(function)
        def wrapper(*args: P.args, **kwargs: P.kwargs) -> R:
            key = key_of(args)
            if kwargs:
                names = tuple(sorted(kwargs))
                key += (names, *key_of(tuple([kwargs[name] for name in names])))
            with lock:
                answer = kept.get(key)
                if answer is not None:
                    kept.move_to_end(key)
                    return answer[0]
            result = function(*args, **kwargs)
            with lock:
                kept[key] = (result, args, kwargs or None)
                if len(kept) > size:
                    kept.popitem(last=False)
            return result

        return wrapper

    return decorate


def memo_each_by_identity(
    size: int,
) -> Callable[[Callable[[Sequence[Q]], list[R]]], Callable[[Sequence[Q]], list[R]]]:
    """Decorator of a function that answers many questions at once: only those not answered yet are asked.

    A question is a tuple of (immutable) values, remembered by their identity as with `memo_by_identity`. The
    function answers the questions it gets one by one, in their order; the answer to one must not depend on
    the others.
    """

    def decorate(function: Callable[[Sequence[Q]], list[R]]) -> Callable[[Sequence[Q]], list[R]]:
        kept: OrderedDict[tuple[object, ...], tuple[Q, R]] = OrderedDict()
        lock = Lock()

        @wraps(function)
        def wrapper(questions: Sequence[Q]) -> list[R]:
            keys = [key_of(question) for question in questions]
            new: dict[tuple[object, ...], Q] = {}
            answered: dict[tuple[object, ...], tuple[Q, R]] = {}
            with lock:
                for key, question in zip(keys, questions, strict=True):
                    answer = kept.get(key)
                    if answer is None:
                        new[key] = question
                    else:
                        answered[key] = answer
                        kept.move_to_end(key)
            if new:
                asked = list(new.values())
                for key, pair in zip(new, zip(asked, function(asked), strict=True), strict=True):
                    answered[key] = pair
                with lock:
                    for key in new:
                        kept[key] = answered[key]
                    while len(kept) > size:
                        kept.popitem(last=False)
            return [answered[key][1] for key in keys]

        return wrapper

    return decorate
