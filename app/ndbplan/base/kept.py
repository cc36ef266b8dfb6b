"""Answers of pure functions over immutable values, kept for as long as somebody wants them.

    @kept_by_identity(16)
    def memory(plan: Plan) -> MemoryEstimate: ...

    with keeping():              # a window, a command, a worker
        memory(plan)             # worked out
        memory(plan)             # the same object

Answers lie in the store of whoever keeps (`owner`) and die with it; no module holds any. Where nobody keeps,
the outermost call does until it returns.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from inspect import get_annotations
from threading import Lock
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")
Q = TypeVar("Q", bound=tuple[Any, ...])

_PLAIN = frozenset({int, float, str})
"""Told apart by their value and type. True and members of enumerations exist once, so their identity does."""
_Answers = OrderedDict[Any, tuple[Any, Any]]
"""By key: what was found, and what was asked, which stays alive so that no other object gets its identity."""


def key_of(values: tuple[object, ...]) -> object:
    """What tells these values apart from others while they are alive: looking up costs no hashing of them."""
    if _PLAIN.isdisjoint(map(type, values)):
        return id(values[0]) if len(values) == 1 else tuple(map(id, values))
    return tuple([(type(v), v) if type(v) in _PLAIN else id(v) for v in values])


class Kept:
    """A store of answers; of each function so many, the one asked for longest ago goes first.

    Safe across threads.
    """

    def __init__(self, size: int = 256) -> None:
        self._size = size
        self._lock = Lock()
        self._of: dict[object, _Answers] = {}

    def __call__(self, function: Callable[..., R], *args: Any) -> R:
        """function(*args), or what it returned when it was asked before, all while this store keeps.

        An error is not kept.
        """
        with keeping(self):
            if hasattr(function, "__wrapped__"):
                return function(*args)
            return self.answer(function, self._size, key_of(args), args, lambda: function(*args))

    def answer(self, function: object, size: int, key: object, asked: object, work_out: Callable[[], R]) -> R:
        """What is known of a function under a key, or what is worked out now; `asked` stays alive with it."""
        known = self.known(function, key, size)
        if known is not None:
            answer: R = known[0]
            return answer
        return self._keep(function, size, key, asked, work_out())

    def _keep(self, function: object, size: int, key: object, asked: object, found: R) -> R:
        with self._lock:
            answers = self._of.get(function)
            if answers is None:
                answers = self._of[function] = OrderedDict()
            # Another thread may have been faster: all get one object.
            found, _ = answers.setdefault(key, (found, asked))
            if len(answers) > size:
                answers.popitem(last=False)
        return found

    def known(self, function: object, key: object, size: int) -> tuple[Any, Any] | None:
        """What was found for a key, and what was asked; None: nobody asked yet.

        Asked some ten million times by a search, so without the lock: each step of a dictionary is whole.
        """
        answers = self._of.get(function)
        if answers is None:
            return None
        known = answers.get(key)
        # Which was asked for longest ago matters only where one is about to go.
        if known is not None and len(answers) >= size:
            with self._lock:
                if key in answers:
                    answers.move_to_end(key)
        return known

    def answers(
        self,
        function: object,
        size: int,
        questions: Sequence[Q],
        work_out: Callable[[Sequence[Q]], Sequence[R]],
    ) -> list[R]:
        """The same for many questions: those not known yet are asked at once, in their order."""
        keys = [key_of(question) for question in questions]
        new: dict[object, Q] = {}
        found: dict[object, R] = {}
        with self._lock:
            answers = self._of.setdefault(function, OrderedDict())
            for key, question in zip(keys, questions, strict=True):
                known = answers.get(key)
                if known is None:
                    new[key] = question
                else:
                    found[key] = known[0]
                    answers.move_to_end(key)
        if new:
            asked = list(new.values())
            found.update(zip(new, work_out(asked), strict=True))
            with self._lock:
                for key, question in new.items():
                    answers[key] = (found[key], question)
                while len(answers) > size:
                    answers.popitem(last=False)
        return [found[key] for key in keys]

    def forget(self) -> None:
        """Keep nothing of what is known: what words say of it has changed, such as the units of bytes."""
        with self._lock:
            self._of.clear()

    def __len__(self) -> int:
        return sum(map(len, self._of.values()))


_owner: ContextVar[Kept | None] = ContextVar("owner", default=None)


def owner() -> Kept | None:
    """Who keeps what is asked now; None: nobody. A thread that works for another takes its context along."""
    return _owner.get()


@contextmanager
def keeping(kept: Kept | None = None) -> Iterator[Kept]:
    """Keep in this store what is asked meanwhile; without one in that of whoever keeps, else in a new one."""
    store = _owner.get() if kept is None else kept
    if store is None:
        store = Kept()
    token = _owner.set(store)
    try:
        yield store
    finally:
        _owner.reset(token)


def kept_by_identity(size: int) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Decorator: the last `size` answers are kept by the identity of the (immutable) arguments."""

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        return _kept(size, key_of if _may_get_plain(function) else _identity_of)(function)

    return decorate


def _identity_of(values: tuple[object, ...]) -> object:
    """`key_of` of values none of which is plain."""
    return id(values[0]) if len(values) == 1 else tuple(map(id, values))


_MAY_BE_PLAIN = ("int", "float", "str", "Any", "object")


def _may_get_plain(function: Callable[..., object]) -> bool:
    """Whether an argument may be one that its value tells apart, as far as the types say it.

    Of a plain value behind another name equal ones that are not one object are worked out each.
    """
    hints = (str(hint) for name, hint in get_annotations(function).items() if name != "return")
    return any(word in hint for hint in hints for word in _MAY_BE_PLAIN)


def kept_by_value(size: int) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Decorator: the last `size` answers are kept; equal arguments get one object."""
    return _kept(size, lambda args: args)


def _kept(
    size: int, key_of_args: Callable[[tuple[object, ...]], object]
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        @wraps(function)
        def wrapper(*args: P.args, **kwargs: P.kwargs) -> R:
            store = _owner.get()
            if store is None:
                with keeping():
                    return wrapper(*args, **kwargs)
            key: object = key_of_args(args)
            if kwargs:
                names = tuple(sorted(kwargs))
                key = (key, names, key_of_args(tuple([kwargs[name] for name in names])))
            # `known`, written out: a comparison of large plans asks a hundred thousand times.
            answers = store._of.get(function)
            known = None if answers is None else answers.get(key)
            if known is not None and answers is not None:
                if len(answers) >= size:
                    store.known(function, key, size)
                found: R = known[0]
                return found
            return store._keep(function, size, key, (args, kwargs), function(*args, **kwargs))

        return wrapper

    return decorate


@kept_by_identity(64)
def _same(*parts: Any) -> tuple[Any, ...]:
    return parts


def same(parts: Iterable[T]) -> tuple[T, ...]:
    """One tuple for all lists of the same objects, so that what depends on them is kept by its identity."""
    return _same(*parts)


def kept_each_by_identity(
    size: int,
) -> Callable[[Callable[[Sequence[Q]], list[R]]], Callable[[Sequence[Q]], list[R]]]:
    """Decorator of a function that answers many questions at once: only those not answered yet are asked.

    A question is a tuple of (immutable) values, known by their identity. The function answers the questions
    it gets one by one, in their order; the answer to one must not depend on the others.
    """

    def decorate(function: Callable[[Sequence[Q]], list[R]]) -> Callable[[Sequence[Q]], list[R]]:
        @wraps(function)
        def wrapper(questions: Sequence[Q]) -> list[R]:
            with keeping() as store:
                return store.answers(function, size, questions, function)

        return wrapper

    return decorate
