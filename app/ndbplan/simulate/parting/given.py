"""What two runs were given that differs, by the part of the cluster that it belongs to."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ndbplan.base.row_types import Floats
from ndbplan.base.shapes import Shape
from ndbplan.plan.processes import DiskRole

if TYPE_CHECKING:
    from ndbplan.plan.events import Event
    from ndbplan.simulate.result import SimulationResult
    from ndbplan.simulate.world.laws import Laws

_NAMED = 4
"""Of more nodes or disks the others are counted."""
LEAST = 1e-9
"""Figures that are apart by no more of the larger are the same."""


@dataclass(frozen=True)
class Difference(Shape):
    """Something that two runs were given and that is not the same in both."""

    JSON = "subsystem what where from_s here there unit"

    subsystem: str
    """nodes, rows, load, clients, processors, network, disks, checkpoints, backup, global checkpoints, redo
    buffer, redo log, redo lag, memory, operation records, disk data, chance."""
    what: str
    where: str
    here: float | None
    there: float | None
    """None: it is not there, or is not a number."""
    unit: str
    from_s: float = 0.0
    """From when on it is not the same."""


class _Given(NamedTuple):
    """A figure that a run is given."""

    subsystem: str
    what: str
    unit: str = ""


_RUN = {
    "clients": _Given("clients", "transactions under way at most", "tx"),
    "cycle_s": _Given("clients", "time from one transaction of a client to its next", "s"),
    "queue_slots": _Given("clients", "how long work may wait for redo"),
    "retry_share": _Given("clients", "share of what is refused that is tried again", "fraction"),
    "retry_s": _Given("clients", "time until it is tried again", "s"),
    "replicas": _Given("nodes", "data nodes of a node group"),
    "lcp_threshold_bytes": _Given("checkpoints", "log after which a checkpoint begins", "bytes"),
    "lcp_forced_share": _Given("checkpoints", "use of a log part at which one begins at once", "fraction"),
    "gcp_s": _Given("global checkpoints", "time between global checkpoints", "s"),
    "send_buffered": _Given("network", "transactions that send buffers hold", "tx"),
    "pool": _Given("operation records", "transactions that operation records suffice for", "tx"),
    "too_large_share": _Given("operation records", "share of transactions too large for them", "fraction"),
    "job_transactions": _Given("load", "transactions of the job", "tx"),
    "coverage": _Given("load", "share of transactions that meet every log part", "fraction"),
}
_NODE = {
    "ldms": _Given("nodes", "LDM threads"),
    "inserted_bytes": _Given("load", "bytes a transaction adds to a checkpoint", "bytes"),
    "updated_bytes": _Given("load", "bytes of rows that a transaction updates", "bytes"),
    "new_bytes": _Given("load", "bytes of rows that it inserts", "bytes"),
    "untouched_bytes": _Given("rows", "bytes of tables that it does not change", "bytes"),
    "insert_weight": _Given("checkpoints", "InsertRecoveryWork", "fraction"),
    "memory_bytes": _Given("load", "DataMemory that a transaction takes", "bytes"),
    "undo_bytes": _Given("load", "undo log of a transaction", "bytes"),
    "dirty_bytes": _Given("load", "disk data that a transaction changes", "bytes"),
    "space_bytes": _Given("load", "tablespace that a transaction takes", "bytes"),
    "lcp_min_bytes_per_s": _Given("checkpoints", "lowest speed of checkpoints", "bytes/s"),
    "lcp_max_bytes_per_s": _Given("checkpoints", "highest speed of checkpoints", "bytes/s"),
    "lcp_max_other_bytes_per_s": _Given("checkpoints", "their speed while another node starts", "bytes/s"),
    "lcp_max_own_bytes_per_s": _Given("checkpoints", "their highest speed when the log is full", "bytes/s"),
    "lcp_factor": _Given("checkpoints", "size of a compressed checkpoint", "fraction"),
    "redo_control": _Given("checkpoints", "EnableRedoControl"),
    "partial_lcp": _Given("checkpoints", "EnablePartialLcp"),
    "recovery_work": _Given("checkpoints", "RecoveryWork", "fraction"),
    "device_factor": _Given("disks", "bytes on the device for each byte of log"),
    "dirty_cost": _Given("disks", "time of a write at a random place"),
    "backup_bytes_per_s": _Given("backup", "speed of a backup", "bytes/s"),
    "buffer_limit_bytes": _Given("redo buffer", "redo buffer of a log part", "bytes"),
    "log_bytes": _Given("redo log", "log of a log part", "bytes"),
    "file_bytes": _Given("redo log", "size of a log file", "bytes"),
    "file_spare_bytes": _Given("redo log", "end of a log file that waits for the next", "bytes"),
    "lag_limit_s": _Given("redo lag", "lag of the log that is allowed", "s"),
    "lag_looks": _Given("redo lag", "seconds in a row by which it must be exceeded"),
    "memory_limit_bytes": _Given("memory", "DataMemory for tables", "bytes"),
    "index_limit_bytes": _Given("memory", "IndexMemory", "bytes"),
    "undo_limit_bytes": _Given("disk data", "undo log that may be in use", "bytes"),
    "undo_buffer_bytes": _Given("disk data", "undo buffer", "bytes"),
    "clean_bytes_per_s": _Given("disk data", "dirty pages that are written between checkpoints", "bytes/s"),
    "dirty_limit_bytes": _Given("disk data", "dirty pages that the page buffer holds", "bytes"),
    "space_limit_bytes": _Given("disk data", "tablespace", "bytes"),
}
_START = ("bytes of a checkpoint at the start", "DataMemory at the start", "tablespace at the start",
          "IndexMemory at the start")  # fmt: skip
_SERVICES = {
    "cpu": _Given("processors", "rate that processors pass", "tx/s"),
    "network": _Given("network", "rate that the network passes", "tx/s"),
    "disk reads": _Given("disks", "rate that reads of disks pass", "tx/s"),
}
_PASSES = _Given("clients", "rate that passes", "tx/s")
_WRITES = _Given("disks", "bandwidth", "bytes/s")
_READS = _Given("disks", "random reads", "reads/s")
_SHARE = _Given("disks", "share that checkpoints take at most", "fraction")
_LOG = _Given("load", "log of a transaction", "bytes")
_DELETES = _Given("load", "bytes of rows that it deletes", "bytes")

_LOST = _Given("nodes", "a loss")
_EVENTS = {
    "backup": _Given("backup", "a backup"),
    "burst": _Given("load", "a burst"),
    "disk_slow": _Given("disks", "a slower disk"),
    "disk_full": _Given("disks", "a full disk"),
    "network_slow": _Given("network", "a slower link"),
    "device_failure": _Given("disks", "a failed device"),
    "sql_node_down": _Given("clients", "the stop of an SQL node"),
    "nodes_added": _Given("nodes", "more node groups"),
    **dict.fromkeys(
        ("node_failure", "host_failure", "location_failure", "network_cut", "management_node_down"), _LOST
    ),
}
"""The part of the cluster that an event hits; a changed parameter shows in what held at the end."""

_Figures = dict[tuple[_Given, str], float]


def differences(one: SimulationResult, other: SimulationResult) -> tuple[Difference, ...]:
    """What two runs were given that differs at their start, or where it had changed at their end."""
    given = _causes([*_others(one, other), *_of_load(list(_apart(_at_start(one), _at_start(other))))])
    changed_s = [event.at_s for event in _lone(one, other) if event.kind not in _EVENTS]
    if changed_s:
        at_end = list(_apart(_at_end(one), _at_end(other)))
        given += [replace(each, from_s=min(changed_s)) for each in _causes(at_end) if not _is_in(each, given)]
    return tuple(_together(given))


def _causes(found: list[Difference]) -> list[Difference]:
    """Without the share that checkpoints take where it differs because something else does."""
    if any(each.what in _DECIDE_SHARE for each in found):
        return [each for each in found if each.what != _SHARE.what]
    return found


def _of_load(found: list[Difference]) -> Iterator[Difference]:
    """Rows that the load leaves alone are its own doing where there are as many rows as before."""
    more_rows = any(each.what == _START[0] for each in found)
    for each in found:
        is_of_load = each.what == _NODE["untouched_bytes"].what and not more_rows
        yield replace(each, subsystem="load") if is_of_load else each


def _together(found: list[Difference]) -> Iterator[Difference]:
    """What is the same for several nodes or disks, told once."""
    alike: dict[Difference, list[str]] = {}
    for each in found:
        alike.setdefault(replace(each, where=""), []).append(each.where)
    for each, places in alike.items():
        others = f" and {len(places) - _NAMED} others" if len(places) > _NAMED else ""
        yield replace(each, where=", ".join(places[:_NAMED]) + others)


def _is_in(one: Difference, found: list[Difference]) -> bool:
    return any((one.what, one.where) == (each.what, each.where) for each in found)


def _apart(here: _Figures, there: _Figures) -> Iterator[Difference]:
    for given, where in {**here, **there}:
        a, b = here.get((given, where)), there.get((given, where))
        if a is None or b is None:
            # Nodes and disks that only one run has are told of by `_others`.
            continue
        if abs(a - b) > LEAST * max(abs(a), abs(b)):
            yield Difference(given.subsystem, given.what, where, a, b, given.unit)


def _at_start(result: SimulationResult) -> _Figures:
    scenario = result.given.scenario
    figures: _Figures = {}
    for service in scenario.services:
        given = _SERVICES.get(service.resource, _PASSES)
        figures[given, service.where] = service.max_per_s
    figures |= _of_laws(result, scenario.laws)
    for n, node_class in enumerate(scenario.node_classes):
        for what, value in zip(_START, scenario.start[n], strict=True):
            for node in node_class.nodes:
                figures[_Given("rows", what, "bytes"), f"node {node.node_id}"] = float(value)
    return figures


def _at_end(result: SimulationResult) -> _Figures:
    return _of_laws(result, result.given.at_end)


def _of_laws(result: SimulationResult, laws: Laws) -> _Figures:
    scenario = result.given.scenario
    figures: _Figures = {}
    for n, node_class in enumerate(scenario.node_classes):
        for node in node_class.nodes:
            where = f"node {node.node_id}"
            figures[_LOG, where] = float(laws.load[n].sum())
            row = laws.nodes[n]
            figures[_DELETES, where] = float(row.deleted_bytes)
            for name, given in _NODE.items():
                figures[given, where] = float(getattr(laws.nodes[n], name))
    for d, disk_class in enumerate(scenario.disk_classes):
        for disk, hostname in zip(disk_class.disks, disk_class.hostnames, strict=True):
            figures[_WRITES, f"{hostname} {disk.name}"] = float(laws.disks[d].write_bytes_per_s)
            figures[_SHARE, f"{hostname} {disk.name}"] = float(laws.disks[d].lcp_share)
            figures[_READS, f"{hostname} {disk.name}"] = float(laws.disks[d].read_iops)
    return figures | {(given, ""): float(getattr(laws.run, name)) for name, given in _RUN.items()}


def _others(one: SimulationResult, other: SimulationResult) -> Iterator[Difference]:
    """What is not a number of a node, disk or setting."""
    for subsystem, what, read in _WHOLE:
        if read(one) != read(other):
            yield Difference(subsystem, what, "", None, None, "")
    for event in _lone(one, other):
        if event.kind in _EVENTS:
            subsystem, what, unit = _EVENTS[event.kind]
            yield Difference(subsystem, what, "", None, None, unit, event.at_s)
    here, there = (each.given.scenario.laws.offered for each in (one, other))
    for here_per_s, there_per_s in _first_apart(here, there, one.step_s, other.step_s):
        yield Difference("load", "rate that clients send", "", here_per_s, there_per_s, "tx/s")
    if one.seed != other.seed:
        yield Difference("chance", "seed", "", float(one.seed), float(other.seed), "")


def _lone(one: SimulationResult, other: SimulationResult) -> list[Event]:
    """Events of one of the runs alone, earliest first."""
    every = (*one.given.events, *other.given.events)
    lone = [event for event in every if (event in one.given.events) != (event in other.given.events)]
    return sorted(lone, key=lambda event: event.at_s)


def _first_apart(here: Floats, there: Floats, here_s: float, there_s: float) -> Iterator[tuple[float, float]]:
    """The first two rates that differ, if any do."""
    if here_s != there_s:
        return
    both = min(len(here), len(there))
    apart = np.flatnonzero(np.abs(here[:both] - there[:both]) > LEAST * np.maximum(here[:both], there[:both]))
    if len(apart):
        yield float(here[apart[0]]) / here_s, float(there[apart[0]]) / here_s


def _nodes(result: SimulationResult) -> frozenset[tuple[int, ...]]:
    scenario = result.given.scenario
    classes = zip(scenario.node_classes, scenario.laws.places, strict=True)
    return frozenset((node.node_id, kind.log_parts) for kind, _ in classes for node in kind.nodes)


def _spread(result: SimulationResult) -> Mapping[int, tuple[float, ...]]:
    """How the work of each node is spread over its log parts."""
    scenario = result.given.scenario
    figures = {}
    for kind, load in zip(scenario.node_classes, scenario.laws.load, strict=True):
        whole = float(load.sum()) or 1.0
        figures.update(
            {node.node_id: tuple(round(float(one) / whole, 6) for one in load) for node in kind.nodes}
        )
    return figures


def _roles(result: SimulationResult) -> Mapping[int, tuple[int, ...]]:
    """Which roles of each node share a disk."""
    scenario = result.given.scenario
    roles = {}
    for kind, place in zip(scenario.node_classes, scenario.laws.places, strict=True):
        disks = [int(getattr(place, f"{role}_disk")) for role in ("redo", "lcp", "undo", "data", "backup")]
        assert len(disks) == len(DiskRole)
        roles.update({node.node_id: tuple(disks.index(disk) for disk in disks) for node in kind.nodes})
    return roles


def _cycle(result: SimulationResult) -> object:
    return result.lcp_at_start.began_s_ago, result.lcp_at_start.left_bytes


_WHOLE: tuple[tuple[str, str, Callable[[SimulationResult], object]], ...] = (
    ("nodes", "data nodes and their log parts", _nodes),
    ("disks", "what shares a disk", _roles),
    ("load", "which log parts are written", _spread),
    ("checkpoints", "moment in the cycle of checkpoints", _cycle),
)

_DECIDE_SHARE = frozenset(
    (
        _NODE["ldms"].what, _NODE["file_bytes"].what, _NODE["buffer_limit_bytes"].what,
        *(what for subsystem, what, _ in _WHOLE if subsystem != "checkpoints"),
    )
)  # fmt: skip
"""What else decides `_SHARE`: LDM threads and log parts that write, and whether log files are small."""
