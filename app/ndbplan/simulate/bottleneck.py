"""Which resource a run was short of, and which one comes next."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ndbplan.base.shapes import Shape
from ndbplan.estimate.load.clients import CLUSTER_CONNECTIONS
from ndbplan.plan.workloads import ClosedLoad

if TYPE_CHECKING:
    from ndbplan.simulate.model.load_over_time import Service
    from ndbplan.simulate.model.scenario import Scenario
    from ndbplan.simulate.series import DiskSeries, ErrorCount, PartSeries

_BUFFER_CODES = (1221, 1234, 266)
WAITED_SHARE = 0.02
"""Less than this share of the time is a passing moment."""
SERVICE_FULL = 0.98
"""Share of what processors or links pass at which they are what holds work back."""
_OF_FAILURES = frozenset((4009, 4010))
"""Errors that nodes which fail cost: they say nothing of what is short."""
_FULL = {
    827: ("memory", "DataMemory"),
    625: ("memory", "IndexMemory"),
    233: ("operation records", "TransactionMemory or MaxNoOfConcurrentOperations"),
    234: ("operation records", "MaxNoOfConcurrentOperations"),
    261: ("operation records", "MaxNoOfConcurrentOperations"),
    245: ("operation records", "MaxNoOfConcurrentScans"),
    1501: ("undo log", "undo files"),
    1601: ("tablespace", "data files"),
}
"""What is full when an error comes."""


@dataclass(frozen=True)
class Bottleneck(Shape):
    """A resource and how much of it is used."""

    JSON = "resource where text"

    resource: str
    """disk, redo log, redo files, undo log, tablespace, memory, operation records, cpu, network, disk reads,
    row locks, sql nodes, api nodes, nodes, clients, loader, source disk; none: nothing was found."""
    where: str
    used: float
    """Share in use; 1 or more: it limits the load."""
    object_ids: tuple[str, ...] = ()
    """Plan objects concerned."""

    @property
    def is_of_connections(self) -> bool:
        """Whether it is the cluster connections of a node that clients come through, not its host."""
        return self.where.endswith(f", {CLUSTER_CONNECTIONS}")

    @property
    def text(self) -> str:
        """Within a sentence, after "limited by": `the LDM threads of node 1`, `disk c0d1 of data1`."""
        where, _, part = self.where.rpartition(", ")
        if self.resource == "network":
            what = self.where
            return f"the {what}" if what.startswith("uplink of ") else f"the network of {what}"
        if self.resource == "cpu" and not where:
            return f"the CPU of {part}"
        if self.resource in ("sql nodes", "api nodes"):
            node, *host, used = (*self.where.split(", ", 2), "", "")[:3]
            return (f"the {used} of " if used else "") + " on ".join((node, *filter(None, host)))
        return _TEXTS.get(self.resource, "{all}").format(
            all=self.where, where=where, part=part, disk=" of ".join(reversed(self.where.split(" ", 1)))
        )


_TEXTS = {
    "cpu": "the {part} of {where}",
    "disk": "disk {disk}",
    "disk reads": "random reads of disk {disk}",
    "redo log": "redo {part} of {where}",
    "redo files": "the redo log files of {all}",
    "undo log": "the {part} of {where}",
    "tablespace": "the {part} of {where}",
    "memory": "{part} of {where}",
    "operation records": "{part} of {where}",
    "row locks": "locks of the {all}",
    "clients": "the clients, which wait for their answers ({all})",
    "loader": "the loader ({all})",
    "SQL sessions": "{all} of the SQL nodes, which refuse the other sessions with error 1040",
    "source disk": "the disk that is loaded from ({all})",
}


def full_of(code: int, node_id: int, used: float, object_ids: tuple[str, ...]) -> Bottleneck:
    """What is full on a node that answers with this error. KeyError for an error of another kind."""
    resource, what = _FULL[code]
    return Bottleneck(resource, f"node {node_id}, {what}", used, object_ids)


def find_bottlenecks(
    scenario: Scenario,
    errors: Sequence[ErrorCount],
    parts: Sequence[PartSeries],
    disks: Sequence[DiskSeries],
    services: Sequence[Service],
    *,
    peak_per_s: float,
    held_back: float,
    waited: float,
) -> tuple[Bottleneck, ...]:
    """What is short, most pressing first: by what refused most work, then by use.

    `services`: what passes beside disks and logs, lowest first, as it was when most of it was in use;
    `peak_per_s`: highest rate that was attempted; `held_back`: share of the time in which less was sent than
    offered though nothing waited for redo; `waited`: share of the time in which something did.
    """
    refused = {error.code: error.count for error in errors}
    most = sum(refused.values())
    by_node = {error.code: error.node_id for error in errors}
    bottlenecks: list[Bottleneck] = []
    for d, disk in enumerate(disks):
        # Buffers fill because their disk is too slow, even when pauses of the checkpoints lower its mean.
        codes = [c for c in _BUFFER_CODES if c in refused and _redo_disk(scenario, by_node[c]) == d]
        counted = sum(refused[code] for code in codes)
        used = 1.0 + counted / most if counted > 0 else min(1.0, disk.utilisation_mean.value)
        if waited > WAITED_SHARE and _has_full_buffer(scenario, parts, d):
            used = max(used, 1.0 + waited)
        if held_back > WAITED_SHARE and _held_by_disk_data(scenario, services, d, peak_per_s):
            used = max(used, 1.0 + held_back)
        bottlenecks.append(Bottleneck("disk", f"{disk.host} {disk.disk}", used, disk.disk_ids))
    if parts:
        fullest = max(parts, key=_log_share)
        used = 1.0 + refused[410] / most if 410 in refused else _log_share(fullest)
        where = f"node {fullest.node_id}, log part {fullest.log_part}"
        bottlenecks.append(Bottleneck("redo log", where, used, _ids(scenario, fullest.node_id)))
    if 1220 in refused:
        node_id = by_node[1220]
        used = 1.0 + refused[1220] / most
        bottlenecks.append(Bottleneck("redo files", f"node {node_id}", used, _ids(scenario, node_id)))
    if isinstance(scenario.workload.load, ClosedLoad) and refused.keys() <= _OF_FAILURES:
        bottlenecks.append(Bottleneck(*scenario.client_limit, 1.0))
    for service in services:
        used = peak_per_s / service.max_per_s
        # Where less than the service passes was sent, full buffers of disk data held it back.
        if (
            service is services[0]
            and held_back > WAITED_SHARE
            and (used > SERVICE_FULL or not _writes_disk_data(scenario))
        ):
            used = 1.0 + held_back
        if service is services[0] and 1218 in refused:
            used = 1.0 + refused[1218] / most
        bottlenecks.append(Bottleneck(service.resource, service.where, min(2.0, used), service.object_ids))
    for code in _FULL:
        if code in refused:
            node_id = by_node[code]
            bottlenecks.append(full_of(code, node_id, 1.0 + refused[code] / most, _ids(scenario, node_id)))
    if 4009 in refused:
        bottlenecks.append(Bottleneck("nodes", "SQL nodes that see no data node", 1.0 + refused[4009] / most))
    return tuple(sorted(bottlenecks, key=lambda b: -b.used))


def _writes_disk_data(scenario: Scenario) -> bool:
    return bool(scenario.laws.run.disk_data_share > 0)


def _held_by_disk_data(scenario: Scenario, services: Sequence[Service], disk: int, peak_per_s: float) -> bool:
    """Whether pages or undo log that this disk writes too slowly keep work waiting, and no service does."""
    service = min((s.max_per_s for s in services), default=math.inf)
    if peak_per_s > SERVICE_FULL * service or not _writes_disk_data(scenario):
        return False
    mine = any(disk in (place.data_disk, place.undo_disk) for place in scenario.laws.places)
    return mine or any(disk == file.disk for file in scenario.laws.files)


def _has_full_buffer(scenario: Scenario, parts: Sequence[PartSeries], disk: int) -> bool:
    return any(part.fill_max > 0.9 and _redo_disk(scenario, part.node_id) == disk for part in parts)


def _log_share(part: PartSeries) -> float:
    return float(part.log_used.max(initial=0.0)) / part.log_bytes


def _redo_disk(scenario: Scenario, node_id: int) -> int:
    for node_class in scenario.node_classes:
        if any(node.node_id == node_id for node in node_class.nodes):
            return node_class.redo_disk
    return -1


def _ids(scenario: Scenario, node_id: int) -> tuple[str, ...]:
    return tuple(
        node.id
        for node_class in scenario.node_classes
        for node in node_class.nodes
        if node.node_id == node_id
    )
