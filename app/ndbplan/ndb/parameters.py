"""Configuration parameters of the product by version: default, range, what a change restarts.

parameter("DB", "DataMemory", NdbVersion.parse("7.4")).default     # 83886080
knows("DB", "TransactionMemory", NdbVersion.parse("7.6"))          # False
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

from ndbplan.base.resources import read_json
from ndbplan.ndb.version import NdbVersion, reached, release

SOURCE_FILE = "ndb/parameters.json"
_OLDEST = "6.3"
"""`since` of what the oldest version that was read has already."""
_BEFORE_ALL = "the 6.2 age"
"""`absent_in` of what a source older than all versions lacks."""
NEWEST = NdbVersion.parse("8.4")
"""The series whose values are shown when no version is asked for."""

RESTARTS = ("nothing", "node", "initial_node", "system", "initial_system")
"""What a change may need, from the lightest to the one that loses all data."""


class Parameter(NamedTuple):
    """One configuration parameter as one version of the product defines it."""

    section: str
    """SYSTEM, COMPUTER, DB (data node), API, MGM, TCP, SHM or SCI."""
    name: str
    type: str
    """int, int64, bool, string, enum or bitmask."""
    unit: str
    default: int | str | None
    minimum: int | None
    maximum: int | None
    restart: str
    """What a change needs: node, initial_node, system or initial_system."""
    description: str
    note: str
    status: str
    """used, deprecated, internal, experimental or not_implemented."""
    mandatory: bool
    allowed_values: tuple[str, ...]
    related: tuple[str, ...]
    replaced_by: str
    counterpart: str
    """What does the same in versions that have not this one; empty: nothing does."""
    since: str
    """First release that is known to have it; 6.3 also stands for older ones."""
    since_taken_from: str
    """Where that was read."""
    absent_in: str
    """Newest release known to lack it, where nothing tells about those before `since`; else empty."""
    removed: str
    """First release without it, or nothing."""
    taken_from: str
    """Whose truth the default and range are: a version that was read, the manual, or release notes."""

    @property
    def came(self) -> str:
        """When it came, in words: `with 8.0.19`, or `between 7.2.1 and 7.4`."""
        if self.absent_in:
            return f"between {self.absent_in} and {self.since}"
        # The oldest version that was read says no more than that.
        return f"with {self.since}{' or before' if self.since == _OLDEST else ''}"

    @property
    def is_number(self) -> bool:
        """Whether its value is a whole number with a range."""
        return self.type in ("int", "int64")


@cache
def _entries() -> dict[tuple[str, str], dict[str, Any]]:
    rows: list[dict[str, Any]] = read_json(SOURCE_FILE)["parameters"]
    return {(row["section"], row["name"].lower()): row for row in rows}


def _in_version(row: dict[str, Any], version: NdbVersion) -> bool:
    removed = row.get("removed")
    return release(row["since"]) <= version and (removed is None or version < release(removed))


def _in_gap(row: dict[str, Any], version: NdbVersion) -> bool:
    """Whether a version lies between the last known to lack a parameter and the first known to have it."""
    absent = row.get("absent_in")
    if absent is None or release(row["since"]) <= version:
        return False
    return absent == _BEFORE_ALL or release(absent) < version


@cache
def _resolved(section: str, lower_name: str, version: NdbVersion) -> Parameter:
    row = _entries()[section, lower_name]
    span = reached(row["spans"], version)
    return Parameter(
        section=row["section"],
        name=row["name"],
        type=row["type"],
        unit=row["unit"],
        default=span["default"],
        minimum=span["min"],
        maximum=span["max"],
        restart=span["restart"],
        description=span.get("description", row["description"]),
        note=row.get("note", ""),
        status=span["status"],
        mandatory=row.get("mandatory", False),
        allowed_values=tuple(str(value) for value in row.get("allowed_values", ())),
        related=tuple(row.get("related", ())),
        replaced_by=row.get("replaced_by", ""),
        counterpart=row.get("counterpart", ""),
        since=row["since"],
        since_taken_from=row["since_taken_from"],
        absent_in=row.get("absent_in", ""),
        removed=row.get("removed", ""),
        taken_from=span["taken_from"],
    )


def knows(section: str, name: str, version: NdbVersion) -> bool:
    """Whether a version is known to have the parameter; its name in any case."""
    row = _entries().get((section, name.lower()))
    return row is not None and _in_version(row, version)


def may_know(section: str, name: str, version: NdbVersion) -> bool:
    """Whether a version has the parameter, or nothing that was read tells; its name in any case."""
    row = _entries().get((section, name.lower()))
    return row is not None and (_in_version(row, version) or _in_gap(row, version))


def exists(section: str, name: str) -> bool:
    """Whether any version has the parameter; its name in any case."""
    return (section, name.lower()) in _entries()


def lack(section: str, name: str, version: NdbVersion) -> str:
    """In words why a version has not, or may not have, a parameter that another version has."""
    entry = parameter(section, name)
    gone = entry.removed and release(entry.removed) <= version
    verb = "may not know" if may_know(section, name, version) else "does not know"
    when = f"was removed in {entry.removed}" if gone else f"came {entry.came}"
    return f"NDB {version} {verb} {entry.name}: it {when}"


def parameters(section: str, version: NdbVersion = NEWEST) -> tuple[Parameter, ...]:
    """All parameters of a section that a version has, in the product's order."""
    return tuple(
        _resolved(*key, version)
        for key, row in _entries().items()
        if row["section"] == section and _in_version(row, version)
    )


def parameter(section: str, name: str, version: NdbVersion = NEWEST) -> Parameter:
    """One parameter with the values of a version (the nearest ones when that version lacks it).

    The name may be in any case. KeyError when no version has a parameter of that name.
    """
    return _resolved(section, name.lower(), version)


def default(section: str, name: str, version: NdbVersion) -> int | str | None:
    """What a node of a version uses when nothing is set. KeyError for a name no version has.

    For a version that lacks the parameter: what it does instead (4 log parts, classic fragmentation …), or
    None. For one that may have it: the default of the first that does.
    """
    if may_know(section, name, version):
        return parameter(section, name, version).default
    implied: int | str | None = _entries()[section, name.lower()].get("implied")
    return implied
