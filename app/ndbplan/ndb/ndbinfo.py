"""The ndbinfo database of each version: its tables, their columns, and the words in them.

    tables_of(NdbVersion.parse("7.4"))["logbuffers"].columns   # ("node_id", "log_type", ...)

The data is `resources/ndb/ndbinfo-tables.json`, read from the product's source by version.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

from ndbplan.base.resources import read_json
from ndbplan.ndb.version import NdbVersion, release

_NUMBERS = ("int", "bigint", "number")
_OLDEST = NdbVersion.parse("7.1")
"""The first with an ndbinfo."""


class NdbinfoTable(NamedTuple):
    """One table as a version has it."""

    name: str
    columns: tuple[str, ...]
    numeric: tuple[bool, ...]
    """Which columns hold numbers, which clients print to the right."""
    certain: bool
    """False: an older version lacks it, a newer one has it, and this one was not read."""


def _data() -> Any:
    return read_json("ndb/ndbinfo-tables.json")


@cache
def tables_of(version: NdbVersion) -> dict[str, NdbinfoTable]:
    """The tables of a version by name; empty where the product has no ndbinfo (before 7.1)."""
    tables: dict[str, NdbinfoTable] = {}
    for table in _data()["tables"]:
        since, certainly_since = _first(table["first"], version)
        if version < since:
            continue
        columns = _columns(table["columns"], version)
        tables[table["table"]] = NdbinfoTable(
            table["table"],
            tuple(name for name, _ in columns),
            tuple(kind in _NUMBERS for _, kind in columns),
            version >= certainly_since,
        )
    return tables


def _first(first: str | list[str], version: NdbVersion) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """First version that may have a table, and the first that certainly has it.

    Where it came to several series, those of the version's own, or else the oldest.
    """
    if isinstance(first, list):
        came = [release(text) for text in first]
        mine = next((one for one in came if one[:2] == version[:2]), came[0])
        return mine, mine
    words = first.removeprefix("between ").replace(" and ", " to ").split(" to ")
    numbers = [tuple(int(part) for part in word.split(".")) for word in words]
    if first.startswith("between"):
        # Absent in the first of the two.
        return (*numbers[0][:2], numbers[0][2] + 1 if len(numbers[0]) > 2 else 10**6), numbers[1]
    return numbers[0], numbers[0]


def _columns(by_version: dict[str, list[list[str]]], version: NdbVersion) -> list[list[str]]:
    known = sorted((NdbVersion.parse(text), columns) for text, columns in by_version.items())
    older = [columns for since, columns in known if since <= version]
    return older[-1] if older else known[0][1]


class Described(NamedTuple):
    """A column as DESC prints it."""

    field: str
    type: str
    null: str
    key: str
    default: str | None


@cache
def described(version: NdbVersion, name: str) -> tuple[Described, ...]:
    """The columns of a table as the server of a version describes them; those not seen by the usual rule."""
    data = _data()
    table = next(table for table in data["tables"] if table["table"] == name)
    known = _as_of(data["described"], version)
    is_new = known is not _as_of(data["described"], _OLDEST)
    usual = {
        "int": "int unsigned" if is_new else "int(10) unsigned",
        "bigint": "bigint unsigned" if is_new else "bigint(20) unsigned",
        "number": "bigint unsigned" if is_new else "bigint(21) unsigned",
    }
    found = []
    for column, kind in _columns(table["columns"], version):
        length = kind.removeprefix("text")
        words = f"varchar({length if length.isdigit() else 512})"
        row = known.get(f"{name}.{column}", [usual.get(kind, words), "YES", "", None])
        found.append(Described(column, *row))
    return tuple(found)


def _as_of(rows: Any, version: NdbVersion) -> Any:
    """What the newest series that is not after a version has; keys are series."""
    began = {NdbVersion.parse(f"{series}.0"): series for series in rows if series != "source"}
    return rows[began[max(first for first in began if not first > version)]]


def is_table(version: NdbVersion, name: str) -> bool:
    """Whether it is a table of the server; all others are views of what data nodes say."""
    return name in _as_of(_data()["server_tables"], version)


def fixed_rows(name: str) -> list[tuple[int, str]]:
    """Rows of a table that are the same in every cluster: numbers and names."""
    return [(int(number), str(words)) for number, words in _data()["fixed_rows"][name]]


def thread_blocks(thread: str) -> tuple[str, ...]:
    """Blocks that run in a thread of a name; none in one that only sends."""
    return tuple(_data()["thread_blocks"].get(thread, ()))


def logbuffers_row_is_an_ldm(version: NdbVersion) -> bool:
    """Whether a row of logbuffers stands for an LDM instance (up to 7.x), or for a log part (8.x)."""
    era = _era("logbuffers", version)
    return bool(era) and era["a_row_is"].startswith("an LDM")


def memory_types(version: NdbVersion) -> tuple[str, ...]:
    """The rows of memoryusage of one node, in their order."""
    return tuple(_era("memoryusage", version).get("types", ()))


def long_message_pages() -> tuple[int, int]:
    """Bytes of a page of the long message buffer, and pages in use under light load."""
    data = _data()["long_message_buffer"]
    return int(data["page_bytes"]), int(data["used_pages"])


class ResourceRows(NamedTuple):
    """How a version lists what a node takes from its global memory."""

    names: tuple[str, ...]
    no_limit: int
    """What `max` holds for a resource that may grow."""
    used_pages: dict[str, int]
    used_share: dict[str, float]
    """Of what is reserved, where a light load was seen."""


def resource_rows(version: NdbVersion) -> ResourceRows:
    """The rows of resources of one node, in their order."""
    era = _era("resources", version)
    return ResourceRows(tuple(era["rows"]), int(era["no_limit"]), era["used_pages"], era["used_share"])


def _era(name: str, version: NdbVersion) -> dict[str, Any]:
    """The entry of a list by version that holds for one; empty before the first."""
    eras = [one for one in _data()[name] if release(one["from"]) <= version]
    return eras[-1] if eras else {}


def tc_instances(version: NdbVersion, threads: int) -> range:
    """Numbers of the coordinators of a data node with so many tc threads."""
    return (
        range(1, threads + 1)
        if threads
        else range(first := _era("coordinators", version)["alone"], first + 1)
    )


class UndoLog(NamedTuple):
    """How a version lists the undo log of disk data in logbuffers and logspaces."""

    buffer_page_bytes: int
    """Bytes of a page of 32 KiB that count in the buffer."""
    space_page_bytes: int
    """The same in the files."""
    pages_not_counted_of_a_file: int
    log_id: int
    """Number of the log file group in the dictionary of the cluster seen; another cluster has another one."""

    def buffer_bytes(self, stated: int) -> int:
        """`total` of logbuffers for an UNDO_BUFFER_SIZE."""
        return stated // _UNDO_PAGE_BYTES * self.buffer_page_bytes

    def space_bytes(self, stated: int) -> int:
        """`total` of logspaces for one file of that INITIAL_SIZE."""
        return max(0, stated // _UNDO_PAGE_BYTES - self.pages_not_counted_of_a_file) * self.space_page_bytes


_UNDO_PAGE_BYTES = 32768
"""A page of an undo log file (NDB source, UndoPage)."""


def undo_log_rows(version: NdbVersion) -> UndoLog:
    """How the version lists the undo log."""
    era = _era("undo_log", version)
    return UndoLog(**{name: int(era[name]) for name in UndoLog._fields})


def restart_told() -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What the master tells of a node restart, step by step, and what the other data nodes tell."""
    about = _data()["restart_info"]
    return tuple(about["told_by_master"]), tuple(about["told_by_others"])


def restart_state(phase: str) -> tuple[int, str]:
    """Number and words of restart_info while a phase of a restart runs, after the failure or when done."""
    number, words = _data()["restart_info"]["states"][phase]
    return int(number), str(words)
