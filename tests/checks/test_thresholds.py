"""Both sides of the threshold of each rule that has one: the last value it lets pass, the first it reports.

A factor of a percent in a threshold, or in what is held against it, moves the place where a rule begins.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import pytest

from golden.commands import plan_files
from ndbplan.base.units import GIB, MIB
from ndbplan.edits.parameters import set_parameter
from ndbplan.edits.parts import remove, update
from ndbplan.plan.file import load
from ndbplan.plan.plan import Plan
from ndbplan.plan.workloads import ClosedLoad, OpenLoad, Operation, OperationKind, RatePoint, Transaction
from one_rule import of_rule

Make = Callable[[int], Plan]


def sample(name: str) -> Plan:
    return load(plan_files()[name])


def with_settings(plan: Plan, **values: int | str | None) -> Plan:
    for name, value in values.items():
        plan = set_parameter(plan, "data_node", name, value)
    return plan


def setting(name: str, plan: str = "starter", **others: int | str | None) -> Make:
    return lambda value: with_settings(sample(plan), **{**others, name: value})


def threads_set(name: str, **others: int | str | None) -> Make:
    """Without automatic threads."""
    return setting(name, AutomaticThreadConfig=None, **others)


def rows(plan: str = "starter", **others: object) -> Make:
    return lambda value: update(sample(plan), sample(plan).tables[0].id, rows=value, **others)


def offered(plan: str = "redo-overload", **others: int) -> Make:
    """The first workload at a rate, alone."""

    def make(value: int) -> Plan:
        found = with_settings(sample(plan), **others)
        load = OpenLoad(points=(RatePoint(at_s=0, rate_per_s=value),))
        return found.replace(workloads=(found.workloads[0].model_copy(update={"load": load, "events": ()}),))

    return make


def of_host(name: str, plan: str = "starter", **others: int) -> Make:
    """A field of the host of the first data node."""

    def make(value: int) -> Plan:
        found = with_settings(sample(plan), **others)
        return update(found, found.data_nodes[0].host_id, **{name: value})

    return make


def checkpointed(value: int) -> Plan:
    """So much DataMemory in a version whose checkpoints have a speed of their own."""
    return with_settings(sample("add-nodes").replace(ndb_version="7.4"), DataMemory=value)


def scanning(value: int) -> Plan:
    """So many sessions that do nothing but scan, of two data nodes with four TC threads each."""
    found = sample("starter")
    scan = Operation(table_id=found.tables[0].id, kind=OperationKind.SCAN, rows=10)
    load = ClosedLoad(clients=value, latency_s=1.0)
    transactions = (Transaction(name="scan", operations=(scan,)),)
    return update(found, found.workloads[0].id, transactions=transactions, load=load)


def slots(value: int) -> Plan:
    """So many free API slots."""
    found = sample("starter")
    return remove(found, [slot.id for slot in found.api_slots[value:]])


def data_files(value: int) -> Plan:
    found = sample("disk-data")
    space = found.tablespaces[0]
    return update(found, space.id, data_files=(space.data_files[0].model_copy(update={"count": value}),))


def reads(value: int) -> Plan:
    """So many thousandths of a read for each write, of the first table, READ_BACKUP off."""
    found = sample("starter")
    table = found.tables[0]
    found = update(found, table.id, read_backup=False)
    first = found.workloads[0]
    operation = first.transactions[0].operations[0].model_copy(update={"table_id": table.id, "columns": ()})
    both = (
        operation.model_copy(update={"kind": OperationKind.UPDATE, "rows": 1.0}),
        operation.model_copy(update={"kind": OperationKind.READ, "rows": value / 1000}),
    )
    transaction = first.transactions[0].model_copy(update={"operations": both})
    return found.replace(workloads=(first.model_copy(update={"transactions": (transaction,)}),))


def large_transaction(value: int) -> Plan:
    found = sample("redo-overload")
    first = found.workloads[0]
    operation = first.transactions[0].operations[0].model_copy(update={"rows": float(value)})
    transaction = first.transactions[0].model_copy(update={"operations": (operation,)})
    return update(found, first.id, transactions=(transaction,))


def behind_a_slow_link(value: int) -> Plan:
    """So many rows, 100 GB at 180,848,000, on a host with a link of 1 Gbit/s."""
    found = sample("starter")
    found = update(found, found.data_nodes[0].host_id, network_bytes_per_s=125_000_000)
    return update(found, found.tables[0].id, rows=value)


def partitions(value: int) -> Plan:
    """3840 buckets over so many partitions: 89 leave the fullest 1.98 % above the mean, 98 leave 2.08 %."""
    found = sample("starter")
    return update(found, found.tables[0].id, partitions=value)


def sessions(value: int) -> Plan:
    """Clients over two SQL nodes, of which each lets 151 in."""
    found = sample("starter")
    return update(found, found.workloads[0].id, load=ClosedLoad(clients=value, latency_s=1.0))


def growing(plan: str) -> Make:
    """The first table grows by so many rows a month."""
    return lambda value: update(sample(plan), sample(plan).tables[0].id, growth_rows_per_month=value)


def backups(value: int) -> Plan:
    return sample("starter").replace(backups_kept=value)


def node_ids(value: int) -> Plan:
    found = sample("starter")
    slot = found.api_slots[0]
    more = (slot.model_copy(update={"id": f"more{i}"}) for i in range(value - len(found.processes)))
    return found.replace(processes=(*found.processes, *more))


def together(value: int) -> Plan:
    """An SQL node on the host of a data node, whose LDM threads are bound to CPUs, or not."""
    text = ("ldm={cpubind=1},main", "ldm,main")[value]
    found = with_settings(sample("starter"), AutomaticThreadConfig=None, ThreadConfig=text)
    return update(found, found.sql_nodes[0].id, host_id=found.data_nodes[0].host_id)


def shared_host(value: int) -> Plan:
    """So many milliseconds between heartbeats, an SQL node on the host of a data node."""
    found = sample("starter")
    found = update(found, found.sql_nodes[0].id, host_id=found.data_nodes[0].host_id)
    return with_settings(found, HeartbeatIntervalDbDb=value, ArbitrationTimeout=60_000)


class Threshold(NamedTuple):
    """A rule, plans by a number, the last number that passes and the first that is reported."""

    rule: str
    make: Make
    passes: int
    reported: int
    says: str = ""
    """Part of the message, where a rule says several things."""


def about(rule: str, make: Make, found: int, *, more_is_worse: bool = True, says: str = "") -> Threshold:
    """A threshold of something computed: two thousandths on either side of where it was found."""
    low, high = round(found * 0.998), round(found * 1.002)
    return Threshold(rule, make, low, high, says) if more_is_worse else Threshold(rule, make, high, low, says)


def contained(limit: int) -> Plan:
    """The first data node in a container with so much memory."""
    return update(sample("starter"), sample("starter").data_nodes[0].id, container_memory_bytes=limit)


def counted_per_s(rate: int) -> Plan:
    """One row that every second transaction updates, or so."""
    return update(offered("starter")(rate), sample("starter").tables[4].id, rows=1)


def filling_s(seconds: int) -> Plan:
    """A load that adds a hundred thousand rows a second, for so long."""
    found = sample("starter")
    operation = Operation(table_id=found.tables[3].id, kind=OperationKind.INSERT, rows=1000)
    load = OpenLoad(points=(RatePoint(at_s=0, rate_per_s=100),))
    filled = (Transaction(name="fill", operations=(operation,)),)
    return update(found, found.workloads[0].id, transactions=filled, load=load, duration_s=float(seconds))


def read_per_s(rate: int) -> Plan:
    found = set_parameter(sample("disk-data-8.4"), "data_node", "DiskIOThreadPool", 1)
    load = OpenLoad(points=(RatePoint(at_s=0, rate_per_s=rate),))
    found = update(found, found.tables[0].id, rows=500_000_000)
    return found.replace(workloads=(found.workloads[1].model_copy(update={"load": load}),))


def waiting_us(latency_us: int) -> Plan:
    plan = sample("starter")
    return update(plan, plan.workloads[0].id, load=ClosedLoad(clients=4, latency_s=latency_us / 1e6))


SLOW_HEARTBEATS = setting(
    "HeartbeatIntervalDbDb", TransactionInactiveTimeout=10_000, ArbitrationTimeout=60_000
)
ONE_LDM = "ldm={count=1},main,recv,rep"
SIX_LDMS = "ldm={count=6},main,rep,recv"

THRESHOLDS = (
    Threshold("heartbeat", SLOW_HEARTBEATS, 2500, 2501),
    Threshold("heartbeat", shared_host, 1501, 1500, "other work"),
    Threshold("arbitration-timeout", setting("ArbitrationTimeout"), 10_000, 9999),
    Threshold("global-checkpoints", setting("TimeBetweenGlobalCheckpoints"), 2000, 2001),
    Threshold("checkpoint-interval", setting("TimeBetweenLocalCheckpoints"), 20, 21),
    Threshold("redo-log-and-memory", setting("NoOfFragmentLogFiles", EnableRedoControl=0), 7, 6),
    Threshold("settings-lifted", setting("TotalSendBufferMemory"), 16 * MIB, 16 * MIB - 1),
    Threshold("settings-lifted", setting("TransactionMemory"), 113 * MIB, 113 * MIB - 1),
    Threshold(
        "partitions-per-node",
        threads_set("PartitionsPerNode", ClassicFragmentation=0, ThreadConfig=ONE_LDM),
        8,
        9,
    ),
    Threshold("dml-operations", setting("MaxDMLOperationsPerTransaction"), 32_768, 32_769),
    Threshold("operations-and-transactions", setting("MaxNoOfConcurrentOperations"), 4096, 4095),
    Threshold("reserved-limits", setting("ReservedConcurrentTransactions"), 4096, 4097),
    Threshold("schema-objects", setting("MaxNoOfOrderedIndexes"), 6, 5),
    Threshold("schema-objects", setting("MaxNoOfAttributes"), 106, 105),
    Threshold("schema-objects", setting("MaxNoOfAttributes"), 95, 94, "is refused"),
    Threshold(
        "schema-objects",
        setting("MaxNoOfUniqueHashIndexes", MaxNoOfTables=8, MaxNoOfOrderedIndexes=6),
        14,
        13,
    ),
    Threshold("spare-api-slots", slots, 2, 1),
    Threshold("data-files", data_files, 128, 129, "gain nothing"),
    Threshold("redo-file-size", setting("FragmentLogFileSize", "redo-overload"), 64 * MIB, 64 * MIB - 1),
    Threshold("threads-and-cores", threads_set("MaxNoOfExecutionThreads"), 33, 34),
    Threshold("ldm-and-log-parts", threads_set("NoOfFragmentLogParts", ThreadConfig=SIX_LDMS), 6, 5),
    Threshold("checkpoint-speed", checkpointed, 100 * 10**9, 100 * 10**9 + 1),
    Threshold(
        "copy-over-slow-link", of_host("network_bytes_per_s", "terabyte-load-8.4"), 200_000_000, 199_999_999
    ),
    about("copy-over-slow-link", behind_a_slow_link, 182_671_000),
    Threshold("read-backup", reads, 3000, 3001),
    Threshold("data-memory-of-host", setting("DataMemory"), 256 * GIB * 8 // 10, 256 * GIB * 8 // 10 + 1),
    Threshold("numa", setting("DataMemory", Numa=0), 128 * GIB, 128 * GIB + 1),
    Threshold("hash-map-skew", partitions, 89, 98),
    Threshold("node-count", node_ids, 255, 256),
    Threshold("data-and-sql-together", together, 0, 1),
    Threshold("backups-kept", backups, 159, 160),
    Threshold("fills-with-growth", growing("starter"), 15_450_000, 15_700_000, "may be full in"),
    Threshold("fills-with-growth", growing("starter"), 16_700_000, 17_200_000, "is full in"),
    Threshold("fills-with-growth", growing("disk-data"), 60_300, 62_100, "tablespace"),
    about("data-memory-fill", setting("DataMemory"), 53_707_300_000, more_is_worse=False),
    about("data-memory-fill", rows(), 283_124_000),
    about("index-memory-fill", setting("IndexMemory", "add-nodes"), 43_455_500, more_is_worse=False),
    about("fills-with-load", filling_s, 9139),
    about("memory-of-host", of_host("memory_bytes"), 158_942_494_720, more_is_worse=False),
    about("memory-of-host", setting("DataMemory"), 241_780_824_473),
    about("memory-of-container", contained, 158_942_494_720, more_is_worse=False),
    about(
        "disk-page-buffer", setting("DiskPageBufferMemory", "disk-data"), 5_543_458_647, more_is_worse=False
    ),
    Threshold("disk-demand", offered(), 630, 640),
    about("redo-log-size", offered(), 6536),
    about("redo-log-seconds", offered(), 17_931),
    about("redo-file-size", offered(FragmentLogFileSize=32 * MIB), 1792),
    about("fully-replicated-table", rows(fully_replicated=True), 3_551_400),
    about("backup-duration", rows(), 2_652_130_000),
    about("disk-space", rows(), 7_508_257_627),
    about("fixed-part-limit", rows("three-replicas-7.4"), 8_727_492_096),
    Threshold("concurrent-scans", scanning, 2048, 2049),
    about("concurrent-operations", large_transaction, 3_640),
    about("client-nodes", offered("starter"), 67_226),
    about("network-demand", offered("starter"), 1_043_500),
    about("processor-demand", offered("redo-overload-8.4"), 39_145),
    Threshold("row-locks", counted_per_s, 1428, 1429),
    about("file-threads", read_per_s, 62_665),
    Threshold("latency-of-clients", waiting_us, 94, 93),
    Threshold("client-sessions", sessions, 302, 303),
    about("compressed-checkpoints", offered("redo-overload", CompressedLCP=1), 11_570),
)


def reports(threshold: Threshold, value: int) -> bool:
    return any(threshold.says in row.message for row in of_rule(threshold.make(value), threshold.rule))


@pytest.mark.parametrize("threshold", THRESHOLDS, ids=lambda t: f"{t.rule}-{t.passes}")
def test_a_rule_begins_at_its_threshold(threshold: Threshold) -> None:
    assert not reports(threshold, threshold.passes)
    assert reports(threshold, threshold.reported)
