"""What the palette offers: hosts and disks of usual classes, processes, roles."""

from __future__ import annotations

from typing import Literal, NamedTuple

from ndbplan.base.units import format_bytes, format_bytes_binary, how_many
from ndbplan.edits.offers import class_text, hardware
from ndbplan.edits.own_hardware import Own, own_hardware
from ndbplan.plan.hardware import Host
from ndbplan.plan.processes import DiskRole

Kind = Literal["location", "host", "disk", "process", "role"]

ROLE_TEXT = {
    DiskRole.REDO: "REDO",
    DiskRole.LCP: "LCP",
    DiskRole.UNDO: "UNDO",
    DiskRole.DATA_FILES: "DATA FILES",
    DiskRole.BACKUP: "BACKUP",
}


ROLE_TIPS = {
    DiskRole.REDO: "the redo log, of every change of rows in memory",
    DiskRole.LCP: "local checkpoints, which are the rows in memory",
    DiskRole.UNDO: "the undo log of disk data; nothing, as long as no tablespace has a log file group",
    DiskRole.DATA_FILES: "the rows of columns on disk; nothing, as long as there is no tablespace",
    DiskRole.BACKUP: "what START BACKUP makes",
}
"""What lies there, as the palette says it."""
ONE_FOLDER = "a data node has one folder for each role, so several devices have to be one disk"
"""Why a role is on one disk of a data node at a time."""


_ICONS = {"host": "server", "disk": "hard-drive"}


class Offer(NamedTuple):
    """One entry of the palette."""

    key: str
    kind: Kind
    text: str
    icon: str
    tip: str


def offers() -> tuple[Offer, ...]:
    """Everything the palette offers, in its order: the usual, and what the user keeps in it."""
    kept = [
        Offer(one.key, one.kind, one.name, _ICONS[one.kind], f"Your own: {_own_tip(one)}")
        for one in own_hardware()
    ]
    if not kept:
        return usual_offers()
    offered: list[Offer] = []
    for offer in usual_offers():
        if offered and offered[-1].kind != offer.kind:
            offered += [one for one in kept if one.kind == offered[-1].kind]
        offered.append(offer)
    return tuple(offered)


def _own_tip(one: Own) -> str:
    if isinstance(one.part, Host):
        count = len(one.part.disks)
        size = format_bytes_binary(one.part.memory_bytes)
        return f"{how_many(one.part.cores, 'core')}, {size}, {how_many(count, 'disk')}"
    return f"{format_bytes(one.part.capacity_bytes)}; drop it on a host"


def usual_offers() -> tuple[Offer, ...]:
    """What the program itself offers, in its order."""
    classes = hardware()
    return (
        *(Offer(e["key"], "location", class_text(e), "warehouse", "Groups hosts that fail together")
          for e in classes["locations"]),
        *(Offer(e["key"], "host", class_text(e), "server", "A machine with its disks")
          for e in classes["hosts"]),
        *(Offer(e["key"], "disk", class_text(e), "hard-drive", "Drop it on a host")
          for e in classes["disks"]),
        Offer("management", "process", "Management node", "sliders-horizontal", "ndb_mgmd: drop on a host"),
        Offer("data", "process", "Data node", "database", "ndbmtd (ndbd before 7.0): drop it on a host"),
        Offer("sql", "process", "SQL node", "table-2", "mysqld: drop it on a host"),
        Offer("api", "process", "API slot", "plug", "A connection for an NDB API program"),
        *(Offer(role.value, "role", text, "circle-dot",
                f"Drop it on a disk: the data nodes of its host write there {ROLE_TIPS[role]}")
          for role, text in ROLE_TEXT.items()),
    )  # fmt: skip


def offer(key: str) -> Offer:
    """The entry with this key; KeyError when there is none."""
    for entry in offers():
        if entry.key == key:
            return entry
    raise KeyError(key)
