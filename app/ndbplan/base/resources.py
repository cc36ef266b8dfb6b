"""Where the data that the program reads lies: `resources/` of a checkout, or beside the installed package."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

_PACKAGE = Path(__file__).resolve().parent.parent


@cache
def resources_dir() -> Path:
    """The folder of the program's data files."""
    installed = _PACKAGE / "resources"
    return installed if installed.is_dir() else _PACKAGE.parent.parent / "resources"


def resource_path(relative: str) -> Path:
    """The path of one data file, such as `ndb/errors.json`."""
    return resources_dir() / relative


@cache
def read_json(relative: str) -> Any:
    """The parsed content of one JSON data file: read once, shared by all who ask, changed by nobody."""
    return json.loads(resource_path(relative).read_text(encoding="utf-8"))
