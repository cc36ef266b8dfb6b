"""Where independent pieces of work are done: in this process, in several, or on a cluster of Dask.

    for answer in each_of(function, pieces, workers=2): ...
    for answer in each_of(function, pieces, workers=2, scheduler="tcp://head:8786"): ...

    with crew(2, None) as each:              # the same processes for one list of pieces after another
        each(function, pieces)

Answers come in the order of the pieces, whatever is done when.
"""

from __future__ import annotations

import logging
import re
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager, suppress
from contextvars import copy_context
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from time import monotonic
from typing import Any, Protocol, TypeVar

from ndbplan.base.errors import UserError
from ndbplan.base.garbage import seldom_collecting

_REACHED_WITHIN_S = 10
"""So long a scheduler may take to answer."""
_LOOKED_AFTER_S, _WITHOUT_WORKERS_S = 5.0, 60.0
"""How often it is asked whether a cluster has workers, and how long it may have none: one that grows by
itself starts them when there is work."""
_LONG_S = 5.0
"""Work for which it is worthwhile to begin other processes. Judgement: each takes a second to be ready."""
_OF_EACH_WORKER, _OF_A_CLUSTER = 2, 64
"""Pieces that work is cut into: for each process, which begins each anew; for all workers of a cluster."""
_ADDRESS = re.compile(r"(tcp|tls|ws|wss|ucx)://(\[[0-9a-fA-F:.%]+\]|[^\s/:\[\]]+):[0-9]{1,5}")
_AS_PRINTED = "write the address that it prints, such as tcp://head:8786"
A = TypeVar("A")
R = TypeVar("R")


SharedOut = Callable[[Callable[[Any], list[Any]], Any], Iterator[Any]]
"""What a function answers for pieces of some work, one after the other."""


class UnreachableError(UserError):
    """The cluster that was to do the work cannot be reached, or is lost."""


class Each(Protocol):
    """function(piece) of each piece, in their order."""

    def __call__(self, function: Callable[[A], R], pieces: Sequence[A]) -> Iterator[R]: ...


def count_of_pieces(workers: int, scheduler: str | None) -> int:
    """Into how many pieces work is cut that is done elsewhere."""
    return _OF_A_CLUSTER if scheduler is not None else _OF_EACH_WORKER * max(1, workers)


def cut(work: Sequence[A], workers: int, scheduler: str | None) -> list[Sequence[A]]:
    """Pieces of it, in order: one after the other they are the whole."""
    size = max(1, -(-len(work) // count_of_pieces(workers, scheduler)))
    return [work[at : at + size] for at in range(0, len(work), size)]


def each_of(
    function: Callable[[A], R], pieces: Sequence[A], *, workers: int, scheduler: str | None = None
) -> Iterator[R]:
    """function(piece) of each. `function` and pieces must be such that another process can have them.

    Raises UnreachableError where the scheduler cannot be reached.
    """
    with crew(min(workers, len(pieces)), scheduler) as each:
        yield from each(function, pieces)


@contextmanager
def crew(workers: int, scheduler: str | None = None) -> Iterator[Each]:
    """Who does pieces of work until the block ends: processes, a scheduler's Dask cluster, or nobody else.

    A worker that dies takes its piece with it, which is done once more: here, or by another worker of the
    cluster. Raises UnreachableError where the scheduler cannot be reached, or has no workers.
    """
    if scheduler is not None:
        with _client(scheduler) as client:
            yield _Dask(client)
    elif workers <= 1:
        yield _here
    else:
        import multiprocessing
        from concurrent.futures import ProcessPoolExecutor

        context = multiprocessing.get_context("spawn")
        with ProcessPoolExecutor(workers, mp_context=context, initializer=_end_with_parent) as pool:
            yield _Processes(pool)


def _end_with_parent() -> None:
    """This process ends when the one that began it does, killed or not: it would wait for work for ever."""
    import multiprocessing
    import os
    from threading import Thread

    parent = multiprocessing.parent_process()
    assert parent is not None

    def wait() -> None:
        parent.join()
        os._exit(1)

    Thread(target=wait, daemon=True).start()


def _here(function: Callable[[A], R], pieces: Sequence[A]) -> Iterator[R]:
    return map(function, pieces)


def helped(helpers: int, function: Callable[[A], R], pieces: Sequence[A]) -> Iterator[R]:
    """function(piece) of each, here; once it is seen that the others take long, by so many processes."""
    began = monotonic()
    for done, piece in enumerate(pieces):
        left = len(pieces) - done
        if done and helpers > 1 and left > 1 and (monotonic() - began) / done * left > _LONG_S:
            yield from each_of(function, pieces[done:], workers=helpers)
            return
        yield function(piece)


@contextmanager
def shared_out(workers: int | None, scheduler: str | None) -> Iterator[SharedOut | None]:
    """Who answers for a list in pieces, when somebody else is to; None: nobody is."""
    if workers is None and scheduler is None:
        yield None
        return
    with crew(workers or 1, scheduler) as each:

        def answers(function: Callable[[Any], list[Any]], work: Sequence[Any]) -> Iterator[Any]:
            for some in each(function, cut(work, workers or 1, scheduler)):
                yield from some

        yield answers


def _worked(function: Callable[[A], R], piece: A) -> R:
    """function(piece), in a process that is there for it."""
    with seldom_collecting():
        return function(piece)


@dataclass(frozen=True)
class _Processes:
    pool: Any

    def __call__(self, function: Callable[[A], R], pieces: Sequence[A]) -> Iterator[R]:
        from concurrent.futures.process import BrokenProcessPool

        waiting: deque[Any] = deque()
        try:
            with suppress(BrokenProcessPool):
                waiting.extend(self.pool.submit(_worked, function, piece) for piece in pieces)
            for piece in pieces:
                try:
                    yield waiting.popleft().result() if waiting else function(piece)
                except BrokenProcessPool:
                    yield function(piece)
        finally:
            for one in waiting:
                one.cancel()


@dataclass(frozen=True)
class _Dask:
    client: Any

    def __call__(self, function: Callable[[A], R], pieces: Sequence[A]) -> Iterator[R]:
        # Not pure: Dask would look at each piece as a whole to see whether it knows the answer.
        waiting = deque(self.client.map(partial(_worked, function), pieces, pure=False))
        try:
            while waiting:
                yield self._result(waiting.popleft())
        finally:
            with suppress(OSError, CancelledError):
                self.client.cancel(list(waiting))

    def _result(self, future: Any) -> Any:
        killed: type[Exception] = import_module("distributed").KilledWorker
        try:
            return self._waited_for(future)
        except killed:
            what, fix = "workers of Dask die of the work", "give them more memory, or use --workers"
        except (OSError, CancelledError):
            what, fix = "the Dask cluster went away before all was done", "start it and ask again"
        raise UnreachableError(what, where="--dask", fix=fix)

    def _waited_for(self, future: Any) -> Any:
        """Its result. Raises UnreachableError when nobody is there who could do it."""
        alone_since: float | None = None
        while True:
            with suppress(TimeoutError):
                return future.result(timeout=_LOOKED_AFTER_S)
            if self.client.nthreads():
                alone_since = None
                continue
            alone_since = monotonic() if alone_since is None else alone_since
            if monotonic() - alone_since >= _WITHOUT_WORKERS_S:
                raise UnreachableError(
                    f"the Dask cluster has had no worker for {_WITHOUT_WORKERS_S:.0f} s",
                    where="--dask",
                    fix="start workers (dask worker ADDRESS) and ask again, or use --workers",
                )


def at_once(function: Callable[[A], R], pieces: Sequence[A]) -> list[R]:
    """function(piece) of each, each in a thread of its own: for what runs compiled, beside other threads.

    They share the answers that are kept. The first error in the order of the pieces is raised.
    """
    if len(pieces) < 2:
        return [function(piece) for piece in pieces]
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(len(pieces)) as pool:
        return [each.result() for each in [pool.submit(copy_context().run, function, one) for one in pieces]]


def _client(scheduler: str) -> Any:
    """The cluster of a scheduler, until its block ends."""
    if _ADDRESS.fullmatch(scheduler) is None:
        # A client that cannot read an address asks for half a minute whether it may go.
        what = f"'{scheduler[:80]}' is not the address of a Dask scheduler"
        raise UnreachableError(what, where="--dask", fix=_AS_PRINTED)
    try:
        # It has no types, and may not be there.
        distributed: Any = import_module("distributed")
    except ImportError:
        raise UnreachableError(
            "Dask is not installed", where="--dask", fix="install it with: pip install 'ndbplan[dask]'"
        ) from None
    # A cluster that is lost is said in one line, and not by the traceback that is logged as well.
    logging.getLogger("distributed.client").setLevel(logging.CRITICAL)
    try:
        return distributed.Client(scheduler, timeout=_REACHED_WITHIN_S, set_as_default=False)
    except (OSError, ValueError) as error:
        what = f"no Dask scheduler answers at {scheduler[:80]} ({str(error)[:80]})"
        raise UnreachableError(what, where="--dask", fix=_AS_PRINTED) from None
