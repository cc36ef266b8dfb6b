"""Where independent pieces of work are done: in this process, or in several.

    for answer in each_of(function, pieces, workers=2): ...

Answers come in the order of the pieces, whatever is done when.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

A = TypeVar("A")
R = TypeVar("R")


def each_of(function: Callable[[A], R], pieces: Sequence[A], *, workers: int) -> Iterator[R]:
    """function(piece) of each. `function` and pieces must be such that another process can have them.

    A worker that dies takes its piece with it, which is done once more here.
    """
    if workers <= 1 or len(pieces) <= 1:
        yield from map(function, pieces)
        return
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor
    from concurrent.futures.process import BrokenProcessPool

    with ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context("spawn")) as pool:
        waiting = deque(pool.submit(function, piece) for piece in pieces)
        try:
            for piece in pieces:
                try:
                    yield waiting.popleft().result()
                except BrokenProcessPool:
                    yield function(piece)
        finally:
            for one in waiting:
                one.cancel()
