"""Screens for these tests; without what it takes they are skipped and say what is missing."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from desktop.end_to_end.person import Person, Screen, missing

_FOLDERS = ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME")


@pytest.fixture(scope="module")
def screen(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Screen]:
    """A screen of a module's own: a program of another one beside it would take the keyboard now and then."""
    yield from _screen(tmp_path_factory)


@pytest.fixture(scope="session")
def shared_screen(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Screen]:
    """The screen of the program that is shared."""
    yield from _screen(tmp_path_factory)


def _screen(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Screen]:
    """An X server of the smallest size that is looked at, with a window manager."""
    lacking = missing()
    if lacking:
        pytest.skip(f"{', '.join(lacking)} not installed: 'apt-get install xvfb openbox xdotool'")
    home = tmp_path_factory.mktemp("person")
    with Screen(1366, 768) as shown:
        shown.environment |= {name: os.fspath(home / name.lower()) for name in _FOLDERS}
        yield shown


@pytest.fixture(scope="session")
def shared(shared_screen: Screen) -> Iterator[Person]:
    """Somebody before the sample `starter`, whose first simulation shows a limit, after its tour."""
    with Person(shared_screen, "starter") as person:
        panel = "window.panels.analyses.panel('Simulation')"
        result = f"{panel}.result"
        person.until(f"resting() and {result}.accepted_per_s.value < 0.95 * {result}.offered_per_s")
        person.until("all(c.is_drawn for c in charts().all) and window.tour.spot.target is charts().rates")
        person.click("place('Close the tour')")
        person.until("window.tour.card.isHidden()")
        yield person


@pytest.fixture
def person(shared: Person) -> Iterator[Person]:
    """The same for each test: what a test changes is undone."""
    shared.until("resting() and not window.document.undo_stack.canUndo()")
    yield shared
    while shared.look("window.document.undo_stack.canUndo()"):
        shared.click("place('Undo')")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """Where a person keeps files."""
    return tmp_path
