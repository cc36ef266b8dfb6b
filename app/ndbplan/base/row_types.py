"""Rows of numbers with types, for compiled code, plain Python and mypy alike.

class Node(Row):
    lag_limit_s: float

nodes = rows(Node, 3)                          # an array of three
nodes[0].lag_limit_s                           # a field of one row
column(nodes, lambda node: node.lag_limit_s)   # that field of all of them
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast, get_type_hints

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from typing import Self

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
R = TypeVar("R", bound="Row")


class Row:
    """Base of the row types: fields of numbers. No field is called as a method of an array.

    `Node()` is a draft of a row, all fields 0; `record` and `stacked` make of it what the kernel works on.
    """

    def __init__(self) -> None:
        vars(self).update(_zeros(cast(Any, type(self))))

    if TYPE_CHECKING:

        def copy(self) -> Self: ...


if TYPE_CHECKING:

    class Rows(Generic[R]):
        """An array of rows of one type."""

        shape: tuple[int]

        def __getitem__(self, at: int) -> R: ...
        def __setitem__(self, at: int, row: R) -> None: ...
        def __len__(self) -> int: ...
        def __iter__(self) -> Iterator[R]: ...
        def copy(self) -> Self: ...

else:

    class Rows(Generic[R]):
        """An array of rows of one type; at run time a record array of numpy."""


@cache
def _dtype(row: Any) -> np.dtype[Any]:
    fields = get_type_hints(row)
    taken = [name for name in fields if hasattr(np.recarray, name) or hasattr(np.record, name)]
    if taken:
        raise TypeError(f"{row.__name__}: {', '.join(taken)} is what an array calls something of its own")
    kinds = {float: np.float64, int: np.int64, bool: np.bool_}
    return np.dtype([(name, kinds[kind]) for name, kind in fields.items()], align=True)


@cache
def _zeros(row: Any) -> dict[str, float]:
    return dict.fromkeys(get_type_hints(row), 0)


def rows(row: type[R], count: int) -> Rows[R]:
    """An array of rows, all fields 0."""
    return cast(Rows[R], np.zeros(count, _dtype(cast(Any, row))).view(np.recarray))


def stacked(drafts: Sequence[R]) -> Rows[R]:
    """An array of the rows that were drafted; at least one."""
    dtype = _dtype(cast(Any, type(drafts[0])))
    return cast(Rows[R], np.array([values(draft) for draft in drafts], dtype).view(np.recarray))


def record(draft: R) -> R:
    """A row by itself."""
    return stacked([draft])[0]


def values(draft: Row) -> tuple[float, ...]:
    """The fields of a draft, in their order."""
    return tuple(vars(draft).values())


def column(of: Rows[R], field: Callable[[R], float]) -> Floats:
    """One field of all rows, to be read and written: what is written into it is in the rows."""
    return cast(Floats, field(cast(R, of)))
