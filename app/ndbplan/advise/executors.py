"""Where independent pieces of work are done: in this process, in several, or on a cluster of Dask.

    for answer in each_of(function, pieces, workers=2): ...
    for answer in each_of(function, pieces, workers=2, scheduler="tcp://head:8786"): ...

Answers come in the order of the pieces, whatever is done when.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextvars import copy_context
from importlib import import_module
from typing import Any, TypeVar

from ndbplan.base.errors import UserError

_REACHED_WITHIN_S = 10
"""So long a scheduler may take to answer."""
A = TypeVar("A")
R = TypeVar("R")


def each_of(
    function: Callable[[A], R], pieces: Sequence[A], *, workers: int, scheduler: str | None = None
) -> Iterator[R]:
    """function(piece) of each. `function` and pieces must be such that another process can have them.

    A worker that dies takes its piece with it, which is done once more: here, or by another worker of the
    Dask cluster whose `scheduler` is named. Raises UserError where that cannot be reached.
    """
    if scheduler is not None:
        yield from _on_dask(function, pieces, scheduler)
        return
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


def at_once(function: Callable[[A], R], pieces: Sequence[A]) -> list[R]:
    """function(piece) of each, each in a thread of its own: for what runs compiled, beside other threads.

    They share the answers that are kept. The first error in the order of the pieces is raised.
    """
    if len(pieces) < 2:
        return [function(piece) for piece in pieces]
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(len(pieces)) as pool:
        return [each.result() for each in [pool.submit(copy_context().run, function, one) for one in pieces]]


def _on_dask(function: Callable[[A], R], pieces: Sequence[A], scheduler: str) -> Iterator[R]:
    try:
        # It has no types, and may not be there.
        distributed: Any = import_module("distributed")
    except ImportError:
        raise UserError(
            "Dask is not installed", where="--dask", fix="install it with: pip install 'ndbplan[dask]'"
        ) from None
    try:
        client = distributed.Client(scheduler, timeout=_REACHED_WITHIN_S, set_as_default=False)
    except (OSError, ValueError) as error:
        what = f"no Dask scheduler answers at {scheduler[:80]} ({str(error)[:80]})"
        fix = "write the address that it prints, such as tcp://head:8786"
        raise UserError(what, where="--dask", fix=fix) from None
    with client:
        # Not pure: Dask would look at each piece as a whole to see whether it knows the answer.
        waiting = deque(client.map(function, pieces, pure=False))
        try:
            while waiting:
                yield waiting.popleft().result()
        finally:
            client.cancel(list(waiting))
