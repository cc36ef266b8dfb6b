"""What clients offer in each step, and how many transactions processors, network and disks let pass.

Source: arithmetic of the stated load; constants by name in resources/ndb/constants.json; what processors let
pass is that of estimate.load.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ndbplan.base.kept import kept_by_identity, same
from ndbplan.base.quantity import Quantity, Term, total
from ndbplan.estimate.constants import term_of
from ndbplan.estimate.load.clients import CLUSTER_CONNECTIONS, ClientNode
from ndbplan.estimate.load.cpu import HostCpu, NodeCpu
from ndbplan.estimate.load.disk_data import NodeDiskData
from ndbplan.estimate.load.file_threads import reads_of
from ndbplan.estimate.load.network import NetworkEstimate
from ndbplan.estimate.loaded import (
    cpu_by_formula,
    disk_data_by_formula,
    network_by_formula,
    rate_of,
    uplinks,
)
from ndbplan.estimate.narrowed import narrowed
from ndbplan.estimate.row_locks import hottest_rows, row_lock_s
from ndbplan.estimate.storage.machines import Machines
from ndbplan.estimate.stored import machines_of
from ndbplan.ndb.constants import Constant
from ndbplan.plan.hardware import Disk, Host
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import DataNode, DiskRole
from ndbplan.plan.tables import Table
from ndbplan.plan.workloads import OpenLoad, OperationKind, Workload
from ndbplan.simulate.model.node_rows import disks_of

Floats = NDArray[np.float64]
WRITES = (OperationKind.INSERT, OperationKind.UPDATE, OperationKind.DELETE)
DISK_READS = "disk reads"


@dataclass(frozen=True)
class Service:
    """A resource that only so many transactions per second can pass."""

    resource: str
    """cpu, network, disk reads, row locks, sql nodes or api nodes."""
    where: str
    max_per_s: float
    object_ids: tuple[str, ...]
    low_per_s: float
    high_per_s: float
    why: tuple[Term, ...] = ()

    @property
    def is_clients(self) -> bool:
        """Whether it is one of the nodes that clients come through, not of the data nodes."""
        return self.resource in ("sql nodes", "api nodes")


def services(plan: Plan, workload: Workload) -> tuple[Service, ...]:
    """Limits of processors, network and random reads, lowest first; use grows with the rate.

    Receive threads are left out: their cost was measured for operations of 2 KB that came one by one, and
    batches of small rows share what they pay (seed 004 loads three times what that cost would allow).
    """
    rate = rate_of(plan, workload)
    if rate <= 0:
        return ()
    busy, links = cpu_by_formula(plan, workload), network_by_formula(plan, workload)
    coming = () if busy.clients is None else busy.clients.nodes
    found = [
        *_of_data_nodes(rate, busy.nodes, same(plan.data_nodes)),
        *_of_hosts(rate, busy.hosts, coming),
        *_of_links(rate, links),
    ]
    for uplink in uplinks(plan, workload):
        where = f"uplink of {uplink.location}"
        found += service_of(rate, "network", where, uplink.utilisation, uplink.location_id)
    pages = disk_data_by_formula(plan, workload).nodes
    if pages:
        found += _of_disks(rate, narrowed(machines_of(plan)), pages)
    held = row_lock_s(plan, workload)
    for table, locks_per_s in hottest_rows(plan, workload):
        found += _of_row(rate, table, locks_per_s, held)
    return same(sorted(found, key=lambda s: s.max_per_s))


@kept_by_identity(64)
def _of_row(rate: float, table: Table, locks_per_s: float, held: Constant) -> list[Service]:
    """The most wanted row of a table; `held`: how long a transaction keeps it locked."""
    use = Quantity(
        locks_per_s * held.value,
        locks_per_s * held.low,
        locks_per_s * held.high,
        "fraction",
        (Term("locks of the hottest row", locks_per_s, "per s", "workload"), term_of(held)),
    )
    return service_of(rate, "row locks", f"hottest row of {table.full_name}", use, table.id)


def service_of(rate: float, resource: str, where: str, use: Quantity, *ids: str) -> list[Service]:
    """The limit of a resource that is so far in use at a rate; nothing where it is not used."""
    if use.value <= 0:
        return []
    low, high = rate / max(use.high, use.value), rate / min(use.low or use.value, use.value)
    why = (use.as_term(f"in use at {rate:g} tx/s"),)
    return [Service(resource, where, rate / use.value, ids, low, high, why)]


@kept_by_identity(16)
def _of_disks(rate: float, machines: Machines, pages: tuple[NodeDiskData, ...]) -> tuple[Service, ...]:
    """Random reads of pages of columns on disk."""
    found: list[Service] = []
    reading: dict[str, tuple[Host, Disk, list[Quantity]]] = {}
    for data in pages:
        node = machines.by_id[data.node_id]
        disks_of(node)
        for disk, share in node.on_disks(DiskRole.DATA_FILES):
            asked = data.random_reads_per_s
            part = asked if share == 1.0 else asked.scaled(share)
            reading.setdefault(disk.id, (node.host, disk, []))[-1].append(part)
    for host, disk, reads in reading.values():
        able = reads_of(machines, disk)
        where = f"{host.hostname} {disk.name}"
        # Nodes that share a disk wait for one another.
        whole = reads[0] if len(reads) == 1 else total([("a data node", one) for one in reads], "reads/s")
        if able.threads is None:
            use = whole.scaled(1 / disk.random_read_iops, "fraction")
        else:
            use = (whole.named("random reads") / able.per_s.named("reads of the threads")).in_unit("fraction")
        found += service_of(rate, DISK_READS, where, use, disk.id)
    return tuple(found)


@kept_by_identity(16)
def _of_data_nodes(
    rate: float, busy: tuple[NodeCpu, ...], nodes: tuple[DataNode, ...]
) -> tuple[Service, ...]:
    ids = {node.node_id: node.id for node in nodes}
    found: list[Service] = []
    for node in busy:
        where = f"node {node.node_id}, LDM threads"
        found += service_of(rate, "cpu", where, node.ldm_utilisation, ids[node.node_id])
    return tuple(found)


@kept_by_identity(16)
def _of_hosts(rate: float, hosts: tuple[HostCpu, ...], coming: tuple[ClientNode, ...]) -> tuple[Service, ...]:
    found: list[Service] = []
    by_client_host = {client.host_id: client for client in reversed(coming)}
    for host in hosts:
        if host.data_nodes:
            found += service_of(rate, "cpu", host.host, host.work, host.host_id)
        else:
            client = by_client_host[host.host_id]
            ids = client.process_id, host.host_id
            found += service_of(rate, f"{client.kind} nodes", client.title, host.work, *ids)
    for client in coming:
        where, use = f"{client.title}, {CLUSTER_CONNECTIONS}", client.connection_utilisation
        found += service_of(rate, f"{client.kind} nodes", where, use, client.process_id)
    return tuple(found)


@kept_by_identity(16)
def _of_links(rate: float, links: NetworkEstimate) -> tuple[Service, ...]:
    found: list[Service] = []
    for link in links.hosts:
        found += service_of(rate, "network", link.host, link.utilisation, link.host_id)
    return tuple(found)


def service_per_s(found: Iterable[Service]) -> float:
    """What passes beside disk reads, which change while rows grow; 0: there is no limit."""
    return min((one.max_per_s for one in found if one.resource != DISK_READS), default=0.0)


@kept_by_identity(4)
def offered(workload: Workload, steps: int, step_s: float) -> Floats:
    """Transactions that arrive in each step of an open load."""
    load = workload.load
    if not isinstance(load, OpenLoad):
        return np.zeros(1)
    middle: Floats = (np.arange(steps, dtype=np.float64) + 0.5) * step_s
    return rate_at(load, middle) * step_s


def rate_at(load: OpenLoad, times_s: Floats) -> Floats:
    """Offered transactions per second at some moments."""
    at = np.array([point.at_s for point in load.points], dtype=np.float64)
    rates: Floats = np.array([point.rate_per_s for point in load.points], dtype=np.float64)
    order = np.argsort(at, kind="stable")
    at, rates = at[order], rates[order]
    moments = np.mod(times_s, load.repeat_s) if load.repeat_s > 0 else times_s
    if load.shape == "linear":
        return np.asarray(np.interp(moments, at, rates), dtype=np.float64)
    last = np.clip(np.searchsorted(at, moments, side="right") - 1, 0, len(rates) - 1)
    return np.asarray(rates[last], dtype=np.float64)


def coverage(workload: Workload, share: Floats, group_count: Floats) -> float:
    """How fully a transaction covers the log parts in use: 0 when it meets one, 1 when it meets all."""
    weights = sum(t.weight for t in workload.transactions)
    used = float(((share > 0) * group_count[:, None]).sum())
    if used <= 1:
        return 0.0
    each = np.minimum(1.0, (share / group_count[:, None])[share > 0])
    times = np.broadcast_to(group_count[:, None], share.shape)[share > 0]
    found = 0.0
    for transaction in workload.transactions:
        rows = sum(o.rows for o in transaction.operations if o.kind in WRITES)
        if rows > 1:
            touched = float((times * (1.0 - (1.0 - each) ** rows)).sum())
            found += transaction.weight / weights * (touched - 1.0) / (used - 1.0)
    return min(1.0, max(0.0, found))


def share_of_transactions(plan: Plan, workload: Workload, *, disk: bool) -> float:
    """Share of transactions that insert rows (disk=False), or that write to tables with disk columns."""
    weights = sum(t.weight for t in workload.transactions)
    found = 0.0
    for transaction in workload.transactions:
        for operation in transaction.operations:
            table = plan.table(operation.table_id)
            if (
                operation.kind in WRITES
                if disk and _on_disk(table)
                else (not disk and operation.kind is OperationKind.INSERT)
            ):
                found += transaction.weight / weights
                break
    return found


def _on_disk(table: Table) -> bool:
    return any(column.storage == "disk" for column in table.columns)
