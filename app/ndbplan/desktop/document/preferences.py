"""What the program remembers from start to start: recent files, appearance. Losing it loses nothing.

preferences.put(UNITS, "binary")
preferences.get(UNITS)
"""

from __future__ import annotations

import contextlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from ndbplan.base.errors import UserError
from ndbplan.base.files import read_at_most, write_atomically
from ndbplan.base.units import SYSTEMS

if TYPE_CHECKING:
    from ndbplan.desktop.look.theme import Mode

_RECENT_AT_MOST = 10
_MOST_BYTES = 5_000_000
_Value = TypeVar("_Value")


@dataclass(frozen=True)
class Preference(Generic[_Value]):
    """One thing that is remembered: its name in the file, and what holds where nothing else is known."""

    name: str
    default: _Value
    choices: tuple[_Value, ...] = ()
    """What it may be; nothing: whatever is of the default's type."""


APPEARANCE: Preference[Mode] = Preference("appearance", "system", ("system", "light", "dark"))
UNITS = Preference("units", "", SYSTEMS)
"""Of bytes; nothing: those of the manual."""
FIRST_STEPS_OVER = Preference("first_steps_over", False)
WINDOW = Preference("window", "")
"""Geometry of the window as Qt writes it, in base 64."""
SESSION: Preference[dict[str, Any]] = Preference("session", {})
"""What the window was like, see `session.py`."""
VIEWS: Preference[dict[str, Any]] = Preference("views", {})
"""What the windows of the files were like that were open last, by path, see `session.py`."""
LESSONS: Preference[dict[str, Any]] = Preference("lessons", {})
"""Best points of each lesson that was finished, by its name."""
TRAINEE = Preference("trainee", "")
"""Who played a lesson last."""
OPEN_FILES: Preference[list[Any]] = Preference("open_files", [])
RECENT: Preference[list[Any]] = Preference("recent", [])


class Preferences:
    """A small JSON file of the user; unreadable or unwritable, the program works without it."""

    def __init__(self, path: Path | None = None) -> None:
        if path is None:
            import platformdirs

            path = Path(platformdirs.user_config_dir("ndbplan")) / "preferences.json"
        self._path = path
        self._values: dict[str, Any] = {}
        with contextlib.suppress(OSError, ValueError, RecursionError):
            stored = json.loads(read_at_most(path, _MOST_BYTES) or b"{}")
            if isinstance(stored, dict):
                self._values = stored

    def get(self, preference: Preference[_Value]) -> _Value:
        """What is remembered, if it is of the default's type and one of the choices; else the default."""
        value = self._values.get(preference.name)
        if not isinstance(value, type(preference.default)):
            return preference.default
        return value if not preference.choices or value in preference.choices else preference.default

    def put(self, preference: Preference[_Value], value: _Value) -> None:
        """Remember a value."""
        if self._values.get(preference.name) == value:
            return
        self._values[preference.name] = value
        with contextlib.suppress(OSError, UserError):
            self._path.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(self._path, json.dumps(self._values, indent=2).encode())

    @property
    def recent(self) -> list[Path]:
        """Files opened or saved last, newest first, that still exist."""
        return [Path(p) for p in self.get(RECENT) if isinstance(p, str) and _is_file(p)]

    def add_recent(self, path: Path) -> None:
        """Remember a file as the newest one."""
        others = [str(p) for p in self.recent if p != path]
        self.put(RECENT, [str(path), *others][:_RECENT_AT_MOST])


def _is_file(path: str) -> bool:
    try:
        return Path(path).is_file()
    except OSError:
        # No file can have such a name.
        return False
