"""The compiled kernel: whether it is ready, how to get it ready, and what to say while it is not.

Compiling takes some 20 s of one core the first time on a machine. `make setup` and the open window have that
done by a process of its own (`simulate.prepare`); a run that cannot wait for it does the same, and says so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from functools import cache
from pathlib import Path
from threading import Lock
from typing import Any

from ndbplan.base.compiled import CompiledCode, place_of

_lock = Lock()
_advance: Callable[..., None] | None = None
_is_known_ready = False
_told: ContextVar[Callable[[], None] | None] = ContextVar("told", default=None)
_LOOK_S = 0.1
"""How often a run that waits for the compiler looks whether it is given up."""
_MODULE = "ndbplan.simulate.prepare"

SOURCES = (
    "../world/indices.py",
    "../world/laws.py",
    "../world/state.py",
    "../world/world.py",
    "../../base/compiled.py",
    "../../base/row_types.py",
    "chance.py",
    "log.py",
    "refused.py",
    "lag.py",
    "redo_control.py",
    "checkpoint.py",
    "disks.py",
    "clients.py",
    "rows.py",
    "records.py",
    "advance.py",
)


@cache
def code() -> CompiledCode:
    """The kernel's machine code on this machine."""
    return CompiledCode("kernel", [Path(__file__).parent.joinpath(name) for name in SOURCES])


def _mark() -> str:
    return place_of(__file__)


def is_prepared() -> bool:
    """Whether a simulation can start without compiling first. Quick; imports no compiler."""
    global _is_known_ready
    if not _is_known_ready:
        _is_known_ready = _advance is not None or code().is_ready(_mark())
    return _is_known_ready


@contextmanager
def told_before(tell: Callable[[], None]) -> Iterator[None]:
    """`tell` is called when a run inside is about to compile the kernel; what is refused, is before."""
    before = _told.set(tell)
    try:
        yield
    finally:
        _told.reset(before)


def prepare() -> Callable[..., None]:
    """The compiled kernel; compiles it here when this machine has not done so yet."""
    global _advance
    with _lock:
        if _advance is None:
            tell = _told.get()
            if tell is not None and not is_prepared():
                tell()
            from numba import int64, typeof

            from ndbplan.simulate.kernel import advance as steps
            from ndbplan.simulate.world.world import example

            with code().loading(_mark()):
                compiled: Any = steps.advance
                # One version is compiled, and kept on disk.
                compiled.compile((*map(typeof, example()), int64, int64))
            _advance = compiled
    return _advance


def announcement() -> str:
    """What to say before a run that has to wait, in one line."""
    if code().refusal:
        return (
            f"preparing the simulation; it is compiled anew each time, as {code().refusal} — put that right, "
            "or name a folder of your own in NUMBA_CACHE_DIR …"
        )
    return "preparing the simulation (only this first time) …"


@cache
def _functions() -> int:
    return sum(
        Path(__file__).parent.joinpath(name).read_text("utf-8").count("\n@compiled") for name in SOURCES
    )


def wait_until_prepared(
    progress: Callable[[float, str], None], cancelled: Callable[[], bool] = lambda: False
) -> None:
    """Let a process of its own compile the kernel, or wait for the one that does, until it is ready.

    `progress` is told the share of functions that are ready, and a text. Returns as well when it was
    cancelled, and when such a process cannot help; `prepare` compiles here then.
    """
    import subprocess

    if is_prepared() or code().refusal:
        return
    command, environment = in_a_process("--kernel")
    with subprocess.Popen(
        command,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as compiling:
        # It ends at once when another one has been quicker.
        while compiling.poll() is None and not cancelled():
            done, of = min(code().functions, _functions()), _functions()
            progress(done / of, f"Preparing the simulation engine: {done} of {of} parts…")
            with suppress(subprocess.TimeoutExpired):
                compiling.wait(_LOOK_S)
        compiling.terminate()


def in_a_process(*options: str) -> tuple[list[str], dict[str, str]]:
    """Command and environment of a process that compiles this kernel, with these libraries."""
    import os
    import sys

    package = Path(__file__).resolve().parents[3]
    path = os.pathsep.join(filter(None, (os.fspath(package), os.environ.get("PYTHONPATH"))))
    return [sys.executable, "-m", _MODULE, *options], {**os.environ, "PYTHONPATH": path}
