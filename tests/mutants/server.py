"""Runs tests with a change planted, in a process forked from one that has imported program and tests.

    python -m pytest -p mutants.server …          with MUTANTS_PIPES="in,out": descriptors of two pipes

Importing and collecting take a minute, a fork some milliseconds. In the fork the code of the changed function
is exchanged; whoever holds the function, under whichever name, calls the changed one. That says nothing of
code that ran when modules were imported: such a change is `stale`, and wants a process of its own. What
functions kept when tests were collected is forgotten. A test that fails in a fork without any change says
nothing and is left out.

A question is a line of JSON: {"file": …, "before": …, "after": …, "tests": […], "seconds": …}; the answer
one of {"stale": true}, {"failed": test or null}, {"timed_out": true}. `before` and `after` are whole texts.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import pkgutil
import random
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import _lru_cache_wrapper
from pathlib import Path
from types import CodeType, FrameType, FunctionType
from typing import Any, ClassVar

import pytest

PIPES = "MUTANTS_PIPES"
IS_PLAIN = "MUTANTS_PLAIN"
WAITS = 8
"""So many times its processor time a program may take where others use the machine too."""
_IS_FUNCTION = 0x1
"""Flag of code whose names are local: not that of a module or a class."""

Place = tuple[str, str, int]
"""Code by its file, qualified name and first line."""


class _Early:
    """What ran before the fork."""

    importing = 0
    """Modules of the program that are being imported."""
    on_import: ClassVar[set[Place]] = set()
    """Its results may be part of other modules."""
    on_collection: ClassVar[set[Place]] = set()
    """For tests that say what they expect with the program; of this, answers may be kept by functions."""


def _place(code: CodeType) -> Place:
    return code.co_filename, code.co_qualname, code.co_firstlineno


def _note(frame: FrameType, event: str, argument: object) -> None:
    code = frame.f_code
    if event not in ("call", "return") or "/app/ndbplan/" not in code.co_filename:
        return
    if code.co_name == "<module>":
        _Early.importing += 1 if event == "call" else -1
    elif event == "call":
        (_Early.on_import if _Early.importing else _Early.on_collection).add(_place(code))


def compile_nothing() -> None:
    """Have what is compiled otherwise run as plain Python."""
    from ndbplan.base import compiled

    compiled.compiled = compiled.inlined = lambda function: function
    import numpy as np

    from ndbplan.simulate.kernel import advance, ready

    # Machine code does not tell of a division by zero either.
    ready._advance = np.errstate(all="ignore")(advance.advance)


if PIPES in os.environ:
    sys.setprofile(_note)
if IS_PLAIN in os.environ:
    compile_nothing()


def changed_functions(before: CodeType, after: CodeType) -> Iterator[tuple[Place, CodeType]]:
    """Functions of two texts that differ, outermost ones; raises LookupError for other code that differs."""
    inner = [
        (old, new)
        for old, new in zip(before.co_consts, after.co_consts, strict=True)
        if isinstance(old, CodeType) and isinstance(new, CodeType) and old != new
    ]
    if not inner and before != after:
        raise LookupError(before.co_qualname)
    for old, new in inner:
        if old.co_flags & _IS_FUNCTION:
            yield _place(old), new
        else:
            yield from changed_functions(old, new)


class Server:
    """Tests of a session, and the functions of the program that they call."""

    def __init__(self, session: pytest.Session) -> None:
        self.session = session
        self.items = {item.nodeid: item for item in session.items}
        self.sound: dict[str, bool] = {}
        """Whether a test that failed once passes here without a change."""
        self.functions: dict[Place, list[FunctionType]] = {}
        self.caches: list[Any] = []
        for thing in gc.get_objects():
            if isinstance(thing, FunctionType) and "/app/ndbplan/" in thing.__code__.co_filename:
                self.functions.setdefault(_place(thing.__code__), []).append(thing)
            elif isinstance(thing, _lru_cache_wrapper) and thing.__module__.startswith("ndbplan."):
                self.caches.append(thing)

    def answer(self, asked: dict[str, Any]) -> dict[str, Any]:
        """What the tests say of a change."""
        changes: list[tuple[Place, CodeType]] = []
        if _module_of(asked["file"]) in sys.modules:
            before, after = (compile(asked[text], asked["file"], "exec") for text in ("before", "after"))
            try:
                changes = list(changed_functions(before, after))
            except (LookupError, ValueError):
                return {"stale": True}
            if any(place in _Early.on_import or place not in self.functions for place, _ in changes):
                return {"stale": True}
        while True:
            tests = [test for test in asked["tests"] if test in self.items and self.sound.get(test, True)]
            # Programs that a test starts, and modules that nobody imported so far, read the file.
            with written(Path(asked["file"]), asked["after"]):
                found = self._forked(changes, tests, asked["seconds"])
            failed = found.get("failed")
            if failed is None or self.sound.get(failed):
                return found
            self.sound[failed] = self._forked([], [failed], asked["seconds"]).get("failed", "") is None
            if self.sound[failed]:
                return found

    def _forked(
        self, changes: Sequence[tuple[Place, CodeType]], tests: Sequence[str], seconds: float
    ) -> dict[str, Any]:
        """The first of these tests that fails in a process of its own."""
        reads, writes = os.pipe()
        child = os.fork()
        if not child:
            os.close(reads)
            # Of processor time: a busy machine is no fault of a change. What waits for ever uses none.
            for timer, heard, longest_s in (
                (signal.ITIMER_PROF, signal.SIGPROF, seconds),
                (signal.ITIMER_REAL, signal.SIGALRM, WAITS * seconds),
            ):
                # A loop in compiled code hears of nothing less.
                signal.signal(heard, signal.SIG_DFL)
                signal.setitimer(timer, longest_s)
            for place, code in changes:
                for function in self.functions[place]:
                    function.__code__ = code
                if place in _Early.on_collection:
                    for cached in self.caches:
                        cached.cache_clear()
            failed = self._first_failure(tests)
            os.write(writes, json.dumps({"failed": failed}).encode())
            os._exit(0)
        os.close(writes)
        with os.fdopen(reads, "rb") as pipe:
            said = pipe.read()
        os.waitpid(child, 0)
        return json.loads(said) if said else {"timed_out": True}

    def _first_failure(self, tests: Sequence[str]) -> str | None:
        items = [self.items[test] for test in tests]
        for item, after in zip(items, (*items[1:], None), strict=True):
            try:
                item.config.hook.pytest_runtest_protocol(item=item, nextitem=after)
            except BaseException:  # noqa: BLE001 — the change may do anything
                return item.nodeid
            if self.session.testsfailed:
                return item.nodeid
        return None


@contextmanager
def written(file: Path, text: str) -> Iterator[None]:
    """While a file holds another text, with a date of its own: else the bytecode of an earlier one is run."""
    before, was = file.read_bytes(), file.stat()
    file.write_text(text, encoding="utf-8")
    moment_s = random.randrange(2**31)
    os.utime(file, (moment_s, moment_s))
    try:
        yield
    finally:
        file.write_bytes(before)
        os.utime(file, ns=(was.st_atime_ns, was.st_mtime_ns))


def _module_of(file: str) -> str:
    parts = Path(file.partition("/app/")[2]).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _import_everything() -> None:
    """What the program imports only when it is needed, too: else each fork would do so."""
    import ndbplan

    for module in pkgutil.walk_packages(ndbplan.__path__, "ndbplan."):
        if not module.name.startswith(("ndbplan.desktop", "ndbplan.__main__")):
            importlib.import_module(module.name)
    from ndbplan.simulate.kernel import ready

    ready.prepare()


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> bool | None:
    """Answer questions, instead of running the tests that were collected."""
    if PIPES not in os.environ:
        return None
    began = time.monotonic()
    _import_everything()
    sys.setprofile(None)
    server = Server(session)
    gc.collect()
    gc.freeze()
    asks, answers = map(int, os.environ[PIPES].split(","))
    with os.fdopen(asks, "rb") as questions, os.fdopen(answers, "w", encoding="utf-8") as said:
        hello = {
            "tests": len(server.items),
            "functions": len(server.functions),
            "stale": len(_Early.on_import),
        }
        print(json.dumps(hello | {"s": time.monotonic() - began}), file=said, flush=True)
        for line in questions:
            print(json.dumps(server.answer(json.loads(line))), file=said, flush=True)
    return True
