"""Work that wanders over the log parts: operations that take the values of a distribution key in turn.

A loader's thread is at one value at a time. All log of that value goes to one log part of each replica, until
the next value sends it elsewhere. Which value comes when is worked out from what was accepted so far: known
values go where their hash says, unknown ones to partitions drawn once by the seed of the run. Work that is
refused is tried again in the same place, as a loader does. Memory, checkpoints, disk data and the processors
of other threads see the mean over all values; the bound of the LDM threads is that of `estimate.load`.

Source: arithmetic of the stated loaders; that partitions of unknown values are drawn is judgement.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from ndbplan.estimate.constants import constant_for
from ndbplan.estimate.load.demand import TableLoad
from ndbplan.estimate.load.key_choice import partition_shares, run_rows
from ndbplan.estimate.loaded import chosen_loads, rate_of
from ndbplan.estimate.storage.distribution import value_hashes
from ndbplan.estimate.stored import distribute
from ndbplan.plan.plan import Plan
from ndbplan.plan.workloads import Workload
from ndbplan.simulate.model.classes import NodeClass
from ndbplan.simulate.model.load_over_time import coverage

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

MOVED_S = 1.0
"""Work is moved so often, or when a thread comes to its next value; within it shorter values even out."""
_VALUES = 200_000
"""Values whose partitions are worked out; after the last comes the first."""
_LOOKS = 64
"""Looks at where a thread is between two moves."""
_THREADS = 4096
"""Threads looked at; more spread evenly all the same."""
HELD_S = 4.0
"""Work stays so long at most, half of the time until a thread comes to its next value."""
_KEPT = 2048
"""Places of all loaders whose load is kept: a loader of few threads comes back to the same ones."""


@dataclass(frozen=True)
class Loader:
    """Operations on one table that take values in turn."""

    nodes: Ints
    """Simulated nodes that hold each partition: [partition, replica]."""
    group: Ints
    part: Ints
    """Node group and log part of each partition."""
    mean: Floats
    """Share of each partition over all values."""
    owners: Ints
    """Partition of each value, in their order."""
    log_bytes: float
    """Log of one transaction for each replica."""
    row_share: float
    """Share of a transaction's logged rows."""
    rows: float
    """Rows of one transaction."""
    run_rows: float
    """Rows of a value."""
    threads: int

    def where(self, from_transaction: float, to_transaction: float) -> Floats:
        """Share of each partition of what is loaded between two transactions, counted from the start."""
        turn = self.threads * self.run_rows
        begin, end = from_transaction * self.rows / turn, to_transaction * self.rows / turn
        if end - begin > _LOOKS:
            return self.mean
        looks = min(_LOOKS, 1 + math.ceil(4 * (end - begin)))
        threads = np.arange(min(self.threads, _THREADS))
        if math.floor(begin * len(threads)) == math.floor(end * len(threads)):
            # No thread comes to its next value meanwhile: one look sees it all.
            looks, end = 1, begin
        # Threads do not begin a value all at the same moment.
        at = begin + (end - begin) * (np.arange(looks)[:, None] + 0.5) / looks + threads / len(threads)
        values = (np.floor(at).astype(np.int64) * len(threads) + threads) % len(self.owners)
        found = np.bincount(self.owners[values.ravel()], minlength=len(self.mean)).astype(np.float64)
        return np.asarray(found / found.sum())

    def until_next(self, transaction: float) -> float:
        """Transactions until one of the threads comes to its next value."""
        count = min(self.threads, _THREADS)
        changes = transaction * self.rows * count / (self.threads * self.run_rows)
        left = math.floor(changes) + 1.0 - changes
        return left * self.threads * self.run_rows / (self.rows * count)

    def put(self, load: Floats, share: Floats, weights: Floats, sign: float) -> None:
        """Add the log and rows of one transaction, with these shares of the partitions."""
        used = np.flatnonzero(weights)
        for replica in range(self.nodes.shape[1]):
            amount = sign * self.log_bytes * weights[used]
            np.add.at(load, (self.nodes[used, replica], self.part[used]), amount)
        np.add.at(share, (self.group[used], self.part[used]), sign * self.row_share * weights[used])


@dataclass(frozen=True)
class Loaders:
    """All loaders of a run, and the load beside theirs."""

    loaders: tuple[Loader, ...]
    load: Floats
    """Mean log of each part for one transaction, as the scenario was compiled."""
    rest: Floats
    """The same without the loaders."""
    rest_share: Floats
    steps: int
    """Steps between two moves."""
    offered_per_step: float

    kept: dict[bytes, tuple[Floats, Floats, float]] = field(default_factory=dict, compare=False)
    """Log, rows and coverage of places that were met before."""

    def held_steps(self, done: float, each_step: float, step_s: float) -> int:
        """Steps for which the loaders' work stays where it is, when so many transactions are done."""
        if each_step <= 0:
            return self.steps
        until = min(loader.until_next(done) for loader in self.loaders) / each_step
        longest = max(self.steps, round(HELD_S / step_s))
        return max(self.steps, min(longest, int(until / 2)))

    def placed(
        self, done: float, upto: float, workload: Workload, group_count: Floats
    ) -> tuple[Floats, Floats, float]:
        """Log and rows of each part, and how fully they cover the parts, between two transactions."""
        places = [loader.where(done, upto) for loader in self.loaders]
        key = b"".join(weights.tobytes() for weights in places)
        found = self.kept.get(key)
        if found is None:
            load, share = self.rest.copy(), self.rest_share.copy()
            for loader, weights in zip(self.loaders, places, strict=True):
                loader.put(load, share, weights, 1.0)
            load, share = np.maximum(0.0, load), np.maximum(0.0, share)
            found = load, share, coverage(workload, share, group_count)
            if len(self.kept) < _KEPT:
                self.kept[key] = found
        return found


def has_loaders(workload: Workload) -> bool:
    """Whether an operation takes values in turn."""
    return any(o.choice.kind == "in_turn" for t in workload.transactions for o in t.operations)


def loaders_of(
    plan: Plan,
    workload: Workload,
    node_classes: Sequence[NodeClass],
    load: Floats,
    share: Floats,
    *,
    group_of: Ints,
    step_s: float,
    seed: int,
) -> Loaders | None:
    """The loaders of a workload when each node is simulated apart; None: there are none."""
    rate = rate_of(plan, workload)
    if rate <= 0 or not has_loaders(workload):
        return None
    at = {node_class.nodes[0].node_id: n for n, node_class in enumerate(node_classes)}
    loads = [table_load for table_load, _ in chosen_loads(plan, workload)]
    logged = sum(one.writes_per_s for one in loads if one.redo_bytes_per_s.value > 0)
    found = [
        _loader(plan, one, rate, logged, at, group_of, seed)
        for one in loads
        if one.choice.kind == "in_turn" and one.redo_bytes_per_s.value > 0
    ]
    found = _together(found)
    if not found:
        return None
    rest, rest_share = load.copy(), share.copy()
    for loader in found:
        loader.put(rest, rest_share, loader.mean, -1.0)
    steps = max(1, round(MOVED_S / step_s))
    return Loaders(tuple(found), load.copy(), rest, rest_share, steps, rate * step_s)


def _together(loaders: list[Loader]) -> list[Loader]:
    """Loaders of tables that go through the same values in step, as one."""
    found: list[Loader] = []
    for loader in loaders:
        for i, other in enumerate(found):
            if (
                loader.threads == other.threads
                and math.isclose(loader.rows / loader.run_rows, other.rows / other.run_rows, rel_tol=1e-6)
                and np.array_equal(loader.nodes, other.nodes)
                and np.array_equal(loader.part, other.part)
                and np.array_equal(loader.owners, other.owners)
                and np.allclose(loader.mean, other.mean, atol=1e-6)
            ):
                found[i] = replace(
                    other,
                    log_bytes=other.log_bytes + loader.log_bytes,
                    row_share=other.row_share + loader.row_share,
                )
                break
        else:
            found.append(loader)
    return found


def _loader(
    plan: Plan,
    load: TableLoad,
    rate: float,
    logged_rows_per_s: float,
    at: dict[int, int],
    group_of: Ints,
    seed: int,
) -> Loader:
    distribution = distribute(plan, load.table)
    placed, mean = distribution.placement, partition_shares(distribution)
    count = len(mean)
    nodes = np.array([[at[int(node)] for node in row] for row in placed.nodes[:count]], dtype=np.int64)
    keys = distribution.keys
    hashes = value_hashes(load.table, keys, plan.version, count) if keys is not None else None
    if hashes is not None:
        owners = np.array(distribution.hash_map, dtype=np.int64)[hashes[:_VALUES] % distribution.buckets]
    else:
        values = max(1, min(_VALUES, distribution.values or _VALUES))
        owners = np.random.default_rng(seed).choice(count, size=values, p=mean).astype(np.int64)
    page = constant_for(plan, "redo_page_overhead").value
    return Loader(
        nodes=nodes,
        group=group_of[nodes[:, 0]],
        part=placed.log_part[:count].astype(np.int64),
        mean=mean,
        owners=owners,
        log_bytes=load.redo_bytes_per_s.value * page / rate,
        row_share=load.writes_per_s / logged_rows_per_s if logged_rows_per_s > 0 else 0.0,
        rows=load.rows_per_s / rate,
        run_rows=run_rows(distribution, load.choice, load.rows_per_s),
        threads=load.choice.threads,
    )
