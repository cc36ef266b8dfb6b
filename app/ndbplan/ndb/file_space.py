"""What the files of a data node take on disk by version: copies of checkpoints, how sparse files begin.

    full_checkpoint_copies(version).value      # 2 for 7.4

The data is `resources/ndb/file_space.json`.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any

from ndbplan.base.resources import read_json
from ndbplan.base.units import whole_number
from ndbplan.ndb.constants import Constant
from ndbplan.ndb.version import NdbVersion, reached

_UNITS = {"G": 2**30, "M": 2**20, "K": 2**10, "": 1}
_FILE = re.compile(r"([^;:=]+):\s*([0-9]+)\s*([KMG]?)", re.IGNORECASE)


def _facts() -> dict[str, Any]:
    facts: dict[str, Any] = read_json("ndb/file_space.json")
    return facts


def _constant(name: str, row: dict[str, Any], unit: str) -> Constant:
    return Constant(
        name=name,
        value=row["value"],
        low=row["low"],
        high=row["high"],
        unit=unit,
        source=row["source"],
        evidence=row["evidence"],
        meaning=row["meaning"],
    )


@cache
def full_checkpoint_copies(version: NdbVersion) -> Constant:
    """How many full local checkpoints of its rows a data node keeps on disk."""
    row = reached(_facts()["full_checkpoint_copies"], version, "since")
    return _constant("full_checkpoint_copies", row, "copies")


def specified_files(text: str) -> tuple[str, int]:
    """Name and total bytes of the files in InitialLogfileGroup or InitialTablespace.

    `name=lg;undo_buffer_size=64M;undo1.log:1G` is ("lg", 2**30); nothing is refused here.
    """
    name, size = "", 0
    for part in (part.strip() for part in text.split(";")):
        match = _FILE.fullmatch(part)
        if match and (number := whole_number(match[2])) is not None:
            size += number * _UNITS[match[3].upper()]
        elif part.lower().startswith("name"):
            name = part.partition("=")[2].strip()
    return name, size
