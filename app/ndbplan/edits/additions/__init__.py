"""Adding parts from one line: what it is, its name, and fields with their values.

    add(plan, "host", ["a3", "cores=16", "memory=64GB", "location=rack-a"])
    add(plan, "data", ["host=a3", "redo=nvme1", "RedoBuffer=64M"])

What is not said is as the window would make it (`offers`); fields are set as `assign` sets them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ndbplan.edits import reading
from ndbplan.edits.additions import copies, hardware, loads, notes, tables
from ndbplan.edits.additions.words import Maker, words_of
from ndbplan.edits.address import AddressError
from ndbplan.edits.places import address_of
from ndbplan.plan.plan import Plan

_OTHER_NAMES = {
    "rack": "location", "room": "location", "site": "location", "zone": "location",
    "mgm": "management", "management-node": "management", "ndb_mgmd": "management",
    "ndbmtd": "data", "ndbd": "data", "data-node": "data",
    "mysqld": "sql", "sql-node": "sql",
    "api-slot": "api", "group": "node-group", "node-groups": "node-group",
    "lfg": "logfile-group", "logfilegroup": "logfile-group", "accept": "waiver", "rate": "point",
}  # fmt: skip


@dataclass(frozen=True)
class Addition:
    """A plan with something more."""

    plan: Plan
    added: tuple[str, ...]
    """Addresses of the new parts."""


def add(plan: Plan, kind: str, texts: Sequence[str]) -> Addition:
    """The plan with one more part of a kind, or several where several names are given.

    Raises UserError, which names what is missing, or the field, its value and what it may be.
    """
    wanted = kind.lower().replace("_", "-")
    wanted = _OTHER_NAMES.get(wanted, _OTHER_NAMES.get(kind.lower(), wanted))
    maker = KINDS.get(wanted)
    if maker is None:
        raise AddressError(f"'{kind[:60]}' cannot be added", fix=reading.near(kind, KINDS, "add one of"))
    words = words_of(texts)
    after, paths = maker(plan, words)
    return Addition(after, tuple(address_of(after, path) for path in paths))


def add_copies(plan: Plan, source: Plan, texts: Sequence[str]) -> Addition:
    """The plan with copies of objects of another plan, named by their addresses there. Raises UserError."""
    after, paths = copies.copied(plan, source, words_of(texts))
    return Addition(after, tuple(address_of(after, path) for path in paths))


KINDS: dict[str, Maker] = {
    "location": hardware.locations,
    "host": hardware.hosts,
    "disk": hardware.disks,
    "management": hardware.processes("management"),
    "data": hardware.processes("data"),
    "sql": hardware.processes("sql"),
    "api": hardware.processes("api"),
    "node-group": hardware.node_groups,
    "table": tables.tables,
    "column": tables.columns,
    "index": tables.indexes,
    "logfile-group": tables.logfile_groups,
    "undo-file": tables.files("undo-file", "logfile_group", "logfile_groups", "undo_files"),
    "tablespace": tables.tablespaces,
    "data-file": tables.files("data-file", "tablespace", "tablespaces", "data_files"),
    "workload": loads.workloads,
    "transaction": loads.transactions,
    "operation": loads.operations,
    "point": loads.points,
    "event": loads.events,
    "link": hardware.links,
    "waiver": notes.waivers,
    "calibration": notes.calibrations,
    "copy": copies.copies,
}
"""What can be added, with what makes it."""
