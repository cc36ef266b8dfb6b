"""What every test gets: folders of its own, a window system without a screen, and a look for leaks."""

from __future__ import annotations

import gc
import os
import sys
import tempfile
import threading
from collections.abc import Iterator
from importlib.abc import MetaPathFinder
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from ndbplan.base.kept import Kept, keeping
from ndbplan.base.units import use_system

os.environ["QT_QPA_PLATFORM"] = "offscreen"
# Compiled kernels are kept between runs and shared by parallel workers; a test's own cache folder is empty.
os.environ.setdefault(
    "NUMBA_CACHE_DIR", os.fspath(Path(__file__).parent.parent / ".pytest_cache" / "compiled")
)

# Between tests, and while they are collected, nobody's own settings count: these folders are never made.
_NOBODY = Path(tempfile.gettempdir()) / f"ndbplan-nobody-{os.getpid()}"
for _name in ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME"):
    os.environ[_name] = os.fspath(_NOBODY / _name)

EXAMPLES = int(os.environ.get("NDBPLAN_EXAMPLES", "0"))
"""So many drawn at random, as `make attack` does; 0: a few, the same each time."""
settings.register_profile("suite", max_examples=EXAMPLES or 20, deadline=None, derandomize=not EXAMPLES)
settings.load_profile("suite")


class _QtInThreads(MetaPathFinder):
    """Takes down modules of Qt that a thread loads: the window uses others meanwhile, and may crash."""

    def __init__(self) -> None:
        self.found: list[str] = []

    def find_spec(self, name: str, *_: object) -> None:
        """Finds nothing, and notes who asked."""
        of_qt = name.partition(".")[0] in ("PySide6", "shiboken6", "pyqtgraph")
        if of_qt and threading.current_thread() is not threading.main_thread():
            self.found.append(name)


_qt_in_threads = _QtInThreads()
sys.meta_path.insert(0, _qt_in_threads)

_MANY_NEW_OBJECTS = 20_000
"""Before a search for garbage: rarely found in tests, which make some ten million objects."""


def pytest_collection_finish() -> None:
    """Tests that were collected, and what they import, are searched no more for garbage."""
    gc.freeze()
    gc.set_threshold(_MANY_NEW_OBJECTS)


_QT_FIXTURES = {"qapp", "qtbot", "qtmodeltester"}


@pytest.fixture(autouse=True)
def own_folders(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Settings, caches and state of a test lie in a folder of its own; units that it chose end with it."""
    home = tmp_path_factory.mktemp("home", numbered=True)
    for name, folder in (
        ("XDG_CONFIG_HOME", "config"),
        ("XDG_CACHE_HOME", "cache"),
        ("XDG_DATA_HOME", "data"),
        ("XDG_STATE_HOME", "state"),
    ):
        monkeypatch.setenv(name, os.fspath(home / folder))
    yield home
    use_system("")


@pytest.fixture(autouse=True)
def own_answers() -> Iterator[None]:
    """What is worked out in a test is kept for this test, as a window or a command does."""
    with keeping(Kept()):
        yield


@pytest.fixture(autouse=True)
def no_leaks(request: pytest.FixtureRequest) -> Iterator[None]:
    """A test that leaves threads, timers, animations or background tasks running fails and names them."""
    threads_before = set(threading.enumerate())
    uses_qt = bool(_QT_FIXTURES.intersection(request.fixturenames))
    if uses_qt:
        # A collection in a thread would delete widgets of earlier tests there, which Qt does not survive.
        gc.disable()
        # What is there now is searched no more, neither for garbage nor for what the test leaves.
        gc.freeze()
    try:
        yield
    finally:
        if uses_qt:
            gc.enable()
            gc.collect()
    loaded, _qt_in_threads.found = _qt_in_threads.found, []
    assert not loaded, f"loaded by a thread: {', '.join(loaded)}"
    # Qt's own event loop and a garbage collection get one chance to end what a deleted window held.
    left = _left_over(threads_before, uses_qt)
    if left:
        if uses_qt:
            _let_qt_delete()
        gc.collect()
        left = _left_over(threads_before, uses_qt)
    assert not left, "still alive after the test: " + "; ".join(left)


def _left_over(threads_before: set[threading.Thread], uses_qt: bool) -> list[str]:
    left = [
        f"thread '{thread.name}'"
        for thread in threading.enumerate()
        if thread not in threads_before
        and thread.is_alive()
        and not isinstance(thread, threading._DummyThread)
    ]
    if uses_qt:
        left += _busy_qt()
    return left


def _let_qt_delete() -> None:
    from PySide6.QtCore import QCoreApplication, QEvent

    from ndbplan.desktop.document.tasks import wait_for_leaving

    # Threads that were told to stop; what does not stop at all is a leak.
    wait_for_leaving(10_000)
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    QCoreApplication.processEvents()


def _busy_qt() -> list[str]:
    """Timers, animations and threads that run, of those that came since what was there was frozen."""
    if "PySide6.QtCore" not in sys.modules:
        return []
    import shiboken6
    from PySide6.QtCore import QAbstractAnimation, QThread, QThreadPool, QTimer

    busy: list[str] = []
    pool = QThreadPool.globalInstance()
    if pool.activeThreadCount():
        busy.append(f"{pool.activeThreadCount()} tasks in Qt's global thread pool")
    things = gc.get_objects()
    # Asked of each type once: there are a few hundred types, and tens of thousands of objects.
    kinds = {
        kind
        for kind in set(map(type, things))
        if issubclass(kind, (QTimer, QAbstractAnimation, QThread, QThreadPool))
    }
    for thing in (thing for thing in things if type(thing) in kinds):
        if not shiboken6.isValid(thing) or thing is pool:
            continue
        if isinstance(thing, QTimer):
            if thing.isActive():
                busy.append(f"timer of {thing.interval()} ms {_whose(thing)}")
        elif isinstance(thing, QAbstractAnimation):
            if thing.state() == QAbstractAnimation.State.Running:
                busy.append(f"{type(thing).__name__} {_whose(thing)}")
        elif isinstance(thing, QThreadPool):
            if thing.activeThreadCount():
                busy.append(f"{thing.activeThreadCount()} tasks in a thread pool {_whose(thing)}")
        elif thing.isRunning() and thing is not QThread.currentThread():
            busy.append(f"{type(thing).__name__} {_whose(thing)}")
    return busy


def _whose(thing: Any) -> str:
    owner = thing.parent()
    name = thing.objectName()
    return f"'{name}' of {type(owner).__name__ if owner else 'nobody'}"
