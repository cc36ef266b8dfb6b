"""Changes of the product that change how long starts, backups and reorganisations take, as data.

    speed_change("partial_checkpoints").is_in(version)

The data is `resources/ndb/speed-changes.json`. A step between two versions is due to one of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from ndbplan.base.resources import read_json
from ndbplan.ndb.version import NdbVersion


@dataclass(frozen=True, slots=True)
class SpeedChange:
    """One change: since which release, what it does and to which operations."""

    name: str
    since: tuple[tuple[int, int, int], ...]
    """First release of each branch that has it, ascending: a branch before the last has it from there on."""
    what: str
    affects: tuple[str, ...]
    """Kinds of restart, `backup`, `reorganise`."""
    source: str

    def is_in(self, version: NdbVersion) -> bool:
        """Whether a version has it."""
        if version >= self.since[-1]:
            return True
        return any(version[:2] == first[:2] and version >= first for first in self.since)


@cache
def speed_changes() -> dict[str, SpeedChange]:
    """Every change by name, in file order."""
    rows = read_json("ndb/speed-changes.json")["changes"]
    return {
        row["name"]: SpeedChange(
            name=row["name"],
            since=tuple((int(a), int(b), int(c)) for a, b, c in row["since"]),
            what=row["what"],
            affects=tuple(row["affects"]),
            source=row["source"],
        )
        for row in rows
    }


def speed_change(name: str) -> SpeedChange:
    """The change called `name`. KeyError when there is none."""
    return speed_changes()[name]
