"""Reads of columns on disk while their rows grow: the page cache holds a smaller and smaller share of them.

    cache = page_cache(plan, workload, node_classes)
    cache.reads(transactions)      # pages that each node reads for a transaction, once so many were accepted

Pages are read at random places, evenly over those that are touched: the share that DiskPageBufferMemory
answers is that of `estimate.disk_data`, with the rows there are at the moment.

Source: engine model 5.4, and mean value analysis for clients that wait for disks; constants by name in
resources/ndb/constants.json.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ndbplan.estimate.constants import constant_for
from ndbplan.estimate.load.demand import idle_cycle_s
from ndbplan.estimate.load.file_threads import reads_of
from ndbplan.estimate.loaded import disk_data, rate_of
from ndbplan.estimate.stored import machines_of
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import DiskRole
from ndbplan.plan.workloads import ClosedLoad, Workload
from ndbplan.simulate.model.classes import NodeClass

Floats = NDArray[np.float64]

CLIENTS_WORKED_OUT = 2000
"""With more clients the wait for disks no longer depends on their number (mean value analysis)."""


def closed_cycle_s(load: ClosedLoad, undisturbed_s: float, service_s: float, stations: int) -> float:
    """Time from one transaction of a client to its next: latency, think time, queueing for random reads.

    `undisturbed_s`: time at disks that the stated latency holds; `service_s`: that of now; `stations`: equal
    disks. Mean value analysis of a closed network of queues, exact for random requests.
    """
    base = idle_cycle_s(load)
    if service_s <= 0:
        at_disks_s = min(undisturbed_s, load.latency_s)
        return idle_cycle_s(load.model_copy(update={"latency_s": load.latency_s - at_disks_s}))
    away_s = max(0.0, base - undisturbed_s)
    clients = min(load.clients, CLIENTS_WORKED_OUT)
    queue = 0.0
    response = service_s
    for customers in range(1, clients + 1):
        response = service_s * (1.0 + queue)
        queue = customers / (away_s + response) * response / stations
    if load.clients > clients:
        response = load.clients * service_s / stations - away_s
    return away_s + response


_OF_NODES = ("accesses", "cached_bytes", "touched_bytes", "grown_bytes")


@dataclass(frozen=True)
class PageCache:
    """What decides the reads of each simulated node."""

    accesses: Floats
    """Pages that one transaction asks for at random places."""
    cached_bytes: Floats
    """Pages that the cache holds, those that are hot counted as often as they are asked for."""
    touched_bytes: Floats
    """Pages that are asked for, at the start."""
    grown_bytes: Floats
    """By how much these grow with each transaction."""
    counts: Floats
    """Data nodes that each stands for."""
    undisturbed_s: float
    """Time at disks of one transaction that the latency of a closed load holds."""
    cached_range: tuple[float, float]
    """Ends of what the cache holds, as factors."""

    @property
    def disks(self) -> int:
        """Disks that are read from: each node counts as one with a disk of its own."""
        return max(1, round(float(self.counts[self.accesses > 0].sum())))

    def grown(self, other: PageCache) -> PageCache:
        """The cache of the same nodes as another one says: tables are reorganised."""
        return replace(self, **{name: getattr(other, name) for name in _OF_NODES})

    def before_growth(self, old: PageCache, places: Sequence[int | None]) -> PageCache:
        """The cache of a grown cluster while only old nodes have rows; `places`: where each is in `old`."""
        found: dict[str, Any] = {
            name: np.array([0.0 if place is None else getattr(old, name)[place] for place in places])
            for name in _OF_NODES
        }
        return replace(self, undisturbed_s=old.undisturbed_s, **found)

    def after(self, transactions: float) -> PageCache:
        """The cache once so many transactions have left their rows."""
        return replace(self, touched_bytes=self.touched(transactions))

    def touched(self, transactions: float) -> Floats:
        """Pages that are asked for once so many transactions have left their rows."""
        return np.asarray(np.maximum(0.0, self.touched_bytes + transactions * self.grown_bytes))

    def reads(self, transactions: float, held: float = 1.0) -> Floats:
        """Pages each node reads from disk for one transaction; `held`: factor of what the cache holds."""
        share = held * self.cached_bytes / np.maximum(1.0, self.touched(transactions))
        return np.asarray(self.accesses * (1.0 - np.minimum(1.0, share)))


def page_cache(plan: Plan, workload: Workload, node_classes: Sequence[NodeClass]) -> PageCache | None:
    """What decides the reads of columns on disk; None: the workload reads none at random."""
    rate = rate_of(plan, workload)
    by_node = {node.node_id: node for node in disk_data(plan, workload).nodes}
    found = [by_node.get(node_class.node_id) for node_class in node_classes]
    if rate <= 0 or not any(one is not None and one.accesses_per_s > 0 for one in found):
        return None

    def column(name: str, over: float = 1.0) -> Floats:
        return np.array([getattr(one, name) / over if one is not None else 0.0 for one in found])

    hot = constant_for(plan, "disk_page_buffer_hot")
    cache = PageCache(
        accesses=column("accesses_per_s", rate),
        cached_bytes=column("cached_bytes"),
        touched_bytes=column("touched_bytes"),
        grown_bytes=column("grown_bytes_per_s", rate),
        counts=np.array([float(len(node_class.nodes)) for node_class in node_classes]),
        undisturbed_s=0.0,
        cached_range=(hot.low / hot.value, hot.high / hot.value),
    )
    machines = machines_of(plan).by_id
    iops = min(
        reads_of(machines_of(plan), disk).per_s.value
        for one in found
        if one is not None and one.accesses_per_s > 0
        for disk, _ in machines[one.node_id].on_disks(DiskRole.DATA_FILES)
    )
    return replace(cache, undisturbed_s=float((cache.reads(0.0) * cache.counts).sum()) / iops)
