"""Random changes of one input of drawn plans: does the named cause lie where the input lies?

PYTHONPATH=app .venv/bin/python tests/changed_inputs.py 500 [SEED]     # the long form
"""

from __future__ import annotations

import math
import random
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from ndbplan.base.kept import Kept, keeping
from ndbplan.base.units import MIB
from ndbplan.edits import parts as edits
from ndbplan.ndb.parameters import knows
from ndbplan.plan.events import Backup, Burst, DiskSlow, NodeFailure
from ndbplan.plan.plan import ClusterParameters, Plan
from ndbplan.plan.samples import sample_plan
from ndbplan.plan.workloads import (
    ClosedLoad,
    OpenLoad,
    Operation,
    OperationKind,
    RatePoint,
    Transaction,
    Workload,
)
from ndbplan.simulate.model.workload import estimation_of
from ndbplan.simulate.parting.parted import Parting, parting
from ndbplan.simulate.run import simulate

SECONDS = 240.0


def drawn(pick: random.Random) -> Plan:
    """A plan of a drawn version with log, disks, table and load drawn at random: idle to overloaded."""
    plan = sample_plan("redo-overload").replace(ndb_version=pick.choice(["7.1", "7.4", "7.6", "8.0", "8.4"]))
    settings: dict[str, int | str] = {
        "NoOfReplicas": 2,
        "DataMemory": 2000 * MIB,
        "RedoBuffer": pick.choice([16, 32, 64]) * MIB,
        "NoOfFragmentLogFiles": pick.choice([4, 16, 64]),
        "FragmentLogFileSize": pick.choice([64, 256]) * MIB,
        "TimeBetweenLocalCheckpoints": pick.choice([10, 20]),
    }
    if knows("DB", "MaxDiskWriteSpeed", plan.version):
        settings |= {"MaxDiskWriteSpeed": pick.choice([20, 50]) * MIB, "MinDiskWriteSpeed": 5 * MIB}
    sql: dict[str, int | str] = {"DefaultOperationRedoProblemAction": pick.choice(["abort", "queue"])}
    plan = plan.replace(parameters=ClusterParameters(data_node=settings, sql=sql))
    table = pick.choice(plan.tables)
    plan = edits.update(plan, table.id, rows=pick.choice([20_000, 100_000]))
    kind = pick.choice([OperationKind.INSERT, OperationKind.UPDATE])
    operation = Operation(table_id=table.id, kind=kind, rows=pick.choice([1, 10]))
    speed = pick.choice([20e6, 60e6, 150e6])
    rate = speed / (11160 * operation.rows) * pick.uniform(0.3, 2)
    load: OpenLoad | ClosedLoad = OpenLoad(points=(RatePoint(at_s=0, rate_per_s=rate),))
    if pick.random() < 0.3:
        load = ClosedLoad(clients=max(2, int(rate * 0.005)), latency_s=0.005)
    workload = Workload(
        id="w", name="w", transactions=(Transaction(name="t", operations=(operation,)),), load=load
    )
    plan = plan.replace(workloads=(workload,))
    return _disks(plan, sequential_write_bytes_per_s=lambda _: speed)


def _disks(plan: Plan, **changed: Callable[[Any], Any]) -> Plan:
    for host in plan.hosts:
        for disk in host.disks:
            found = {name: change(getattr(disk, name)) for name, change in changed.items()}
            plan = edits.update(plan, disk.id, **found)
    return plan


def _times(name: str, *factors: float) -> Callable[[Plan, random.Random], Plan]:
    """A parameter of data nodes, some times as large."""

    def change(plan: Plan, pick: random.Random) -> Plan:
        before = plan.parameters.data_node.get(name)
        return plan if before is None else _set(name, int(before * pick.choice(factors)))(plan, pick)

    return change


def _set(name: str, *values: int | str) -> Callable[[Plan, random.Random], Plan]:
    def change(plan: Plan, pick: random.Random) -> Plan:
        settings = {**plan.parameters.data_node, name: pick.choice(values)}
        return plan.replace(parameters=plan.parameters.model_copy(update={"data_node": settings}))

    return change


def _load(plan: Plan, **changed: Any) -> Plan:
    (workload,) = plan.workloads
    return plan.replace(workloads=(workload.model_copy(update=changed),))


def _rate(plan: Plan, pick: random.Random) -> Plan:
    (workload,) = plan.workloads
    if not isinstance(workload.load, OpenLoad):
        return plan
    rate = workload.load.points[0].rate_per_s * pick.choice([0.7, 1.3, 2.0])
    return _load(plan, load=OpenLoad(points=(RatePoint(at_s=0, rate_per_s=rate),)))


def _operation(plan: Plan, **changed: Any) -> Plan:
    transaction = plan.workloads[0].transactions[0]
    operation = transaction.operations[0].model_copy(update=changed)
    return _load(plan, transactions=(transaction.model_copy(update={"operations": (operation,)}),))


def _rows_of_transaction(plan: Plan, pick: random.Random) -> Plan:
    rows = plan.workloads[0].transactions[0].operations[0].rows
    return _operation(plan, rows=rows * pick.choice([0.5, 2]))


def _kind(plan: Plan, _: random.Random) -> Plan:
    before = plan.workloads[0].transactions[0].operations[0].kind
    kinds = {OperationKind.INSERT: OperationKind.UPDATE, OperationKind.UPDATE: OperationKind.INSERT}
    return _operation(plan, kind=kinds[before])


def _reads(plan: Plan, _: random.Random) -> Plan:
    return _operation(plan, kind=OperationKind.READ)


def _deletes(plan: Plan, _: random.Random) -> Plan:
    return _operation(plan, kind=OperationKind.DELETE)


def _not_logged(plan: Plan, _: random.Random) -> Plan:
    return edits.update(plan, plan.workloads[0].transactions[0].operations[0].table_id, logging=False)


def _row_size(plan: Plan, pick: random.Random) -> Plan:
    table_id = plan.workloads[0].transactions[0].operations[0].table_id
    factor = pick.choice([0.6, 1.5])
    columns = tuple(
        one.model_copy(update={"average_bytes": one.average_bytes * factor}) if one.average_bytes else one
        for one in plan.table(table_id).columns
    )
    return edits.update(plan, table_id, columns=columns)


def _clients(plan: Plan, pick: random.Random) -> Plan:
    load = plan.workloads[0].load
    if isinstance(load, ClosedLoad):
        return _load(
            plan, load=load.model_copy(update={"clients": int(load.clients * pick.choice([1.5, 3]))})
        )
    retries = load.model_copy(update={"retries": 3, "retry_after_s": 0.5})
    return _load(plan, load=pick.choice([retries, load.model_copy(update={"clients": 4})]))


def _action(plan: Plan, _: random.Random) -> Plan:
    now = plan.parameters.sql["DefaultOperationRedoProblemAction"]
    sql = {"DefaultOperationRedoProblemAction": "abort" if now == "queue" else "queue"}
    return plan.replace(parameters=plan.parameters.model_copy(update={"sql": sql}))


def _rows(plan: Plan, pick: random.Random) -> Plan:
    table = plan.table(plan.workloads[0].transactions[0].operations[0].table_id)
    return edits.update(plan, table.id, rows=int(table.rows * pick.choice([0.5, 1.5])))


def _write_speed(plan: Plan, pick: random.Random) -> Plan:
    factor = pick.choice([0.6, 0.8, 1.3, 2])
    return _disks(plan, sequential_write_bytes_per_s=lambda now: now * factor)


def _other_load(plan: Plan, pick: random.Random) -> Plan:
    return _disks(plan, other_load=lambda _: pick.choice([0.2, 0.4]))


def _links(plan: Plan, pick: random.Random) -> Plan:
    for host in plan.hosts:
        plan = edits.update(plan, host.id, network_bytes_per_s=pick.choice([3e6, 1e7]))
    return plan


def _cores(plan: Plan, _: random.Random) -> Plan:
    for host in plan.hosts:
        plan = edits.update(plan, host.id, cores=1, sockets=1, clock_ghz=0.3)
    return plan


def _event(make: Callable[[Plan, random.Random, float], Any]) -> Callable[[Plan, random.Random], Plan]:
    def change(plan: Plan, pick: random.Random) -> Plan:
        return _load(plan, events=(make(plan, pick, float(pick.randrange(20, 150))),))

    return change


def _burst(_: Plan, pick: random.Random, at_s: float) -> Burst:
    return Burst(at_s=at_s, factor=pick.choice([0.5, 2]), duration_s=30)


def _slow_disk(plan: Plan, pick: random.Random, at_s: float) -> DiskSlow:
    host = plan.host(plan.data_nodes[0].host_id)
    return DiskSlow(at_s=at_s, object_id=host.disks[0].id, factor=pick.choice([0.3, 0.6]), duration_s=40)


CHANGES: dict[str, tuple[str, Callable[[Plan, random.Random], Plan]]] = {
    "rate": ("load", _rate),
    "rows of a transaction": ("load", _rows_of_transaction),
    "inserts or updates": ("load", _kind),
    "reads": ("load", _reads),
    "deletes": ("load", _deletes),
    "NOLOGGING": ("load rows", _not_logged),
    "size of a row": ("load rows", _row_size),
    "clients": ("clients", _clients),
    "queue or abort": ("clients", _action),
    "rows of the table": ("rows", _rows),
    "bandwidth": ("disks", _write_speed),
    "other programs on the disk": ("disks", _other_load),
    "network": ("network", _links),
    "processors": ("processors", _cores),
    "RedoBuffer": ("redo buffer", _times("RedoBuffer", 0.5, 2)),
    "NoOfFragmentLogFiles": ("redo log", _times("NoOfFragmentLogFiles", 0.5, 2)),
    "FragmentLogFileSize": ("redo log", _times("FragmentLogFileSize", 0.5, 2)),
    "MaxDiskWriteSpeed": ("checkpoints", _times("MaxDiskWriteSpeed", 0.5, 2)),
    "MinDiskWriteSpeed": ("checkpoints", _times("MinDiskWriteSpeed", 0.5, 2)),
    "DiskCheckpointSpeed": ("checkpoints", _set("DiskCheckpointSpeed", 5 * MIB, 40 * MIB)),
    "CompressedLCP": ("checkpoints", _set("CompressedLCP", 1)),
    "RecoveryWork": ("checkpoints", _set("RecoveryWork", 25, 100)),
    "InsertRecoveryWork": ("checkpoints", _set("InsertRecoveryWork", 0, 70)),
    "ODirect": ("disks", _set("ODirect", 0, 1)),
    "LDM threads": ("nodes", _set("MaxNoOfExecutionThreads", 2, 4, 8)),
    "NoOfFragmentLogParts": ("nodes", _set("NoOfFragmentLogParts", 6, 8, 12)),
    "NoOfReplicas": ("nodes load", _set("NoOfReplicas", 1)),
    "EnablePartialLcp": ("checkpoints", _set("EnablePartialLcp", 0)),
    "EnableRedoControl": ("checkpoints", _set("EnableRedoControl", 0, 1)),
    "TimeBetweenLocalCheckpoints": ("checkpoints", _set("TimeBetweenLocalCheckpoints", 6, 24)),
    "TimeBetweenGlobalCheckpoints": ("global checkpoints", _set("TimeBetweenGlobalCheckpoints", 1000, 5000)),
    "RedoOverCommitLimit": ("redo lag", _set("RedoOverCommitLimit", 3, 8, 60)),
    "DataMemory": ("memory", _times("DataMemory", 0.3, 2)),
    "MaxNoOfConcurrentOperations": ("operation records", _set("MaxNoOfConcurrentOperations", 32)),
    "a backup": ("backup", _event(lambda _plan, _pick, at_s: Backup(at_s=at_s))),
    "a slow disk": ("disks", _event(_slow_disk)),
    "a burst": ("load", _event(_burst)),
    "a lost node": (
        "nodes", _event(lambda plan, _pick, at_s: NodeFailure(at_s=at_s, object_id=plan.data_nodes[0].id)),
    ),
}  # fmt: skip
"""Each input, the parts of the cluster it belongs to, and a way to change it."""


@dataclass
class Tried:
    """One change and what was said of it."""

    seed: int
    name: str
    where: str
    found: Parting | None

    @property
    def is_right(self) -> bool:
        """Whether the named cause lies where the input lies."""
        return self.found is not None and self.found.cause.subsystem in self.where


def tried(seed: int) -> Tried | None:
    """One drawn change; None: it changes nothing of this plan."""
    pick = random.Random(seed)
    plan = drawn(pick)
    name = pick.choice(list(CHANGES))
    where, change = CHANGES[name]
    other = change(plan, pick)
    if other == plan:
        return None
    with keeping(Kept()):
        runs = [simulate(estimation_of(one, "w"), duration_s=SECONDS, seed=seed) for one in (plan, other)]
        return Tried(seed, name, where, parting(*runs))


@dataclass
class Two:
    """Two inputs changed at once, and when each of them alone would have let the runs part."""

    names: tuple[str, str]
    found: Parting
    alone_s: tuple[float, float]

    @property
    def is_right(self) -> bool:
        """Whether the named one parts the runs as early when it is the only one."""
        named = [self.found.cause.subsystem in CHANGES[name][0] for name in self.names]
        return any(
            is_named and at_s <= self.found.at_s for is_named, at_s in zip(named, self.alone_s, strict=True)
        )


def tried_two(seed: int) -> Two | None:
    """Two drawn changes of different parts of the cluster; None: together they part nothing."""
    pick = random.Random(seed)
    plan = drawn(pick)
    first, second = pick.sample(list(CHANGES), 2)
    one, other = (CHANGES[name][1](plan, random.Random(seed)) for name in (first, second))
    both = CHANGES[second][1](one, random.Random(seed))
    parts = [set(CHANGES[name][0].split()) for name in (first, second)]
    if plan in (one, other) or both in (one, other) or parts[0] & parts[1]:
        return None
    with keeping(Kept()):
        run, *others = (
            simulate(estimation_of(each, "w"), duration_s=SECONDS, seed=seed)
            for each in (plan, one, other, both)
        )
        alone_one, alone_other, found = (parting(run, each) for each in others)
    if found is None:
        return None
    alone_s = tuple(math.inf if each is None else each.at_s for each in (alone_one, alone_other))
    return Two((first, second), found, (alone_s[0], alone_s[1]))


def parted(count: int, seed: int) -> Iterator[Tried]:
    """So many changes after which the runs part."""
    while count:
        one = tried(seed)
        seed += 1
        if one is not None and one.found is not None:
            count -= 1
            yield one


def main(arguments: list[str]) -> None:
    """Print how many of many named causes lie where the input lies, and the others."""
    count, seed = [*map(int, arguments), 500, 1][:2] if len(arguments) != 1 else (int(arguments[0]), 1)
    ones = list(parted(count, seed))
    for one in ones:
        if not one.is_right and one.found is not None:
            print(one.seed, one.name, "->", one.found.cause, one.found.at_s, one.found.event)
    print(Counter(one.name for one in ones))
    print(f"{sum(one.is_right for one in ones)} of {len(ones)} causes lie where the input lies")


if __name__ == "__main__":
    main(sys.argv[1:])
