"""A value that is worked out when it is first asked for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class Later(Generic[T]):
    """What a pure function without arguments returns: asked for once at most, and often never."""

    __slots__ = ("_found", "_work_out")

    def __init__(self, work_out: Callable[[], T]) -> None:
        self._work_out: Callable[[], T] | None = work_out
        self._found: tuple[T, ...] = ()

    def __call__(self) -> T:
        work_out = self._work_out
        if work_out is not None:
            # Another thread that asks meanwhile works out the same.
            self._found = (work_out(),)
            self._work_out = None
        return self._found[0]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Later) and (self is other or self() == other())

    def __hash__(self) -> int:
        return hash(self())

    def __reduce__(self) -> tuple[type[Later[T]], tuple[Callable[[], T]]]:
        return Later, (_Known(self()),)


class _Known(Generic[T]):
    """A value as a function: of one that travels to another process."""

    def __init__(self, value: T) -> None:
        self.value = value

    def __call__(self) -> T:
        return self.value
