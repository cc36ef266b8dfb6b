"""What the program remembers from start to start: recent files, appearance. Losing it loses nothing."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path
from typing import Any

from ndbplan.base.errors import UserError
from ndbplan.base.files import read_at_most, write_atomically

_RECENT_AT_MOST = 10
_MOST_BYTES = 5_000_000


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

    def get(self, name: str, default: Any = None) -> Any:
        """A remembered value, if it is of the default's type."""
        value = self._values.get(name, default)
        return value if default is None or isinstance(value, type(default)) else default

    def put(self, name: str, value: Any) -> None:
        """Remember a value."""
        if self._values.get(name) == value:
            return
        self._values[name] = value
        with contextlib.suppress(OSError, UserError):
            self._path.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(self._path, json.dumps(self._values, indent=2).encode())

    @property
    def recent(self) -> list[Path]:
        """Files opened or saved last, newest first, that still exist."""
        return [Path(p) for p in self.get("recent", []) if isinstance(p, str) and _is_file(p)]

    def add_recent(self, path: Path) -> None:
        """Remember a file as the newest one."""
        others = [str(p) for p in self.recent if p != path]
        self.put("recent", [str(path), *others][:_RECENT_AT_MOST])


def _is_file(path: str) -> bool:
    try:
        return Path(path).is_file()
    except OSError:
        # No file can have such a name.
        return False
