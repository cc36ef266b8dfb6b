"""Changes of the product that change how long starts, backups and reorganisations take.

    speed_change("partial_checkpoints").is_in(version)

They are the rows and steps of `resources/ndb/features.json` that say what they affect. A step between two
versions is due to one of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from ndbplan.ndb.features import features, rows
from ndbplan.ndb.version import NdbVersion, release


@dataclass(frozen=True, slots=True)
class SpeedChange:
    """One change: since which release, what it does and to which operations."""

    name: str
    feature: str
    """The row it belongs to."""
    since: tuple[str, ...]
    """First release of each branch that has it, ascending."""
    what: str
    affects: tuple[str, ...]
    """Kinds of restart, `backup`, `reorganise`."""
    source: str

    def is_in(self, version: NdbVersion) -> bool:
        """Whether a version has it."""
        if self.feature == self.name:
            return bool(getattr(features(version), self.feature))
        return version >= release(self.since[0])


def _of_row(row: Mapping[str, Any]) -> Iterator[SpeedChange]:
    name, source = row["name"], row["source"]
    if "affects" in row:
        since = tuple(first for first, value in row["values"].items() if value)
        yield SpeedChange(name, name, since, row["what"], tuple(row["affects"]), source)
    for first, step in row.get("steps", {}).items():
        yield SpeedChange(step["name"], name, (first,), step["what"], tuple(step["affects"]), source)


@cache
def speed_changes() -> dict[str, SpeedChange]:
    """Every change by name, in file order."""
    return {change.name: change for row in rows().values() for change in _of_row(row)}


def speed_change(name: str) -> SpeedChange:
    """The change called `name`. KeyError when there is none."""
    return speed_changes()[name]
