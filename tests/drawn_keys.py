"""Clusters drawn by hypothesis whose table is partitioned by a key of few or many values."""

from __future__ import annotations

from hypothesis import strategies as st

from ndbplan.edits import parts as edits
from ndbplan.plan.hardware import Disk, Host
from ndbplan.plan.plan import ClusterParameters, Plan
from ndbplan.plan.processes import DataNode, SqlNode
from ndbplan.plan.tables import Column, PartitionBalance, Table
from ndbplan.plan.workloads import OpenLoad, Operation, OperationKind, RatePoint, Transaction, Workload

ROWS = 840_000
COUNTS = (1, 2, 3, 7, 100, 6000, ROWS)
VERSIONS = ("7.0.9", "7.1", "7.2", "7.4", "7.5", "7.6", "8.0", "8.4")


@st.composite
def clusters(draw: st.DrawFn) -> Plan:
    """A cluster of some shape with one table that is partitioned by the first column of its key."""
    version = draw(st.sampled_from(VERSIONS))
    replicas, groups = draw(st.sampled_from([1, 2, 3, 4])), draw(st.integers(1, 6))
    ldms = draw(st.sampled_from([1, 2, 4, 8])) if version >= "7.2" else draw(st.sampled_from([1, 4]))
    disk = {
        "name": "ssd",
        "capacity_bytes": 10**13,
        "sequential_read_bytes_per_s": 1e9,
        "sequential_write_bytes_per_s": 1e9,
        "random_read_iops": 1e5,
        "random_write_iops": 1e5,
    }
    hosts = [
        Host(
            id=f"h{i}",
            hostname=f"h{i}",
            cores=32,
            memory_bytes=2**39,
            network_bytes_per_s=10**9,
            disks=(Disk(id=f"d{i}", **disk),),
        )
        for i in range(replicas * groups)
    ]
    nodes = [DataNode(id=f"n{i}", node_id=i + 1, host_id=host.id) for i, host in enumerate(hosts)]
    counts = {1: 2, 2: 4, 4: 8, 8: 16}
    threads = {"MaxNoOfExecutionThreads": counts[ldms]} if version >= "7.0" else {}
    if ldms == 8:
        threads = {"ThreadConfig": "ldm={count=8},tc={count=4},recv={count=1}", "NoOfFragmentLogParts": 8}
    columns = (
        Column(name="w", type="bigint", nullable=False),
        Column(name="n", type="bigint", nullable=False),
        Column(name="v", type="varbinary", length=200, average_bytes=100),
    )
    table = Table(
        id="t",
        database="d",
        name="t",
        columns=columns,
        primary_key=("w", "n"),
        distribution_key=("w",),
        rows=ROWS,
        partition_balance=draw(st.sampled_from(PartitionBalance)) if version >= "7.5" else "FOR_RP_BY_LDM",
        read_backup=draw(st.sampled_from([None, True, False])) if version >= "7.5" else None,
        fully_replicated=draw(st.booleans()) and version >= "7.5",
        partitions=draw(st.sampled_from([None, None, 5])),
    )
    if table.fully_replicated:
        balance = draw(st.sampled_from(["FOR_RP_BY_LDM", "FOR_RA_BY_LDM"]))
        table = table.model_copy(update={"partitions": None, "partition_balance": PartitionBalance(balance)})
    workload = Workload(
        id="w",
        name="w",
        transactions=(
            Transaction(name="t", operations=(Operation(table_id="t", kind=OperationKind.INSERT),)),
        ),
        load=OpenLoad(points=(RatePoint(at_s=0, rate_per_s=1000),)),
    )
    return Plan(
        name="few",
        ndb_version=version,
        hosts=tuple(hosts),
        processes=(*nodes, SqlNode(id="sql", node_id=100, host_id="h0")),
        parameters=ClusterParameters(
            data_node={
                "NoOfReplicas": replicas,
                "DataMemory": 2**36,
                "IndexMemory": 2**35,
                "MaxNoOfConcurrentOperations": 10**5,
                **threads,
            }
        ),
        tables=(table,),
        workloads=(workload,),
    )


def with_values(plan: Plan, count: int) -> Plan:
    """The plan with so many values of the distribution key."""
    return edits.update(plan, "t", distribution_key_values=count)
