"""Reads of columns on disk while their rows grow: the page cache holds a smaller and smaller share of them.

    cache = page_cache(plan, workload, node_classes)
    cache.follow(scenario, running, arrays, step)      # reads, service and cycle from this step on

Pages are read at random places, evenly over those that are touched: the share that DiskPageBufferMemory
answers is that of `estimate.disk_data`, with the rows there are at the moment.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ndbplan.estimate.constants import constant_for
from ndbplan.estimate.load.demand import rate_of
from ndbplan.estimate.load.disk_data import disk_data
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import DiskRole
from ndbplan.plan.workloads import ClosedLoad, Workload
from ndbplan.simulate import columns as col
from ndbplan.simulate.model.node_rows import disk_of

if TYPE_CHECKING:
    from ndbplan.simulate.model.load_over_time import Service
    from ndbplan.simulate.model.scenario import NodeClass, Scenario
    from ndbplan.simulate.run import Arrays

Floats = NDArray[np.float64]

CHANGE = 0.01
"""Reads are worked out anew when pages have grown by this share, and each second at most."""
LONGEST_S = 60.0
"""Or after this time."""
CLIENTS_WORKED_OUT = 2000


def closed_cycle_s(load: ClosedLoad, undisturbed_s: float, service_s: float, stations: int) -> float:
    """Time from one transaction of a client to its next: latency, think time, queueing for random reads.

    `undisturbed_s`: time at disks that the stated latency holds; `service_s`: that of now; `stations`: equal
    disks. Mean value analysis of a closed network of queues, exact for random requests.
    """
    base = max(1e-4, load.latency_s + load.think_time_s)
    if service_s <= 0:
        return max(1e-4, base - undisturbed_s) if undisturbed_s > 0 else base
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


@dataclass
class PageCache:
    """What decides the reads of each simulated node; a run changes it in place when nodes are added."""

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
    cached_range: tuple[float, float] = (1.0, 1.0)
    """Ends of what the cache holds, as factors."""

    @property
    def disks(self) -> int:
        """Disks that are read from: each node counts as one with a disk of its own."""
        return max(1, round(float(self.counts[self.accesses > 0].sum())))

    def copy(self) -> PageCache:
        """The same, to be changed apart."""
        arrays = ("accesses", "cached_bytes", "touched_bytes", "grown_bytes", "counts")
        return replace(self, **{name: getattr(self, name).copy() for name in arrays})

    def take(self, other: PageCache) -> None:
        """Go on as another one, of the same nodes: tables are reorganised."""
        for name in ("accesses", "cached_bytes", "touched_bytes", "grown_bytes"):
            getattr(self, name)[:] = getattr(other, name)

    def before_growth(self, old: PageCache, places: Sequence[int | None]) -> PageCache:
        """The cache of a grown cluster while only old nodes have rows; `places`: where each is in `old`."""
        found = replace(self.copy(), undisturbed_s=old.undisturbed_s)
        for n, place in enumerate(places):
            for name in ("accesses", "cached_bytes", "touched_bytes", "grown_bytes"):
                getattr(found, name)[n] = 0.0 if place is None else getattr(old, name)[place]
        return found

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

    def asked(self, scenario: Scenario, transactions: float, held: float = 1.0) -> Floats:
        """The same for each disk; nodes that share one add up."""
        found = np.zeros(len(scenario.disks))
        np.add.at(found, scenario.index[:, col.I_DATA_DISK], self.reads(transactions, held))
        return found

    def most_per_s(self, scenario: Scenario, transactions: float, held: float = 1.0) -> float:
        """Transactions per second that the slowest disk can read for; infinite when all is in the cache."""
        asked = self.asked(scenario, transactions, held)
        some = asked > 0
        return float((scenario.disks[some, col.D_READ_IOPS] / asked[some]).min()) if some.any() else math.inf

    def follow(self, scenario: Scenario, running: Scenario, arrays: Arrays, step: int) -> int:
        """Put the reads of this moment into the arrays of `running`; steps for which they hold."""
        done = float(arrays.cluster[col.C_ACCEPTED])
        reads = self.reads(done)
        running.nodes[:, col.N_READS] = reads
        before = scenario.run[col.R_SERVICE]
        alive = scenario.run[col.R_READS]
        most = alive * self.most_per_s(scenario, done) if alive > 0 else math.inf
        service = min(before if before > 0 else math.inf, most)
        running.run[col.R_SERVICE] = service if math.isfinite(service) else 0.0
        load = scenario.workload.load
        if scenario.run[col.R_CYCLE_S] > 0 and isinstance(load, ClosedLoad):
            at_disks_s = self._at_disks_s(scenario, reads)
            running.run[col.R_CYCLE_S] = closed_cycle_s(load, self.undisturbed_s, at_disks_s, self.disks)
        if running.run[col.R_SERVICE] != arrays.settings[-1][1][col.R_SERVICE]:
            arrays.settings.append((step * scenario.step_s, running.run.copy()))
        return self._held(scenario, arrays, step, done)

    def _at_disks_s(self, scenario: Scenario, reads: Floats) -> float:
        """Seconds at disks of one transaction without a queue."""
        asking = self.accesses > 0
        iops = float(scenario.disks[scenario.index[asking, col.I_DATA_DISK], col.D_READ_IOPS].min())
        return float((reads * self.counts).sum()) / iops

    def _held(self, scenario: Scenario, arrays: Arrays, step: int, done: float) -> int:
        """Steps until pages have grown noticeably at the mean rate so far."""
        second = max(1, round(1.0 / scenario.step_s))
        longest = max(second, round(LONGEST_S / scenario.step_s))
        if step == 0:
            return second
        touched = self.touched(done)
        growing = (self.grown_bytes > 0) & (self.accesses > 0)
        if not growing.any():
            return longest
        room = np.maximum(1.0, np.maximum(touched, self.cached_bytes)[growing]) * CHANGE
        each = max(1e-9, done / step)
        return int(min(longest, max(second, float((room / self.grown_bytes[growing]).min()) / each)))


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
    by_process = {node_class.node_id: node_class.nodes[0] for node_class in node_classes}
    iops = min(
        disk_of(plan, by_process[one.node_id], DiskRole.DATA_FILES).random_read_iops
        for one in found
        if one is not None and one.accesses_per_s > 0
    )
    return replace(cache, undisturbed_s=float((cache.reads(0.0) * cache.counts).sum()) / iops)


def worst_reads(
    cache: PageCache, scenario: Scenario, done: Floats, rates_per_s: Floats
) -> tuple[Service, float] | None:
    """(the disk that reads are most for while a run goes on, share of it in use); None: none is read from.

    `done`, `rates_per_s`: transactions accepted until, and sent in, each moment.
    """
    from ndbplan.simulate.model.load_over_time import Service

    most = np.array([cache.most_per_s(scenario, float(one)) for one in done])
    used = np.where(np.isfinite(most), rates_per_s / most, 0.0)
    if not len(used) or not np.isfinite(most).any():
        return None
    at = int(used.argmax()) if used.any() else int(most.argmin())
    asked = cache.asked(scenario, float(done[at]))
    disk = int((asked / scenario.disks[:, col.D_READ_IOPS]).argmax())
    found = scenario.disk_classes[disk]
    low, high = (cache.most_per_s(scenario, float(done[at]), end) for end in cache.cached_range)
    service = Service(
        "disk reads",
        f"{found.hostnames[0]} {found.disks[0].name}",
        float(most[at]),
        (found.disks[0].id,),
        min(low, float(most[at])),
        max(high, float(most[at])),
    )
    return service, float(used[at])
