"""A plan that breaks each rule of `check`."""

from __future__ import annotations

from collections.abc import Callable

from ndbplan.base.resources import resource_path
from ndbplan.base.units import GIB, MIB
from ndbplan.edits.parameters import set_parameter
from ndbplan.edits.parts import remove, set_plan, update
from ndbplan.edits.roles import assign_role, move_process
from ndbplan.plan import file
from ndbplan.plan.hardware import DiskKind
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import DiskRole, Link
from ndbplan.plan.samples import sample_plan
from ndbplan.plan.tables import Column, Index, SpaceFile
from ndbplan.plan.workloads import ClosedLoad, OpenLoad, Operation, OperationKind, RatePoint, Transaction


def sample(name: str) -> Plan:
    return file.load(resource_path(f"samples/{name}.ndbplan"))


def with_parameters(plan: Plan, **values: int | str) -> Plan:
    for name, value in values.items():
        plan = set_parameter(plan, "data_node", name, value)
    return plan


def starter(**values: int | str) -> Plan:
    return with_parameters(sample("starter"), **values)


def manual(**values: int | str) -> Plan:
    """The starter without automatic threads."""
    return with_parameters(
        set_parameter(sample("starter"), "data_node", "AutomaticThreadConfig", None), **values
    )


def telecom() -> Plan:
    return sample("telecom-144")


def first_table(plan: Plan, **fields: object) -> Plan:
    return update(plan, plan.tables[0].id, **fields)


def aside(plan: Plan) -> Plan:
    return update(plan, plan.data_nodes[-1].id, node_group=65536)


def all_aside(plan: Plan) -> Plan:
    for node in plan.data_nodes:
        plan = update(plan, node.id, node_group=65536)
    return plan


def hdd(plan: Plan) -> Plan:
    for host in plan.hosts:
        for disk in host.disks:
            plan = update(plan, disk.id, kind=DiskKind.HDD)
    return plan


def one_disk(plan: Plan) -> Plan:
    """All roles of data node 1 on its first disk."""
    node = plan.data_nodes[0]
    for role in DiskRole:
        plan = assign_role(plan, node.id, role, plan.host(node.host_id).disks[0].id)
    return plan


def second_group_member_elsewhere() -> Plan:
    plan = starter()
    first, second = plan.management_nodes
    return move_process(plan, second.id, first.host_id)


def on_loopback_addresses() -> Plan:
    plan = starter()
    for place, host in enumerate(plan.hosts):
        plan = update(plan, host.id, hostname=f"127.0.0.{2 + place}")
    return plan


def linked(first: str, second: str, times: int = 1) -> Plan:
    return starter().replace(links=(Link(process_id_1=first, process_id_2=second),) * times)


def old(version: str, **values: int | str) -> Plan:
    plan = set_plan(sample("add-nodes"), ndb_version=version)
    return with_parameters(plan, **values)


def large_disk_data() -> Plan:
    plan = sample("disk-data")
    return update(plan, plan.tables[0].id, rows=100 * plan.tables[0].rows)


def alone() -> Plan:
    """Both data nodes of the starter on one host."""
    plan = starter()
    first, second = plan.data_nodes
    return remove(move_process(plan, second.id, first.host_id), [second.host_id])


def of_hurried_clients() -> Plan:
    workload = starter().workloads[0]
    return update(starter(), workload.id, load=ClosedLoad(clients=4, latency_s=1e-6))


def with_slow_networks() -> Plan:
    plan = starter()
    for host in plan.hosts:
        plan = update(plan, host.id, network_bytes_per_s=5e6)
    return plan


def under_many_writes() -> Plan:
    plan = sample_plan("redo-overload-8.4")
    load = OpenLoad(points=(RatePoint(at_s=0, rate_per_s=60_000),))
    return plan.replace(workloads=(plan.workloads[0].model_copy(update={"load": load}),))


def read_by_one_thread() -> Plan:
    """Far more rows than the cache holds, read at random."""
    plan = set_parameter(sample_plan("disk-data-8.4"), "data_node", "DiskIOThreadPool", 1)
    read = plan.workloads[1].model_copy(
        update={"load": OpenLoad(points=(RatePoint(at_s=0, rate_per_s=1e5),))}
    )
    return update(plan, plan.tables[0].id, rows=500_000_000).replace(workloads=(read,))


def with_one_counter() -> Plan:
    plan = starter()
    table = update(plan, plan.tables[4].id, rows=1)
    load = OpenLoad(points=(RatePoint(at_s=0, rate_per_s=20_000),))
    return update(table, plan.workloads[0].id, load=load)


def filling() -> Plan:
    """The starter under a load of ten minutes that adds two million rows a second."""
    plan = starter()
    table, workload = plan.tables[3], plan.workloads[0]
    operation = Operation(table_id=table.id, kind=OperationKind.INSERT, rows=1000)
    load = OpenLoad(points=(RatePoint(at_s=0, rate_per_s=2000),))
    return update(
        plan, workload.id, transactions=(Transaction(name="fill", operations=(operation,)),), load=load
    )


def scanned_by(sessions: int) -> Plan:
    """The starter with so many sessions that scan all the time."""
    plan = starter()
    scan = Operation(table_id=plan.tables[0].id, kind=OperationKind.SCAN, rows=10)
    load = ClosedLoad(clients=sessions, latency_s=1.0)
    return update(
        plan, plan.workloads[0].id, transactions=(Transaction(name="scan", operations=(scan,)),), load=load
    )


BROKEN: dict[str, Callable[[], Plan]] = {
    "concurrent-scans": lambda: scanned_by(3000),
    "index-memory-fill": lambda: set_parameter(sample_plan("add-nodes"), "data_node", "IndexMemory", None),
    "fills-with-load": filling,
    "row-locks": with_one_counter,
    "file-threads": read_by_one_thread,
    "network-demand": with_slow_networks,
    "processor-demand": under_many_writes,
    "latency-of-clients": of_hurried_clients,
    "client-sessions": lambda: update(
        starter(), starter().workloads[0].id, load=ClosedLoad(clients=400, latency_s=1.0)
    ),
    "threads-not-set": manual,
    "operations-and-transactions": lambda: starter(MaxNoOfConcurrentOperations=100),
    "dml-operations": lambda: starter(MaxDMLOperationsPerTransaction=40_000),
    "reserved-limits": lambda: starter(ReservedConcurrentTransactions=5000),
    "table-objects": lambda: starter(MaxNoOfOrderedIndexes=4294967039, MaxNoOfUniqueHashIndexes=4294967039),
    "transaction-memory": lambda: starter(TransactionMemory=GIB, MaxNoOfFiredTriggers=4000),
    "start-fail-retries": lambda: starter(StopOnError=1, MaxStartFailRetries=5),
    "comes-back": lambda: starter(StopOnError=1),
    "replicas-alike": lambda: set_parameter(starter(), starter().data_nodes[0].id, "NoOfReplicas", 1),
    "node-group-number": lambda: update(starter(), starter().data_nodes[0].id, node_group=72),
    "no-node-group": lambda: all_aside(starter()),
    "heartbeat-order": lambda: starter(HeartbeatOrder=7),
    "data-node-ids": lambda: update(starter(), starter().data_nodes[0].id, node_id=200),
    "localhost-mixed": lambda: update(starter(), starter().hosts[0].id, hostname="localhost"),
    "loopback-apart": lambda: update(starter(), starter().hosts[0].id, hostname="127.0.1.1"),
    "loopback-shared": on_loopback_addresses,
    "management-ports": second_group_member_elsewhere,
    "ports-shared": lambda: set_parameter(alone(), "data_node", "ServerPort", 11860),
    "host-name-reserved": lambda: update(starter(), starter().data_nodes[0].host_id, hostname="a.invalid"),
    "shared-memory-links": lambda: starter().replace(
        links=(Link(kind="shm", process_id_1="ndb1", process_id_2="ndb2"),)
    ),
    "host-names": lambda: update(starter(), starter().hosts[0].id, hostname=starter().hosts[1].hostname),
    "connection-map": lambda: set_parameter(starter(), "sql147", "ConnectionMap", "1,x"),
    "heartbeat-thread-priority": lambda: set_parameter(
        starter(), "mgm145", "HeartbeatThreadPriority", "nice,50"
    ),
    "link-ends": lambda: linked("sql147", "mgm145"),
    "not-implemented": lambda: starter(ParallelBackups=1),
    "deprecated-parameter": lambda: starter(IndexMemory=GIB),
    "thread-config": lambda: manual(ThreadConfig="ldm={count=2"),
    "thread-config-of-node": lambda: manual(ThreadConfig="ldm={count=4},query={count=3}"),
    "thread-settings-ignored": lambda: starter(ThreadConfig="nonsense"),
    "ldm-and-log-parts": lambda: manual(MaxNoOfExecutionThreads=32),
    "partitions-per-node": lambda: manual(ClassicFragmentation=0, PartitionsPerNode=32),
    "location-domains": lambda: update(
        update(starter(), starter().data_nodes[0].id, node_group=None),
        starter().data_nodes[1].id,
        node_group=None,
    ),
    "text-understood": lambda: starter(InitFragmentLogFiles="half"),
    "settings-lifted": lambda: starter(TotalSendBufferMemory=MIB),
    "files-for-security": lambda: starter(RequireTls=1),
    "paths-absolute": lambda: starter(BackupDataDir="backups"),
    "uneven-data-nodes": lambda: set_parameter(starter(), starter().data_nodes[0].id, "DataMemory", GIB),
    "data-and-sql-together": lambda: move_process(
        manual(), starter().sql_nodes[0].id, starter().data_nodes[0].host_id
    ),
    "hash-map-skew": telecom,
    "too-many-fragments": lambda: first_table(starter(), partitions=1000),
    "reorganise-refused": lambda: first_table(starter(), partitions=8),
    "reorganise-leaves-behind": lambda: first_table(
        aside(starter()),
        indexes=(Index(name="u", columns=(starter().tables[0].columns[0].name,), kind="unique"),),
    ),
    "fixed-part-limit": lambda: first_table(old("7.4"), rows=3 * 10**9),
    "fully-replicated-table": lambda: first_table(starter(), fully_replicated=True, rows=10**8),
    "read-backup": lambda: first_table(set_plan(starter(), ndb_version="7.6"), read_backup=False),
    "memory-locked": lambda: starter(LockPagesInMainMemory=0),
    "memory-of-container": lambda: update(
        starter(), starter().data_nodes[0].id, container_memory_bytes=100 * GIB
    ),
    "numa": lambda: update(starter(Numa=0, DataMemory=200 * GIB), starter().data_nodes[0].host_id, sockets=2),
    "schema-objects": lambda: starter(MaxNoOfTables=8, MaxNoOfAttributes=32),
    "redo-log-and-memory": lambda: starter(
        NoOfFragmentLogFiles=3, FragmentLogFileSize=4 * MIB, EnableRedoControl=0
    ),
    "threads-and-cores": lambda: manual(MaxNoOfExecutionThreads=72),
    "redo-file-size": lambda: with_parameters(
        sample("redo-overload"), FragmentLogFileSize=16 * MIB, NoOfFragmentLogFiles=100
    ),
    "checkpoint-speed": lambda: old("7.4", DataMemory=200 * GIB),
    "redo-control": lambda: starter(EnableRedoControl=0),
    "checkpoint-interval": lambda: starter(TimeBetweenLocalCheckpoints=6),
    "diskless": lambda: starter(Diskless=1),
    "diskless-disk-data": lambda: with_parameters(sample("disk-data-8.4"), Diskless=1),
    "direct-io": lambda: starter(ODirect=0),
    "direct-io-sync": lambda: hdd(starter(ODirectSyncFlag=0)),
    "redo-log-size": lambda: with_parameters(
        sample("redo-overload"), NoOfFragmentLogFiles=3, FragmentLogFileSize=16 * MIB
    ),
    "redo-log-seconds": lambda: with_parameters(
        sample("redo-overload"), NoOfFragmentLogFiles=3, FragmentLogFileSize=16 * MIB
    ),
    "data-files": lambda: update(
        sample("disk-data"),
        sample("disk-data").tablespaces[0].id,
        data_files=(SpaceFile(name="one", size_bytes=10 * GIB),),
    ),
    "undo-log-size": lambda: update(
        sample("disk-data"),
        sample("disk-data").logfile_groups[0].id,
        undo_files=(SpaceFile(name="one", size_bytes=100_000),),
    ),
    "heartbeat": lambda: with_parameters(
        starter(HeartbeatIntervalDbDb=5000), TransactionInactiveTimeout=10_000
    ),
    "arbitration-timeout": lambda: starter(ArbitrationTimeout=1000),
    "global-checkpoints": lambda: starter(TimeBetweenGlobalCheckpoints=10_000),
    "copy-over-slow-link": lambda: first_table(
        update(telecom(), telecom().data_nodes[0].host_id, network_bytes_per_s=1.17e8), rows=2 * 10**11
    ),
    "backup-duration": lambda: first_table(starter(), rows=4 * 10**10),
    "backup-on-redo-disk": lambda: one_disk(starter()),
    "growth-at-peak": lambda: aside(starter()),
    "initial-start": lambda: sample("disk-data"),
    "node-id-room": lambda: update(starter(), "mgm145", node_id=3),
    "table-impossible": lambda: first_table(
        starter(), columns=(*starter().tables[0].columns, Column(name="c", type="char", length=300))
    ),
    "disk-page-buffer": lambda: with_parameters(large_disk_data(), DiskPageBufferMemory=4 * MIB),
    "nobody-arbitrates": lambda: set_parameter(starter(), "data_node", "Arbitration", "Disabled"),
    "what-may-fail": alone,
    "fills-with-growth": lambda: first_table(starter(), growth_rows_per_month=40_000_000),
}
"""A plan that breaks each rule."""
