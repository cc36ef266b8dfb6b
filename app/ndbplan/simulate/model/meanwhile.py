"""What of a scenario changes while it runs: where loaders are, and what disks must read as rows grow.

Source: the laws of the page cache (page_cache.py) and of loaders (loaders.py), asked again.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from ndbplan.base.row_types import column
from ndbplan.plan.workloads import ClosedLoad
from ndbplan.simulate.model.load_over_time import Service
from ndbplan.simulate.model.page_cache import PageCache, closed_cycle_s
from ndbplan.simulate.model.scenario import Scenario
from ndbplan.simulate.world.laws import Laws
from ndbplan.simulate.world.world import World

Floats = NDArray[np.float64]

CHANGE = 0.01
"""Reads are worked out anew when pages have grown by this share, and each second at most."""
LONGEST_S = 60.0
"""Or after this time."""


def move_loaders(scenario: Scenario, full_load: Floats, world: World, step: int) -> int:
    """Put the loaders' work where it is at this step, into the laws of a world; steps that it stays.

    `full_load`: log of each part for one transaction while every node lives.
    """
    loaders, laws, done = scenario.loaders, world.laws, float(world.state.cluster.accepted)
    assert loaders is not None
    each = done / step if step else loaders.offered_per_step
    held = loaders.held_steps(done, each, scenario.step_s)
    load, share, covered = loaders.placed(done, done + each * held, scenario.workload, laws.group_count)
    # Nodes that are down write nothing; a drawn scenario writes more or less than the plan's.
    before = loaders.load.sum(axis=1)
    dead = column(world.state.node_state, lambda node: node.is_dead)
    now = np.where(dead, 0.0, full_load.sum(axis=1)) / np.where(before > 0, before, 1.0)
    laws.load[:] = load * now[:, None]
    laws.share[:] = share
    laws.run.coverage = covered
    return held


def follow_reads(scenario: Scenario, cache: PageCache, world: World, step: int) -> int:
    """Put reads, service and cycle of this moment into the laws of a world; steps for which they hold."""
    laws, done = world.laws, float(world.state.cluster.accepted)
    reads = cache.reads(done)
    column(laws.nodes, lambda node: node.reads)[:] = reads
    others = laws.run.service_beside_reads_per_s
    alive = laws.run.reading_share
    most = alive * most_reads_per_s(cache, laws, done) if alive > 0 else math.inf
    service = min(others if others > 0 else math.inf, most)
    laws.run.service_per_s = service if math.isfinite(service) else 0.0
    load = scenario.workload.load
    if laws.run.cycle_s > 0 and isinstance(load, ClosedLoad):
        at_disks_s = _at_disks_s(cache, laws, reads)
        laws.run.cycle_s = closed_cycle_s(load, cache.undisturbed_s, at_disks_s, cache.disks)
    return _held_steps(cache, scenario.step_s, done, step)


def _asked(cache: PageCache, laws: Laws, transactions: float, held: float = 1.0) -> Floats:
    """Pages read from each disk for one transaction; nodes that share one add up."""
    found = np.zeros(len(laws.disks))
    reads = cache.reads(transactions, held)
    disks = column(laws.places, lambda place: place.data_disk).astype(np.int64)
    np.add.at(found, disks, reads * column(laws.places, lambda place: place.data_share))
    for n, d, share in _further_disks(laws):
        found[d] += reads[n] * share
    return found


def _further_disks(laws: Laws) -> Iterator[tuple[int, int, float]]:
    """Node, disk and share of its data files there, of all that do not lie on the disk of their role."""
    for n, place in enumerate(laws.places) if len(laws.files) else ():
        for f in range(int(place.files_from), int(place.files_upto)):
            yield n, int(laws.files[f].disk), float(laws.files[f].data_share)


def _reads_per_s(laws: Laws) -> Floats:
    """Pages that data nodes get of each disk at most."""
    share = column(laws.disks, lambda disk: disk.asked_share)
    found: Floats = column(laws.disks, lambda disk: disk.read_iops) * share
    return found


def most_reads_per_s(cache: PageCache, laws: Laws, transactions: float, held: float = 1.0) -> float:
    """Transactions per second that the slowest disk can read for; infinite when all is in the cache."""
    asked = _asked(cache, laws, transactions, held)
    some = asked > 0
    return float((_reads_per_s(laws)[some] / asked[some]).min()) if some.any() else math.inf


def _at_disks_s(cache: PageCache, laws: Laws, reads: Floats) -> float:
    """Seconds at disks of one transaction without a queue."""
    asking = cache.accesses > 0
    asked = [place.data_disk for n, place in enumerate(laws.places) if asking[n] and place.data_share > 0]
    asked += [d for n, d, share in _further_disks(laws) if asking[n] and share > 0]
    iops = float(_reads_per_s(laws)[np.array(asked)].min())
    return float((reads * cache.counts).sum()) / iops


def _held_steps(cache: PageCache, step_s: float, done: float, step: int) -> int:
    """Steps until pages have grown noticeably at the mean rate so far."""
    second = max(1, round(1.0 / step_s))
    longest = max(second, round(LONGEST_S / step_s))
    if step == 0:
        return second
    touched = cache.touched(done)
    growing = (cache.grown_bytes > 0) & (cache.accesses > 0)
    if not growing.any():
        return longest
    room = np.maximum(1.0, np.maximum(touched, cache.cached_bytes)[growing]) * CHANGE
    each = max(1e-9, done / step)
    return int(min(longest, max(second, float((room / cache.grown_bytes[growing]).min()) / each)))


def worst_reads(
    cache: PageCache, scenario: Scenario, laws: Laws, done: Floats, rates_per_s: Floats
) -> tuple[Service, float] | None:
    """(the disk that reads are most for while a run goes on, share of it in use); None: none is read from.

    `done`, `rates_per_s`: transactions accepted until, and sent in, each moment.
    """
    most = np.array([most_reads_per_s(cache, laws, float(one)) for one in done])
    used = np.where(np.isfinite(most), rates_per_s / most, 0.0)
    if not len(used) or not np.isfinite(most).any():
        return None
    at = int(used.argmax()) if used.any() else int(most.argmin())
    asked = _asked(cache, laws, float(done[at]))
    disk = int((asked / _reads_per_s(laws)).argmax())
    found = scenario.disk_classes[disk]
    low, high = (most_reads_per_s(cache, laws, float(done[at]), end) for end in cache.cached_range)
    service = Service(
        "disk reads",
        f"{found.hostnames[0]} {found.disks[0].name}",
        float(most[at]),
        (found.disks[0].id,),
        low,
        high,
    )
    return service, float(used[at])
